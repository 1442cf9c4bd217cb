// SPDX-License-Identifier: Apache-2.0
//
// MemoryFileSystem: names, faults, power cuts.

#include "engine/base/memory_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "engine/base/disk_files.h"

namespace pigment {
namespace {

// "a//b/./c/" is "a/b/c"; the empty path and "." are the root of relative names.
std::string Normalize(std::string_view path) {
  std::string normal;
  const bool is_absolute = path.starts_with('/');
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (name.empty() || name == ".") continue;
    if (!normal.empty() || is_absolute) normal += '/';
    normal += name;
  }
  return normal.empty() && is_absolute ? "/" : normal;
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return "";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool IsRoot(const std::string& path) { return path.empty() || path == "/"; }

// `line` is a path, or a line of the trace: a verb, a path and what follows.
Status StatusOfFault(const FileFault& fault, const std::string& line) {
  if (fault.error_number == 0) return fault.error;
  const size_t verb = line.find(' ');
  if (verb == std::string::npos) return ErrnoStatus(fault.error_number, "read", line);
  const size_t end = line.find(' ', verb + 1);
  return ErrnoStatus(fault.error_number, line.substr(0, verb),
                     line.substr(verb + 1, end == std::string::npos ? end : end - verb - 1));
}

}  // namespace

class MemoryFile final : public File {
 public:
  MemoryFile(MemoryFileSystem* files, uint64_t boot, std::shared_ptr<MemoryInode> inode,
             std::string path, bool is_writable)
      : files_(files),
        boot_(boot),
        inode_(std::move(inode)),
        path_(std::move(path)),
        is_writable_(is_writable) {}

  Status ReadAt(uint64_t offset, std::span<std::byte> out) const override {
    return files_->Read(boot_, *inode_, path_, offset, out);
  }
  Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) override {
    if (!is_writable_) return ErrnoStatus(EBADF, "write", path_);
    return files_->Write(boot_, *inode_, path_, offset, bytes);
  }
  Status Allocate(uint64_t size) override {
    if (!is_writable_) return ErrnoStatus(EBADF, "allocate space for", path_);
    return files_->Allocate(boot_, *inode_, path_, size);
  }
  Status Truncate(uint64_t size) override {
    if (!is_writable_) return ErrnoStatus(EINVAL, "resize", path_);
    return files_->Resize(boot_, *inode_, path_, size);
  }
  Status Sync() override { return files_->Sync(boot_, *inode_, path_); }
  Result<uint64_t> Size() const override { return files_->Size(boot_, *inode_, path_); }
  const std::string& path() const override { return path_; }

 private:
  MemoryFileSystem* const files_;
  const uint64_t boot_;
  const std::shared_ptr<MemoryInode> inode_;
  const std::string path_;
  const bool is_writable_;
};

class MemoryLock final : public FileLock {
 public:
  MemoryLock(MemoryFileSystem* files, uint64_t boot, std::string path)
      : files_(files), boot_(boot), path_(std::move(path)) {}
  ~MemoryLock() override { files_->Unlock(path_, boot_); }

 private:
  MemoryFileSystem* const files_;
  const uint64_t boot_;
  const std::string path_;
};

class MemoryPin final : public FileLock {
 public:
  MemoryPin(MemoryFileSystem* files, uint64_t boot, std::string path, uint64_t position)
      : files_(files), boot_(boot), path_(std::move(path)), position_(position) {}
  ~MemoryPin() override { files_->Unpin(path_, position_, boot_); }

 private:
  MemoryFileSystem* const files_;
  const uint64_t boot_;
  const std::string path_;
  const uint64_t position_;
};

MemoryFileSystem::MemoryFileSystem(Kind kind) : is_simulated_(kind == Kind::kSimulated) {}

// ---- Operations and their faults
// ------------------------------------------------------------------------------------

MemoryFileSystem::Verdict MemoryFileSystem::Judge(FileOperation operation,
                                                  const std::string& line) {
  const auto bit = static_cast<uint32_t>(operation);
  if (is_stopped_)
    return {.status = Status(Code::kUnavailable, "the simulated machine stands still"),
            .has_effect = false};
  ++counts_[static_cast<size_t>(std::countr_zero(bit))];
  if ((bit & kChangingFileOperations) != 0 && changes_until_stop_ > 0 &&
      --changes_until_stop_ == 0) {
    is_stopped_ = true;
    // The change may be under way; whether it survives is the power cut's choice. A sync has
    // promised nothing yet.
    return {.status = Status(Code::kUnavailable, "the simulated machine stopped here"),
            .has_effect =
                operation != FileOperation::kSync && operation != FileOperation::kSyncDirectory};
  }
  if (!fault_ || (fault_->operations & bit) == 0) return {};
  ++fault_candidates_;
  if (fault_candidates_ < fault_->at || (fault_candidates_ > fault_->at && !fault_->forever))
    return {};
  ++faults_met_;
  return {.status = StatusOfFault(*fault_, line),
          .has_effect = fault_->is_partial && operation == FileOperation::kWrite,
          .is_partial = true};
}

