// SPDX-License-Identifier: Apache-2.0
//
// The whole read path against models that share nothing with the engine: random histories of
// writes, deletions by filter, flushes, merges, reopenings and forks, and after every few steps
// gets, counts, facets, queries, orders and pages with random filters on metadata of all types and
// documents in many scripts. A failure names seed, step, question and the first record that
// differs.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <map>
#include <set>

#include "engine/base/memory_files.h"
#include "engine/query/facets.h"
#include "engine/query/search.h"
#include "engine/segment/cell_reader.h"
#include "engine/segment/inverted_reader.h"
#include "tests/support/effort.h"
#include "tests/support/filter_model.h"
#include "tests/support/json.h"
#include "tests/support/script_texts.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

using nlohmann::json;
using Random = std::mt19937_64;

std::string Shown(const json& value) {
  return value.dump(-1, ' ', true, json::error_handler_t::replace);
}

// Makes documents so long that a segment has an index of them, with few grams more.
const std::string kPadding(700, 'z');

std::string WithoutPadding(std::string text) {
  const size_t at = text.find(kPadding);
  return at == std::string::npos ? text : text.erase(at, kPadding.size());
}

// ---- The model ---------------------------------------------------------------------------------

struct Row {
  ModelRecord record;
  uint64_t ordinal = 0;
  float embedding = 0;

  std::string ToText() const {
    json shown = {{"id", record.id}, {"metadata", record.metadata}, {"embedding", embedding}};
    shown["document"] = record.document ? json(WithoutPadding(*record.document)) : json();
    shown["uri"] = record.uri ? json(*record.uri) : json();
    return Shown(shown);
  }
};

// What a write says of one record; a metadata value null removes the key.
struct Change {
  std::string id;
  std::optional<float> embedding = std::nullopt;
  json metadata = nullptr;
  std::optional<std::string> document = std::nullopt;
  std::optional<std::string> uri = std::nullopt;
};

class Rows {
 public:
  // How many records it inserted, updated or deleted.
  uint64_t Apply(WriteKind kind, const std::vector<Change>& changes) {
    uint64_t done = 0;
    for (const Change& change : changes) {
      const auto found = rows_.find(change.id);
      const bool exists = found != rows_.end();
      if (kind == WriteKind::kAdd && exists) continue;
      if ((kind == WriteKind::kUpdate || kind == WriteKind::kDelete) && !exists) continue;
      ++done;
      if (kind == WriteKind::kDelete) {
        rows_.erase(found);
        continue;
      }
      Row& row = rows_[change.id];
      if (!exists) row.ordinal = ++last_ordinal_;
      row.record.id = change.id;
      if (change.embedding) row.embedding = *change.embedding;
      if (change.document) row.record.document = change.document;
      if (change.uri) row.record.uri = change.uri;
      if (change.metadata.is_null()) continue;
      row.record.metadata = ModelMerge(row.record.metadata, change.metadata);
    }
    return done;
  }

  std::vector<const Row*> InOrder() const {
    std::vector<const Row*> rows;
    for (const auto& [id, row] : rows_) rows.push_back(&row);
    std::sort(rows.begin(), rows.end(), [](auto* a, auto* b) { return a->ordinal < b->ordinal; });
    return rows;
  }

 private:
  std::map<std::string, Row> rows_;
  uint64_t last_ordinal_ = 0;
};

// A value as orders and facets know it: kinds one after the other, then what the kind has.
struct Value {
  enum Kind { kBool, kNumber, kText, kNone } kind = kNone;
  long double number = 0;
  std::string text;

  auto operator<=>(const Value&) const = default;
};

Value ValueOf(const json& value) {
  if (value.is_boolean()) return {Value::kBool, static_cast<long double>(value.get<bool>()), ""};
  if (value.is_number_float()) return {Value::kNumber, value.get<double>(), ""};
  if (value.is_number())
    return {Value::kNumber, static_cast<long double>(value.get<int64_t>()), ""};
  if (value.is_string()) return {Value::kText, 0, value.get<std::string>()};
  return {};
}

json FieldOf(const ModelRecord& record, const std::string& key) {
  if (key == "#id") return record.id;
  if (key == "chroma:uri") return record.uri ? json(*record.uri) : json();
  return ModelField(record.metadata, key);
}

