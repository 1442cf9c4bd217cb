// SPDX-License-Identifier: Apache-2.0
//
// StoreModel and StoreRun.

#include "tests/support/store_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/bytes.h"

namespace pigment {
namespace {

constexpr uint32_t kDimension = 2;
constexpr std::array<float, kDimension> kQuery = {0.5f, -0.25f};

const std::shared_ptr<const Filter>& TheFilter() {
  static const std::shared_ptr<const Filter> filter =
      Filter::Parse(std::string_view(R"({"a":{"$gte":1}})"), std::nullopt).value();
  return filter;
}

QueryRequest TheQuery() {
  QueryRequest request;
  request.embeddings = kQuery;
  request.queries = 1;
  request.dimension = kDimension;
  request.k = 3;
  request.read.include.distances = true;
  return request;
}

GetRequest EverythingRequest() {
  GetRequest request;
  request.read.include = {true, true, true, true, false};
  return request;
}

GetRequest FilterRequest() {
  GetRequest request;
  request.read.filter = TheFilter();
  return request;
}

void PutText(ByteWriter& writer, const std::optional<std::string>& text) {
  writer.Put(static_cast<uint8_t>(text.has_value()));
  if (text) writer.PutText(*text);
}

struct AnsweredRow {
  std::string id;
  std::optional<std::string> document, uri, metadata;
  std::span<const float> embedding;
};

void PutRow(ByteWriter& writer, const AnsweredRow& row) {
  writer.PutText(row.id);
  PutText(writer, row.document);
  PutText(writer, row.uri);
  PutText(writer, row.metadata);
  writer.PutBytes(std::as_bytes(row.embedding));
}

// A name that the map does not have: the prefix with a number.
template <typename Map>
std::string NewName(const Map& map, const char* prefix) {
  for (size_t number = map.size() + 1;; ++number) {
    std::string name = fmt::format("{}{}", prefix, number);
    if (!map.contains(name)) return name;
  }
}

std::string MetadataText(const std::optional<Metadata>& metadata) {
  return metadata ? MetadataToJson(*metadata) : "";
}

Status CheckVersion(const Version& version) {
  uint64_t live = 0;
  for (const SegmentView& view : version.segments) {
    PIGMENT_RETURN_IF_ERROR(view.segment->Verify());
    for (uint32_t row = 0; row < view.segment->info().rows; ++row) live += view.IsLive(row) ? 1 : 0;
  }
  for (uint32_t row = 0; row < version.tail.rows; ++row) live += version.tail.IsLive(row) ? 1 : 0;
  if (live == version.live_rows) return Status::Ok();
  return Internal(fmt::format("{} live rows are stated, {} are there", version.live_rows, live));
}

Status PutCollection(ByteWriter& writer, const CollectionEntry& entry, const Version& version,
                     bool verifies) {
  if (verifies) PIGMENT_RETURN_IF_ERROR(CheckVersion(version));
  writer.PutText(entry.name);
  writer.PutText(MetadataText(entry.metadata));
  PIGMENT_ASSIGN_OR_RETURN(const ResultSet all, Get(version, EverythingRequest()));
  writer.Put(all.query_offsets.back());
  for (size_t row = 0; row < all.query_offsets.back(); ++row) {
    PutRow(writer,
           {.id = TextAt(all.ids, row).value_or("?"),
            .document = TextAt(all.documents, row),
            .uri = TextAt(all.uris, row),
            .metadata = TextAt(all.metadatas, row),
            .embedding = std::span(all.embeddings).subspan(row * all.dimension, all.dimension)});
  }
  if (version.dimension != 0) {
    PIGMENT_ASSIGN_OR_RETURN(const ResultSet near, Query(version, TheQuery()));
    for (size_t row = 0; row < near.query_offsets.back(); ++row) {
      writer.PutText(TextAt(near.ids, row).value_or("?"));
      writer.Put(near.distances[row]);
    }
  }
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::string> ids, SelectIds(version, FilterRequest()));
  for (const std::string& id : ids) writer.PutText(id);
  return Status::Ok();
}

void PutCollection(ByteWriter& writer, const std::string& name,
                   const StoreModel::Collection& collection) {
  writer.PutText(name);
  writer.PutText(collection.metadata_json);
  const std::vector<const Record*> rows = collection.records.InOrder({});
  writer.Put(uint64_t{rows.size()});
  for (const Record* record : rows) {
    PutRow(writer, {.id = record->id,
                    .document = record->document,
                    .uri = record->uri,
                    .metadata = record->metadata ? std::optional(MetadataToJson(*record->metadata))
                                                 : std::nullopt,
                    .embedding = record->embedding});
  }
  if (collection.records.dimension() != 0) {
    for (const auto& [distance, record] : collection.records.Nearest(TheQuery(), 0)) {
      writer.PutText(record->id);
      writer.Put(distance);
    }
  }
  for (const Record* record : collection.records.InOrder(FilterRequest().read))
    writer.PutText(record->id);
}

}  // namespace

