// SPDX-License-Identifier: Apache-2.0
//
// Metadata in and out of JSON: Chroma's rules for keys and values when reading, types that survive
// when printing.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "engine/base/limits.h"
#include "engine/record/json_tape.h"
#include "engine/record/metadata.h"
#include "engine/record/metadata_path.h"
#include "engine/record/metadata_stored.h"
#include "engine/record/text.h"

namespace pigment {
namespace {

constexpr std::string_view kWhat = "metadata";

// `key` as a caller gives it.
Status RefusedKey(std::string_view key, std::string_view reason) {
  return InvalidArgument(Detail::kMetadata,
                         fmt::format("metadata key {}: {}", Quoted(key), reason));
}

// `key` as it is stored.
Status Refused(std::string_view key, std::string_view reason) {
  return RefusedKey(KeyText(key), reason);
}

Status CheckKey(std::string_view key) {
  if (key.empty())
    return InvalidArgument(Detail::kMetadata, "metadata keys must not be empty, got \"\"");
  if (key[0] == '#' || key[0] == '$') return RefusedKey(key, "a key must not start with # or $");
  if (key == "chroma:document") {
    return Refused(key, "this key is reserved").WithHint("give the text as the record's document");
  }
  if (key == kUriKey)
    return Refused(key, "this key is reserved").WithHint("give it as the record's uri");
  return Status::Ok();
}

std::string_view KindName(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return "bool";
    case JsonKind::kInteger:
    case JsonKind::kBigInteger:
      return "integer";
    case JsonKind::kDouble:
      return "float";
    case JsonKind::kString:
      return "string";
    case JsonKind::kArray:
      return "list";
    case JsonKind::kObject:
      return "object";
  }
  return "value";
}

Status TooBig(const JsonTape& tape, std::string_view key, size_t value) {
  return Refused(key, fmt::format("integer {} does not fit 64 bits", Printable(tape.text(value))));
}

// Every element is of the first one's kind, and that is a scalar's.
Status CheckList(const JsonTape& tape, std::string_view key, size_t list) {
  if (tape.empty(list)) return Refused(key, "a list must not be empty, got []");
  const JsonKind kind = tape.kind(list + 1);
  for (size_t i = list + 1; i < tape.end(list); i = tape.end(i)) {
    switch (tape.kind(i)) {
      case JsonKind::kNull:
      case JsonKind::kArray:
      case JsonKind::kObject:
        return Refused(key, fmt::format("a list takes strings, integers, floats or bools, got {}",
                                        tape.Describe(i)));
      case JsonKind::kBigInteger:
        return TooBig(tape, key, i);
      case JsonKind::kBool:
      case JsonKind::kInteger:
      case JsonKind::kDouble:
      case JsonKind::kString:
        break;
    }
    if (tape.kind(i) != kind) {
      return Refused(key,
                     fmt::format("all values of a list must be of one type, got {} {} after {} {}",
                                 KindName(tape.kind(i)), tape.Describe(i), KindName(kind),
                                 tape.Describe(list + 1)));
    }
  }
  return Status::Ok();
}

template <typename T, typename Get>
MetadataValue ReadList(const JsonTape& tape, size_t list, Get get) {
  std::vector<T> values;
  for (size_t i = list + 1; i < tape.end(list); i = tape.end(i)) values.push_back(get(i));
  return values;
}

Result<MetadataValue> ReadArray(const JsonTape& tape, std::string_view key, size_t list,
                                MetadataUse use) {
  if (use == MetadataUse::kCollection || use == MetadataUse::kCollectionChange) {
    return Refused(key, fmt::format("the metadata of a collection takes no list, got {}",
                                    tape.Describe(list)));
  }
  PIGMENT_RETURN_IF_ERROR(CheckList(tape, key, list));
  switch (tape.kind(list + 1)) {
    case JsonKind::kString:
      return ReadList<std::string>(tape, list, [&](size_t i) { return std::string(tape.text(i)); });
    case JsonKind::kInteger:
      return ReadList<int64_t>(tape, list, [&](size_t i) { return tape.integer(i); });
    case JsonKind::kDouble:
      return ReadList<double>(tape, list, [&](size_t i) { return tape.real(i); });
    default:
      return ReadList<bool>(tape, list, [&](size_t i) { return tape.boolean(i); });
  }
}

Result<MetadataValue> ReadValue(const JsonTape& tape, std::string_view key, size_t i,
                                MetadataUse use) {
  switch (tape.kind(i)) {
    case JsonKind::kNull:
      if (use == MetadataUse::kMergeRecord || use == MetadataUse::kCollectionChange)
        return MetadataValue(Erased{});
      return Refused(key, "null is no value here")
          .WithHint("null deletes a key, in update, upsert and modify only");
    case JsonKind::kBool:
      return MetadataValue(tape.boolean(i));
    case JsonKind::kInteger:
      return MetadataValue(tape.integer(i));
    case JsonKind::kBigInteger:
      return TooBig(tape, key, i);
    case JsonKind::kDouble:
      return MetadataValue(tape.real(i));
    case JsonKind::kString:
      return MetadataValue(std::string(tape.text(i)));
    case JsonKind::kArray:
      return ReadArray(tape, key, i, use);
    case JsonKind::kObject:
      break;
  }
  return Refused(key,
                 fmt::format("expected a string, integer, float, bool or a list of these, got {}",
                             tape.Describe(i)));
}

// The values below an object, each under its path. Goes through objects within objects with those
// that are open on a stack of its own.
Status ReadObject(const JsonTape& tape, size_t object, MetadataUse use, uint64_t* path_bytes,
                  Metadata& metadata) {
  struct Open {
    size_t end;        // on the tape
    size_t path_size;  // without the object's step
  };
  std::vector<Open> open;
  std::string path = "$";
  for (size_t i = object; i < tape.end(object);) {
    const size_t path_size = path.size();
    AppendStep(tape.key(i), path);
    if (tape.kind(i) == JsonKind::kObject) {
      if (tape.empty(i)) {
        const std::string_view key = path;
        return Refused(open.empty() ? tape.key(i) : key, "an object must not be empty, got {}");
      }
      open.push_back({tape.end(i), path_size});
      ++i;
      continue;
    }
    *path_bytes += path.size();
    if (*path_bytes > kMetadataPathBytesMax) {
      return BeyondLimit(limit::kMetadataPathBytesMax,
                         fmt::format("metadata key {}: the paths of all values are too long",
                                     Quoted(KeyText(path))));
    }
    PIGMENT_ASSIGN_OR_RETURN(MetadataValue value, ReadValue(tape, path, i, use));
    metadata.emplace(path, std::move(value));
    path.resize(path_size);
    for (i = tape.end(i); !open.empty() && open.back().end == i; open.pop_back())
      path.resize(open.back().path_size);
  }
  return Status::Ok();
}

void AppendValue(const Erased&, std::string& out) { out += "null"; }
void AppendValue(const std::string& value, std::string& out) { AppendJsonString(value, out); }
void AppendValue(std::string_view value, std::string& out) { AppendJsonString(value, out); }
void AppendValue(int64_t value, std::string& out) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}
void AppendValue(double value, std::string& out) { AppendJsonDouble(value, out); }
void AppendValue(bool value, std::string& out) { out += value ? "true" : "false"; }
template <typename T>
void AppendValue(const std::vector<T>& values, std::string& out) {
  out += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    AppendValue(static_cast<const T&>(values[i]), out);
  }
  out += ']';
}