bool ComesFirst(const Row& a, const Row& b, const json& order) {
  for (const json& term : order) {
    const Value of_a = ValueOf(FieldOf(a.record, term["key"]));
    const Value of_b = ValueOf(FieldOf(b.record, term["key"]));
    if (of_a == of_b) continue;
    if (of_a.kind == Value::kNone || of_b.kind == Value::kNone) return of_b.kind == Value::kNone;
    return term["descending"].get<bool>() ? of_a > of_b : of_a < of_b;
  }
  return a.ordinal < b.ordinal;
}

// ---- Questions ---------------------------------------------------------------------------------

struct Question {
  json where, where_document;
  std::optional<std::vector<std::string>> ids;
  json order = json::array();
  uint64_t offset = 0;
  std::optional<uint64_t> limit;

  bool Takes(const ModelRecord& record) const {
    if (ids && std::find(ids->begin(), ids->end(), record.id) == ids->end()) return false;
    return ModelMatches(where, where_document, record);
  }

  // Without offset and limit.
  std::vector<const Row*> Answer(const Rows& rows) const {
    std::vector<const Row*> answer = rows.InOrder();
    std::erase_if(answer, [&](const Row* row) { return !Takes(row->record); });
    std::sort(answer.begin(), answer.end(),
              [&](auto* a, auto* b) { return ComesFirst(*a, *b, order); });
    return answer;
  }

  std::string ToText() const {
    json shown = {{"where", where}, {"where_document", where_document}, {"order", order}};
    if (ids) shown["ids"] = *ids;
    shown["offset"] = offset;
    if (limit) shown["limit"] = *limit;
    return Shown(shown);
  }
};

std::vector<const Row*> Part(const std::vector<const Row*>& rows, const Question& question) {
  std::vector<const Row*> part(
      rows.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(question.offset, rows.size())),
      rows.end());
  if (question.limit && part.size() > *question.limit) part.resize(*question.limit);
  return part;
}

Result<GetRequest> RequestFor(const Question& question) {
  GetRequest request;
  request.read.ids = question.ids;
  if (!question.where.is_null() || !question.where_document.is_null()) {
    PIGMENT_ASSIGN_OR_RETURN(request.read.filter,
                             Filter::Parse(question.where.dump(), question.where_document.dump()));
  }
  PIGMENT_ASSIGN_OR_RETURN(request.order_by, OrderBy::Parse(question.order.dump()));
  request.offset = question.offset;
  request.limit = question.limit;
  return request;
}

// Row `row` of an answer.
Row RowOf(const ResultSet& got, uint64_t row) {
  Row is;
  is.record.id = TextAt(got.ids, row).value_or("?");
  is.record.document = TextAt(got.documents, row);
  is.record.uri = TextAt(got.uris, row);
  if (const auto metadata = TextAt(got.metadatas, row)) is.record.metadata = json::parse(*metadata);
  is.embedding = got.embeddings.at(row);
  return is;
}

// Types of numbers and signs of zeros included.
bool AreSame(const Row& a, const Row& b) {
  return a.record.id == b.record.id && a.record.document == b.record.document &&
         a.record.uri == b.record.uri && a.embedding == b.embedding &&
         a.record.metadata.dump() == b.record.metadata.dump();
}

// The first difference between an answer and what is expected; empty: none.
std::string DifferenceOf(const ResultSet& got, const std::vector<const Row*>& expected) {
  for (uint64_t i = 0; i < std::max<uint64_t>(got.rows(), expected.size()); ++i) {
    const Row is = i < got.rows() ? RowOf(got, i) : Row();
    if (i < std::min<uint64_t>(got.rows(), expected.size()) && AreSame(is, *expected[i])) continue;
    return fmt::format("row {} is {}\nand should be {}", i,
                       i < got.rows() ? is.ToText() : "nothing",
                       i < expected.size() ? expected[i]->ToText() : "nothing");
  }
  return "";
}

// ---- A history ---------------------------------------------------------------------------------

struct Tally {
  uint64_t questions = 0;
  uint64_t matched = 0;
  uint64_t looked_at = 0;
  uint64_t of_indexes = 0;  // questions to a version with an inverted index
  uint64_t of_grams = 0;    // that has an index of documents
  uint64_t of_tails = 0;    // that has nothing else
  uint64_t forks = 0;
  uint64_t merges = 0;
};

