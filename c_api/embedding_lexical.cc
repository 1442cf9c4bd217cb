// SPDX-License-Identifier: Apache-2.0
//
// The built-in lexical embedding in the C interface: called directly, and as an embedding function
// for collections. No state; any thread.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "c_api/columns.h"
#include "c_api/error.h"
#include "engine/embedding/lexical.h"
#include "engine/record/validate.h"
#include "pigment/pigment.h"

using pigment::Status;
using pigment::abi::Call;

namespace {

// The dimension travels in the pointer itself, so that there is nothing to release and the struct
// may be given to any number of collections.
void* AsUserData(size_t dimension) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(dimension));
}
size_t AsDimension(void* user_data) {
  return static_cast<size_t>(reinterpret_cast<uintptr_t>(user_data));
}

// Reads texts as the engine gives them: checked already.
std::string_view TextAt(const pigment_text_column& texts, size_t row) {
  const int64_t begin = texts.offsets[row];
  return {texts.bytes + begin, static_cast<size_t>(texts.offsets[row + 1] - begin)};
}

pigment_status Embed(void* user_data, int32_t /*purpose: documents and queries are embedded alike*/,
                     size_t count, const pigment_text_column* texts,
                     pigment_embedding_sink* sink) noexcept {
  const size_t dimension = AsDimension(user_data);
  try {
    constexpr size_t kRowsPerSlice = 64;
    std::vector<float> values(std::min(count, kRowsPerSlice) * dimension);
    for (size_t first = 0; first < count; first += kRowsPerSlice) {
      const size_t rows = std::min(kRowsPerSlice, count - first);
      for (size_t row = 0; row < rows; ++row) {
        pigment::EmbedLexical(TextAt(*texts, first + row),
                              std::span(values).subspan(row * dimension, dimension));
      }
      const pigment_status status =
          pigment_embedding_sink_put(sink, values.data(), rows, dimension);
      if (status != PIGMENT_OK) return status;
    }
    return PIGMENT_OK;
  } catch (...) {  // memory is all that can fail here
    constexpr std::string_view kMessage = "out of memory";
    pigment_embedding_sink_fail(sink, kMessage.data(), kMessage.size());
    return PIGMENT_RESOURCE_EXHAUSTED;
  }
}

}  // namespace

pigment_status pigment_embed_lexical(size_t count, const pigment_text_column* texts,
                                     size_t dimension, float* values, pigment_error** error) {
  return Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::CheckDimensionRange("an embedding", dimension));
    if (count == 0) return Status::Ok();
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{texts, "texts"}, {values, "values"}}));
    PIGMENT_ASSIGN_OR_RETURN(
        const pigment::abi::TextColumnView view,
        pigment::abi::ReadTextColumn(*texts, count, "texts", pigment::abi::TextKind::kBytes, true));
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckAllPresent(view, "texts"));
    for (size_t row = 0; row < count; ++row) {
      pigment::EmbedLexical(view[row], std::span(values + row * dimension, dimension));
    }
    return Status::Ok();
  });
}

// Fills the struct as it is in ABI 1, whatever struct_size said: this is its init function. The
// configuration stays empty, since a collection knows its dimension.
pigment_status pigment_embedding_function_lexical(size_t dimension,
                                                  pigment_embedding_function* function,
                                                  pigment_error** error) {
  return Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{function, "function"}}));
    if (dimension == 0) dimension = pigment::kLexicalDimensionDefault;
    PIGMENT_RETURN_IF_ERROR(pigment::CheckDimensionRange("an embedding", dimension));
    constexpr std::string_view kSpace = "cosine";
    *function = {};
    function->struct_size = sizeof(*function);
    function->name = pigment::kLexicalEmbeddingName.data();
    function->name_size = pigment::kLexicalEmbeddingName.size();
    function->space = kSpace.data();
    function->space_size = kSpace.size();
    function->embed = Embed;
    function->user_data = AsUserData(dimension);
    return Status::Ok();
  });
}