// ---- The model ---------------------------------------------------------------------------------

const Hash128& StoreModel::digest() const {
  if (!digest_) {
    std::string bytes;
    ByteWriter writer(&bytes);
    for (const auto& [name, collection] : collections) PutCollection(writer, name, collection);
    digest_ = Xxh3_128(AsBytes(bytes));
  }
  return *digest_;
}

std::string StoreModel::ToString() const {
  std::string text;
  for (const auto& [name, collection] : collections) {
    text += fmt::format("\"{}\" {} of", name, collection.metadata_json);
    for (const Record* record : collection.records.InOrder({})) text += " " + record->id;
    text += "; ";
  }
  return text.empty() ? "no collection" : text;
}

Result<Hash128> DigestOfStore(Store& store, bool verifies) {
  PIGMENT_ASSIGN_OR_RETURN(Catalog * catalog, store.catalog());
  std::vector<CollectionEntry> entries = catalog->AllCollections();
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  std::string bytes;
  ByteWriter writer(&bytes);
  for (const CollectionEntry& entry : entries) {
    PIGMENT_ASSIGN_OR_RETURN(const auto collection, store.GetCollectionById(entry.id));
    PIGMENT_ASSIGN_OR_RETURN(const auto version, collection->Pin());
    PIGMENT_RETURN_IF_ERROR(PutCollection(writer, entry, *version, verifies));
  }
  return Xxh3_128(AsBytes(bytes));
}

std::string DifferenceOfStore(Store& store, const StoreModel& model) {
  const Result<Catalog*> catalog = store.catalog();
  if (!catalog.ok()) return catalog.status().ToString();
  std::map<std::string, CollectionEntry> entries;
  for (CollectionEntry& entry : (*catalog)->AllCollections())
    entries.emplace(entry.name, std::move(entry));
  for (const auto& [name, collection] : model.collections) {
    const auto found = entries.find(name);
    if (found == entries.end()) return fmt::format("collection \"{}\" is not there", name);
    if (MetadataText(found->second.metadata) != collection.metadata_json) {
      return fmt::format("collection \"{}\" has metadata {}, not {}", name,
                         MetadataText(found->second.metadata), collection.metadata_json);
    }
    const auto handle = store.GetCollectionById(found->second.id);
    if (!handle.ok()) return handle.status().ToString();
    if (const std::string difference = DifferenceOfAll(**handle, collection.records);
        !difference.empty()) {
      return fmt::format("collection \"{}\": {}", name, difference);
    }
    entries.erase(found);
    if (collection.records.dimension() == 0) continue;
    const auto version = (*handle)->Pin();
    if (const std::string difference = DifferenceOfQuery(**version, collection.records, TheQuery());
        !difference.empty()) {
      return fmt::format("collection \"{}\": {}", name, difference);
    }
  }
  for (const auto& [name, entry] : entries) {
    if (!model.collections.contains(name))
      return fmt::format("collection \"{}\" is there and must not be", name);
  }
  return "";
}

const char* NameOf(StoreOperation operation) {
  switch (operation) {
    case StoreOperation::kAdd:
      return "add";
    case StoreOperation::kUpsert:
      return "upsert";
    case StoreOperation::kUpdate:
      return "update";
    case StoreOperation::kDelete:
      return "delete";
    case StoreOperation::kFlush:
      return "flush";
    case StoreOperation::kCompact:
      return "compact";
    case StoreOperation::kCompactBusy:
      return "compact while it is written to";
    case StoreOperation::kCreate:
      return "create";
    case StoreOperation::kRename:
      return "rename";
    case StoreOperation::kModify:
      return "modify";
    case StoreOperation::kDeleteCollection:
      return "delete collection";
    case StoreOperation::kFork:
      return "fork";
    case StoreOperation::kCheckpoint:
      return "checkpoint";
    case StoreOperation::kReopen:
      return "reopen";
    case StoreOperation::kKill:
      return "kill";
  }
  return "?";
}

