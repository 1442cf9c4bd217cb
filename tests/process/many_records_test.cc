// SPDX-License-Identifier: Apache-2.0
//
// CONTRACT 32: many small records, twenty million in `make soak`. What a filter takes grows with
// its answer and not with the records, and memory stays within the budget, whatever is read.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "engine/collection/store.h"
#include "engine/query/facets.h"
#include "engine/query/search.h"
#include "tests/process/children.h"
#include "tests/process/resident_bytes.h"
#include "tests/support/effort.h"
#include "tests/support/store_model.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

constexpr uint64_t kRowsAtOne = 2000000;
constexpr uint64_t kRowsMin = 20000;
constexpr uint64_t kBatchRows = 5000;
constexpr uint64_t kBudgetBytes = 128 << 20;
// What is not in the budget (docs/operations.md): the process, a bit or two for each row.
constexpr uint64_t kBesideBytes = 32 << 20;
constexpr uint64_t kGroups = 1000;  // of every kGroups rows one is of a group
constexpr int kRounds = 9;
// A filter goes through sets that have a bit for each row: measured 0.2 ns a row.
constexpr double kBitsOfRowNs = 0.6;

StoreOptions Options() {
  // No index of vectors, for only filters are of interest.
  return {.sync_mode = SyncMode::kOff,
          .memory_budget_bytes = kBudgetBytes,
          .index_rows_min = std::numeric_limits<uint32_t>::max(),
          .cluster_rows_min = std::numeric_limits<uint32_t>::max()};
}

uint64_t MostResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) << 10;
}

std::string Fill(Store& store, const std::string& name, uint64_t rows) {
  auto docs = store.CreateCollection(EntryNamed(name));
  PIGMENT_CHILD_OK(docs);
  for (uint64_t first = 0; first < rows; first += kBatchRows) {
    WriteBatch batch;
    batch.dimension = 1;
    for (uint64_t row = first; row < std::min(first + kBatchRows, rows); ++row) {
      batch.ids.push_back(std::to_string(row));
      batch.embeddings.push_back(static_cast<float>(row));
      batch.metadatas.push_back(Metadata{{"row", static_cast<int64_t>(row)},
                                         {"group", "g" + std::to_string(row % kGroups)}});
    }
    PIGMENT_CHILD_OK((*docs)->Write(batch));
  }
  PIGMENT_CHILD_OK((*docs)->Flush());
  return "";
}

std::string Between(uint64_t first, uint64_t rows) {
  return R"({"row":{"$between":[)" + std::to_string(first) + "," +
         std::to_string(first + rows - 1) + "]}}";
}

// The least time of some calls: what others take of the machine is in none of them.
template <typename Call>
std::string TimeOf(const Call& call, double* milliseconds) {
  *milliseconds = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const Stopwatch watch;
    const std::string wrong = call();
    if (!wrong.empty()) return wrong;
    *milliseconds = std::min(*milliseconds, watch.milliseconds());
  }
  return "";
}

// Milliseconds for counting, and for fetching where they are few, the rows of a filter.
struct Times {
  double ten = 0;
  double thousand = 0;
  double tenth = 0;  // of all rows
};

std::string TimeFilters(const Version& version, uint64_t rows, Times* times) {
  const auto fetch = [&](uint64_t wanted) -> std::string {
    GetRequest get;
    get.read.filter = Filter::Parse(Between(rows / 3, wanted), std::nullopt).value();
    get.read.include.metadatas = true;
    const auto found = Get(version, get);
    PIGMENT_CHILD_OK(found);
    PIGMENT_CHILD_CHECK(found->rows() == wanted);
    PIGMENT_CHILD_CHECK(TextAt(found->ids, 0) == std::to_string(rows / 3));
    return "";
  };
  const auto count = [&](uint64_t wanted) -> std::string {
    ReadOptions read;
    read.filter = Filter::Parse(Between(rows / 3, wanted), std::nullopt).value();
    const auto found = CountRows(version, read);
    PIGMENT_CHILD_OK(found);
    PIGMENT_CHILD_CHECK(*found == wanted);
    return "";
  };
  if (std::string wrong = TimeOf([&] { return fetch(10); }, &times->ten); !wrong.empty())
    return wrong;
  if (std::string wrong = TimeOf([&] { return fetch(1000); }, &times->thousand); !wrong.empty())
    return wrong;
  return TimeOf([&] { return count(rows / 10); }, &times->tenth);
}

