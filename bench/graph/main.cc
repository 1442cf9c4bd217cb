// SPDX-License-Identifier: Apache-2.0
//
// The graph of engine/vector, in memory, beside hnswlib: both built over the same rows and asked
// the same queries in turns, one thread, one query a call. What segments will hold; no segment does
// yet.
//
//   graph_bench --data FOLDER [--rows N] [--scaled] [--rounds N]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/graph/hnswlib_peer.h"
#include "bench/graph/passages.h"
#include "tests/support/memory_graph.h"

namespace pigment_bench {
namespace {

constexpr size_t kNearest = 10;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Point {
  double setting;
  double recall = 0;
  double rate = 0;  // queries a second, of the best round
};

struct Contestant {
  std::string name;
  std::string setting;  // what is set
  // Rows found for one query.
  std::function<void(const float* query, double setting, std::vector<uint32_t>* rows)> search;
  std::vector<Point> points;
};

void RunRound(const Passages& passages, Contestant& contestant) {
  std::vector<std::vector<uint32_t>> found(passages.queries.count());
  for (Point& point : contestant.points) {
    const double begin = Now();
    for (uint32_t i = 0; i < passages.queries.count(); ++i)
      contestant.search(passages.queries.row(i), point.setting, &found[i]);
    point.rate = std::max(point.rate, passages.queries.count() / (Now() - begin));
    size_t hits = 0;
    for (uint32_t i = 0; i < passages.queries.count(); ++i) {
      const float limit = passages.last_distances[i] * (1 + 1e-6f);
      hits += static_cast<size_t>(std::ranges::count_if(found[i], [&](uint32_t row) {
        return pigment::Distance(pigment::Metric::kL2, passages.queries.row(i),
                                 passages.base.row(row), passages.base.dimension()) <= limit;
      }));
    }
    point.recall =
        static_cast<double>(hits) / static_cast<double>(kNearest * passages.queries.count());
  }
}

std::vector<Point> Points(std::initializer_list<double> settings) {
  std::vector<Point> points;
  for (const double setting : settings) points.push_back({.setting = setting});
  return points;
}

const Point* Fastest(const Contestant& contestant, double recall) {
  const Point* fastest = nullptr;
  for (const Point& point : contestant.points) {
    if (point.recall >= recall && (fastest == nullptr || point.rate > fastest->rate))
      fastest = &point;
  }
  return fastest;
}

void Report(const std::vector<Contestant>& contestants) {
  for (const Contestant& contestant : contestants) {
    for (const Point& point : contestant.points) {
      std::printf("  %-12s %s %5g   recall@10 %.4f  %9.0f queries/s\n", contestant.name.c_str(),
                  contestant.setting.c_str(), point.setting, point.recall, point.rate);
    }
  }
  for (const auto& [recall, wanted] : {std::pair(0.95, 3.0), std::pair(0.99, 4.0)}) {
    const Point* ours = Fastest(contestants[0], recall);
    const Point* theirs = Fastest(contestants[1], recall);
    if (ours == nullptr || theirs == nullptr) {
      std::printf("  recall@10 >= %.2f: %s does not reach it\n", recall,
                  contestants[ours == nullptr ? 0 : 1].name.c_str());
      continue;
    }
    std::printf("  recall@10 >= %.2f: %9.0f against %9.0f queries/s, %.2f times (wanted: %.0f)\n",
                recall, ours->rate, theirs->rate, ours->rate / theirs->rate, wanted);
  }
}

int Run(const PassageOptions& options, int rounds) {
  const Passages passages = LoadPassages(options, kNearest);
  std::printf(
      "MiniLM passages%s: %u x %u f32, squared distance, %u queries, k = %zu, one thread, best of "
      "%d rounds, seed %llu\n",
      options.is_scaled ? ", lengths 0.2 to 5, f32 noise" : "", passages.base.count(),
      passages.base.dimension(), passages.queries.count(), kNearest, rounds,
      static_cast<unsigned long long>(options.seed));
  double begin = Now();
  auto built = pigment::BuildGraph(passages.base, {});
  if (!built.ok()) {
    std::fprintf(stderr, "bench: %s\n", built.status().ToString().c_str());
    return 1;
  }
  const double build = Now() - begin;
  const double links = static_cast<double>(built->link_count()) / passages.base.count();
  pigment::MemoryGraph graph(passages.base, *std::move(built));
  const double ours = Now() - begin;
  begin = Now();
  HnswlibPeer peer(passages.base.dimension(), passages.base.count());
  for (uint32_t row = 0; row < passages.base.count(); ++row) peer.Add(passages.base.row(row), row);
  const double theirs = Now() - begin;
  const double vector_bytes = passages.base.dimension() * sizeof(float);
  std::printf(
      "  build: %.1f s (graph %.1f s, nodes %.1f s) against %.1f s, %.2f of it (wanted: 0.33 or "
      "less)\n",
      ours, build, ours - build, theirs, ours / theirs);
  std::printf(
      "  size: %.1f links a row, %.0f bytes a row with the f32 vector, %.2f times raw (wanted: 2 "
      "or less);"
      " hnswlib %zu\n",
      links, static_cast<double>(graph.node_bytes()) + vector_bytes,
      static_cast<double>(graph.node_bytes()) / vector_bytes + 1,
      peer.bytes_per_row());
  pigment::GraphWalk walk;
  std::vector<Contestant> contestants(2);
  contestants[0] = {
      "pigment", "reach",
      [&](const float* query, double reach, std::vector<uint32_t>* rows) {
        pigment::GraphWalkOptions options;
        options.reach = static_cast<float>(reach);
        options.k = kNearest;
        const auto found = graph.Search({query, passages.base.dimension()}, options, walk);
        rows->clear();
        for (const pigment::Scored& hit : found.value())
          rows->push_back(static_cast<uint32_t>(hit.tie));
      },
      Points({1, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08, 1.09, 1.1, 1.12, 1.14, 1.16, 1.18,
              1.2, 1.25, 1.3})};
  contestants[1] = {"hnswlib", "ef   ",
                    [&](const float* query, double ef, std::vector<uint32_t>* rows) {
                      peer.Search(query, static_cast<size_t>(ef), kNearest, rows);
                    },
                    Points({10, 16, 20, 24, 28, 40, 56, 80, 100, 140, 200, 400, 800, 1600})};
  for (int round = 0; round < rounds; ++round) {
    for (Contestant& contestant : contestants) RunRound(passages, contestant);
  }
  Report(contestants);
  return 0;
}

}  // namespace
}  // namespace pigment_bench

int main(int argc, char** argv) {
  pigment_bench::PassageOptions options;
  int rounds = 5;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--scaled") {
      options.is_scaled = true;
    } else if (argument == "--data" && has_value) {
      options.folder = argv[++i];
    } else if (argument == "--rows" && has_value) {
      options.rows = static_cast<uint32_t>(std::atoi(argv[++i]));
    } else if (argument == "--rounds" && has_value) {
      rounds = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: graph_bench --data FOLDER [--rows N] [--scaled] [--rounds N]\n");
      return 2;
    }
  }
  if (options.rows < pigment_bench::kNearest || rounds < 1) {
    std::fprintf(stderr, "bench: at least %zu rows and one round\n", pigment_bench::kNearest);
    return 2;
  }
  return pigment_bench::Run(options, rounds);
}