std::string NameOf(const std::vector<StoreOperation>& operations) {
  std::string names;
  for (const StoreOperation operation : operations) {
    if (!names.empty()) names += ", ";
    names += NameOf(operation);
  }
  return names;
}

// ---- A run -------------------------------------------------------------------------------------

StoreRun::StoreRun(CrashFileSystem* files, const StoreOptions& options,
                   std::vector<StoreModelRef> candidates, uint64_t seed)
    : files_(files),
      options_(options),
      maker_(seed, kDimension, 8),
      models_(std::move(candidates)) {}

std::vector<StoreModelRef> StoreRun::Allowed() const { return models_; }

void StoreRun::Note(const std::string& what) {
  if (!points_.empty() && points_.back().trace_begin == files_->trace().size()) points_.pop_back();
  points_.push_back({files_->trace().size(), Allowed(), what});
}

std::string StoreRun::OpenUnread() {
  Note("open");
  Result<std::shared_ptr<Store>> store = Store::Open("db", options_, files_);
  if (!store.ok() && is_failure_tolerated_) {
    has_failed_ = true;
    store = Store::Open("db", options_, files_);  // the failure is over
  }
  if (!store.ok()) return "does not open: " + store.status().ToString();
  store_ = *std::move(store);
  return "";
}

std::string StoreRun::Open() {
  if (std::string error = OpenUnread(); !error.empty()) return error;
  if (files_->Lock("db/LOCK", "another").status().detail() != Detail::kLocked)
    return "is open for writing and may be opened by another process";
  const Result<Hash128> digest = DigestOfStore(*store_);
  if (!digest.ok()) return "opens and is damaged: " + digest.status().ToString();
  const auto found =
      std::find_if(models_.rbegin(), models_.rend(),
                   [&](const StoreModelRef& model) { return model->digest() == *digest; });
  if (found == models_.rend()) {
    std::string text = "is none of the states that it may be in:";
    for (const StoreModelRef& model : models_) {
      text += fmt::format("\n  not {}: {}", model->ToString(), DifferenceOfStore(*store_, *model));
    }
    return text;
  }
  models_ = {*found};
  if (opened_at_ == 0) opened_at_ = files_->trace().size();
  Note("opened");
  return "";
}

std::string StoreRun::Do(StoreOperation operation) {
  ++step_;
  const bool is_reopening =
      operation == StoreOperation::kReopen || operation == StoreOperation::kKill;
  if (is_reopening || has_failed_) {
    if (has_failed_) {
      if (std::string error = WriteAfterFailure(); !error.empty()) return error;
    }
    has_failed_ = false;
    if (operation == StoreOperation::kKill) {
      Kill();
    } else if (std::string error = Close(); !error.empty()) {
      return error;
    }
    // What is there is known: then nobody looks, so that collections stay unused until an operation
    // uses them.
    const bool is_known = !has_failed_ && models_.size() == 1;
    if (std::string error = is_known ? OpenUnread() : Open(); !error.empty()) return error;
    if (is_known) Note("opened");
    if (is_reopening) return "";
  }
  if (operation == StoreOperation::kCompactBusy) return CompactBusy();
  auto after = std::make_shared<StoreModel>();
  after->collections = models_.back()->collections;
  models_.push_back(after);
  Note(NameOf(operation));  // refers to the model that the operation changes now
  bool is_applicable = true;
  const Status status = Attempt(operation, after.get(), &is_applicable);
  if (!is_applicable) {
    models_.pop_back();
    Note("nothing to do");
    return "";
  }
  if (!status.ok()) {
    if (!is_failure_tolerated_)
      return fmt::format("{} fails: {}", NameOf(operation), status.ToString());
    has_failed_ = true;
    Note(fmt::format("{} failed", NameOf(operation)));
    return "";
  }
  // Without sync a batch promises nothing, and a new snapshot of the catalog nothing about batches.
  const bool is_promise =
      operation > StoreOperation::kDelete && operation != StoreOperation::kCheckpoint;
  if (options_.sync_mode == SyncMode::kFull || is_promise)
    models_.erase(models_.begin(), models_.end() - 1);
  Note(fmt::format("{} acknowledged", NameOf(operation)));
  return "";
}