MemoryFileSystem::Verdict MemoryFileSystem::Begin(FileOperation operation,
                                                  const std::string& line) {
  if (!is_simulated_) return {};
  Verdict verdict = Judge(operation, line);
  const bool is_change = (static_cast<uint32_t>(operation) & kChangingFileOperations) != 0;
  if (is_tracing_ && is_change && verdict.status.ok()) trace_.push_back(line);
  return verdict;
}

Status MemoryFileSystem::CheckBoot(uint64_t boot) const {
  if (boot == boot_) return Status::Ok();
  return Status(Code::kUnavailable, "the file was opened before the simulated power cut");
}

// ---- Files
// ----------------------------------------------------------------------------------------------------------

Status MemoryFileSystem::Read(uint64_t boot, const MemoryInode& inode, const std::string& path,
                              uint64_t offset, std::span<std::byte> out) {
  if (is_simulated_) {
    std::lock_guard lock(mutex_);
    PIGMENT_RETURN_IF_ERROR(CheckBoot(boot));
    PIGMENT_RETURN_IF_ERROR(Begin(FileOperation::kRead, path).status);
  }
  uint64_t size = 0;
  if (inode.Read(offset, out, &size)) return Status::Ok();
  return DataLoss(
      Detail::kTruncated, path, static_cast<int64_t>(size),
      fmt::format("{} ends at {}, {} bytes were expected at {}", path, size, out.size(), offset));
}

Status MemoryFileSystem::Write(uint64_t boot, MemoryInode& inode, const std::string& path,
                               uint64_t offset, std::span<const std::byte> bytes) {
  if (!is_simulated_) {
    inode.Write(offset, bytes);
    return Status::Ok();
  }
  std::lock_guard lock(mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckBoot(boot));
  Verdict verdict =
      Begin(FileOperation::kWrite, fmt::format("write {} {}+{}", path, offset, bytes.size()));
  if (!verdict.has_effect) return verdict.status;
  if (verdict.is_partial) bytes = bytes.first(bytes.size() / 2);
  const uint64_t size = inode.size();
  const uint64_t growth = offset + bytes.size() > size ? offset + bytes.size() - size : 0;
  const uint64_t used = UsedBytes();
  if (verdict.status.ok() && capacity_bytes_ != 0 && used + growth > capacity_bytes_ &&
      growth > 0) {
    const uint64_t room = capacity_bytes_ > used ? capacity_bytes_ - used : 0;
    const uint64_t end = size + room;
    bytes = bytes.first(end > offset ? std::min<uint64_t>(bytes.size(), end - offset) : 0);
    verdict.status = ErrnoStatus(ENOSPC, "write", path);
  }
  inode.Write(offset, bytes);
  return verdict.status;
}

Status MemoryFileSystem::Allocate(uint64_t boot, MemoryInode& inode, const std::string& path,
                                  uint64_t size) {
  std::lock_guard lock(mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckBoot(boot));
  Verdict verdict = Begin(FileOperation::kAllocate, fmt::format("allocate {} {}", path, size));
  if (!verdict.has_effect) return verdict.status;
  const uint64_t end = inode.size();
  if (size <= end) return verdict.status;
  const uint64_t used = capacity_bytes_ != 0 ? UsedBytes() : 0;
  if (verdict.status.ok() && capacity_bytes_ != 0 && used + (size - end) > capacity_bytes_) {
    size = end + (capacity_bytes_ > used ? capacity_bytes_ - used : 0);
    verdict.status = ErrnoStatus(ENOSPC, "allocate space for", path);
  }
  if (size > end) inode.Resize(size);
  return verdict.status;
}

Status MemoryFileSystem::Resize(uint64_t boot, MemoryInode& inode, const std::string& path,
                                uint64_t size) {
  std::lock_guard lock(mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckBoot(boot));
  const Verdict verdict =
      Begin(FileOperation::kTruncate, fmt::format("truncate {} {}", path, size));
  if (verdict.has_effect) inode.Resize(size);
  return verdict.status;
}

