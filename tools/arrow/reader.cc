// SPDX-License-Identifier: Apache-2.0
//
// Numbers of slots and types are those of Arrow's Message.fbs and Schema.fbs.

#include "tools/arrow/reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/half.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

constexpr std::string_view kMagic("ARROW1\0\0", 8);
constexpr uint32_t kContinuation = 0xFFFFFFFF;

enum MessageSlot { kHeaderType = 1, kHeader = 2, kBodyLength = 3 };
enum HeaderType : uint8_t { kSchema = 1, kRecordBatch = 3 };
enum SchemaSlot { kEndianness = 0, kFields = 1 };
enum FieldSlot { kName = 0, kTypeType = 2, kType = 3, kDictionary = 4, kChildren = 5 };
enum BatchSlot { kLength = 0, kNodes = 1, kBuffers = 2, kCompression = 3 };
enum class Type : uint8_t {
  kNull = 1,
  kInt = 2,
  kFloat = 3,
  kBinary = 4,
  kUtf8 = 5,
  kList = 12,
  kFixedSizeList = 16,
  kLargeBinary = 19,
  kLargeUtf8 = 20,
  kLargeList = 21,
};

enum class Number { kF16, kF32, kF64, kI32, kI64 };

size_t BytesOf(Number number) {
  switch (number) {
    case Number::kF16:
      return 2;
    case Number::kF32:
    case Number::kI32:
      return 4;
    case Number::kF64:
    case Number::kI64:
      return 8;
  }
  return 0;
}

// What f32 cannot hold becomes infinite, which the library refuses.
float ReadNumber(Number number, Bytes data, uint64_t index) {
  const uint64_t at = index * BytesOf(number);
  switch (number) {
    case Number::kF16:
      return FromHalf(LoadAt<uint16_t>(data, at));
    case Number::kF32:
      return LoadAt<float>(data, at);
    case Number::kF64:
      return static_cast<float>(LoadAt<double>(data, at));
    case Number::kI32:
      return static_cast<float>(LoadAt<int32_t>(data, at));
    case Number::kI64:
      return static_cast<float>(LoadAt<int64_t>(data, at));
  }
  return 0;
}

enum Role { kId, kDocument, kMetadata, kUri, kEmbedding, kRoles };
constexpr std::array<std::string_view, kRoles> kRoleNames = {"id", "document", "metadata", "uri",
                                                             "embedding"};

[[noreturn]] void Refuse(const std::string& what) { throw Failure(PIGMENT_INVALID_ARGUMENT, what); }

}  // namespace

struct ArrowReader::Field {
  Role role;
  Type type;
  Number number = Number::kF32;  // of lists
  uint64_t list_size = 0;        // of lists of a fixed size

  bool is_list() const {
    return type == Type::kList || type == Type::kLargeList || type == Type::kFixedSizeList;
  }
  uint64_t offset_bytes() const {
    return type == Type::kLargeBinary || type == Type::kLargeUtf8 || type == Type::kLargeList ? 8
                                                                                              : 4;
  }
};

struct ArrowReader::Column {
  Bytes validity;  // empty: all are there
  Bytes offsets;
  Bytes data;  // of the lists' numbers too

  bool Has(uint64_t row) const {
    return validity.empty() || (LoadAt<uint8_t>(validity, row / 8) >> (row % 8) & 1) != 0;
  }
  // Of row `row` within data, in its elements; `elements` is how many there are.
  std::pair<uint64_t, uint64_t> Range(const Field& field, uint64_t row, uint64_t elements) const {
    int64_t begin = 0;
    int64_t end = 0;
    if (field.offset_bytes() == 8) {
      begin = LoadAt<int64_t>(offsets, 8 * row);
      end = LoadAt<int64_t>(offsets, 8 * row + 8);
    } else {
      begin = LoadAt<int32_t>(offsets, 4 * row);
      end = LoadAt<int32_t>(offsets, 4 * row + 4);
    }
    if (begin < 0 || end < begin || static_cast<uint64_t>(end) > elements)
      throw std::out_of_range("offsets");
    return {static_cast<uint64_t>(begin), static_cast<uint64_t>(end)};
  }
};

struct ArrowReader::Message {
  bool is_end = true;
  uint8_t type = 0;
  std::optional<FlatTable> header;
  Bytes body;
  uint64_t next = 0;
};

template <typename Read>
auto ArrowReader::Guarded(const Read& read) const {
  try {
    return read();
  } catch (const std::out_of_range& wrong) {
    Refuse("\"" + path_ + "\" is damaged or no file of Arrow: its " + wrong.what() +
           " leads to nothing");
  }
}

