// SPDX-License-Identifier: Apache-2.0
//
// How the engine behaves towards a host: on which threads it calls, with what held, what a free
// does, and how much of a struct it fills.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/c_api/host_fixture.h"

namespace host_test {
namespace {

std::set<std::string> Tasks() {
  std::set<std::string> tasks;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    tasks.insert(entry.path().filename());
  return tasks;
}

std::vector<Row> MadeRows(size_t count, uint32_t dimension, uint64_t first_pointer = 1) {
  std::mt19937_64 random(first_pointer);
  std::vector<Row> rows(count);
  for (size_t i = 0; i < count; ++i)
    rows[i] = {RandomVector(random, dimension), first_pointer + i, false};
  return rows;
}

// Pages whose every pin looks around, and asks the engine for something else.
struct Watching {
  explicit Watching(Pages& of) : inner(of.source()), tasks_before(Tasks()) {}

  pigment_page_source source() {
    pigment_page_source source = inner;
    source.context = this;
    source.pin = [](void* context, uint32_t physical, const void** page) {
      auto* self = static_cast<Watching*>(context);
      ++self->calls;
      self->elsewhere += std::this_thread::get_id() == self->caller ? 0 : 1;
      self->other_tasks += Tasks() == self->tasks_before ? 0 : 1;
      self->Ask();
      return self->inner.pin(self->inner.context, physical, page);
    };
    source.unpin = [](void* context, uint32_t physical, const void* page) {
      auto* self = static_cast<Watching*>(context);
      self->inner.unpin(self->inner.context, physical, page);
    };
    return source;
  }

  void Ask() {
    if (other == nullptr) return;
    const std::vector<float> query(3, 0.5f);
    pigment_host_search* search = other->NewSearch(PIGMENT_METRIC_L2, &query);
    pigment_host_hit hit;
    size_t count = 0;
    Error error;
    EXPECT_EQ(pigment_host_search_next(search, &hit, 1, &count, error.out()), PIGMENT_OK);
    EXPECT_EQ(count, 1u);
    pigment_host_search_free(search);
  }

  pigment_page_source inner;
  std::set<std::string> tasks_before;
  std::thread::id caller = std::this_thread::get_id();
  Index* other = nullptr;
  int calls = 0;
  int elsewhere = 0;
  int other_tasks = 0;
};

TEST(HostManners, PinsComeFromTheCallerWithoutAThreadOrALock) {
  Index index(3), other(3);
  index.AddSegment(MadeRows(3000, 3));
  for (const Row& row : MadeRows(500, 3, 10000)) index.AddPending(row);
  other.AddSegment(MadeRows(10, 3));
  Watching watching(index.pages);
  watching.other = &other;
  const pigment_page_source source = watching.source();
  Error error;
  pigment_segment* segment = nullptr;
  HOST_OK(pigment_segment_open(&source, 1, index.root(0), &segment, error.out()));
  HOST_OK(pigment_segment_verify(segment, error.out()));
  const std::vector<float> query(3, 1.0f);
  pigment_host_search_options options{};
  options.struct_size = sizeof options;
  options.metric = PIGMENT_METRIC_L2;
  options.dimension = 3;
  options.query = query.data();
  pigment_host_search* search = nullptr;
  HOST_OK(pigment_host_search_new(&options, &search, error.out()));
  HOST_OK(pigment_host_search_add_segment(search, segment, nullptr, 0, error.out()));
  HOST_OK(
      pigment_host_search_add_pending(search, &source, kStamp, index.first_pending, error.out()));
  std::mt19937_64 random(1);
  EXPECT_EQ(Drain(search, random).size(), 3500u);
  pigment_host_search_free(search);
  pigment_segment_free(segment);
  EXPECT_GT(watching.calls, 20);
  EXPECT_EQ(watching.elsewhere, 0);
  EXPECT_EQ(watching.other_tasks, 0);
}

// The signals that a thread does not take, as the kernel says.
uint64_t BlockedBy(const std::string& task) {
  std::ifstream status("/proc/self/task/" + task + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigBlk:")) return std::stoull(line.substr(7), nullptr, 16);
  }
  return ~uint64_t{0};  // it is gone
}

struct BuildWatch {
  Pages pages;
  std::set<std::string> tasks_before = Tasks();
  std::set<std::string> seen;
  int takes_signals = 0;
};

TEST(HostManners, ThreadsOfABuildTakeNoSignalsAndEndWithTheCall) {
  for (const uint32_t threads : {1u, 3u}) {
    BuildWatch watch;
    pigment_segment_options options = OptionsOf(watch.pages, 24);
    options.index = PIGMENT_INDEX_GRAPH;
    options.threads = threads;
    options.context = &watch;
    options.write_page = [](void* context, const void* page, uint32_t* physical) {
      return Pages::Write(&static_cast<BuildWatch*>(context)->pages, page, physical);
    };
    options.pause = [](void* context) -> pigment_status {
      auto* self = static_cast<BuildWatch*>(context);
      for (const std::string& task : Tasks()) {
        if (self->tasks_before.contains(task)) continue;
        self->seen.insert(task);
        const uint64_t blocked = BlockedBy(task);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGUSR1, SIGUSR2, SIGCHLD})
          self->takes_signals += (blocked >> (signal - 1) & 1) == 0 ? 1 : 0;
      }
      return PIGMENT_OK;
    };
    Error error;
    pigment_segment_builder* builder = nullptr;
    HOST_OK(pigment_segment_builder_new(&options, &builder, error.out()));
    for (const Row& row : MadeRows(3000, 24))
      HOST_OK(pigment_segment_builder_add(builder, row.vector.data(), row.pointer, error.out()));
    uint32_t root = 0;
    HOST_OK(pigment_segment_builder_finish(builder, &root, nullptr, nullptr, error.out()));
    EXPECT_EQ(Tasks(), watch.tasks_before) << "when the call is over";
    pigment_segment_builder_free(builder);
    EXPECT_EQ(watch.seen.empty(), threads == 1);
    EXPECT_EQ(watch.takes_signals, 0);
  }
}

