// SPDX-License-Identifier: Apache-2.0
//
// Each kind of damage has a detail code of its own: every one of them made on a real directory, and
// met through Store and through the C interface. And where a new file belongs but cannot be, on a
// full or read-only disk, the error names it.

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "engine/base/checksum.h"
#include "tests/c_api/abi.h"
#include "tests/support/store_state.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void WriteAll(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// The only file below segments/ with this ending.
fs::path FileWithEnding(const fs::path& store, std::string_view ending) {
  fs::path found;
  for (const auto& entry : fs::directory_iterator(store / "segments")) {
    if (entry.path().extension() == ending) {
      EXPECT_TRUE(found.empty()) << "two files end in " << ending;
      found = entry.path();
    }
  }
  EXPECT_FALSE(found.empty()) << "no file ends in " << ending;
  return found;
}

// A store with one segment and deletions beside it.
void MakeStore(const std::string& path) {
  const auto store = Store::Open(path, DeterministicOptions()).value();
  const auto docs = store->CreateCollection(EntryNamed("docs")).value();
  WriteBatch batch;
  batch.dimension = 2;
  for (int i = 0; i < 12; ++i) {
    batch.ids.push_back("id" + std::to_string(i));
    batch.embeddings.insert(batch.embeddings.end(), {static_cast<float>(i), 1.0f});
    batch.documents.push_back("document " + std::to_string(i));
  }
  EXPECT_OK(docs->Write(batch));
  EXPECT_OK(docs->Flush());
  WriteBatch deletion;
  deletion.kind = WriteKind::kDelete;
  deletion.ids = {"id3"};
  EXPECT_OK(docs->Write(deletion));
  EXPECT_OK(docs->Flush());
  EXPECT_OK(store->Close());
}

// Opens and reads as a user would, until something says no.
Status MeetThroughStore(const std::string& path) {
  PIGMENT_ASSIGN_OR_RETURN(const auto store, Store::Open(path, DeterministicOptions()));
  PIGMENT_ASSIGN_OR_RETURN(const auto docs, store->GetCollection({}, "docs"));
  PIGMENT_ASSIGN_OR_RETURN(const auto version, docs->Pin());
  GetRequest get;
  get.read.include = {true, true, true, true, false};
  PIGMENT_RETURN_IF_ERROR(Get(*version, get).status());
  for (const auto& view : version->segments) PIGMENT_RETURN_IF_ERROR(view.segment->Verify());
  return Status::Ok();
}

abi_test::Outcome MeetThroughC(const std::string& path) {
  abi_test::Client client;
  if (auto outcome = abi_test::Open(path, &client); !outcome.ok()) return outcome;
  pigment_collection* raw = nullptr;
  const auto found = abi_test::Try(pigment_client_get_collection, client.get(),
                                   static_cast<const pigment_scope*>(nullptr), "docs", size_t{4},
                                   static_cast<const pigment_embedding_function*>(nullptr), &raw);
  const abi_test::Collection docs(raw);
  if (!found.ok()) return found;
  auto request = abi_test::Sized<pigment_get_request>();
  request.include = PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_METADATAS |
                    PIGMENT_INCLUDE_EMBEDDINGS | PIGMENT_INCLUDE_URIS;
  abi_test::ResultHandle result;
  return abi_test::Get(docs.get(), request, &result);
}

struct DetailCase {
  std::string name;
  Detail detail;
  std::string ending;  // of the file that the error must name
  std::function<void(const fs::path& store)> damage;
};

constexpr size_t kBlock = 8192;