Status MemoryFileSystem::Sync(uint64_t boot, MemoryInode& inode, const std::string& path) {
  if (!is_simulated_) return Status::Ok();
  std::lock_guard lock(mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckBoot(boot));
  const Verdict verdict = Begin(FileOperation::kSync, "sync " + path);
  if (verdict.status.ok()) {
    inode.Sync();
  } else if (!is_stopped_) {
    inode.LoseUnsynced();
  }
  return verdict.status;
}

Result<uint64_t> MemoryFileSystem::Size(uint64_t boot, const MemoryInode& inode,
                                        const std::string& path) {
  if (is_simulated_) {
    std::lock_guard lock(mutex_);
    PIGMENT_RETURN_IF_ERROR(CheckBoot(boot));
    PIGMENT_RETURN_IF_ERROR(Begin(FileOperation::kList, path).status);
  }
  return inode.size();
}

// ---- Names
// ----------------------------------------------------------------------------------------------------------

Status MemoryFileSystem::CheckParent(const std::string& path, std::string_view operation) const {
  const std::string parent = ParentOf(path);
  if (IsRoot(parent)) return Status::Ok();
  const auto found = names_.find(parent);
  if (found == names_.end()) return ErrnoStatus(ENOENT, operation, path);
  if (found->second != nullptr) return ErrnoStatus(ENOTDIR, operation, path);
  return Status::Ok();
}

void MemoryFileSystem::Apply(const NameChange& change, Names& names) {
  switch (change.kind) {
    case NameChange::Kind::kAdd:
      names[change.path] = change.inode;
      break;
    case NameChange::Kind::kRemove:
      names.erase(change.path);
      break;
    case NameChange::Kind::kRename:
      names.erase(change.path);
      names[change.to] = change.inode;
      break;
  }
}

void MemoryFileSystem::Change(NameChange change) {
  Apply(change, names_);
  if (is_simulated_) name_changes_[ParentOf(change.path)].push_back(std::move(change));
}

Result<std::unique_ptr<File>> MemoryFileSystem::Open(const std::string& given, OpenMode mode) {
  const std::string path = Normalize(given);
  std::lock_guard lock(mutex_);
  const auto found = names_.find(path);
  const bool is_create = mode == OpenMode::kCreate;
  const Verdict verdict =
      Begin(is_create ? FileOperation::kCreate : FileOperation::kOpen, "create " + path);
  if (!verdict.has_effect) return verdict.status;
  Inode inode;
  if (is_create) {
    if (found != names_.end()) return ErrnoStatus(EEXIST, "create", given);
    PIGMENT_RETURN_IF_ERROR(CheckParent(path, "create"));
    inode = std::make_shared<MemoryInode>(is_simulated_);
    Change({.kind = NameChange::Kind::kAdd, .path = path, .to = {}, .inode = inode});
  } else {
    if (found == names_.end()) return ErrnoStatus(ENOENT, "open", given);
    if (found->second == nullptr) return ErrnoStatus(EISDIR, "open", given);
    inode = found->second;
  }
  if (!verdict.status.ok()) return verdict.status;
  return std::unique_ptr<File>(
      std::make_unique<MemoryFile>(this, boot_, std::move(inode), given, mode != OpenMode::kRead));
}

Status MemoryFileSystem::Rename(const std::string& given_from, const std::string& given_to) {
  const std::string from = Normalize(given_from);
  const std::string to = Normalize(given_to);
  std::lock_guard lock(mutex_);
  const Verdict verdict = Begin(FileOperation::kRename, fmt::format("rename {} {}", from, to));
  if (!verdict.has_effect) return verdict.status;
  const auto found = names_.find(from);
  const std::string operation = "rename to " + given_to;
  if (found == names_.end()) return ErrnoStatus(ENOENT, operation, given_from);
  // The engine renames only files, and only within a directory; the simulation knows no more.
  if (found->second == nullptr) return ErrnoStatus(EISDIR, operation, given_from);
  if (ParentOf(from) != ParentOf(to)) return ErrnoStatus(EXDEV, operation, given_from);
  if (const auto other = names_.find(to); other != names_.end() && other->second == nullptr) {
    return ErrnoStatus(EISDIR, operation, given_from);
  }
  if (from != to)
    Change({.kind = NameChange::Kind::kRename, .path = from, .to = to, .inode = found->second});
  return verdict.status;
}

