// SPDX-License-Identifier: Apache-2.0
//
// Distances of the host interface: the numbers by which segments are searched, for a host's own
// operators. Pure functions; any thread; never fail.

#include <optional>
#include <span>

#include "engine/vector/distance.h"
#include "engine/vector/half.h"
#include "engine/vector/twelve.h"
#include "pigment/pigment_host.h"

static_assert(static_cast<int32_t>(pigment::Metric::kL2) == PIGMENT_METRIC_L2);
static_assert(static_cast<int32_t>(pigment::Metric::kCosine) == PIGMENT_METRIC_COSINE);
static_assert(static_cast<int32_t>(pigment::Metric::kIp) == PIGMENT_METRIC_IP);
static_assert(static_cast<int32_t>(pigment::Metric::kNegativeIp) == PIGMENT_METRIC_NEGATIVE_IP);
static_assert(static_cast<int32_t>(pigment::Metric::kL1) == PIGMENT_METRIC_L1);
static_assert(static_cast<int32_t>(pigment::Metric::kCosineNan) == PIGMENT_METRIC_COSINE_NAN);
static_assert(static_cast<int32_t>(pigment::Metric::kHamming) == PIGMENT_METRIC_HAMMING);
static_assert(static_cast<int32_t>(pigment::Metric::kJaccard) == PIGMENT_METRIC_JACCARD);

float pigment_host_distance(int32_t metric, const float* a, const float* b, size_t dimension) {
  return pigment::Distance(static_cast<pigment::Metric>(metric), a, b, dimension);
}

double pigment_host_norm(const float* a, size_t dimension) { return pigment::Norm(a, dimension); }

namespace {

bool Tell(int32_t metric, const std::optional<pigment::HalfShift>& shift, double* rounding) {
  if (shift && rounding != nullptr) *rounding = shift->Of(static_cast<pigment::Metric>(metric));
  return shift.has_value();
}

}  // namespace

bool pigment_host_round_to_halves(int32_t metric, const float* vector, size_t dimension,
                                  float* rounded, double* rounding) {
  const std::span<float> out(rounded, rounded != nullptr ? dimension : 0);
  return Tell(metric, pigment::RoundVector({vector, dimension}, out), rounding);
}

bool pigment_host_round_to_twelves(int32_t metric, const float* vector, size_t dimension,
                                   float* rounded, double* rounding) {
  const std::span<float> out(rounded, rounded != nullptr ? dimension : 0);
  return Tell(metric, pigment::RoundToTwelves({vector, dimension}, out), rounding);
}