TEST(HostManners, FreesCallNobody) {
  Index index(3);
  index.AddSegment(MadeRows(3000, 3));
  for (const Row& row : MadeRows(500, 3, 10000)) index.AddPending(row);
  index.cache = NewCache(index, 3);
  const std::vector<float> query(3, 1.0f);
  pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &query, 2);
  pigment_host_hit hit;
  size_t count = 0;
  Error error;
  HOST_OK(pigment_host_search_next(search, &hit, 1, &count, error.out()));
  index.pages.fail_in = 2;  // in the middle of the next pass
  pigment_status status = PIGMENT_OK;
  for (int i = 0; i < 100 && status == PIGMENT_OK; ++i)
    status = pigment_host_search_next(search, &hit, 1, &count, error.out());
  EXPECT_EQ(status, PIGMENT_CANCELLED);
  pigment_segment* segment = nullptr;
  const pigment_page_source source = index.pages.source();
  HOST_OK(pigment_segment_open(&source, 1, index.root(0), &segment, error.out()));
  pigment_segment_options options = OptionsOf(index.pages, 3);
  pigment_segment_builder* builder = nullptr;
  HOST_OK(pigment_segment_builder_new(&options, &builder, error.out()));
  HOST_OK(pigment_segment_builder_add(builder, query.data(), 1, error.out()));
  const uint64_t pins = index.pages.pins;
  const size_t pages = index.pages.pages.size();
  pigment_segment_builder_free(builder);
  pigment_host_search_free(search);
  pigment_pending_cache_free(index.cache);
  pigment_segment_free(segment);
  index.cache = nullptr;
  EXPECT_EQ(index.pages.pins, pins);
  EXPECT_EQ(index.pages.pages.size(), pages);
  EXPECT_EQ(index.pages.pinned, 0);
}