template <typename T>
bool AppendStoredScalar(ByteReader& reader, std::string& out) {
  T value{};
  if (!ReadStored(reader, &value)) return false;
  AppendValue(value, out);
  return true;
}

template <typename T>
bool AppendStoredArray(ByteReader& reader, std::string& out) {
  const uint32_t count = reader.GetCount(kStoredBytesMin<T>);
  if (count == 0) return false;
  for (uint32_t i = 0; i < count; ++i) {
    out += i == 0 ? '[' : ',';
    if (!AppendStoredScalar<T>(reader, out)) return false;
  }
  out += ']';
  return true;
}

// Type bytes as in metadata.h.
bool AppendStoredValue(ByteReader& reader, uint8_t type, std::string& out) {
  switch (type) {
    case 0:
      AppendValue(Erased{}, out);
      return true;
    case 1:
      return AppendStoredScalar<std::string_view>(reader, out);
    case 2:
      return AppendStoredScalar<int64_t>(reader, out);
    case 3:
      return AppendStoredScalar<double>(reader, out);
    case 4:
      return AppendStoredScalar<bool>(reader, out);
    case 5:
      return AppendStoredArray<std::string_view>(reader, out);
    case 6:
      return AppendStoredArray<int64_t>(reader, out);
    case 7:
      return AppendStoredArray<double>(reader, out);
    case 8:
      return AppendStoredArray<bool>(reader, out);
  }
  return false;
}

using Entry = Metadata::value_type;

void AppendEntryValue(const Entry& entry, std::string& out) {
  out += ':';
  std::visit([&out](const auto& held) { AppendValue(held, out); }, entry.second);
}

// Members that come in the order of their paths, as objects within objects.
class ObjectPrinter {
 public:
  explicit ObjectPrinter(std::string& out) : out_(out) {}

