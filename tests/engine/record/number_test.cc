// SPDX-License-Identifier: Apache-2.0
//
// Tests of engine/record/number.h against long double, which holds every int64 and every
// double.

#include "engine/record/number.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace pigment {
namespace {

template <typename A, typename B>
void ExpectAsLongDouble(A a, B b) {
  const auto expected = static_cast<long double>(a) <=> static_cast<long double>(b);
  EXPECT_TRUE((Number(a) <=> Number(b)) == expected) << a << " and " << b;
  EXPECT_EQ(Number(a) == Number(b), expected == 0) << a << " and " << b;
}

TEST(Number, NothingIsRoundedAtTheEdges) {
  const std::vector<int64_t> integers = {0,
                                         1,
                                         -1,
                                         2,
                                         (int64_t{1} << 53) - 1,
                                         int64_t{1} << 53,
                                         (int64_t{1} << 53) + 1,
                                         -(int64_t{1} << 53) - 1,
                                         INT64_MAX,
                                         INT64_MAX - 1,
                                         INT64_MAX - 511,
                                         INT64_MAX - 512,
                                         INT64_MAX - 1023,
                                         INT64_MIN,
                                         INT64_MIN + 1};
  std::vector<double> reals = {0.0,
                               -0.0,
                               0.5,
                               -0.5,
                               5e-324,
                               2.5,
                               1e300,
                               -1e300,
                               std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity()};
  for (int64_t integer : integers) {
    const auto near = static_cast<double>(integer);
    reals.insert(reals.end(),
                 {near, std::nextafter(near, HUGE_VAL), std::nextafter(near, -HUGE_VAL)});
  }
  for (int64_t a : integers) {
    for (int64_t b : integers) ExpectAsLongDouble(a, b);
    for (double b : reals) {
      ExpectAsLongDouble(a, b);
      ExpectAsLongDouble(b, a);
    }
  }
  for (double a : reals) {
    for (double b : reals) ExpectAsLongDouble(a, b);
  }
}

TEST(Number, RandomNumbersCompareExactly) {
  constexpr uint64_t kSeed = 19;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 200000; ++i) {
    const auto integer = static_cast<int64_t>(random()) >> (random() % 63);
    double real = std::bit_cast<double>(random());
    if (i % 2 == 0 || !std::isfinite(real))
      real = static_cast<double>(integer) + static_cast<double>(random() % 5) / 4 - 0.5;
    ExpectAsLongDouble(integer, real);
    ExpectAsLongDouble(real, integer);
  }
}

TEST(Number, NaNIsUnordered) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Number& other : {Number(int64_t{0}), Number(0.5), Number(nan)}) {
    EXPECT_TRUE((Number(nan) <=> other) == std::partial_ordering::unordered);
    EXPECT_TRUE((other <=> Number(nan)) == std::partial_ordering::unordered);
  }
}

}  // namespace
}  // namespace pigment
