// SPDX-License-Identifier: Apache-2.0
//
// The distances that a host's operators are made of, through the public header alone.

#include <gtest/gtest.h>

#include <cmath>

#include "pigment/pigment_host.h"

namespace {

TEST(HostDistance, GivesEachMetricOfTheList) {
  const float a[] = {1, 2, 3};
  const float b[] = {4, 6, 8};
  EXPECT_EQ(pigment_host_distance(PIGMENT_METRIC_L2, a, b, 3), 50.0f);
  EXPECT_FLOAT_EQ(pigment_host_distance(PIGMENT_METRIC_COSINE, a, b, 3),
                  static_cast<float>(1 - 40 / std::sqrt(14.0 * 116.0)));
  EXPECT_EQ(pigment_host_distance(PIGMENT_METRIC_IP, a, b, 3), -39.0f);
  EXPECT_EQ(pigment_host_distance(PIGMENT_METRIC_NEGATIVE_IP, a, b, 3), -40.0f);
  EXPECT_EQ(pigment_host_distance(PIGMENT_METRIC_L1, a, b, 3), 12.0f);
  const float bits[] = {1, 1, 0, 1};
  const float others[] = {1, 0, 0, 1};
  EXPECT_EQ(pigment_host_distance(PIGMENT_METRIC_HAMMING, bits, others, 4), 1.0f);
  EXPECT_EQ(pigment_host_distance(PIGMENT_METRIC_JACCARD, bits, others, 4),
            static_cast<float>(1 - 2 / 3.0));
  const float zero[] = {0, 0, 0, 0};
  EXPECT_EQ(pigment_host_distance(PIGMENT_METRIC_JACCARD, bits, zero, 4), 1.0f);
  EXPECT_EQ(pigment_host_distance(PIGMENT_METRIC_JACCARD, zero, zero, 4), 1.0f);
  EXPECT_EQ(pigment_host_distance(PIGMENT_METRIC_COSINE, a, zero, 3), 1.0f);
  EXPECT_TRUE(std::isnan(pigment_host_distance(PIGMENT_METRIC_COSINE_NAN, a, zero, 3)));
}

TEST(HostDistance, OfAMetricThatIsNotInTheListIsNotANumber) {
  const float a[] = {1};
  for (int32_t metric : {-1, 0, 9, 1 << 30}) {
    EXPECT_TRUE(std::isnan(pigment_host_distance(metric, a, a, 1))) << metric;
  }
}

TEST(HostRounding, TakesWhatHalvesHoldNearly) {
  const float vector[] = {1.0001f, -0.33f, 600.77f};
  const int32_t metric = PIGMENT_METRIC_L2;
  float rounded[3] = {};
  ASSERT_TRUE(pigment_host_round_to_halves(metric, vector, 3, rounded, nullptr));
  EXPECT_EQ(rounded[0], 1.0f);
  EXPECT_EQ(rounded[1], -0.330078125f);
  EXPECT_EQ(rounded[2], 601.0f);
  EXPECT_TRUE(pigment_host_round_to_halves(metric, vector, 3, nullptr, nullptr));
  const float large[] = {1, 65520, 1}, tiny[] = {1e-7f, 1e-6f, -1e-7f}, zeros[] = {0, 0, 0};
  EXPECT_FALSE(pigment_host_round_to_halves(metric, large, 3, rounded, nullptr));
  EXPECT_FALSE(pigment_host_round_to_halves(metric, tiny, 3, rounded, nullptr));
  EXPECT_TRUE(pigment_host_round_to_halves(metric, zeros, 3, rounded, nullptr));
}

TEST(HostRounding, TellsHowFarItTakesAVectorByMetric) {
  const float vector[] = {3.001f, -4.001f};
  float rounded[2] = {};
  ASSERT_TRUE(pigment_host_round_to_halves(PIGMENT_METRIC_L2, vector, 2, rounded, nullptr));
  const double x = double{vector[0]} - rounded[0], y = double{vector[1]} - rounded[1];
  const double length = std::sqrt(x * x + y * y);
  const auto rounding = [&](int32_t metric) {
    double result = -1;
    EXPECT_TRUE(pigment_host_round_to_halves(metric, vector, 2, nullptr, &result));
    return result;
  };
  EXPECT_NEAR(rounding(PIGMENT_METRIC_L2), length, 1e-9);
  EXPECT_NEAR(rounding(PIGMENT_METRIC_NEGATIVE_IP), length, 1e-9);
  EXPECT_NEAR(rounding(PIGMENT_METRIC_L1), std::abs(x) + std::abs(y), 1e-9);
  EXPECT_NEAR(rounding(PIGMENT_METRIC_COSINE), length / pigment_host_norm(vector, 2), 1e-9);
  EXPECT_NEAR(rounding(PIGMENT_METRIC_COSINE_NAN), length / pigment_host_norm(vector, 2), 1e-9);
  double none = -1;
  EXPECT_TRUE(pigment_host_round_to_halves(PIGMENT_METRIC_L1, rounded, 2, nullptr, &none));
  EXPECT_EQ(none, 0) << "halves are what they are";
}

TEST(HostRounding, ToTwelveBitsSaysNoMoreThanHalvesHold) {
  const int32_t metric = PIGMENT_METRIC_L2;
  const float vector[] = {1.0001f, -0.33f, 0.77f};
  float rounded[3] = {}, again[3] = {};
  double rounding = -1, none = -1;
  ASSERT_TRUE(pigment_host_round_to_twelves(metric, vector, 3, rounded, &rounding));
  double square = 0;
  for (int i = 0; i < 3; ++i) square += std::pow(double{vector[i]} - rounded[i], 2);
  EXPECT_NEAR(rounding, std::sqrt(square), 1e-9);
  ASSERT_TRUE(pigment_host_round_to_halves(metric, rounded, 3, again, &none));
  EXPECT_EQ(none, 0);
  EXPECT_EQ(std::vector<float>(again, again + 3), std::vector<float>(rounded, rounded + 3));
  EXPECT_TRUE(pigment_host_round_to_twelves(metric, vector, 3, nullptr, nullptr));
  const float large[] = {1, 65520, 1}, tiny[] = {1e-7f, 1e-6f, -1e-7f};
  const float exact[] = {1.0009765625f, 3, 5};
  EXPECT_FALSE(pigment_host_round_to_twelves(metric, large, 3, rounded, nullptr));
  EXPECT_FALSE(pigment_host_round_to_twelves(metric, tiny, 3, rounded, nullptr));
  EXPECT_FALSE(pigment_host_round_to_twelves(metric, exact, 3, rounded, nullptr))
      << "16 bits lose nothing, 12 would";
}

TEST(HostNorm, IsFiniteWhereTheSquaresOverflowF32) {
  const float a[] = {3e38f, 3e38f};
  EXPECT_NEAR(pigment_host_norm(a, 2) / (3e38 * std::sqrt(2.0)), 1.0, 1e-6);
}

}  // namespace
