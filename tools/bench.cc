// SPDX-License-Identifier: Apache-2.0
//
// pigment bench [DIR]: what this machine does with vectors made from a seed: writing, compacting,
// queries a second and recall. A first impression; bench/ holds the measurements that are compared
// with others.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <set>

#include "tools/commands.h"
#include "tools/create.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/rows.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

constexpr int64_t kResults = 10;
constexpr size_t kClusters = 100;  // vectors without any structure are like nobody's

struct Arguments {
  std::string directory;
  size_t records = 20000;
  size_t dimension = 128;
  size_t queries = 500;
  uint64_t seed = 1;
};

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Points around centres; the same seed gives the same points.
class Points {
 public:
  explicit Points(const Arguments& arguments) : random_(arguments.seed) {
    for (size_t i = 0; i < kClusters; ++i) centres_.push_back(Noise(arguments.dimension));
  }
  std::vector<float> Next() {
    std::vector<float> point = Noise(centres_[0].size());
    const auto& centre = centres_[random_() % centres_.size()];
    for (size_t i = 0; i < point.size(); ++i) point[i] = centre[i] + 0.5f * point[i];
    return point;
  }

 private:
  std::vector<float> Noise(size_t dimension) {
    std::vector<float> noise(dimension);
    for (float& value : noise) value = normal_(random_);
    return noise;
  }

  std::mt19937_64 random_;
  std::normal_distribution<float> normal_;
  std::vector<std::vector<float>> centres_;
};

ResultHandle Ask(pigment_collection* collection, const std::vector<float>& question,
                 double recall) {
  pigment_query_request request{};
  pigment_query_request_init(&request);
  request.embeddings = {question.data(), 1, question.size(), 0, PIGMENT_F32};
  request.n_results = kResults;
  request.include = PIGMENT_INCLUDE_DISTANCES;
  request.recall = recall;
  request.threads = 1;
  pigment_result* result = nullptr;
  pigment_error* error = nullptr;
  const pigment_call_options options = CallOptions();
  Check(pigment_collection_query(collection, &request, &options, &result, &error), error);
  return ResultHandle(result);
}

std::set<std::string> IdsOf(const pigment_result* result) {
  std::set<std::string> ids;
  const Rows rows(result);
  for (uint64_t row = 0; row < rows.size(); ++row) ids.emplace(rows[row].id);
  return ids;
}

// The share of the exact answer that `recall` finds, and how fast.
nlohmann::json Measure(pigment_collection* collection, const Arguments& arguments,
                       const std::vector<std::vector<float>>& questions, double recall) {
  std::vector<ResultHandle> answers;
  const double seconds = Seconds([&] {
    for (const auto& question : questions) answers.push_back(Ask(collection, question, recall));
  });
  size_t found = 0;
  size_t wanted = 0;
  for (size_t i = 0; i < questions.size(); ++i) {
    const auto exact = IdsOf(Ask(collection, questions[i], 1).get());
    for (const std::string& id : IdsOf(answers[i].get())) found += exact.count(id);
    wanted += exact.size();
  }
  return {{"recall_asked", recall},
          {"recall", static_cast<double>(found) / static_cast<double>(std::max<size_t>(1, wanted))},
          {"queries_per_second", static_cast<double>(arguments.queries) / seconds}};
}

nlohmann::json RunIn(pigment_client* client, const Arguments& arguments) {
  Place place;
  place.name = "pigment-bench";
  const Collection collection = Make(client, place, Making());
  Points points(arguments);
  WriteCounts counts;
  Batch batch;
  Record record;
  double write_s = 0;
  for (size_t i = 0; i < arguments.records && !IsInterrupted(); ++i) {
    record.id = std::to_string(i);
    record.embedding = points.Next();
    batch.Add(record);
    if (batch.is_full() || i + 1 == arguments.records) {
      write_s += Seconds([&] { batch.WriteTo(collection.get(), WriteMode::kAdd, counts); });
    }
  }
  const pigment_call_options options = CallOptions();
  const double compact_s = Seconds([&] {
    pigment_error* error = nullptr;
    Check(pigment_collection_compact(collection.get(), &options, nullptr, &error), error);
  });
  std::vector<std::vector<float>> questions;
  for (size_t i = 0; i < arguments.queries; ++i) questions.push_back(points.Next());
  Measure(collection.get(), arguments, questions, 0.9);  // reads everything into memory
  nlohmann::json queries = nlohmann::json::array();
  for (const double recall : {0.9, 0.98, 1.0}) {
    queries.push_back(Measure(collection.get(), arguments, questions, recall));
  }
  return {{"build", pigment_build_info()},
          {"records", arguments.records},
          {"dimension", arguments.dimension},
          {"seed", arguments.seed},
          {"writes_per_second", static_cast<double>(arguments.records) / write_s},
          {"compaction_seconds", compact_s},
          {"queries", queries}};
}

// A store in a directory of its own, which goes in any case.
int Run(const Arguments& arguments, bool is_json) {
  CatchInterrupts();
  namespace fs = std::filesystem;
  std::string folder =
      (arguments.directory.empty() ? fs::temp_directory_path() : fs::path(arguments.directory)) /
      "pigment-bench-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    throw Failure(PIGMENT_UNAVAILABLE, "cannot make the directory \"" + folder + "\"");
  }
  const std::unique_ptr<std::string, void (*)(std::string*)> removed(&folder,
                                                                     [](std::string* path) {
                                                                       std::error_code none;
                                                                       fs::remove_all(*path, none);
                                                                     });
  const Client client = OpenOrMake(folder + "/db");
  const nlohmann::json measured = RunIn(client.get(), arguments);
  Close(client.get());
  if (is_json) {
    PrintJson(measured);
    return kFine;
  }
  std::printf(
      "%s\n%zu records of %zu dimensions, seed %llu\nwritten: %.0f/s, compacted in %.2f s\n",
      pigment_build_info(), arguments.records, arguments.dimension,
      static_cast<unsigned long long>(arguments.seed), measured["writes_per_second"].get<double>(),
      measured["compaction_seconds"].get<double>());
  Table table({"recall asked", "recall", "queries/s"});
  for (const auto& each : measured["queries"]) {
    std::array<char, 16> recall{};
    std::snprintf(recall.data(), recall.size(), "%.4f", each["recall"].get<double>());
    table.Add({each["recall_asked"], recall.data(),
               static_cast<int64_t>(each["queries_per_second"].get<double>())});
  }
  table.Print();
  return kFine;
}

}  // namespace

void AddBench(Program& program) {
  const Command command =
      AddCommand(program, "bench", "measure writes, queries and recall on made vectors");
  const auto arguments = std::make_shared<Arguments>();
  command.AddOption("DIR", arguments->directory, "where to put a store meanwhile");
  command.AddOption("--records", arguments->records, "how many")
      .InRange(size_t{10}, size_t{100'000'000})
      .ShowDefault();
  command.AddOption("--dimension", arguments->dimension, "of the vectors")
      .InRange(size_t{1}, size_t{65535})
      .ShowDefault();
  command.AddOption("--queries", arguments->queries, "how many")
      .InRange(size_t{1}, size_t{1'000'000})
      .ShowDefault();
  command.AddOption("--seed", arguments->seed, "of the vectors").ShowDefault();
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
