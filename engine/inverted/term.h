// SPDX-License-Identifier: Apache-2.0
//
// Terms: what the values of metadata are in the inverted index. A field is a key with one type of
// values; a term is a value as bytes whose order (memcmp, shorter first) is that of the values.
// Pure functions; any thread.
//
//   type             term                                            rows that have it
//   kText            the bytes of the text                           value is this text
//   kNumber          8 bytes: double, the largest that is not        value is this number, be it
//                    above it, ordered as below; 2 bytes, big        an integer or a float
//                    endian: what the number exceeds it by
//   kBool            1 byte: 0, 1                                    value is this bool
//   kTextElement …   text, 8 bytes big endian ordered, 8 bytes       value is a list that has this
//   kBoolElement     ordered double, 1 byte                          element, of this very type
//   kUri             the bytes of the uri; its key is empty          the record has this uri
//   kGrams           up to three bytes; its key is empty             cells: see gram.h
//                    three bytes; the key is a host's column         the column's text has them
//   kHasDocument     none; its key is empty                          the record has a document
//
// Ordered: of an integer the sign bit is flipped, of a negative double all bits, of another the
// sign bit; big endian. -0.0 is 0.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/status.h"
#include "engine/record/index_rules.h"
#include "engine/record/metadata.h"
#include "engine/record/number.h"

namespace pigment {

inline constexpr size_t kGramBytes = 3;

// Stored; never changes.
enum class FieldType : uint32_t {
  kText = 1,
  kNumber = 2,
  kBool = 3,
  kTextElement = 4,
  kIntegerElement = 5,
  kRealElement = 6,
  kBoolElement = 7,
  kUri = 8,
  kHasDocument = 9,
  kGrams = 10,
};
// Those of one key of metadata.
inline constexpr FieldType kMetadataFieldTypes[] = {
    FieldType::kText,        FieldType::kNumber,         FieldType::kBool,
    FieldType::kTextElement, FieldType::kIntegerElement, FieldType::kRealElement,
    FieldType::kBoolElement,
};

// A row has at most one term of a field of such a type.
constexpr bool IsSingleValued(FieldType type) {
  return type <= FieldType::kBool || type == FieldType::kUri;
}

// Whether rules let values of such a field be indexed. Integers and floats are one field, which is
// there when both are indexed: no filter could ask for half of it.
bool HasIndex(const IndexRules& rules, std::string_view key, FieldType type);

// The least term above all that begin with `prefix`; none: there is no such term.
std::optional<std::string> EndOfPrefix(std::string_view prefix);

void AppendNumberTerm(Number number, std::string& out);
void AppendBoolTerm(bool value, std::string& out);
// The field in which a list with this element is found, and the element's term.
FieldType AppendElementTerm(const MetadataValue& element, std::string& out);  // REQUIRES: a scalar

// The scalar that a term stands for, of numbers an integer where there is such a one; elements of
// lists are as scalars. Nullopt: the type has no such term.
std::optional<MetadataValue> ValueOfTerm(FieldType type, std::string_view term);

// The type by which a host's row has grams where metadata has a value (host_keys.h).
inline constexpr uint8_t kStoredGrams = 9;

// Calls `visit` for each term of metadata as EncodeMetadata writes it, in the order of its keys; an
// element that a list has twice comes twice. The grams of a host's row come in one call: three
// bytes each, one after the other, ascending. The views end with the call. Metadata that cannot be
// read: kDataLoss; the order of its keys is not looked at.
using TermVisitor =
    std::function<Status(std::string_view key, FieldType type, std::string_view term)>;
Status VisitTerms(std::span<const std::byte> metadata, const TermVisitor& visit);

}  // namespace pigment
