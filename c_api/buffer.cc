// SPDX-License-Identifier: Apache-2.0
//
// pigment_buffer: a text that the library made and the caller frees. One thread at a time.

#include <span>
#include <string>
#include <utility>

#include "c_api/error.h"

struct pigment_buffer : pigment::abi::Handle<pigment::abi::HandleKind::kBuffer> {
  std::string text;
};

namespace pigment::abi {

pigment_buffer* NewBuffer(std::string text) {
  auto* buffer = new pigment_buffer();
  buffer->text = std::move(text);
  return buffer;
}

pigment_buffer* NewElements(std::span<const std::string> elements) {
  std::string bytes;
  for (const std::string& element : elements) {
    const auto size = static_cast<uint32_t>(element.size());
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size).append(element);
  }
  return NewBuffer(std::move(bytes));
}

}  // namespace pigment::abi

const char* pigment_buffer_data(const pigment_buffer* buffer, size_t* size) {
  const bool valid = pigment::abi::IsHandle(buffer);
  if (size != nullptr) *size = valid ? buffer->text.size() : 0;
  return valid ? buffer->text.c_str() : nullptr;
}

void pigment_buffer_free(pigment_buffer* buffer) {
  if (pigment::abi::IsHandle(buffer)) delete buffer;
}
