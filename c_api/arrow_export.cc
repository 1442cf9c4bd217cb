// SPDX-License-Identifier: Apache-2.0
//
// A result as a stream of Arrow's C interface. Every array shares the ResultSet that it shows, so
// that whatever the consumer moves, keeps or releases, in whatever order and thread, what an array
// points at lives as long as the array. No exception leaves a callback.

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c_api/error.h"
#include "c_api/result.h"

namespace pigment::abi {
namespace {

// What a schema or an array stands on. Children that nobody moved away go with it.
template <typename T>
struct Family {
  explicit Family(size_t count) : children(count), pointers(count) {
    for (size_t i = 0; i < count; ++i) pointers[i] = &children[i];
  }
  ~Family() {
    for (T& child : children) {
      if (child.release != nullptr) child.release(&child);
    }
  }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  std::vector<T> children;  // zeroed until they are made
  std::vector<T*> pointers;
};

// ---- Schema

struct SchemaParts : Family<ArrowSchema> {
  using Family::Family;
  std::string format;
  std::string name;
  std::string metadata;
};

void ReleaseSchema(ArrowSchema* schema) {
  delete static_cast<SchemaParts*>(schema->private_data);
  schema->release = nullptr;
}

void GiveSchema(std::unique_ptr<SchemaParts> parts, bool nullable, ArrowSchema* out) {
  *out = ArrowSchema{};
  out->format = parts->format.c_str();
  out->name = parts->name.c_str();
  out->metadata = parts->metadata.empty() ? nullptr : parts->metadata.data();
  out->flags = nullable ? ARROW_FLAG_NULLABLE : 0;
  out->n_children = static_cast<int64_t>(parts->pointers.size());
  out->children = parts->pointers.data();
  out->release = ReleaseSchema;
  out->private_data = parts.release();
}

void AppendCounted(std::string_view text, std::string& out) {
  const auto size = static_cast<int32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += text;
}

// The metadata of a field whose texts are JSON, in the interface's encoding: a count, then keys and
// values with their sizes before them.
std::string JsonExtension() {
  const int32_t pairs = 2;
  std::string out(reinterpret_cast<const char*>(&pairs), sizeof pairs);
  AppendCounted("ARROW:extension:name", out);
  AppendCounted("arrow.json", out);
  AppendCounted("ARROW:extension:metadata", out);
  AppendCounted("", out);
  return out;
}

// ---- Columns of a result

enum class ColumnKind { kQuery, kTexts, kFloats, kLists };

struct Column {
  std::string_view name;
  ColumnKind kind;
  const TextColumn* texts = nullptr;
  const std::vector<float>* floats = nullptr;
  bool nullable = false;
  bool json = false;
};

std::vector<Column> Columns(const ResultSet& set, ResultKind kind) {
  std::vector<Column> columns;
  const auto add_texts = [&](std::string_view name, const TextColumn& texts, bool nullable,
                             bool json) {
    columns.push_back({name, ColumnKind::kTexts, &texts, nullptr, nullable, json});
  };
  const auto add_floats = [&](std::string_view name, const std::vector<float>& floats,
                              ColumnKind floats_kind) {
    columns.push_back({name, floats_kind, nullptr, &floats});
  };
  if (kind == ResultKind::kHits) columns.push_back({"query", ColumnKind::kQuery});
  add_texts("id", set.ids, false, false);
  if (set.included.documents) add_texts("document", set.documents, true, false);
  if (set.included.metadatas) add_texts("metadata", set.metadatas, true, true);
  if (set.included.uris) add_texts("uri", set.uris, true, false);
  if (!set.highlights.offsets.empty()) add_texts("highlights", set.highlights, false, true);
  if (set.included.distances) add_floats("distance", set.distances, ColumnKind::kFloats);
  if (set.has_scores) add_floats("score", set.scores, ColumnKind::kFloats);
  if (set.included.embeddings) add_floats("embedding", set.embeddings, ColumnKind::kLists);
  return columns;
}

std::string FormatOf(const Column& column, const ResultSet& set) {
  switch (column.kind) {
    case ColumnKind::kQuery:
      return "I";
    case ColumnKind::kTexts:
      return "U";
    case ColumnKind::kFloats:
      return "f";
    case ColumnKind::kLists:
      return "+w:" + std::to_string(set.dimension);
  }
  return {};
}

void GiveColumnSchema(const Column& column, const ResultSet& set, ArrowSchema* out) {
  const bool has_item = column.kind == ColumnKind::kLists;
  auto parts = std::make_unique<SchemaParts>(has_item ? 1 : 0);
  parts->format = FormatOf(column, set);
  parts->name = column.name;
  if (column.json) parts->metadata = JsonExtension();
  if (has_item) {
    auto item = std::make_unique<SchemaParts>(0);
    item->format = "f";
    item->name = "item";
    GiveSchema(std::move(item), false, &parts->children[0]);
  }
  GiveSchema(std::move(parts), column.nullable, out);
}

// ---- Arrays

struct ArrayParts : Family<ArrowArray> {
  using Family::Family;
  std::shared_ptr<const ResultSet> set;
  std::vector<uint32_t> queries;  // of the column of that name
  const void* buffers[3] = {nullptr, nullptr, nullptr};
};

void ReleaseArray(ArrowArray* array) {
  delete static_cast<ArrayParts*>(array->private_data);
  array->release = nullptr;
}

struct Rows {
  int64_t first;
  int64_t count;
};

void GiveArray(std::unique_ptr<ArrayParts> parts, Rows rows, int64_t buffers, ArrowArray* out) {
  *out = ArrowArray{};
  out->length = rows.count;
  out->null_count = parts->buffers[0] == nullptr ? 0 : -1;  // -1: not counted
  out->offset = rows.first;
  out->n_buffers = buffers;
  out->buffers = parts->buffers;
  out->n_children = static_cast<int64_t>(parts->pointers.size());
  out->children = parts->pointers.data();
  out->release = ReleaseArray;
  out->private_data = parts.release();
}

struct Batch {
  std::shared_ptr<const ResultSet> set;
  uint32_t query;
  Rows rows;
};

void GiveColumnArray(const Column& column, const Batch& batch, ArrowArray* out) {
  auto parts = std::make_unique<ArrayParts>(column.kind == ColumnKind::kLists ? 1 : 0);
  parts->set = batch.set;
  switch (column.kind) {
    case ColumnKind::kQuery:
      parts->queries.assign(static_cast<size_t>(batch.rows.count) + 1, batch.query);
      parts->buffers[1] = parts->queries.data();
      return GiveArray(std::move(parts), {0, batch.rows.count}, 2, out);
    case ColumnKind::kTexts:
      if (!column.texts->validity.empty()) parts->buffers[0] = column.texts->validity.data();
      parts->buffers[1] = column.texts->offsets.data();
      parts->buffers[2] = column.texts->bytes.data();
      return GiveArray(std::move(parts), batch.rows, 3, out);
    case ColumnKind::kFloats:
      parts->buffers[1] = Floats(*column.floats);
      return GiveArray(std::move(parts), batch.rows, 2, out);
    case ColumnKind::kLists: {
      auto items = std::make_unique<ArrayParts>(0);
      items->set = batch.set;
      items->buffers[1] = Floats(*column.floats);
      const auto count = static_cast<int64_t>(column.floats->size());
      GiveArray(std::move(items), {0, count}, 2, &parts->children[0]);
      return GiveArray(std::move(parts), batch.rows, 1, out);
    }
  }
}

// ---- The stream

struct Export {
  std::shared_ptr<const ResultSet> set;
  std::vector<Column> columns;
  size_t next = 0;  // query
};

Export* ExportOf(ArrowArrayStream* stream) { return static_cast<Export*>(stream->private_data); }

int GetSchema(ArrowArrayStream* stream, ArrowSchema* out) {
  return CallOr(ENOMEM, [&] {
    const Export& from = *ExportOf(stream);
    auto parts = std::make_unique<SchemaParts>(from.columns.size());
    parts->format = "+s";
    for (size_t i = 0; i < from.columns.size(); ++i)
      GiveColumnSchema(from.columns[i], *from.set, &parts->children[i]);
    GiveSchema(std::move(parts), false, out);
    return 0;
  });
}

int GetNext(ArrowArrayStream* stream, ArrowArray* out) {
  return CallOr(ENOMEM, [&] {
    Export& from = *ExportOf(stream);
    const std::vector<uint64_t>& offsets = from.set->query_offsets;
    if (from.next + 1 >= offsets.size()) {
      *out = ArrowArray{};
      return 0;
    }
    const uint64_t first = offsets[from.next], count = offsets[from.next + 1] - first;
    const Batch batch{from.set,
                      static_cast<uint32_t>(from.next),
                      {static_cast<int64_t>(first), static_cast<int64_t>(count)}};
    auto parts = std::make_unique<ArrayParts>(from.columns.size());
    for (size_t i = 0; i < from.columns.size(); ++i)
      GiveColumnArray(from.columns[i], batch, &parts->children[i]);
    GiveArray(std::move(parts), {0, batch.rows.count}, 1, out);
    ++from.next;
    return 0;
  });
}

const char* GetLastError(ArrowArrayStream*) { return "out of memory"; }

void ReleaseStream(ArrowArrayStream* stream) {
  delete ExportOf(stream);
  stream->release = nullptr;
}

Status CheckDocuments(const ResultSet& set) {
  if (!set.included.documents) return Status::Ok();
  const std::string_view bytes = set.documents.bytes;
  for (size_t row = 0; row + 1 < set.documents.offsets.size(); ++row) {
    const auto begin = static_cast<size_t>(set.documents.offsets[row]);
    const auto end = static_cast<size_t>(set.documents.offsets[row + 1]);
    if (FindInvalidUtf8(bytes.substr(begin, end - begin)) == std::string_view::npos) continue;
    return InvalidArgument("the document of row " + std::to_string(row) +
                           " is not valid UTF-8, which a text of Arrow must be")
        .WithHint("leave documents out, or take them from the result as bytes")
        .WithRow(static_cast<int64_t>(row));
  }
  return Status::Ok();
}

}  // namespace
}  // namespace pigment::abi

using pigment::Status;
using pigment::abi::Call;
using pigment::abi::Export;

pigment_status pigment_result_arrow_stream(const pigment_result* result, ArrowArrayStream* stream,
                                           pigment_error** error) {
  return Call(
      error,
      [&] {
        if (stream != nullptr) *stream = ArrowArrayStream{};
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(result, "result"));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{stream, "stream"}}));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckDocuments(*result->set));
        auto made = std::make_unique<Export>();
        made->set = result->set;
        made->columns = pigment::abi::Columns(*result->set, result->result_kind);
        stream->get_schema = pigment::abi::GetSchema;
        stream->get_next = pigment::abi::GetNext;
        stream->get_last_error = pigment::abi::GetLastError;
        stream->release = pigment::abi::ReleaseStream;
        stream->private_data = made.release();
        return Status::Ok();
      });
}
