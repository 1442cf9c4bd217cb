// SPDX-License-Identifier: Apache-2.0
//
// Numbers of slots and types are those of Arrow's Message.fbs, Schema.fbs and File.fbs.

#include "tools/arrow/writer.h"

#include <charconv>
#include <cstring>

#include "tools/arrow/flat_buffer.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

constexpr std::string_view kMagic("ARROW1\0\0", 8);
constexpr uint64_t kVersion5 = 4;
constexpr uint64_t kSchemaHeader = 1;
constexpr uint64_t kRecordBatchHeader = 3;
constexpr uint64_t kFloatingPoint = 3;
constexpr uint64_t kFixedSizeList = 16;
constexpr uint64_t kLargeUtf8 = 20;
constexpr uint64_t kSingle = 1;

template <typename T>
void Put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void Pad(std::string& bytes) { bytes.append((8 - bytes.size() % 8) % 8, '\0'); }

[[noreturn]] void Unknown(const std::string& format) {
  throw Failure(PIGMENT_INTERNAL, "no file of Arrow is written with a column of format " + format);
}

uint64_t ListSize(const std::string& format) {
  uint64_t size = 0;
  const char* const end = format.data() + format.size();
  if (!format.starts_with("+w:") || std::from_chars(format.data() + 3, end, size).ptr != end)
    Unknown(format);
  return size;
}

// A stream with its one batch; owns both.
class OneBatch {
 public:
  explicit OneBatch(const pigment_result* result) {
    pigment_error* error = nullptr;
    Check(pigment_result_arrow_stream(result, &stream_, &error), error);
    if (stream_.get_schema(&stream_, &schema) != 0 || stream_.get_next(&stream_, &array) != 0)
      Fail();
  }
  ~OneBatch() {
    if (array.release != nullptr) array.release(&array);
    if (schema.release != nullptr) schema.release(&schema);
    stream_.release(&stream_);
  }
  OneBatch(const OneBatch&) = delete;
  OneBatch& operator=(const OneBatch&) = delete;

  ArrowSchema schema{};
  ArrowArray array{};

 private:
  [[noreturn]] void Fail() {
    const char* const why = stream_.get_last_error(&stream_);
    const std::string words = why != nullptr ? why : "the stream of a result has failed";
    if (schema.release != nullptr) schema.release(&schema);
    stream_.release(&stream_);
    throw Failure(PIGMENT_INVALID_ARGUMENT, words);
  }

  ArrowArrayStream stream_{};
};

// The interface lets an array leave its nulls uncounted, a file does not.
int64_t CountNulls(const ArrowArray& array) {
  const auto* const bits = static_cast<const uint8_t*>(array.buffers[0]);
  int64_t nulls = 0;
  for (int64_t row = 0; bits != nullptr && row < array.length; ++row)
    nulls += (bits[row / 8] >> (row % 8) & 1) == 0;
  return nulls;
}

// What a record batch lists and has behind it.
struct Body {
  std::string bytes;
  std::string nodes;
  std::string buffers;
  size_t node_count = 0;
  size_t buffer_count = 0;

  void AddNode(const ArrowArray& array) {
    Put(nodes, array.length);
    Put(nodes, CountNulls(array));
    ++node_count;
  }
  void AddBuffer(const void* data, uint64_t size) {
    Put(buffers, static_cast<uint64_t>(bytes.size()));
    Put(buffers, size);
    ++buffer_count;
    if (size > 0) bytes.append(static_cast<const char*>(data), size);
    Pad(bytes);
  }
  void AddValidity(const ArrowArray& array) {
    const void* const bits = array.buffers[0];
    AddBuffer(bits, bits != nullptr ? (static_cast<uint64_t>(array.length) + 7) / 8 : 0);
  }
};

