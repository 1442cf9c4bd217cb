// SPDX-License-Identifier: Apache-2.0
//
// Values into terms.

#include "engine/inverted/term.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/bytes.h"
#include "engine/record/metadata_path.h"
#include "engine/record/metadata_stored.h"

namespace pigment {
namespace {

constexpr uint64_t kSignBit = uint64_t{1} << 63;

void AppendOrdered(double value, std::string& out) {
  const auto bits = std::bit_cast<uint64_t>(value == 0 ? 0.0 : value);
  AppendBigEndian((bits & kSignBit) != 0 ? ~bits : bits ^ kSignBit, out);
}

// REQUIRES: so many bytes.
double ReadOrdered(std::string_view bytes) {
  const auto ordered = ReadBigEndian<uint64_t>(bytes);
  return std::bit_cast<double>((ordered & kSignBit) != 0 ? ordered ^ kSignBit : ~ordered);
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
      case kStoredGrams:
        return ReadGrams();
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

  Status ReadGrams() {
    std::string_view grams;
    if (!ReadStored(reader_, &grams) || grams.empty() || grams.size() % kGramBytes != 0)
      return DamagedMetadata(reader_, "no such value");
    for (size_t i = kGramBytes; i < grams.size(); i += kGramBytes) {
      if (grams.substr(i - kGramBytes, kGramBytes) >= grams.substr(i, kGramBytes))
        return DamagedMetadata(reader_, "grams do not ascend");
    }
    return visit_(key_, FieldType::kGrams, grams);
  }

  ByteReader reader_;
  const TermVisitor& visit_;
  std::string_view key_;
  std::string term_;
};

}  // namespace

bool HasIndex(const IndexRules& rules, std::string_view key, FieldType type) {
  const auto has = [&](ValueTypes types) { return (rules.IndexedOf(key) & types) == types; };
  switch (type) {
    case FieldType::kText:
    case FieldType::kTextElement:
      return has(kStringValues);
    case FieldType::kNumber:
      return has(kIntValues | kFloatValues);
    case FieldType::kIntegerElement:
      return has(kIntValues);
    case FieldType::kRealElement:
      return has(kFloatValues);
    case FieldType::kBool:
    case FieldType::kBoolElement:
      return has(kBoolValues);
    case FieldType::kUri:
      return (rules.IndexedOf(kUriKey) & kStringValues) != 0;
    case FieldType::kHasDocument:
    case FieldType::kGrams:
      return true;
  }
  return true;
}

std::optional<std::string> EndOfPrefix(std::string_view prefix) {
  while (!prefix.empty() && prefix.back() == '\xFF') prefix.remove_suffix(1);
  if (prefix.empty()) return std::nullopt;
  std::string end(prefix);
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

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

std::optional<MetadataValue> ValueOfTerm(FieldType type, std::string_view term) {
  std::optional<MetadataValue> value;
  switch (type) {
    case FieldType::kHasDocument:
    case FieldType::kGrams:
      break;
    case FieldType::kText:
    case FieldType::kTextElement:
    case FieldType::kUri:
      value.emplace(std::in_place_type<std::string>, term);
      break;
    case FieldType::kNumber: {
      if (term.size() != 10) break;
      if (!std::isfinite(ReadOrdered(term))) break;
      const Number floor = ReadOrdered(term);
      const auto beyond = static_cast<int64_t>(ReadBigEndian<uint16_t>(term.substr(8)));
      int64_t integer = 0;
      if (!floor.is_integer()) {
        if (beyond == 0) value.emplace(std::in_place_type<double>, floor.real());
      } else if (!__builtin_add_overflow(floor.integer(), beyond, &integer)) {
        value.emplace(std::in_place_type<int64_t>, integer);
      }
      break;
    }
    case FieldType::kRealElement: {
      if (term.size() != 8) break;
      if (!std::isfinite(ReadOrdered(term))) break;
      const Number number = ReadOrdered(term);
      if (number.is_integer()) {
        value.emplace(std::in_place_type<int64_t>, number.integer());
      } else {
        value.emplace(std::in_place_type<double>, number.real());
      }
      break;
    }
    case FieldType::kIntegerElement:
      if (term.size() != 8) break;
      value.emplace(std::in_place_type<int64_t>,
                    static_cast<int64_t>(ReadBigEndian<uint64_t>(term) ^ kSignBit));
      break;
    case FieldType::kBool:
    case FieldType::kBoolElement:
      if (term.size() == 1 && static_cast<uint8_t>(term[0]) <= 1)
        value.emplace(std::in_place_type<bool>, term[0] == 1);
      break;
  }
  return value;
}

Status VisitTerms(std::span<const std::byte> metadata, const TermVisitor& visit) {
  return TermReader(metadata, visit).Run();
}

}  // namespace pigment
