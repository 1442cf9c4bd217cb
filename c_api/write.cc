// SPDX-License-Identifier: Apache-2.0
//
// add, update, upsert and delete: a caller's columns become one validated batch. The order of
// validation: pointers and struct sizes, filters (delete), collection, dimension, then ids,
// lengths, bytes, what to embed, vectors, metadatas, other columns, embedding function.

#include "c_api/write.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c_api/read.h"
#include "engine/record/batch_bytes.h"
#include "engine/record/validate.h"

namespace pigment::abi {
namespace {

Result<std::vector<std::optional<std::string>>> CopyOptionalTexts(const TextColumnView& column) {
  std::vector<std::optional<std::string>> texts;
  if (!column.given()) return texts;
  texts.reserve(column.size());
  for (size_t row = 0; row < column.size(); ++row) {
    texts.push_back(column.has(row) ? std::optional<std::string>(column[row]) : std::nullopt);
  }
  return texts;
}

Result<std::vector<std::optional<Metadata>>> ReadMetadatas(const TextColumnView& column,
                                                           MetadataUse use, MetadataShape shape) {
  std::vector<std::optional<Metadata>> metadatas;
  if (!column.given()) return metadatas;
  metadatas.reserve(column.size());
  uint64_t bytes = 0;
  for (size_t row = 0; row < column.size(); ++row) {
    metadatas.emplace_back();
    if (!column.has(row)) continue;
    bool present = false;
    auto metadata = ParseMetadataJson(column[row], use, &present, shape);
    if (!metadata.ok()) return metadata.status().WithRow(static_cast<int64_t>(row));
    if (!present) continue;
    // Nested metadata is larger than its JSON, so it is counted as it comes.
    if (shape == MetadataShape::kNested) {
      bytes += EncodedBytes(*metadata);
      PIGMENT_RETURN_IF_ERROR(CheckBatchBytes(bytes));
    }
    metadatas.back() = *std::move(metadata);
  }
  return metadatas;
}

bool HasEmbeddings(const pigment_records& records) {
  return records.embeddings.data != nullptr || records.embeddings.rows != 0;
}

Status CheckLengths(const pigment_records& records) {
  if (!HasEmbeddings(records)) return Status::Ok();
  if (records.embeddings.rows == 0) {
    return InvalidArgument("expected embeddings to be a non-empty list, got 0 rows");
  }
  if (records.embeddings.rows == records.count) return Status::Ok();
  return InvalidArgument("unequal lengths for fields: ids: " + std::to_string(records.count) +
                         ", embeddings: " + std::to_string(records.embeddings.rows));
}

struct BatchColumns {
  TextColumnView documents;
  TextColumnView metadatas;
  TextColumnView uris;
};

Result<BatchColumns> ReadBatchColumns(const pigment_records& records) {
  BatchColumns columns;
  PIGMENT_ASSIGN_OR_RETURN(columns.documents, ReadTextColumn(records.documents, records.count,
                                                             "documents", TextKind::kBytes));
  PIGMENT_ASSIGN_OR_RETURN(columns.metadatas, ReadTextColumn(records.metadatas, records.count,
                                                             "metadatas", TextKind::kUtf8));
  PIGMENT_ASSIGN_OR_RETURN(columns.uris,
                           ReadTextColumn(records.uris, records.count, "uris", TextKind::kUtf8));
  return columns;
}

// What is too large for the log is refused before it is copied. Flat metadata is smaller there than
// as JSON, so the engine looks at it.
Status CheckBytes(const pigment_records& records, const TextColumnView& ids,
                  const BatchColumns& columns) {
  const uint64_t vectors = records.embeddings.rows * records.embeddings.dimension * sizeof(float);
  return CheckBatchBytes(ids.bytes() + columns.documents.bytes() + columns.uris.bytes() + vectors);
}

// Whether documents must be embedded; what cannot be is refused.
Result<bool> NeedsEmbedding(WriteKind kind, const pigment_records& records,
                            const TextColumnView& documents) {
  if (HasEmbeddings(records)) return false;
  if (!documents.given()) {
    if (kind == WriteKind::kUpdate) return false;
    return InvalidArgument("nothing to embed: embeddings or documents must be provided");
  }
  const Status all = CheckAllPresent(documents, "documents");
  if (!all.ok())
    return Status(all).WithHint("a document may be absent only where embeddings are given");
  return true;
}

// Everything that is checked once collection and dimension are right.
Result<WriteBatch> BuildBatch(const WriteVerb& verb, const pigment_collection& collection,
                              const Version& version, const pigment_records& records,
                              const CallContext& context) {
  WriteBatch batch;
  batch.kind = verb.kind;
  PIGMENT_ASSIGN_OR_RETURN(const TextColumnView ids, ReadTextColumn(records.ids, records.count,
                                                                    "ids", TextKind::kUtf8, true));
  PIGMENT_RETURN_IF_ERROR(CheckAllPresent(ids, "ids"));
  batch.ids = CopyTexts(ids);
  PIGMENT_RETURN_IF_ERROR(CheckIds(batch.ids, verb.word));
  PIGMENT_RETURN_IF_ERROR(CheckLengths(records));
  PIGMENT_ASSIGN_OR_RETURN(const BatchColumns columns, ReadBatchColumns(records));
  PIGMENT_RETURN_IF_ERROR(CheckBytes(records, ids, columns));
  PIGMENT_ASSIGN_OR_RETURN(const bool embeds,
                           NeedsEmbedding(verb.kind, records, columns.documents));
  if (HasEmbeddings(records)) {
    PIGMENT_ASSIGN_OR_RETURN(batch.embeddings, ReadVectors(records.embeddings, "embeddings"));
    batch.dimension = static_cast<uint32_t>(records.embeddings.dimension);
  }
  const bool is_add = verb.kind == WriteKind::kAdd;
  PIGMENT_ASSIGN_OR_RETURN(
      batch.metadatas,
      ReadMetadatas(columns.metadatas, is_add ? MetadataUse::kNewRecord : MetadataUse::kMergeRecord,
                    version.nested_metadata ? MetadataShape::kNested : MetadataShape::kFlat));
  PIGMENT_ASSIGN_OR_RETURN(batch.documents, CopyOptionalTexts(columns.documents));
  PIGMENT_ASSIGN_OR_RETURN(batch.uris, CopyOptionalTexts(columns.uris));
  if (embeds) {
    if (!collection.function) return NoEmbeddingFunction(collection);
    PIGMENT_RETURN_IF_ERROR(context.control.Check());
    PIGMENT_ASSIGN_OR_RETURN(Embedded embedded,
                             collection.function->Embed(PIGMENT_EMBED_DOCUMENT, columns.documents));
    PIGMENT_RETURN_IF_ERROR(CheckFunctionDimension(collection, version, embedded));
    batch.embeddings = std::move(embedded.values);
    batch.dimension = embedded.dimension;
  }
  return batch;
}

}  // namespace

void ClearWriteResult(pigment_write_result* result) {
  if (result != nullptr) WriteStruct(pigment_write_result{}, result);
}

Status CheckWriteResult(const pigment_write_result* result) {
  if (result == nullptr) return Status::Ok();
  return CheckStructSize(result->struct_size, sizeof *result, "result");
}

void GiveOutcome(const WriteOutcome& outcome, pigment_write_result* result) {
  if (result == nullptr) return;
  pigment_write_result filled{};
  filled.inserted = outcome.counts.inserted;
  filled.updated = outcome.counts.updated;
  filled.skipped = outcome.counts.skipped;
  filled.deleted = outcome.counts.deleted;
  filled.position = outcome.position;
  WriteStruct(filled, result);
}

Result<WriteOutcome> WriteRecords(const WriteVerb& verb, const pigment_collection& collection,
                                  const pigment_records& records, const CallContext& context) {
  PIGMENT_ASSIGN_OR_RETURN(Pinned pinned, PinCollection(collection, 0));
  PIGMENT_RETURN_IF_ERROR(
      CheckDimension(collection, *pinned.version, records.embeddings, "embeddings"));
  PIGMENT_ASSIGN_OR_RETURN(WriteBatch batch,
                           BuildBatch(verb, collection, *pinned.version, records, context));
  pinned.version.reset();
  PIGMENT_RETURN_IF_ERROR(context.control.Check());
  return collection.collection->Write(std::move(batch));
}

namespace {

pigment_status Write(const WriteVerb& verb, pigment_collection* collection,
                     const pigment_records* records, const pigment_call_options* options,
                     pigment_write_result* result, pigment_error** error) {
  return Call(
      error, [&] { ClearWriteResult(result); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(collection, "collection"));
        PIGMENT_ASSIGN_OR_RETURN(const pigment_records read, ReadStruct(records, "records"));
        PIGMENT_ASSIGN_OR_RETURN(const CallContext context, ReadCallOptions(options));
        PIGMENT_RETURN_IF_ERROR(CheckWriteResult(result));
        PIGMENT_ASSIGN_OR_RETURN(const WriteOutcome outcome,
                                 WriteRecords(verb, *collection, read, context));
        GiveOutcome(outcome, result);
        return Status::Ok();
      });
}

struct Deletion {
  std::optional<std::vector<std::string>> ids;
  std::shared_ptr<const Filter> filter;
  std::optional<uint64_t> limit;
};

Result<Deletion> ReadDeletion(const pigment_collection& collection,
                              const pigment_delete_request& read) {
  Deletion deletion;
  PIGMENT_ASSIGN_OR_RETURN(
      deletion.filter, ReadFilter({read.where_json, read.where_json_size, read.where_document_json,
                                   read.where_document_json_size}));
  PIGMENT_RETURN_IF_ERROR(PinCollection(collection, 0).status());
  PIGMENT_ASSIGN_OR_RETURN(deletion.ids, ReadIdList(read.ids, read.ids_count, "delete"));
  const bool filtered = !deletion.filter->matches_everything();
  if (!deletion.ids && !filtered) {
    return InvalidArgument("at least one of ids, where, or where_document must be provided");
  }
  if (IsTrue(read.has_limit)) {
    if (!filtered) {
      return InvalidArgument(
          "limit can only be specified when a where or where_document clause is provided");
    }
    if (read.limit < 0)
      return InvalidArgument("limit must not be negative, got " + std::to_string(read.limit));
    deletion.limit = static_cast<uint64_t>(read.limit);
  }
  return deletion;
}

Result<WriteOutcome> RunDeletion(const pigment_collection& collection, Deletion deletion,
                                 const CallContext& context) {
  PIGMENT_RETURN_IF_ERROR(context.control.Check());
  if (deletion.filter->matches_everything()) {
    WriteBatch batch;
    batch.kind = WriteKind::kDelete;
    batch.ids = *std::move(deletion.ids);
    return collection.collection->Write(std::move(batch));
  }
  if (deletion.limit == uint64_t{0}) return WriteOutcome{{}, collection.core->store().position()};
  GetRequest request;
  request.read.ids = std::move(deletion.ids);
  request.read.filter = std::move(deletion.filter);
  request.read.control = context.control;
  request.limit = deletion.limit;
  return collection.collection->DeleteSelected(
      [&request](const Version& version) { return SelectIds(version, request); });
}

}  // namespace
}  // namespace pigment::abi

