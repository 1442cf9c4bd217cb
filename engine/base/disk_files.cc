// SPDX-License-Identifier: Apache-2.0
//
// DiskFileSystem: system calls in full loops, and their errors as statuses.

#include "engine/base/disk_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <system_error>
#include <utility>

#include "engine/base/clock.h"

namespace pigment {
namespace {

constexpr size_t kTransferBytesMax = size_t{1}
                                     << 30;  // below Linux's own limit of 0x7ffff000 per call

// Calls `call` until it is not interrupted by a signal.
template <typename Call>
auto Uninterrupted(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;

// Bytes of a lock file: those below belong to the write lock, pins of positions come behind. Nobody
// reads or writes there.
constexpr uint64_t kPinBase = uint64_t{1} << 62;

struct flock LockRequest(int type, uint64_t begin, uint64_t bytes) {
  struct flock request {};
  request.l_type = static_cast<short>(type);
  request.l_whence = SEEK_SET;
  request.l_start = static_cast<off_t>(begin);
  request.l_len = static_cast<off_t>(bytes);
  return request;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// A write beyond RLIMIT_FSIZE would raise SIGXFSZ, which kills a host that did not think of it.
bool IsBeyondSizeLimit(uint64_t end) {
  rlimit limit{};
  if (end > static_cast<uint64_t>(INT64_MAX)) return true;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         end > limit.rlim_cur;
}

// Mapped bytes of a file, as the seam has them: FileMapping or Scratch.
template <typename Seam, typename Byte>
class DiskMapped final : public Seam {
 public:
  DiskMapped(void* begin, size_t bytes) : begin_(begin), bytes_(bytes) {}
  ~DiskMapped() override { munmap(begin_, bytes_); }
  std::span<Byte> bytes() const override { return {static_cast<Byte*>(begin_), bytes_}; }

 private:
  void* const begin_;
  const size_t bytes_;
};

class DiskFile final : public File {
 public:
  DiskFile(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Status ReadAt(uint64_t offset, std::span<std::byte> out) const override {
    size_t done = 0;
    while (done < out.size()) {
      const size_t piece = std::min(out.size() - done, kTransferBytesMax);
      const ssize_t got = Uninterrupted([&] {
        return pread(fd_.get(), out.data() + done, piece, static_cast<off_t>(offset + done));
      });
      if (got < 0) return ErrnoStatus(errno, "read", path_);
      if (got == 0) {
        return DataLoss(Detail::kTruncated, path_, static_cast<int64_t>(offset + done),
                        fmt::format("{} ends at {}, {} bytes were expected at {}", path_,
                                    offset + done, out.size(), offset));
      }
      done += static_cast<size_t>(got);
    }
    return Status::Ok();
  }

  void ReadAhead(uint64_t offset, uint64_t bytes) const override {
    // Who reads is told what went wrong.
    (void)posix_fadvise(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(bytes),
                        POSIX_FADV_WILLNEED);
  }

  Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) override {
    if (IsBeyondSizeLimit(offset + bytes.size())) return ErrnoStatus(EFBIG, "write", path_);
    size_t done = 0;
    while (done < bytes.size()) {
      const size_t piece = std::min(bytes.size() - done, kTransferBytesMax);
      const ssize_t written = Uninterrupted([&] {
        return pwrite(fd_.get(), bytes.data() + done, piece, static_cast<off_t>(offset + done));
      });
      if (written < 0) return ErrnoStatus(errno, "write", path_);
      // POSIX leaves open what a write of nothing means; going on would loop for ever.
      if (written == 0) return ErrnoStatus(ENOSPC, "write", path_);
      done += static_cast<size_t>(written);
    }
    return Status::Ok();
  }

  Status Allocate(uint64_t size) override {
    if (IsBeyondSizeLimit(size)) return ErrnoStatus(EFBIG, "allocate space for", path_);
    if (size == 0) return Status::Ok();
    // From the beginning: holes are filled.
    if (Uninterrupted([&] { return fallocate(fd_.get(), 0, 0, static_cast<off_t>(size)); }) == 0)
      return Status::Ok();
    if (errno != EOPNOTSUPP && errno != ENOSYS)
      return ErrnoStatus(errno, "allocate space for", path_);
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t end, Size());
    return end < size ? WriteZeros(end, size) : Status::Ok();
  }

  Result<std::unique_ptr<FileMapping>> Map(uint64_t size) const override {
    return MapAs<FileMapping, const std::byte>(size, PROT_READ);
  }
  Result<std::unique_ptr<Scratch>> MapForWriting(uint64_t size) const {
    return MapAs<Scratch, std::byte>(size, PROT_READ | PROT_WRITE);
  }

  Status Sync() override {
    if (Uninterrupted([&] { return fdatasync(fd_.get()); }) < 0)
      return ErrnoStatus(errno, "sync", path_);
    return Status::Ok();
  }

  Status Truncate(uint64_t size) override {
    if (IsBeyondSizeLimit(size)) return ErrnoStatus(EFBIG, "resize", path_);
    if (Uninterrupted([&] { return ftruncate(fd_.get(), static_cast<off_t>(size)); }) < 0) {
      return ErrnoStatus(errno, "resize", path_);
    }
    return Status::Ok();
  }

  Result<uint64_t> Size() const override {
    struct stat status {};
    if (fstat(fd_.get(), &status) < 0) return ErrnoStatus(errno, "examine", path_);
    return static_cast<uint64_t>(status.st_size);
  }

  const std::string& path() const override { return path_; }

 private:
  template <typename Seam, typename Byte>
  Result<std::unique_ptr<Seam>> MapAs(uint64_t size, int protection) const {
    void* const begin = mmap(nullptr, size, protection, MAP_SHARED, fd_.get(), 0);
    if (begin == MAP_FAILED) return ErrnoStatus(errno, "map", path_);
    return std::unique_ptr<Seam>(std::make_unique<DiskMapped<Seam, Byte>>(begin, size));
  }
  // Where the file system knows no allocation.
  Status WriteZeros(uint64_t begin, uint64_t end) {
    constexpr uint64_t kPieceBytes = uint64_t{1} << 16;
    const std::vector<std::byte> zeros(std::min(end - begin, kPieceBytes));
    for (uint64_t at = begin; at < end;) {
      const uint64_t piece = std::min<uint64_t>(end - at, zeros.size());
      PIGMENT_RETURN_IF_ERROR(WriteAt(at, std::span(zeros).first(piece)));
      at += piece;
    }
    return Status::Ok();
  }

  const Descriptor fd_;
  const std::string path_;
};

// The descriptor of a lock or a pin. A forked child closes its copies of all of them at once: with
// them it would keep what its parent holds beyond the parent's death, and it never needs them.
class LockDescriptor {
 public:
  // Negative with errno set when the file cannot be opened.
  LockDescriptor(const std::string& path, int flags) {
    List& list = TheList();
    // No fork comes between opening and listing.
    std::lock_guard lock(list.mutex);
    fd_ = Uninterrupted([&] { return open(path.c_str(), flags | O_CLOEXEC, kFileMode); });
    next_ = std::exchange(list.first, this);
    if (next_ != nullptr) next_->previous_ = this;
  }
  LockDescriptor(const LockDescriptor&) = delete;
  LockDescriptor& operator=(const LockDescriptor&) = delete;
  ~LockDescriptor() {
    List& list = TheList();
    std::lock_guard lock(list.mutex);
    if (fd_ >= 0) close(fd_);
    (previous_ != nullptr ? previous_->next_ : list.first) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
  }

  int get() const { return fd_; }

 private:
  struct List {
    std::mutex mutex;  // taken last: nothing is called while it is held but open and close
    LockDescriptor* first = nullptr;
  };

  // Never destroyed: locks may outlive the objects of static life.
  static List& TheList() {
    static List* const list = [] {
      auto* made = new List;
      pthread_atfork([] { TheList().mutex.lock(); }, [] { TheList().mutex.unlock(); },
                     [] {
                       for (LockDescriptor* at = TheList().first; at != nullptr; at = at->next_) {
                         if (at->fd_ >= 0) close(std::exchange(at->fd_, -1));
                       }
                       TheList().mutex.unlock();
                     });
      return made;
    }();
    return *list;
  }

  int fd_;
  LockDescriptor* previous_ = nullptr;
  LockDescriptor* next_ = nullptr;
};

class DiskLock final : public FileLock {
 public:
  explicit DiskLock(const std::string& path) : fd_(path, O_RDWR | O_CREAT), owner_(getpid()) {}

  // Explicitly: closing frees it only when nobody else has the descriptor. A forked child has none.
  ~DiskLock() override {
    if (!is_locked_ || fd_.get() < 0 || getpid() != owner_) return;
    // The text of a holder that is gone would mislead.
    (void)Uninterrupted([&] { return ftruncate(fd_.get(), 0); });
    struct flock request = LockRequest(F_UNLCK, 0, kPinBase);
    (void)Uninterrupted([&] { return fcntl(fd_.get(), F_OFD_SETLK, &request); });
  }

  // False with errno set: not opened, or held by somebody else (EAGAIN), or no locks here.
  bool Take() {
    if (fd_.get() < 0) return false;
    struct flock request = LockRequest(F_WRLCK, 0, kPinBase);
    is_locked_ = Uninterrupted([&] { return fcntl(fd_.get(), F_OFD_SETLK, &request); }) == 0;
    return is_locked_;
  }

  int get() const { return fd_.get(); }

  // A full disk must not keep anybody from opening (and deleting): a lock without its holder's name
  // is still a lock.
  Status SetHolder(const std::string& path, std::string_view holder) {
    struct stat status {};
    // Just made, under a umask that takes the owner's own rights away. One that somebody widened
    // for readers stays as it is.
    if (fstat(fd_.get(), &status) == 0 && (status.st_mode & kFileMode) != kFileMode &&
        fchmod(fd_.get(), kFileMode) < 0) {
      return ErrnoStatus(errno, "set the mode of", path);
    }
    if (Uninterrupted([&] { return ftruncate(fd_.get(), 0); }) < 0)
      return ErrnoStatus(errno, "empty", path);
    const ssize_t written =
        Uninterrupted([&] { return pwrite(fd_.get(), holder.data(), holder.size(), 0); });
    if (written < 0 && errno != ENOSPC && errno != EDQUOT) return ErrnoStatus(errno, "write", path);
    return Status::Ok();
  }

 private:
  const LockDescriptor fd_;
  const pid_t owner_;
  bool is_locked_ = false;
};

class DiskPin final : public FileLock {
 public:
  explicit DiskPin(const std::string& path) : fd_(path, O_RDONLY), owner_(getpid()) {}
  ~DiskPin() override {
    if (fd_.get() < 0 || getpid() != owner_) return;
    struct flock request = LockRequest(F_UNLCK, kPinBase, 0);
    fcntl(fd_.get(), F_OFD_SETLK, &request);
  }

  bool Take(uint64_t position) {
    if (fd_.get() < 0) return false;
    struct flock request = LockRequest(F_RDLCK, kPinBase + position, 1);
    return Uninterrupted([&] { return fcntl(fd_.get(), F_OFD_SETLK, &request); }) == 0;
  }

  int get() const { return fd_.get(); }

 private:
  const LockDescriptor fd_;
  const pid_t owner_;
};

Status CheckPosition(const std::string& path, uint64_t position) {
  if (position < kPinBase) return Status::Ok();
  return InvalidArgument(fmt::format("{} cannot be pinned at {}", path, position));
}

// Whether a holder's text may be the present one's: a killed process leaves its own behind.
bool MayBeAlive(const std::string& holder) {
  constexpr std::string_view kPrefix = "pid ";
  if (!holder.starts_with(kPrefix)) return true;
  const long pid = std::strtol(holder.c_str() + kPrefix.size(), nullptr, 10);
  return pid <= 0 || kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH;
}

// The holder writes its text just after it has the lock: an empty file, or one with the name of a
// process that is gone, is looked at again for a moment.
std::string ReadHolder(int fd) {
  constexpr int64_t kPatienceNs = 70'000'000;
  const int64_t until = SystemClock()->MonotonicNow() + kPatienceNs;
  for (;;) {
    std::array<char, 512> text;
    const ssize_t got = Uninterrupted([&] { return pread(fd, text.data(), text.size(), 0); });
    const std::string holder(text.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (!holder.empty() && MayBeAlive(holder)) return holder;
    if (SystemClock()->MonotonicNow() >= until) {
      return holder.empty() ? "a process that has not said its name" : holder;
    }
    const timespec millisecond{.tv_sec = 0, .tv_nsec = 1'000'000};
    nanosleep(&millisecond, nullptr);
  }
}

Code CodeOfErrno(int error) {
  switch (error) {
    case ENOENT:
      return Code::kNotFound;
    case EEXIST:
    case ENOTEMPTY:
      return Code::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Code::kResourceExhausted;
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EINVAL:
      return Code::kInvalidArgument;
    default:
      return Code::kUnavailable;
  }
}

Detail DetailOfErrno(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Detail::kDiskFull;
    case ENOMEM:
      return Detail::kMemory;
    case EMFILE:
    case ENFILE:
      return Detail::kLimit;
    default:
      return Detail::kNone;
  }
}

std::string ProgramName() {
  std::array<char, 64> name{};
  if (std::FILE* file = std::fopen("/proc/self/comm", "re")) {
    const size_t got = std::fread(name.data(), 1, name.size() - 1, file);
    std::fclose(file);
    if (got > 1) return std::string(name.data(), got - 1);  // without the newline
  }
  return "unknown program";
}

// When this process began, from /proc: seconds since boot in clock ticks, field 22 behind the
// name's last parenthesis.
int64_t ReadProcessStart() {
  const int64_t now = SystemClock()->WallNow();
  std::array<char, 1024> text{};
  std::FILE* file = std::fopen("/proc/self/stat", "re");
  if (file == nullptr) return now;
  const size_t got = std::fread(text.data(), 1, text.size() - 1, file);
  std::fclose(file);
  std::string_view fields(text.data(), got);
  fields.remove_prefix(std::min(fields.rfind(')') + 1, fields.size()));
  for (int skipped = 0; skipped < 19 && !fields.empty(); ++skipped) {
    fields.remove_prefix(std::min(fields.find(' ', 1), fields.size()));
  }
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  timespec boot{};
  const unsigned long long ticks = std::strtoull(fields.data(), nullptr, 10);
  if (ticks == 0 || ticks > (uint64_t{1} << 40) || ticks_per_second <= 0 ||
      clock_gettime(CLOCK_BOOTTIME, &boot) != 0)
    return now;
  const int64_t since_boot = static_cast<int64_t>(ticks) * (1'000'000'000 / ticks_per_second);
  return now - (boot.tv_sec * int64_t{1'000'000'000} + boot.tv_nsec - since_boot);
}

// Read once in a process; a child of it has a beginning of its own.
int64_t ProcessStartWallTime() {
  static std::atomic<int64_t> start{0};
  static std::atomic<pid_t> process{0};
  if (process.load(std::memory_order_acquire) != getpid()) {
    start.store(ReadProcessStart(), std::memory_order_relaxed);
    process.store(getpid(), std::memory_order_release);
  }
  return start.load(std::memory_order_relaxed);
}

}  // namespace

Status ErrnoStatus(int error, std::string_view operation, const std::string& path) {
  std::string reason = std::generic_category().message(error);
  if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z')
    reason[0] = static_cast<char>(reason[0] - 'A' + 'a');
  return Status(CodeOfErrno(error), DetailOfErrno(error),
                fmt::format("cannot {} {}: {}", operation, path, reason))
      .WithFile(path, -1);
}

std::string DescribeThisProcess() {
  return fmt::format("pid {} ({}) since {}", getpid(), ProgramName(),
                     FormatWallTime(ProcessStartWallTime()));
}

FileSystem* DiskFiles() {
  static DiskFileSystem files;
  return &files;
}

Result<std::unique_ptr<File>> DiskFileSystem::Open(const std::string& path, OpenMode mode) {
  int flags = O_CLOEXEC;
  switch (mode) {
    case OpenMode::kRead:
      flags |= O_RDONLY;
      break;
    case OpenMode::kReadWrite:
      flags |= O_RDWR;
      break;
    case OpenMode::kCreate:
      flags |= O_RDWR | O_CREAT | O_EXCL;
      break;
  }
  Descriptor fd(Uninterrupted([&] { return open(path.c_str(), flags, kFileMode); }));
  if (fd.get() < 0) return ErrnoStatus(errno, mode == OpenMode::kCreate ? "create" : "open", path);
  // A umask may have taken the owner's own rights away.
  if (mode == OpenMode::kCreate && fchmod(fd.get(), kFileMode) < 0) {
    return ErrnoStatus(errno, "set the mode of", path);
  }
  return std::unique_ptr<File>(std::make_unique<DiskFile>(std::move(fd), path));
}

Status DiskFileSystem::Rename(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) < 0) return ErrnoStatus(errno, "rename to " + to, from);
  return Status::Ok();
}

Status DiskFileSystem::Remove(const std::string& path) {
  if (remove(path.c_str()) < 0) return ErrnoStatus(errno, "remove", path);
  return Status::Ok();
}

Status DiskFileSystem::MakeDirectory(const std::string& path) {
  if (mkdir(path.c_str(), kFolderMode) == 0) {
    if (chmod(path.c_str(), kFolderMode) < 0) return ErrnoStatus(errno, "set the mode of", path);
    return Status::Ok();
  }
  const int error = errno;
  struct stat status {};
  if (error == EEXIST && stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    return Status::Ok();
  return ErrnoStatus(error, "make directory", path);
}

Result<std::vector<std::string>> DiskFileSystem::List(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(opendir(directory.c_str()), closedir);
  if (stream == nullptr) return ErrnoStatus(errno, "list", directory);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return ErrnoStatus(errno, "list", directory);
  std::sort(names.begin(), names.end());
  return names;
}

Result<bool> DiskFileSystem::Exists(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT) return false;
  return ErrnoStatus(errno, "examine", path);
}

Result<std::unique_ptr<Scratch>> MapScratch(int descriptor, uint64_t bytes) {
  DiskFile file(Descriptor(descriptor), "a temporary file");
  PIGMENT_RETURN_IF_ERROR(file.Allocate(bytes));
  return file.MapForWriting(bytes);
}

ScratchSource DiskFileSystem::ScratchIn(const std::string& directory) {
  return [directory](uint64_t bytes) -> Result<std::unique_ptr<Scratch>> {
    int fd = Uninterrupted(
        [&] { return open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kFileMode); });
    if (fd < 0) {  // where files cannot be without a name they lose it at once
      std::string path = directory + "/scratch-XXXXXX";
      fd = mkostemp(path.data(), O_CLOEXEC);
      if (fd < 0) return ErrnoStatus(errno, "make a temporary file in", directory);
      if (unlink(path.c_str()) < 0) {
        const Descriptor closed(fd);
        return ErrnoStatus(errno, "remove", path);
      }
    }
    return MapScratch(fd, bytes);
  };
}

Status DiskFileSystem::SyncDirectory(const std::string& path) {
  const Descriptor fd(
      Uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (fd.get() < 0) return ErrnoStatus(errno, "open", path);
  if (Uninterrupted([&] { return fsync(fd.get()); }) < 0 &&
      errno != EINVAL) {  // EINVAL: names need no sync here
    return ErrnoStatus(errno, "sync", path);
  }
  return Status::Ok();
}

Result<std::unique_ptr<FileLock>> DiskFileSystem::Lock(const std::string& path,
                                                       std::string_view holder) {
  auto lock = std::make_unique<DiskLock>(path);
  if (!lock->Take()) {
    if (lock->get() < 0) return ErrnoStatus(errno, "open", path);
    if (errno != EAGAIN && errno != EACCES) return ErrnoStatus(errno, "lock", path);
    return FailedPrecondition(Detail::kLocked, fmt::format("{} is locked: open for writing by {}",
                                                           path, ReadHolder(lock->get())))
        .WithFile(path, -1);
  }
  PIGMENT_RETURN_IF_ERROR(lock->SetHolder(path, holder));
  return std::unique_ptr<FileLock>(std::move(lock));
}

Result<std::unique_ptr<FileLock>> DiskFileSystem::PinPosition(const std::string& path,
                                                              uint64_t position) {
  PIGMENT_RETURN_IF_ERROR(CheckPosition(path, position));
  auto pin = std::make_unique<DiskPin>(path);
  if (!pin->Take(position)) {
    if (pin->get() < 0) return ErrnoStatus(errno, "open", path);
    if (errno == EAGAIN || errno == EACCES) {
      // Version 0.1 locked every byte there is.
      return FailedPrecondition(Detail::kLocked,
                                fmt::format("{} is locked against readers by an older version: {}",
                                            path, ReadHolder(pin->get())))
          .WithFile(path, -1);
    }
    return ErrnoStatus(errno, "pin a position in", path)
        .WithHint("a store can only be read where the file system has locks");
  }
  return std::unique_ptr<FileLock>(std::move(pin));
}

Result<bool> DiskFileSystem::IsPinnedBelow(const std::string& path, uint64_t position) {
  PIGMENT_RETURN_IF_ERROR(CheckPosition(path, position));
  if (position == 0) return false;  // a length of zero would mean the rest of the file
  const Descriptor fd(Uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (fd.get() < 0) {
    if (errno == ENOENT) return false;
    return ErrnoStatus(errno, "open", path);
  }
  struct flock request = LockRequest(F_WRLCK, kPinBase, position);
  if (Uninterrupted([&] { return fcntl(fd.get(), F_OFD_GETLK, &request); }) < 0) {
    return ErrnoStatus(errno, "look for pins in", path);
  }
  return request.l_type != F_UNLCK;
}

}  // namespace pigment