void AddColumn(const std::string& format, const ArrowArray& array, Body& body) {
  if (array.offset != 0) Unknown(format);
  body.AddNode(array);
  body.AddValidity(array);
  const auto rows = static_cast<uint64_t>(array.length);
  if (format == "U") {
    const auto* const offsets = static_cast<const int64_t*>(array.buffers[1]);
    body.AddBuffer(offsets, (rows + 1) * sizeof(int64_t));
    body.AddBuffer(array.buffers[2], static_cast<uint64_t>(offsets[rows]));
    return;
  }
  const ArrowArray& numbers = *array.children[0];
  if (numbers.offset != 0) Unknown(format);
  body.AddNode(numbers);
  body.AddValidity(numbers);
  body.AddBuffer(numbers.buffers[1], rows * ListSize(format) * sizeof(float));
}

}  // namespace

std::vector<ArrowWriter::Column> ArrowWriter::ColumnsOf(const ArrowSchema& schema) {
  std::vector<Column> columns;
  for (int64_t i = 0; i < schema.n_children; ++i) {
    const ArrowSchema& child = *schema.children[i];
    Column column{.name = child.name,
                  .format = child.format,
                  .is_nullable = (child.flags & ARROW_FLAG_NULLABLE) != 0,
                  .metadata = {}};
    if (column.format != "U") (void)ListSize(column.format);
    if (const char* at = child.metadata; at != nullptr) {
      const auto number = [&at] {
        int32_t value = 0;
        std::memcpy(&value, at, sizeof value);
        at += sizeof value;
        return value;
      };
      const auto text = [&] {
        const auto size = static_cast<size_t>(number());
        const std::string value(at, size);
        at += size;
        return value;
      };
      for (int32_t left = number(); left > 0; --left) {
        std::string key = text();
        column.metadata.emplace_back(std::move(key), text());
      }
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

size_t ArrowWriter::AddSchema(FlatBuilder& builder) const {
  const size_t schema = builder.AddTable({{0}, {1}});
  const size_t fields = builder.AddOffsets(columns_.size());
  builder.Point(builder.FieldAt(schema, 1), fields);
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    const bool is_list = column.format != "U";
    std::vector<FlatBuilder::Field> slots = {
        {0}, {1, column.is_nullable}, {2, is_list ? kFixedSizeList : kLargeUtf8}, {3}, {5}};
    if (!column.metadata.empty()) slots.push_back({6});
    const size_t field = builder.AddTable(slots);
    builder.Point(builder.ElementAt(fields, i), field);
    builder.Point(builder.FieldAt(field, 0), builder.AddText(column.name));
    const size_t type =
        builder.AddTable(is_list ? std::vector<FlatBuilder::Field>{{0, ListSize(column.format)}}
                                 : std::vector<FlatBuilder::Field>{});
    builder.Point(builder.FieldAt(field, 3), type);
    const size_t children = builder.AddOffsets(is_list ? 1 : 0);
    builder.Point(builder.FieldAt(field, 5), children);
    if (is_list) {
      const size_t item = builder.AddTable({{0}, {1, 0}, {2, kFloatingPoint}, {3}, {5}});
      builder.Point(builder.ElementAt(children, 0), item);
      builder.Point(builder.FieldAt(item, 0), builder.AddText("item"));
      builder.Point(builder.FieldAt(item, 3), builder.AddTable({{0, kSingle}}));
      builder.Point(builder.FieldAt(item, 5), builder.AddOffsets(0));
    }
    if (column.metadata.empty()) continue;
    const size_t pairs = builder.AddOffsets(column.metadata.size());
    builder.Point(builder.FieldAt(field, 6), pairs);
    for (size_t pair = 0; pair < column.metadata.size(); ++pair) {
      const size_t table = builder.AddTable({{0}, {1}});
      builder.Point(builder.ElementAt(pairs, pair), table);
      builder.Point(builder.FieldAt(table, 0), builder.AddText(column.metadata[pair].first));
      builder.Point(builder.FieldAt(table, 1), builder.AddText(column.metadata[pair].second));
    }
  }
  return schema;
}

ArrowWriter::ArrowWriter(const std::string& path, const pigment_result* sample,
                         const nlohmann::json& saved)
    : file_(path, saved.is_null() ? 0 : saved.at("bytes").get<uint64_t>()),
      columns_(ColumnsOf(OneBatch(sample).schema)) {
  if (!saved.is_null()) {
    for (const auto& block : saved.at("blocks")) blocks_.push_back({block[0], block[1], block[2]});
    return;
  }
  file_.Append(kMagic);
  FlatBuilder builder;
  const size_t message = builder.AddTable({{0, kVersion5}, {1, kSchemaHeader}, {2}, {3, 0}});
  builder.Point(builder.FieldAt(message, 2), AddSchema(builder));
  AppendMessage(builder.Finish(message), "");
}

void ArrowWriter::Add(const pigment_result* page) {
  if (pigment_result_row_count(page) == 0) return;
  const OneBatch batch(page);
  if (ColumnsOf(batch.schema) != columns_)
    throw Failure(PIGMENT_ABORTED, "the collection got other columns meanwhile: begin anew");
  Body body;
  for (size_t i = 0; i < columns_.size(); ++i)
    AddColumn(columns_[i].format, *batch.array.children[i], body);
  FlatBuilder builder;
  const size_t message = builder.AddTable({{0, kVersion5},
                                           {1, kRecordBatchHeader},
                                           {2},
                                           {3, static_cast<uint64_t>(body.bytes.size())}});
  const size_t header =
      builder.AddTable({{0, static_cast<uint64_t>(batch.array.length)}, {1}, {2}});
  builder.Point(builder.FieldAt(message, 2), header);
  builder.Point(builder.FieldAt(header, 1), builder.AddStructs(body.nodes, body.node_count));
  builder.Point(builder.FieldAt(header, 2), builder.AddStructs(body.buffers, body.buffer_count));
  blocks_.push_back(AppendMessage(builder.Finish(message), body.bytes));
}

ArrowWriter::Block ArrowWriter::AppendMessage(const std::string& head, const std::string& body) {
  const Block block{file_.bytes(), 8 + head.size(), body.size()};
  std::string prefix;
  Put(prefix, uint32_t{0xFFFFFFFF});
  Put(prefix, static_cast<uint32_t>(head.size()));
  file_.Append(prefix);
  file_.Append(head);
  file_.Append(body);
  return block;
}

nlohmann::json ArrowWriter::Save() {
  file_.Sync();
  nlohmann::json blocks = nlohmann::json::array();
  for (const Block& block : blocks_)
    blocks.push_back({block.offset, block.head_bytes, block.body_bytes});
  return {{"bytes", file_.bytes()}, {"blocks", blocks}};
}

void ArrowWriter::Finish() {
  std::string end;
  Put(end, uint32_t{0xFFFFFFFF});
  Put(end, uint32_t{0});
  FlatBuilder builder;
  const size_t footer = builder.AddTable({{0, kVersion5}, {1}, {2}, {3}});
  builder.Point(builder.FieldAt(footer, 1), AddSchema(builder));
  builder.Point(builder.FieldAt(footer, 2), builder.AddStructs("", 0));
  std::string blocks;
  for (const Block& block : blocks_) {
    Put(blocks, block.offset);
    Put(blocks, static_cast<uint64_t>(block.head_bytes));  // 32 bits and a gap
    Put(blocks, block.body_bytes);
  }
  builder.Point(builder.FieldAt(footer, 3), builder.AddStructs(blocks, blocks_.size()));
  const std::string bytes = builder.Finish(footer);
  end += bytes;
  Put(end, static_cast<uint32_t>(bytes.size()));
  end += kMagic.substr(0, 6);
  file_.Append(end);
  file_.Sync();
}

}  // namespace pigment_tool
