// SPDX-License-Identifier: Apache-2.0
//
// Sparse vectors of a host's rows. A column has what is not zero of its vector as elements of a
// list (host_keys.h), so that everything that keeps keys keeps it, and the rows that have a place
// are lists that begin alike, one for each level of their values:
//
//   u32 place, u16 level of the value   for each that is not zero
//   0xFE, u32 dimension                 once
//   0xFF, u16 level of the mass         once, unless it is 0
//
// Numbers have their highest byte first; a place is below 2^30. The mass is what the vector alone
// says of a distance: of L2 its squared norm, of L1 the sum of its absolute values, of the cosine,
// whose values are divided by the norm, 1; of the inner product 0.
//
// Levels are numbers rounded towards zero, values to 6 bits and masses to 9, so from elements a
// distance is not known, but a bound that it is not below: of HostSparseQuery::KeyOf. The host
// looks at the vectors themselves (a scan with its order checked again), and reads few beyond those
// that it gives. The bound holds for distances whose sums are of floats, in any order: what these
// may lose is taken off. Vectors with values so large or small that such sums may overflow or
// vanish have a mass of kUnboundedMass, and -infinity for a bound.
//
// Pure functions of immutable objects; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/record/metric.h"

namespace pigment {

// Borrowed.
struct HostSparseVector {
  uint32_t dimension = 0;
  std::span<const int32_t> places;  // ascending, from 0, below the dimension
  std::span<const float> values;    // of these places; finite and not 0
};
inline constexpr uint32_t kHostSparseDimensionMax = 1'000'000'000;
inline constexpr size_t kHostSparseValuesMax = 16'384;

// Ok for what the struct demands; `of` names the vector.
Status CheckHostSparseVector(std::string_view of, const HostSparseVector& vector);
// Whether a distance is one that sparse vectors have: kL2, kCosineNan, kNegativeIp, kL1.
bool IsHostSparseMetric(Metric metric);

// Ascending. REQUIRES: checked; the metric is of sparse vectors.
std::vector<std::string> ElementsOfSparseVector(const HostSparseVector& vector, Metric metric);

inline constexpr uint32_t kUnboundedMass = 0xFFFF;

// What elements begin with.
std::string SparsePlacePrefix(uint32_t place);
std::string_view SparseDimensionPrefix();
std::string_view SparseMassPrefix();
std::string SparseUnboundedElement();  // of rows with a mass of kUnboundedMass
// The rest of an element behind its prefix. None: it is damaged.
std::optional<uint32_t> ReadSparseLevel(std::string_view rest);  // of a value, or of the mass
std::optional<uint32_t> ReadSparseDimension(std::string_view rest);

// What an element is, by its first byte and size.
struct SparseElement {
  enum class Kind { kPlace, kDimension, kMass };
  Kind kind;
  uint32_t place = 0;
  uint32_t number = 0;  // level, or dimension
};
std::optional<SparseElement> ReadSparseElement(std::string_view element);

class HostSparseQuery {
 public:
  // REQUIRES: as ElementsOfSparseVector.
  HostSparseQuery(const HostSparseVector& vector, Metric metric);

  uint32_t dimension() const { return dimension_; }
  std::span<const int32_t> places() const { return places_; }

  // How much nearer a row is, at the most, by its value at the query's place i, than by its mass
  // alone.
  double GainOf(size_t i, uint32_t level) const;
  // Of a row with no place of the query's, or with these gains summed: a number that orders as a
  // bound of its distance does. NaN: so is its distance.
  float KeyOf(double gains, uint32_t mass) const;
  // No key of a row with these gains is less, whatever its mass.
  float LeastKeyOf(double gains) const;
  // A row with fewer gains has a greater key than this one, whatever its mass.
  double LeastGainsFor(float key) const;
  // The bound itself.
  float BoundOf(float key) const;

  // Gains of a row of which nothing is known.
  static constexpr double kUnknown = std::numeric_limits<double>::infinity();

 private:
  Metric metric_;
  uint32_t dimension_;
  std::vector<int32_t> places_;
  std::vector<double> values_;  // of the cosine: by their norm
  double mass_ = 0;
  double loss_ = 0;            // of a float's sums, by the size of what is summed
  bool is_unbounded_ = false;  // its sums may overflow or vanish
  bool has_no_distance_ = false;
};

}  // namespace pigment