std::vector<DetailCase> DetailCases() {
  const auto segment = [](const fs::path& store) { return FileWithEnding(store, ".seg"); };
  const auto deletions = [](const fs::path& store) { return FileWithEnding(store, ".del"); };
  const auto with = [](const fs::path& path, const std::function<void(std::string&)>& change) {
    std::string bytes = ReadAll(path);
    change(bytes);
    WriteAll(path, bytes);
  };
  return {
      {"a missing segment", Detail::kMissing, ".seg",
       [=](const fs::path& store) { fs::remove(segment(store)); }},
      {"missing deletions", Detail::kMissing, ".del",
       [=](const fs::path& store) { fs::remove(deletions(store)); }},
      {"the segment of another store", Detail::kForeign, ".seg",
       [=](const fs::path& store) {
         TemporaryDirectory other;
         MakeStore(other / "db");
         fs::copy_file(segment(other / "db"), segment(store), fs::copy_options::overwrite_existing);
       }},
      {"something else for deletions", Detail::kWrongKind, ".del",
       [=](const fs::path& store) {
         with(deletions(store), [](std::string& bytes) { bytes.replace(0, 6, "PIGSEG"); });
       }},
      {"the log for a catalog", Detail::kWrongKind, "CATALOG",
       [=](const fs::path& store) {
         with(store / "CATALOG", [](std::string& bytes) {
           for (size_t at = 0; at < 8; ++at) bytes[at] = static_cast<char>(~bytes[at]);
         });
       }},
      {"a segment with a part of a block more", Detail::kMisaligned, ".seg",
       [=](const fs::path& store) {
         with(segment(store), [](std::string& bytes) { bytes += "tail"; });
       }},
      {"a segment that ends early", Detail::kTruncated, ".seg",
       [=](const fs::path& store) {
         with(segment(store), [](std::string& bytes) { bytes.resize(bytes.size() - kBlock); });
       }},
      {"a segment with a block more", Detail::kMiscounted, ".seg",
       [=](const fs::path& store) {
         with(segment(store),
              [](std::string& bytes) { bytes += bytes.substr(bytes.size() - kBlock); });
       }},
      {"deletions with another count", Detail::kMiscounted, ".del",
       [=](const fs::path& store) {
         with(deletions(store), [](std::string& bytes) {
           // Sealed again, so that only the count tells.
           bytes[44] = static_cast<char>(bytes[44] + 1);
           const uint32_t sum =
               Crc32c(std::as_bytes(std::span(bytes).first(bytes.size() - sizeof(uint32_t))));
           std::memcpy(bytes.data() + bytes.size() - sizeof sum, &sum, sizeof sum);
         });
       }},
      {"a flipped bit in a segment", Detail::kChecksum, ".seg",
       [=](const fs::path& store) {
         with(segment(store), [](std::string& bytes) { bytes[bytes.size() / 2 + 100] ^= 4; });
       }},
      {"a flipped bit in the catalog", Detail::kChecksum, "CATALOG",
       [=](const fs::path& store) {
         with(store / "CATALOG", [](std::string& bytes) { bytes[bytes.size() - 20] ^= 1; });
       }},
  };
}

TEST(DetailCodes, EachKindOfDamageIsToldApartThroughTheStoreAndThroughTheCInterface) {
  std::map<Detail, int> met;
  for (const DetailCase& damage : DetailCases()) {
    SCOPED_TRACE(damage.name);
    TemporaryDirectory directory;
    MakeStore(directory / "db");
    ASSERT_OK(MeetThroughStore(directory / "db"));
    damage.damage(directory / "db");
    const Status status = MeetThroughStore(directory / "db");
    EXPECT_CODE(status, Code::kDataLoss);
    EXPECT_EQ(status.detail(), damage.detail) << status.ToString();
    EXPECT_TRUE(status.file().ends_with(damage.ending)) << status.ToString();
    EXPECT_TRUE(status.offset() >= 0 || damage.detail == Detail::kMissing) << status.ToString();

    const abi_test::Outcome outcome = MeetThroughC(directory / "db");
    EXPECT_EQ(outcome.status, PIGMENT_DATA_LOSS) << outcome;
    EXPECT_EQ(outcome.detail, static_cast<int32_t>(damage.detail)) << outcome;
    EXPECT_EQ(outcome.file, status.file());
    EXPECT_EQ(outcome.offset, status.offset());
    ++met[status.detail()];
  }
  for (int detail = 1; detail <= 7; ++detail)
    EXPECT_GT(met[static_cast<Detail>(detail)], 0) << "detail " << detail << " was not met";
}

// What is made under a temporary name: the catalog's snapshot and its edits, log files.
TEST(DetailCodes, ATemporaryFileThatCannotBeMadeIsNamed) {
  for (const int error : {ENOSPC, EDQUOT, EROFS}) {
    for (const FileOperation operation : {FileOperation::kCreate, FileOperation::kWrite}) {
      SCOPED_TRACE(std::to_string(error) + " at " +
                   std::to_string(static_cast<uint32_t>(operation)));
      MemoryFileSystem files(MemoryFileSystem::Kind::kSimulated);
      const auto store = Store::Open("db", DeterministicOptions(), &files).value();
      ASSERT_OK(store->CreateCollection(EntryNamed("docs")));
      files.SetFault(FileFault{.operations = static_cast<uint32_t>(operation),
                               .forever = true,
                               .error_number = error});
      const Status status = store->catalog().value()->Checkpoint();
      const bool is_full = error != EROFS;
      EXPECT_CODE(status, is_full ? Code::kResourceExhausted : Code::kPermissionDenied);
      EXPECT_EQ(status.detail(), is_full ? Detail::kDiskFull : Detail::kNone);
      EXPECT_TRUE(status.file().ends_with(".tmp")) << status.ToString();
      EXPECT_NE(status.message().find(status.file()), std::string::npos) << status.ToString();
      files.SetFault(std::nullopt);
      EXPECT_OK(store->catalog().value()->Checkpoint());
      EXPECT_OK(store->Close());
    }
  }
}

}  // namespace
}  // namespace pigment
