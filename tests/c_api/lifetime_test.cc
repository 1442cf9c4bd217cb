// SPDX-License-Identifier: Apache-2.0
//
// Handles are freed in any order, closed while others live, used in a forked child; stores in a
// directory give what a store in memory gives, and a closed one gives back all that it
// acknowledged.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/c_api/abi.h"
#include "tests/support/temporary_directory.h"

namespace {

using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;

abi_test::Batch OneRecord(const std::string& id, float value) {
  abi_test::Batch batch;
  batch.ids.Add(id);
  batch.values = {value};
  batch.dimension = 1;
  batch.documents.emplace().Add("text of " + id);
  return batch;
}

TEST(Lifetime, HandlesMayBeFreedInAnyOrder) {
  std::array<int, 6> order{0, 1, 2, 3, 4, 5};
  do {
    pigment_client* client = abi_test::OpenMemory().release();
    abi_test::Collection made;
    ASSERT_TRUE(abi_test::Create(client, "docs", &made).ok());
    pigment_collection* collection = made.release();
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, collection, OneRecord("a", 1)).ok());
    pigment_result* result = nullptr;
    ASSERT_TRUE(Try(pigment_collection_peek, collection, int64_t{5},
                    static_cast<const pigment_call_options*>(nullptr), &result)
                    .ok());
    pigment_buffer* buffer = nullptr;
    ASSERT_TRUE(Try(pigment_collection_describe, collection, &buffer).ok());
    pigment_cancel* cancel = nullptr;
    ASSERT_TRUE(Try(pigment_cancel_new, &cancel).ok());
    pigment_error* error = nullptr;
    ASSERT_EQ(pigment_collection_describe(collection, nullptr, &error), PIGMENT_INVALID_ARGUMENT);
    for (const int one : order) {
      if (one == 0) pigment_client_free(client);
      if (one == 1) pigment_collection_free(collection);
      if (one == 2) {  // still readable, whatever went before
        EXPECT_EQ(abi_test::Ids(result), std::vector<std::string>{"a"});
        pigment_result_free(result);
      }
      if (one == 3) {
        EXPECT_NE(abi_test::Text(buffer).find("docs"), std::string::npos);
        pigment_buffer_free(buffer);
      }
      if (one == 4) pigment_cancel_free(cancel);
      if (one == 5) {
        EXPECT_STRNE(pigment_error_message(error), "");
        pigment_error_free(error);
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Lifetime, ACollectionWorksAfterItsClientIsFreed) {
  abi_test::Client client = abi_test::OpenMemory();
  abi_test::Collection docs;
  ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs).ok());
  client.reset();
  ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs.get(), OneRecord("a", 1)).ok());
  uint64_t count = 0;
  ASSERT_TRUE(abi_test::Count(docs.get(), &count).ok());
  EXPECT_EQ(count, 1u);
}

TEST(Lifetime, TheStoreClosesWithItsLastHandle) {
  const pigment::TemporaryDirectory folder;
  const std::string path = folder.path() + "/store";
  {
    abi_test::Client client;
    ASSERT_TRUE(abi_test::Open(path, &client).ok());
    abi_test::Collection docs;
    ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs).ok());
    client.reset();
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs.get(), OneRecord("a", 1)).ok());
  }
  abi_test::Client again;
  auto options = Sized<pigment_open_options>();
  options.must_exist = true;
  options.sync_mode = PIGMENT_SYNC_OFF;  // other options: the store is not open any more
  ASSERT_TRUE(abi_test::Open(path, &again, &options).ok());
  abi_test::Collection docs;
  ASSERT_TRUE(abi_test::GetByName(again.get(), "docs", &docs).ok());
  uint64_t count = 0;
  ASSERT_TRUE(abi_test::Count(docs.get(), &count).ok());
  EXPECT_EQ(count, 1u);
}

