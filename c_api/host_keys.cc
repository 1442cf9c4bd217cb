// SPDX-License-Identifier: Apache-2.0
//
// Keys of a host's rows into the form in which the engine keeps them. Pure functions; any thread.

#include "engine/segment/host_keys.h"

#include <string_view>

#include "c_api/error.h"
#include "engine/inverted/gram.h"
#include "pigment/pigment_host.h"

namespace {

pigment::HostKey::Kind KindOf(int32_t kind) {
  if (kind == PIGMENT_KEY_ELEMENT) return pigment::HostKey::Kind::kElement;
  if (kind == PIGMENT_KEY_GRAMS) return pigment::HostKey::Kind::kGrams;
  return pigment::HostKey::Kind::kValue;
}

pigment::HostKey KeyAt(const void* keys, size_t i) {
  const pigment_host_key& key = static_cast<const pigment_host_key*>(keys)[i];
  return {.column = key.column,
          .kind = KindOf(key.kind),
          .bytes = key.size != 0 ? std::string_view(static_cast<const char*>(key.bytes), key.size)
                                 : std::string_view()};
}

}  // namespace

size_t pigment_host_grams(const void* text, size_t size, void* out) {
  if (size == 0) return 0;
  return pigment::WriteGrams({static_cast<const char*>(text), size}, static_cast<uint32_t*>(out));
}

size_t pigment_host_keys_bytes(const pigment_host_key* keys, size_t count) {
  return pigment::HostKeysBytes({count, keys, KeyAt});
}

void pigment_host_keys_encode(const pigment_host_key* keys, size_t count, void* out) {
  pigment::EncodeHostKeys({count, keys, KeyAt}, static_cast<std::byte*>(out));
}

uint64_t pigment_host_keys_fingerprint(const pigment_host_key* keys, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += pigment::HostKeyFingerprint(KeyAt(keys, i));
  return sum;
}
