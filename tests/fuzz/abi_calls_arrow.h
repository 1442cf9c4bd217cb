// SPDX-License-Identifier: Apache-2.0
//
// Calls that take and give streams of Arrow: columns of random types that are sliced, spoiled or
// right, and consumers that move, keep and release in random order. Buffers are always as large as
// the structs say. One thread.

#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/c_api/arrow.h"
#include "tests/fuzz/abi_calls_shared.h"
#include "tests/fuzz/abi_world.h"

namespace abi_fuzz {

using abi_test::ArrowPart;

// What the structs show to be wrong, and nothing that would make a right callee read too far.
inline void SpoilArray(ArrowArray& array, uint8_t how) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  switch (how % 12) {
    case 0:
      array.length = -1 - how;
      break;
    case 1:
      array.length = array.length == 0 ? 0 : array.length - 1;
      break;
    case 2:
      if (array.length > 0) array.offset = how % 24 < 12 ? -1 : kMost;
      break;
    case 3:
      array.null_count = how % 24 < 12 ? -2 : kMost;
      break;
    case 4:
      array.n_buffers = how % 24 < 12 ? -1 : 0;
      break;
    case 5:
      array.buffers = nullptr;
      break;
    case 6:
      if (array.n_buffers > 0) array.buffers[how / 12 % array.n_buffers] = nullptr;
      break;
    case 7:
      array.n_children = how % 24 < 12 ? -1 : array.n_children + 1;
      break;
    case 8:
      array.children = nullptr;
      break;
    case 9:
      if (array.n_children > 0) array.children[0] = nullptr;
      break;
    case 10:
      array.dictionary = &array;
      break;
    default:
      if (array.n_children > 0 && array.children[0]->release != nullptr)
        array.children[0]->release(array.children[0]);
  }
}

inline void SpoilSchema(ArrowSchema& schema, uint8_t how) {
  switch (how % 7) {
    case 0:
      schema.format = how % 14 < 7 ? nullptr : "+w:99999999999";
      break;
    case 1:
      schema.name = nullptr;
      break;
    case 2:
      schema.n_children = -1;
      break;
    case 3:
      schema.children = nullptr;
      break;
    case 4:
      if (schema.n_children > 0) schema.children[0] = nullptr;
      break;
    case 5:
      schema.dictionary = &schema;
      break;
    default:
      schema.name = "\xff";
  }
}

// Columns of `rows` rows behind `offset` others.
class FuzzedColumns {
 public:
  FuzzedColumns(Input& in, int64_t rows) : in_(in), rows_(rows) {}