class History {
 public:
  History(uint64_t seed, Tally& tally) : random_(seed), tally_(tally) {
    static constexpr uint32_t kFlushRows[] = {16384, 100, 400};
    options_.flush_rows_max = kFlushRows[seed % 3];
    options_.background_threads = seed % 4 == 3 ? 1 : 0;
    if (seed % 2 == 0) options_.index_rows_min = 150;
    if (seed % 5 < 2) options_.cluster_rows_min = 80;
    pads_ = seed % 2 == 1;
    if (seed % 4 > 1) shape_ = ModelShape::kNested;
  }

  void Run(int steps) {
    Open();
    CollectionEntry entry = EntryNamed("branch0");
    if (is_nested()) entry.configuration_json = R"({"nested_metadata":true})";
    ASSERT_OK(store_->CreateCollection(entry));
    branches_["branch0"];
    for (int step = 0; step < steps && !HasFailed(); ++step) {
      SCOPED_TRACE(::testing::Message() << "step " << step);
      Step();
      if (HasFailed()) return;
      const std::string name = AnyBranch();
      for (int question = 0; question < 5 && !HasFailed(); ++question) Ask(name);
    }
  }

 private:
  bool is_nested() const { return shape_ == ModelShape::kNested; }
  static bool HasFailed() { return ::testing::Test::HasFailure(); }
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool Chance(uint64_t percent) { return Below(100) < percent; }

  void Open() {
    auto store = Store::Open("db", options_, &files_);
    ASSERT_OK(store);
    store_ = *std::move(store);
  }

  std::shared_ptr<Collection> Handle(const std::string& name) {
    return store_->GetCollection({}, name).value();
  }

  std::string AnyBranch() {
    auto branch = branches_.begin();
    std::advance(branch, static_cast<ptrdiff_t>(Below(branches_.size())));
    return branch->first;
  }

  void Step() {
    const uint64_t what = Below(100);
    if (what < 62) {
      Write(AnyBranch());
    } else if (what < 72) {
      DeleteWhere(AnyBranch());
    } else if (what < 82) {
      ASSERT_OK(Handle(AnyBranch())->Flush());
    } else if (what < 87) {
      ASSERT_OK(Handle(AnyBranch())->Compact().status());
      ++tally_.merges;
    } else if (what < 93) {
      Reopen();
    } else {
      Fork(AnyBranch());
    }
  }

  std::string Id() {
    // The few that filters name, and many.
    return Chance(10) ? RandomModelRecord(random_).id : fmt::format("r{}", Below(700));
  }

  Change RandomChange(WriteKind kind) {
    Change change;
    change.id = Id();
    const ModelRecord made = RandomModelRecord(random_, shape_);
    change.metadata = made.metadata;
    if (Chance(30)) change.metadata["text"] = RandomScriptText(random_, 6);
    if (kind != WriteKind::kAdd && Chance(30)) {
      if (is_nested()) {
        ModelSet(change.metadata, RandomModelSteps(random_), nullptr);
      } else {
        change.metadata[std::string(1, "klm"[Below(3)])] = nullptr;
      }
    }
    change.document = Chance(70) ? std::optional(RandomScriptDocument(random_)) : made.document;
    if (change.document && pads_)
      change.document = Chance(50) ? kPadding + *change.document : *change.document + kPadding;
    change.uri = made.uri;
    change.embedding = static_cast<float>(Below(50));
    return change;
  }

  // Which columns an update has is drawn once for all its rows.
  static void Drop(Change& change, uint64_t columns) {
    if (columns & 1) change.embedding.reset();
    if (columns & 2) change.metadata = nullptr;
    if (columns & 4) change.document.reset();
    if (columns & 8) change.uri.reset();
  }

