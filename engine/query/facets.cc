// SPDX-License-Identifier: Apache-2.0
//
// Counting values: see the header. A value is known by the byte of its type and its term
// (engine/inverted/term.h), whose order is that of values.

#include "engine/query/facets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/inverted/term.h"
#include "engine/query/read_memory.h"
#include "engine/query/search_plan.h"
#include "engine/record/metadata_path.h"
#include "engine/record/text.h"
#include "engine/segment/inverted_reader.h"

namespace pigment {
namespace {

// Rows of posting lists that are counted in the time that a record takes to be read.
constexpr uint64_t kPostingsPerRecord = 16;

constexpr char kBool = 1;
constexpr char kNumber = 2;
constexpr char kText = 3;

// How a field's terms come to be known: as they are, behind a byte, or as the number that they are.
struct FacetField {
  FieldType type;
  char kind;
  bool is_term;  // of a scalar
};
constexpr FacetField kFields[] = {
    {FieldType::kText, kText, true},
    {FieldType::kNumber, kNumber, true},
    {FieldType::kBool, kBool, true},
    {FieldType::kTextElement, kText, true},
    {FieldType::kIntegerElement, kNumber, false},
    {FieldType::kRealElement, kNumber, false},
    {FieldType::kBoolElement, kBool, true},
};
constexpr FacetField kUriFields[] = {{FieldType::kUri, kText, true}};

void AppendName(int64_t value, std::string& out) {
  out += kNumber;
  AppendNumberTerm(value, out);
}
void AppendName(double value, std::string& out) {
  out += kNumber;
  AppendNumberTerm(value, out);
}
void AppendName(bool value, std::string& out) {
  out += kBool;
  AppendBoolTerm(value, out);
}
void AppendName(const std::string& value, std::string& out) {
  out += kText;
  out += value;
}

Status NoSuchTerm() {
  return DataLoss(Detail::kMiscounted, "", -1, "an inverted index has a term that no value has");
}

// Counts the values of one key.
class KeyCounter {
 public:
  KeyCounter(std::string key, ReadMemory* memory) : key_(std::move(key)), memory_(memory) {}

  // The key's name and fields in an inverted index.
  std::string_view name() const { return is_uri() ? std::string_view() : key_; }
  std::span<const FacetField> fields() const {
    return is_uri() ? std::span<const FacetField>(kUriFields) : kFields;
  }
  bool is_uri() const { return key_ == kUriKey; }

  Status AddRecord(const std::optional<Metadata>& metadata, const std::optional<std::string>& uri) {
    if (is_uri()) {
      if (uri) AddName(*uri, 1);
    } else if (metadata) {
      if (const auto found = metadata->find(key_); found != metadata->end())
        std::visit([&](const auto& value) { AddValue(value); }, found->second);
    }
    return TakeMemory();
  }
  Status AddTerm(const FacetField& field, std::string_view term, uint64_t rows) {
    const std::optional<MetadataValue> value = ValueOfTerm(field.type, term);
    if (!value) return NoSuchTerm();
    name_.clear();
    if (field.is_term) {
      name_ += field.kind;
      name_ += term;
    } else {
      AppendNumber(*value);
    }
    AddName(rows);
    return TakeMemory();
  }

  Result<std::vector<FacetValue>> Take(std::optional<uint64_t> limit) const;

 private:
  using Entry = std::map<std::string, uint64_t>::value_type;
  // With the node that it lies in, and its place among those that are sorted at the end.
  static constexpr uint64_t kEntryBytes = sizeof(Entry) + 5 * sizeof(void*);

  void AppendNumber(const MetadataValue& value) {
    if (const auto* integer = std::get_if<int64_t>(&value)) AppendName(*integer, name_);
    if (const auto* real = std::get_if<double>(&value)) AppendName(*real, name_);
  }
  void AddName(uint64_t rows) {
    const auto [found, is_new] = counts_.try_emplace(name_, 0);
    found->second += rows;
    if (is_new) grown_bytes_ += kEntryBytes + name_.size();
  }
  Status TakeMemory() { return memory_->Take(std::exchange(grown_bytes_, 0)); }
  template <typename T>
  void AddName(const T& value, uint64_t rows) {
    name_.clear();
    AppendName(value, name_);
    AddName(rows);
  }
  void AddValue(const Erased&) {}
  template <typename T>
  void AddValue(const T& value) {
    AddName(value, 1);
  }
  template <typename T>
  void AddValue(const std::vector<T>& list) {
    for (const T& element : std::set<T>(list.begin(), list.end())) AddName(element, 1);
  }

