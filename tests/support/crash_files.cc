// SPDX-License-Identifier: Apache-2.0
//
// CrashFileSystem: names, files, the trace.

#include "tests/support/crash_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "engine/base/disk_files.h"

namespace pigment {
namespace {

// "." is the root of relative names here, as the empty path is.
std::string Normal(std::string path) {
  while (path.starts_with("./")) path.erase(0, 2);
  while (path.ends_with('/')) path.pop_back();
  return path == "." ? "" : path;
}

}  // namespace

std::string CrashParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

Hash128 CrashTree::Hash() const {
  std::vector<uint64_t> words;
  words.reserve(names.size() * 3);
  for (const auto& [path, bytes] : names) {
    const uint64_t name = Xxh3_64(std::as_bytes(std::span(path)));
    const Hash128 contents = bytes ? bytes->Hash() : Hash128{};
    words.insert(words.end(), {name, contents.low, contents.high});
  }
  return Xxh3_128(std::as_bytes(std::span(words)));
}

uint64_t CrashTree::bytes() const {
  uint64_t sum = 0;
  for (const auto& [path, bytes] : names) sum += bytes ? bytes->size() : 0;
  return sum;
}

std::string CrashOperation::ToString() const {
  switch (kind) {
    case Kind::kCreate:
      return "create " + path;
    case Kind::kMakeDirectory:
      return "make directory " + path;
    case Kind::kRename:
      return fmt::format("rename {} to {}", path, to);
    case Kind::kRemove:
      return "remove " + path;
    case Kind::kSyncDirectory:
      return fmt::format("sync directory {}{}", path, failed ? " (fails)" : "");
    case Kind::kWrite:
      return fmt::format("write {} {}+{}", path, offset, bytes.size());
    case Kind::kResize:
      return fmt::format("resize {} to {}", path, size);
    case Kind::kSync:
      return fmt::format("sync {}{}", path, failed ? " (fails)" : "");
  }
  return "";
}

class CrashFile final : public File {
 public:
  CrashFile(CrashFileSystem* files, CrashFileSystem::InodeRef inode, std::string path,
            bool is_writable)
      : files_(files), inode_(std::move(inode)), path_(std::move(path)), is_writable_(is_writable) {}

  Status ReadAt(uint64_t offset, std::span<std::byte> out) const override {
    const CrashBytes& bytes = *inode_->bytes;
    if (offset > bytes.size() || out.size() > bytes.size() - offset) {
      return DataLoss(Detail::kTruncated, path_, static_cast<int64_t>(offset),
                      fmt::format("{} ends at {}, {} bytes at {} were asked for", path_,
                                  bytes.size(), out.size(), offset));
    }
    bytes.Read(offset, out);
    return Status::Ok();
  }

  Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) override {
    if (!is_writable_) return ErrnoStatus(EBADF, "write", path_);
    PIGMENT_RETURN_IF_ERROR(files_->CheckReached("write", path_));
    if (bytes.empty()) return Status::Ok();
    ++files_->writes_;
    if (files_->writes_until_failure_ > 0 && --files_->writes_until_failure_ == 0)
      return ErrnoStatus(EIO, "write", path_);
    Change([&](CrashBytes& contents) { contents.Write(offset, bytes); });
    files_->Record({.kind = CrashOperation::Kind::kWrite,
                    .inode = inode_->number,
                    .path = path_,
                    .to = {},
                    .offset = offset,
                    .bytes = {bytes.begin(), bytes.end()}});
    return Status::Ok();
  }

  Status Allocate(uint64_t size) override {
    if (!is_writable_) return ErrnoStatus(EBADF, "allocate space for", path_);
    return size > inode_->bytes->size() ? Truncate(size) : Status::Ok();
  }

  Status Truncate(uint64_t size) override {
    if (!is_writable_) return ErrnoStatus(EINVAL, "resize", path_);
    PIGMENT_RETURN_IF_ERROR(files_->CheckReached("resize", path_));
    Change([&](CrashBytes& contents) { contents.Resize(size); });
    files_->Record({.kind = CrashOperation::Kind::kResize,
                    .inode = inode_->number,
                    .path = path_,
                    .to = {},
                    .size = size,
                    .bytes = {}});
    return Status::Ok();
  }

  Status Sync() override {
    return files_->Sync({.kind = CrashOperation::Kind::kSync,
                         .inode = inode_->number,
                         .path = path_,
                         .to = {},
                         .bytes = {}});
  }

  Result<uint64_t> Size() const override { return inode_->bytes->size(); }
  const std::string& path() const override { return path_; }

