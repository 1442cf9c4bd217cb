// SPDX-License-Identifier: Apache-2.0
//
// Values into terms.

#include "engine/inverted/term.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/base/bytes.h"
#include "engine/record/metadata_stored.h"

namespace pigment {
namespace {

constexpr uint64_t kSignBit = uint64_t{1} << 63;

template <typename T>
void AppendBigEndian(T value, std::string& out) {
  for (size_t i = sizeof(T); i-- > 0;) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

void AppendOrdered(double value, std::string& out) {
  const auto bits = std::bit_cast<uint64_t>(value == 0 ? 0.0 : value);
  AppendBigEndian((bits & kSignBit) != 0 ? ~bits : bits ^ kSignBit, out);
}

// The largest double that is not above the integer.
double FloorOf(int64_t integer) {
  const auto near = static_cast<double>(integer);
  const bool is_above = near >= 0x1p63 || static_cast<int64_t>(near) > integer;
  return is_above ? std::nextafter(near, -std::numeric_limits<double>::infinity()) : near;
}

void AppendTerm(std::string_view value, std::string& out) { out += value; }
void AppendTerm(int64_t value, std::string& out) { AppendNumberTerm(value, out); }
void AppendTerm(double value, std::string& out) { AppendNumberTerm(value, out); }
void AppendTerm(bool value, std::string& out) { AppendBoolTerm(value, out); }

void AppendElement(std::string_view value, std::string& out) { out += value; }
void AppendElement(int64_t value, std::string& out) {
  AppendBigEndian(static_cast<uint64_t>(value) ^ kSignBit, out);
}
void AppendElement(double value, std::string& out) { AppendOrdered(value, out); }
void AppendElement(bool value, std::string& out) { AppendBoolTerm(value, out); }

template <typename T>
constexpr FieldType TypeOf() {
  if constexpr (std::is_same_v<T, std::string_view>) return FieldType::kText;
  if constexpr (std::is_same_v<T, bool>) return FieldType::kBool;
  return FieldType::kNumber;
}
template <typename T>
constexpr FieldType ElementTypeOf() {
  if constexpr (std::is_same_v<T, std::string_view>) return FieldType::kTextElement;
  if constexpr (std::is_same_v<T, int64_t>) return FieldType::kIntegerElement;
  if constexpr (std::is_same_v<T, double>) return FieldType::kRealElement;
  return FieldType::kBoolElement;
}

// One entry of metadata after the other. Values are read by their stored type.
class TermReader {
 public:
  TermReader(std::span<const std::byte> metadata, const TermVisitor& visit)
      : reader_(metadata), visit_(visit) {}

  Status Run() {
    const auto count = reader_.Get<uint32_t>();
    for (uint32_t i = 0; i < count && reader_.ok(); ++i) {
      if (!ReadStored(reader_, &key_)) break;
      const uint8_t type = reader_.Get<uint8_t>();
      if (reader_.ok()) PIGMENT_RETURN_IF_ERROR(ReadValue(type));
    }
    if (!reader_.ok()) return DamagedMetadata(reader_, "");
    return reader_.at_end() ? Status::Ok() : DamagedMetadata(reader_, "bytes are left over");
  }

 private:
  Status ReadValue(uint8_t type) {
    switch (type) {
      case 1:
        return ReadScalar<std::string_view>();
      case 2:
        return ReadScalar<int64_t>();
      case 3:
        return ReadScalar<double>();
      case 4:
        return ReadScalar<bool>();
      case 5:
        return ReadList<std::string_view>();
      case 6:
        return ReadList<int64_t>();
      case 7:
        return ReadList<double>();
      case 8:
        return ReadList<bool>();
    }
    return DamagedMetadata(reader_, "no such value");
  }

  template <typename T>
  Status ReadScalar() {
    T value{};
    if (!ReadStored(reader_, &value)) return DamagedMetadata(reader_, "no such value");
    term_.clear();
    AppendTerm(value, term_);
    return visit_(key_, TypeOf<T>(), term_);
  }

  template <typename T>
  Status ReadList() {
    const uint32_t count = reader_.GetCount(kStoredBytesMin<T>);
    if (count == 0) return DamagedMetadata(reader_, "no such value");
    for (uint32_t i = 0; i < count; ++i) {
      T value{};
      if (!ReadStored(reader_, &value)) return DamagedMetadata(reader_, "no such value");
      term_.clear();
      AppendElement(value, term_);
      PIGMENT_RETURN_IF_ERROR(visit_(key_, ElementTypeOf<T>(), term_));
    }
    return Status::Ok();
  }

  ByteReader reader_;
  const TermVisitor& visit_;
  std::string_view key_;
  std::string term_;
};

}  // namespace

void AppendNumberTerm(Number number, std::string& out) {
  if (!number.is_integer()) {
    AppendOrdered(number.real(), out);
    return AppendBigEndian(uint16_t{0}, out);
  }
  const double floor = FloorOf(number.integer());
  AppendOrdered(floor, out);
  AppendBigEndian(static_cast<uint16_t>(number.integer() - static_cast<int64_t>(floor)), out);
}

void AppendBoolTerm(bool value, std::string& out) { out += value ? '\1' : '\0'; }

FieldType AppendElementTerm(const MetadataValue& element, std::string& out) {
  if (const auto* text = std::get_if<std::string>(&element)) {
    AppendElement(std::string_view(*text), out);
    return FieldType::kTextElement;
  }
  if (const auto* integer = std::get_if<int64_t>(&element)) {
    AppendElement(*integer, out);
    return FieldType::kIntegerElement;
  }
  if (const auto* real = std::get_if<double>(&element)) {
    AppendElement(*real, out);
    return FieldType::kRealElement;
  }
  AppendElement(std::get<bool>(element), out);
  return FieldType::kBoolElement;
}

Status VisitTerms(std::span<const std::byte> metadata, const TermVisitor& visit) {
  return TermReader(metadata, visit).Run();
}

}  // namespace pigment
