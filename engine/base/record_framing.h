// SPDX-License-Identifier: Apache-2.0
//
// Checksummed records in an append-only file: the form that the log, the catalog's edits and its
// snapshot share. A file is a header, then records back to back. Every checksum is seeded with the
// store, the file's number and the record's offset, so that bytes of another file or place never
// validate. Pure functions on bytes; any thread.
//
// File header, 64 bytes, little endian; this layout holds for every version, so that a newer one
// can be named:
//   offset size meaning
//   0      8    magic 89 50 47 4D 0D 0A 1A 0A ("\x89PGM\r\n\x1a\n": a copy in text mode shows)
//   8      4    kind: 1 log, 2 catalog snapshot, 3 catalog edits, 4 shelf
//   12     4    format version of the kind
//   16     4    endian tag 01020304 as u32
//   20     4    size of this header, 64
//   24     16   uuid of the store
//   40     8    number of the file
//   48     8    first position: that of the first record that may be in the file
//   56     4    salt: a random number, or zero (shelves, the catalog's snapshot, older files)
//   60     4    CRC-32C of bytes 0 to 59
//
// Behind the last record a file may go on with zeros, allocated for records to come.
//
// Record, 28 + n bytes:
//   0      4    n, size of the payload
//   4      4    flags: 0 a record, 1 a mark (no payload; position: of the record before it)
//   8      8    position
//   16     8    synced position: everything up to it was durable when this was written
//   24     n    payload
//   24+n   4    CRC-32C of bytes 0 to 23+n, continued from PlaceSeed(store, file number, offset of
//               the record) XOR salt; from version 2 of a kind on the number has the kind in its
//               highest byte
//
// The salt is for files that grow after they have their name: a number may be used again after a
// power cut that took the file, or its name, and the disk may show blocks of the first file in the
// second. Records of the first are not valid there.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/files.h"
#include "engine/base/limits.h"
#include "engine/base/status.h"

namespace pigment {

enum class FramedKind : uint32_t { kLog = 1, kCatalogSnapshot = 2, kCatalogEdits = 3, kShelf = 4 };

struct FramedHeader {
  FramedKind kind = FramedKind::kLog;
  uint32_t version = 1;
  std::array<std::byte, 16> store{};
  uint64_t number = 0;
  uint64_t first_position = 0;
  uint32_t salt = 0;
};

inline constexpr size_t kFramedHeaderBytes = 64;
inline constexpr size_t kRecordHeadBytes = 24;
inline constexpr size_t kRecordFrameBytes = kRecordHeadBytes + 4;

enum RecordFlags : uint32_t { kPlainRecord = 0, kMarkRecord = 1 };

// For a file that is to grow; kUnavailable where the system has no entropy.
Result<uint32_t> RandomSalt();

// The salt of a file whose header is lost, from its first two records; nothing where these do not
// agree. `header` states the rest.
std::optional<uint32_t> FindSalt(std::span<const std::byte> file, FramedHeader header);

std::string EncodeFramedHeader(const FramedHeader& header);

// Checks magic, CRC, kind and version of the header at the beginning of `file`. Damage: kDataLoss
// with `path` and offset; a version above `version_max`: kVersionMismatch naming both. The caller
// compares store and number.
Result<FramedHeader> DecodeFramedHeader(std::span<const std::byte> file, FramedKind kind,
                                        uint32_t version_max, const std::string& path);

struct FramedRecord {
  uint32_t flags = kPlainRecord;
  uint64_t position = 0;
  uint64_t synced = 0;
  std::span<const std::byte> payload;  // of the bytes that were decoded
  uint64_t end = 0;                    // offset behind the record
};

// Appends a record that will lie at `offset` of the file. REQUIRES: payload.size() <=
// kRecordPayloadBytesMax.
void AppendRecord(std::string* out, const FramedHeader& file, uint64_t offset,
                  const FramedRecord& record);

// The record at `offset`, or nothing when there is no valid one.
std::optional<FramedRecord> DecodeRecord(std::span<const std::byte> file,
                                         const FramedHeader& header, uint64_t offset);

// The same where `bytes` are those of the record alone, which lies at `offset` of its file; nothing
// also when they are more or fewer.
std::optional<FramedRecord> DecodeRecordAt(std::span<const std::byte> bytes,
                                           const FramedHeader& header, uint64_t offset);

// What the records of one file say, in order.
struct FramedScan {
  uint64_t next_position = 0;  // of the first record that is not there
  uint64_t synced = 0;         // everything up to here is proven to have been durable
  uint64_t end = 0;            // offset behind the last valid record
  bool is_closed = false;      // the last valid record is a mark
  bool is_whole = false;       // nothing but zeros lies behind `end`
};

// Reads records from the header on, calling `visit` for each plain one with position < `limit`,
// until the end, the first invalid byte or `limit`. A valid record of an impossible position:
// kDataLoss. An error of `visit` ends the scan.
Result<FramedScan> ScanRecords(std::span<const std::byte> file, const FramedHeader& header,
                               const std::string& path, uint64_t limit,
                               const std::function<Status(const FramedRecord&)>& visit);

// The last file of its kind has invalid bytes behind scan.end. Ok when they may be a torn tail,
// that is, something never known to be durable. kDataLoss when a later record proves that what
// should be there was durable, or when the bytes are so odd that this cannot be found out in
// reasonable time.
Status CheckTornTail(std::span<const std::byte> file, const FramedHeader& header,
                     const std::string& path, const FramedScan& scan);

// The whole file. The size is what the file system says, not what the file claims.
Result<std::string> ReadWholeFile(FileSystem* files, const std::string& path);

// Makes `contents` the file `path` at once: written under another name, synced, renamed, directory
// synced. `is_published`, where given, says whether a failure came after the rename, when either
// state may be there.
Status PublishFile(FileSystem* files, const std::string& directory, const std::string& name,
                   std::string_view contents, std::unique_ptr<File>* file, bool* is_published);

}  // namespace pigment
