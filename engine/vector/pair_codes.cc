// SPDX-License-Identifier: Apache-2.0
//
// Bounds of distances: see the header.

#include "engine/vector/pair_codes.h"

#include <cmath>

namespace pigment {

uint64_t PairCodes::Bytes(uint32_t dimension) {
  return PaddedTo(kByteProductStep, dimension) + sizeof(Numbers);
}

Status PairCodes::Make(const VectorTable& vectors, const BuildPause& pause) {
  const uint32_t dimension = vectors.dimension();
  PIGMENT_RETURN_IF_ERROR(reservation_.Grow(Bytes(dimension) * vectors.count()));
  stride_ = PaddedTo(kByteProductStep, dimension);
  codes_.resize(stride_ * vectors.count());
  numbers_.reserve(vectors.count());
  const std::vector<float> origin(PaddedTo(kByteRowStep, dimension));
  std::vector<float> residual(origin.size());
  for (uint32_t i = 0; i < vectors.count(); ++i) {
    if (pause) PIGMENT_RETURN_IF_ERROR(pause());
    const ByteRow row = EncodeByteRow(vectors.row(i), origin.data(), dimension, kByteCodeMax,
                                      residual.data(), codes_.data() + i * stride_);
    numbers_.push_back({.row = row, .norm = std::sqrt(row.square)});
  }
  return Status::Ok();
}

PairCodes::Bounds PairCodes::Between(uint32_t a, uint32_t b) const {
  const Numbers& of_a = numbers_[a];
  const Numbers& of_b = numbers_[b];
  const int32_t product = ByteRowProduct(codes_.data() + a * stride_, codes_.data() + b * stride_,
                                         stride_, of_b.row.sum);
  const float distance = (of_a.row.square + of_b.row.square) -
                         2 * (of_a.row.scale * of_b.row.scale) * static_cast<float>(product);
  const float off =
      ByteProductError(of_a.row.scale, of_b.norm) + ByteProductError(of_b.row.scale, of_a.norm);
  return {.least = distance - off, .most = distance + off};
}

}  // namespace pigment
