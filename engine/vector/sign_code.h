// SPDX-License-Identifier: Apache-2.0
//
// Sign codes: one bit a dimension of rotated vectors, after RaBitQ (Gao and Long, SIGMOD 2024), and
// the scan of many codes at once by table look-ups (André, Kermarrec and Le Scouarnec, VLDB 2015).
// Pure functions over bytes of the caller's; any thread. The same bits on every machine.
//
// Of a rotated vector r (a vector less its centre) the code keeps the signs s, each 1 or -1. For
// any p of the same space
//   r . p  ~  |r|^2 / sum |r_i|  *  (s . p),
// unbiased over the random rotation, with the standard error that SignCodeFactor has.
//
// Codes are packed in groups of up to 32, so that one pass over the group's bytes gives s . p of
// all. A group of n codes has n rounded up to a multiple of 8; half of these, h, is its stride: for
// each four dimensions h bytes, of which byte t has the four signs of code t in its lower half and
// those of code t + h in its upper half, the first dimension lowest, a set bit for +.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pigment {

inline constexpr size_t kSignCodesPerGroup = 32;
inline constexpr size_t kSignCodeDimensionMax = 65536;  // of rotated vectors

// Bytes of each four dimensions in a group of `count` codes. REQUIRES: 1 <= count <= 32.
constexpr size_t SignCodeStride(size_t count) { return (count + 7) / 8 * 4; }
// Bytes of a group. REQUIRES: dimension (that of rotated vectors) is a multiple of 16.
constexpr size_t SignCodeGroupBytes(uint32_t dimension, size_t count) {
  return size_t{dimension} / 4 * SignCodeStride(count);
}

// What an estimate needs of r besides its code.
struct SignCodeFactor {
  float square = 0;  // |r|^2
  float scale = 0;   // |r|^2 / sum |r_i|; 0 where r is zero
  float centre = 0;  // s . c, with the centre c that r begins at
  // Standard error of an estimate of r . p, at |p| = 1: |r| sqrt((1 - a^2) / a^2 / (d - 1)) with
  // a = sum |r_i| / (sqrt(d) |r|).
  float error = 0;
};

// Numbers are added to sum i mod this, for every width of registers.
inline constexpr size_t kCodeSums = 16;
double TotalOf(const float (&sums)[kCodeSums]);

// The factor of a code whose levels u (of one bit the signs) have these u . r and |u|^2.
SignCodeFactor FactorOfCode(double square, double product, double level_square, double dimension,
                            double centre);

// Writes the signs of r = vector - centre, bit i % 8 of byte i / 8 set for +, in vector.size() / 8
// bytes. REQUIRES: as EncodeSignCode.
SignCodeFactor EncodeSigns(std::span<const float> vector, std::span<const float> centre,
                           std::byte* signs);

// Sets the signs of code `index` within a group that begins at `group` and is zero there, of r =
// vector - centre. REQUIRES: both have the same size, a multiple of 16, and are finite; index <
// count.
SignCodeFactor EncodeSignCode(std::span<const float> vector, std::span<const float> centre,
                              size_t index, size_t count, std::byte* group);
// The same of signs that EncodeSigns wrote, or others in its order, a multiple of 16.
void PlaceSigns(std::span<const std::byte> signs, size_t index, size_t count, std::byte* group);

// A rotated p (a query, or what remains of it beyond a centre), prepared once: tables of the sums
// of each four dimensions in 8 bits. 4 bytes a dimension and bit of it.
class SignCodeQuery {
 public:
  // For codes of `bits` a dimension (level_code.h). REQUIRES: query.size() is a multiple of 16 and
  // not 0; finite values.
  explicit SignCodeQuery(std::span<const float> query, uint32_t bits = 1);

  // s . p of the `count` codes of a group (u . p of codes of more bits), off by at most
  // table_error() and rounding. `sums` has room for 32. REQUIRES: 1 <= count <= 32.
  void Sums(const std::byte* group, size_t count, float* sums) const;

  uint32_t bits() const { return bits_; }
  float table_error() const { return table_error_; }

 private:
  uint32_t bits_;
  std::vector<uint8_t> tables_;  // of 16 sums for each four dimensions, less the least of them
  float step_ = 0;               // of the tables
  float least_ = 0;              // sum of what the tables are less by
  float table_error_ = 0;
};

}  // namespace pigment
