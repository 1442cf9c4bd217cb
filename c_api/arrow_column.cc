// SPDX-License-Identifier: Apache-2.0
//
// Reading schemas and arrays of Arrow's C data interface.

#include "c_api/arrow_column.h"

#include <charconv>
#include <limits>
#include <utility>

#include "c_api/error.h"
#include "engine/record/text.h"

namespace pigment::abi {
namespace {

struct Format {
  std::string_view text;
  ArrowType type;
};
constexpr Format kFormats[] = {
    {"n", ArrowType::kNull},       {"b", ArrowType::kBool},   {"c", ArrowType::kInt8},
    {"C", ArrowType::kUint8},      {"s", ArrowType::kInt16},  {"S", ArrowType::kUint16},
    {"i", ArrowType::kInt32},      {"I", ArrowType::kUint32}, {"l", ArrowType::kInt64},
    {"L", ArrowType::kUint64},     {"e", ArrowType::kHalf},   {"f", ArrowType::kFloat},
    {"g", ArrowType::kDouble},     {"u", ArrowType::kText},   {"U", ArrowType::kLargeText},
    {"vu", ArrowType::kTextView},  {"z", ArrowType::kBytes},  {"Z", ArrowType::kLargeBytes},
    {"vz", ArrowType::kBytesView}, {"+l", ArrowType::kList},  {"+L", ArrowType::kLargeList},
    {"+s", ArrowType::kStruct},
};
constexpr std::string_view kFixedListFormat = "+w:";

// A struct of metadata within a batch, a list in it, its items.
constexpr size_t kDepthMax = 3;

bool IsView(ArrowType type) {
  return type == ArrowType::kTextView || type == ArrowType::kBytesView;
}
bool IsLarge(ArrowType type) {
  return type == ArrowType::kLargeText || type == ArrowType::kLargeBytes ||
         type == ArrowType::kLargeList;
}

Status ReadFormat(ArrowField& field) {
  for (const Format& format : kFormats) {
    if (format.text != field.format) continue;
    field.type = format.type;
    return Status::Ok();
  }
  const std::string_view text = field.format;
  int32_t size = -1;
  if (text.starts_with(kFixedListFormat)) {
    const std::string_view digits = text.substr(kFixedListFormat.size());
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) size = -1;
  }
  if (size < 0) return RefuseColumn(field, "is of a type that no record has");
  field.type = ArrowType::kFixedList;
  field.list_size = size;
  return Status::Ok();
}

size_t ChildrenOf(const ArrowField& field, int64_t given) {
  if (IsList(field.type)) return 1;
  return field.type == ArrowType::kStruct ? static_cast<size_t>(given) : 0;
}

// Read into `field`, which has its path.
Status ReadField(const ArrowSchema* schema, size_t depth, ArrowField& field) {
  if (schema == nullptr) return RefuseColumn(field, "has a schema that is NULL");
  if (schema->release == nullptr) return RefuseColumn(field, "has a schema that was released");
  if (schema->format == nullptr) return RefuseColumn(field, "has a schema without a format");
  field.name = schema->name != nullptr ? schema->name : "";
  field.format = schema->format;
  PIGMENT_RETURN_IF_ERROR(ReadFormat(field));
  if (schema->dictionary != nullptr)
    return RefuseColumn(field, "is encoded by a dictionary").WithHint("cast it to its values");
  if (depth > kDepthMax) return RefuseColumn(field, "is nested too deep");
  const size_t children = ChildrenOf(field, schema->n_children);
  if (schema->n_children < 0 || children != static_cast<size_t>(schema->n_children)) {
    return RefuseColumn(field,
                        "has a schema with " + std::to_string(schema->n_children) + " children");
  }
  if (children != 0 && schema->children == nullptr)
    return RefuseColumn(field, "has a schema whose children are NULL");
  for (size_t i = 0; i < children; ++i) {
    ArrowField& child = field.children.emplace_back();
    child.path = field.path;
    const ArrowSchema* below = schema->children[i];
    if (field.type == ArrowType::kStruct && below != nullptr && below->name != nullptr)
      child.path += std::string(".") + below->name;
    PIGMENT_RETURN_IF_ERROR(ReadField(below, depth + 1, child));
  }
  return Status::Ok();
}

// How many buffers an array of this type has; views have at least so many.
int64_t BuffersOf(ArrowType type) {
  switch (type) {
    case ArrowType::kNull:
      return 0;
    case ArrowType::kFixedList:
    case ArrowType::kStruct:
      return 1;
    case ArrowType::kText:
    case ArrowType::kLargeText:
    case ArrowType::kBytes:
    case ArrowType::kLargeBytes:
    case ArrowType::kTextView:
    case ArrowType::kBytesView:
      return 3;
    case ArrowType::kBool:
    case ArrowType::kInt8:
    case ArrowType::kUint8:
    case ArrowType::kInt16:
    case ArrowType::kUint16:
    case ArrowType::kInt32:
    case ArrowType::kUint32:
    case ArrowType::kInt64:
    case ArrowType::kUint64:
    case ArrowType::kHalf:
    case ArrowType::kFloat:
    case ArrowType::kDouble:
    case ArrowType::kList:
    case ArrowType::kLargeList:
      return 2;
  }
  return 0;
}

// An entry of a view's second buffer. A text of at most kInlineMax bytes lies behind its size.
struct View {
  static constexpr int32_t kInlineMax = 12;
  int32_t size;
  char prefix[4];
  int32_t buffer;
  int32_t offset;
};
static_assert(sizeof(View) == 16);

}  // namespace

