// SPDX-License-Identifier: Apache-2.0
//
// Calling an embedding function and checking what it gives.

#include "c_api/embedding.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "c_api/error.h"
#include "engine/record/text.h"
#include "engine/record/validate.h"

// Lives on the stack of Embed(). After the first mistake nothing more is taken, and the mistake is
// the call's error.
struct pigment_embedding_sink {
  size_t expected = 0;
  size_t rows = 0;
  size_t dimension = 0;
  std::vector<float> values;
  pigment::Status mistake;
  bool failed = false;
  std::string failure;

  pigment::Status Put(const float* more, size_t count, size_t width);
};

namespace {

using pigment::Detail;
using pigment::InvalidArgument;
using pigment::Status;

Status Mistake(std::string message, int64_t row) {
  Status status = InvalidArgument(Detail::kEmbeddingFunction, std::move(message));
  return row < 0 ? status : std::move(status).WithRow(row);
}

}  // namespace

Status pigment_embedding_sink::Put(const float* more, size_t count, size_t width) {
  const auto row = static_cast<int64_t>(rows);
  if (count == 0) return Status::Ok();
  if (more == nullptr)
    return Mistake("returned NULL for " + std::to_string(count) + " vectors", row);
  if (width < 1 || width > pigment::kDimensionMax) {
    const std::string reason = "returned dimension " + std::to_string(width) + ", expected 1 to " +
                               std::to_string(pigment::kDimensionMax);
    return Mistake(width < 1 ? reason : pigment::NamingLimit(pigment::limit::kDimensionMax, reason),
                   row);
  }
  if (rows != 0 && width != dimension) {
    return Mistake("returned dimension " + std::to_string(width) + " at row " +
                       std::to_string(row) + " after " + std::to_string(dimension),
                   row);
  }
  if (count > expected - rows) {
    return Mistake(
        "returned more vectors than the " + std::to_string(expected) + " texts it was given",
        static_cast<int64_t>(expected));
  }
  for (size_t i = 0; i < count * width; ++i) {
    if (!std::isfinite(more[i])) {
      const size_t bad = rows + i / width;
      return Mistake("returned NaN or infinity at row " + std::to_string(bad) + ", position " +
                         std::to_string(i % width),
                     static_cast<int64_t>(bad));
    }
  }
  values.insert(values.end(), more, more + count * width);
  rows += count;
  dimension = width;
  return Status::Ok();
}

pigment_status pigment_embedding_sink_put(pigment_embedding_sink* sink, const float* values,
                                          size_t rows, size_t dimension) {
  if (sink == nullptr) return PIGMENT_INVALID_ARGUMENT;
  if (!sink->mistake.ok()) return static_cast<pigment_status>(sink->mistake.code());
  try {
    sink->mistake = sink->Put(values, rows, dimension);
    return static_cast<pigment_status>(sink->mistake.code());
  } catch (...) {
    sink->failed = true;  // the message stays empty: there is no memory for one
    return PIGMENT_RESOURCE_EXHAUSTED;
  }
}

void pigment_embedding_sink_fail(pigment_embedding_sink* sink, const char* message,
                                 size_t message_size) {
  if (sink == nullptr) return;
  sink->failed = true;
  if (message == nullptr) return;
  try {
    sink->failure.assign(message, message_size);
  } catch (...) {
    sink->failure.clear();
  }
}

namespace pigment::abi {

Result<std::shared_ptr<EmbeddingFunction>> EmbeddingFunction::Read(
    const pigment_embedding_function* function, std::string_view argument) {
  if (function == nullptr) return std::shared_ptr<EmbeddingFunction>();
  const std::string prefix(argument);
  PIGMENT_ASSIGN_OR_RETURN(const pigment_embedding_function read, ReadStruct(function, argument));
  if (read.embed == nullptr) return NullArgument(prefix + ".embed");
  PIGMENT_ASSIGN_OR_RETURN(const auto name,
                           ReadOptionalText(read.name, read.name_size, prefix + ".name"));
  PIGMENT_ASSIGN_OR_RETURN(
      const auto config,
      ReadOptionalText(read.config_json, read.config_json_size, prefix + ".config_json"));
  PIGMENT_ASSIGN_OR_RETURN(const auto space,
                           ReadOptionalText(read.space, read.space_size, prefix + ".space"));
  if (config) {
    const size_t first = config->find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || (*config)[first] != '{' ||
        !nlohmann::json::accept(*config)) {
      return InvalidArgument(Detail::kEmbeddingFunction,
                             prefix + ".config_json must be a JSON object, got " + Quoted(*config));
    }
  }
  std::shared_ptr<EmbeddingFunction> made(new EmbeddingFunction());
  made->name_ = name.value_or("");
  made->config_json_ = config.value_or("");
  if (space) made->space_ = std::string(*space);
  made->embed_ = read.embed;
  made->release_ = read.release;
  made->user_data_ = read.user_data;
  return made;
}

EmbeddingFunction::~EmbeddingFunction() {
  if (adopted_ && release_ != nullptr) release_(user_data_);
}

std::string EmbeddingFunction::Label() const {
  return name_.empty() ? std::string("the embedding function")
                       : "embedding function " + Quoted(name_);
}

Result<Embedded> EmbeddingFunction::Embed(int32_t purpose, const TextColumnView& texts) const {
  pigment_embedding_sink sink;
  sink.expected = texts.size();
  const pigment_status returned = embed_(user_data_, purpose, texts.size(), &texts.column(), &sink);
  if (!sink.mistake.ok()) {
    return Mistake(Label() + " " + sink.mistake.message(), sink.mistake.row());
  }
  if (returned != PIGMENT_OK || sink.failed) {
    const bool known = returned != PIGMENT_OK && FindCodeInfo(returned) != nullptr;
    std::string message = Label() + " failed with status " + std::to_string(returned);
    if (!sink.failure.empty()) message += ": " + sink.failure;
    return Status(known ? static_cast<Code>(returned) : Code::kUnknown, Detail::kEmbeddingFunction,
                  std::move(message));
  }
  if (sink.rows != sink.expected) {
    return Mistake(Label() + " returned " + std::to_string(sink.rows) + " vectors for " +
                       std::to_string(sink.expected) + " texts",
                   static_cast<int64_t>(sink.rows));
  }
  return Embedded{std::move(sink.values), static_cast<uint32_t>(sink.dimension)};
}

Status CheckFunctionConflict(const EmbeddingFunction* function, const std::string& stored_name,
                             const std::string& collection_name) {
  if (function == nullptr || stored_name.empty() || function->name() == stored_name)
    return Status::Ok();
  if (function->name() == "default" || stored_name == "default") return Status::Ok();
  return InvalidArgument(Detail::kEmbeddingFunction,
                         "embedding function conflict: collection \"" + collection_name +
                             "\" has " + Quoted(stored_name) + ", got " + Quoted(function->name()))
      .WithHint("open the collection with the function that it was made with, or without one");
}

}  // namespace pigment::abi
