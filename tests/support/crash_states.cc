// SPDX-License-Identifier: Apache-2.0
//
// CrashStates: what is durable, what may be, and the families of choices.

#include "tests/support/crash_states.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace pigment {

using Kind = CrashOperation::Kind;

namespace {

struct HashOfHash {
  size_t operator()(const Hash128& hash) const { return hash.low; }
};

void ApplyName(const CrashOperation& operation,
               std::map<std::string, uint64_t, std::less<>>& names) {
  switch (operation.kind) {
    case Kind::kCreate:
    case Kind::kMakeDirectory:
      names[operation.path] = operation.inode;
      break;
    case Kind::kRename:
      names.erase(operation.path);
      names[operation.to] = operation.inode;
      break;
    case Kind::kRemove:
      names.erase(operation.path);
      break;
    default:
      break;
  }
}

}  // namespace

CrashStates::CrashStates(const CrashTree& durable,
                         const std::map<std::string, uint64_t, std::less<>>& inodes) {
  for (const auto& [path, bytes] : durable.names) {
    if (!bytes) {
      names_.emplace_hint(names_.end(), path, 0);
      continue;
    }
    const uint64_t inode = inodes.at(path);
    names_.emplace_hint(names_.end(), path, inode);
    disks_[inode] = {.durable = *bytes, .shared = bytes, .pending = {}};
  }
}

void CrashStates::Add(const CrashOperation& operation) {
  switch (operation.kind) {
    case Kind::kCreate:
      disks_[operation.inode].shared = std::make_shared<const CrashBytes>();
      [[fallthrough]];
    case Kind::kMakeDirectory:
    case Kind::kRename:
    case Kind::kRemove:
      pending_names_.push_back({&operation, CrashParentOf(operation.path)});
      if (operation.kind == Kind::kRemove && operation.inode != 0) Free(operation.inode);
      break;
    case Kind::kWrite:
    case Kind::kResize:
      disks_[operation.inode].pending.push_back(&operation);
      break;
    case Kind::kSync: {
      Disk& disk = disks_[operation.inode];
      for (const CrashOperation* change : disk.pending) {
        if (operation.failed) break;
        if (change->kind == Kind::kWrite) {
          disk.durable.Write(change->offset, change->bytes);
        } else {
          disk.durable.Resize(change->size);
        }
      }
      disk.pending.clear();
      disk.shared = std::make_shared<const CrashBytes>(disk.durable);
      break;
    }
    case Kind::kSyncDirectory:
      std::erase_if(pending_names_, [&](const PendingName& name) {
        if (name.directory != operation.path) return false;
        if (!operation.failed) ApplyName(*name.operation, names_);
        return true;
      });
      break;
  }
}

void CrashStates::Free(uint64_t inode) {
  const Disk& disk = disks_[inode];
  CrashBytes bytes = disk.durable;
  for (const CrashOperation* change : disk.pending) {
    if (change->kind == Kind::kWrite) bytes.Write(change->offset, change->bytes);
  }
  if (bytes.size() > 0) freed_.push_back(std::move(bytes));
}

std::vector<CrashStates::Unit> CrashStates::Units() const {
  std::set<uint64_t> nameable;
  for (const auto& [path, inode] : names_) nameable.insert(inode);
  for (const PendingName& name : pending_names_) nameable.insert(name.operation->inode);
  std::vector<Unit> units;
  for (const PendingName& name : pending_names_)
    units.push_back({.kind = Unit::Kind::kName, .operation = name.operation});
  for (const auto& [inode, disk] : disks_) {
    if (!nameable.contains(inode)) continue;
    uint64_t size = disk.durable.size();
    for (const CrashOperation* change : disk.pending) {
      const uint64_t end = change->kind == Kind::kWrite
                               ? std::max(size, change->offset + change->bytes.size())
                               : change->size;
      if (change->kind == Kind::kWrite) {
        const uint64_t stop = change->offset + change->bytes.size();
        for (uint64_t at = change->offset; at < stop;) {
          const uint64_t next = std::min(stop, (at / kCrashPageBytes + 1) * kCrashPageBytes);
          units.push_back({.kind = Unit::Kind::kBytes,
                           .operation = change,
                           .begin = at,
                           .end = next,
                           .is_new_range = at >= disk.durable.size()});
          at = next;
        }
      }
      if (end != size)
        units.push_back({.kind = Unit::Kind::kSize, .operation = change, .size = end});
      size = end;
    }
  }
  std::stable_sort(units.begin(), units.end(),
                   [](const Unit& a, const Unit& b) { return a.operation < b.operation; });
  for (size_t i = 0; i < units.size(); ++i) units[i].index = i;
  return units;
}