// A store that failed takes no more writes; if it takes one all the same, that one is a promise
// like any other.
std::string StoreRun::WriteAfterFailure() {
  if (models_.back()->collections.empty()) return "";
  const std::string name = Largest(*models_.back());
  WriteBatch batch;
  batch.kind = WriteKind::kUpsert;
  batch.ids = {NewName(models_.back()->collections.at(name).records.records(), "after")};
  batch.dimension = kDimension;
  batch.embeddings.assign(kDimension, 1);
  std::vector<StoreModelRef> written;
  for (const StoreModelRef& model : models_) {
    auto after = std::make_shared<StoreModel>();
    after->collections = model->collections;
    if (after->collections.contains(name)) after->collections[name].records.Apply(batch);
    written.push_back(std::move(after));
  }
  const std::vector<StoreModelRef> before = models_;
  models_.insert(models_.end(), written.begin(), written.end());
  Note("a write after a failure");
  const auto collection = store_->GetCollection({}, name);
  if (!collection.ok() || !(*collection)->Write(std::move(batch)).ok()) return "";
  models_ = written;
  Note("a write after a failure acknowledged");
  return "";
}

// Also of what nobody has used so far, so that the next segment is that of a merge.
Status StoreRun::FlushEverything() {
  PIGMENT_ASSIGN_OR_RETURN(Catalog * catalog, store_->catalog());
  for (const CollectionEntry& entry : catalog->AllCollections()) {
    PIGMENT_ASSIGN_OR_RETURN(const auto collection, store_->GetCollectionById(entry.id));
    PIGMENT_RETURN_IF_ERROR(collection->Pin().status());
  }
  return store_->Flush();
}

std::string StoreRun::CompactBusy() {
  const Status flushed = FlushEverything();
  if (!flushed.ok()) {
    if (!is_failure_tolerated_) return "flush fails: " + flushed.ToString();
    has_failed_ = true;
    return "";
  }
  Note("flushed");
  std::string error;
  files_->OnSegment([&] {
    for (const StoreOperation operation : {StoreOperation::kDelete, StoreOperation::kUpsert,
                                           StoreOperation::kFlush, StoreOperation::kDelete}) {
      if (error.empty() && !has_failed_) error = Do(operation);
    }
  });
  const Status status = store_->Compact().status();
  files_->OnSegment(nullptr);
  if (!error.empty()) return error;
  if (!status.ok()) {
    if (!is_failure_tolerated_) return "compact fails: " + status.ToString();
    has_failed_ = true;
  }
  Note("compacted");
  return "";
}

void StoreRun::Kill() {
  files_->CutOff(true);
  store_.reset();
  files_->CutOff(false);
}

std::string StoreRun::Close() {
  if (!store_) return "";
  Note("close");
  const Status status = store_->Close();
  store_.reset();
  if (!status.ok()) {
    if (!is_failure_tolerated_) return "does not close: " + status.ToString();
    return "";
  }
  if (!is_failure_tolerated_) models_.erase(models_.begin(), models_.end() - 1);
  Note("closed");
  return "";
}

Status StoreRun::Attempt(StoreOperation operation, StoreModel* after, bool* is_applicable) {
  *is_applicable = true;
  if (operation == StoreOperation::kCreate) return Create(after);
  if (operation == StoreOperation::kFlush) return store_->Flush();
  if (operation == StoreOperation::kCompact) return store_->Compact().status();
  if (operation == StoreOperation::kCheckpoint) {
    PIGMENT_ASSIGN_OR_RETURN(Catalog * catalog, store_->catalog());
    return catalog->Checkpoint();
  }
  if (after->collections.empty()) {
    *is_applicable = false;
    return Status::Ok();
  }
  switch (operation) {
    case StoreOperation::kAdd:
      return Write(WriteKind::kAdd, after);
    case StoreOperation::kUpsert:
      return Write(WriteKind::kUpsert, after);
    case StoreOperation::kUpdate:
      return Write(WriteKind::kUpdate, after);
    case StoreOperation::kDelete:
      return Write(WriteKind::kDelete, after);
    case StoreOperation::kFork:
      return Fork(after);
    default:
      return Change(operation, after);
  }
}

