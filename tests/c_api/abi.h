// SPDX-License-Identifier: Apache-2.0
//
// Helpers for tests that call the C interface: owners for its handles, builders for its columns.
// Header only, public headers only; one thread unless a test says otherwise.

#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pigment/pigment.h"

namespace abi_test {

template <typename T, void (*kFree)(T*)>
struct Freer {
  void operator()(T* object) const { kFree(object); }
};
using Client = std::unique_ptr<pigment_client, Freer<pigment_client, pigment_client_free>>;
using Collection =
    std::unique_ptr<pigment_collection, Freer<pigment_collection, pigment_collection_free>>;
using ResultHandle = std::unique_ptr<pigment_result, Freer<pigment_result, pigment_result_free>>;
using Buffer = std::unique_ptr<pigment_buffer, Freer<pigment_buffer, pigment_buffer_free>>;
using Cancel = std::unique_ptr<pigment_cancel, Freer<pigment_cancel, pigment_cancel_free>>;

// Arguments that may be absent, with the type that Try needs.
inline const pigment_scope* const kNoScope = nullptr;
inline const pigment_call_options* const kNoOptions = nullptr;
inline const pigment_embedding_function* const kNoFunction = nullptr;

// What a call returned, with the error copied out.
struct Outcome {
  pigment_status status = PIGMENT_OK;
  int32_t detail = 0;
  std::string message;
  std::string hint;
  std::string file;
  int64_t row = -1;
  int64_t offset = -1;

  bool ok() const { return status == PIGMENT_OK; }
};

inline std::ostream& operator<<(std::ostream& stream, const Outcome& outcome) {
  const char* name = pigment_status_name(outcome.status);
  return stream << (name != nullptr ? name : "unknown") << " (detail " << outcome.detail << ", row "
                << outcome.row << "): " << outcome.message;
}

// Takes the error of a call; says when status and error contradict each other.
inline Outcome Take(pigment_status status, pigment_error* error) {
  Outcome outcome;
  outcome.status = status;
  outcome.detail = pigment_error_detail(error);
  outcome.message = pigment_error_message(error);
  outcome.hint = pigment_error_hint(error);
  outcome.file = pigment_error_file(error);
  outcome.row = pigment_error_row(error);
  outcome.offset = pigment_error_offset(error);
  if (pigment_error_status(error) != status) outcome.message += " [status and error differ]";
  if ((status == PIGMENT_OK) != (error == nullptr)) outcome.message += " [error set on success]";
  pigment_error_free(error);
  return outcome;
}

// Calls `function(arguments..., &error)`.
template <typename Function, typename... Arguments>
Outcome Try(Function function, Arguments... arguments) {
  pigment_error* error = reinterpret_cast<pigment_error*>(0x1);  // must be overwritten
  const pigment_status status = function(arguments..., &error);
  return Take(status, error);
}

// A text column that owns its bytes.
class Texts {
 public:
  Texts() = default;
  Texts(std::initializer_list<std::string_view> texts) {
    for (const std::string_view text : texts) Add(text);
  }
  explicit Texts(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) Add(text);
  }

  Texts& Add(std::string_view text) { return Append(text, true); }
  Texts& AddAbsent() { return Append({}, false); }

  size_t size() const { return offsets_.size() - 1; }
  pigment_text_column column() const {
    return {offsets_.data(), bytes_.data(), has_absent_ ? validity_.data() : nullptr};
  }

 private:
  Texts& Append(std::string_view text, bool present) {
    const size_t row = size();
    if (row % 8 == 0) validity_.push_back(0);
    if (present) validity_.back() |= static_cast<uint8_t>(1u << (row % 8));
    has_absent_ |= !present;
    bytes_ += text;
    offsets_.push_back(static_cast<int64_t>(bytes_.size()));
    return *this;
  }

  std::vector<int64_t> offsets_{0};
  std::string bytes_;
  std::vector<uint8_t> validity_;
  bool has_absent_ = false;
};

inline pigment_vectors Vectors(const std::vector<float>& values, size_t dimension) {
  return {values.data(), dimension == 0 ? 0 : values.size() / dimension, dimension, 0, PIGMENT_F32};
}

inline std::string Text(const pigment_text_column& column, uint64_t row) {
  const auto begin = static_cast<size_t>(column.offsets[row]);
  const auto end = static_cast<size_t>(column.offsets[row + 1]);
  return std::string(column.bytes + begin, end - begin);
}
inline bool Has(const pigment_text_column& column, uint64_t row) {
  return column.validity == nullptr || (column.validity[row / 8] >> (row % 8) & 1) != 0;
}
inline std::vector<std::string> Ids(const pigment_result* result) {
  pigment_text_column column{};
  std::vector<std::string> ids;
  if (!pigment_result_ids(result, &column)) return ids;
  for (uint64_t row = 0; row < pigment_result_row_count(result); ++row) {
    ids.push_back(Text(column, row));
  }
  return ids;
}
inline std::string Text(const pigment_buffer* buffer) {
  size_t size = 0;
  const char* data = pigment_buffer_data(buffer, &size);
  return data != nullptr ? std::string(data, size) : std::string();
}

