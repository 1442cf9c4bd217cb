// SPDX-License-Identifier: Apache-2.0
//
// Checking and converting the columns of a caller.

#include "c_api/columns.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "c_api/error.h"
#include "engine/record/text.h"
#include "engine/record/validate.h"
#include "engine/vector/half.h"

namespace pigment::abi {
namespace {

std::string Named(std::string_view argument) { return "argument " + std::string(argument); }

Status CheckOffsets(const pigment_text_column& column, size_t count, std::string_view argument) {
  int64_t before = column.offsets[0];
  if (before < 0) {
    return InvalidArgument(Named(argument) + " begins at offset " + std::to_string(before))
        .WithRow(0);
  }
  for (size_t row = 0; row < count; ++row) {
    const int64_t after = column.offsets[row + 1];
    if (after < before) {
      return InvalidArgument(Named(argument) + " has offsets that do not ascend: " +
                             std::to_string(before) + " and then " + std::to_string(after))
          .WithRow(static_cast<int64_t>(row));
    }
    before = after;
  }
  if (column.bytes == nullptr && before > 0) return NullArgument(std::string(argument) + ".bytes");
  return Status::Ok();
}

Status CheckUtf8(const TextColumnView& view, std::string_view argument) {
  for (size_t row = 0; row < view.size(); ++row) {
    const std::string_view text = view[row];
    if (const size_t bad = FindInvalidUtf8(text); bad != std::string_view::npos) {
      return InvalidArgument(Named(argument) + " is not valid UTF-8 at byte " +
                             std::to_string(bad) + " of row " + std::to_string(row) + ": " +
                             Quoted(text))
          .WithRow(static_cast<int64_t>(row));
    }
  }
  return Status::Ok();
}

float Convert(float value) { return value; }
float Convert(uint16_t half) { return FloatOfHalf(half); }
float Convert(int32_t value) { return static_cast<float>(value); }
float Convert(int64_t value) { return static_cast<float>(value); }
float Convert(double value) {
  // Converting a finite double beyond the range of float is undefined: halfway to the next power of
  // two rounds to infinity.
  constexpr double kBeyond = 0x1.ffffffp+127;
  if (value >= kBeyond) return std::numeric_limits<float>::infinity();
  if (value <= -kBeyond) return -std::numeric_limits<float>::infinity();
  return static_cast<float>(value);
}

Status RefuseValue(std::string_view argument, size_t row, size_t column, double value) {
  const std::string place =
      " at row " + std::to_string(row) + ", position " + std::to_string(column);
  std::string message;
  if (std::isfinite(value)) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    message = std::string(argument) + " must fit 32-bit floats: got " + text + place;
  } else {
    message = std::string(argument) + " must not contain NaN or infinity values: got " +
              (std::isnan(value) ? "NaN"
               : value > 0       ? "infinity"
                                 : "-infinity") +
              place;
  }
  return InvalidArgument(Detail::kNotFinite, std::move(message)).WithRow(static_cast<int64_t>(row));
}

template <typename T>
Status ConvertRows(const pigment_vectors& vectors, size_t stride, std::string_view argument,
                   std::vector<float>& out) {
  const char* row = static_cast<const char*>(vectors.data);
  for (size_t r = 0; r < vectors.rows; ++r, row += stride) {
    float* target = out.data() + r * vectors.dimension;
    bool finite = true;
    for (size_t i = 0; i < vectors.dimension; ++i) {
      T value;
      std::memcpy(&value, row + i * sizeof(T), sizeof value);  // a stride may leave rows unaligned
      target[i] = Convert(value);
      finite &= std::isfinite(target[i]);
    }
    if (finite) continue;
    for (size_t i = 0; i < vectors.dimension; ++i) {
      if (std::isfinite(target[i])) continue;
      T value;
      std::memcpy(&value, row + i * sizeof(T), sizeof value);
      const double shown =
          std::is_same_v<T, double> ? static_cast<double>(value) : static_cast<double>(target[i]);
      return RefuseValue(argument, r, i, shown);
    }
  }
  return Status::Ok();
}

}  // namespace

