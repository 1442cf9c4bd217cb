// SPDX-License-Identifier: Apache-2.0
//
// Keys of a host's rows into the form in which the engine keeps them, and metadata as keys. Pure
// functions; any thread.

#include "engine/segment/host_keys.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c_api/error.h"
#include "c_api/host_record.h"
#include "engine/inverted/gram.h"
#include "engine/query/filter.h"
#include "engine/query/filter_keys.h"
#include "engine/record/metadata.h"
#include "engine/segment/host_filter.h"
#include "pigment/pigment_host.h"

using pigment::HostCondition;
using pigment::Result;
using pigment::Status;

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

pigment::HostKey ElementAt(const void* keys, size_t i) {
  return {.column = 0,
          .kind = i != 0 ? pigment::HostKey::Kind::kElement : pigment::HostKey::Kind::kValue,
          .bytes = i != 0 ? static_cast<const std::string*>(keys)[i - 1] : std::string_view()};
}

struct Elements {
  bool is_present = false;
  std::vector<std::string> elements = {};
};

Result<Elements> ReadElements(const char* json, size_t size) {
  PIGMENT_ASSIGN_OR_RETURN(const auto text,
                           pigment::abi::ReadOptionalText(json, size, "metadata_json"));
  Elements read;
  if (!text) return read;
  PIGMENT_ASSIGN_OR_RETURN(
      const pigment::Metadata metadata,
      pigment::ParseMetadataJson(*text, pigment::MetadataUse::kStored, &read.is_present));
  if (read.is_present) {
    PIGMENT_ASSIGN_OR_RETURN(read.elements, pigment::ElementsOf(metadata));
  }
  return read;
}

// The row as a pending page would have it.
Result<bool> Holds(const pigment::Filter& filter, const Elements& row) {
  HostCondition condition{.kind = HostCondition::Kind::kClauses};
  condition.clauses = pigment::ClausesOf(filter.program());
  const pigment::HostKeyList keys{row.is_present ? row.elements.size() + 1 : 0, row.elements.data(),
                                  ElementAt};
  std::vector<std::byte> stored(pigment::HostKeysBytes(keys));
  pigment::EncodeHostKeys(keys, stored.data());
  return pigment::HostFilter({std::move(condition)}).Matches(stored);
}

}  // namespace

size_t pigment_host_grams(const void* text, size_t size, void* out) {
  if (size == 0) return 0;
  return pigment::WriteGrams({static_cast<const char*>(text), size}, static_cast<uint32_t*>(out));
}

pigment_status pigment_host_metadata_elements(const char* metadata_json, size_t metadata_json_size,
                                              pigment_buffer** elements, pigment_error** error) {
  const auto clear = [elements] { pigment::abi::ClearBuffer(elements); };
  return pigment::abi::Call(error, clear, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{elements, "elements"}}));
    PIGMENT_ASSIGN_OR_RETURN(const Elements read, ReadElements(metadata_json, metadata_json_size));
    *elements = pigment::abi::NewElements(read.elements);
    return Status::Ok();
  });
}

pigment_status pigment_host_where_holds(const char* where_json, size_t where_json_size,
                                        const char* metadata_json, size_t metadata_json_size,
                                        bool* holds, pigment_error** error) {
  const auto clear = [holds] {
    if (holds != nullptr) *holds = false;
  };
  return pigment::abi::Call(error, clear, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{holds, "holds"}}));
    PIGMENT_ASSIGN_OR_RETURN(const auto where, pigment::abi::ReadOptionalText(
                                                   where_json, where_json_size, "where_json"));
    PIGMENT_ASSIGN_OR_RETURN(const auto filter, pigment::abi::ParseHostFilter(where));
    PIGMENT_ASSIGN_OR_RETURN(const Elements read, ReadElements(metadata_json, metadata_json_size));
    PIGMENT_ASSIGN_OR_RETURN(*holds, Holds(*filter, read));
    return Status::Ok();
  });
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
