// SPDX-License-Identifier: Apache-2.0
//
// Arrow streams by hand, for tests and the fuzzer: columns whose every member may be made wrong,
// and counts of what was released. Header only, public headers only; one thread.

#pragma once

#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pigment/pigment.h"

namespace abi_test {

// Schema and array of a column, or of a batch. Buffers without a value are NULL.
struct ArrowPart {
  std::string format;
  std::string name;
  int64_t length = 0;
  int64_t null_count = 0;
  int64_t offset = 0;
  std::vector<std::optional<std::string>> buffers = {};
  std::vector<ArrowPart> children = {};
  // What is wrong with it; runs when the struct is complete.
  std::function<void(ArrowSchema&)> spoil_schema = {};
  std::function<void(ArrowArray&)> spoil_array = {};
};

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// A validity bitmap, or none when all rows are there.
inline std::optional<std::string> Validity(const std::vector<bool>& present, ArrowPart& part) {
  std::string bits(present.size() / 8 + 1, '\0');
  part.null_count = 0;
  for (size_t row = 0; row < present.size(); ++row) {
    part.null_count += present[row] ? 0 : 1;
    bits[row / 8] = static_cast<char>(bits[row / 8] | (present[row] ? 1 : 0) << (row % 8));
  }
  if (part.null_count == 0) return std::nullopt;
  return bits;
}

using OptionalTexts = std::vector<std::optional<std::string>>;

// Format u, U, z, Z, vu or vz.
inline ArrowPart ArrowTexts(const std::string& name, const std::string& format,
                            const OptionalTexts& texts) {
  ArrowPart part{format, name};
  part.length = static_cast<int64_t>(texts.size());
  std::vector<bool> present;
  std::string data, views;
  std::vector<int32_t> small{0};
  std::vector<int64_t> large{0};
  for (const auto& text : texts) {
    present.push_back(text.has_value());
    const std::string bytes = text.value_or("");
    std::string view = BytesOf<int32_t>({static_cast<int32_t>(bytes.size())});
    if (bytes.size() <= 12) {
      view += bytes + std::string(12 - bytes.size(), '\0');
    } else {
      view += bytes.substr(0, 4) + BytesOf<int32_t>({0, static_cast<int32_t>(data.size())});
    }
    views += view;
    data += bytes;
    small.push_back(static_cast<int32_t>(data.size()));
    large.push_back(static_cast<int64_t>(data.size()));
  }
  part.buffers.push_back(Validity(present, part));
  if (format[0] == 'v') {
    const auto size = static_cast<int64_t>(data.size());
    part.buffers.insert(part.buffers.end(), {views, data, BytesOf<int64_t>({size})});
  } else {
    const bool is_large = format == "U" || format == "Z";
    part.buffers.push_back(is_large ? BytesOf(large) : BytesOf(small));
    part.buffers.push_back(data);
  }
  return part;
}

template <typename T>
ArrowPart ArrowNumbers(const std::string& name, const std::string& format,
                       const std::vector<std::optional<T>>& values) {
  ArrowPart part{format, name};
  part.length = static_cast<int64_t>(values.size());
  std::vector<bool> present;
  std::vector<T> numbers;
  for (const auto& value : values) {
    present.push_back(value.has_value());
    numbers.push_back(value.value_or(T{}));
  }
  part.buffers = {Validity(present, part), BytesOf(numbers)};
  return part;
}

inline ArrowPart ArrowBools(const std::string& name, const std::vector<bool>& values) {
  ArrowPart part{"b", name};
  part.length = static_cast<int64_t>(values.size());
  std::string bits(values.size() / 8 + 1, '\0');
  for (size_t row = 0; row < values.size(); ++row)
    bits[row / 8] = static_cast<char>(bits[row / 8] | (values[row] ? 1 : 0) << (row % 8));
  part.buffers = {std::nullopt, bits};
  return part;
}

inline ArrowPart ArrowNulls(const std::string& name, int64_t length) {
  ArrowPart part{"n", name};
  part.length = part.null_count = length;
  return part;
}

// A fixed-size list; items of rows that are null must be there.
inline ArrowPart ArrowFixedLists(const std::string& name, int size, ArrowPart items,
                                 const std::vector<bool>& present) {
  ArrowPart part{"+w:" + std::to_string(size), name};
  part.length = static_cast<int64_t>(present.size());
  part.buffers = {Validity(present, part)};
  part.children.push_back(std::move(items));
  return part;
}

// Format +l or +L.
inline ArrowPart ArrowLists(const std::string& name, const std::string& format,
                            const std::vector<int32_t>& offsets, ArrowPart items) {
  ArrowPart part{format, name};
  part.length = static_cast<int64_t>(offsets.size()) - 1;
  const std::vector<int64_t> large(offsets.begin(), offsets.end());
  part.buffers = {std::nullopt, format == "+L" ? BytesOf(large) : BytesOf(offsets)};
  part.children.push_back(std::move(items));
  return part;
}

// A struct, or without a name a batch.
inline ArrowPart ArrowStruct(const std::string& name, int64_t length,
                             std::vector<ArrowPart> children) {
  ArrowPart part{"+s", name};
  part.length = length;
  part.buffers = {std::nullopt};
  part.children = std::move(children);
  return part;
}

// A stream of batches that have one schema, that of the first. It must outlive whatever took it.
class MadeStream {
 public:
  explicit MadeStream(std::vector<ArrowPart> batches) : batches_(std::move(batches)) {
    stream_.get_schema = [](ArrowArrayStream* stream, ArrowSchema* out) {
      auto* self = static_cast<MadeStream*>(stream->private_data);
      if (self->schema_error != 0) return self->schema_error;
      *out = self->gives_no_schema ? ArrowSchema{} : self->Schema(self->batches_[0]);
      return 0;
    };
    stream_.get_next = [](ArrowArrayStream* stream, ArrowArray* out) {
      auto* self = static_cast<MadeStream*>(stream->private_data);
      if (self->next_ == self->fails_at) return EIO;
      *out = self->next_ == self->batches_.size() ? ArrowArray{}
                                                  : self->Array(self->batches_[self->next_++]);
      return 0;
    };
    stream_.get_last_error = [](ArrowArrayStream* stream) {
      return static_cast<MadeStream*>(stream->private_data)->error_text;
    };
    stream_.release = [](ArrowArrayStream* stream) {
      ++static_cast<MadeStream*>(stream->private_data)->stream_releases_;
      stream->release = nullptr;
    };
    stream_.private_data = this;
  }
  MadeStream(const MadeStream&) = delete;
  MadeStream& operator=(const MadeStream&) = delete;