std::string_view TextColumnView::operator[](size_t row) const {
  if (!has(row)) return {};
  const auto begin = static_cast<size_t>(column_.offsets[row]);
  const auto end = static_cast<size_t>(column_.offsets[row + 1]);
  return begin == end ? std::string_view("", 0)
                      : std::string_view(column_.bytes + begin, end - begin);
}

uint64_t TextColumnView::bytes() const {
  uint64_t bytes = 0;
  for (size_t row = 0; given() && row < size(); ++row) bytes += (*this)[row].size();
  return bytes;
}

Result<TextColumnView> ReadTextColumn(const pigment_text_column& column, size_t count,
                                      std::string_view argument, TextKind kind,
                                      bool count_belongs) {
  if (column.offsets == nullptr) {
    if (count_belongs && count != 0) {
      return InvalidArgument(Named(argument) + " is absent, but its count is " +
                             std::to_string(count));
    }
    return TextColumnView();
  }
  if (count >= PTRDIFF_MAX / sizeof(int64_t)) {
    return InvalidArgument(Named(argument) + " has an impossible count of " +
                           std::to_string(count));
  }
  PIGMENT_RETURN_IF_ERROR(CheckOffsets(column, count, argument));
  const TextColumnView view(column, count);
  if (kind == TextKind::kUtf8) PIGMENT_RETURN_IF_ERROR(CheckUtf8(view, argument));
  return view;
}

Status CheckAllPresent(const TextColumnView& column, std::string_view argument) {
  for (size_t row = 0; row < column.size(); ++row) {
    if (!column.has(row)) {
      return InvalidArgument(std::string(argument) + " must be present in every row: row " +
                             std::to_string(row) + " has none")
          .WithRow(static_cast<int64_t>(row));
    }
  }
  return Status::Ok();
}

std::vector<std::string> CopyTexts(const TextColumnView& column) {
  std::vector<std::string> texts;
  texts.reserve(column.size());
  for (size_t row = 0; row < column.size(); ++row) texts.emplace_back(column[row]);
  return texts;
}

Status CheckVectorShape(const pigment_vectors& vectors, std::string_view argument) {
  return CheckDimensionRange(argument, vectors.dimension);
}

Result<std::vector<float>> ReadVectors(const pigment_vectors& vectors, std::string_view argument) {
  PIGMENT_RETURN_IF_ERROR(
      CheckEnum(vectors.dtype, PIGMENT_F32, PIGMENT_I64, std::string(argument) + ".dtype"));
  static constexpr size_t kElementBytes[] = {4, 2, 8, 4, 8};
  const size_t row_bytes = vectors.dimension * kElementBytes[vectors.dtype];
  const size_t stride = vectors.row_stride_bytes != 0 ? vectors.row_stride_bytes : row_bytes;
  if (stride < row_bytes) {
    return InvalidArgument(Named(argument) + ".row_stride_bytes is " + std::to_string(stride) +
                           ", but a row has " + std::to_string(row_bytes) + " bytes");
  }
  if (vectors.rows == 0) return std::vector<float>();
  if (vectors.data == nullptr) return NullArgument(std::string(argument) + ".data");
  if (vectors.rows > static_cast<size_t>(PTRDIFF_MAX) / stride) {
    return InvalidArgument(Named(argument) +
                           " has an impossible number of rows: " + std::to_string(vectors.rows));
  }
  std::vector<float> out(vectors.rows * vectors.dimension);
  switch (vectors.dtype) {
    case PIGMENT_F32:
      PIGMENT_RETURN_IF_ERROR(ConvertRows<float>(vectors, stride, argument, out));
      break;
    case PIGMENT_F16:
      PIGMENT_RETURN_IF_ERROR(ConvertRows<uint16_t>(vectors, stride, argument, out));
      break;
    case PIGMENT_F64:
      PIGMENT_RETURN_IF_ERROR(ConvertRows<double>(vectors, stride, argument, out));
      break;
    case PIGMENT_I32:
      PIGMENT_RETURN_IF_ERROR(ConvertRows<int32_t>(vectors, stride, argument, out));
      break;
    case PIGMENT_I64:
      PIGMENT_RETURN_IF_ERROR(ConvertRows<int64_t>(vectors, stride, argument, out));
      break;
  }
  return out;
}

}  // namespace pigment::abi