ArrowReader::ArrowReader(const std::string& path) : path_(path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (file < 0 || fstat(file, &info) != 0) {
    const int why = errno;
    if (file >= 0) close(file);
    throw Failure(PIGMENT_NOT_FOUND, "cannot read \"" + path + "\": " + std::strerror(why));
  }
  const auto size = static_cast<size_t>(info.st_size);
  void* const mapped =
      size == 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (mapped == MAP_FAILED) Refuse("\"" + path + "\" is empty or cannot be mapped");
  data_ = {static_cast<const unsigned char*>(mapped), size};
  try {
    Guarded([this] {
      const bool is_file =
          data_.size() >= kMagic.size() && std::memcmp(data_.data(), kMagic.data(), 8) == 0;
      const Message first = ReadMessage(is_file ? kMagic.size() : 0);
      if (first.is_end || first.type != kSchema || !first.header)
        Refuse("\"" + path_ + "\" does not begin with a schema of Arrow");
      ReadSchema(*first.header);
      first_batch_ = batch_at_ = next_ = first.next;
    });
  } catch (...) {
    munmap(const_cast<unsigned char*>(data_.data()), data_.size());
    throw;
  }
}

ArrowReader::~ArrowReader() { munmap(const_cast<unsigned char*>(data_.data()), data_.size()); }

ArrowReader::Message ArrowReader::ReadMessage(uint64_t at) const {
  Message message;
  if (at == data_.size()) return message;  // a stream may just stop
  if (LoadAt<uint32_t>(data_, at) != kContinuation) throw std::out_of_range("message");
  const auto size = LoadAt<int32_t>(data_, at + 4);
  if (size == 0) return message;
  if (size < 0 || static_cast<uint64_t>(size) > data_.size() - at - 8)
    throw std::out_of_range("message");
  const auto head_bytes = static_cast<uint64_t>(size);
  const FlatTable head = FlatTable::Root(data_.subspan(at + 8, head_bytes));
  const auto body_bytes = head.Scalar<int64_t>(kBodyLength);
  const uint64_t body_at = at + 8 + head_bytes;
  if (body_bytes < 0 || static_cast<uint64_t>(body_bytes) > data_.size() - body_at)
    throw std::out_of_range("body");
  message.is_end = false;
  message.type = head.Scalar<uint8_t>(kHeaderType);
  message.header = head.Table(kHeader);
  message.body = data_.subspan(body_at, static_cast<uint64_t>(body_bytes));
  message.next = body_at + static_cast<uint64_t>(body_bytes);
  return message;
}

namespace {

Number NumberOf(const FlatTable& field, const std::string& name) {
  const auto type = static_cast<Type>(field.Scalar<uint8_t>(kTypeType));
  const std::optional<FlatTable> details = field.Table(kType);
  if (type == Type::kFloat && details) {
    switch (details->Scalar<int16_t>(0)) {
      case 0:
        return Number::kF16;
      case 1:
        return Number::kF32;
      case 2:
        return Number::kF64;
    }
  }
  if (type == Type::kInt && details && details->Scalar<uint8_t>(1) != 0) {
    if (details->Scalar<int32_t>(0) == 32) return Number::kI32;
    if (details->Scalar<int32_t>(0) == 64) return Number::kI64;
  }
  Refuse("column \"" + name + "\": a list of float16, float32, float64, int32 or int64 is wanted");
}

Role RoleOf(const std::string& name) {
  for (int role = 0; role < kRoles; ++role) {
    if (name == kRoleNames[static_cast<size_t>(role)]) return static_cast<Role>(role);
  }
  Refuse("column \"" + name +
         "\" is none that a record has: id, document, metadata, uri, embedding");
}

bool IsText(Type type) { return type == Type::kUtf8 || type == Type::kLargeUtf8; }
bool IsBytes(Type type) { return type == Type::kBinary || type == Type::kLargeBinary; }

}  // namespace

void ArrowReader::ReadSchema(const FlatTable& schema) {
  if (schema.Scalar<int16_t>(kEndianness) != 0) Refuse("\"" + path_ + "\" is big-endian");
  std::array<bool, kRoles> seen{};
  for (const FlatTable& column : schema.Tables(kFields)) {
    const std::string name(column.Text(kName));
    Field field{.role = RoleOf(name), .type = static_cast<Type>(column.Scalar<uint8_t>(kTypeType))};
    if (std::exchange(seen[field.role], true)) Refuse("column \"" + name + "\" is there twice");
    if (column.Has(kDictionary)) Refuse("column \"" + name + "\" is a dictionary");
    const bool may_be_absent = field.role != kId && field.type == Type::kNull;
    if (field.role == kEmbedding && field.is_list()) {
      const std::vector<FlatTable> children = column.Tables(kChildren);
      if (children.size() != 1) throw std::out_of_range("list");
      field.number = NumberOf(children.front(), name);
      if (field.type == Type::kFixedSizeList) {
        const std::optional<FlatTable> details = column.Table(kType);
        const int32_t size = details ? details->Scalar<int32_t>(0) : 0;
        if (size < 0) throw std::out_of_range("list");
        field.list_size = static_cast<uint64_t>(size);
      }
    } else if (field.role == kEmbedding && !may_be_absent) {
      Refuse("column \"embedding\": lists of numbers are wanted");
    } else if (field.role != kEmbedding && !may_be_absent && !IsText(field.type) &&
               !(field.role == kDocument && IsBytes(field.type))) {
      Refuse("column \"" + name + "\": utf8 or large_utf8 is wanted" +
             (field.role == kDocument ? ", or binary or large_binary" : ""));
    }
    fields_.push_back(field);
  }
  if (!seen[kId]) Refuse("\"" + path_ + "\" has no column \"id\"");
}

