// SPDX-License-Identifier: Apache-2.0
//
// The files seam: all input and output of the engine goes through FileSystem and File, so that
// tests can run on memory, inject faults and enumerate crash states. Two implementations:
// DiskFileSystem (disk_files.h) and MemoryFileSystem (memory_files.h, also what a store without a
// path lives in). Thread safety: FileSystem and File may be used from any thread at once; writes to
// one file are the caller's to order. Paths are bytes, relative ones as the process sees them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/scratch.h"
#include "engine/base/status.h"

namespace pigment {

// The bytes of a file in memory, for reading; unmapped when this dies. A page that cannot be read,
// or that lies behind the end of a file that shrank, raises SIGBUS.
class FileMapping {
 public:
  virtual ~FileMapping() = default;
  virtual std::span<const std::byte> bytes() const = 0;
};

class File {
 public:
  virtual ~File() =
      default;  // closes; an error at close is of no use to anybody (everything durable was synced)

  // Reads exactly out.size() bytes at `offset`. Fewer there: kDataLoss with Detail::kTruncated.
  virtual Status ReadAt(uint64_t offset, std::span<std::byte> out) const = 0;

  // These bytes will be read soon: what has to come from a disk may be on its way meanwhile. Waits
  // for nothing and says nothing; a file that has no such thing does nothing.
  virtual void ReadAhead(uint64_t offset, uint64_t bytes) const;

  // Writes all of `bytes` at `offset`, growing the file where needed; a gap reads as zeros.
  // No space, quota or size limit: kResourceExhausted with Detail::kDiskFull; the file's bytes past
  // the old end are undefined.
  virtual Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) = 0;

  // Grows the file to `size`, if it is smaller. Later writes below `size` need no further space (in
  // holes of before where the file system can fill them), and what was added reads as zeros until
  // then. Fails as WriteAt does for want of space: the file may then have grown by a part of it.
  virtual Status Allocate(uint64_t size) = 0;

  // Makes contents and size durable. After a failure nothing about unsynced bytes is known, and a
  // later success proves nothing about them: the caller must not go on with this file.
  virtual Status Sync() = 0;

  virtual Status Truncate(uint64_t size) = 0;
  virtual Result<uint64_t> Size() const = 0;
  // Maps the first `size` bytes, which must be there. kUnimplemented where a file has none to map.
  virtual Result<std::unique_ptr<FileMapping>> Map(uint64_t size) const;
  virtual const std::string& path() const = 0;
};

// A lock or a pin. Held for as long as the object lives; the kernel frees it when the process dies.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

enum class OpenMode {
  kRead,       // must exist
  kReadWrite,  // must exist
  kCreate,     // must not exist; read and write; mode 0600
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Missing: kNotFound. kCreate on an existing name: kAlreadyExists.
  virtual Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) = 0;
  virtual Status Rename(const std::string& from, const std::string& to) = 0;  // replaces `to`
  virtual Status Remove(const std::string& path) = 0;
  virtual Status MakeDirectory(const std::string& path) = 0;  // mode 0700; existing directory: ok
  virtual Result<std::vector<std::string>> List(
      const std::string& directory) = 0;  // names, sorted, without . and ..
  virtual Result<bool> Exists(const std::string& path) = 0;
  virtual Status SyncDirectory(
      const std::string& path) = 0;  // makes creations, renames and removals in it durable

  // Takes the one write lock on `path` (created when missing, never waits) and writes `holder` into
  // it. Held by somebody else, also within this process: kFailedPrecondition, Detail::kLocked,
  // message with the holder's text.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path,
                                                 std::string_view holder) = 0;

  // Scratch (scratch.h) in `directory`; empty where a file system has no such thing.
  virtual ScratchSource ScratchIn(const std::string& directory);

  // How processes that only read tell the writer what they still need (reader_pins.h). A pin is
  // shared, excludes neither the write lock nor other pins, writes nothing, and is freed by the
  // kernel when its process dies. Positions are below 2^62.
  //
  // Pins `position` in the lock file `path`. No such file: kNotFound; nobody has written here since
  // it was made, or it was not copied. A file system without locks: kUnavailable.
  virtual Result<std::unique_ptr<FileLock>> PinPosition(const std::string& path,
                                                        uint64_t position) = 0;
  // Whether anybody, in this process or another, holds a pin below `position`. No file: nobody.
  virtual Result<bool> IsPinnedBelow(const std::string& path, uint64_t position) = 0;
};

inline void File::ReadAhead(uint64_t, uint64_t) const {}

inline Result<std::unique_ptr<FileMapping>> File::Map(uint64_t) const {
  return Status(Code::kUnimplemented, "cannot map \"" + path() + "\": its file system has no such thing");
}

inline ScratchSource FileSystem::ScratchIn(const std::string&) { return {}; }

}  // namespace pigment