bool IsText(ArrowType type) {
  return type == ArrowType::kText || type == ArrowType::kLargeText || type == ArrowType::kTextView;
}
bool IsBytes(ArrowType type) {
  return type == ArrowType::kBytes || type == ArrowType::kLargeBytes ||
         type == ArrowType::kBytesView;
}
bool IsList(ArrowType type) {
  return type == ArrowType::kList || type == ArrowType::kLargeList || type == ArrowType::kFixedList;
}

Status RefuseColumn(const ArrowField& field, std::string_view what) {
  std::string message = field.path.empty() ? "the batch " : "column " + Quoted(field.path) + " ";
  message += what;
  if (!field.format.empty()) message += " (Arrow format " + Quoted(field.format) + ")";
  return InvalidArgument(std::move(message));
}

Result<ArrowField> ReadArrowField(const ArrowSchema* schema, std::string path) {
  ArrowField field;
  field.path = std::move(path);
  PIGMENT_RETURN_IF_ERROR(ReadField(schema, 1, field));
  return field;
}

Result<ArrowColumn> ArrowColumn::Read(const ArrowField& field, const ArrowArray* array,
                                      int64_t first, int64_t rows) {
  ArrowColumn column;
  column.field_ = &field;
  column.rows_ = rows;
  PIGMENT_RETURN_IF_ERROR(column.CheckArray(array, first));
  column.offset_ = array->offset + first;
  column.buffers_ = array->buffers;
  column.buffer_count_ = array->n_buffers;
  if (rows == 0 || array->n_buffers == 0) return column;
  column.validity_ = static_cast<const uint8_t*>(array->buffers[0]);
  if (array->n_buffers > 1) column.values_ = array->buffers[1];
  if (array->n_buffers > 2) column.bytes_ = static_cast<const char*>(array->buffers[2]);
  PIGMENT_RETURN_IF_ERROR(column.CheckBuffers(*array));
  PIGMENT_RETURN_IF_ERROR(column.ReadChildren(*array, first));
  return column;
}

// What the struct alone says.
Status ArrowColumn::CheckArray(const ArrowArray* array, int64_t first) const {
  const auto refuse = [this](std::string_view what, int64_t value) {
    return RefuseColumn(*field_,
                        "has an array with " + std::string(what) + " " + std::to_string(value));
  };
  if (array == nullptr) return RefuseColumn(*field_, "has an array that is NULL");
  if (array->release == nullptr) return RefuseColumn(*field_, "has an array that was released");
  if (array->dictionary != nullptr) return RefuseColumn(*field_, "has an array with a dictionary");
  if (array->length < 0) return refuse("length", array->length);
  if (array->offset < 0 || array->offset > std::numeric_limits<int64_t>::max() - array->length)
    return refuse("offset", array->offset);
  if (array->null_count < -1 || array->null_count > array->length)
    return refuse("null_count", array->null_count);
  if (first > array->length || rows_ > array->length - first) {
    return RefuseColumn(*field_, "has an array of " + std::to_string(array->length) +
                                     " rows where its parent has " + std::to_string(first + rows_));
  }
  const int64_t buffers = BuffersOf(field_->type);
  if (IsView(field_->type) ? array->n_buffers < buffers : array->n_buffers != buffers)
    return refuse("n_buffers", array->n_buffers);
  if (buffers != 0 && array->buffers == nullptr)
    return RefuseColumn(*field_, "has an array whose buffers are NULL");
  if (array->n_children != static_cast<int64_t>(field_->children.size()))
    return refuse("n_children", array->n_children);
  if (array->n_children != 0 && array->children == nullptr)
    return RefuseColumn(*field_, "has an array whose children are NULL");
  return Status::Ok();
}

