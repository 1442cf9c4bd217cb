// SPDX-License-Identifier: Apache-2.0
//
// CrashExplorer.

#include "tests/support/crash_explorer.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/support/seeded_entropy.h"

namespace pigment {
namespace {

constexpr uint32_t kDepthMax = 1;
constexpr int kOpensToSettle = 2;

std::string Listing(const CrashTree& tree) {
  std::string text;
  for (const auto& [path, bytes] : tree.names)
    text += fmt::format("\n    {} {}", path, bytes ? std::to_string(bytes->size()) : "/");
  return text;
}

}  // namespace

std::string CrashExplorer::Run(const Workload& workload, CrashFileSystem& files, StoreRun& run,
                               size_t* begin) {
  // Other trees, other uuids: a run must not make those that its tree has.
  const SeededEntropy entropy(workload.seed + workload.tree->Hash().low);
  files.FailSync(workload.fail_sync);
  files.FailWrite(workload.fail_write);
  if (workload.fail_sync > 0 || workload.fail_write > 0) run.TolerateFailure();
  if (std::string error = run.Open(); !error.empty()) return error;
  for (size_t i = 0; i < workload.operations.size(); ++i) {
    if (i == workload.first_cut && i > 0) *begin = files.trace().size();
    if (std::string error = run.Do(workload.operations[i]); !error.empty()) return error;
  }
  if (std::string error = run.Close(); !error.empty()) return error;
  last_syncs_ = files.syncs();
  last_writes_ = files.writes();
  return "";
}

std::string CrashExplorer::Build(const Workload& workload, CrashTree* tree, StoreModelRef* model) {
  CrashFileSystem files(*workload.tree);
  StoreRun run(&files, options_.store, {workload.model}, workload.seed);
  size_t begin = 0;
  std::string error = Run(workload, files, run, &begin);
  *tree = files.Now();
  *model = run.model();
  return error;
}

std::string CrashExplorer::Explore(const Workload& workload) {
  CrashFileSystem files(*workload.tree);
  StoreRun run(&files, options_.store, {workload.model}, workload.seed);
  size_t begin = 0;
  ++counts_.workloads;
  std::string error = Run(workload, files, run, &begin);
  if (error.empty()) {
    error = CutEverywhere(*workload.tree, files, run.points(), begin,
                          workload.is_brief ? options_.brief_states : options_.states, 0);
  }
  if (error.empty()) return "";
  std::string failure;
  if (workload.fail_sync > 0) failure = fmt::format(", sync {} fails", workload.fail_sync);
  if (workload.fail_write > 0) failure += fmt::format(", write {} fails", workload.fail_write);
  error = fmt::format("workload [{}], seed {}{}: {}", NameOf(workload.operations), workload.seed,
                      failure, error);
  return error;
}

std::string CrashExplorer::CutEverywhere(const CrashTree& tree, const CrashFileSystem& files,
                                         const std::vector<HistoryPoint>& points, size_t begin,
                                         const CrashStateOptions& given, uint32_t depth) {
  CrashStates states(tree, files.first_inodes());
  CrashStateOptions options = given;
  size_t point = 0;
  std::string error;
  for (size_t at = 0; at <= files.trace().size(); ++at) {
    if (at > 0) states.Add(files.trace()[at - 1]);
    while (point + 1 < points.size() && points[point + 1].trace_begin <= at) ++point;
    if (at < begin) continue;
    options.seed = at + 1;
    states.Enumerate(options, [&](const CrashTree& state, const Hash128& hash) {
      error = Check(state, hash, points[point].allowed, depth);
      return error.empty();
    });
    if (!error.empty()) {
      error = fmt::format("power cut after {} operations of the trace ({}), depth {}: {}\n  trace:",
                          at, points[point].what, depth, error);
      for (size_t i = 0; i < at; ++i) error += "\n    " + files.trace()[i].ToString();
      return error;
    }
  }
  return "";
}

std::string CrashExplorer::Check(const CrashTree& tree, const Hash128& hash,
                                 const std::vector<StoreModelRef>& allowed, uint32_t depth) {
  const auto is_allowed = [&](const Hash128& digest) {
    return std::any_of(allowed.begin(), allowed.end(),
                       [&](const StoreModelRef& model) { return model->digest() == digest; });
  };
  const auto known = seen_.find(hash);
  if (known != seen_.end()) {
    ++counts_.met_again;
    if (is_allowed(known->second)) return "";
  } else {
    ++(depth == 0 ? counts_.states : counts_.nested);
  }
  const SeededEntropy entropy(hash.low);
  CrashFileSystem files(tree);
  StoreRun run(&files, options_.store, allowed, hash.high);
  std::string error = run.Open();
  if (error.empty()) error = run.Close();
  if (!error.empty()) return error + "\n  the tree:" + Listing(tree);
  if (known != seen_.end()) return "";
  seen_.emplace(hash, run.model()->digest());
  // Recovery that changes nothing is its own second open.
  if (!files.trace().empty() && hash.high % options_.reopened_one_in == 0) {
    error = CheckAgain(files.Now(), hash, run.model());
  }
  if (depth < kDepthMax && error.empty() && hash.high / 7 % options_.nested_one_in == 0) {
    error = CutRecovery(tree, files, run);
  }
  if (depth < kDepthMax && error.empty() && hash.high / 11 % options_.written_one_in == 0) {
    error = CutWrite(tree, run.model(), hash.low);
  }
  return error.empty() ? "" : error + "\n  the tree:" + Listing(tree);
}

std::string CrashExplorer::CheckAgain(const CrashTree& tree, const Hash128& hash,
                                      const StoreModelRef& model) {
  CrashTree before = tree;
  for (int open = 2; open <= kOpensToSettle + 1; ++open) {
    CrashFileSystem files(before);
    StoreRun run(&files, options_.store, {model}, hash.high);
    std::string error = run.Open();
    if (error.empty()) error = run.Close();
    if (!error.empty()) return fmt::format("open number {} {}", open, error);
    CrashTree after = files.Now();
    if (after.Hash() == before.Hash()) return "";
    if (open > kOpensToSettle)
      return fmt::format("open number {} changes files from{}\n  to{}", open, Listing(before),
                         Listing(after));
    before = std::move(after);
  }
  return "";
}

std::string CrashExplorer::CutRecovery(const CrashTree& tree, const CrashFileSystem& files,
                                       const StoreRun& run) {
  std::string error = CutEverywhere(tree, files, run.points(), 0, options_.nested_states, 1);
  return error.empty() ? "" : "during recovery: " + error;
}

std::string CrashExplorer::CutWrite(const CrashTree& tree, const StoreModelRef& model,
                                    uint64_t seed) {
  static constexpr StoreOperation kWrites[] = {StoreOperation::kAdd, StoreOperation::kUpsert,
                                               StoreOperation::kDelete, StoreOperation::kCreate,
                                               StoreOperation::kUpdate};
  CrashFileSystem files(tree);
  StoreRun run(&files, options_.store, {model}, seed);
  std::string error = run.Open();
  const size_t begin = files.trace().size();
  if (error.empty()) error = run.Do(kWrites[seed % std::size(kWrites)]);
  if (error.empty())
    error = CutEverywhere(tree, files, run.points(), begin, options_.nested_states, 1);
  if (error.empty()) error = run.Close();
  return error.empty() ? "" : "a write after recovery: " + error;
}

}  // namespace pigment
