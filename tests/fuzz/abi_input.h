// SPDX-License-Identifier: Apache-2.0
//
// Bytes of a fuzzer as arguments of the C interface: handles that are null or of the wrong type,
// texts that are hostile, structs with odd sizes, columns whose offsets go backwards. Memory that
// is passed is always really there: what no callee can check is not tried. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "pigment/pigment.h"

namespace abi_fuzz {

// Unlike assert it is there in every build; the fuzzer keeps the input.
inline void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  bool empty() const { return at_ >= size_; }
  uint8_t Byte() { return empty() ? 0 : data_[at_++]; }
  bool OneIn(unsigned n) { return Byte() % n == n - 1; }
  size_t Below(size_t limit) {
    return limit == 0 ? 0 : (Byte() | static_cast<size_t>(Byte()) << 8) % limit;
  }
  uint64_t Number() {
    static constexpr uint64_t kEdges[] = {0,
                                          1,
                                          2,
                                          7,
                                          10,
                                          255,
                                          65535,
                                          65536,
                                          0x7fffffff,
                                          0xffffffff,
                                          0x7fffffffffffffff,
                                          0x8000000000000000,
                                          ~uint64_t{0}};
    if (OneIn(2)) return kEdges[Below(std::size(kEdges))];
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | Byte();
    return value;
  }
  int32_t Enum(int32_t last) {
    return OneIn(12) ? static_cast<int32_t>(Number()) : static_cast<int32_t>(Byte() % (last + 1));
  }
  float Float() {
    if (!OneIn(16)) return static_cast<float>(static_cast<int8_t>(Byte())) / 8;
    const auto bits = static_cast<uint32_t>(Number());
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  std::string Bytes(size_t size_max) {
    std::string bytes(Below(size_max + 1), '\0');
    for (char& byte : bytes) byte = static_cast<char>(Byte());
    return bytes;
  }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
};

struct Text {
  const char* data = nullptr;
  size_t size = 0;
};

// Everything that arguments point at; lives as long as one call needs it.
class Arguments {
 public:
  explicit Arguments(Input& input) : input_(input) {}

  Text Keep(std::string bytes) {
    texts_.push_back(std::move(bytes));
    return {texts_.back().data(), texts_.back().size()};
  }

  // One of `words`, random bytes, a mangled word, nothing, or a size without data.
  template <size_t kCount>
  Text Pick(const char* const (&words)[kCount]) {
    switch (input_.Byte() % 16) {
      case 0:
        return {};
      case 1:
        return {nullptr, 1 + input_.Below(9)};
      case 2:
        return Keep(input_.Bytes(40));
      case 3: {
        std::string word = words[input_.Below(kCount)];
        if (!word.empty()) word[input_.Below(word.size())] = static_cast<char>(input_.Byte());
        return Keep(word);
      }
      case 4: {
        const std::string word = words[input_.Below(kCount)];
        return Keep(word.substr(0, input_.Below(word.size() + 1)));
      }
      default:
        return Keep(words[input_.Below(kCount)]);
    }
  }