inline Client OpenMemory() {
  pigment_client* client = nullptr;
  const pigment_status status = pigment_client_open(nullptr, 0, nullptr, &client, nullptr);
  return Client(status == PIGMENT_OK ? client : nullptr);
}
inline Outcome Open(const std::string& path, Client* client,
                    const pigment_open_options* options = nullptr) {
  pigment_client* raw = nullptr;
  const Outcome outcome = Try(pigment_client_open, path.data(), path.size(), options, &raw);
  client->reset(raw);
  return outcome;
}
inline Outcome OpenTraced(const std::string& path, const pigment_tracing* tracing, Client* client,
                          const pigment_open_options* options = nullptr) {
  pigment_client* raw = nullptr;
  const Outcome outcome =
      Try(pigment_client_open_traced, path.data(), path.size(), options, tracing, &raw);
  client->reset(raw);
  return outcome;
}
inline Outcome Create(pigment_client* client, std::string_view name, Collection* collection,
                      const pigment_collection_options* options = nullptr) {
  pigment_collection* raw = nullptr;
  const Outcome outcome =
      Try(pigment_client_create_collection, client, static_cast<const pigment_scope*>(nullptr),
          name.data(), name.size(), options, &raw);
  collection->reset(raw);
  return outcome;
}

inline Outcome GetByName(pigment_client* client, std::string_view name, Collection* collection) {
  pigment_collection* raw = nullptr;
  const Outcome outcome =
      Try(pigment_client_get_collection, client, static_cast<const pigment_scope*>(nullptr),
          name.data(), name.size(), static_cast<const pigment_embedding_function*>(nullptr), &raw);
  collection->reset(raw);
  return outcome;
}

// A batch that owns what it points at.
struct Batch {
  Texts ids;
  std::vector<float> values;
  size_t dimension = 0;
  std::optional<Texts> documents;
  std::optional<Texts> metadatas;
  std::optional<Texts> uris;

  pigment_records records() const {
    pigment_records records{};
    records.struct_size = sizeof records;
    records.count = ids.size();
    records.ids = ids.column();
    if (dimension != 0) records.embeddings = Vectors(values, dimension);
    if (documents) records.documents = documents->column();
    if (metadatas) records.metadatas = metadatas->column();
    if (uris) records.uris = uris->column();
    return records;
  }
};

using WriteFunction = pigment_status (*)(pigment_collection*, const pigment_records*,
                                         const pigment_call_options*, pigment_write_result*,
                                         pigment_error**);
inline Outcome Write(WriteFunction function, pigment_collection* collection, const Batch& batch,
                     pigment_write_result* result = nullptr) {
  const pigment_records records = batch.records();
  return Try(function, collection, &records, static_cast<const pigment_call_options*>(nullptr),
             result);
}
inline pigment_write_result WriteResult() {
  pigment_write_result result{};
  result.struct_size = sizeof result;
  return result;
}

template <typename T>
T Sized() {
  T value{};
  value.struct_size = sizeof value;
  return value;
}

inline Outcome Get(pigment_collection* collection, const pigment_get_request& request,
                   ResultHandle* result, const pigment_call_options* options = nullptr) {
  pigment_result* raw = nullptr;
  const Outcome outcome = Try(pigment_collection_get, collection, &request, options, &raw);
  result->reset(raw);
  return outcome;
}
inline Outcome Query(pigment_collection* collection, const pigment_query_request& request,
                     ResultHandle* result, const pigment_call_options* options = nullptr) {
  pigment_result* raw = nullptr;
  const Outcome outcome = Try(pigment_collection_query, collection, &request, options, &raw);
  result->reset(raw);
  return outcome;
}
inline pigment_query_request QueryFor(const std::vector<float>& values, size_t dimension,
                                      int64_t n_results = 10) {
  pigment_query_request request{};
  pigment_query_request_init(&request);
  request.embeddings = Vectors(values, dimension);
  request.n_results = n_results;
  return request;
}
inline Outcome Count(pigment_collection* collection, uint64_t* count) {
  return Try(pigment_collection_count, collection,
             static_cast<const pigment_call_options*>(nullptr), count);
}

// A byte of each block of a file is another.
inline void DamageBlocks(const std::filesystem::path& path) {
  constexpr uintmax_t kBlockBytes = 8192;
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  for (uintmax_t at = 100; at < std::filesystem::file_size(path); at += kBlockBytes) {
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 0x55));
  }
}

}  // namespace abi_test
