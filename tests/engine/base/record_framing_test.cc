// SPDX-License-Identifier: Apache-2.0
//
// Records: bytes as documented, places that do not validate elsewhere, torn tails against damage.

#include "engine/base/record_framing.h"

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "engine/base/memory_files.h"
#include "engine/base/record_appender.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

const FramedHeader kHeader{.kind = FramedKind::kLog,
                           .version = 1,
                           .store = {std::byte{1}, std::byte{2}},
                           .number = 7,
                           .first_position = 10};

struct Record {
  uint64_t position;
  uint64_t synced;
  std::string payload;
  uint32_t flags = kPlainRecord;
};

std::string FileOf(const std::vector<Record>& records) {
  std::string bytes = EncodeFramedHeader(kHeader);
  for (const Record& record : records) {
    AppendRecord(&bytes, kHeader, bytes.size(),
                 {.flags = record.flags,
                  .position = record.position,
                  .synced = record.synced,
                  .payload = AsBytes(record.payload)});
  }
  return bytes;
}

Result<FramedScan> Scan(const std::string& bytes) {
  return ScanRecords(AsBytes(bytes), kHeader, "file", UINT64_MAX,
                     [](const auto&) { return Status::Ok(); });
}

Status Check(const std::string& bytes) {
  const Result<FramedScan> scan = Scan(bytes);
  if (!scan.ok()) return scan.status();
  return CheckTornTail(AsBytes(bytes), kHeader, "file", *scan);
}

TEST(RecordFraming, BytesAreAsDocumented) {
  const std::string bytes = FileOf({{10, 9, "abc"}});
  ASSERT_EQ(bytes.size(), 64u + 28 + 3);
  EXPECT_EQ(bytes.substr(0, 8), "\x89PGM\r\n\x1a\n");
  const auto u32 = [&](size_t at) { return LoadLittle<uint32_t>(AsBytes(bytes).data() + at); };
  const auto u64 = [&](size_t at) { return LoadLittle<uint64_t>(AsBytes(bytes).data() + at); };
  EXPECT_EQ(u32(8), 1u);
  EXPECT_EQ(u32(12), 1u);
  EXPECT_EQ(u32(16), 0x01020304u);
  EXPECT_EQ(u32(20), 64u);
  EXPECT_EQ(bytes.substr(24, 3), std::string("\x01\x02\x00", 3));
  EXPECT_EQ(u64(40), 7u);
  EXPECT_EQ(u64(48), 10u);
  EXPECT_EQ(u32(56), 0u);
  EXPECT_EQ(u32(60), Crc32c(AsBytes(bytes).first(60)));
  EXPECT_EQ(u32(64), 3u);
  EXPECT_EQ(u32(68), 0u);
  EXPECT_EQ(u64(72), 10u);
  EXPECT_EQ(u64(80), 9u);
  EXPECT_EQ(bytes.substr(88, 3), "abc");
  EXPECT_EQ(u32(91), Crc32c(AsBytes(bytes).subspan(64, 27), PlaceSeed(kHeader.store, 7, 64)));
}

TEST(RecordFraming, ARecordIsValidOnlyInItsPlace) {
  const std::string bytes = FileOf({{10, 9, "abc"}});
  EXPECT_TRUE(DecodeRecord(AsBytes(bytes), kHeader, 64));
  FramedHeader other = kHeader;
  other.number = 8;
  EXPECT_FALSE(DecodeRecord(AsBytes(bytes), other, 64));
  other = kHeader;
  other.store[15] = std::byte{1};
  EXPECT_FALSE(DecodeRecord(AsBytes(bytes), other, 64));
  const std::string moved = bytes.substr(0, 64) + "x" + bytes.substr(64);
  EXPECT_FALSE(DecodeRecord(AsBytes(moved), kHeader, 65));
}

