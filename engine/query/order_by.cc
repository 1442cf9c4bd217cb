// SPDX-License-Identifier: Apache-2.0
//
// Parsing an order, and values as bytes. Of each key:
//
//   u8   1: there is a value, 2: there is none
//   u8   1 bool, 2 number, 3 text; then the value:
//        bool, number: its term of engine/inverted/term.h
//        text: its bytes, each 0 as 0 255, and 0 0 at the end
//
// Where the order descends, type and value have all bits flipped.

#include "engine/query/order_by.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "engine/inverted/term.h"
#include "engine/record/json_tape.h"
#include "engine/record/metadata_path.h"
#include "engine/record/text.h"

namespace pigment {
namespace {

constexpr char kPresent = 1;
constexpr char kMissing = 2;
constexpr char kBool = 1;
constexpr char kNumber = 2;
constexpr char kText = 3;

Status Refused(std::string_view reason) {
  return InvalidArgument(fmt::format("order_by: {}", reason));
}

void AppendText(std::string_view text, std::string& out) {
  out += kText;
  for (const char byte : text) {
    out += byte;
    if (byte == '\0') out += '\xFF';
  }
  out.append(2, '\0');
}

// False: there is nothing to order by.
bool AppendValue(const MetadataValue& value, std::string& out) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    AppendText(*text, out);
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    out += kBool;
    AppendBoolTerm(*truth, out);
  } else if (const auto* integer = std::get_if<int64_t>(&value)) {
    out += kNumber;
    AppendNumberTerm(*integer, out);
  } else if (const auto* real = std::get_if<double>(&value)) {
    out += kNumber;
    AppendNumberTerm(*real, out);
  } else {
    return false;
  }
  return true;
}

}  // namespace

Result<OrderBy> OrderBy::Parse(std::string_view json) {
  const JsonLimits limits{.bytes = limit::kOrderBytesMax, .values = limit::kOrderBytesMax};
  PIGMENT_ASSIGN_OR_RETURN(const JsonTape tape,
                           JsonTape::Parse(json, "order_by", Detail::kNone, limits));
  OrderBy order;
  if (tape.kind(0) == JsonKind::kNull) return order;
  if (tape.kind(0) != JsonKind::kArray)
    return Refused(fmt::format("expected a list of keys, got {}", tape.Describe(0)));
  for (size_t item = 1; item < tape.end(0); item = tape.end(item)) {
    if (tape.kind(item) != JsonKind::kObject)
      return Refused(fmt::format(R"(expected {{"key": ..., "descending": ...}}, got {})",
                                 tape.Describe(item)));
    Term term;
    bool has_key = false;
    for (size_t member = item + 1; member < tape.end(item); member = tape.end(member)) {
      if (tape.key(member) == "key" && tape.kind(member) == JsonKind::kString) {
        term.key = tape.text(member);
        has_key = true;
      } else if (tape.key(member) == "descending" && tape.kind(member) == JsonKind::kBool) {
        term.descends = tape.boolean(member);
      } else {
        return Refused(
            fmt::format("expected \"key\" with a text or \"descending\" with a bool, got "
                        "{} with {}",
                        Quoted(tape.key(member)), tape.Describe(member)));
      }
    }
    if (!has_key) return Refused("an entry has no \"key\"");
    PIGMENT_RETURN_IF_ERROR(order.AddTerm(std::move(term)));
  }
  return order;
}

Status OrderBy::AddTerm(Term term) {
  if (terms_.size() == kOrderKeysMax)
    return BeyondLimit(limit::kOrderKeysMax, "order_by has too many keys");
  if (IsPointer(term.key)) {
    std::optional<std::string> key = StoredKeyOf(term.key);
    if (!key) {
      return Refused(
          fmt::format("expected a path of metadata as \"$/a/b\", got {}", Quoted(term.key)));
    }
    term.key = *std::move(key);
    term.is_path = true;
  }
  if (std::any_of(terms_.begin(), terms_.end(), [&](const Term& t) { return t.key == term.key; }))
    return Refused(fmt::format("key {} is there twice", Quoted(KeyText(term.key))));
  if (term.key == "#id") {
    term.source = Source::kId;
    needs_.id = true;
  } else if (term.key == kUriKey) {
    term.source = Source::kUri;
    needs_.uri = true;
  } else if (!term.is_path && !IsMetadataKey(term.key)) {
    return Refused(
        fmt::format("expected a metadata key, #id or chroma:uri, got {}", Quoted(term.key)));
  } else {
    needs_.metadata = true;
  }
  terms_.push_back(std::move(term));
  return Status::Ok();
}

Status OrderBy::CheckFlat() const {
  for (const Term& term : terms_) {
    if (!term.is_path) continue;
    return Refused(
        fmt::format("key {}: a path is for collections whose configuration has "
                    "\"nested_metadata\": true",
                    Quoted(PointerOf(term.key))));
  }
  return Status::Ok();
}

std::string OrderBy::KeyOf(const FilterSubject& subject) const {
  std::string key;
  for (const Term& term : terms_) {
    const size_t begin = key.size();
    key += kPresent;
    bool is_present = true;
    switch (term.source) {
      case Source::kId:
        AppendText(subject.id, key);
        break;
      case Source::kUri:
        is_present = subject.uri.has_value();
        if (is_present) AppendText(*subject.uri, key);
        break;
      case Source::kMetadata: {
        is_present = false;
        if (subject.metadata == nullptr) break;
        const auto found = subject.metadata->find(term.key);
        is_present = found != subject.metadata->end() && AppendValue(found->second, key);
        break;
      }
    }
    if (!is_present) {
      key[begin] = kMissing;
    } else if (term.descends) {
      for (size_t i = begin + 1; i < key.size(); ++i) key[i] = static_cast<char>(~key[i]);
    }
  }
  return key;
}

std::string OrderBy::Name() const {
  std::string name;
  for (const Term& term : terms_) {
    name += term.descends ? '-' : '+';
    AppendText(term.key, name);
  }
  return name;
}

}  // namespace pigment