TEST(Lifetime, ClosingIsIdempotentAndRefusesEverythingLater) {
  abi_test::Client client = abi_test::OpenMemory();
  abi_test::Collection docs;
  ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs).ok());
  ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs.get(), OneRecord("a", 1)).ok());
  abi_test::ResultHandle result;
  ASSERT_TRUE(abi_test::Get(docs.get(), Sized<pigment_get_request>(), &result).ok());
  ASSERT_TRUE(Try(pigment_client_close, client.get()).ok());
  ASSERT_TRUE(Try(pigment_client_close, client.get()).ok());
  EXPECT_EQ(abi_test::Ids(result.get()), std::vector<std::string>{"a"});  // a result needs nobody
  uint64_t number = 0;
  pigment_buffer* json = nullptr;
  pigment_collection* made = nullptr;
  const std::vector<Outcome> outcomes = {
      Try(pigment_client_flush, client.get()),
      Try(pigment_client_position, client.get(), &number),
      Try(pigment_client_refresh, client.get(), &number),
      Try(pigment_client_create_tenant, client.get(), "tenant", size_t{6}),
      Try(pigment_client_list_tenants, client.get(), &json),
      Try(pigment_client_count_collections, client.get(),
          static_cast<const pigment_scope*>(nullptr), &number),
      Try(pigment_collection_describe, docs.get(), &json),
      Try(pigment_collection_flush, docs.get()),
      Try(pigment_collection_fork, docs.get(), "fork", size_t{4}, &made),
      abi_test::Count(docs.get(), &number),
      abi_test::Write(pigment_collection_add, docs.get(), OneRecord("b", 1)),
      abi_test::Get(docs.get(), Sized<pigment_get_request>(), &result),
  };
  for (size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(outcomes[i].status, PIGMENT_FAILED_PRECONDITION) << i << ": " << outcomes[i];
    EXPECT_EQ(outcomes[i].detail, PIGMENT_DETAIL_CLOSED) << i << ": " << outcomes[i];
  }
}

TEST(Lifetime, OneHandleClosesWithoutTheOther) {
  const pigment::TemporaryDirectory folder;
  abi_test::Client first, second;
  ASSERT_TRUE(abi_test::Open(folder.path() + "/store", &first).ok());
  ASSERT_TRUE(abi_test::Open(folder.path() + "/store", &second).ok());
  abi_test::Collection docs;
  ASSERT_TRUE(abi_test::Create(first.get(), "docs", &docs).ok());
  ASSERT_TRUE(Try(pigment_client_close, first.get()).ok());
  uint64_t count = 0;
  EXPECT_EQ(abi_test::Count(docs.get(), &count).detail, PIGMENT_DETAIL_CLOSED);
  ASSERT_TRUE(Try(pigment_client_count_collections, second.get(),
                  static_cast<const pigment_scope*>(nullptr), &count)
                  .ok());
  EXPECT_EQ(count, 1u);
}

TEST(Lifetime, OtherOptionsOnASecondOpenAreRefusedByName) {
  const pigment::TemporaryDirectory folder;
  abi_test::Client first, second;
  ASSERT_TRUE(abi_test::Open(folder.path() + "/store", &first).ok());
  auto options = Sized<pigment_open_options>();
  options.flush_rows_max = 77;
  const Outcome outcome = abi_test::Open(folder.path() + "/store", &second, &options);
  EXPECT_FALSE(outcome.ok());
  EXPECT_NE(outcome.message.find("flush_rows_max"), std::string::npos) << outcome;
}

// What the header says that 0 stands for is the same as 0, and nothing else is.
TEST(Lifetime, DefaultsOfOptionsAreTheNumbersThatTheHeaderSays) {
  const pigment::TemporaryDirectory folder;
  abi_test::Client first, second;
  ASSERT_TRUE(abi_test::Open(folder.path() + "/store", &first).ok());
  const auto open = [&](const auto& set) {
    auto options = Sized<pigment_open_options>();
    set(options);
    return abi_test::Open(folder.path() + "/store", &second, &options);
  };
  Outcome outcome = open([](auto& options) {
    options.sync_interval_ms = 100;
    options.flush_rows_max = 16384;
    options.flush_bytes_max = 64u << 20;
    options.background_threads = 1;
  });
  EXPECT_TRUE(outcome.ok()) << outcome;
  outcome = open([](auto& options) { options.sync_interval_ms = 101; });
  EXPECT_NE(outcome.message.find("sync_interval_ms"), std::string::npos) << outcome;
  outcome = open([](auto& options) { options.flush_rows_max = 16385; });
  EXPECT_NE(outcome.message.find("flush_rows_max"), std::string::npos) << outcome;
  outcome = open([](auto& options) { options.flush_bytes_max = (64u << 20) + 1; });
  EXPECT_NE(outcome.message.find("flush_bytes_max"), std::string::npos) << outcome;
  outcome = open([](auto& options) { options.background_threads = 2; });
  EXPECT_NE(outcome.message.find("background_threads"), std::string::npos) << outcome;
}