bool ArrowReader::OpenBatch() {
  const Message message = ReadMessage(next_);
  if (message.is_end) return false;
  if (message.type != kRecordBatch || !message.header)
    Refuse("\"" + path_ + "\" has a message at byte " + std::to_string(next_) +
           " that is no record batch");
  const FlatTable& head = *message.header;
  if (head.Has(kCompression))
    Refuse("\"" + path_ + "\" is compressed; write it without (compression=None)");
  const auto rows = head.Scalar<int64_t>(kLength);
  if (rows < 0) throw std::out_of_range("length");
  const Bytes nodes = head.Structs(kNodes, 16);
  const Bytes buffers = head.Structs(kBuffers, 16);
  uint64_t node = 0;
  uint64_t buffer = 0;
  const auto next_node = [&] {
    const std::pair<int64_t, int64_t> counts = {LoadAt<int64_t>(nodes, node),
                                                LoadAt<int64_t>(nodes, node + 8)};
    node += 16;
    return counts;
  };
  const auto next_buffer = [&] {
    const auto offset = static_cast<uint64_t>(LoadAt<int64_t>(buffers, buffer));
    const auto length = static_cast<uint64_t>(LoadAt<int64_t>(buffers, buffer + 8));
    buffer += 16;
    if (offset > message.body.size() || length > message.body.size() - offset)
      throw std::out_of_range("buffer");
    return message.body.subspan(offset, length);
  };
  columns_.clear();
  for (const Field& field : fields_) {
    Column column;
    if (const auto [length, nulls] = next_node(); length != rows) {
      throw std::out_of_range("column");
    } else if (field.type == Type::kNull) {
      columns_.push_back(column);
      continue;
    } else {
      const Bytes validity = next_buffer();
      if (nulls != 0) column.validity = validity;
      if (nulls != 0 && validity.empty()) throw std::out_of_range("validity");
    }
    if (field.type != Type::kFixedSizeList) column.offsets = next_buffer();
    if (field.is_list()) {
      if (next_node().second != 0) Refuse("column \"embedding\": a number is null");
      (void)next_buffer();
    }
    column.data = next_buffer();
    columns_.push_back(column);
  }
  batch_at_ = next_;
  next_ = message.next;
  rows_ = static_cast<uint64_t>(rows);
  row_ = 0;
  return true;
}

bool ArrowReader::Next(Record& record) {
  return Guarded([&] {
    while (row_ >= rows_) {
      if (!OpenBatch()) return false;
    }
    const uint64_t row = row_++;
    record = {};
    for (size_t i = 0; i < fields_.size(); ++i) {
      const Field& field = fields_[i];
      const Column& column = columns_[i];
      if (field.type == Type::kNull || !column.Has(row)) {
        if (field.role == kId) Refuse(where() + ": the id is null");
        continue;
      }
      if (field.is_list()) {
        const size_t width = BytesOf(field.number);
        const std::pair<uint64_t, uint64_t> range =
            field.type == Type::kFixedSizeList
                ? std::pair(row * field.list_size, (row + 1) * field.list_size)
                : column.Range(field, row, column.data.size() / width);
        if (range.second > column.data.size() / width) throw std::out_of_range("list");
        std::vector<float>& vector = record.embedding.emplace();
        vector.reserve(range.second - range.first);
        for (uint64_t at = range.first; at < range.second; ++at)
          vector.push_back(ReadNumber(field.number, column.data, at));
        continue;
      }
      const auto [begin, end] = column.Range(field, row, column.data.size());
      std::string text(reinterpret_cast<const char*>(column.data.data()) + begin, end - begin);
      switch (field.role) {
        case kId:
          record.id = std::move(text);
          break;
        case kDocument:
          record.document = std::move(text);
          break;
        case kMetadata:
          record.metadata = std::move(text);
          break;
        case kUri:
          record.uri = std::move(text);
          break;
        case kEmbedding:
        case kRoles:
          break;
      }
    }
    return true;
  });
}

void ArrowReader::GoTo(uint64_t offset, uint64_t row) {
  Guarded([&] {
    next_ = offset;
    if (!OpenBatch() || row > rows_) throw std::out_of_range("saved place");
    row_ = row;
  });
}

std::string ArrowReader::where() const {
  return path_ + ", batch at byte " + std::to_string(batch_at_) + ", row " +
         std::to_string(row_ == 0 ? 0 : row_ - 1);
}

}  // namespace pigment_tool
