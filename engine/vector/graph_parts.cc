// SPDX-License-Identifier: Apache-2.0
//
// Vectors to the nearest parts that have room: see the header.

#include "engine/vector/graph_parts.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "engine/vector/member_codes.h"

namespace pigment {
namespace {

// Parts have room for so many times what they have on average, because some are dense.
constexpr double kRoom = 2.5;
// A vector is in the first of so many around it that have room.
constexpr uint32_t kPartsAround = 8;
// Vectors whose parts are found at once.
constexpr uint32_t kAtOnce = 8192;

// Gives vectors their parts, one after the other.
class Placer {
 public:
  Placer(uint32_t parts, uint32_t vectors_max) : vectors_max_(vectors_max), sizes_(parts) {}

  // Up to kPartsOfVector of those `around`, nearest first; where all are full any that is not.
  std::span<const uint32_t> Place(std::span<const uint32_t> around) {
    placed_.clear();
    for (const uint32_t part : around) {
      if (placed_.size() < kPartsOfVector && sizes_[part] < vectors_max_) Take(part);
    }
    if (!placed_.empty()) return placed_;
    while (sizes_[first_with_room_] == vectors_max_) ++first_with_room_;
    Take(first_with_room_);
    return placed_;
  }

 private:
  void Take(uint32_t part) {
    ++sizes_[part];
    placed_.push_back(part);
  }

  const uint32_t vectors_max_;
  std::vector<uint32_t> sizes_;
  uint32_t first_with_room_ = 0;
  std::vector<uint32_t> placed_;
};

}  // namespace

uint32_t PartCount(uint32_t count, uint32_t vectors_max) {
  return static_cast<uint32_t>(kRoom * kPartsOfVector * count / vectors_max) + 1;
}

uint64_t PartsBytes(uint32_t dimension, uint32_t count, uint32_t vectors_max, uint32_t threads) {
  const uint64_t parts = PartCount(count, vectors_max);
  constexpr uint64_t kCentroidCopies = 2;
  // Which parts each is in, and the same by part; before that a sample.
  const uint64_t placed = uint64_t{count} * (2 * kPartsOfVector + 1) * sizeof(uint32_t);
  return placed + parts * (kCentroidCopies * dimension * sizeof(float) + 4 * sizeof(uint32_t)) +
         threads * MemberCodes::Bytes(dimension, parts) +
         kAtOnce * kPartsAround * (sizeof(uint32_t) + sizeof(float));
}

Result<NumberLists> MakeParts(const VectorTable& vectors, uint32_t vectors_max,
                              ClusterOptions clusters) {
  const uint32_t count = vectors.count();
  clusters.clusters = PartCount(count, vectors_max);
  PIGMENT_ASSIGN_OR_RETURN(const Clusters made, Clusters::Make(vectors, clusters));
  const uint32_t parts = made.centroids().count();
  const uint32_t around = std::min(kPartsAround, parts);
  Placer placer(parts, vectors_max);
  NumberLists parts_of;
  parts_of.begins.reserve(size_t{count} + 1);
  parts_of.numbers.reserve(size_t{count} * kPartsOfVector);
  std::vector<uint32_t> rows(std::min(kAtOnce, count));
  std::vector<uint32_t> nearest(rows.size() * around);
  for (uint32_t first = 0; first < count; first += kAtOnce) {
    const auto some = std::span(rows).first(std::min(kAtOnce, count - first));
    std::iota(some.begin(), some.end(), first);
    PIGMENT_RETURN_IF_ERROR(
        made.FindNearest(vectors, some, around, nearest.data(), nullptr, clusters));
    for (size_t i = 0; i < some.size(); ++i)
      parts_of.Add(placer.Place(std::span(nearest).subspan(i * around, around)));
  }
  return Invert(parts, count, [&](uint32_t vector) { return parts_of.of(vector); });
}

}  // namespace pigment
