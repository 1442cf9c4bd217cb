// SPDX-License-Identifier: Apache-2.0
//
// Sparse vectors of a host's rows as elements.

#include "c_api/host_sparse.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "c_api/host_record.h"

using pigment::Result;
using pigment::Status;

namespace pigment::abi {

Result<HostSparseVector> ReadSparseVector(const pigment_sparse_vector* vector, int32_t metric,
                                          std::string_view name) {
  if (vector == nullptr) return InvalidArgument(fmt::format("argument {} is NULL", name));
  if (!IsHostSparseMetric(static_cast<Metric>(metric))) {
    return InvalidArgument(fmt::format(
        "metric {} has no sparse vectors, expected {}, {}, {} or {}", metric,
        static_cast<int>(PIGMENT_METRIC_L2), static_cast<int>(PIGMENT_METRIC_COSINE_NAN),
        static_cast<int>(PIGMENT_METRIC_NEGATIVE_IP), static_cast<int>(PIGMENT_METRIC_L1)));
  }
  if (vector->count != 0 && (vector->places == nullptr || vector->values == nullptr)) {
    return InvalidArgument(fmt::format("argument {}.{} is NULL and its count is {}", name,
                                       vector->places == nullptr ? "places" : "values",
                                       vector->count));
  }
  HostSparseVector read{.dimension = vector->dimension, .places = {}, .values = {}};
  if (vector->count != 0) {
    read.places = {vector->places, vector->count};
    read.values = {vector->values, vector->count};
  }
  PIGMENT_RETURN_IF_ERROR(CheckHostSparseVector(name, read));
  return read;
}

}  // namespace pigment::abi

pigment_status pigment_host_sparse_elements(int32_t metric, const pigment_sparse_vector* vector,
                                            pigment_buffer** elements, pigment_error** error) {
  const auto clear = [elements] { pigment::abi::ClearBuffer(elements); };
  return pigment::abi::Call(error, clear, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{elements, "elements"}}));
    PIGMENT_ASSIGN_OR_RETURN(const pigment::HostSparseVector read,
                             pigment::abi::ReadSparseVector(vector, metric, "vector"));
    *elements = pigment::abi::NewElements(
        pigment::ElementsOfSparseVector(read, static_cast<pigment::Metric>(metric)));
    return Status::Ok();
  });
}