TEST(HostManners, StructsAreFilledAsFarAsTheySayTheyGo) {
  Index index(3);
  index.AddSegment(MadeRows(100, 3));
  pigment_segment_info info{};
  info.struct_size = offsetof(pigment_segment_info, index);
  info.index = 77;
  pigment_segment_get_info(index.segment(0), &info);
  EXPECT_EQ(info.rows, 100u);
  EXPECT_EQ(info.index, 77);
  EXPECT_EQ(info.struct_size, offsetof(pigment_segment_info, index));
  const std::vector<float> query(3, 1.0f);
  pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &query);
  std::mt19937_64 random(1);
  EXPECT_EQ(Drain(search, random).size(), 100u);
  pigment_host_search_counters counters{};
  counters.struct_size = offsetof(pigment_host_search_counters, walks);
  counters.walks = counters.rows_late = 77;
  pigment_host_search_get_counters(search, &counters);
  EXPECT_GE(counters.passes, 1u);
  EXPECT_EQ(counters.segment_rows, 100u);
  EXPECT_EQ(counters.walks, 77u);
  EXPECT_EQ(counters.rows_late, 77u);
  pigment_host_search_free(search);
  pigment_segment_get_info(nullptr, nullptr);
  pigment_host_search_get_counters(nullptr, nullptr);
}

TEST(HostManners, BatchesAreOfFourMebibytesWhereNothingIsSaid) {
  Index index(1);
  index.AddSegment(MadeRows(1'300'000, 1));
  const std::vector<float> query(1, 0.0f);
  const auto passes = [&](uint64_t batch_bytes) {
    pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &query, 0, batch_bytes);
    std::vector<pigment_host_hit> hits(10000);
    size_t count = 0, all = 0;
    Error error;
    do {
      EXPECT_EQ(pigment_host_search_next(search, hits.data(), hits.size(), &count, error.out()),
                PIGMENT_OK);
      all += count;
    } while (count != 0);
    EXPECT_EQ(all, 1'300'000u);
    const uint64_t passes_of_all = CountersOf(search).passes;
    pigment_host_search_free(search);
    return passes_of_all;
  };
  const uint64_t usual = passes(0);
  EXPECT_EQ(usual, passes(uint64_t{4} << 20));
  EXPECT_GT(usual, passes(uint64_t{8} << 20));
}

// Pages of an index, and what the engine was told of them and asked for.
struct Watched {
  pigment_page_source inner;
  void* nowhere = nullptr;
  int calls = 0;
  std::set<uint32_t> pinned, asked_for;
  size_t waited_for = 0;  // pinned without having been asked for

  pigment_page_source source() {
    pigment_page_source source = inner;
    source.context = this;
    source.pin = [](void* context, uint32_t physical, const void** page) {
      auto* self = static_cast<Watched*>(context);
      if (self->pinned.insert(physical).second && !self->asked_for.contains(physical))
        ++self->waited_for;
      return self->inner.pin(self->inner.context, physical, page);
    };
    source.unpin = [](void* context, uint32_t physical, const void* page) {
      auto& inner = static_cast<Watched*>(context)->inner;
      inner.unpin(inner.context, physical, page);
    };
    return source;
  }
};

// The nearest ten by a walk.
void TenByAWalk(const pigment_segment* segment, const std::vector<float>& query,
                std::vector<uint64_t>* rows) {
  pigment_host_search_options options{};
  options.struct_size = sizeof options;
  options.metric = PIGMENT_METRIC_L2;
  options.dimension = query.size();
  options.query = query.data();
  options.recall = 0.98;
  Error error;
  pigment_host_search* search = nullptr;
  HOST_OK(pigment_host_search_new(&options, &search, error.out()));
  HOST_OK(pigment_host_search_add_segment(search, segment, nullptr, 0, error.out()));
  std::vector<pigment_host_hit> hits(10);
  size_t count = 0;
  HOST_OK(pigment_host_search_next(search, hits.data(), hits.size(), &count, error.out()));
  EXPECT_EQ(count, 10u);
  EXPECT_EQ(CountersOf(search).walks, 1u);
  pigment_host_search_free(search);
  for (const pigment_host_hit& hit : hits) rows->push_back(hit.row_pointer);
}

// One graph, of more rows than a scan of their codes is worth.
class HostGraph : public testing::Test {
 protected:
  HostGraph() {
    index.segment_index = PIGMENT_INDEX_GRAPH;
    index.AddSegment(MadeRows(12000, 24));
    watched.inner = index.pages.source();
  }