  ArrowPart Texts(const std::string& name, bool is_json = false) {
    static constexpr const char* kWords[] = {"a", "b", "c", "", "a text of many bytes", "\xff"};
    static constexpr const char* kJson[] = {R"({"n":1})", R"({"s":"x"})", "null", "{}", "[1", ""};
    static constexpr const char* kFormats[] = {"u", "U", "vu", "z", "Z", "vz"};
    const int64_t offset = Offset();
    abi_test::OptionalTexts texts;
    for (int64_t row = 0; row < offset + rows_; ++row) {
      const size_t word = in_.Below(6);
      texts.push_back(in_.OneIn(8)
                          ? std::nullopt
                          : std::optional<std::string>(is_json ? kJson[word] : kWords[word]));
      if (name == "id" && !in_.OneIn(8)) texts.back() = "r" + std::to_string(row);
    }
    ArrowPart part = abi_test::ArrowTexts(name, kFormats[in_.Byte() % 6], texts);
    if (in_.OneIn(16)) SpoilOffsets(part);
    return Finish(std::move(part), offset);
  }
  template <typename T>
  ArrowPart Numbers(const std::string& name, const char* format) {
    const int64_t offset = Offset();
    std::vector<std::optional<T>> values;
    for (int64_t row = 0; row < offset + rows_; ++row)
      values.push_back(in_.OneIn(12) ? std::nullopt : std::optional<T>(Number<T>()));
    return Finish(abi_test::ArrowNumbers<T>(name, format, values), offset);
  }
  ArrowPart AnyNumbers(const std::string& name) {
    switch (in_.Byte() % 8) {
      case 0:
        return Numbers<double>(name, "g");
      case 1:
        return Numbers<uint16_t>(name, "e");
      case 2:
        return Numbers<int32_t>(name, "i");
      case 3:
        return Numbers<int64_t>(name, "l");
      case 4:
        return Numbers<uint64_t>(name, "L");
      case 5:
        return Numbers<int8_t>(name, "c");
      case 6:
        return abi_test::ArrowNulls(name, rows_);
      default:
        return Numbers<float>(name, "f");
    }
  }
  // A list of `item` numbers or texts in each row.
  ArrowPart Lists(const std::string& name, int size) {
    const int64_t offset = Offset();
    FuzzedColumns below(in_, (offset + rows_) * size);
    ArrowPart items = in_.OneIn(6) ? below.Texts("item") : below.AnyNumbers("item");
    if (in_.OneIn(2)) {
      std::vector<bool> present;
      for (int64_t row = 0; row < offset + rows_; ++row) present.push_back(!in_.OneIn(16));
      return Finish(abi_test::ArrowFixedLists(name, size, std::move(items), present), offset);
    }
    std::vector<int32_t> offsets{0};
    for (int64_t row = 0; row < offset + rows_; ++row)
      offsets.push_back(offsets.back() + (in_.OneIn(16) ? size - 1 : size));
    ArrowPart part =
        abi_test::ArrowLists(name, in_.OneIn(2) ? "+l" : "+L", offsets, std::move(items));
    if (in_.OneIn(12)) SpoilOffsets(part);
    return Finish(std::move(part), offset);
  }
  ArrowPart Metadata() {
    if (in_.OneIn(2)) return Texts("metadata", true);
    const int64_t offset = Offset();
    FuzzedColumns below(in_, offset + rows_);
    std::vector<ArrowPart> fields;
    static constexpr const char* kNames[] = {"n", "s", "l", "", "#x", "b"};
    const size_t count = in_.Below(4);
    for (size_t i = 0; i < count; ++i) {
      const std::string name = kNames[in_.Byte() % 6];
      const uint8_t kind = in_.Byte();
      fields.push_back(kind % 3 == 0   ? below.Texts(name)
                       : kind % 3 == 1 ? below.AnyNumbers(name)
                                       : below.Lists(name, 1 + kind % 2));
    }
    return Finish(abi_test::ArrowStruct("metadata", offset + rows_, std::move(fields)), offset);
  }
  ArrowPart Finish(ArrowPart part, int64_t offset) {
    part.offset = offset;
    part.length -= offset;
    if (part.format != "n" && part.null_count != 0) part.null_count = -1;
    if (in_.OneIn(48))
      part.spoil_array = [how = in_.Byte()](ArrowArray& array) { SpoilArray(array, how); };
    if (in_.OneIn(64))
      part.spoil_schema = [how = in_.Byte()](ArrowSchema& schema) { SpoilSchema(schema, how); };
    return part;
  }
  int64_t Offset() { return in_.OneIn(3) ? static_cast<int64_t>(in_.Below(11)) : 0; }

 private:
  template <typename T>
  T Number() {
    if (in_.OneIn(24)) return static_cast<T>(in_.Number());
    return static_cast<T>(in_.Byte() % 100);
  }
  // Backwards or negative, or a view that points nowhere.
  void SpoilOffsets(ArrowPart& part) {
    std::string& bytes = *part.buffers[1];
    if (bytes.empty()) return;  // views of no row
    const bool is_large = part.format == "U" || part.format == "Z" || part.format == "+L";
    const size_t width = part.format[0] == 'v' ? 16 : is_large ? 8 : 4;
    const size_t at = in_.Below(bytes.size() / width) * width;
    for (size_t i = 0; i < width; ++i) bytes[at + i] = '\xf0';
  }

  Input& in_;
  int64_t rows_;
};

inline ArrowPart FuzzedBatch(Input& in, const std::vector<uint8_t>& kinds) {
  const auto rows = static_cast<int64_t>(in.Below(7));
  ArrowPart batch = abi_test::ArrowStruct("", rows, {});
  const int64_t offset = in.OneIn(6) ? static_cast<int64_t>(in.Below(4)) : 0;
  FuzzedColumns columns(in, rows + offset);
  for (const uint8_t kind : kinds) {
    switch (kind % 8) {
      case 0:
        batch.children.push_back(columns.Texts("document"));
        break;
      case 1:
        batch.children.push_back(columns.Texts("uri"));
        break;
      case 2:
        batch.children.push_back(columns.Metadata());
        break;
      case 3:
        batch.children.push_back(columns.Texts(kind > 250 ? "colour" : "id"));
        break;
      default:
        batch.children.push_back(columns.Lists("embedding", kind > 250 ? 2 : 3));
    }
  }
  batch.length += offset;
  return columns.Finish(std::move(batch), offset);
}

using ArrowCall = decltype(&pigment_collection_add_arrow);

