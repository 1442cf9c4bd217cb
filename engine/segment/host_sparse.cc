// SPDX-License-Identifier: Apache-2.0
//
// Sparse vectors as elements, and bounds of their distances.

#include "engine/segment/host_sparse.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/base/big_endian.h"

namespace pigment {
namespace {

constexpr int kMantissaBits = 23;
// What levels drop of a float.
constexpr int kValueDropped = kMantissaBits - 5;
constexpr int kMassDropped = kMantissaBits - 8;
constexpr uint32_t kSign = 1 << 15;

constexpr char kDimension = '\xFE';
constexpr char kMass = '\xFF';

// Sums of products of such values neither overflow nor vanish as floats, with a query whose values
// together are no larger than kQueryMax.
constexpr double kValueMin = 0x1p-40, kValueMax = 0x1p40, kQueryMax = 0x1p60;
constexpr double kFloatHalf = 0x1p-24;  // a float is off by so much of itself, at the most

bool IsTame(float value) {
  const double size = std::fabs(value);
  return size >= kValueMin && size <= kValueMax;
}

double SquaredNorm(const HostSparseVector& vector) {
  double sum = 0;
  for (const float value : vector.values) sum += double{value} * value;
  return sum;
}

double AbsoluteSum(const HostSparseVector& vector) {
  double sum = 0;
  for (const float value : vector.values) sum += std::fabs(value);
  return sum;
}

double MassOf(const HostSparseVector& vector, Metric metric) {
  if (metric == Metric::kL2) return SquaredNorm(vector);
  if (metric == Metric::kL1) return AbsoluteSum(vector);
  return metric == Metric::kCosineNan && !vector.values.empty() ? 1 : 0;
}

uint32_t ValueLevel(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return (bits >> 31 != 0 ? kSign : 0) | (bits & 0x7FFFFFFF) >> kValueDropped;
}

// The values of a level: from `low` to `high`, by size.
struct LevelRange {
  double low;
  double high;
};
LevelRange RangeOfLevel(uint32_t level) {
  const uint32_t first = (level & ~kSign) << kValueDropped;
  const double sign = (level & kSign) != 0 ? -1 : 1;
  return {sign * std::bit_cast<float>(first),
          sign * std::bit_cast<float>(first | ((1U << kValueDropped) - 1))};
}

// Rounds down.
uint32_t MassLevel(double mass) {
  const auto near = static_cast<float>(mass * (1 - 2 * kFloatHalf));
  return std::bit_cast<uint32_t>(near) >> kMassDropped;
}

double MassOfLevel(uint32_t level) { return std::bit_cast<float>(level << kMassDropped); }

// The largest float, or one of the next, that is not above.
float RoundedDown(double number) {
  return static_cast<float>(number - std::fabs(number) * 2 * kFloatHalf);
}

// What a sum of floats loses, by the size of what is summed: half a bit each time, and twice that
// to be safe. Of an inner product no more than the query's values are summed.
double LossOf(size_t query_values, Metric metric) {
  const size_t summed = query_values + (metric == Metric::kNegativeIp ? 0 : kHostSparseValuesMax);
  return 2 * kFloatHalf * static_cast<double>(summed + 8);
}

double ScaleOf(const HostSparseVector& vector, Metric metric) {
  const double norm = metric == Metric::kCosineNan ? std::sqrt(SquaredNorm(vector)) : 0;
  return norm > 0 ? 1 / norm : 1;
}

}  // namespace

bool IsHostSparseMetric(Metric metric) {
  return metric == Metric::kL2 || metric == Metric::kCosineNan || metric == Metric::kNegativeIp ||
         metric == Metric::kL1;
}

Status CheckHostSparseVector(std::string_view of, const HostSparseVector& vector) {
  if (vector.dimension < 1 || vector.dimension > kHostSparseDimensionMax) {
    return InvalidArgument(fmt::format("{} has {} dimensions, expected 1 to {}", of,
                                       vector.dimension, kHostSparseDimensionMax));
  }
  if (vector.places.size() > kHostSparseValuesMax) {
    return InvalidArgument(fmt::format("{} has {} values that are not 0, expected {} at the most",
                                       of, vector.places.size(), kHostSparseValuesMax));
  }
  int64_t before = -1;
  for (size_t i = 0; i < vector.places.size(); ++i) {
    const int64_t place = vector.places[i];
    if (place <= before || place >= vector.dimension) {
      return InvalidArgument(
          fmt::format("{} has place {} behind {}, expected ascending ones from 0 to {}", of, place,
                      before, vector.dimension - 1));
    }
    if (!std::isfinite(vector.values[i]) || vector.values[i] == 0) {
      return InvalidArgument(
          fmt::format("{} has the value {} at place {}, expected a finite one "
                      "that is not 0",
                      of, vector.values[i], place));
    }
    before = place;
  }
  return Status::Ok();
}

std::string SparsePlacePrefix(uint32_t place) {
  std::string prefix;
  AppendBigEndian(place, prefix);
  return prefix;
}

std::string_view SparseDimensionPrefix() { return {&kDimension, 1}; }
std::string_view SparseMassPrefix() { return {&kMass, 1}; }

std::string SparseUnboundedElement() {
  std::string element(SparseMassPrefix());
  AppendBigEndian(static_cast<uint16_t>(kUnboundedMass), element);
  return element;
}

std::optional<uint32_t> ReadSparseLevel(std::string_view rest) {
  if (rest.size() != sizeof(uint16_t)) return std::nullopt;
  return ReadBigEndian<uint16_t>(rest);
}

std::optional<uint32_t> ReadSparseDimension(std::string_view rest) {
  if (rest.size() != sizeof(uint32_t)) return std::nullopt;
  return ReadBigEndian<uint32_t>(rest);
}

std::optional<SparseElement> ReadSparseElement(std::string_view element) {
  SparseElement read{.kind = SparseElement::Kind::kPlace};
  std::optional<uint32_t> number;
  if (element.starts_with(kDimension)) {
    read.kind = SparseElement::Kind::kDimension;
    number = ReadSparseDimension(element.substr(1));
  } else if (element.starts_with(kMass)) {
    read.kind = SparseElement::Kind::kMass;
    number = ReadSparseLevel(element.substr(1));
  } else if (element.size() > sizeof(uint32_t)) {
    read.place = ReadBigEndian<uint32_t>(element);
    number = ReadSparseLevel(element.substr(sizeof(uint32_t)));
  }
  if (!number) return std::nullopt;
  read.number = *number;
  return read;
}

std::vector<std::string> ElementsOfSparseVector(const HostSparseVector& vector, Metric metric) {
  std::vector<std::string> elements;
  elements.reserve(vector.places.size() + 2);
  const double scale = ScaleOf(vector, metric);
  bool is_tame = true;
  for (size_t i = 0; i < vector.places.size(); ++i) {
    std::string& element =
        elements.emplace_back(SparsePlacePrefix(static_cast<uint32_t>(vector.places[i])));
    const auto value = static_cast<float>(vector.values[i] * scale);
    AppendBigEndian(static_cast<uint16_t>(ValueLevel(value)), element);
    is_tame = is_tame && IsTame(vector.values[i]);
  }
  std::string& dimension = elements.emplace_back(SparseDimensionPrefix());
  AppendBigEndian(vector.dimension, dimension);
  const double mass = MassOf(vector, metric);
  if (mass == 0 && is_tame) return elements;
  std::string& element = elements.emplace_back(SparseMassPrefix());
  AppendBigEndian(static_cast<uint16_t>(is_tame ? MassLevel(mass) : kUnboundedMass), element);
  return elements;
}

// ---- Queries

HostSparseQuery::HostSparseQuery(const HostSparseVector& vector, Metric metric)
    : metric_(metric),
      dimension_(vector.dimension),
      places_(vector.places.begin(), vector.places.end()),
      mass_(MassOf(vector, metric)),
      loss_(LossOf(vector.places.size(), metric)),
      has_no_distance_(metric == Metric::kCosineNan && vector.values.empty()) {
  const double scale = ScaleOf(vector, metric);
  values_.reserve(places_.size());
  for (const float value : vector.values) {
    values_.push_back(value * scale);
    is_unbounded_ = is_unbounded_ || std::fabs(value) < kValueMin;
  }
  is_unbounded_ = is_unbounded_ || AbsoluteSum(vector) > kQueryMax;
}

double HostSparseQuery::GainOf(size_t i, uint32_t level) const {
  const LevelRange range = RangeOfLevel(level);
  const double value = values_[i];
  if (metric_ == Metric::kL1) {
    // It ascends, or descends, over the level.
    const auto gain = [value](double x) {
      return std::fabs(value) + std::fabs(x) - std::fabs(value - x);
    };
    return std::max(gain(range.low), gain(range.high));
  }
  const double gain = std::max(value * range.low, value * range.high);
  return metric_ == Metric::kL2 ? 2 * gain : gain + std::fabs(gain) * loss_;
}

float HostSparseQuery::KeyOf(double gains, uint32_t mass) const {
  if (has_no_distance_) return std::numeric_limits<float>::quiet_NaN();
  if (is_unbounded_ || mass == kUnboundedMass || gains == kUnknown)
    return -std::numeric_limits<float>::infinity();
  switch (metric_) {
    case Metric::kNegativeIp:
      return RoundedDown(-gains);
    case Metric::kCosineNan:
      if (mass == 0) return std::numeric_limits<float>::quiet_NaN();
      return RoundedDown(std::max(1 - gains - std::fabs(gains) * loss_, 0.0));
    default: {
      // What is left of a difference of large numbers is off by their last bits.
      const double whole = mass_ + MassOfLevel(mass);
      const double least = whole - gains - whole * 0x1p-40;
      return RoundedDown(std::max(least * (1 - loss_), 0.0));
    }
  }
}

float HostSparseQuery::LeastKeyOf(double gains) const {
  return KeyOf(gains, metric_ == Metric::kCosineNan ? MassLevel(1) : 0);
}

double HostSparseQuery::LeastGainsFor(float key) const {
  if (is_unbounded_ || std::isnan(key)) return -std::numeric_limits<double>::infinity();
  const double slack = 0x1p-20 * (1 + mass_ + std::fabs(key));  // more than is rounded
  switch (metric_) {
    case Metric::kNegativeIp:
      return -key - slack;
    case Metric::kCosineNan: {
      const double gains = 1 - double{key};
      return gains / (gains > 0 ? 1 + loss_ : 1 - loss_) - slack;
    }
    default:
      return mass_ - key / (1 - loss_) - slack;
  }
}

float HostSparseQuery::BoundOf(float key) const {
  return metric_ == Metric::kL2 && key > 0 ? RoundedDown(std::sqrt(double{key})) : key;
}

}  // namespace pigment