  const std::string key_;
  ReadMemory* const memory_;
  std::map<std::string, uint64_t> counts_;
  uint64_t grown_bytes_ = 0;  // since memory was taken
  std::string name_;          // of the value that is counted
};

Result<std::vector<FacetValue>> KeyCounter::Take(std::optional<uint64_t> limit) const {
  std::vector<const Entry*> entries;
  entries.reserve(counts_.size());
  for (const Entry& entry : counts_) entries.push_back(&entry);
  const auto kept =
      static_cast<size_t>(std::min<uint64_t>(limit.value_or(~uint64_t{0}), entries.size()));
  std::partial_sort(entries.begin(), entries.begin() + static_cast<ptrdiff_t>(kept), entries.end(),
                    [](const Entry* a, const Entry* b) {
                      return a->second != b->second ? a->second > b->second : a->first < b->first;
                    });
  std::vector<FacetValue> values;
  values.reserve(kept);
  for (size_t i = 0; i < kept; ++i) {
    const std::string_view name = entries[i]->first;
    const FieldType type = name[0] == kText     ? FieldType::kText
                           : name[0] == kNumber ? FieldType::kNumber
                                                : FieldType::kBool;
    std::optional<MetadataValue> value = ValueOfTerm(type, name.substr(1));
    if (!value) return NoSuchTerm();
    values.push_back({*std::move(value), entries[i]->second});
  }
  return values;
}

// Counts for all keys of a request.
class FacetCounter {
 public:
  FacetCounter(const Version& version, const FacetsRequest& request)
      : version_(version), request_(request), memory_(version), readers_(version) {
    for (const std::string& key : request.keys) {
      keys_.emplace_back(IsPointer(key) ? *StoredKeyOf(key) : key, &memory_);
      (keys_.back().is_uri() ? fields_.uri : fields_.metadata) = true;
    }
  }

  Result<std::vector<std::vector<FacetValue>>> Run(ReadCounters& counters);

 private:
  Status CountSegment(uint32_t segment, const RowSet& rows);
  // Whether that takes less time than reading records.
  Result<bool> IsWorthIndex(InvertedReader& inverted, const RowSet& rows);
  Status CountRecords(uint32_t segment, const RowSet& rows);
  Status CountTail(const RowSet& rows);