// Either what was made by hand or what the library gives of a result.
template <ArrowCall kCall>
void FuzzArrowWrite(World& w, Arguments& a) {
  Input& in = a.input();
  std::vector<uint8_t> kinds{3, 4};  // an id, an embedding
  for (size_t more = in.Below(4); more > 0; --more) kinds.push_back(in.Byte());
  if (in.OneIn(8)) kinds.erase(kinds.begin());
  // The same batch several times, for all must have one schema.
  const size_t count = 1 + in.Below(3);
  abi_test::MadeStream made(std::vector<ArrowPart>(count, FuzzedBatch(in, kinds)));
  if (in.OneIn(12)) made.fails_at = in.Below(3);
  if (in.OneIn(2)) made.error_text = "\xff a broken pipe";
  if (in.OneIn(24)) made.schema_error = 1 + in.Byte();
  if (in.OneIn(24)) made.gives_no_schema = true;
  ArrowArrayStream exported{};
  const bool of_result =
      in.OneIn(4) && pigment_result_arrow_stream(Choose(w.results, in), &exported, nullptr) == 0;
  ArrowArrayStream* stream = of_result ? &exported : made.get();
  const bool given = !in.OneIn(24);
  pigment_write_result result{};
  a.Size(result);
  result.inserted = 77;
  uint64_t applied = 77;
  const CallOptions options(w, a);
  ErrorSlot slot(w, in);
  slot.Ok(kCall(Choose(w.collections, in), given ? stream : nullptr, options.get(),
                MaybeOut(result, a), MaybeOut(applied, a), slot.out()));
  Require(!given || stream->release == nullptr, "the stream is taken over");
  if (stream->release != nullptr) stream->release(stream);
  Require(of_result || made.everything_was_released_once(), "everything is released once");
}

// Reads all of an array that was exported: the address sanitizer watches.
inline uint64_t ReadArray(const ArrowArray& array, const char* format) {
  uint64_t sum = 0;
  for (int64_t row = array.offset; row < array.offset + array.length; ++row) {
    if (format[0] == 'U') {
      const auto* offsets = static_cast<const int64_t*>(array.buffers[1]);
      for (int64_t at = offsets[row]; at < offsets[row + 1]; ++at)
        sum += static_cast<const uint8_t*>(array.buffers[2])[at];
    } else if (format[0] == 'f' || format[0] == 'I') {
      sum += static_cast<const uint32_t*>(array.buffers[1])[row];
    }
    if (array.n_buffers > 0 && array.buffers[0] != nullptr)
      sum += static_cast<const uint8_t*>(array.buffers[0])[row / 8];
  }
  return sum;
}

inline void FuzzArrowRead(World& w, Arguments& a) {
  Input& in = a.input();
  pigment_result* result = Choose(w.results, in);
  ArrowArrayStream stream;
  std::memset(&stream, 0x55, sizeof stream);
  const bool wanted = !in.OneIn(24);
  ErrorSlot slot(w, in);
  const bool ok =
      slot.Ok(pigment_result_arrow_stream(result, wanted ? &stream : nullptr, slot.out()));
  if (!wanted) return;
  Require(ok == (stream.release != nullptr), "a failure nulls its output");
  if (!ok) return;
  if (in.OneIn(4)) pigment_result_free(Remove(w.results, in));
  ArrowSchema schema{};
  Require(stream.get_schema(&stream, &schema) == 0, "there is memory for a schema");
  std::vector<ArrowArray> kept;
  while (true) {
    ArrowArray batch{};
    Require(stream.get_next(&stream, &batch) == 0, "there is memory for a batch");
    if (batch.release == nullptr) break;
    Require(batch.n_children == schema.n_children, "a column for each field");
    if (batch.n_children > 0 && in.OneIn(2)) {
      ArrowArray*& child = batch.children[in.Below(static_cast<size_t>(batch.n_children))];
      kept.push_back(*child);
      child->release = nullptr;
    } else {
      for (int64_t i = 0; i < batch.n_children; ++i)
        ReadArray(*batch.children[i], schema.children[i]->format);
    }
    if (in.OneIn(2)) {
      kept.push_back(batch);
    } else {
      batch.release(&batch);
    }
  }
  stream.release(&stream);
  schema.release(&schema);
  std::reverse(kept.begin(), kept.end());
  for (ArrowArray& array : kept) array.release(&array);
}

inline void AddArrow(std::vector<Entry>& t) {
  t.push_back({"pigment_result_arrow_stream", FuzzArrowRead});
  t.push_back({"pigment_collection_add_arrow", FuzzArrowWrite<pigment_collection_add_arrow>});
  t.push_back({"pigment_collection_update_arrow", FuzzArrowWrite<pigment_collection_update_arrow>});
  t.push_back({"pigment_collection_upsert_arrow", FuzzArrowWrite<pigment_collection_upsert_arrow>});
}

}  // namespace abi_fuzz
