// SPDX-License-Identifier: Apache-2.0
//
// Chroma's checks. Character classes are spelled out: no locale has a say.

#include "engine/record/validate.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <unordered_set>

#include "engine/record/text.h"

namespace pigment {
namespace {

constexpr size_t kCollectionNameBytesMin = 3;
constexpr size_t kDatabaseNameLengthMin = 3;
constexpr size_t kDuplicatesListed = 10;  // from so many on only the first and last few are

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool IsNameCharacter(char c) { return IsAlphanumeric(c) || c == '.' || c == '_' || c == '-'; }

bool MatchesNamePattern(std::string_view name) {
  if (name.size() < kCollectionNameBytesMin || name.size() > kCollectionNameBytesMax) return false;
  if (!IsAlphanumeric(name.front()) || !IsAlphanumeric(name.back())) return false;
  for (const char c : name) {
    if (!IsNameCharacter(c)) return false;
  }
  return true;
}

// Four decimal numbers of 0 to 255 without leading zeros. An IPv6 address has colons, which no name
// may have.
bool IsIpv4Address(std::string_view name) {
  int parts = 0;
  while (true) {
    const size_t dot = std::min(name.find('.'), name.size());
    const std::string_view part = name.substr(0, dot);
    if (part.empty() || part.size() > 3 || (part.size() > 1 && part[0] == '0')) return false;
    int number = 0;
    for (const char c : part) {
      if (c < '0' || c > '9') return false;
      number = number * 10 + (c - '0');
    }
    if (number > 255) return false;
    ++parts;
    if (dot == name.size()) return parts == 4;
    name.remove_prefix(dot + 1);
  }
}

Status BadName(std::string message) { return InvalidArgument(Detail::kName, std::move(message)); }

Status CheckLongEnough(std::string_view what, std::string_view name) {
  if (!IsUtf8(name))
    return BadName(fmt::format("{} name must be UTF-8, got {}", what, Quoted(name)));
  if (Utf8Length(name) < kDatabaseNameLengthMin) {
    return BadName(fmt::format("{} name must be at least {} characters, got {}", what,
                               kDatabaseNameLengthMin, Quoted(name)));
  }
  return Status::Ok();
}

std::string DuplicatesMessage(const std::vector<std::string_view>& duplicates,
                              std::string_view operation) {
  const bool many = duplicates.size() >= kDuplicatesListed;
  std::string list;
  for (size_t i = 0; i < duplicates.size(); ++i) {
    if (many && i == kDuplicatesListed / 2) {
      list += ", ...";
      i = duplicates.size() - kDuplicatesListed / 2;
    }
    if (!list.empty()) list += ", ";
    list += Printable(duplicates[i]);
  }
  if (many) {
    return fmt::format("expected ids to be unique, found {} duplicated ids: {} in {}",
                       duplicates.size(), list, operation);
  }
  return fmt::format("expected ids to be unique, found duplicates of: {} in {}", list, operation);
}

bool AllFinite(std::span<const float> values) {
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t bad = 0;
  for (const float value : values) bad |= (std::bit_cast<uint32_t>(value) & kExponent) == kExponent;
  return bad == 0;
}

}  // namespace

Status CheckCollectionName(std::string_view name) {
  if (name.find('+') != std::string_view::npos) {
    return BadName(fmt::format(
        "a collection name must not have a + (a topology is not supported), got {}", Quoted(name)));
  }
  if (!MatchesNamePattern(name)) {
    std::string reason = fmt::format(
        "expected a collection name of 3 to 512 characters from [a-zA-Z0-9._-], starting and "
        "ending with a character in [a-zA-Z0-9], got {}",
        Quoted(name));
    if (name.size() > kCollectionNameBytesMax)
      reason = NamingLimit(limit::kCollectionNameBytesMax, reason);
    return BadName(std::move(reason));
  }
  if (name.find("..") != std::string_view::npos) {
    return BadName(
        fmt::format("a collection name must not have two dots in a row, got {}", Quoted(name)));
  }
  if (IsIpv4Address(name)) {
    return BadName(
        fmt::format("a collection name must not be an IP address, got {}", Quoted(name)));
  }
  return Status::Ok();
}

Status CheckDatabaseName(std::string_view name) { return CheckLongEnough("database", name); }
Status CheckTenantName(std::string_view name) { return CheckLongEnough("tenant", name); }

Status CheckIds(const std::vector<std::string>& ids, std::string_view operation) {
  if (ids.empty()) {
    return InvalidArgument(
        fmt::format("expected ids to be a non-empty list, got 0 ids in {}", operation));
  }
  std::unordered_set<std::string_view> seen, repeated;
  seen.reserve(ids.size());
  std::vector<std::string_view> duplicates;
  int64_t first_duplicate = -1;
  for (size_t row = 0; row < ids.size(); ++row) {
    const std::string& id = ids[row];
    const auto at = static_cast<int64_t>(row);
    if (id.empty()) {
      return InvalidArgument(
                 fmt::format("an id must have at least one character, got \"\" in {}", operation))
          .WithRow(at);
    }
    if (!IsUtf8(id)) {
      return InvalidArgument(
                 fmt::format("an id must be UTF-8, got {} in {}", Quoted(id), operation))
          .WithRow(at);
    }
    if (seen.insert(id).second) continue;
    if (first_duplicate < 0) first_duplicate = at;
    if (repeated.insert(id).second) duplicates.push_back(id);
  }
  if (duplicates.empty()) return Status::Ok();
  return InvalidArgument(Detail::kDuplicateId, DuplicatesMessage(duplicates, operation))
      .WithRow(first_duplicate);
}

Status CheckDimensionRange(std::string_view what, uint64_t dimension) {
  if (dimension >= 1 && dimension <= kDimensionMax) return Status::Ok();
  const std::string reason =
      fmt::format("{} must have 1 to {} dimensions, got {}", what, kDimensionMax, dimension);
  return dimension == 0 ? InvalidArgument(Detail::kDimension, reason)
                        : BeyondLimit(limit::kDimensionMax, reason);
}

Status CheckVectors(std::span<const float> values, size_t rows, size_t dimension) {
  PIGMENT_RETURN_IF_ERROR(CheckDimensionRange("embeddings", dimension));
  if (values.size() / dimension != rows || values.size() % dimension != 0) {
    return InvalidArgument(
        Detail::kDimension,
        fmt::format("embeddings of {} rows with {} dimensions expected, got {} values", rows,
                    dimension, values.size()));
  }
  if (AllFinite(values)) return Status::Ok();
  size_t at = 0;
  while (std::isfinite(values[at])) ++at;
  return InvalidArgument(
             Detail::kNotFinite,
             fmt::format(
                 "embeddings must not contain NaN or infinity, got {} at place {} of row {}",
                 values[at], at % dimension, at / dimension))
      .WithRow(static_cast<int64_t>(at / dimension));
}

}  // namespace pigment