TEST(RecordFraming, AScanEndsAtTheFirstInvalidByteAndKnowsWhatIsProven) {
  std::string bytes = FileOf({{10, 9, "a"}, {11, 10, "b"}, {12, 11, "c"}});
  Result<FramedScan> scan = Scan(bytes);
  ASSERT_OK(scan);
  EXPECT_EQ(scan->next_position, 13u);
  EXPECT_EQ(scan->synced, 11u);
  EXPECT_TRUE(scan->is_whole);
  bytes += "rubbish";
  scan = Scan(bytes);
  ASSERT_OK(scan);
  EXPECT_EQ(scan->next_position, 13u);
  EXPECT_FALSE(scan->is_whole);
  EXPECT_OK(Check(bytes));
}

TEST(RecordFraming, AMarkProvesWhatIsBeforeIt) {
  Result<FramedScan> scan = Scan(FileOf({{10, 9, "a"}, {10, 10, "", kMarkRecord}}));
  ASSERT_OK(scan);
  EXPECT_EQ(scan->next_position, 11u);
  EXPECT_EQ(scan->synced, 10u);
}

TEST(RecordFraming, ImpossiblePositionsAndUnknownFlagsAreReported) {
  const auto detail = [](const std::vector<Record>& records) {
    return StatusOf(Scan(FileOf(records))).detail();
  };
  EXPECT_EQ(detail({{11, 9, "a"}}), Detail::kMiscounted);
  EXPECT_EQ(detail({{10, 9, "a"}, {10, 9, "b"}}), Detail::kMiscounted);
  EXPECT_EQ(detail({{10, 10, "a"}}), Detail::kMiscounted);
  EXPECT_EQ(detail({{10, 9, "", kMarkRecord}}), Detail::kMiscounted);
  EXPECT_CODE(Scan(FileOf({{10, 9, "a", 2}})), Code::kVersionMismatch);
}

TEST(RecordFraming, ALaterRecordThatWasWrittenBeforeTheSyncProvesNothing) {
  std::string bytes = FileOf({{10, 9, "a"}, {11, 9, "bb"}, {12, 9, "c"}});
  bytes[64 + 29 + 24] ^= 1;  // position 11, of one unsynced group with 12
  EXPECT_OK(Check(bytes));
  EXPECT_EQ(Scan(bytes)->next_position, 11u);
}

TEST(RecordFraming, ALaterRecordThatWasWrittenAfterTheSyncProvesDamage) {
  for (const uint32_t flags : {kPlainRecord, kMarkRecord}) {
    std::string bytes =
        FileOf({{10, 9, "a"}, {11, 9, "bb"}, {flags == kMarkRecord ? 11u : 12u, 11, "", flags}});
    for (size_t at = 64 + 29; at < 64 + 29 + 30; ++at) {
      SCOPED_TRACE(at);
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
      const Status status = Check(damaged);
      EXPECT_CODE(status, Code::kDataLoss);
      EXPECT_EQ(status.file(), "file");
      EXPECT_EQ(status.offset(), 64 + 29);
    }
  }
}

TEST(RecordFraming, APayloadThatImitatesRecordsProvesNothingAndTakesNoTime) {
  std::string payload;
  for (int i = 0; i < 20'000; ++i) {
    AppendRecord(&payload, kHeader, 0, {.position = 12, .synced = 11, .payload = {}});
  }
  std::string bytes = FileOf({{10, 9, "a"}, {11, 10, payload}});
  bytes.pop_back();
  EXPECT_OK(Check(bytes));
}

TEST(RecordFraming, AHeaderIsCheckedFieldByField) {
  const auto decode = [](std::string bytes, FramedKind kind) {
    return StatusOf(DecodeFramedHeader(AsBytes(bytes), kind, 1, "file"));
  };
  const std::string bytes = EncodeFramedHeader(kHeader);
  EXPECT_OK(decode(bytes, FramedKind::kLog));
  EXPECT_EQ(decode(bytes, FramedKind::kCatalogEdits).detail(), Detail::kWrongKind);
  EXPECT_EQ(decode(bytes.substr(0, 63), FramedKind::kLog).detail(), Detail::kTruncated);
  EXPECT_EQ(decode("version https://git-lfs.github.com/spec/v1" + bytes, FramedKind::kLog).detail(),
            Detail::kWrongKind);
  for (size_t at = 8; at < 64; ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_EQ(decode(damaged, FramedKind::kLog).detail(), Detail::kChecksum) << at;
  }
}

