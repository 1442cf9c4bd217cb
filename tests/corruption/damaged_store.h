// SPDX-License-Identifier: Apache-2.0
//
// Small stores whose files a test damages, and the question that it then asks: is the damage found,
// or do all answers stay what they were? Header only; one thread.

#pragma once

#include <xxhash.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/corruption/allocated_bytes.h"
#include "tests/support/store_state.h"

namespace pigment {

// ---- What a store answers
// ------------------------------------------------------------------------

class AnswerHash {
 public:
  void Add(std::string_view bytes) {
    value_ = XXH3_64bits_withSeed(bytes.data(), bytes.size(), value_ + bytes.size());
  }
  template <typename T>
  void Add(const std::vector<T>& values) {
    Add({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }
  void Add(const TextColumn& column) {
    Add(column.offsets);
    Add(column.bytes);
    Add(column.validity);
  }
  void Add(const ResultSet& result) {
    Add(result.query_offsets);
    for (const auto* column : {&result.ids, &result.documents, &result.metadatas, &result.uris})
      Add(*column);
    Add(result.distances);
    Add(result.embeddings);
  }
  uint64_t Value() const { return value_; }

 private:
  uint64_t value_ = 0;
};

inline Status HashCollection(const Version& version, AnswerHash& hash) {
  GetRequest get;
  get.read.include = {true, true, true, true, false};
  PIGMENT_ASSIGN_OR_RETURN(const ResultSet rows, Get(version, get));
  hash.Add(rows);
  static const auto filter =
      Filter::Parse(R"({"a":{"$in":[1,2,3]}})", R"({"$not_contains":"blue"})").value();
  get.read.filter = filter;
  PIGMENT_ASSIGN_OR_RETURN(const ResultSet filtered, Get(version, get));
  hash.Add(filtered);
  QueryRequest query;
  const std::vector<float> vector(version.dimension, 0.5f);
  query.embeddings = vector;
  query.queries = vector.empty() ? 0 : 1;
  query.dimension = version.dimension;
  query.k = 7;
  query.read.include = {true, true, true, true, true};
  PIGMENT_ASSIGN_OR_RETURN(const ResultSet nearest, Query(version, query));
  hash.Add(nearest);
  return Status::Ok();
}

inline Status VerifyCollection(const Version& version) {
  for (const SegmentView& view : version.segments) PIGMENT_RETURN_IF_ERROR(view.segment->Verify());
  return Status::Ok();
}

// Everything that can be asked: the catalog, all records, a filter, a search, the check of each
// segment. Reading first or checking first, so that neither shields the other from damage.
inline Result<uint64_t> HashOfStore(Store& store, bool verifies_first) {
  AnswerHash hash;
  PIGMENT_ASSIGN_OR_RETURN(Catalog* const catalog, store.catalog());
  for (const std::string& tenant : catalog->ListTenants()) {
    hash.Add(tenant);
    PIGMENT_ASSIGN_OR_RETURN(const auto databases, catalog->ListDatabases(tenant));
    for (const auto& database : databases) {
      hash.Add(database.name);
      PIGMENT_ASSIGN_OR_RETURN(auto collections, catalog->ListCollections(tenant, database.name));
      std::sort(collections.begin(), collections.end(),
                [](const auto& a, const auto& b) { return a.name < b.name; });
      for (const CollectionEntry& entry : collections) {
        hash.Add(entry.name);
        hash.Add(entry.metadata ? MetadataToJson(*entry.metadata) : "none");
        PIGMENT_ASSIGN_OR_RETURN(const auto collection, store.GetCollectionById(entry.id));
        PIGMENT_ASSIGN_OR_RETURN(const auto version, collection->Pin());
        if (verifies_first) PIGMENT_RETURN_IF_ERROR(VerifyCollection(*version));
        PIGMENT_RETURN_IF_ERROR(HashCollection(*version, hash));
        if (!verifies_first) PIGMENT_RETURN_IF_ERROR(VerifyCollection(*version));
      }
    }
  }
  return hash.Value();
}

// ---- Stores to damage
// ----------------------------------------------------------------------------

// Without a reserve, of which nothing is ever read.
inline StoreOptions DamagedOptions() {
  StoreOptions options = DeterministicOptions();
  options.reserve_bytes = 0;
  return options;
}

// Writes to a store that the test then takes the files of.
class FixtureMaker {
 public:
  explicit FixtureMaker(uint64_t seed, const StoreOptions& options = DamagedOptions())
      : options_(options), maker_(seed, 4, 24) {
    Open();
  }

  void Open() { store_ = Store::Open("db", options_, &files_).value(); }
  void Close() { EXPECT_OK(std::exchange(store_, nullptr)->Close()); }
  // As a killed process leaves it.
  void Kill() {
    files_.CutPower({.keep = PowerCut::Keep::kEverything});
    store_.reset();
  }
  std::shared_ptr<Collection> Get(const std::string& name) {
    auto found = store_->GetCollection({}, name);
    if (!found.ok()) found = store_->CreateCollection(EntryNamed(name, Metric::kCosine));
    return found.value();
  }
  void Write(const std::string& name, int batches) {
    for (int i = 0; i < batches; ++i) EXPECT_OK(Get(name)->Write(maker_.Batch(8)));
  }
  // Whatever the batches left.
  void WriteSome(const std::string& name, int records) {
    WriteBatch batch;
    batch.kind = WriteKind::kUpsert;
    batch.dimension = 4;
    for (int i = 0; i < records; ++i) {
      batch.ids.push_back(maker_.Id() + "-" + std::to_string(i));
      for (const float number : maker_.Vector()) batch.embeddings.push_back(number);
    }
    EXPECT_OK(Get(name)->Write(batch));
  }
  void Erase(const std::string& name, int records) {
    WriteBatch batch;
    batch.kind = WriteKind::kDelete;
    GetRequest all;
    all.limit = static_cast<uint64_t>(records);
    const auto select = [&] { return SelectIds(*Get(name)->Pin().value(), all).value(); };
    batch.ids = select();
    if (batch.ids.size() < static_cast<size_t>(records)) {
      WriteSome(name, records);
      batch.ids = select();
    }
    EXPECT_EQ(batch.ids.size(), static_cast<size_t>(records));
    EXPECT_OK(Get(name)->Write(batch));
  }
  void Flush(const std::string& name) { EXPECT_OK(Get(name)->Flush()); }
  void Note(const std::string& name, int64_t number) {
    EXPECT_OK(store_->ModifyCollection(Get(name)->entry().id, [&](CollectionEntry& entry) {
      entry.metadata = Metadata{{"number", number}};
      return Status::Ok();
    }));
  }
  void Checkpoint() { EXPECT_OK(store_->catalog().value()->Checkpoint()); }
  StoreImage Image() { return CaptureImage(files_, "db"); }
  Store& store() { return *store_; }

 private:
  MemoryFileSystem files_{MemoryFileSystem::Kind::kSimulated};
  StoreOptions options_;
  BatchMaker maker_;
  std::shared_ptr<Store> store_;
};

struct DamageFixture {
  std::string name;
  StoreImage image{};
  StoreImage older{};  // the same store at an earlier time
  uint64_t answers = 0;
  // A store that was not closed. What its log or its edits say last may never have been
  // acknowledged, as far as anybody can tell afterwards: the answers without the last one, two,
  // three … of either.
  std::vector<uint64_t> answers_before{};
  std::vector<uint64_t> answers_before_last{};  // without exactly one
};

inline uint64_t AnswersOf(const StoreImage& image) {
  MemoryFileSystem files;
  RestoreImage(image, files);
  const auto store = Store::Open("db", DamagedOptions(), &files).value();
  return HashOfStore(*store, true).value();
}

// Closed in good order: a catalog, a log, a segment with deletions.
inline DamageFixture ClosedFixture(uint64_t seed) {
  FixtureMaker maker(seed);
  DamageFixture fixture{.name = "closed"};
  maker.Write("docs", 6);
  maker.Note("docs", 1);
  maker.Flush("docs");
  maker.Note("empty", 1);
  maker.Close();
  fixture.older = maker.Image();
  maker.Open();
  maker.Erase("docs", 3);
  maker.Note("empty", 2);
  maker.Flush("docs");
  maker.Close();
  fixture.image = maker.Image();
  fixture.answers = AnswersOf(fixture.image);
  return fixture;
}

// Killed while it ran: edits, several log files, the last of them without an end.
inline DamageFixture KilledFixture(uint64_t seed) {
  FixtureMaker maker(seed);
  DamageFixture fixture{.name = "killed"};
  maker.Write("docs", 5);
  maker.Write("more", 3);
  maker.Note("docs", 1);
  maker.Close();
  maker.Open();
  std::vector<StoreImage> before_batch, before_edit;
  for (int i = 0; i < 7; ++i) {
    before_batch.push_back(maker.Image());
    maker.Write(i % 3 == 0 ? "more" : "docs", 1);
    before_edit.push_back(maker.Image());
    maker.Note("more", i);
  }
  fixture.older = before_batch[3];
  fixture.image = maker.Image();
  maker.Kill();
  fixture.answers = AnswersOf(fixture.image);
  const auto add = [&fixture](const std::vector<StoreImage>& images, std::string_view part) {
    for (const StoreImage& before : images) {
      StoreImage image = before;
      for (const auto& [path, bytes] : fixture.image) {
        if (path.find(part) == std::string::npos) image[path] = bytes;
      }
      fixture.answers_before.push_back(AnswersOf(image));
    }
    fixture.answers_before_last.push_back(fixture.answers_before.back());
  };
  add(before_batch, "/log/");
  add(before_edit, "/CATALOG");
  return fixture;
}

// Cold collections on a shelf, one of them with a segment besides.
inline DamageFixture ShelvedFixture(uint64_t seed) {
  StoreOptions options = DamagedOptions();
  options.log_file_bytes_max = 900;  // then a close shelves what is small
  FixtureMaker maker(seed, options);
  DamageFixture fixture{.name = "shelved"};
  maker.WriteSome("cold", 3);
  maker.Write("docs", 3);
  maker.Flush("docs");
  maker.Close();
  fixture.older = maker.Image();
  maker.Open();
  maker.Erase("docs", 2);
  maker.WriteSome("docs", 2);
  maker.Write("cold", 2);
  maker.Close();
  fixture.image = maker.Image();
  fixture.answers = AnswersOf(fixture.image);
  return fixture;
}

// `image` as a process leaves it that dies in a merge of `name` whose output is durable, with its
// name, and nobody's yet.
inline StoreImage DiedInCompaction(const StoreImage& image, const std::string& name) {
  for (uint64_t at = 1;; ++at) {
    MemoryFileSystem files{MemoryFileSystem::Kind::kSimulated};
    RestoreImage(image, files);
    auto store = Store::Open("db", DamagedOptions(), &files).value();
    const auto collection = store->GetCollection({}, name).value();
    files.StartTrace();
    files.StopAt(at);
    EXPECT_FALSE(collection->Compact().ok()) << "and never made its names durable";
    const std::vector<std::string> trace = files.TakeTrace();
    files.CutPower({.keep = PowerCut::Keep::kEverything});
    store.reset();
    if (!trace.empty() && trace.back() == "syncdir db/segments") return CaptureImage(files, "db");
    if (testing::Test::HasFailure()) return image;
  }
}

// Two segments with deletions, and what a merge of them left behind.
inline DamageFixture MergingFixture(uint64_t seed) {
  FixtureMaker maker(seed);
  DamageFixture fixture{.name = "merging"};
  maker.WriteSome("docs", 20);
  maker.Flush("docs");
  maker.WriteSome("docs", 4);
  maker.Flush("docs");
  maker.Erase("docs", 2);  // too few for a merge to be due
  maker.Flush("docs");
  maker.Close();
  fixture.older = maker.Image();
  fixture.image = DiedInCompaction(fixture.older, "docs");
  fixture.answers = AnswersOf(fixture.image);
  EXPECT_EQ(fixture.answers, AnswersOf(fixture.older));
  return fixture;
}

inline uint64_t FilesThatEndIn(const StoreImage& image, std::string_view ending) {
  return static_cast<uint64_t>(std::count_if(
      image.begin(), image.end(), [&](const auto& file) { return file.first.ends_with(ending); }));
}

// At least 64 KiB of stores, and every kind of file among them.
inline std::vector<DamageFixture> DamageFixtures(uint64_t round) {
  constexpr uint64_t kBytesMin = 65536;
  std::vector<DamageFixture> fixtures{KilledFixture(1000 * round), ShelvedFixture(1000 * round + 1),
                                      MergingFixture(1000 * round + 2)};
  EXPECT_GE(FilesThatEndIn(fixtures[0].image, ".log"), 2u);
  EXPECT_GE(FilesThatEndIn(fixtures[1].image, ".shelf"), 1u);
  EXPECT_EQ(FilesThatEndIn(fixtures[2].image, ".seg"), 3u);
  EXPECT_GE(FilesThatEndIn(fixtures[2].image, ".del"), 1u);
  const auto bytes = [&fixtures] {
    uint64_t sum = 0;
    for (const DamageFixture& fixture : fixtures) {
      for (const auto& [path, contents] : fixture.image) sum += contents.size();
    }
    return sum;
  };
  while (bytes() < kBytesMin) fixtures.push_back(ClosedFixture(1000 * round + fixtures.size()));
  return fixtures;
}

}  // namespace pigment
