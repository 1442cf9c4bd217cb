// SPDX-License-Identifier: Apache-2.0
//
// The embedding function of conformance scripts, so simple that every language has it: component i
// counts the letter 'a' + i of the text. It can be told to fail in each way that the library must
// notice. Any thread.

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/c_api/abi.h"
#include "tests/support/json.h"

namespace conformance {

class Letters {
 public:
  // From args.function: {"name", "dimension", "space"?, "config"?, "fault"?}; none: no function.
  explicit Letters(const nlohmann::json& args) {
    if (!args.contains("function")) return;
    const nlohmann::json& wanted = args.at("function");
    state_ = std::make_unique<State>();
    state_->name = wanted.value("name", "letters");
    state_->dimension = wanted.value("dimension", size_t{3});
    state_->space = wanted.value("space", "");
    state_->config = wanted.contains("config") ? wanted.at("config").dump() : "";
    state_->fault = wanted.value("fault", "");
    function_ = abi_test::Sized<pigment_embedding_function>();
    function_.name = state_->name.data();
    function_.name_size = state_->name.size();
    function_.config_json = state_->config.empty() ? nullptr : state_->config.data();
    function_.config_json_size = state_->config.size();
    function_.space = state_->space.empty() ? nullptr : state_->space.data();
    function_.space_size = state_->space.size();
    function_.embed = &Embed;
    function_.release = &Release;
    function_.user_data = state_.get();
  }

  const pigment_embedding_function* function() const { return state_ ? &function_ : nullptr; }
  // The library releases it from now on.
  void GiveAway() { state_.release(); }

 private:
  struct State {
    std::string name, space, config, fault;
    size_t dimension = 3;
  };

  static void Release(void* user_data) { delete static_cast<State*>(user_data); }

  static pigment_status Embed(void* user_data, int32_t, size_t count,
                              const pigment_text_column* texts, pigment_embedding_sink* sink) {
    const State& state = *static_cast<const State*>(user_data);
    if (state.fault == "fail") {
      const std::string why = "the model is asleep";
      pigment_embedding_sink_fail(sink, why.data(), why.size());
      return PIGMENT_UNAVAILABLE;
    }
    if (state.fault == "throw") throw std::runtime_error("a callback must not throw");
    const size_t dimension = state.dimension + (state.fault == "dimension" ? 1 : 0);
    std::vector<float> values(count * dimension);
    for (size_t row = 0; row < count; ++row) {
      for (const char letter : abi_test::Text(*texts, row)) {
        const auto component = static_cast<size_t>(static_cast<unsigned char>(letter)) - 'a';
        if (component < dimension) values[row * dimension + component] += 1;
      }
    }
    if (state.fault == "nan") values.back() = std::numeric_limits<float>::quiet_NaN();
    size_t rows = count;
    if (state.fault == "short") --rows;
    if (state.fault == "extra") {
      values.resize((count + 1) * dimension);
      ++rows;
    }
    return pigment_embedding_sink_put(sink, values.data(), rows, dimension);
  }

  std::unique_ptr<State> state_;
  pigment_embedding_function function_{};
};

}  // namespace conformance