// Two files of one number, as a log and a catalog have them: a disk may show a freed block of one in
// the other.
TEST(RecordFraming, ARecordOfAnotherKindOfFileDoesNotValidate) {
  FramedHeader log = kHeader, edits = kHeader;
  log.version = edits.version = 2;
  edits.kind = FramedKind::kCatalogEdits;
  std::string bytes = EncodeFramedHeader(edits);
  AppendRecord(&bytes, edits, bytes.size(), {.position = 10, .synced = 9, .payload = AsBytes("abc")});
  EXPECT_TRUE(DecodeRecord(AsBytes(bytes), edits, kFramedHeaderBytes));
  EXPECT_FALSE(DecodeRecord(AsBytes(bytes), log, kFramedHeaderBytes));
}

// A group of two of which the disk takes only the first: both are refused, and neither comes back,
// whatever survives.
// A power cut may take a file, and its number be used again, with the old file's blocks.
TEST(RecordFraming, ARecordOfALostFileOfTheSameNumberDoesNotValidate) {
  FramedHeader lost = kHeader, present = kHeader;
  lost.version = present.version = 2;
  lost.salt = 17;
  present.salt = 18;
  std::string bytes = EncodeFramedHeader(present);
  AppendRecord(&bytes, lost, bytes.size(), {.position = 10, .synced = 9, .payload = {}});
  EXPECT_TRUE(DecodeRecord(AsBytes(bytes), lost, kFramedHeaderBytes));
  EXPECT_FALSE(DecodeRecord(AsBytes(bytes), present, kFramedHeaderBytes));
  EXPECT_EQ(DecodeFramedHeader(AsBytes(bytes), FramedKind::kLog, 2, "file")->salt, 18u);
}

TEST(RecordFraming, TwoRecordsTellTheSaltOfALostHeader) {
  FramedHeader header = kHeader;
  header.version = 2;
  header.salt = 0x12345678;
  std::string bytes(kFramedHeaderBytes, '?');
  const auto append = [&](uint64_t position, std::string_view payload) {
    AppendRecord(&bytes, header, bytes.size(),
                 {.position = position, .synced = 9, .payload = AsBytes(payload)});
  };
  append(10, "abc");
  header.salt = 0;
  EXPECT_EQ(FindSalt(AsBytes(bytes), header), std::nullopt);  // one record agrees with any salt
  header.salt = 0x12345678;
  append(11, "");
  header.salt = 0;
  EXPECT_EQ(FindSalt(AsBytes(bytes), header), 0x12345678u);
  bytes[kFramedHeaderBytes + kRecordHeadBytes] ^= 1;
  EXPECT_EQ(FindSalt(AsBytes(bytes), header), std::nullopt);
}

TEST(RecordAppender, NothingOfARefusedGroupComesBackAfterAPowerCut) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    MemoryFileSystem files(MemoryFileSystem::Kind::kSimulated);
    std::unique_ptr<File> file;
    bool is_published = false;
    const std::string header = EncodeFramedHeader(kHeader);
    ASSERT_OK(PublishFile(&files, ".", "file", header, &file, &is_published));
    RecordAppender appender;
    appender.Adopt(std::move(file), kHeader, header.size(), 9);
    files.SetCapacity(64 + 28 + 5 + 10);
    const std::vector<std::span<const std::byte>> group = {AsBytes("first"), AsBytes("second")};
    const Status status = appender.Write(group, true);
    EXPECT_EQ(status.detail(), Detail::kDiskFull);
    EXPECT_FALSE(appender.is_broken());
    files.CutPower(
        {.keep = seed % 2 == 0 ? PowerCut::Keep::kPrefix : PowerCut::Keep::kRandom, .seed = seed});
    const Result<std::string> bytes = ReadWholeFile(&files, "file");
    ASSERT_OK(bytes);
    EXPECT_EQ(Scan(*bytes)->next_position, 10u);
  }
}

}  // namespace
}  // namespace pigment
