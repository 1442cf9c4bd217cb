// SPDX-License-Identifier: Apache-2.0
//
// Writes that arrive while a flush is between its snapshot and its publication.

#include <gtest/gtest.h>

#include <functional>

#include "engine/base/memory_files.h"
#include "engine/collection/store.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

// A file system that calls back when names in segments/ become durable: a flush has written its
// files then, and its catalog edit is still to come.
class HookedFiles final : public FileSystem {
 public:
  std::function<void()> during_flush;

  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    return files_.Open(path, mode);
  }
  Status Rename(const std::string& from, const std::string& to) override {
    return files_.Rename(from, to);
  }
  Status Remove(const std::string& path) override { return files_.Remove(path); }
  Status MakeDirectory(const std::string& path) override { return files_.MakeDirectory(path); }
  Result<std::vector<std::string>> List(const std::string& directory) override {
    return files_.List(directory);
  }
  Result<bool> Exists(const std::string& path) override { return files_.Exists(path); }
  Status SyncDirectory(const std::string& path) override {
    if (path == "db/segments" && during_flush) std::exchange(during_flush, nullptr)();
    return files_.SyncDirectory(path);
  }
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path,
                                         std::string_view holder) override {
    return files_.Lock(path, holder);
  }
  Result<std::unique_ptr<FileLock>> PinPosition(const std::string& path,
                                                uint64_t position) override {
    return files_.PinPosition(path, position);
  }
  Result<bool> IsPinnedBelow(const std::string& path, uint64_t position) override {
    return files_.IsPinnedBelow(path, position);
  }

 private:
  MemoryFileSystem files_;
};

TEST(Flush, KeepsWhatIsWrittenMeanwhile) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    HookedFiles files;
    BatchMaker maker(seed, 3, 25);
    CollectionModel model;
    uint64_t hooks = 0;
    for (int life = 0; life < 3; ++life) {
      SCOPED_TRACE("life " + std::to_string(life));
      StoreOptions options;
      options.background_threads = 0;  // the hook is for the flush
      const auto store = Store::Open("db", options, &files).value();
      const auto docs = DocsOf(*store);
      ASSERT_EQ(DifferenceOfAll(*docs, model), "") << "after reopening";
      const auto write = [&] {
        const WriteBatch batch = maker.Batch(8);
        ASSERT_OK(docs->Write(batch));
        model.Apply(batch);
        ASSERT_EQ(DifferenceOfAll(*docs, model), "");
      };
      for (int flush = 0; flush < 4; ++flush) {
        for (int i = 0; i < 4; ++i) write();
        const auto before = docs->Pin().value();
        const CollectionModel model_before = model;
        files.during_flush = [&] {
          ++hooks;
          for (int i = 0; i < 3; ++i) write();
        };
        ASSERT_OK(docs->Flush());
        ASSERT_EQ(DifferenceOfAll(*docs, model), "") << "after the flush";
        GetRequest everything;
        everything.read.include = {true, true, true, true, false};
        ASSERT_EQ(DifferenceOfGet(*before, model_before, everything), "")
            << "a pinned version changed";
      }
    }
    EXPECT_GT(hooks, 8u);
  }
}

}  // namespace
}  // namespace pigment