// ---- One state ---------------------------------------------------------------------------------

void CrashStates::BuildNames(const std::vector<Unit>& units, const Fates& fates, bool in_order,
                             std::map<std::string, uint64_t, std::less<>>& names) const {
  std::set<std::string> ended;  // directories whose order ends here
  for (const Unit& unit : units) {
    if (unit.kind != Unit::Kind::kName) continue;
    if (fates[unit.index] == Fate::kLost) {
      if (in_order) ended.insert(CrashParentOf(unit.operation->path));
      continue;
    }
    if (in_order && ended.contains(CrashParentOf(unit.operation->path))) continue;
    ApplyName(*unit.operation, names);
  }
  // What a directory that is not there held is not there; parents sort before their children.
  for (auto it = names.begin(); it != names.end();) {
    const std::string parent = CrashParentOf(it->first);
    it = parent.empty() || names.contains(parent) ? std::next(it) : names.erase(it);
  }
}

void CrashStates::PlaceTorn(const Unit& unit, Fate fate, std::mt19937_64& random,
                            CrashBytes& bytes) {
  const std::span<const std::byte> all(unit.operation->bytes);
  const uint64_t sectors = (unit.end - 1) / kCrashSectorBytes - unit.begin / kCrashSectorBytes + 1;
  const uint64_t cut = sectors > 1 ? 1 + random() % (sectors - 1) : 0;
  uint64_t number = 0;
  for (uint64_t at = unit.begin; at < unit.end; ++number) {
    const uint64_t next = std::min(unit.end, (at / kCrashSectorBytes + 1) * kCrashSectorBytes);
    const bool is_kept = fate == Fate::kTornFirst  ? number < cut
                         : fate == Fate::kTornLast ? number >= cut
                                                   : random() % 2 == 0;
    if (is_kept && sectors > 1)
      bytes.Place(at, all.subspan(at - unit.operation->offset, next - at));
    at = next;
  }
}

// What the freed file had at the same place: the most dangerous bytes that a new range can have.
void CrashStates::PlaceStale(const Unit& unit, CrashBytes& bytes) const {
  for (auto freed = freed_.rbegin(); freed != freed_.rend(); ++freed) {
    if (freed->size() <= unit.begin) continue;
    const uint64_t page_end = (unit.begin / kCrashPageBytes + 1) * kCrashPageBytes;
    std::vector<std::byte> stale(std::min(freed->size(), page_end) - unit.begin);
    freed->Read(unit.begin, stale);
    bytes.Place(unit.begin, stale);
    return;
  }
}

std::shared_ptr<const CrashBytes> CrashStates::BuildFile(uint64_t inode,
                                                         const std::vector<Unit>& units,
                                                         const Fates& fates,
                                                         std::mt19937_64& random) const {
  const Disk& disk = disks_.at(inode);
  if (disk.pending.empty()) return disk.shared;
  auto bytes = std::make_shared<CrashBytes>(disk.durable);
  uint64_t size = bytes->size();
  for (const Unit& unit : units) {
    if (unit.kind == Unit::Kind::kName || unit.operation->inode != inode) continue;
    const Fate fate = fates[unit.index];
    if (fate == Fate::kLost) continue;
    if (unit.kind == Unit::Kind::kSize) {
      if (unit.size < size) {
        bytes->SetSize(unit.size);
        bytes->Trim();
      }
      size = unit.size;
    } else if (fate == Fate::kKept) {
      bytes->Place(unit.begin, std::span(unit.operation->bytes)
                                   .subspan(unit.begin - unit.operation->offset,
                                            unit.end - unit.begin));
    } else if (fate == Fate::kStale) {
      PlaceStale(unit, *bytes);
    } else {
      PlaceTorn(unit, fate, random, *bytes);
    }
  }
  bytes->SetSize(size);
  bytes->Trim();
  return bytes;
}