// The collection with the most records.
std::string StoreRun::Largest(const StoreModel& model) const {
  const auto found = std::max_element(
      model.collections.begin(), model.collections.end(), [](const auto& a, const auto& b) {
        return a.second.records.records().size() < b.second.records.records().size();
      });
  return found->first;
}

// Adds and upserts go to the collection that this run made last, updates and deletions to the
// largest, so that forks and their sources go different ways.
Status StoreRun::Write(WriteKind kind, StoreModel* after) {
  const bool is_newest = kind == WriteKind::kAdd || kind == WriteKind::kUpsert;
  const std::string name =
      is_newest && after->collections.contains(newest_) ? newest_ : Largest(*after);
  CollectionModel& records = after->collections[name].records;
  WriteBatch batch = MakeBatch(kind, records);
  records.Apply(batch);
  PIGMENT_ASSIGN_OR_RETURN(const auto collection, store_->GetCollection({}, name));
  return collection->Write(std::move(batch)).status();
}

// Every batch changes two records at least, where there are any, so that half a batch shows.
WriteBatch StoreRun::MakeBatch(WriteKind kind, const CollectionModel& records) {
  WriteBatch batch;
  batch.kind = kind;
  std::vector<std::string> there;
  for (const Record* record : records.InOrder({})) there.push_back(record->id);
  const auto existing = [&] {
    const size_t at = maker_.Below(there.size());
    batch.ids.push_back(there[at]);
    there.erase(there.begin() + static_cast<ptrdiff_t>(at));
  };
  if (kind == WriteKind::kAdd || kind == WriteKind::kUpsert) {
    batch.ids = {NewName(records.records(), "x"), NewName(records.records(), "y")};
    if (!there.empty()) existing();
  } else {
    if (!there.empty()) existing();
    if (!there.empty()) existing();
    batch.ids.push_back("nobody");
  }
  if (kind == WriteKind::kDelete) return batch;
  if (kind != WriteKind::kUpdate || maker_.Chance(50)) {
    batch.dimension = kDimension;
    for (size_t row = 0; row < batch.ids.size(); ++row) {
      for (const float number : maker_.Vector()) batch.embeddings.push_back(number);
    }
  }
  for (size_t row = 0; row < batch.ids.size(); ++row) {
    batch.documents.push_back(maker_.Text());
    batch.metadatas.push_back(Metadata{{"a", static_cast<int64_t>(maker_.Below(4))},
                                       {"step", static_cast<int64_t>(step_)}});
  }
  return batch;
}

Status StoreRun::Create(StoreModel* after) {
  const std::string name = newest_ = NewName(after->collections, "n");
  // The first one made, and then every other, keeps its vectors in f16.
  const VectorElement element =
      after->collections.size() % 2 == 0 ? VectorElement::kF16 : VectorElement::kF32;
  after->collections[name].records = CollectionModel(element);
  return store_->CreateCollection(EntryNamed(name, Metric::kL2, element)).status();
}

Status StoreRun::Fork(StoreModel* after) {
  const std::string source = Largest(*after);
  const std::string name = newest_ = NewName(after->collections, "f");
  after->collections[name] = after->collections[source];
  PIGMENT_ASSIGN_OR_RETURN(const auto collection, store_->GetCollection({}, source));
  return store_->ForkCollection(collection->entry().id, name).status();
}

Status StoreRun::Change(StoreOperation operation, StoreModel* after) {
  const std::string name = Largest(*after);
  PIGMENT_ASSIGN_OR_RETURN(const auto collection, store_->GetCollection({}, name));
  const Uuid id = collection->entry().id;
  if (operation == StoreOperation::kRename) {
    const std::string renamed = NewName(after->collections, "r");
    auto node = after->collections.extract(name);
    node.key() = renamed;
    after->collections.insert(std::move(node));
    return store_->ModifyCollection(id, [&](CollectionEntry& entry) {
      entry.name = renamed;
      return Status::Ok();
    });
  }
  if (operation == StoreOperation::kModify) {
    const Metadata metadata{{"step", static_cast<int64_t>(step_)}};
    after->collections[name].metadata_json = MetadataToJson(metadata);
    return store_->ModifyCollection(id, [&](CollectionEntry& entry) {
      entry.metadata = metadata;
      return Status::Ok();
    });
  }
  after->collections.erase(name);
  return store_->DeleteCollection({}, name);
}

}  // namespace pigment