Status ArrowColumn::CheckBuffers(const ArrowArray& array) const {
  if (validity_ == nullptr && array.null_count > 0) {
    return RefuseColumn(*field_, "has an array with null_count " +
                                     std::to_string(array.null_count) + " and no validity bitmap");
  }
  if (array.n_buffers > 1 && values_ == nullptr)
    return RefuseColumn(*field_, "has an array whose buffer 1 is NULL");
  if (IsView(field_->type)) return CheckViews();
  if (!IsText(field_->type) && !IsBytes(field_->type)) return Status::Ok();
  PIGMENT_RETURN_IF_ERROR(CheckOffsets(std::numeric_limits<ptrdiff_t>::max()));
  if (bytes_ == nullptr && Offset(rows_) > 0)
    return RefuseColumn(*field_, "has an array whose buffer 2 is NULL");
  return Status::Ok();
}

int64_t ArrowColumn::Offset(int64_t row) const {
  return IsLarge(field_->type) ? Number<int64_t>(row) : Number<int32_t>(row);
}

Status ArrowColumn::CheckOffsets(int64_t end_max) const {
  int64_t before = 0;
  for (int64_t row = 0; row <= rows_; ++row) {
    const int64_t offset = Offset(row);
    if (offset < before || offset > end_max) {
      return RefuseColumn(*field_, "has offset " + std::to_string(offset) + " behind " +
                                       std::to_string(before) + ", of at most " +
                                       std::to_string(end_max))
          .WithRow(row == 0 ? 0 : row - 1);
    }
    before = offset;
  }
  return Status::Ok();
}

Status ArrowColumn::CheckViews() const {
  const int64_t data_count = buffer_count_ - BuffersOf(field_->type);
  const auto* sizes = static_cast<const char*>(buffers_[buffer_count_ - 1]);
  if (data_count > 0 && sizes == nullptr)
    return RefuseColumn(*field_, "has views without the sizes of their buffers");
  for (int64_t row = 0; row < rows_; ++row) {
    if (!has(row)) continue;
    const auto view = Number<View>(row);
    if (view.size >= 0 && view.size <= View::kInlineMax) continue;
    int64_t data_size = -1;
    if (view.buffer >= 0 && view.buffer < data_count && buffers_[2 + view.buffer] != nullptr)
      std::memcpy(&data_size, sizes + static_cast<size_t>(view.buffer) * sizeof data_size,
                  sizeof data_size);
    if (view.size < 0 || view.offset < 0 || int64_t{view.offset} + view.size > data_size) {
      return RefuseColumn(*field_, "has a view of " + std::to_string(view.size) + " bytes at " +
                                       std::to_string(view.offset) + " of buffer " +
                                       std::to_string(view.buffer) + ", which are not there")
          .WithRow(row);
    }
  }
  return Status::Ok();
}

// `first` is row 0 in the array.
Status ArrowColumn::ReadChildren(const ArrowArray& array, int64_t first) {
  int64_t child_first = 0, child_rows = 0;
  if (field_->type == ArrowType::kStruct) {
    child_first = array.offset + first;
    child_rows = rows_;
  } else if (field_->type == ArrowType::kFixedList) {
    int64_t end = 0;
    if (__builtin_mul_overflow(offset_ + rows_, field_->list_size, &end))
      return RefuseColumn(*field_, "has an array with impossible numbers of rows");
    child_rows = rows_ * field_->list_size;
    child_first = end - child_rows;
  } else if (IsList(field_->type)) {
    const ArrowArray* items = array.children[0];
    PIGMENT_RETURN_IF_ERROR(CheckOffsets(items != nullptr ? items->length : 0));
    child_rows = Offset(rows_);
  }
  children_.reserve(field_->children.size());
  for (size_t i = 0; i < field_->children.size(); ++i) {
    PIGMENT_ASSIGN_OR_RETURN(ArrowColumn child,
                             Read(field_->children[i], array.children[i], child_first, child_rows));
    children_.push_back(std::move(child));
  }
  return Status::Ok();
}

bool ArrowColumn::HasNone() const {
  for (int64_t row = 0; row < rows_; ++row) {
    if (has(row)) return false;
  }
  return true;
}

std::string_view ArrowColumn::Text(int64_t row) const {
  if (!IsView(field_->type)) {
    const int64_t begin = Offset(row), end = Offset(row + 1);
    if (begin == end) return {};
    return {bytes_ + begin, static_cast<size_t>(end - begin)};
  }
  const auto view = Number<View>(row);
  const auto size = static_cast<size_t>(view.size);
  if (view.size <= View::kInlineMax) return {Values(row, sizeof view) + sizeof view.size, size};
  return {static_cast<const char*>(buffers_[2 + view.buffer]) + view.offset, size};
}

ArrowColumn::Range ArrowColumn::Items(int64_t row) const {
  if (field_->type == ArrowType::kFixedList)
    return {row * field_->list_size, (row + 1) * field_->list_size};
  return {Offset(row), Offset(row + 1)};
}

}  // namespace pigment::abi
