// SPDX-License-Identifier: Apache-2.0
//
// Opening and closing: one engine per directory and process, one writing process, read-only ones
// beside it, fork, and what is refused.

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/base/disk_files.h"
#include "engine/base/memory_files.h"
#include "engine/collection/store.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

namespace fs = std::filesystem;

WriteBatch AddOf(const std::vector<std::string>& ids) {
  WriteBatch batch;
  batch.ids = ids;
  batch.dimension = 1;
  batch.embeddings.assign(ids.size(), 1);
  return batch;
}

// Everything below a directory, with sizes and times of change.
std::vector<std::string> Listing(const std::string& directory) {
  std::vector<std::string> lines;
  for (const auto& item : fs::recursive_directory_iterator(directory)) {
    std::string line = item.path().string();
    if (item.is_regular_file()) {
      line += " " + std::to_string(item.file_size()) + " " +
              std::to_string(item.last_write_time().time_since_epoch().count());
    }
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

class StoreOpen : public ::testing::Test {
 protected:
  std::shared_ptr<Store> Open(const StoreOptions& options = {}) {
    auto store = Store::Open(path_, options);
    EXPECT_OK(store);
    return store.ok() ? *store : nullptr;
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "db";
};

TEST_F(StoreOpen, MakesPrivateFilesAndFolders) {
  const auto store = Open();
  ASSERT_OK(DocsOf(*store)->Write(AddOf({"a"})));
  ASSERT_OK(store->Flush());
  int files = 0;
  const auto mode = [](const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return status.st_mode & 0777;
  };
  EXPECT_EQ(mode(path_), 0700u);
  for (const auto& item : fs::recursive_directory_iterator(path_)) {
    EXPECT_EQ(mode(item.path()), item.is_directory() ? 0700u : 0600u) << item.path();
    ++files;
  }
  EXPECT_GE(files, 6);  // LOCK, CATALOG, log/, a log, segments/, a segment
  EXPECT_TRUE(fs::exists(path_ + "/LOCK") && fs::exists(path_ + "/CATALOG"));
  EXPECT_TRUE(fs::is_directory(path_ + "/log") && fs::is_directory(path_ + "/segments"));
}

TEST_F(StoreOpen, TwoOpensShareOneEngineByWhateverPath) {
  const auto first = Open();
  fs::create_symlink(path_, directory_ / "link");
  auto second = Store::Open(directory_ / "link", {});
  ASSERT_OK(second);
  ASSERT_OK(DocsOf(*first)->Write(AddOf({"a"})));
  EXPECT_EQ(IdsOf(*DocsOf(**second)).size(), 1u);
  // Each open closes for itself; the last one for all.
  const auto docs_of_first = DocsOf(*first);
  const auto docs_of_second = DocsOf(**second);
  ASSERT_OK(first->Close());
  ASSERT_OK(first->Close());
  EXPECT_EQ(docs_of_first->Write(AddOf({"b"})).status().detail(), Detail::kClosed);
  EXPECT_EQ(docs_of_first->Pin().status().detail(), Detail::kClosed);
  EXPECT_EQ(first->catalog().status().detail(), Detail::kClosed);
  ASSERT_OK(docs_of_second->Write(AddOf({"b"})));
  ASSERT_OK((*second)->Close());
  EXPECT_EQ(docs_of_second->Write(AddOf({"c"})).status().detail(), Detail::kClosed);
  EXPECT_EQ(IdsOf(*DocsOf(*Open())).size(), 2u);
}

TEST_F(StoreOpen, OtherOptionsOnTheSecondOpenAreRefusedByName) {
  const auto first = Open();
  const std::vector<std::pair<std::string, void (*)(StoreOptions&)>> changes = {
      {"sync_mode", [](StoreOptions& options) { options.sync_mode = SyncMode::kOff; }},
      {"sync_interval_ms", [](StoreOptions& options) { options.sync_interval_ms = 7; }},
      {"memory_budget_bytes", [](StoreOptions& options) { options.memory_budget_bytes = 1 << 30; }},
      {"flush_rows_max", [](StoreOptions& options) { options.flush_rows_max = 7; }},
      {"index_rows_min", [](StoreOptions& options) { options.index_rows_min = 7; }},
      {"quiet_ms", [](StoreOptions& options) { options.quiet_ms = 7; }},
      {"cluster_rows_min", [](StoreOptions& options) { options.cluster_rows_min = 7; }},
      {"flush_bytes_max", [](StoreOptions& options) { options.flush_bytes_max = 7; }},
      {"background_threads", [](StoreOptions& options) { options.background_threads = 7; }},
      {"read_only", [](StoreOptions& options) { options.read_only = true; }}};
  for (const auto& [name, change] : changes) {
    StoreOptions options;
    change(options);
    const auto second = Store::Open(path_, options);
    EXPECT_CODE(second, Code::kFailedPrecondition);
    EXPECT_NE(second.status().message().find(name), std::string::npos) << second.status().message();
  }
  StoreOptions no_create;
  no_create.create = false;
  EXPECT_OK(Store::Open(path_, no_create));
}

TEST_F(StoreOpen, HandleOfACollectionKeepsAFreedStoreOpen) {
  auto store = Open();
  const auto docs = DocsOf(*store);
  store.reset();
  ASSERT_OK(docs->Write(AddOf({"a"})));
}

TEST_F(StoreOpen, LastHandleThatGoesCloses) {
  DocsOf(*Open());
  StoreOptions options;
  options.flush_rows_max = 7;  // would be refused if the first were still open
  EXPECT_OK(Store::Open(path_, options));
}

TEST_F(StoreOpen, ChangeOfTheWorkingDirectoryDoesNotMoveAnOpenStore) {
  const fs::path old = fs::current_path();
  fs::current_path(directory_.path());
  const auto store = Store::Open("db", {});
  fs::create_directory("elsewhere");
  fs::current_path("elsewhere");
  ASSERT_OK(store);
  ASSERT_OK(DocsOf(**store)->Write(AddOf({"a"})));
  EXPECT_OK((*store)->Flush());
  EXPECT_TRUE(fs::is_empty(fs::current_path()));
  fs::current_path(old);
  EXPECT_EQ(IdsOf(*DocsOf(**store)).size(), 1u);
}

TEST_F(StoreOpen, MissingDirectoryWithoutCreateIsNotFound) {
  StoreOptions options;
  options.create = false;
  EXPECT_CODE(Store::Open(path_, options), Code::kNotFound);
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_CODE(Store::Open(directory_ / "no/such/parent", {}), Code::kNotFound);
  std::ofstream(directory_ / "file") << "text";
  EXPECT_CODE(Store::Open(directory_ / "file", {}), Code::kInvalidArgument);
}

TEST_F(StoreOpen, DirectoryOfChromaIsRefusedWithAHintAndLeftAlone) {
  fs::create_directory(path_);
  std::ofstream(path_ + "/chroma.sqlite3") << "SQLite format 3";
  const auto before = Listing(path_);
  const auto refused = Store::Open(path_, {});
  EXPECT_CODE(refused, Code::kFailedPrecondition);
  EXPECT_NE(refused.status().hint().find("import"), std::string::npos) << refused.status().hint();
  EXPECT_EQ(Listing(path_), before);
}

TEST_F(StoreOpen, StoreWithoutItsCatalogIsDataLossAndLeftAlone) {
  ASSERT_OK(DocsOf(*Open())->Write(AddOf({"a"})));
  for (const auto& item : fs::directory_iterator(path_)) {
    if (item.path().filename().string().starts_with("CATALOG")) fs::remove(item.path());
  }
  const auto refused = Store::Open(path_, {});
  EXPECT_CODE(refused, Code::kDataLoss);
  EXPECT_EQ(refused.status().detail(), Detail::kMissing);
}

TEST_F(StoreOpen, ReopenGivesBackWhatWasAcknowledged) {
  uint64_t position = 0;
  {
    const auto store = Open();
    const auto docs = DocsOf(*store);
    ASSERT_OK(docs->Write(AddOf({"a", "b"})));
    ASSERT_OK(docs->Flush());
    WriteBatch erase;
    erase.kind = WriteKind::kDelete;
    erase.ids = {"a"};
    ASSERT_OK(docs->Write(erase));
    ASSERT_OK(docs->Write(AddOf({"c"})));
    position = store->position();
    ASSERT_OK(store->Close());
  }
  const auto store = Open();
  EXPECT_EQ(store->position(), position);
  EXPECT_EQ(IdsOf(*DocsOf(*store)), (std::vector<std::string>{"b", "c"}));
  ASSERT_OK(DocsOf(*store)->Write(AddOf({"d"})));
  EXPECT_EQ(store->position(), position + 1);
}

TEST_F(StoreOpen, UnreferencedSegmentFilesAreRemovedAndOthersAreNot) {
  {
    const auto store = Open();
    ASSERT_OK(DocsOf(*store)->Write(AddOf({"a"})));
    ASSERT_OK(store->Flush());
  }
  const auto before = Listing(path_ + "/segments");
  for (const char* name : {"77.seg", "1.99.del", "notes.txt", "77.seg.bak"}) {
    std::ofstream(path_ + "/segments/" + name) << "x";
  }
  EXPECT_EQ(IdsOf(*DocsOf(*Open())).size(), 1u);
  EXPECT_FALSE(fs::exists(path_ + "/segments/77.seg"));
  EXPECT_FALSE(fs::exists(path_ + "/segments/1.99.del"));
  EXPECT_TRUE(fs::exists(path_ + "/segments/notes.txt"));
  EXPECT_TRUE(fs::exists(path_ + "/segments/77.seg.bak"));
  EXPECT_EQ(Listing(path_ + "/segments").size(), before.size() + 2);
}

TEST_F(StoreOpen, FilesOfADeletedCollectionGoUnlessAForkHasThem) {
  const auto store = Open();
  const auto docs = DocsOf(*store);
  ASSERT_OK(docs->Write(AddOf({"a"})));
  const auto fork = store->ForkCollection(docs->entry().id, "fork").value();
  ASSERT_OK(store->DeleteCollection({}, "docs"));
  EXPECT_EQ(Listing(path_ + "/segments").size(), 1u);
  EXPECT_EQ(IdsOf(*fork).size(), 1u);
  ASSERT_OK(store->DeleteCollection({}, "fork"));
  EXPECT_EQ(Listing(path_ + "/segments").size(), 0u);
}

TEST_F(StoreOpen, SupersededDeletionsAndDeadSegmentsGo) {
  StoreOptions options;
  options.background_threads = 0;
  const auto store = Open(options);
  const auto docs = DocsOf(*store);
  ASSERT_OK(docs->Write(AddOf({"a", "b", "c", "d", "e", "f"})));
  ASSERT_OK(docs->Flush());
  const auto erase = [&](const std::string& id) {
    WriteBatch batch;
    batch.kind = WriteKind::kDelete;
    batch.ids = {id};
    ASSERT_OK(docs->Write(batch));
    ASSERT_OK(docs->Flush());
  };
  erase("a");
  EXPECT_EQ(Listing(path_ + "/segments").size(), 2u);
  erase("b");
  EXPECT_EQ(Listing(path_ + "/segments").size(), 2u);
  erase("c");
  EXPECT_EQ(Listing(path_ + "/segments").size(), 1u) << "more than a third dead: rewritten";
  for (const char* id : {"d", "e", "f"}) erase(id);
  EXPECT_EQ(Listing(path_ + "/segments").size(), 0u);
  EXPECT_EQ(docs->Pin().value()->segments.size(), 0u);
}

TEST_F(StoreOpen, DamagedSegmentDoesNotBlockTheOtherCollections) {
  {
    const auto store = Open();
    ASSERT_OK(DocsOf(*store)->Write(AddOf({"a"})));
    ASSERT_OK(store->Flush());
    const auto other = store->CreateCollection(EntryNamed("other")).value();
    ASSERT_OK(other->Write(AddOf({"b"})));
    ASSERT_OK(DocsOf(*store)->Write(AddOf({"in the log"})));
  }
  std::string segment;
  for (const auto& item : fs::directory_iterator(path_ + "/segments")) segment = item.path();
  fs::resize_file(segment, fs::file_size(segment) - 1);
  {
    const auto store = Open();
    const auto docs = store->GetCollection({}, "docs");
    ASSERT_OK(docs);
    for (const Status& status : {(*docs)->Pin().status(), (*docs)->Write(AddOf({"c"})).status()}) {
      EXPECT_CODE(status, Code::kDataLoss);
      EXPECT_EQ(status.file(), segment);
    }
    const auto other = store->GetCollection({}, "other").value();
    EXPECT_EQ(IdsOf(*other), std::vector<std::string>{"b"});
    ASSERT_OK(other->Write(AddOf({"d"})));
    ASSERT_OK(store->Flush());
    ASSERT_OK(store->Close());
  }
  {  // a missing segment is told from a short one, and can be got rid of
    fs::remove(segment);
    const auto store = Open();
    EXPECT_EQ(store->GetCollection({}, "docs").value()->Pin().status().detail(), Detail::kMissing);
    ASSERT_OK(store->DeleteCollection({}, "docs"));
    EXPECT_EQ(IdsOf(*store->GetCollection({}, "other").value()).size(), 2u);
  }
}

TEST_F(StoreOpen, SecondWritingProcessIsToldTheHolderWithin100Ms) {
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody is left behind when the test fails
    const auto store = Store::Open(path_, {});
    const char byte = store.ok() ? 'y' : 'n';
    if (write(ready[1], &byte, 1) != 1) _exit(2);
    char wait;
    (void)!read(done[0], &wait, 1);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  const auto begin = std::chrono::steady_clock::now();
  const auto refused = Store::Open(path_, {});
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_CODE(refused, Code::kFailedPrecondition);
  EXPECT_EQ(refused.status().detail(), Detail::kLocked);
  EXPECT_NE(refused.status().message().find("pid " + std::to_string(child)), std::string::npos)
      << refused.status().message();
  EXPECT_LT(took, std::chrono::milliseconds(100));
  StoreOptions read_only;
  read_only.read_only = true;
  EXPECT_OK(Store::Open(path_, read_only));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_OK(Store::Open(path_, {}));  // the kernel freed the lock with the process
  for (const int end : {ready[0], ready[1], done[0], done[1]}) close(end);
}

TEST_F(StoreOpen, ForkedChildIsRefusedEverywhere) {
  const auto store = Open();
  const auto docs = DocsOf(*store);
  ASSERT_OK(docs->Write(AddOf({"a"})));
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody is left behind when the test fails
    const auto forked = [](const Status& status) { return status.detail() == Detail::kForked; };
    bool ok = forked(docs->Pin().status()) && forked(docs->Write(AddOf({"b"})).status()) &&
              forked(docs->Flush()) && forked(store->Flush()) && forked(store->Close()) &&
              forked(store->catalog().status()) &&
              forked(store->CreateCollection(EntryNamed("child")).status()) &&
              forked(store->Refresh().status()) &&
              forked(store->GetCollection({}, "docs").status()) &&
              forked(store->ForkCollection({}, "other").status()) &&
              forked(store->DeleteCollection({}, "docs"));
    // A new open in the child meets the parent's lock, and does not share the parent's engine.
    ok = ok && Store::Open(path_, {}).status().detail() == Detail::kLocked;
    const_cast<std::shared_ptr<Collection>&>(docs).reset();
    const_cast<std::shared_ptr<Store>&>(store).reset();  // must neither close nor hang
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ASSERT_OK(docs->Write(AddOf({"c"})));
  EXPECT_EQ(IdsOf(*docs), (std::vector<std::string>{"a", "c"}));
}

TEST_F(StoreOpen, ReadOnlyProcessCreatesNothingAndCatchesUpByRefresh) {
  StoreOptions read_only;
  read_only.read_only = true;
  EXPECT_CODE(Store::Open(path_, read_only), Code::kNotFound);
  EXPECT_FALSE(fs::exists(path_));

  // The writer is a process of its own, driven step by step.
  int commands[2], answers[2];
  ASSERT_EQ(pipe(commands), 0);
  ASSERT_EQ(pipe(answers), 0);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody is left behind when the test fails
    auto store = Store::Open(path_, {}).value();
    const auto docs = DocsOf(*store);
    char command;
    for (int n = 0; read(commands[0], &command, 1) == 1 && command != 'q'; ++n) {
      bool ok = true;
      if (command == 'w') ok = docs->Write(AddOf({std::to_string(n)})).ok();
      if (command == 'f') ok = store->Flush().ok();
      if (command == 'c') ok = store->CreateCollection(EntryNamed("new")).ok();
      if (command == 'd') ok = store->DeleteCollection({}, "new").ok();
      const char answer = ok ? 'y' : 'n';
      if (write(answers[1], &answer, 1) != 1) _exit(2);
    }
    _exit(0);
  }
  const auto tell = [&](char command) {
    char answer = 0;
    ASSERT_EQ(write(commands[1], &command, 1), 1);
    ASSERT_EQ(read(answers[0], &answer, 1), 1);
    ASSERT_EQ(answer, 'y');
  };
  tell('w');
  const auto before = Listing(path_);
  const auto store = Open(read_only);
  const auto docs = store->GetCollection({}, "docs").value();
  EXPECT_EQ(IdsOf(*docs).size(), 1u);
  EXPECT_EQ(docs->Write(AddOf({"x"})).status().detail(), Detail::kReadOnly);
  EXPECT_EQ(store->CreateCollection(EntryNamed("x")).status().detail(), Detail::kReadOnly);
  EXPECT_EQ((*store->catalog())->CreateTenant("tenant").detail(), Detail::kReadOnly);
  EXPECT_EQ(store->Flush().detail(), Detail::kReadOnly);
  EXPECT_EQ(Listing(path_), before);

  for (const char command : std::string("wwfwfcwdw")) tell(command);
  EXPECT_EQ(IdsOf(*docs).size(), 1u) << "a reader changes only when it refreshes";
  const auto position = store->Refresh();
  ASSERT_OK(position);
  EXPECT_EQ(*position, 6u);
  EXPECT_EQ(IdsOf(*docs).size(), 6u);
  EXPECT_CODE(store->GetCollection({}, "new"), Code::kNotFound);
  tell('c');
  ASSERT_OK(store->Refresh());
  EXPECT_OK(store->GetCollection({}, "new"));
  ASSERT_EQ(write(commands[1], "q", 1), 1);
  waitpid(child, nullptr, 0);
  const auto last = Listing(path_);
  ASSERT_OK(store->Refresh());
  ASSERT_OK(store->Close());
  EXPECT_EQ(Listing(path_), last);
  for (const int end : {commands[0], commands[1], answers[0], answers[1]}) close(end);
}

TEST_F(StoreOpen, EveryWriteAcknowledgedBeforeTheCloseIsThereAtReopen) {
  for (int round = 0; round < 12; ++round) {
    const auto store = Open();
    const auto docs = DocsOf(*store);
    std::vector<std::vector<std::string>> acknowledged(8);
    std::vector<std::thread> writers;
    std::atomic<int> started{0};
    for (int writer = 0; writer < 8; ++writer) {
      writers.emplace_back([&, writer] {
        ++started;
        for (int i = 0;; ++i) {
          const std::string id =
              std::to_string(round) + "/" + std::to_string(writer) + "/" + std::to_string(i);
          const auto outcome = docs->Write(AddOf({id}));
          if (outcome.ok()) {
            acknowledged[static_cast<size_t>(writer)].push_back(id);
            continue;
          }
          EXPECT_CODE(outcome, Code::kFailedPrecondition);
          EXPECT_EQ(outcome.status().detail(), Detail::kClosed);
          return;
        }
      });
    }
    while (started < 8) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_OK(store->Close());
    for (std::thread& writer : writers) writer.join();
    const auto again = Open();
    std::vector<std::string> ids = IdsOf(*DocsOf(*again));
    std::sort(ids.begin(), ids.end());
    size_t count = 0;
    for (const auto& list : acknowledged) {
      count += list.size();
      for (const std::string& id : list) {
        ASSERT_TRUE(std::binary_search(ids.begin(), ids.end(), id)) << id;
      }
    }
    EXPECT_GT(count, 0u);
    ASSERT_OK(again->Close());
  }
}

TEST_F(StoreOpen, StoreInMemoryOpensNoFile) {
  const auto open_files = [] {
    std::vector<std::string> targets;
    for (const auto& item : fs::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const fs::path target = fs::read_symlink(item.path(), gone);
      if (!gone && target.string().find("/proc/") == std::string::npos) targets.push_back(target);
    }
    std::sort(targets.begin(), targets.end());
    return targets;
  };
  const fs::path old = fs::current_path();
  fs::create_directory(directory_ / "empty");
  fs::current_path(directory_ / "empty");
  const auto before = open_files();
  {
    const auto store = Store::Open(std::nullopt, {}).value();
    const auto docs = DocsOf(*store);
    ASSERT_OK(docs->Write(AddOf({"a"})));
    ASSERT_OK(store->Flush());
    ASSERT_OK(store->ForkCollection(docs->entry().id, "fork"));
    EXPECT_EQ(open_files(), before);
    ASSERT_OK(store->Close());
  }
  EXPECT_TRUE(fs::is_empty(fs::current_path()));
  fs::current_path(old);
}

}  // namespace
}  // namespace pigment
