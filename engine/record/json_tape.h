// SPDX-License-Identifier: Apache-2.0
//
// A JSON text as one flat array of nodes in the order in which they were read. Metadata,
// configuration and filters are read from it. Neither parsing nor walking nor destroying it
// recurses, so depth costs heap and never stack. Owns all its text; immutable once parsed, any
// thread may read it.
//
//   {"a": [1, "x"], "b": null}   ->   0 object, end 5
//                                     1   "a" array, end 4
//                                     2     1
//                                     3     "x"
//                                     4   "b" null
//
// The children of node i are i + 1, end(i + 1), … up to end(i); the end of a scalar is the node
// after it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/limits.h"
#include "engine/base/status.h"

namespace pigment {

enum class JsonKind : uint8_t {
  kNull,
  kBool,
  kInteger,     // fits int64
  kBigInteger,  // an integer beyond int64: kept as digits
  kDouble,      // written with a point or an exponent, finite
  kString,
  kArray,
  kObject,
};

struct JsonLimits {
  Limit bytes = limit::kJsonBytesMax;
  Limit values = limit::kJsonValuesMax;
};

class JsonTape {
 public:
  // `what` names the text in messages ("where", "metadata"); `detail` goes into errors of the
  // caller's making. Refused: what is not JSON, text that is not UTF-8, a key twice in one object,
  // numbers beyond double (kInvalidArgument); a text beyond `limits` (kResourceExhausted,
  // Detail::kLimit).
  static Result<JsonTape> Parse(std::string_view json, std::string_view what, Detail detail,
                                const JsonLimits& limits = {});

  size_t size() const { return nodes_.size(); }
  JsonKind kind(size_t i) const { return nodes_[i].kind; }
  size_t end(size_t i) const { return nodes_[i].end; }
  bool empty(size_t i) const { return nodes_[i].end == i + 1; }  // of a container: has no child
  size_t ChildCount(size_t i) const;

  std::string_view key(size_t i) const { return View(nodes_[i].key); }  // of a member of an object
  bool boolean(size_t i) const { return nodes_[i].value.integer != 0; }
  int64_t integer(size_t i) const { return nodes_[i].value.integer; }
  double real(size_t i) const { return nodes_[i].value.real; }
  std::string_view text(size_t i) const {
    return View(nodes_[i].value.text);
  }  // string or big integer

  // The value for a message: scalars as JSON, shortened; containers as "a list of 3" or "an object
  // of 2 keys".
  std::string Describe(size_t i) const;

 private:
  friend class JsonTapeBuilder;

  struct Slice {
    uint32_t offset;
    uint32_t size;
  };
  union Value {
    int64_t integer;
    double real;
    Slice text;
  };
  struct Node {
    Value value;
    Slice key;
    uint32_t end;
    JsonKind kind;
  };

  std::string_view View(Slice slice) const {
    return std::string_view(text_).substr(slice.offset, slice.size);
  }

  std::vector<Node> nodes_;
  std::string text_;  // all keys and strings, one after another
};

}  // namespace pigment
