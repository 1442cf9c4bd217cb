// SPDX-License-Identifier: Apache-2.0
//
// add, update and upsert of a stream of Arrow's record batches: each batch becomes the columns that
// WriteRecords takes. Whatever is wrong, the stream, its schema and each of its arrays are released
// once. No lock is held while a callback of the stream runs.

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "c_api/arrow_column.h"
#include "c_api/arrow_metadata.h"
#include "c_api/read.h"
#include "c_api/write.h"
#include "engine/record/text.h"

namespace pigment::abi {
namespace {

// Something of the interface that must be released; zeroed there is nothing to release.
template <typename T>
class Owned {
 public:
  Owned() = default;
  ~Owned() {
    if (held_.release != nullptr) held_.release(&held_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  // What `from` points at is a released struct afterwards. REQUIRES: nothing is held yet.
  void Take(T* from) {
    held_ = *from;
    from->release = nullptr;
  }
  T* get() { return &held_; }
  bool is_released() const { return held_.release == nullptr; }

 private:
  T held_{};
};

Status StreamFailed(ArrowArrayStream* stream, int number) {
  std::string message = "the Arrow stream failed with errno " + std::to_string(number) + " (" +
                        std::generic_category().message(number) + ")";
  const char* said = stream->get_last_error != nullptr ? stream->get_last_error(stream) : nullptr;
  if (said != nullptr) message += std::string(": ") + said;
  if (number == ENOMEM) return ResourceExhausted(Detail::kMemory, std::move(message));
  return InvalidArgument(std::move(message));
}

Status CheckStream(Owned<ArrowArrayStream>& stream) {
  if (stream.is_released()) return InvalidArgument("argument stream was released");
  return CheckNotNull(
      {{reinterpret_cast<const void*>(stream.get()->get_schema), "stream.get_schema"},
       {reinterpret_cast<const void*>(stream.get()->get_next), "stream.get_next"}});
}

// ---- Schema

enum Role : size_t { kId, kEmbedding, kDocument, kMetadata, kUri, kRoles };
constexpr std::array<std::string_view, kRoles> kNames = {"id", "embedding", "document", "metadata",
                                                         "uri"};

// The columns of a stream, and where those that a record has are among them.
struct BatchField {
  ArrowField batch;
  std::array<std::optional<size_t>, kRoles> places;
};

bool IsEmbeddingItem(ArrowType type) {
  return type == ArrowType::kHalf || type == ArrowType::kFloat || type == ArrowType::kDouble ||
         type == ArrowType::kInt32 || type == ArrowType::kInt64;
}

Status CheckType(Role role, const ArrowField& field) {
  if (field.type == ArrowType::kNull && role != kId) return Status::Ok();
  switch (role) {
    case kId:
    case kUri:
      if (IsText(field.type)) return Status::Ok();
      return RefuseColumn(field, "must be a text");
    case kDocument:
      if (IsText(field.type) || IsBytes(field.type)) return Status::Ok();
      return RefuseColumn(field, "must be a text or bytes");
    case kEmbedding:
      if (IsList(field.type) && IsEmbeddingItem(field.children[0].type)) return Status::Ok();
      return RefuseColumn(field, "must be a list of floats, or of integers of 32 or 64 bits");
    case kMetadata:
      if (IsText(field.type)) return Status::Ok();
      if (field.type == ArrowType::kStruct) return CheckMetadataFields(field);
      return RefuseColumn(field, "must be JSON text or a struct");
    case kRoles:
      break;
  }
  return Status::Ok();
}

Result<Role> RoleOf(const ArrowSchema* column, size_t number) {
  if (column == nullptr || column->name == nullptr)
    return InvalidArgument("column " + std::to_string(number) + " of the stream has no name");
  const auto found = std::find(kNames.begin(), kNames.end(), std::string_view(column->name));
  if (found != kNames.end()) return static_cast<Role>(found - kNames.begin());
  return InvalidArgument("column " + Quoted(column->name) +
                         " is none that a record has: id, embedding, document, metadata, uri")
      .WithHint("leave it out, or make it a field of a struct column metadata");
}

Result<BatchField> ReadBatchField(const ArrowSchema& schema) {
  if (schema.format == nullptr || std::string_view(schema.format) != "+s") {
    return InvalidArgument("a stream of record batches has the Arrow format \"+s\", got " +
                           (schema.format != nullptr ? Quoted(schema.format) : "NULL"));
  }
  if (schema.n_children < 0 || (schema.n_children > 0 && schema.children == nullptr)) {
    return InvalidArgument("the schema of the stream has " + std::to_string(schema.n_children) +
                           " columns that are not there");
  }
  BatchField field;
  field.batch.format = schema.format;
  for (size_t i = 0; i < static_cast<size_t>(schema.n_children); ++i) {
    PIGMENT_ASSIGN_OR_RETURN(const Role role, RoleOf(schema.children[i], i));
    PIGMENT_ASSIGN_OR_RETURN(ArrowField column,
                             ReadArrowField(schema.children[i], std::string(kNames[role])));
    if (field.places[role]) return RefuseColumn(column, "is there twice");
    PIGMENT_RETURN_IF_ERROR(CheckType(role, column));
    field.places[role] = i;
    field.batch.children.push_back(std::move(column));
  }
  if (!field.places[kId]) return InvalidArgument("the stream has no column \"id\"");
  return field;
}

Result<BatchField> ReadStreamField(ArrowArrayStream* stream) {
  Owned<ArrowSchema> schema;
  const int failed = stream->get_schema(stream, schema.get());
  if (failed != 0) return StreamFailed(stream, failed);
  if (schema.is_released()) return InvalidArgument("the Arrow stream gave no schema");
  return ReadBatchField(*schema.get());
}

// ---- Batches

// Texts one after another, as the interface has them.
class TextBuilder {
 public:
  void Add(std::optional<std::string_view> text) {
    const size_t row = offsets_.size() - 1;
    if (row % 8 == 0) validity_.push_back(0);
    if (text) {
      validity_.back() = static_cast<uint8_t>(validity_.back() | 1u << (row % 8));
      bytes_ += *text;
    }
    offsets_.push_back(static_cast<int64_t>(bytes_.size()));
  }
  // Until the next Add; absent when nothing was ever added.
  pigment_text_column column() const {
    if (offsets_.size() == 1) return {};
    return {offsets_.data(), bytes_.data(), validity_.data()};
  }

 private:
  std::vector<int64_t> offsets_{0};
  std::string bytes_;
  std::vector<uint8_t> validity_;
};

Result<TextBuilder> ReadTexts(const ArrowColumn& column) {
  TextBuilder texts;
  const bool is_struct = column.field().type == ArrowType::kStruct;
  for (int64_t row = 0; row < column.rows(); ++row) {
    if (is_struct) {
      PIGMENT_ASSIGN_OR_RETURN(const auto json, MetadataJson(column, row));
      texts.Add(json);
    } else {
      texts.Add(column.has(row) ? std::optional(column.Text(row)) : std::nullopt);
    }
  }
  return texts;
}

struct Element {
  int32_t dtype;
  size_t size;
};
Element ElementOf(ArrowType type) {
  if (type == ArrowType::kHalf) return {PIGMENT_F16, 2};
  if (type == ArrowType::kDouble) return {PIGMENT_F64, 8};
  if (type == ArrowType::kInt32) return {PIGMENT_I32, 4};
  if (type == ArrowType::kInt64) return {PIGMENT_I64, 8};
  return {PIGMENT_F32, 4};
}

// The matrix as it lies in the array: rows of a list follow one another. REQUIRES: a row that is
// not null.
Result<pigment_vectors> ReadEmbeddings(const ArrowColumn& column) {
  for (int64_t row = 0; row < column.rows(); ++row) {
    if (!column.has(row))
      return RefuseColumn(column.field(), "is null beside rows that are not").WithRow(row);
  }
  const ArrowColumn::Range first = column.Items(0);
  const int64_t dimension = first.end - first.begin;
  for (int64_t row = 0; row < column.rows(); ++row) {
    const ArrowColumn::Range items = column.Items(row);
    if (items.end - items.begin != dimension) {
      return RefuseColumn(column.field(), "has " + std::to_string(items.end - items.begin) +
                                              " numbers after " + std::to_string(dimension))
          .WithRow(row);
    }
    if (!column.child(0).MayHaveNulls()) continue;
    for (int64_t item = items.begin; item < items.end; ++item) {
      if (!column.child(0).has(item))
        return RefuseColumn(column.field(), "has a number that is null").WithRow(row);
    }
  }
  const Element element = ElementOf(column.child(0).field().type);
  pigment_vectors vectors{};
  vectors.rows = static_cast<size_t>(column.rows());
  vectors.dimension = static_cast<size_t>(dimension);
  vectors.dtype = element.dtype;
  if (dimension != 0) vectors.data = column.child(0).Values(first.begin, element.size);
  return vectors;
}

Result<WriteOutcome> WriteArray(const WriteVerb& verb, const pigment_collection& collection,
                                const BatchField& field, const ArrowArray& array,
                                const CallContext& context) {
  PIGMENT_ASSIGN_OR_RETURN(const ArrowColumn batch,
                           ArrowColumn::Read(field.batch, &array, 0, array.length));
  if (batch.rows() == 0) return WriteOutcome{};
  for (int64_t row = 0; row < batch.rows(); ++row) {
    if (!batch.has(row)) return InvalidArgument("the batch has a null for a row").WithRow(row);
  }
  std::array<TextBuilder, kRoles> texts;
  pigment_records records{};
  records.count = static_cast<size_t>(batch.rows());
  for (size_t role = 0; role < kRoles; ++role) {
    if (!field.places[role]) continue;
    const ArrowColumn& column = batch.child(*field.places[role]);
    if (role != kId && column.HasNone()) continue;  // as if the column were not there
    if (role == kEmbedding) {
      PIGMENT_ASSIGN_OR_RETURN(records.embeddings, ReadEmbeddings(column));
    } else {
      PIGMENT_ASSIGN_OR_RETURN(texts[role], ReadTexts(column));
    }
  }
  records.ids = texts[kId].column();
  records.documents = texts[kDocument].column();
  records.metadatas = texts[kMetadata].column();
  records.uris = texts[kUri].column();
  return WriteRecords(verb, collection, records, context);
}

// ---- Calls

// `batch 2, row 5: ` before the message, all else as it is.
Status InBatch(const Status& status, uint64_t batch) {
  std::string message = "batch " + std::to_string(batch);
  if (status.row() >= 0) message += ", row " + std::to_string(status.row());
  message += ": " + status.message();
  Status placed = Status(status.code(), status.detail(), std::move(message))
                      .WithHint(status.hint())
                      .WithRow(status.row());
  if (status.file().empty()) return placed;
  return std::move(placed).WithFile(status.file(), status.offset());
}

void AddTo(WriteOutcome& sum, const WriteOutcome& outcome) {
  sum.counts.inserted += outcome.counts.inserted;
  sum.counts.updated += outcome.counts.updated;
  sum.counts.skipped += outcome.counts.skipped;
  sum.position = std::max(sum.position, outcome.position);
}

struct Progress {
  pigment_write_result* result;
  uint64_t* batches;
};

Status WriteStream(const WriteVerb& verb, const pigment_collection& collection,
                   ArrowArrayStream* stream, const CallContext& context, const Progress& progress) {
  PIGMENT_RETURN_IF_ERROR(PinCollection(collection, 0).status());
  PIGMENT_ASSIGN_OR_RETURN(const BatchField field, ReadStreamField(stream));
  WriteOutcome sum;
  for (uint64_t number = 0;; ++number) {
    PIGMENT_RETURN_IF_ERROR(context.control.Check());
    Owned<ArrowArray> array;
    const int failed = stream->get_next(stream, array.get());
    if (failed != 0) return InBatch(StreamFailed(stream, failed), number);
    if (array.is_released()) return Status::Ok();
    auto outcome = WriteArray(verb, collection, field, *array.get(), context);
    if (!outcome.ok()) return InBatch(outcome.status(), number);
    AddTo(sum, *outcome);
    GiveOutcome(sum, progress.result);
    if (progress.batches != nullptr) *progress.batches = number + 1;
  }
}

pigment_status WriteArrow(const WriteVerb& verb, pigment_collection* collection,
                          ArrowArrayStream* stream, const pigment_call_options* options,
                          const Progress& progress, pigment_error** error) {
  ClearWriteResult(progress.result);
  if (progress.batches != nullptr) *progress.batches = 0;
  Owned<ArrowArrayStream> owned;
  if (stream != nullptr) owned.Take(stream);
  return Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckHandle(collection, "collection"));
    PIGMENT_RETURN_IF_ERROR(CheckNotNull({{stream, "stream"}}));
    PIGMENT_RETURN_IF_ERROR(CheckStream(owned));
    PIGMENT_ASSIGN_OR_RETURN(const CallContext context, ReadCallOptions(options));
    PIGMENT_RETURN_IF_ERROR(CheckWriteResult(progress.result));
    return WriteStream(verb, *collection, owned.get(), context, progress);
  });
}

}  // namespace
}  // namespace pigment::abi

using pigment::WriteKind;
using pigment::abi::WriteArrow;

pigment_status pigment_collection_add_arrow(pigment_collection* collection,
                                            ArrowArrayStream* stream,
                                            const pigment_call_options* options,
                                            pigment_write_result* result, uint64_t* batches,
                                            pigment_error** error) {
  return WriteArrow({WriteKind::kAdd, "add"}, collection, stream, options, {result, batches},
                    error);
}

pigment_status pigment_collection_update_arrow(pigment_collection* collection,
                                               ArrowArrayStream* stream,
                                               const pigment_call_options* options,
                                               pigment_write_result* result, uint64_t* batches,
                                               pigment_error** error) {
  return WriteArrow({WriteKind::kUpdate, "update"}, collection, stream, options, {result, batches},
                    error);
}

pigment_status pigment_collection_upsert_arrow(pigment_collection* collection,
                                               ArrowArrayStream* stream,
                                               const pigment_call_options* options,
                                               pigment_write_result* result, uint64_t* batches,
                                               pigment_error** error) {
  return WriteArrow({WriteKind::kUpsert, "upsert"}, collection, stream, options, {result, batches},
                    error);
}