  // Opens it through `source` as well, and finds the same rows there.
  void Search(const pigment_page_source& source) {
    pigment_segment* segment = nullptr;
    HOST_OK(pigment_segment_open(&source, 1, index.root(0), &segment, error.out()));
    watched.pinned.clear();
    watched.waited_for = 0;
    std::vector<uint64_t> found, expected;
    TenByAWalk(segment, query, &found);
    TenByAWalk(index.segment(0), query, &expected);
    EXPECT_EQ(found, expected);
    pigment_segment_free(segment);
  }

  Index index{24};
  Watched watched;
  const std::vector<float> query = std::vector<float>(24, 0.1f);
  Error error;
};

TEST_F(HostGraph, WhereAPageProbablyLiesIsNotReadThroughThat) {
  const long page_bytes = sysconf(_SC_PAGESIZE);
  void* const nowhere = mmap(nullptr, PIGMENT_PAGE_BYTES + static_cast<size_t>(page_bytes),
                             PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(nowhere, MAP_FAILED);
  watched.nowhere = nowhere;
  pigment_page_source source = watched.source();
  source.likely = [](void* context, uint32_t physical) -> const void* {
    auto* self = static_cast<Watched*>(context);
    return ++self->calls % 3 == 0 ? nullptr : physical % 2 == 0 ? self->nowhere : nullptr;
  };
  Search(source);
  EXPECT_GT(watched.calls, 0);
  munmap(nowhere, PIGMENT_PAGE_BYTES + static_cast<size_t>(page_bytes));
}

TEST_F(HostGraph, IsToldOfPagesBeforeItWaitsForThem) {
  pigment_page_source source = watched.source();
  source.read_ahead = [](void* context, uint32_t physical) {
    auto* self = static_cast<Watched*>(context);
    self->asked_for.insert(physical);
    return !self->pinned.contains(physical);
  };
  Search(source);
  EXPECT_LT(watched.waited_for * 4, watched.pinned.size());
  size_t for_nothing = 0;
  for (const uint32_t physical : watched.asked_for)
    if (!watched.pinned.contains(physical)) ++for_nothing;
  EXPECT_LT(for_nothing * 4, watched.asked_for.size());
}

TEST_F(HostGraph, AsksForNoPageWhosePlaceIsKnown) {
  pigment_page_source source = watched.source();
  source.likely = [](void* context, uint32_t) -> const void* { return context; };
  source.read_ahead = [](void* context, uint32_t physical) {
    static_cast<Watched*>(context)->asked_for.insert(physical);
    return true;
  };
  Search(source);
  EXPECT_EQ(watched.asked_for.size(), 0u);
}

// Pages of a graph over the same rows.
std::vector<Page> GraphOf(float effort, uint32_t links_max) {
  Pages pages;
  pigment_segment_options options = OptionsOf(pages, 24);
  options.index = PIGMENT_INDEX_GRAPH;
  options.effort = effort;
  options.links_max = links_max;
  Error error;
  pigment_segment_builder* builder = nullptr;
  EXPECT_EQ(pigment_segment_builder_new(&options, &builder, error.out()), PIGMENT_OK);
  for (const Row& row : MadeRows(1500, 24))
    EXPECT_EQ(pigment_segment_builder_add(builder, row.vector.data(), row.pointer, error.out()),
              PIGMENT_OK);
  uint32_t root = 0;
  EXPECT_EQ(pigment_segment_builder_finish(builder, &root, nullptr, nullptr, error.out()),
            PIGMENT_OK)
      << error.message();
  pigment_segment_builder_free(builder);
  std::vector<Page> copies;
  for (const auto& page : pages.pages) copies.push_back(*page);
  return copies;
}

TEST(HostManners, EffortChangesAGraphUpToFourAndOneIsUsual) {
  const std::vector<Page> usual = GraphOf(0, 0), most = GraphOf(4, 0);
  EXPECT_EQ(GraphOf(1, 0), usual);
  EXPECT_NE(GraphOf(0.25f, 0), usual);
  EXPECT_NE(most, usual);
  EXPECT_EQ(GraphOf(16, 0), most);
  EXPECT_LT(GraphOf(0, 8).size(), GraphOf(0, 32).size()) << "links take pages";
  EXPECT_EQ(GraphOf(0, 64), GraphOf(0, 32));
}

}  // namespace
}  // namespace host_test