Status MemoryFileSystem::Remove(const std::string& given) {
  const std::string path = Normalize(given);
  std::lock_guard lock(mutex_);
  const Verdict verdict = Begin(FileOperation::kRemove, "remove " + path);
  if (!verdict.has_effect) return verdict.status;
  const auto found = names_.find(path);
  if (found == names_.end()) return ErrnoStatus(ENOENT, "remove", given);
  if (found->second == nullptr) {
    const auto child = names_.upper_bound(path + "/");
    if (child != names_.end() && child->first.starts_with(path + "/"))
      return ErrnoStatus(ENOTEMPTY, "remove", given);
  }
  Change({.kind = NameChange::Kind::kRemove, .path = path, .to = {}, .inode = nullptr});
  return verdict.status;
}

Status MemoryFileSystem::MakeDirectory(const std::string& given) {
  const std::string path = Normalize(given);
  std::lock_guard lock(mutex_);
  const Verdict verdict = Begin(FileOperation::kMakeDirectory, "mkdir " + path);
  if (!verdict.has_effect) return verdict.status;
  if (IsRoot(path)) return verdict.status;
  if (const auto found = names_.find(path); found != names_.end()) {
    if (found->second != nullptr) return ErrnoStatus(EEXIST, "make directory", given);
    return verdict.status;
  }
  PIGMENT_RETURN_IF_ERROR(CheckParent(path, "make directory"));
  Change({.kind = NameChange::Kind::kAdd, .path = path, .to = {}, .inode = nullptr});
  return verdict.status;
}

Result<std::vector<std::string>> MemoryFileSystem::List(const std::string& given) {
  const std::string path = Normalize(given);
  std::lock_guard lock(mutex_);
  PIGMENT_RETURN_IF_ERROR(Begin(FileOperation::kList, path).status);
  if (!IsRoot(path)) {
    const auto found = names_.find(path);
    if (found == names_.end()) return ErrnoStatus(ENOENT, "list", given);
    if (found->second != nullptr) return ErrnoStatus(ENOTDIR, "list", given);
  }
  std::vector<std::string> names;
  for (const auto& [name, inode] : names_) {
    if (ParentOf(name) == path)
      names.push_back(name.substr(IsRoot(path) ? path.size() : path.size() + 1));
  }
  return names;
}

Result<bool> MemoryFileSystem::Exists(const std::string& given) {
  const std::string path = Normalize(given);
  std::lock_guard lock(mutex_);
  PIGMENT_RETURN_IF_ERROR(Begin(FileOperation::kList, path).status);
  return IsRoot(path) || names_.contains(path);
}

Status MemoryFileSystem::SyncDirectory(const std::string& given) {
  const std::string path = Normalize(given);
  std::lock_guard lock(mutex_);
  const Verdict verdict = Begin(FileOperation::kSyncDirectory, "syncdir " + path);
  if (is_stopped_) return verdict.status;
  if (!IsRoot(path) && !names_.contains(path)) return ErrnoStatus(ENOENT, "open", given);
  if (verdict.status.ok()) {
    for (const NameChange& change : name_changes_[path]) Apply(change, durable_names_);
  }
  name_changes_.erase(path);
  return verdict.status;
}

Result<std::unique_ptr<FileLock>> MemoryFileSystem::Lock(const std::string& given,
                                                         std::string_view holder) {
  const std::string path = Normalize(given);
  std::lock_guard lock(mutex_);
  PIGMENT_RETURN_IF_ERROR(Begin(FileOperation::kLock, path).status);
  PIGMENT_RETURN_IF_ERROR(CheckParent(path, "open"));
  const auto [place, is_new] = locks_.try_emplace(path, holder);
  if (!is_new) {
    return FailedPrecondition(Detail::kLocked, fmt::format("{} is locked: open for writing by {}",
                                                           given, place->second))
        .WithFile(given, -1);
  }
  if (!names_.contains(path)) {
    auto inode = std::make_shared<MemoryInode>(is_simulated_);
    Change({.kind = NameChange::Kind::kAdd, .path = path, .to = {}, .inode = std::move(inode)});
  }
  return std::unique_ptr<FileLock>(std::make_unique<MemoryLock>(this, boot_, path));
}

void MemoryFileSystem::Unlock(const std::string& path, uint64_t boot) {
  std::lock_guard lock(mutex_);
  if (boot == boot_) locks_.erase(path);
}

Result<std::unique_ptr<FileLock>> MemoryFileSystem::PinPosition(const std::string& given,
                                                                uint64_t position) {
  const std::string path = Normalize(given);
  std::lock_guard lock(mutex_);
  PIGMENT_RETURN_IF_ERROR(Begin(FileOperation::kLock, path).status);
  if (!names_.contains(path)) return ErrnoStatus(ENOENT, "open", given);
  pins_[path].insert(position);
  return std::unique_ptr<FileLock>(std::make_unique<MemoryPin>(this, boot_, path, position));
}