  void Append(const Entry& entry) {
    const std::string_view path = IsStoredPath(entry.first) ? entry.first : std::string_view();
    const size_t shared = SharedSteps(path, path_);
    for (size_t i = Next(path_, shared); i != kNone; i = Next(path_, i)) out_ += '}';
    if (!is_first_) out_ += ',';
    is_first_ = false;
    if (path.empty()) {
      AppendJsonString(entry.first, out_);
    } else {
      size_t begin = shared == kNone ? 1 : shared + 1;
      for (size_t end = path.find('\0', begin); end != kNone; end = path.find('\0', begin)) {
        AppendJsonString(StepText(path.substr(begin, end - begin)), out_);
        out_ += ":{";
        begin = end + 1;
      }
      AppendJsonString(StepText(path.substr(begin)), out_);
    }
    AppendEntryValue(entry, out_);
    path_ = path;
  }
  void Finish() {
    for (size_t i = Next(path_, kNone); i != kNone; i = Next(path_, i)) out_ += '}';
  }

 private:
  static constexpr size_t kNone = std::string_view::npos;
  // The separator after one; after kNone the first.
  static size_t Next(std::string_view path, size_t separator) {
    return path.find('\0', separator == kNone ? 0 : separator + 1);
  }

  std::string& out_;
  std::string_view path_;  // of the member before; empty: it was at the top
  bool is_first_ = true;
};

void AppendNested(const Metadata& metadata, std::string& out) {
  std::vector<const Entry*> plain, paths, all;
  for (const Entry& entry : metadata) (IsStoredPath(entry.first) ? paths : plain).push_back(&entry);
  std::merge(plain.begin(), plain.end(), paths.begin(), paths.end(), std::back_inserter(all),
             [](const Entry* a, const Entry* b) { return TopKey(a->first) < TopKey(b->first); });
  ObjectPrinter printer(out);
  for (const Entry* entry : all) printer.Append(*entry);
  printer.Finish();
}

}  // namespace

Status StoredMetadataToJson(std::span<const std::byte> bytes, std::string& out) {
  const size_t begin = out.size();
  ByteReader reader(bytes);
  const uint32_t count = reader.Get<uint32_t>();
  out += '{';
  std::string_view before;
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    const std::string_view key = reader.GetText();
    const uint8_t type = reader.Get<uint8_t>();
    if (!reader.ok()) break;
    if (IsStoredPath(key)) {
      PIGMENT_ASSIGN_OR_RETURN(const Metadata metadata, DecodeMetadata(bytes));
      out.resize(begin);
      out += MetadataToJson(metadata);
      return Status::Ok();
    }
    if (i > 0) out += ',';
    AppendJsonString(key, out);
    out += ':';
    if (!AppendStoredValue(reader, type, out)) return DamagedMetadata(reader, "no such value");
    if (i > 0 && key <= before) return DamagedMetadata(reader, "keys out of order");
    before = key;
  }
  if (!reader.ok()) return DamagedMetadata(reader, "");
  if (reader.remaining() != 0) return DamagedMetadata(reader, "bytes are left over");
  out += '}';
  return Status::Ok();
}

Result<Metadata> ParseMetadataJson(std::string_view json, MetadataUse use, bool* present,
                                   MetadataShape shape) {
  *present = false;
  PIGMENT_ASSIGN_OR_RETURN(const JsonTape tape, JsonTape::Parse(json, kWhat, Detail::kMetadata));
  if (tape.kind(0) == JsonKind::kNull) return Metadata();
  if (tape.kind(0) != JsonKind::kObject) {
    return InvalidArgument(Detail::kMetadata,
                           fmt::format("metadata must be an object, got {}", tape.Describe(0)));
  }
  if (tape.empty(0) && use != MetadataUse::kStored) {
    return InvalidArgument(Detail::kMetadata, "metadata must not be empty, got {}")
        .WithHint("leave it out, or give null");
  }
  Metadata metadata;
  uint64_t path_bytes = 0;
  for (size_t i = 1; i < tape.size(); i = tape.end(i)) {
    const std::string_view key = tape.key(i);
    PIGMENT_RETURN_IF_ERROR(CheckKey(key));
    if (shape == MetadataShape::kNested && tape.kind(i) == JsonKind::kObject) {
      PIGMENT_RETURN_IF_ERROR(ReadObject(tape, i, use, &path_bytes, metadata));
      continue;
    }
    PIGMENT_ASSIGN_OR_RETURN(MetadataValue value, ReadValue(tape, key, i, use));
    metadata.emplace(key, std::move(value));
  }
  *present = true;
  return metadata;
}

std::string MetadataToJson(const Metadata& metadata) {
  std::string out = "{";
  if (HasPaths(metadata)) {
    AppendNested(metadata, out);
    return out += '}';
  }
  for (const Entry& entry : metadata) {
    if (out.size() > 1) out += ',';
    AppendJsonString(entry.first, out);
    AppendEntryValue(entry, out);
  }
  out += '}';
  return out;
}

}  // namespace pigment