  void Write(const std::string& name) {
    static constexpr WriteKind kKinds[] = {WriteKind::kAdd,    WriteKind::kAdd,
                                           WriteKind::kUpsert, WriteKind::kUpsert,
                                           WriteKind::kUpdate, WriteKind::kDelete};
    const WriteKind kind = kKinds[Below(std::size(kKinds))];
    const uint64_t dropped = kind == WriteKind::kUpdate ? Below(16) : 0;
    std::vector<Change> changes;
    std::set<std::string> ids;
    const uint64_t rows_max = kind == WriteKind::kDelete ? 40 : Chance(70) ? 90 : 250;
    for (uint64_t rows = 1 + Below(rows_max); rows > 0; --rows) {
      Change change = RandomChange(kind);
      Drop(change, dropped);
      if (ids.insert(change.id).second) changes.push_back(std::move(change));
    }
    const auto outcome = Handle(name)->Write(BatchOf(kind, changes, dropped));
    ASSERT_OK(outcome);
    const WriteCounts& counts = outcome->counts;
    ASSERT_EQ(counts.inserted + counts.updated + counts.deleted,
              branches_[name].Apply(kind, changes));
  }

  WriteBatch BatchOf(WriteKind kind, const std::vector<Change>& changes, uint64_t dropped) const {
    WriteBatch batch;
    batch.kind = kind;
    for (const Change& change : changes) batch.ids.push_back(change.id);
    if (kind == WriteKind::kDelete) return batch;
    batch.dimension = (dropped & 1) != 0 ? 0 : 1;
    const auto use = kind == WriteKind::kAdd ? MetadataUse::kNewRecord : MetadataUse::kMergeRecord;
    for (const Change& change : changes) {
      if (change.embedding) batch.embeddings.push_back(*change.embedding);
      bool present = false;
      Metadata metadata =
          ParseMetadataJson(change.metadata.dump(), use, &present,
                            is_nested() ? MetadataShape::kNested : MetadataShape::kFlat)
              .value();
      batch.metadatas.push_back(present ? std::optional(std::move(metadata)) : std::nullopt);
      batch.documents.push_back(change.document);
      batch.uris.push_back(change.uri);
    }
    return batch;
  }

  void DeleteWhere(const std::string& name) {
    Question question = RandomQuestion(branches_[name]);
    question.limit = Below(60);  // or little would stay
    SCOPED_TRACE("delete " + question.ToText());
    const auto request = RequestFor(question);
    ASSERT_OK(request);
    const auto outcome = Handle(name)->DeleteSelected(
        [&](const Version& version) { return SelectIds(version, *request); });
    ASSERT_OK(outcome);
    std::vector<Change> changes;
    for (const Row* row : Part(question.Answer(branches_[name]), question))
      changes.push_back({.id = row->record.id});
    ASSERT_EQ(outcome->counts.deleted, changes.size());
    branches_[name].Apply(WriteKind::kDelete, changes);
  }

  void Reopen() {
    if (Chance(50)) ASSERT_OK(store_->Close());
    store_.reset();
    Open();
  }

  // Both sides go on; of more than three the source goes.
  void Fork(const std::string& name) {
    const std::string fork = fmt::format("branch{}", ++tally_.forks);
    ASSERT_OK(store_->ForkCollection(Handle(name)->entry().id, fork));
    branches_[fork] = branches_[name];
    if (branches_.size() <= 3) return;
    ASSERT_OK(store_->DeleteCollection({}, name));
    branches_.erase(name);
  }

  // ---- Asking ----------------------------------------------------------------------------------

  json TextClause() {
    static const char* const kOps[] = {"$eq", "$ne", "$prefix", "$ieq", "$iprefix"};
    return {{"text", {{kOps[Below(5)], RandomScriptText(random_, 3)}}}};
  }

  Question RandomQuestion(const Rows& rows) {
    Question question;
    const std::vector<const Row*> all = rows.InOrder();
    const auto document = [&]() -> std::string {
      if (all.empty()) return "";
      return WithoutPadding(all[Below(all.size())]->record.document.value_or(""));
    };
    if (Chance(75)) {
      question.where = RandomModelWhere(random_, static_cast<int>(Below(4)), shape_);
      if (Chance(15)) question.where = TextClause();
      if (Chance(20)) {
        const json clause = {{"#document", RandomScriptClause(random_, document())}};
        question.where = {{Chance(50) ? "$and" : "$or", {question.where, clause}}};
      }
    }
    if (Chance(55)) {
      question.where_document = RandomScriptClause(random_, document());
      if (Chance(15)) question.where_document = {{"$not", question.where_document}};
      if (Chance(25)) {
        question.where_document = {
            {Chance(50) ? "$and" : "$or",
             {question.where_document, RandomModelWhereDocument(random_, 2)}}};
      }
    }
    if (Chance(15)) {
      question.ids.emplace();
      for (uint64_t ids = Below(300); ids > 0; --ids) question.ids->push_back(Id());
    }
    return question;
  }

