// SPDX-License-Identifier: Apache-2.0
//
// JsonTape: nlohmann's SAX parser, which keeps its own stack on the heap, feeding a flat array.

#include "engine/record/json_tape.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/record/text.h"

namespace pigment {

// Offsets into the tape's text are 32 bits: it is no longer than the JSON it was read from.
static_assert(limit::kJsonBytesMax.most <= std::numeric_limits<uint32_t>::max());

// Levels of a path that are named at its begin and at its end.
constexpr size_t kFirstSteps = 8;
constexpr size_t kLastSteps = 16;

class JsonTapeBuilder {
 public:
  using Json = nlohmann::json;

  JsonTapeBuilder(std::string_view what, Detail detail, const JsonLimits& limits)
      : what_(what), detail_(detail), limits_(limits) {}

  // The interface that nlohmann's parser calls; false ends the parse.
  bool null() { return Push(JsonKind::kNull); }
  bool boolean(bool value) { return Push(JsonKind::kBool, {.integer = value ? 1 : 0}); }
  bool number_integer(int64_t value) { return Push(JsonKind::kInteger, {.integer = value}); }
  bool number_unsigned(uint64_t value) {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return PushText(JsonKind::kBigInteger, std::to_string(value));
    }
    return Push(JsonKind::kInteger, {.integer = static_cast<int64_t>(value)});
  }
  bool number_float(double value, const std::string& digits) {
    // Integers beyond 64 bits arrive here, told by their digits alone.
    if (digits.find_first_of(".eE") == std::string::npos)
      return PushText(JsonKind::kBigInteger, digits);
    return Push(JsonKind::kDouble, {.real = value});
  }
  bool string(std::string& value) { return PushText(JsonKind::kString, value); }
  bool binary(Json::binary_t&) { return false; }  // not in JSON text
  bool key(std::string& value) {
    key_ = Keep(value);
    return true;
  }
  bool start_object(size_t) { return Open(JsonKind::kObject); }
  bool start_array(size_t) { return Open(JsonKind::kArray); }
  bool end_array() { return Close(); }
  bool end_object() { return CheckKeys(open_.back()) && Close(); }
  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) {
    constexpr int kNumberOverflow = 406;
    Refuse(error.id == kNumberOverflow
               ? fmt::format("has a number beyond double: {}", Printable(token))
               : fmt::format("is not valid JSON at byte {}, near {}", position, Quoted(token)));
    return false;
  }

  Result<JsonTape> Finish(bool parsed) && {
    if (!status_.ok()) return status_;
    if (!parsed) return InvalidArgument(detail_, fmt::format("{} is not valid JSON", what_));
    return std::move(tape_);
  }

 private:
  JsonTape::Slice Keep(std::string_view text) {
    const JsonTape::Slice slice{static_cast<uint32_t>(tape_.text_.size()),
                                static_cast<uint32_t>(text.size())};
    tape_.text_ += text;
    return slice;
  }

  bool Push(JsonKind kind, JsonTape::Value value = {.integer = 0}) {
    if (tape_.nodes_.size() >= limits_.values.most) {
      status_ = BeyondLimit(limits_.values, fmt::format("{} has too many JSON values", what_));
      return false;
    }
    const auto next = static_cast<uint32_t>(tape_.nodes_.size() + 1);
    tape_.nodes_.push_back({value, std::exchange(key_, {0, 0}), next, kind});
    return true;
  }

  bool PushText(JsonKind kind, std::string_view text) { return Push(kind, {.text = Keep(text)}); }

  bool Open(JsonKind kind) {
    open_.push_back(static_cast<uint32_t>(tape_.nodes_.size()));
    return Push(kind);
  }

  bool Close() {
    tape_.nodes_[open_.back()].end = static_cast<uint32_t>(tape_.nodes_.size());
    open_.pop_back();
    return true;
  }

  bool CheckKeys(size_t object) {
    keys_.clear();
    for (size_t i = object + 1; i < tape_.size(); i = tape_.end(i)) keys_.push_back(tape_.key(i));
    std::sort(keys_.begin(), keys_.end());
    const auto twice = std::adjacent_find(keys_.begin(), keys_.end());
    if (twice == keys_.end()) return true;
    Refuse(fmt::format("has the key {} twice in one object", Quoted(*twice)));
    return false;
  }

  void Refuse(std::string_view reason) {
    const std::string path = Path();
    status_ =
        InvalidArgument(detail_, path.empty() ? fmt::format("{} {}", what_, reason)
                                              : fmt::format("{}: {}: {}", what_, path, reason));
  }

  // Where the parser stands, as $and[2]."year": numbers of elements, keys, of which those that are
  // not operators are quoted. Made when something is refused; of a deep path the middle is left
  // out.
  std::string Path() const {
    std::string path;
    const auto append_key = [&path](std::string_view key) {
      if (!path.empty()) path += '.';
      path += key.starts_with('$') ? Printable(key) : Quoted(key);
    };
    const auto append_element = [&](uint32_t list, size_t end) {
      size_t number = 0;
      for (size_t i = list + 1; i < end; i = tape_.end(i)) ++number;
      path += fmt::format("[{}]", number);
    };
    const auto append = [&](uint32_t container, uint32_t child) {
      if (tape_.kind(container) == JsonKind::kArray) {
        append_element(container, child);
      } else {
        append_key(tape_.key(child));
      }
    };
    for (size_t i = 0; i + 1 < open_.size(); ++i) {
      if (i == kFirstSteps && open_.size() > kFirstSteps + kLastSteps + 1) {
        const size_t left_out = open_.size() - 1 - kFirstSteps - kLastSteps;
        path += fmt::format(".({} more)", left_out);
        i += left_out;
      }
      append(open_[i], open_[i + 1]);
    }
    if (open_.empty()) return path;
    if (tape_.kind(open_.back()) == JsonKind::kArray) append_element(open_.back(), tape_.size());
    if (key_.size != 0) append_key(tape_.View(key_));
    return path;
  }

  std::string_view what_;
  Detail detail_;
  JsonLimits limits_;
  Status status_;
  JsonTape tape_;
  JsonTape::Slice key_{0, 0};
  std::vector<uint32_t> open_;  // containers that have not ended
  std::vector<std::string_view> keys_;
};

Result<JsonTape> JsonTape::Parse(std::string_view json, std::string_view what, Detail detail,
                                 const JsonLimits& limits) {
  if (json.size() > limits.bytes.most)
    return BeyondLimit(limits.bytes, fmt::format("{} has {} bytes", what, json.size()));
  JsonTapeBuilder builder(what, detail, limits);
  const bool parsed = nlohmann::json::sax_parse(json.data(), json.data() + json.size(), &builder);
  return std::move(builder).Finish(parsed);
}

size_t JsonTape::ChildCount(size_t i) const {
  size_t count = 0;
  for (size_t child = i + 1; child < end(i); child = end(child)) ++count;
  return count;
}

std::string JsonTape::Describe(size_t i) const {
  switch (kind(i)) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return boolean(i) ? "true" : "false";
    case JsonKind::kInteger:
      return std::to_string(integer(i));
    case JsonKind::kBigInteger:
      return Printable(text(i));
    case JsonKind::kDouble: {
      std::string out;
      AppendJsonDouble(real(i), out);
      return out;
    }
    case JsonKind::kString:
      return Quoted(text(i));
    case JsonKind::kArray:
      return empty(i) ? "an empty list" : fmt::format("a list of {}", ChildCount(i));
    case JsonKind::kObject:
      break;
  }
  return empty(i) ? "{}" : fmt::format("an object with the key {}", Quoted(key(i + 1)));
}

}  // namespace pigment