 private:
  template <typename Function>
  void Change(const Function& function) {
    auto contents = std::make_shared<CrashBytes>(*inode_->bytes);
    function(*contents);
    inode_->bytes = std::move(contents);
  }

  CrashFileSystem* const files_;
  const CrashFileSystem::InodeRef inode_;
  const std::string path_;
  const bool is_writable_;
};

class CrashLock final : public FileLock {
 public:
  CrashLock(CrashFileSystem* files, std::string path) : files_(files), path_(std::move(path)) {}
  ~CrashLock() override { files_->locks_.erase(path_); }

 private:
  CrashFileSystem* const files_;
  const std::string path_;
};

class CrashPin final : public FileLock {
 public:
  CrashPin(CrashFileSystem* files, std::string path, uint64_t position)
      : files_(files), pin_(std::move(path), position) {}
  ~CrashPin() override { files_->pins_.erase(files_->pins_.find(pin_)); }

 private:
  CrashFileSystem* const files_;
  const std::pair<std::string, uint64_t> pin_;
};

CrashFileSystem::CrashFileSystem(const CrashTree& tree) {
  for (const auto& [path, bytes] : tree.names) {
    InodeRef inode;
    if (bytes) {
      inode = std::make_shared<Inode>(Inode{next_inode_++, bytes});
      first_inodes_.emplace_hint(first_inodes_.end(), path, inode->number);
    }
    names_.emplace_hint(names_.end(), path, std::move(inode));
  }
}

CrashTree CrashFileSystem::Now() const {
  CrashTree tree;
  for (const auto& [path, inode] : names_)
    tree.names.emplace_hint(tree.names.end(), path, inode ? inode->bytes : nullptr);
  return tree;
}

Status CrashFileSystem::CheckParent(const std::string& path, std::string_view operation) const {
  const std::string parent = CrashParentOf(path);
  if (parent.empty()) return Status::Ok();
  const auto found = names_.find(parent);
  if (found == names_.end()) return ErrnoStatus(ENOENT, operation, path);
  if (found->second != nullptr) return ErrnoStatus(ENOTDIR, operation, path);
  return Status::Ok();
}

Status CrashFileSystem::CheckReached(std::string_view operation, const std::string& path) const {
  return is_cut_off_ ? ErrnoStatus(EIO, operation, path) : Status::Ok();
}

Status CrashFileSystem::Sync(CrashOperation operation) {
  PIGMENT_RETURN_IF_ERROR(CheckReached("sync", operation.path));
  ++syncs_;
  operation.failed = syncs_until_failure_ > 0 && --syncs_until_failure_ == 0;
  const Status status =
      operation.failed ? ErrnoStatus(EIO, "sync", operation.path) : Status::Ok();
  Record(std::move(operation));
  return status;
}

Result<std::unique_ptr<File>> CrashFileSystem::Open(const std::string& given, OpenMode mode) {
  const std::string path = Normal(given);
  const auto found = names_.find(path);
  InodeRef inode;
  if (mode == OpenMode::kCreate) {
    PIGMENT_RETURN_IF_ERROR(CheckReached("create", given));
    if (found != names_.end()) return ErrnoStatus(EEXIST, "create", given);
    PIGMENT_RETURN_IF_ERROR(CheckParent(path, "create"));
    inode = std::make_shared<Inode>(Inode{next_inode_++, std::make_shared<const CrashBytes>()});
    names_[path] = inode;
    Record({.kind = CrashOperation::Kind::kCreate,
            .inode = inode->number,
            .path = path,
            .to = {},
            .bytes = {}});
    if (hook_ && path.ends_with(".seg")) std::exchange(hook_, nullptr)();
  } else {
    if (found == names_.end()) return ErrnoStatus(ENOENT, "open", given);
    if (found->second == nullptr) return ErrnoStatus(EISDIR, "open", given);
    inode = found->second;
  }
  return std::unique_ptr<File>(
      std::make_unique<CrashFile>(this, std::move(inode), path, mode != OpenMode::kRead));
}

Status CrashFileSystem::Rename(const std::string& given_from, const std::string& given_to) {
  const std::string from = Normal(given_from), to = Normal(given_to);
  const auto found = names_.find(from);
  const std::string operation = "rename to " + given_to;
  PIGMENT_RETURN_IF_ERROR(CheckReached(operation, given_from));
  if (found == names_.end()) return ErrnoStatus(ENOENT, operation, given_from);
  if (found->second == nullptr) return ErrnoStatus(EISDIR, operation, given_from);
  if (CrashParentOf(from) != CrashParentOf(to)) return ErrnoStatus(EXDEV, operation, given_from);
  if (const auto other = names_.find(to); other != names_.end() && other->second == nullptr) {
    return ErrnoStatus(EISDIR, operation, given_from);
  }
  if (from == to) return Status::Ok();
  const InodeRef inode = found->second;
  names_.erase(found);
  names_[to] = inode;
  Record({.kind = CrashOperation::Kind::kRename,
          .inode = inode->number,
          .path = from,
          .to = to,
          .bytes = {}});
  return Status::Ok();
}