  const Version& version_;
  const FacetsRequest& request_;
  ReadMemory memory_;  // of all keys
  SegmentReaders readers_;
  Segment::Fields fields_;
  std::vector<KeyCounter> keys_;
  Record record_;
};

Result<bool> FacetCounter::IsWorthIndex(InvertedReader& inverted, const RowSet& rows) {
  uint64_t postings = 0;
  for (const KeyCounter& key : keys_) {
    for (const FacetField& field : key.fields()) {
      // A schema has left these values out.
      if (inverted.rules() != nullptr && !HasIndex(*inverted.rules(), key.name(), field.type))
        return false;
      PIGMENT_ASSIGN_OR_RETURN(const uint64_t more, inverted.RowsOfField(key.name(), field.type));
      postings += more;
    }
  }
  return postings / kPostingsPerRecord <= rows.count();
}

Status FacetCounter::CountSegment(uint32_t segment, const RowSet& rows) {
  if (rows.empty()) return Status::Ok();
  const std::unique_ptr<InvertedReader> inverted =
      version_.segments[segment].segment->NewInvertedReader();
  if (inverted == nullptr) return CountRecords(segment, rows);
  PIGMENT_ASSIGN_OR_RETURN(const bool is_worth_it, IsWorthIndex(*inverted, rows));
  if (!is_worth_it) return CountRecords(segment, rows);
  for (KeyCounter& key : keys_) {
    for (const FacetField& field : key.fields()) {
      PIGMENT_RETURN_IF_ERROR(inverted->CountTerms(
          key.name(), field.type, rows, request_.read.control,
          [&](std::string_view term, uint64_t met) { return key.AddTerm(field, term, met); }));
    }
  }
  PIGMENT_ASSIGN_OR_RETURN(RowSet unindexed, inverted->UnindexedRows());
  unindexed.Intersect(rows);
  return CountRecords(segment, unindexed);
}

Status FacetCounter::CountRecords(uint32_t segment, const RowSet& rows) {
  RowReader& reader = readers_.Of(segment);
  for (uint32_t row = rows.Next(0); row < rows.rows(); row = rows.Next(row + 1)) {
    PIGMENT_RETURN_IF_ERROR(request_.read.control.Check());
    PIGMENT_RETURN_IF_ERROR(reader.ReadFields(row, fields_, &record_));
    for (KeyCounter& key : keys_)
      PIGMENT_RETURN_IF_ERROR(key.AddRecord(record_.metadata, record_.uri));
  }
  return Status::Ok();
}

Status FacetCounter::CountTail(const RowSet& rows) {
  for (uint32_t row = rows.Next(0); row < rows.rows(); row = rows.Next(row + 1)) {
    PIGMENT_RETURN_IF_ERROR(request_.read.control.Check());
    const Record& record = version_.tail.row(row);
    for (KeyCounter& key : keys_)
      PIGMENT_RETURN_IF_ERROR(key.AddRecord(record.metadata, record.uri));
  }
  return Status::Ok();
}

Result<std::vector<std::vector<FacetValue>>> FacetCounter::Run(ReadCounters& counters) {
  const ReadOptions& read = request_.read;
  PIGMENT_RETURN_IF_ERROR(CheckFilter(version_, read));
  PIGMENT_ASSIGN_OR_RETURN(Plan plan, PlanRows(version_, read));
  PIGMENT_RETURN_IF_ERROR(NarrowPlan(version_, read, plan, readers_, counters));
  PIGMENT_RETURN_IF_ERROR(FilterPlan(version_, read, plan, readers_, counters));
  for (uint32_t segment = 0; segment < plan.segments.size(); ++segment)
    PIGMENT_RETURN_IF_ERROR(CountSegment(segment, plan.segments[segment]));
  PIGMENT_RETURN_IF_ERROR(CountTail(plan.tail));
  std::vector<std::vector<FacetValue>> facets;
  for (const KeyCounter& key : keys_) {
    PIGMENT_RETURN_IF_ERROR(read.control.Check());
    PIGMENT_ASSIGN_OR_RETURN(std::vector<FacetValue> values, key.Take(request_.limit));
    facets.push_back(std::move(values));
  }
  return facets;
}

Status CheckKeys(const std::vector<std::string>& keys, bool nested_metadata) {
  if (keys.size() > kFacetKeysMax)
    return BeyondLimit(limit::kFacetKeysMax, fmt::format("facets of {} keys", keys.size()));
  std::set<std::string> known;
  for (const std::string& key : keys) {
    std::optional<std::string> stored;
    if (IsPointer(key)) {
      if (!nested_metadata) {
        return InvalidArgument(
            fmt::format("facets: key {}: a path is for collections whose "
                        "configuration has \"nested_metadata\": true",
                        Quoted(key)));
      }
      stored = StoredKeyOf(key);
    } else if (key == kUriKey || IsMetadataKey(key)) {
      stored = key;
    }
    if (!stored) {
      return InvalidArgument(
          fmt::format("facets: expected a metadata key or chroma:uri, got {}", Quoted(key)));
    }
    if (!known.insert(*std::move(stored)).second)
      return InvalidArgument(fmt::format("facets: key {} is there twice", Quoted(key)));
  }
  return Status::Ok();
}

void AppendJsonValue(const MetadataValue& value, std::string& json) {
  if (const auto* text = std::get_if<std::string>(&value)) AppendJsonString(*text, json);
  if (const auto* integer = std::get_if<int64_t>(&value)) json += std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) AppendJsonDouble(*real, json);
  if (const auto* truth = std::get_if<bool>(&value)) json += *truth ? "true" : "false";
}

}  // namespace

Result<std::vector<std::vector<FacetValue>>> CountFacets(const Version& version,
                                                         const FacetsRequest& request) {
  using Facets = std::vector<std::vector<FacetValue>>;
  const auto run = [&](ReadCounters& counters) -> Result<Facets> {
    PIGMENT_RETURN_IF_ERROR(CheckKeys(request.keys, version.nested_metadata));
    PIGMENT_RETURN_IF_ERROR(request.read.control.Check());
    return FacetCounter(version, request).Run(counters);
  };
  return RunInSpan(request.read.trace, "facets", version, run,
                   [](const Facets&) { return uint64_t{0}; });
}

std::string FacetsJson(const std::vector<std::string>& keys,
                       const std::vector<std::vector<FacetValue>>& facets) {
  std::string json = "{";
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i != 0) json += ",";
    AppendJsonString(keys[i], json);
    json += ":[";
    for (size_t rank = 0; rank < facets[i].size(); ++rank) {
      json += rank == 0 ? R"({"value":)" : R"(,{"value":)";
      AppendJsonValue(facets[i][rank].value, json);
      json += fmt::format(R"(,"count":{}}})", facets[i][rank].count);
    }
    json += "]";
  }
  return json + "}";
}

}  // namespace pigment