CrashTree CrashStates::Build(const std::vector<Unit>& units, const Fates& fates,
                             bool names_in_order, std::mt19937_64& random) const {
  std::map<std::string, uint64_t, std::less<>> names = names_;
  BuildNames(units, fates, names_in_order, names);
  CrashTree tree;
  for (const auto& [path, inode] : names) {
    tree.names.emplace_hint(tree.names.end(), path,
                            inode == 0 ? nullptr : BuildFile(inode, units, fates, random));
  }
  return tree;
}

// ---- Families ----------------------------------------------------------------------------------

bool CrashStates::Enumerate(const CrashStateOptions& options, const Visit& visit) const {
  const std::vector<Unit> units = Units();
  const size_t count = units.size();
  std::mt19937_64 random(options.seed);
  std::map<std::string, size_t> names_by_directory;
  bool has_order = false;
  for (const PendingName& name : pending_names_)
    has_order |= ++names_by_directory[name.directory] > 1;

  std::unordered_set<Hash128, HashOfHash> seen;
  const auto offer = [&](const Fates& fates, bool in_order) {
    const CrashTree tree = Build(units, fates, in_order, random);
    const Hash128 hash = tree.Hash();
    return !seen.insert(hash).second || visit(tree, hash);
  };
  const auto state = [&](const Fates& fates) {
    return offer(fates, true) && (!has_order || offer(fates, false));
  };
  const Fates none(count, Fate::kLost), all(count, Fate::kKept);
  if (!state(none) || !state(all)) return false;
  if (count <= options.exhaustive_max) {
    for (uint64_t bits = 1; bits + 1 < uint64_t{1} << count; ++bits) {
      Fates fates = none;
      for (size_t i = 0; i < count; ++i) {
        if ((bits >> i & 1) != 0) fates[i] = Fate::kKept;
      }
      if (!state(fates)) return false;
    }
  } else {
    Fates prefix = none;
    for (size_t i = 0; i < count; ++i) {
      prefix[i] = Fate::kKept;
      if (!state(prefix)) return false;
      Fates single = none, drop = all;
      single[i] = Fate::kKept;
      drop[i] = Fate::kLost;
      if (!state(single) || !state(drop)) return false;
      for (size_t j = 0; count <= options.pairs_max && j < i; ++j) {
        Fates pair = drop;
        pair[j] = Fate::kLost;
        if (!state(pair)) return false;
      }
    }
    for (size_t subset = 0; subset < options.random_subsets; ++subset) {
      Fates fates = none;
      for (Fate& fate : fates) fate = random() % 2 == 0 ? Fate::kKept : Fate::kLost;
      if (!state(fates)) return false;
    }
  }
  // Torn and stale pages: with everything else there, and with nothing after.
  size_t variants = 0;
  for (auto unit = units.rbegin(); unit != units.rend() && variants < options.variants_max; ++unit) {
    if (unit->kind != Unit::Kind::kBytes) continue;
    ++variants;
    for (const Fate fate : {Fate::kTornFirst, Fate::kTornLast, Fate::kTornRandom, Fate::kStale}) {
      if (fate == Fate::kStale && (!unit->is_new_range || freed_.empty())) continue;
      Fates fates = all;
      fates[unit->index] = fate;
      if (!state(fates)) return false;
      for (size_t later = unit->index + 1; later < count; ++later) {
        // Its size stays: a torn page beyond the end would be no page.
        const bool is_its_size = units[later].kind == Unit::Kind::kSize &&
                                 units[later].operation == unit->operation;
        if (!is_its_size) fates[later] = Fate::kLost;
      }
      if (!state(fates)) return false;
    }
  }
  return true;
}

}  // namespace pigment
