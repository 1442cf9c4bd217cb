// SPDX-License-Identifier: Apache-2.0
//
// Integers and floats compared as the numbers that they are: nothing is rounded or truncated, also
// beyond 2^53. Plain values; any thread.

#pragma once

#include <compare>
#include <cstdint>

namespace pigment {

// A number in its one canonical form: an integer where int64 can hold it (2.0 and -0.0 too), a
// double otherwise. So two numbers are equal exactly when their forms are.
class Number {
 public:
  Number(int64_t value) : is_integer_(true), integer_(value) {}  // NOLINT: implicit on purpose
  Number(double value) {                                         // NOLINT
    // In this range the cast is defined; both bounds are exact doubles.
    if (value >= -0x1p63 && value < 0x1p63 &&
        static_cast<double>(static_cast<int64_t>(value)) == value) {
      is_integer_ = true;
      integer_ = static_cast<int64_t>(value);
    } else {
      real_ = value;
    }
  }

  bool is_integer() const { return is_integer_; }
  int64_t integer() const { return integer_; }  // REQUIRES: is_integer()
  double real() const { return real_; }         // REQUIRES: !is_integer()

  // Unordered only with NaN.
  friend std::partial_ordering operator<=>(const Number& a, const Number& b) {
    if (a.is_integer_ && b.is_integer_) return a.integer_ <=> b.integer_;
    if (!a.is_integer_ && !b.is_integer_) return a.real_ <=> b.real_;
    if (a.is_integer_) return CompareMixed(a.integer_, b.real_);
    return 0 <=> CompareMixed(b.integer_, a.real_);
  }
  friend bool operator==(const Number& a, const Number& b) { return (a <=> b) == 0; }

 private:
  static std::partial_ordering CompareMixed(int64_t integer, double real) {
    if (real != real) return std::partial_ordering::unordered;
    if (real >= 0x1p63) return std::partial_ordering::less;
    if (real < -0x1p63) return std::partial_ordering::greater;
    // `real` is no integer here, so it lies strictly between its truncation and the next integer
    // away from zero.
    const auto truncated = static_cast<int64_t>(real);
    if (integer != truncated) return integer <=> truncated;
    return real > 0 ? std::partial_ordering::less : std::partial_ordering::greater;
  }

  bool is_integer_ = false;
  int64_t integer_ = 0;
  double real_ = 0;
};

}  // namespace pigment
