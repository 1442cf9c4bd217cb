// SPDX-License-Identifier: Apache-2.0
//
// CrashStates: which trees a power cut may leave. Fed with a durable tree and the operations that
// followed, one by one, it keeps what is durable apart from what is not, and makes states: the
// durable part and a choice for each later change.
//
//   change                     choices
//   write, per 4 KiB page      there, not there; torn at 512 bytes; where a file had no bytes
//                              before: zeros, or stale bytes of a file that was freed
//   size                       there or not, apart from the bytes it covers
//   name                       created, renamed, removed or not; in order within a directory and,
//                              in a second pass, in any order
//
// A completed sync of a file makes its bytes and size durable, one of a directory its names. After a
// failed sync the changes before it are never durable: no later sync covers them, though the file
// system's own view shows them.
//
// All combinations are made when there are few changes, otherwise fixed families: all prefixes, all
// but one, one alone, all but two, and random subsets. One thread; the operations fed in must
// outlive the object.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/support/crash_files.h"

namespace pigment {

struct CrashStateOptions {
  size_t exhaustive_max = 12;  // changes of which all combinations are made
  size_t pairs_max = 24;       // changes of which all pairs are left out
  size_t random_subsets = 64;
  size_t variants_max = 24;  // pages that are torn or stale, at one point
  uint64_t seed = 1;
};

class CrashStates {
 public:
  CrashStates(const CrashTree& durable, const std::map<std::string, uint64_t, std::less<>>& inodes);

  void Add(const CrashOperation& operation);

  // Every state of this moment, each once; stops when `visit` returns false.
  using Visit = std::function<bool(const CrashTree& tree, const Hash128& hash)>;
  bool Enumerate(const CrashStateOptions& options, const Visit& visit) const;

 private:
  // One thing that may be on the disk or not.
  struct Unit {
    enum class Kind { kBytes, kSize, kName } kind;
    const CrashOperation* operation = nullptr;
    uint64_t begin = 0;  // of the bytes, in the file
    uint64_t end = 0;
    uint64_t size = 0;
    bool is_new_range = false;  // of the bytes: the file ended before them
    size_t index = 0;           // in the order of the trace
  };
  enum class Fate : uint8_t { kLost, kKept, kTornFirst, kTornLast, kTornRandom, kStale };
  using Fates = std::vector<Fate>;

  struct Disk {
    CrashBytes durable;
    std::shared_ptr<const CrashBytes> shared;  // the same, for trees; null when it must be made
    std::vector<const CrashOperation*> pending;
  };
  struct PendingName {
    const CrashOperation* operation = nullptr;
    std::string directory;
  };

  std::vector<Unit> Units() const;
  CrashTree Build(const std::vector<Unit>& units, const Fates& fates, bool names_in_order,
                  std::mt19937_64& random) const;
  void BuildNames(const std::vector<Unit>& units, const Fates& fates, bool in_order,
                  std::map<std::string, uint64_t, std::less<>>& names) const;
  std::shared_ptr<const CrashBytes> BuildFile(uint64_t inode, const std::vector<Unit>& units,
                                              const Fates& fates, std::mt19937_64& random) const;
  static void PlaceTorn(const Unit& unit, Fate fate, std::mt19937_64& random, CrashBytes& bytes);
  void PlaceStale(const Unit& unit, CrashBytes& bytes) const;
  void ApplyDurably(const CrashOperation& operation);
  void Free(uint64_t inode);

  std::map<std::string, uint64_t, std::less<>> names_;  // durable; 0: a directory
  std::map<uint64_t, Disk> disks_;                      // by inode
  std::deque<PendingName> pending_names_;
  std::vector<CrashBytes> freed_;  // files that lost their last name, the latest last
};

}  // namespace pigment
