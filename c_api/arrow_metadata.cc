// SPDX-License-Identifier: Apache-2.0
//
// A row of a struct as JSON.

#include "c_api/arrow_metadata.h"

#include <cmath>

#include "c_api/error.h"
#include "engine/record/text.h"
#include "engine/vector/half.h"

namespace pigment::abi {
namespace {

bool IsScalar(ArrowType type) {
  return type != ArrowType::kStruct && !IsList(type) && !IsBytes(type);
}

Status CheckField(const ArrowField& field) {
  const ArrowField& value = IsList(field.type) ? field.children[0] : field;
  if (!IsScalar(value.type)) return RefuseColumn(field, "is of a type that metadata cannot hold");
  if (!IsUtf8(field.name)) return RefuseColumn(field, "has a name that is not valid UTF-8");
  return Status::Ok();
}

Status AppendFloat(const ArrowColumn& column, double value, std::string& out) {
  if (!std::isfinite(value)) return RefuseColumn(column.field(), "has NaN or an infinity");
  AppendJsonDouble(value, out);
  return Status::Ok();
}

Status AppendText(const ArrowColumn& column, std::string_view text, std::string& out) {
  if (!IsUtf8(text)) return RefuseColumn(column.field(), "is not valid UTF-8: " + Quoted(text));
  AppendJsonString(text, out);
  return Status::Ok();
}

Status AppendValue(const ArrowColumn& column, int64_t row, std::string& out);

Status AppendList(const ArrowColumn& column, int64_t row, std::string& out) {
  const ArrowColumn::Range items = column.Items(row);
  out += '[';
  for (int64_t item = items.begin; item < items.end; ++item) {
    if (item != items.begin) out += ',';
    if (!column.child(0).has(item)) return RefuseColumn(column.field(), "has a null in a list");
    PIGMENT_RETURN_IF_ERROR(AppendValue(column.child(0), item, out));
  }
  out += ']';
  return Status::Ok();
}

// REQUIRES: column.has(row).
Status AppendValue(const ArrowColumn& column, int64_t row, std::string& out) {
  switch (column.field().type) {
    case ArrowType::kBool:
      out += column.Bool(row) ? "true" : "false";
      return Status::Ok();
    case ArrowType::kInt8:
      out += std::to_string(column.Number<int8_t>(row));
      return Status::Ok();
    case ArrowType::kUint8:
      out += std::to_string(column.Number<uint8_t>(row));
      return Status::Ok();
    case ArrowType::kInt16:
      out += std::to_string(column.Number<int16_t>(row));
      return Status::Ok();
    case ArrowType::kUint16:
      out += std::to_string(column.Number<uint16_t>(row));
      return Status::Ok();
    case ArrowType::kInt32:
      out += std::to_string(column.Number<int32_t>(row));
      return Status::Ok();
    case ArrowType::kUint32:
      out += std::to_string(column.Number<uint32_t>(row));
      return Status::Ok();
    case ArrowType::kInt64:
      out += std::to_string(column.Number<int64_t>(row));
      return Status::Ok();
    case ArrowType::kUint64:
      out += std::to_string(column.Number<uint64_t>(row));
      return Status::Ok();
    case ArrowType::kHalf:
      return AppendFloat(column, FloatOfHalf(column.Number<uint16_t>(row)), out);
    case ArrowType::kFloat:
      return AppendFloat(column, column.Number<float>(row), out);
    case ArrowType::kDouble:
      return AppendFloat(column, column.Number<double>(row), out);
    case ArrowType::kText:
    case ArrowType::kLargeText:
    case ArrowType::kTextView:
      return AppendText(column, column.Text(row), out);
    case ArrowType::kList:
    case ArrowType::kLargeList:
    case ArrowType::kFixedList:
      return AppendList(column, row, out);
    case ArrowType::kNull:
    case ArrowType::kBytes:
    case ArrowType::kLargeBytes:
    case ArrowType::kBytesView:
    case ArrowType::kStruct:
      break;
  }
  return RefuseColumn(column.field(), "is of a type that metadata cannot hold");
}

}  // namespace

Status CheckMetadataFields(const ArrowField& metadata) {
  for (const ArrowField& field : metadata.children) PIGMENT_RETURN_IF_ERROR(CheckField(field));
  return Status::Ok();
}

Result<std::optional<std::string>> MetadataJson(const ArrowColumn& metadata, int64_t row) {
  if (!metadata.has(row)) return std::optional<std::string>();
  std::string out;
  for (size_t i = 0; i < metadata.field().children.size(); ++i) {
    const ArrowColumn& value = metadata.child(i);
    if (!value.has(row)) continue;
    out += out.empty() ? '{' : ',';
    AppendJsonString(value.field().name, out);
    out += ':';
    if (Status status = AppendValue(value, row, out); !status.ok())
      return std::move(status).WithRow(row);
  }
  if (out.empty()) return std::optional<std::string>();
  out += '}';
  return std::optional<std::string>(std::move(out));
}

}  // namespace pigment::abi