using pigment::Status;
using pigment::WriteKind;

pigment_status pigment_collection_add(pigment_collection* collection,
                                      const pigment_records* records,
                                      const pigment_call_options* options,
                                      pigment_write_result* result, pigment_error** error) {
  return pigment::abi::Write({WriteKind::kAdd, "add"}, collection, records, options, result, error);
}

pigment_status pigment_collection_update(pigment_collection* collection,
                                         const pigment_records* records,
                                         const pigment_call_options* options,
                                         pigment_write_result* result, pigment_error** error) {
  return pigment::abi::Write({WriteKind::kUpdate, "update"}, collection, records, options, result,
                             error);
}

pigment_status pigment_collection_upsert(pigment_collection* collection,
                                         const pigment_records* records,
                                         const pigment_call_options* options,
                                         pigment_write_result* result, pigment_error** error) {
  return pigment::abi::Write({WriteKind::kUpsert, "upsert"}, collection, records, options, result,
                             error);
}

pigment_status pigment_collection_delete(pigment_collection* collection,
                                         const pigment_delete_request* request,
                                         const pigment_call_options* options,
                                         pigment_write_result* result, pigment_error** error) {
  return pigment::abi::Call(
      error, [&] { pigment::abi::ClearWriteResult(result); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(collection, "collection"));
        PIGMENT_ASSIGN_OR_RETURN(const pigment_delete_request read,
                                 pigment::abi::ReadStruct(request, "request"));
        PIGMENT_ASSIGN_OR_RETURN(const auto context, pigment::abi::ReadCallOptions(options));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckWriteResult(result));
        PIGMENT_ASSIGN_OR_RETURN(auto deletion, pigment::abi::ReadDeletion(*collection, read));
        PIGMENT_ASSIGN_OR_RETURN(
            const auto outcome,
            pigment::abi::RunDeletion(*collection, std::move(deletion), context));
        pigment::abi::GiveOutcome(outcome, result);
        return Status::Ok();
      });
}