  // Keys of metadata and paths, each once.
  std::vector<std::string> WithPaths(std::vector<std::string> keys) {
    std::set<std::string> paths;
    while (is_nested() && paths.size() < 4) {
      const std::vector<std::string> steps = RandomModelSteps(random_);
      if (steps.size() > 1) paths.insert(ModelPath(steps));
    }
    keys.insert(keys.end(), paths.begin(), paths.end());
    return keys;
  }

  json RandomOrder() {
    std::vector<std::string> keys = WithPaths({"k", "l", "m", "text", "#id", "chroma:uri", "none"});
    std::shuffle(keys.begin(), keys.end(), random_);
    json order = json::array();
    for (uint64_t i = Below(3); i > 0; --i)
      order.push_back({{"key", keys[i]}, {"descending", Chance(50)}});
    return order;
  }

  void Ask(const std::string& name) {
    const Rows& rows = branches_[name];
    Question question = RandomQuestion(rows);
    SCOPED_TRACE(name + " " + question.ToText());
    const auto version = Handle(name)->Pin();
    ASSERT_OK(version);
    const std::vector<const Row*> expected = question.Answer(rows);
    Count(**version, rows.InOrder().size(), expected.size());
    ExpectAll(**version, question, expected);
    if (HasFailed()) return;
    switch (Below(4)) {
      case 0:
        return ExpectOrder(**version, question, rows);
      case 1:
        return ExpectPages(**version, question, rows);
      case 2:
        return ExpectFacets(**version, question, expected);
      default:
        return ExpectNearest(**version, question, expected);
    }
  }

  void Count(const Version& version, uint64_t rows, uint64_t matched) {
    ++tally_.questions;
    tally_.looked_at += rows;
    tally_.matched += matched;
    tally_.of_tails += version.segments.empty() && rows > 0 ? 1 : 0;
    bool has_index = false, has_grams = false;
    for (const SegmentView& view : version.segments) {
      has_index |= view.segment->NewInvertedReader() != nullptr;
      has_grams |= view.segment->NewCellReader() != nullptr;
    }
    tally_.of_indexes += has_index ? 1 : 0;
    tally_.of_grams += has_grams ? 1 : 0;
  }

  static constexpr Include kEverything = {true, true, true, true, false};

  void ExpectAll(const Version& version, const Question& question,
                 const std::vector<const Row*>& expected) {
    auto request = RequestFor(question);
    ASSERT_OK(request);
    request->read.include = kEverything;
    const auto got = Get(version, *request);
    ASSERT_OK(got);
    ASSERT_EQ(DifferenceOf(*got, expected), "");
    const auto count = CountRows(version, request->read);
    ASSERT_OK(count);
    ASSERT_EQ(*count, expected.size());
  }

  void ExpectOrder(const Version& version, Question question, const Rows& rows) {
    question.order = RandomOrder();
    if (Chance(60)) question.offset = Below(20);
    if (Chance(70)) question.limit = Below(40);
    SCOPED_TRACE("ordered " + question.ToText());
    auto request = RequestFor(question);
    ASSERT_OK(request);
    request->read.include = kEverything;
    const auto got = Get(version, *request);
    ASSERT_OK(got);
    const std::vector<const Row*> expected = Part(question.Answer(rows), question);
    ASSERT_EQ(DifferenceOf(*got, expected), "");
    const auto ids = SelectIds(version, *request);
    ASSERT_OK(ids);
    ASSERT_TRUE(std::equal(ids->begin(), ids->end(), expected.begin(), expected.end(),
                           [](const auto& id, auto* row) { return id == row->record.id; }));
  }