// Reads of all kinds, none of which has a large answer.
std::string ReadAll(const Version& version, uint64_t rows) {
  GetRequest sorted{.read = {}, .limit = 10, .offset = 1000};
  sorted.order_by = OrderBy::Parse(R"([{"key":"group"},{"key":"row","descending":true}])").value();
  const auto page = Get(version, sorted);
  PIGMENT_CHILD_OK(page);
  PIGMENT_CHILD_CHECK(page->rows() == 10);
  FacetsRequest facets{.read = {}, .keys = {"group"}, .limit = 3};
  const auto counted = CountFacets(version, facets);
  PIGMENT_CHILD_OK(counted);
  PIGMENT_CHILD_CHECK(counted->at(0).size() == 3 && counted->at(0)[0].count == rows / kGroups);
  GetRequest of_group;
  of_group.limit = 10;
  of_group.read.filter = Filter::Parse(R"({"group":"g7"})", std::nullopt).value();
  PIGMENT_CHILD_CHECK(Get(version, of_group).value().rows() == 10);
  const std::array<float, 1> vector = {0.5f};
  QueryRequest query;
  query.embeddings = vector;
  query.dimension = 1;
  query.queries = 1;
  query.read.filter = Filter::Parse(R"({"group":{"$ne":"g7"}})", std::nullopt).value();
  PIGMENT_CHILD_CHECK(Query(version, query).value().rows() == 10);
  // Values that are all different are more than the budget once there are enough.
  facets.keys = {"row"};
  const auto different = CountFacets(version, facets);
  if (rows * 80 > kBudgetBytes) {
    PIGMENT_CHILD_CHECK(different.status().code() == Code::kResourceExhausted);
  } else {
    PIGMENT_CHILD_OK(different);
  }
  return "";
}

std::string Check(const std::string& path, uint64_t rows) {
  const uint64_t before = ResidentBytes();
  StoreOptions options = Options();
  options.background_threads = 0;  // what reads take is looked at alone
  auto store = Store::Open(path, options);
  PIGMENT_CHILD_OK(store);
  Times few, many;
  uint64_t used = 0;
  for (const bool is_large : {false, true}) {
    auto docs = (*store)->GetCollection({}, is_large ? "large" : "small");
    PIGMENT_CHILD_OK(docs);
    const auto version = (*docs)->Pin();
    PIGMENT_CHILD_OK(version);
    const uint64_t its = is_large ? rows : rows / 10;
    PIGMENT_CHILD_CHECK((*version)->live_rows == its);
    const std::string wrong = TimeFilters(**version, its, is_large ? &many : &few);
    if (!wrong.empty()) return wrong;
    const std::string reading = ReadAll(**version, its);
    if (!reading.empty()) return reading;
    used = std::max(used, ResidentBytes() - before);
  }
  std::printf(
      "effort: records %llu (floor %llu), budget %.0f MB, used %.1f MB; ms of a filter for 10, "
      "1,000 and a tenth of all: %.3f %.3f %.3f, of a tenth of the records %.3f %.3f %.3f\n",
      static_cast<unsigned long long>(rows), static_cast<unsigned long long>(AtEffort(kRowsAtOne)),
      static_cast<double>(kBudgetBytes) / 1e6, static_cast<double>(used) / 1e6, many.ten,
      many.thousand, many.tenth, few.ten, few.thousand, few.tenth);
  std::fflush(stdout);
  PIGMENT_CHILD_CHECK(used < kBudgetBytes + kBesideBytes);
  // Ten times the records: the same answer takes the same time, but for the bits of sets of rows.
  const double of_bits = static_cast<double>(rows) * kBitsOfRowNs * 1e-6;
  PIGMENT_CHILD_CHECK(many.ten < 4 * few.ten + 1 + of_bits);
  PIGMENT_CHILD_CHECK(many.thousand < 4 * few.thousand + 1 + of_bits);
  return "";
}

TEST(ManyRecords, AFilterTakesWhatItsAnswerTakesAndMemoryIsWithinTheBudget) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer's own memory and time hide it";
  const uint64_t rows = std::max(AtEffort(kRowsAtOne), kRowsMin);
  const TemporaryDirectory directory;
  EXPECT_EQ(RunInChild([&]() -> std::string {
              auto store = Store::Open(directory / "db", Options());
              PIGMENT_CHILD_OK(store);
              if (std::string wrong = Fill(**store, "small", rows / 10); !wrong.empty())
                return wrong;
              if (std::string wrong = Fill(**store, "large", rows); !wrong.empty()) return wrong;
              // Writers go on beside the merges that one budget serves with them.
              const MaintenanceStatistics merged = (*store)->maintenance().value();
              std::printf("written with %.1f MB, %.1f at most; %llu merges, %llu failed\n",
                          static_cast<double>(ResidentBytes()) / 1e6,
                          static_cast<double>(MostResidentBytes()) / 1e6,
                          static_cast<unsigned long long>(merged.merges),
                          static_cast<unsigned long long>(merged.failures));
              std::fflush(stdout);
              PIGMENT_CHILD_CHECK(merged.merges > 0 || rows < 100000);
              PIGMENT_CHILD_OK((*store)->Close());
              return "";
            }),
            "");
  EXPECT_EQ(RunInChild([&] { return Check(directory / "db", rows); }), "");
}

}  // namespace
}  // namespace pigment
