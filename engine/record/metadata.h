// SPDX-License-Identifier: Apache-2.0
//
// Metadata of a record or a collection: an ordered map from key to typed value, as in Chroma:
// string, int64, double, bool, and non-empty arrays of one of these; values below objects have keys
// that are paths (metadata_path.h). Values are immutable once built and may be read from any
// thread.
//
// Stored form (Encode/Decode), little endian, used by log, tail and segments alike:
//   offset size meaning
//   0      4    number of entries; then per entry, in ascending byte order of keys:
//          4+k  key length and bytes
//          1    type: 0 "delete this key", 1 string, 2 int64, 3 double, 4 bool,
//               5 to 8 arrays of the same in this order
//          v    scalar: string 4+n, int64 8, double 8, bool 1;
//               array: 4 (element count, not 0), then the elements

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "engine/base/status.h"

namespace pigment {

// "Delete this key": legal in the metadata of update and upsert only, never stored in a record.
// Its copy constructor is not trivial on purpose: GCC's library takes a variant of nothing but
// strings, vectors and trivial types for one that always has a value, and destroys what is not
// there when memory runs out during a copy.
struct Erased {
  Erased() = default;
  Erased(const Erased&) noexcept {}
  Erased& operator=(const Erased&) noexcept { return *this; }
  bool operator==(const Erased&) const { return true; }
};
static_assert(!std::is_trivially_copy_constructible_v<Erased>);

using MetadataValue =
    std::variant<Erased, std::string, int64_t, double, bool, std::vector<std::string>,
                 std::vector<int64_t>, std::vector<double>, std::vector<bool>>;

using Metadata = std::map<std::string, MetadataValue, std::less<>>;

// Where a metadata object comes from decides what it may hold.
enum class MetadataUse {
  kNewRecord,         // add: null values refused
  kMergeRecord,       // update, upsert: null deletes the key
  kCollection,        // collection metadata: null and arrays refused
  kCollectionChange,  // what replaces it: a key that is null will not be there
  kStored,  // read back from a host: as kNewRecord, but {} is legal (what a merge may leave)
};

// Whether values may be objects, beyond Chroma: those that are not empty, to any depth.
enum class MetadataShape { kFlat, kNested };

// Parses a JSON object in Chroma's rules (keys not empty, not beginning with # or $, not
// chroma:document; int64 or double numbers, an integer beyond int64 refused; arrays non-empty and
// of one type; no nested objects; duplicate keys refused; {} refused). kInvalidArgument with
// Detail::kMetadata, naming key and value. The JSON null gives an empty optional-like result:
// `*present` false. Nested, the keys below the top may be any; paths that take too many bytes:
// kResourceExhausted, Detail::kLimit.
Result<Metadata> ParseMetadataJson(std::string_view json, MetadataUse use, bool* present,
                                   MetadataShape shape = MetadataShape::kFlat);

// Prints as JSON: keys ascending, int64 as integers, doubles in their shortest form that reads back
// equal and always with a point or an exponent, so that types survive a round trip. Paths are
// objects again.
std::string MetadataToJson(const Metadata& metadata);

// Merges an update into `base` as JSON Merge Patch (RFC 7396) does: objects member by member, all
// else takes the place of what was there; Erased removes it. An object that nothing is left in is
// gone too.
void MergeMetadata(Metadata& base, const Metadata& update);

void EncodeMetadata(const Metadata& metadata, std::string& out);
// Reads what EncodeMetadata wrote; anything else: kDataLoss, Detail::kMiscounted or kTruncated (no
// file attached).
Result<Metadata> DecodeMetadata(std::span<const std::byte> bytes);
// Appends MetadataToJson(DecodeMetadata(bytes)) without making either; after an error `out` may
// have something of it.
Status StoredMetadataToJson(std::span<const std::byte> bytes, std::string& out);

}  // namespace pigment
