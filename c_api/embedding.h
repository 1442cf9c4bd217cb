// SPDX-License-Identifier: Apache-2.0
//
// Embedding functions of callers: read from the interface's struct, called with a batch of texts,
// their answer checked (count, one dimension, finite numbers). Any thread, several calls at once;
// no lock is held while the callback runs. The caller's user data is released once, when the last
// handle that uses the function is gone.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "c_api/columns.h"
#include "engine/base/status.h"
#include "pigment/pigment.h"

namespace pigment::abi {

struct Embedded {
  std::vector<float> values;  // rows x dimension
  uint32_t dimension = 0;
};

class EmbeddingFunction {
 public:
  // Null gives null. Until Adopt() the user data stays the caller's.
  static Result<std::shared_ptr<EmbeddingFunction>> Read(const pigment_embedding_function* function,
                                                         std::string_view argument);
  ~EmbeddingFunction();
  EmbeddingFunction(const EmbeddingFunction&) = delete;
  EmbeddingFunction& operator=(const EmbeddingFunction&) = delete;

  // The call that was given the function succeeded: from now on the user data is ours to release.
  void Adopt() noexcept { adopted_ = true; }

  const std::string& name() const { return name_; }
  const std::string& config_json() const { return config_json_; }
  const std::optional<std::string>& space() const { return space_; }

  // One vector per row. REQUIRES: all rows of `texts` present. What is wrong with the answer:
  // kInvalidArgument, Detail::kEmbeddingFunction, naming function and row; a failure of the
  // function: its code.
  Result<Embedded> Embed(int32_t purpose, const TextColumnView& texts) const;

 private:
  EmbeddingFunction() = default;
  std::string Label() const;

  std::string name_;
  std::string config_json_;
  std::optional<std::string> space_;
  decltype(pigment_embedding_function::embed) embed_ = nullptr;
  decltype(pigment_embedding_function::release) release_ = nullptr;
  void* user_data_ = nullptr;
  bool adopted_ = false;
};

// Refuses `function` for a collection that stored another name. "default" never conflicts (as in
// Chroma).
Status CheckFunctionConflict(const EmbeddingFunction* function, const std::string& stored_name,
                             const std::string& collection_name);

}  // namespace pigment::abi