  ArrowArrayStream* get() { return &stream_; }

  // The stream, and all that it gave with all children, once and not more.
  bool everything_was_released_once() const {
    if (stream_releases_ != 1 || stream_.release != nullptr) return false;
    for (const auto& node : schemas_) {
      if (node.releases != 1) return false;
    }
    for (const auto& node : arrays_) {
      if (node.releases != 1) return false;
    }
    return true;
  }
  size_t batches_given() const { return next_; }

  int schema_error = 0;
  bool gives_no_schema = false;
  size_t fails_at = SIZE_MAX;
  const char* error_text = nullptr;

 private:
  template <typename T>
  struct Node {
    int releases = 0;
    std::string format, name;
    std::vector<const void*> buffers;
    std::vector<T> children;
    std::vector<T*> pointers;
  };
  // As producers do: what was not moved away of the children goes with the parent.
  template <typename T>
  static void Release(T* one) {
    auto* node = static_cast<Node<T>*>(one->private_data);
    ++node->releases;
    for (T& child : node->children) {
      if (child.release != nullptr) child.release(&child);
    }
    one->release = nullptr;
  }
  template <typename T>
  static void Finish(Node<T>& node, T& made) {
    for (T& child : node.children) node.pointers.push_back(&child);
    made.n_children = static_cast<int64_t>(node.children.size());
    made.children = node.pointers.data();
    made.release = Release<T>;
    made.private_data = &node;
  }
  ArrowSchema Schema(const ArrowPart& part) {
    Node<ArrowSchema>& node = schemas_.emplace_back();
    node.format = part.format;
    node.name = part.name;
    for (const ArrowPart& child : part.children) node.children.push_back(Schema(child));
    ArrowSchema made{};
    made.format = node.format.c_str();
    made.name = node.name.c_str();
    made.flags = ARROW_FLAG_NULLABLE;
    Finish(node, made);
    if (part.spoil_schema) part.spoil_schema(made);
    return made;
  }
  ArrowArray Array(const ArrowPart& part) {
    Node<ArrowArray>& node = arrays_.emplace_back();
    for (const auto& buffer : part.buffers)
      node.buffers.push_back(buffer ? buffer->data() : nullptr);
    for (const ArrowPart& child : part.children) node.children.push_back(Array(child));
    ArrowArray made{};
    made.length = part.length;
    made.null_count = part.null_count;
    made.offset = part.offset;
    made.n_buffers = static_cast<int64_t>(node.buffers.size());
    made.buffers = node.buffers.data();
    Finish(node, made);
    if (part.spoil_array) part.spoil_array(made);
    return made;
  }

  std::vector<ArrowPart> batches_;
  std::deque<Node<ArrowSchema>> schemas_;
  std::deque<Node<ArrowArray>> arrays_;
  ArrowArrayStream stream_{};
  size_t next_ = 0;
  int stream_releases_ = 0;
};

}  // namespace abi_test
