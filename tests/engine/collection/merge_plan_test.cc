// SPDX-License-Identifier: Apache-2.0
//
// The tiers: ten million rows go through the plan as a store would send them, and the number of
// segments and the rows written again stay within bounds.

#include "engine/collection/merge_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace pigment {
namespace {

constexpr uint32_t kFlush = 16384;

std::vector<SegmentShape> Shapes(const std::vector<uint32_t>& flushes_of_1000) {
  std::vector<SegmentShape> shapes;
  for (const uint32_t rows : flushes_of_1000) shapes.push_back({.rows = rows});
  return shapes;
}

std::string PlanOf(const std::vector<SegmentShape>& shapes, uint32_t flush = 1000,
                   uint64_t rows_max = kMergeRowsAny) {
  const auto run = PlanMerge(shapes, flush, rows_max);
  return run ? std::to_string(run->first) + "+" + std::to_string(run->count) : "none";
}

TEST(MergePlan, MergesFourNeighboursOfATier) {
  EXPECT_EQ(PlanOf({}), "none");
  EXPECT_EQ(PlanOf(Shapes({1000})), "none");
  EXPECT_EQ(PlanOf(Shapes({1000, 1000, 1000})), "none");
  EXPECT_EQ(PlanOf(Shapes({1000, 1010, 1000, 990})), "0+4");
  EXPECT_EQ(PlanOf(Shapes({4000, 1000, 1000, 1000})), "none") << "a large one for three small ones";
  EXPECT_EQ(PlanOf(Shapes({4000, 1000, 1000, 1000, 1000})), "1+4");
  EXPECT_EQ(PlanOf(Shapes({16000, 1000, 16000, 1000, 16000, 1000, 16000})), "0+7")
      << "small ones between";
  EXPECT_EQ(PlanOf(Shapes({64000, 1, 1, 1, 1})), "1+4");
}

TEST(MergePlan, RewritesASegmentThatIsMostlyDead) {
  EXPECT_EQ(PlanOf({{.rows = 3000, .dead_rows = 1000}}), "none");
  EXPECT_EQ(PlanOf({{.rows = 3000, .dead_rows = 1001}}), "0+1");
  EXPECT_EQ(PlanOf({{.rows = 9000, .dead_rows = 4000}, {.rows = 900, .dead_rows = 400}}), "1+1");
  EXPECT_EQ(PlanOf({{.rows = 3000, .dead_rows = 3000, .is_busy = true}}), "none");
}

TEST(MergePlan, LeavesBusySegmentsAlone) {
  std::vector<SegmentShape> shapes = Shapes({1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000});
  for (int i = 0; i < 4; ++i) shapes[static_cast<size_t>(i)].is_busy = true;
  EXPECT_EQ(PlanOf(shapes), "4+4");
  shapes[5].is_busy = true;
  EXPECT_EQ(PlanOf(shapes), "none");
}

TEST(MergePlan, HasNoMoreRowsThanThereIsMemoryFor) {
  const auto plan = [](const std::vector<SegmentShape>& shapes, uint64_t rows_max) {
    return PlanOf(shapes, 1000, rows_max);
  };
  const std::vector<SegmentShape> equal(10, {.rows = 1000});
  EXPECT_EQ(plan(equal, 10000), "0+10");
  EXPECT_EQ(plan(equal, 9999), "0+9");
  EXPECT_EQ(plan(equal, 4000), "0+4");
  EXPECT_EQ(plan(equal, 3999), "none");
  const std::vector<SegmentShape> behind = Shapes({9000, 9000, 9000, 9000, 1000, 1000, 1000, 1000});
  EXPECT_EQ(plan(behind, 30000), "4+4") << "what is too large together stays";
  EXPECT_EQ(plan({{.rows = 3000, .dead_rows = 2000}}, 3000), "0+1");
  EXPECT_EQ(plan({{.rows = 3000, .dead_rows = 2000}}, 2999), "none") << "dead rows take memory too";
  // Far more than there would be otherwise, and none that can be merged.
  EXPECT_EQ(plan(std::vector<SegmentShape>(100, {.rows = 1000}), 3000), "none");
  const std::vector<SegmentShape> lacking(5, {.rows = 1000, .lacks_index = true});
  EXPECT_EQ(PlanQuietMerge(lacking, 3000, 3500)->count, 3u);
  EXPECT_FALSE(PlanQuietMerge(lacking, 4000, 3500).has_value());
}

TEST(MergePlan, NeverTakesMoreThanItsInputs) {
  EXPECT_EQ(PlanOf(std::vector<SegmentShape>(100, {.rows = 1000})), "0+16");
}

TEST(MergePlan, SizesThatMeetNoRuleDoNotPileUp) {
  // Each is larger than all before it together, and each run of four has one that outweighs it.
  std::vector<SegmentShape> shapes;
  for (uint32_t i = 0, rows = 1; i < 30; ++i, rows = rows * 9 / 4 + 1)
    shapes.push_back({.rows = rows});
  while (const auto run = PlanMerge(shapes, 1000)) {
    uint32_t rows = 0;
    for (size_t i = 0; i < run->count; ++i) rows += shapes[run->first + i].rows;
    shapes[run->first] = {.rows = rows};
    const auto at = shapes.begin() + static_cast<ptrdiff_t>(run->first);
    shapes.erase(at + 1, at + static_cast<ptrdiff_t>(run->count));
  }
  EXPECT_LE(shapes.size(), SegmentsExpected(shapes, 1000));
}

// What one history does to the segments.
struct Figures {
  uint64_t rows_ingested = 0;  // written by flushes
  uint64_t rows_merged = 0;    // written by merges
  size_t segments_max = 0;
  double segments_mean = 0;
  double dead_share_max = 0;