Status CrashFileSystem::Remove(const std::string& given) {
  PIGMENT_RETURN_IF_ERROR(CheckReached("remove", given));
  const std::string path = Normal(given);
  const auto found = names_.find(path);
  if (found == names_.end()) return ErrnoStatus(ENOENT, "remove", given);
  if (found->second == nullptr) {
    const auto child = names_.upper_bound(path + "/");
    if (child != names_.end() && child->first.starts_with(path + "/"))
      return ErrnoStatus(ENOTEMPTY, "remove", given);
  }
  const uint64_t inode = found->second ? found->second->number : 0;
  names_.erase(found);
  Record({.kind = CrashOperation::Kind::kRemove,
          .inode = inode,
          .path = path,
          .to = {},
          .bytes = {}});
  return Status::Ok();
}

Status CrashFileSystem::MakeDirectory(const std::string& given) {
  PIGMENT_RETURN_IF_ERROR(CheckReached("create directory", given));
  const std::string path = Normal(given);
  if (path.empty()) return Status::Ok();
  if (const auto found = names_.find(path); found != names_.end()) {
    return found->second ? ErrnoStatus(EEXIST, "make directory", given) : Status::Ok();
  }
  PIGMENT_RETURN_IF_ERROR(CheckParent(path, "make directory"));
  names_[path] = nullptr;
  Record({.kind = CrashOperation::Kind::kMakeDirectory, .path = path, .to = {}, .bytes = {}});
  return Status::Ok();
}

Result<std::vector<std::string>> CrashFileSystem::List(const std::string& given) {
  const std::string path = Normal(given);
  if (!path.empty()) {
    const auto found = names_.find(path);
    if (found == names_.end()) return ErrnoStatus(ENOENT, "list", given);
    if (found->second != nullptr) return ErrnoStatus(ENOTDIR, "list", given);
  }
  const std::string prefix = path.empty() ? "" : path + "/";
  std::vector<std::string> names;
  for (auto it = names_.lower_bound(prefix); it != names_.end() && it->first.starts_with(prefix);
       ++it) {
    const std::string_view name = std::string_view(it->first).substr(prefix.size());
    if (name.find('/') == std::string_view::npos) names.emplace_back(name);
  }
  return names;
}

Result<bool> CrashFileSystem::Exists(const std::string& given) {
  const std::string path = Normal(given);
  return path.empty() || names_.contains(path);
}

Status CrashFileSystem::SyncDirectory(const std::string& given) {
  const std::string path = Normal(given);
  if (!path.empty() && !names_.contains(path)) return ErrnoStatus(ENOENT, "open", given);
  return Sync(
      {.kind = CrashOperation::Kind::kSyncDirectory, .path = path, .to = {}, .bytes = {}});
}

Result<std::unique_ptr<FileLock>> CrashFileSystem::Lock(const std::string& given,
                                                        std::string_view holder) {
  const std::string path = Normal(given);
  PIGMENT_RETURN_IF_ERROR(CheckParent(path, "open"));
  if (!locks_.insert(path).second) {
    return FailedPrecondition(Detail::kLocked,
                              fmt::format("{} is locked: open for writing by {}", given, holder))
        .WithFile(given, -1);
  }
  if (!names_.contains(path)) {
    const Result<std::unique_ptr<File>> created = Open(path, OpenMode::kCreate);
    if (!created.ok()) return created.status();
  }
  return std::unique_ptr<FileLock>(std::make_unique<CrashLock>(this, path));
}

Result<std::unique_ptr<FileLock>> CrashFileSystem::PinPosition(const std::string& given,
                                                               uint64_t position) {
  const std::string path = Normal(given);
  if (!names_.contains(path)) return ErrnoStatus(ENOENT, "open", given);
  pins_.emplace(path, position);
  return std::unique_ptr<FileLock>(std::make_unique<CrashPin>(this, path, position));
}

Result<bool> CrashFileSystem::IsPinnedBelow(const std::string& given, uint64_t position) {
  const auto lowest = pins_.lower_bound({Normal(given), 0});
  return lowest != pins_.end() && lowest->first == Normal(given) && lowest->second < position;
}

}  // namespace pigment