// Runs `body` in a child process; its answer is the exit status.
template <typename Body>
int StatusOfChild(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

TEST(Lifetime, AForkedChildIsRefusedAndTheParentGoesOn) {
  const pigment::TemporaryDirectory folder;
  for (const std::string& path : {std::string(), folder.path() + "/store"}) {
    SCOPED_TRACE(path);
    abi_test::Client client;
    ASSERT_TRUE(abi_test::Open(path, &client).ok());
    abi_test::Collection docs;
    ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs).ok());
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs.get(), OneRecord("a", 1)).ok());
    const int wrong = StatusOfChild([&] {
      uint64_t count = 0;
      abi_test::ResultHandle result;
      if (abi_test::Count(docs.get(), &count).detail != PIGMENT_DETAIL_FORKED) return 1;
      if (abi_test::Write(pigment_collection_add, docs.get(), OneRecord("b", 2)).detail !=
          PIGMENT_DETAIL_FORKED)
        return 2;
      if (abi_test::Get(docs.get(), Sized<pigment_get_request>(), &result).detail !=
          PIGMENT_DETAIL_FORKED)
        return 3;
      if (Try(pigment_client_close, client.get()).detail != PIGMENT_DETAIL_FORKED) return 4;
      if (Try(pigment_client_flush, client.get()).detail != PIGMENT_DETAIL_FORKED) return 5;
      docs.reset();  // frees and does not hang
      client.reset();
      abi_test::Client own = abi_test::OpenMemory();  // a store of its own works
      return own != nullptr ? 0 : 6;
    });
    EXPECT_EQ(wrong, 0);
    uint64_t count = 0;
    ASSERT_TRUE(abi_test::Count(docs.get(), &count).ok());
    EXPECT_EQ(count, 1u);
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs.get(), OneRecord("b", 2)).ok());
  }
}