  double amplification() const {
    return static_cast<double>(rows_merged) /
           static_cast<double>(std::max<uint64_t>(rows_ingested, 1));
  }
};

struct History {
  uint64_t rows = 10'000'000;
  uint32_t flush_rows = kFlush;  // of each flush
  double upserts = 0;            // share of rows whose id is there already
  double deletes = 0;            // deletions for each row written
  bool recent = false;           // upserts and deletions meet young rows
};

// Deaths are spread over the segments in proportion to their live rows, or to the youngest.
void Kill(std::vector<SegmentShape>& segments, uint64_t count, bool recent,
          std::mt19937_64& random) {
  uint64_t live = 0;
  for (const SegmentShape& segment : segments) live += segment.rows - segment.dead_rows;
  count = std::min(count, live);
  for (size_t i = segments.size(); i-- > 0 && count > 0;) {
    SegmentShape& segment = segments[i];
    const uint64_t here = segment.rows - segment.dead_rows;
    uint64_t killed =
        recent ? std::min(count, here / 2) : count * here / std::max<uint64_t>(live, 1);
    killed = std::min<uint64_t>(here, killed + random() % 3);
    segment.dead_rows += static_cast<uint32_t>(killed);
    live -= here;
    count -= std::min(count, killed);
  }
  std::erase_if(segments, [](const SegmentShape& one) { return one.rows == one.dead_rows; });
}

Figures Simulate(const History& history) {
  std::mt19937_64 random(7);
  std::vector<SegmentShape> segments;
  Figures figures;
  uint64_t flushes = 0;
  double segments_sum = 0;
  while (figures.rows_ingested < history.rows) {
    const auto jitter = static_cast<uint32_t>(random() % (history.flush_rows / 16 + 1));
    const uint32_t rows = history.flush_rows + jitter;
    figures.rows_ingested += rows;
    Kill(segments, static_cast<uint64_t>(rows * (history.upserts + history.deletes)),
         history.recent, random);
    segments.push_back({.rows = rows});
    while (const auto run = PlanMerge(segments, kFlush)) {
      SegmentShape merged;
      for (size_t i = 0; i < run->count; ++i)
        merged.rows += segments[run->first + i].rows - segments[run->first + i].dead_rows;
      figures.rows_merged += merged.rows;
      segments[run->first] = merged;
      const auto at = segments.begin() + static_cast<ptrdiff_t>(run->first);
      segments.erase(at + 1, at + static_cast<ptrdiff_t>(run->count));
      std::erase_if(segments, [](const SegmentShape& one) { return one.rows == 0; });
    }
    uint64_t all = 0, dead = 0;
    for (const SegmentShape& segment : segments) all += segment.rows, dead += segment.dead_rows;
    figures.dead_share_max =
        std::max(figures.dead_share_max, static_cast<double>(dead) / static_cast<double>(all));
    figures.segments_max = std::max(figures.segments_max, segments.size());
    segments_sum += static_cast<double>(segments.size());
    ++flushes;
  }
  figures.segments_mean = segments_sum / static_cast<double>(flushes);
  return figures;
}

void Show(const char* what, const Figures& figures) {
  std::printf(
      "%s: %llu rows written, %.2f times more by merges; segments %.1f on average, %zu at most; "
      "dead %.0f %% at most\n",
      what, static_cast<unsigned long long>(figures.rows_ingested), figures.amplification(),
      figures.segments_mean, figures.segments_max, figures.dead_share_max * 100);
}

TEST(MergePlan, KeepsAboutEightSegmentsOverTenMillionRows) {
  const Figures figures = Simulate({});
  Show("steady ingest", figures);
  EXPECT_LE(figures.segments_mean, 9);
  EXPECT_LE(figures.segments_max, 16u);
  EXPECT_LE(figures.amplification(), 4);
}

TEST(MergePlan, KeepsItsBoundsUnderUpsertsAndDeletes) {
  const struct {
    const char* what;
    History history;
  } kCases[] = {
      {"a fifth upserted", {.upserts = 0.2}},
      {"half upserted", {.upserts = 0.5}},
      {"nine of ten upserted", {.upserts = 0.9}},
      {"a third deleted", {.deletes = 0.33}},
      {"as many deleted as written", {.deletes = 0.98}},
      {"young rows upserted", {.upserts = 0.5, .recent = true}},
      {"young rows deleted", {.deletes = 0.5, .recent = true}},
      {"small flushes", {.rows = 2'000'000, .flush_rows = 1000, .upserts = 0.1, .deletes = 0.1}},
      {"tiny flushes", {.rows = 200'000, .flush_rows = 10, .upserts = 0.1, .deletes = 0.1}},
  };
  for (const auto& one : kCases) {
    SCOPED_TRACE(one.what);
    const Figures figures = Simulate(one.history);
    Show(one.what, figures);
    EXPECT_LE(figures.segments_mean, 13);
    EXPECT_LE(figures.segments_max, 24u);
    EXPECT_LE(figures.amplification(), 6);
    EXPECT_LE(figures.dead_share_max, 0.5);
  }
}

TEST(PlanQuietMerge, TakesWhatHasNoIndexAndWhatIsAnEighthOfTheLargest) {
  struct Case {
    std::vector<SegmentShape> shapes;
    std::optional<std::pair<size_t, size_t>> run;
  };
  const auto flat = [](uint32_t rows, uint32_t dead = 0) {
    return SegmentShape{.rows = rows, .dead_rows = dead, .is_busy = false, .lacks_index = true};
  };
  const auto graph = [](uint32_t rows, uint32_t dead = 0) {
    return SegmentShape{.rows = rows, .dead_rows = dead};
  };
  SegmentShape busy = flat(5000);
  busy.is_busy = true;
  const Case cases[] = {
      {{}, std::nullopt},
      {{graph(5000)}, std::nullopt},
      {{graph(5000), graph(5000)}, {{0, 2}}},
      {{flat(999)}, std::nullopt},
      {{flat(1000)}, {{0, 1}}},
      {{flat(1000, 1)}, std::nullopt},
      // An eighth of the largest, whatever it is.
      {{graph(8000), flat(999)}, std::nullopt},
      {{graph(8000), flat(1000)}, {{0, 2}}},
      {{graph(8000), graph(600), flat(400)}, {{0, 3}}},
      {{graph(9000, 1000)}, {{0, 1}}},
      {{graph(9000, 999)}, std::nullopt},
      {{graph(8500, 500), flat(500)}, {{0, 2}}},
      {{flat(600), graph(5000), flat(600)}, {{0, 3}}},
      // Otherwise those beside it, by themselves.
      {{graph(50000), flat(400), flat(300), flat(300)}, {{1, 3}}},
      {{flat(600), graph(50000), flat(600)}, std::nullopt},
      {{flat(600), graph(50000), flat(600), flat(400), busy}, {{2, 2}}},
      {{flat(1000), graph(50000), graph(3000), flat(375)}, {{0, 1}}},
      {{graph(50000), graph(3000), flat(375)}, {{1, 2}}},
      {{busy, flat(1000)}, {{1, 1}}},
      {std::vector<SegmentShape>(40, flat(100)), {{0, kMergeInputsMax}}},
  };
  for (const Case& of : cases) {
    const auto run = PlanQuietMerge(of.shapes, 1000);
    ASSERT_EQ(run.has_value(), of.run.has_value()) << &of - cases;
    if (!run) continue;
    EXPECT_EQ(run->first, of.run->first) << &of - cases;
    EXPECT_EQ(run->count, of.run->second) << &of - cases;
  }
  // What is larger than memory allows stays as it is.
  EXPECT_FALSE(PlanQuietMerge(std::vector{graph(5000), graph(5000)}, 1000, 9999));
  EXPECT_EQ(PlanQuietMerge(std::vector{graph(5000), flat(3000), flat(3000)}, 1000, 8000)->count,
            2u);
}

// Until nothing is left to do: each merge makes one segment of several, or one without dead rows.
TEST(PlanQuietMerge, ComesToAnEnd) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<SegmentShape> shapes;
    for (uint64_t i = random() % 30; i > 0; --i) {
      SegmentShape shape{.rows = static_cast<uint32_t>(1 + random() % (1u << random() % 20))};
      shape.dead_rows = random() % 3 == 0 ? static_cast<uint32_t>(random() % (shape.rows + 1)) : 0;
      shape.lacks_index = random() % 2 == 0;
      shapes.push_back(shape);
    }
    size_t merges = 0;
    while (const auto run = PlanQuietMerge(shapes, 1000)) {
      const auto begin = shapes.begin() + static_cast<ptrdiff_t>(run->first);
      SegmentShape merged;
      for (auto shape = begin; shape != begin + static_cast<ptrdiff_t>(run->count); ++shape)
        merged.rows += shape->rows - shape->dead_rows;
      *begin = merged;
      shapes.erase(begin + 1, begin + static_cast<ptrdiff_t>(run->count));
      ASSERT_LE(++merges, 60u);
    }
  }
}

}  // namespace
}  // namespace pigment