  void ExpectPages(const Version& version, Question question, const Rows& rows) {
    question.order = RandomOrder();
    question.limit = 1 + Below(60);
    SCOPED_TRACE("in pages " + question.ToText());
    auto request = RequestFor(question);
    ASSERT_OK(request);
    request->read.include = kEverything;
    for (std::vector<const Row*> left = question.Answer(rows);;) {
      const auto page = Get(version, *request);
      ASSERT_OK(page);
      ASSERT_EQ(DifferenceOf(*page, Part(left, question)), "");
      ASSERT_EQ(page->last.has_value(), page->rows() == *question.limit);
      if (!page->last) return;
      left.erase(left.begin(), left.begin() + static_cast<ptrdiff_t>(page->rows()));
      request->after = page->last;
    }
  }

  void ExpectFacets(const Version& version, const Question& question,
                    const std::vector<const Row*>& expected) {
    FacetsRequest request;
    request.read = RequestFor(question).value().read;
    request.keys = WithPaths({"k", "l", "text", "chroma:uri", "none"});
    if (Chance(30)) request.limit = Below(8);
    const auto facets = CountFacets(version, request);
    ASSERT_OK(facets);
    const json printed = json::parse(FacetsJson(request.keys, *facets));
    for (const std::string& key : request.keys) {
      std::map<Value, uint64_t> counts;
      for (const Row* row : expected) {
        const json field = FieldOf(row->record, key);
        std::set<Value> values;
        for (const json& value : field.is_array() ? field : json::array({field}))
          values.insert(ValueOf(value));
        for (const Value& value : values) ++counts[value];
      }
      counts.erase(Value());
      std::vector<std::pair<Value, uint64_t>> ranked(counts.begin(), counts.end());
      std::stable_sort(ranked.begin(), ranked.end(),
                       [](const auto& a, const auto& b) { return a.second > b.second; });
      if (request.limit && ranked.size() > *request.limit) ranked.resize(*request.limit);
      std::vector<std::pair<Value, uint64_t>> got;
      for (const json& facet : printed[key])
        got.emplace_back(ValueOf(facet["value"]), facet["count"].get<uint64_t>());
      ASSERT_TRUE(got == ranked) << "facets of " << key << ": " << Shown(printed[key]);
    }
  }

  void ExpectNearest(const Version& version, const Question& question,
                     std::vector<const Row*> expected) {
    auto request = RequestFor(question);
    ASSERT_OK(request);
    const std::vector<float> embedding = {static_cast<float>(Below(50))};
    QueryRequest query;
    query.read = request->read;
    query.read.include = kEverything;
    query.embeddings = embedding;
    query.queries = 1;
    query.dimension = 1;
    query.k = 1 + Below(60);
    const auto got = Query(version, query);
    ASSERT_OK(got);
    std::stable_sort(expected.begin(), expected.end(), [&](auto* a, auto* b) {
      return std::abs(a->embedding - embedding[0]) < std::abs(b->embedding - embedding[0]);
    });
    if (expected.size() > query.k) expected.resize(query.k);
    ASSERT_EQ(DifferenceOf(*got, expected), "") << "nearest to " << embedding[0];
  }

  Random random_;
  Tally& tally_;
  StoreOptions options_;
  bool pads_ = false;
  ModelShape shape_ = ModelShape::kFlat;
  MemoryFileSystem files_;
  std::shared_ptr<Store> store_;
  std::map<std::string, Rows> branches_;
};

TEST(FilterHistory, EveryAnswerOfARandomHistoryIsTheModels) {
  Tally tally;
  constexpr int kSteps = 50;
  const uint64_t histories = AtEffort(14);
  for (uint64_t seed = 1; seed <= histories && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    History(seed, tally).Run(kSteps);
  }
  if (::testing::Test::HasFailure()) return;
  ExpectFloor("questions to random histories", tally.questions, 14 * kSteps * 5);
  ExpectFloor("of them to inverted indexes", tally.of_indexes, 800);
  ExpectFloor("of them to indexes of documents", tally.of_grams, 300);
  ExpectFloor("of them to tails alone", tally.of_tails, 70);
  ExpectFloor("forks", tally.forks, 14);
  ExpectFloor("merges", tally.merges, 10);
  // Both answers are common, or the test shows little.
  EXPECT_GT(tally.matched, tally.looked_at / 10);
  EXPECT_LT(tally.matched, tally.looked_at * 9 / 10);
}

}  // namespace
}  // namespace pigment
