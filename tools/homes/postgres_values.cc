// SPDX-License-Identifier: Apache-2.0
//
// Values for PostgreSQL.

#include "tools/homes/postgres_values.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tools/json_text.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

constexpr char kJsonbVersion = 1;

void AppendBig(std::string& bytes, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
}

uint32_t ReadBig(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = at; i < at + 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

bool IsOfNumber(char letter) {
  return (letter >= '0' && letter <= '9') || letter == '-' || letter == '+' || letter == '.' ||
         letter == 'e' || letter == 'E';
}

// "-1.5e3" as "-1500.0".
std::string Positional(std::string_view number) {
  const size_t e = number.find_first_of("eE");
  if (e == std::string_view::npos) return std::string(number);
  const bool is_negative = number.starts_with('-');
  const std::string_view mantissa = number.substr(is_negative ? 1 : 0, e - (is_negative ? 1 : 0));
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  std::string digits(mantissa.substr(0, point));
  if (point < mantissa.size()) digits += mantissa.substr(point + 1);
  // A double's exponent has three digits at most.
  const long exponent = std::stol(std::string(number.substr(e + 1)));
  long whole = static_cast<long>(point) + exponent;  // digits before the point
  if (whole <= 0) {
    digits.insert(0, static_cast<size_t>(1 - whole), '0');
    whole = 1;
  }
  const auto places = static_cast<size_t>(whole);
  if (digits.size() < places + 1) digits.append(places + 1 - digits.size(), '0');
  return (is_negative ? "-" : "") + digits.substr(0, places) + "." + digits.substr(places);
}

// Is there \u0000 in JSON, which has it only in this form?
bool HasEscapedZero(std::string_view json) {
  for (size_t at = 0; at + 1 < json.size(); ++at) {
    if (json[at] != '\\') continue;
    if (json.substr(at + 1, 5) == "u0000") return true;
    ++at;  // what is escaped
  }
  return false;
}

[[noreturn]] void Refuse(const Record& record, const std::string& what, const std::string& why) {
  throw Failure(PIGMENT_INVALID_ARGUMENT, "record \"" + record.id + "\": its " + what + " " + why +
                                              ", which PostgreSQL's text cannot hold");
}

void CheckText(const Record& record, const char* what, std::string_view text) {
  if (text.find('\0') != std::string_view::npos) Refuse(record, what, "has U+0000");
  if (!IsUtf8(text)) Refuse(record, what, "is no UTF-8");
}

}  // namespace

void ArrayValue::Add(std::string_view element) {
  AppendBig(elements_, static_cast<uint32_t>(element.size()));
  elements_ += element;
  ++size_;
}

void ArrayValue::AddNull() {
  AppendBig(elements_, UINT32_MAX);
  has_nulls_ = true;
  ++size_;
}

std::string ArrayValue::Text() const {
  std::string value;
  AppendBig(value, size_ > 0 ? 1 : 0);  // dimensions
  AppendBig(value, has_nulls_ ? 1 : 0);
  AppendBig(value, element_type_);
  if (size_ == 0) return value;
  AppendBig(value, size_);
  AppendBig(value, 1);  // the first subscript
  return value + elements_;
}

std::string VectorValue(std::span<const float> vector) {
  std::string value;
  value.reserve(4 + vector.size() * sizeof(float));
  AppendBig(value, static_cast<uint32_t>(vector.size() << 16));
  for (const float number : vector) AppendBig(value, std::bit_cast<uint32_t>(number));
  return value;
}

std::vector<float> ParseVectorValue(std::string_view value) {
  const size_t dimension = value.size() >= 4 ? ReadBig(value, 0) >> 16 : 0;
  if (dimension == 0 || value.size() != 4 + dimension * sizeof(float)) {
    throw Failure(PIGMENT_DATA_LOSS, "the server gave " + std::to_string(value.size()) +
                                         " bytes for a vector of dimension " +
                                         std::to_string(dimension));
  }
  std::vector<float> vector(dimension);
  for (size_t i = 0; i < dimension; ++i) {
    vector[i] = std::bit_cast<float>(ReadBig(value, 4 + i * sizeof(float)));
  }
  return vector;
}

std::string JsonbValue(std::string_view json) { return kJsonbVersion + PositionalNumbers(json); }

std::string_view ParseJsonbValue(std::string_view value) {
  if (value.empty() || value[0] != kJsonbVersion) {
    throw Failure(PIGMENT_VERSION_MISMATCH, "the server gave jsonb of an unknown version");
  }
  return value.substr(1);
}

std::string PositionalNumbers(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (size_t at = 0; at < json.size();) {
    const size_t begin = at;
    if (json[at] == '"') {
      for (++at; at < json.size() && json[at] != '"'; ++at) {
        if (json[at] == '\\') ++at;
      }
      at = std::min(at + 1, json.size());
      text += json.substr(begin, at - begin);
    } else if (json[at] == '-' || (json[at] >= '0' && json[at] <= '9')) {
      while (at < json.size() && IsOfNumber(json[at])) ++at;
      text += Positional(json.substr(begin, at - begin));
    } else {
      text += json[at++];
    }
  }
  return text;
}

void CheckTexts(const Record& record) {
  CheckText(record, "id", record.id);
  if (record.document) CheckText(record, "document", *record.document);
  if (record.uri) CheckText(record, "uri", *record.uri);
  if (record.metadata && HasEscapedZero(*record.metadata)) Refuse(record, "metadata", "has U+0000");
}

pigment_status StatusOfSqlState(std::string_view sqlstate) {
  if (sqlstate == "57014") return PIGMENT_DEADLINE_EXCEEDED;  // or somebody cancelled it
  for (int32_t status = PIGMENT_INVALID_ARGUMENT; status <= PIGMENT_VERSION_MISMATCH; ++status) {
    const char* const ours = pigment_status_sqlstate(status);
    const bool is_ours = ours != nullptr && sqlstate == ours;
    if (is_ours) return sqlstate == "XX000" ? PIGMENT_INTERNAL : status;
  }
  const std::string_view family = sqlstate.substr(0, 2);
  if (family == "08" || family == "57") return PIGMENT_UNAVAILABLE;
  if (family == "22" || family == "23") return PIGMENT_INVALID_ARGUMENT;
  if (family == "28") return PIGMENT_UNAUTHENTICATED;
  if (family == "3D") return PIGMENT_NOT_FOUND;
  if (family == "40") return PIGMENT_ABORTED;
  if (family == "53" || family == "54") return PIGMENT_RESOURCE_EXHAUSTED;
  if (family == "25" || family == "3F" || family == "42" || family == "55") {
    return PIGMENT_FAILED_PRECONDITION;
  }
  return PIGMENT_UNKNOWN;
}

}  // namespace pigment_tool