TEST(Lifetime, AnotherProcessIsToldTheHolder) {
  const pigment::TemporaryDirectory folder;
  const std::string path = folder.path() + "/store";
  abi_test::Client client;
  ASSERT_TRUE(abi_test::Open(path, &client).ok());
  const int wrong = StatusOfChild([&] {
    abi_test::Client second;
    const int64_t before = pigment_now_ns();
    const Outcome outcome = abi_test::Open(path, &second);
    if (outcome.status != PIGMENT_FAILED_PRECONDITION || outcome.detail != PIGMENT_DETAIL_LOCKED)
      return 1;
    if (outcome.message.find(std::to_string(getppid())) == std::string::npos) return 2;
    return pigment_now_ns() - before < 2'000'000'000 ? 0 : 3;
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Lifetime, EveryAcknowledgedWriteIsThereAlsoWhenEightWritersRaceTheClose) {
  const pigment::TemporaryDirectory folder;
  const std::string path = folder.path() + "/store";
  std::array<std::vector<std::string>, 8> acknowledged;
  {
    abi_test::Client client;
    ASSERT_TRUE(abi_test::Open(path, &client).ok());
    abi_test::Collection docs;
    ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs).ok());
    std::vector<std::thread> writers;
    for (size_t writer = 0; writer < acknowledged.size(); ++writer) {
      writers.emplace_back([&, writer] {
        for (int i = 0;; ++i) {
          const std::string id = std::to_string(writer) + "." + std::to_string(i);
          const Outcome outcome =
              abi_test::Write(pigment_collection_add, docs.get(), OneRecord(id, 1));
          if (!outcome.ok()) {
            EXPECT_EQ(outcome.detail, PIGMENT_DETAIL_CLOSED) << outcome;
            return;
          }
          acknowledged[writer].push_back(id);
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    EXPECT_TRUE(Try(pigment_client_close, client.get()).ok());
    for (std::thread& writer : writers) writer.join();
  }
  abi_test::Client client;
  ASSERT_TRUE(abi_test::Open(path, &client).ok());
  abi_test::Collection docs;
  ASSERT_TRUE(abi_test::GetByName(client.get(), "docs", &docs).ok());
  abi_test::ResultHandle result;
  ASSERT_TRUE(abi_test::Get(docs.get(), Sized<pigment_get_request>(), &result).ok());
  std::vector<std::string> there = abi_test::Ids(result.get()), wanted;
  for (const auto& ids : acknowledged) wanted.insert(wanted.end(), ids.begin(), ids.end());
  std::sort(there.begin(), there.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_TRUE(std::includes(there.begin(), there.end(), wanted.begin(), wanted.end()));
  EXPECT_LE(there.size(), wanted.size() + acknowledged.size());
  EXPECT_GT(wanted.size(), 0u);
}

// ---- Homes
// -----------------------------------------------------------------------------------------------------------

// The answer of a query and a get as text.
std::string Snapshot(pigment_collection* docs, const std::vector<float>& vector) {
  std::string out;
  for (const bool query : {true, false}) {
    abi_test::ResultHandle result;
    auto get = Sized<pigment_get_request>();
    const std::string where = R"({"n":{"$gte":3}})";
    get.where_json = where.data();
    get.where_json_size = where.size();
    get.include =
        PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_METADATAS | PIGMENT_INCLUDE_EMBEDDINGS;
    const Outcome outcome =
        query ? abi_test::Query(docs, abi_test::QueryFor(vector, vector.size(), 7), &result)
              : abi_test::Get(docs, get, &result);
    if (!outcome.ok()) return outcome.message;
    pigment_text_column documents{}, metadatas{};
    pigment_result_documents(result.get(), &documents);
    pigment_result_metadatas(result.get(), &metadatas);
    const std::vector<std::string> ids = abi_test::Ids(result.get());
    const float* distances = pigment_result_distances(result.get());
    for (size_t row = 0; row < ids.size(); ++row) {
      out += ids[row] + "|" + abi_test::Text(documents, row) + "|" + abi_test::Text(metadatas, row);
      if (distances != nullptr) out += "|" + std::to_string(distances[row]);
      out += "\n";
    }
  }
  return out;
}

// Random adds, updates, upserts, deletes, flushes.
void RunCorpus(pigment_client* client, pigment_collection* docs, uint64_t seed,
               std::vector<std::string>* snapshots) {
  std::mt19937_64 random(seed);
  for (int step = 0; step < 120; ++step) {
    abi_test::Batch batch;
    batch.dimension = 4;
    batch.documents.emplace();
    batch.metadatas.emplace();
    const size_t first = random() % 60, count = 1 + random() % 8;
    for (size_t i = 0; i < count; ++i) {
      batch.ids.Add("id" + std::to_string(first + i));
      for (int d = 0; d < 4; ++d) batch.values.push_back(static_cast<float>(random() % 9));
      batch.documents->Add("document " + std::to_string(random() % 100));
      batch.metadatas->Add("{\"n\":" + std::to_string(random() % 7) + "}");
    }
    switch (random() % 6) {
      case 0:
      case 1:
        ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs, batch).ok());
        break;
      case 2:
        ASSERT_TRUE(abi_test::Write(pigment_collection_upsert, docs, batch).ok());
        break;
      case 3:
        ASSERT_TRUE(abi_test::Write(pigment_collection_update, docs, batch).ok());
        break;
      case 4: {
        auto request = Sized<pigment_delete_request>();
        request.ids = batch.ids.column();
        request.ids_count = batch.ids.size();
        ASSERT_TRUE(Try(pigment_collection_delete, docs, &request,
                        static_cast<const pigment_call_options*>(nullptr),
                        static_cast<pigment_write_result*>(nullptr))
                        .ok());
        break;
      }
      default:
        ASSERT_TRUE(Try(pigment_client_flush, client).ok());
    }
    snapshots->push_back(Snapshot(docs, {1, 2, 3, 4}));
  }
}

TEST(Homes, MemoryAndDirectoryGiveEqualAnswers) {
  for (const uint64_t seed : {1u, 2u, 3u}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const pigment::TemporaryDirectory folder;
    std::array<std::vector<std::string>, 2> snapshots;
    for (size_t home = 0; home < 2; ++home) {
      abi_test::Client client;
      auto options = Sized<pigment_open_options>();
      options.sync_mode = PIGMENT_SYNC_OFF;
      ASSERT_TRUE(
          abi_test::Open(home == 0 ? "" : folder.path() + "/store", &client, &options).ok());
      abi_test::Collection docs;
      ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs).ok());
      RunCorpus(client.get(), docs.get(), seed, &snapshots[home]);
    }
    ASSERT_EQ(snapshots[0].size(), 120u);
    EXPECT_EQ(snapshots[0], snapshots[1]);
  }
}

TEST(Homes, AStoreInMemoryMakesNoFile) {
  const pigment::TemporaryDirectory folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  {
    const abi_test::Client client = abi_test::OpenMemory();
    abi_test::Collection docs;
    ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs).ok());
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs.get(), OneRecord("a", 1)).ok());
    ASSERT_TRUE(Try(pigment_client_flush, client.get()).ok());
    for (const auto& descriptor : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code error;
      const std::string target = std::filesystem::read_symlink(descriptor.path(), error).string();
      EXPECT_EQ(target.find(folder.path()), std::string::npos) << target;
    }
  }
  std::filesystem::current_path(before);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