Result<bool> MemoryFileSystem::IsPinnedBelow(const std::string& given, uint64_t position) {
  const std::string path = Normalize(given);
  std::lock_guard lock(mutex_);
  PIGMENT_RETURN_IF_ERROR(Begin(FileOperation::kLock, path).status);
  const auto found = pins_.find(path);
  return found != pins_.end() && *found->second.begin() < position;
}

void MemoryFileSystem::Unpin(const std::string& path, uint64_t position, uint64_t boot) {
  std::lock_guard lock(mutex_);
  if (boot != boot_) return;
  const auto found = pins_.find(path);
  found->second.erase(found->second.find(position));
  if (found->second.empty()) pins_.erase(found);
}

// ---- For tests
// ------------------------------------------------------------------------------------------------------

void MemoryFileSystem::SetFault(std::optional<FileFault> fault) {
  std::lock_guard lock(mutex_);
  fault_ = std::move(fault);
  fault_candidates_ = 0;
  faults_met_ = 0;
}

uint64_t MemoryFileSystem::faults_met() const {
  std::lock_guard lock(mutex_);
  return faults_met_;
}

void MemoryFileSystem::SetCapacity(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  capacity_bytes_ = bytes;
}

uint64_t MemoryFileSystem::UsedBytes() const {
  uint64_t bytes = 0;
  for (const auto& [name, inode] : names_) {
    if (inode) bytes += inode->size();
  }
  return bytes;
}

uint64_t MemoryFileSystem::used_bytes() const {
  std::lock_guard lock(mutex_);
  return UsedBytes();
}

uint64_t MemoryFileSystem::CountOperations(uint32_t operations) const {
  std::lock_guard lock(mutex_);
  uint64_t count = 0;
  for (size_t bit = 0; bit < counts_.size(); ++bit) {
    if ((operations >> bit & 1) != 0) count += counts_[bit];
  }
  return count;
}

void MemoryFileSystem::StopAt(uint64_t at) {
  std::lock_guard lock(mutex_);
  changes_until_stop_ = at;
}

bool MemoryFileSystem::is_stopped() const {
  std::lock_guard lock(mutex_);
  return is_stopped_;
}

void MemoryFileSystem::KeepNames(const PowerCut& cut, std::mt19937_64& random) {
  Names survivors = durable_names_;
  for (const auto& [directory, changes] : name_changes_) {
    const size_t prefix = cut.keep == PowerCut::Keep::kPrefix ? random() % (changes.size() + 1) : 0;
    for (size_t i = 0; i < changes.size(); ++i) {
      if (i < prefix || (cut.keep == PowerCut::Keep::kRandom && random() % 2 == 0))
        Apply(changes[i], survivors);
    }
  }
  // What a directory that is gone held is gone; parents sort before their children.
  for (auto it = survivors.begin(); it != survivors.end();) {
    const std::string parent = ParentOf(it->first);
    it = IsRoot(parent) || survivors.contains(parent) ? std::next(it) : survivors.erase(it);
  }
  names_ = std::move(survivors);
}

void MemoryFileSystem::CutPower(const PowerCut& cut) {
  std::lock_guard lock(mutex_);
  ++boot_;
  is_stopped_ = false;
  changes_until_stop_ = 0;
  locks_.clear();
  pins_.clear();
  fault_.reset();
  if (cut.keep == PowerCut::Keep::kEverything) return;
  std::mt19937_64 random(cut.seed);
  KeepNames(cut, random);
  for (auto& [name, inode] : names_) {
    if (!inode) continue;
    MemoryBytes bytes = cut.keep == PowerCut::Keep::kNothing  ? inode->Durable()
                        : cut.keep == PowerCut::Keep::kPrefix ? inode->DurableWithPrefix(random)
                                                              : inode->DurableWithSome(random);
    inode = std::make_shared<MemoryInode>(std::move(bytes));
  }
  durable_names_ = names_;
  name_changes_.clear();
}

void MemoryFileSystem::StartTrace() {
  std::lock_guard lock(mutex_);
  is_tracing_ = true;
  trace_.clear();
}

std::vector<std::string> MemoryFileSystem::TakeTrace() {
  std::lock_guard lock(mutex_);
  return std::exchange(trace_, {});
}

}  // namespace pigment