  Text Name() {
    static constexpr const char* kWords[] = {
        "docs",           "papers",           "laws", "x", "a..b", "1.2.3.4", "us+docs",
        "default_tenant", "default_database", "acme", ""};
    return Pick(kWords);
  }
  Text Where() {
    static constexpr const char* kWords[] = {R"({"n":1})",
                                             R"({"n":{"$gt":1}})",
                                             R"({"$and":[{"n":1},{"s":"x"}]})",
                                             R"({"$or":[{"n":{"$in":[1,2]}}]})",
                                             R"({"s":{"$ne":"x"}})",
                                             R"({"l":{"$contains":2}})",
                                             R"({"#id":"a"})",
                                             R"({})",
                                             R"(null)",
                                             R"({"n":{"$lt":1e308}})",
                                             R"({"#document":{"$regex":"a.*b"}})",
                                             R"({"n":9223372036854775807})"};
    return Pick(kWords);
  }
  Text WhereDocument() {
    static constexpr const char* kWords[] = {R"({"$contains":"a"})",
                                             R"({"$not_contains":"a"})",
                                             R"({"$regex":"^a"})",
                                             R"({"$and":[{"$contains":"a"},{"$not_regex":"b"}]})",
                                             R"({"$regex":"("})",
                                             R"({"$regex":"((a*)*)*b"})",
                                             "null",
                                             "{}"};
    return Pick(kWords);
  }
  Text Metadata() {
    static constexpr const char* kWords[] = {R"({"n":1})",
                                             R"({"s":"x","f":1.5,"b":true})",
                                             R"({"l":[1,2,3]})",
                                             "null",
                                             "{}",
                                             R"({"n":null})",
                                             R"({"#n":1})",
                                             R"({"n":1e999})",
                                             R"({"hnsw:space":"ip"})",
                                             R"({"n":{"m":1}})"};
    return Pick(kWords);
  }
  Text Configuration() {
    static constexpr const char* kWords[] = {R"({"hnsw":{"space":"cosine"}})",
                                             R"({"hnsw":{"ef_search":10}})",
                                             R"({"spann":{}})",
                                             R"({"text_index":{}})",
                                             R"({"hnsw":{},"spann":null})",
                                             "{}",
                                             "null",
                                             R"({"hnsw":{"space":"foo"}})"};
    return Pick(kWords);
  }
  Text Schema() {
    static constexpr const char* kWords[] = {
        R"({"defaults":{"string":{"string_inverted_index":{"enabled":false,"config":{}}}}})",
        R"({"keys":{"#document":{"string":{"fts_index":{"enabled":false}}}}})",
        R"({"keys":{"n":{"int":{"int_inverted_index":{"enabled":false}}}}})",
        R"({"keys":{"#embedding":{"float_list":{"vector_index":{"enabled":true,"config":{"spann":{}}}}}}})",
        R"({"keys":{"#id":{}}})",
        "{}",
        "null"};
    return Pick(kWords);
  }
  Text AnyText() {
    static constexpr const char* kWords[] = {
        "", "a", "ab", "red fish", "\xc3\xa9t\xc3\xa9", "\xff\xfe", "a longer text, of words"};
    return Pick(kWords);
  }

  // `count` texts; sometimes absent, sometimes with offsets that a callee must refuse.
  pigment_text_column Column(size_t count) {
    pigment_text_column column{};
    if (input_.OneIn(8)) return column;
    std::string bytes;
    std::vector<int64_t> offsets{input_.OneIn(8) ? 3 : 0};
    bytes.assign(static_cast<size_t>(offsets[0]), '.');
    static constexpr const char* kIds[] = {
        "a", "b", "c", "d", "e", "", "\xff", "red fish", R"({"n":1})", R"({"n":2,"s":"x"})"};
    for (size_t row = 0; row < count; ++row) {
      bytes +=
          input_.OneIn(4) ? input_.Bytes(12) : std::string(kIds[input_.Below(std::size(kIds))]);
      offsets.push_back(static_cast<int64_t>(bytes.size()));
    }
    if (input_.OneIn(12)) {  // backwards or negative: the only wrong offsets that can be noticed
      const size_t at = input_.Below(offsets.size());
      offsets[at] =
          at == 0 ? -static_cast<int64_t>(input_.Byte()) - 1 : offsets[at - 1] - 1 - input_.Byte();
    }
    column.bytes = input_.OneIn(24) && bytes.empty() ? nullptr : Keep(bytes).data;
    offsets_.push_back(std::move(offsets));
    column.offsets = offsets_.back().data();
    if (input_.OneIn(3)) {
      std::string validity((count + 8) / 8, '\0');
      for (char& byte : validity)
        byte = static_cast<char>(input_.Byte() | (input_.OneIn(2) ? 255 : 0));
      column.validity = reinterpret_cast<const uint8_t*>(Keep(validity).data);
    }
    return column;
  }

  pigment_vectors Vectors(size_t rows) {
    pigment_vectors vectors{};
    if (input_.OneIn(6)) return vectors;
    vectors.rows = input_.OneIn(12) ? input_.Below(9) : rows;
    vectors.dimension = input_.OneIn(8) ? input_.Below(40) : 3;
    vectors.dtype = input_.OneIn(3) ? input_.Enum(4) : PIGMENT_F32;
    std::string bytes;
    const size_t row_bytes = vectors.dimension * 8;
    if (input_.OneIn(4))
      vectors.row_stride_bytes =
          input_.OneIn(3) ? input_.Below(row_bytes + 2) : row_bytes + input_.Byte() % 5;
    const size_t stride =
        vectors.row_stride_bytes > row_bytes ? vectors.row_stride_bytes : row_bytes;
    while (bytes.size() < vectors.rows * stride + row_bytes) {
      const float value = input_.Float();
      const double wide = value;
      const auto whole = static_cast<int32_t>(input_.Byte());
      const bool is_wide = vectors.dtype == PIGMENT_F64;
      const char* raw = vectors.dtype >= PIGMENT_I32 ? reinterpret_cast<const char*>(&whole)
                        : is_wide                    ? reinterpret_cast<const char*>(&wide)
                                                     : reinterpret_cast<const char*>(&value);
      bytes.append(raw, is_wide ? 8 : 4);
    }
    vectors.data = Keep(bytes).data;
    if (input_.OneIn(24)) {  // impossible numbers without data
      vectors.data = nullptr;
      vectors.rows = input_.Number();
      vectors.dimension = input_.Number();
    }
    return vectors;
  }

  std::vector<float>& Floats(size_t count) {
    floats_.emplace_back(count);
    for (float& value : floats_.back()) value = input_.Float();
    return floats_.back();
  }

  // The right size, or an odd one; the struct itself is always whole.
  template <typename T>
  void Size(T& options) {
    options.struct_size = sizeof options;
    if (input_.OneIn(24)) options.struct_size = static_cast<size_t>(input_.Number());
  }

  Input& input() { return input_; }

 private:
  Input& input_;
  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> offsets_;
  std::deque<std::vector<float>> floats_;
};

}  // namespace abi_fuzz
