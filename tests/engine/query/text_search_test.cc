// SPDX-License-Identifier: Apache-2.0
//
// Ranked search against the plain model: random histories in stores that cut them into segments and
// tail in different ways must give the model's ids and scores, bit for bit.

#include "engine/query/text_search.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "engine/base/memory_files.h"
#include "engine/block/block.h"
#include "engine/record/configuration.h"
#include "engine/segment/text_reader.h"
#include "tests/support/store_model.h"
#include "tests/support/text_model.h"

namespace pigment {
namespace {

constexpr std::string_view kEnglish =
    R"({"hnsw":{"space":"l2"},"text_index":{"analyzer":{"language":"english","stop_words":true}}})";

CollectionEntry EntryWith(std::string_view configuration) {
  CollectionEntry entry = EntryNamed("docs", Metric::kL2, VectorElement::kF32);
  entry.configuration_json = ParseConfiguration(configuration, nullptr, std::nullopt).value().json;
  return entry;
}

class TextMaker {
 public:
  explicit TextMaker(uint64_t seed) : random_(seed) {}

  size_t Below(size_t bound) { return random_() % bound; }
  std::string Word() {
    static const std::vector<std::string> kCommon = {"the",   "search", "engine", "and",
                                                     "token", "tokens", "of"};
    static const std::vector<std::string> kRare = {"東京", "都",     "straße", "naïve", "walking",
                                                   "walk", "Walked", "a.b",    "3.5",   "सर्च"};
    if (Below(3) == 0) return kCommon[Below(kCommon.size())];
    if (Below(6) == 0) return kRare[Below(kRare.size())];
    return "w" + std::to_string(Below(size_t{1} << (1 + Below(8))));
  }
  std::string Text(size_t words_max) {
    std::string text;
    for (size_t words = Below(words_max + 1); words-- > 0;)
      text += Word() + (Below(9) ? " " : ", ");
    return text;
  }
  std::string Query() {
    std::string query;
    for (size_t clauses = 1 + Below(4); clauses-- > 0;) {
      if (Below(5) == 0) query += "+";
      switch (Below(6)) {
        case 0:
          query += "\"" + Word() + " " + Word() + (Below(3) == 0 ? " " + Word() : "") + "\"";
          break;
        case 1:
          query += Word().substr(0, 1 + Below(4)) + "*";
          break;
        default:
          query += Word();
      }
      query += " ";
    }
    return query;
  }
  WriteBatch Batch(size_t rows_max) {
    WriteBatch batch;
    const size_t kind = Below(10);
    batch.kind = kind < 6   ? WriteKind::kUpsert
                 : kind < 8 ? WriteKind::kDelete
                 : kind < 9 ? WriteKind::kUpdate
                            : WriteKind::kAdd;
    const size_t first = Below(900);
    const size_t rows = 1 + Below(batch.kind == WriteKind::kDelete ? rows_max / 4 : rows_max);
    batch.dimension = 1;
    for (size_t i = 0; i < rows; ++i) {
      batch.ids.push_back("id" + std::to_string((first + i * 7) % 900));
      if (batch.kind == WriteKind::kDelete) continue;
      batch.embeddings.push_back(1);
      batch.documents.push_back(Below(12) == 0 ? std::nullopt
                                               : std::optional(Text(Below(20) == 0 ? 300 : 20)));
      batch.metadatas.push_back(Metadata{{"n", static_cast<int64_t>(Below(10))}});
    }
    return batch;
  }

 private:
  std::mt19937_64 random_;
};

struct TextQuestion {
  std::string query;
  bool all = false;
  uint64_t k = 10;
  ReadOptions read = {};
};

// Lets each segment of the store "db" say that an older ICU made its terms; returns how many.
int ChangeAnalyzerOfSegments(MemoryFileSystem& files) {
  int changed = 0;
  const std::vector<std::string> names = files.List("db/segments").value();
  for (const std::string& name : names) {
    if (!name.ends_with(".seg")) continue;
    const auto file = files.Open("db/segments/" + name, OpenMode::kReadWrite).value();
    std::vector<std::byte> bytes(file->Size().value());
    EXPECT_OK(file->ReadAt(0, bytes));
    for (size_t at = 0; at < bytes.size(); at += kBlockBytes) {
      const BlockBytes block(bytes.data() + at, kBlockBytes);
      constexpr std::string_view kIcu = "\"icu\":\"";
      const std::string_view text = AsText(block);
      const size_t place = text.find(kIcu);
      if (place == text.npos) continue;
      block[place + kIcu.size()] = std::byte{'1'};
      const BlockTrailer trailer = ReadBlockTrailer(block);
      SealBlock(block, trailer.kind, trailer.segment, trailer.logical, trailer.format);
      ++changed;
    }
    EXPECT_OK(file->WriteAt(0, bytes));
  }
  return changed;
}

class TextSearch : public ::testing::Test {
 protected:
  // One store for each way of cutting.
  void Open(std::string_view configuration) {
    for (const uint32_t flush_rows : {64u, 300u, 100000u, 700u}) {
      StoreOptions options;
      options.background_threads = 0;
      options.flush_rows_max = flush_rows;
      stores_.push_back(Store::Open(std::nullopt, options).value());
      docs_.push_back(stores_.back()->CreateCollection(EntryWith(configuration)).value());
    }
    settings_ = *ReadTextIndexSettings(docs_[0]->entry().configuration_json);
  }
  void Write(const WriteBatch& batch) {
    model_.Apply(batch);
    for (const auto& docs : docs_) ASSERT_OK(docs->Write(batch));
  }
  static Result<ResultSet> Run(const Version& version, const TextQuestion& search) {
    TextSearchRequest request;
    request.read = search.read;
    request.queries = {search.query};
    request.all = search.all;
    request.k = search.k;
    return SearchText(version, request);
  }
  static std::string TextOf(const std::vector<ModelHit>& hits) {
    std::string text;
    for (const ModelHit& hit : hits) text += fmt::format("{} {:a}\n", hit.id, hit.score);
    return text;
  }
  static std::string TextOf(const ResultSet& set) {
    const std::vector<std::string> ids = IdsOf(set.ids);
    std::string text;
    for (size_t i = 0; i < ids.size(); ++i) text += fmt::format("{} {:a}\n", ids[i], set.scores[i]);
    return text;
  }

  void Compare(TextMaker& maker, int searches) {
    const std::vector<const Record*> live = model_.InOrder({});
    const TextModel model(settings_, live);
    for (int i = 0; i < searches; ++i) {
      TextQuestion search{.query = maker.Query()};
      search.all = maker.Below(4) == 0;
      search.k = maker.Below(5) == 0 ? 5000 : 1 + maker.Below(20);
      if (maker.Below(4) == 0) {
        const std::string where = fmt::format(R"({{"n":{{"$lt":{}}}}})", maker.Below(11));
        search.read.filter = Filter::Parse(where, std::nullopt).value();
      } else if (maker.Below(5) == 0) {
        search.read.filter = Filter::Parse(std::nullopt, R"({"$contains":"engine"})").value();
      } else if (maker.Below(6) == 0) {
        search.read.ids.emplace();
        for (size_t ids = maker.Below(40); ids-- > 0;)
          search.read.ids->push_back("id" + std::to_string(maker.Below(900)));
      }
      SCOPED_TRACE(fmt::format("query {} all {} k {}", search.query, search.all, search.k));
      const std::vector<const Record*> passing = model_.InOrder(search.read);
      const auto expected =
          model.Search(search.query, search.all, search.k, [&](const Record& record) {
            return std::find(passing.begin(), passing.end(), &record) != passing.end();
          });
      for (const ModelHit& hit : expected)
        ASSERT_NEAR(hit.score, hit.textbook, 1e-5 * (1 + hit.textbook));
      found_ += expected.size();
      for (size_t store = 0; store < docs_.size(); ++store) {
        const auto version = docs_[store]->Pin().value();
        const Result<ResultSet> set = Run(*version, search);
        ASSERT_OK(set);
        ASSERT_EQ(TextOf(*set), TextOf(expected))
            << "store " << store << " with " << version->segments.size() << " segments and "
            << version->tail.rows << " rows of tail";
      }
    }
  }

  std::vector<std::shared_ptr<Store>> stores_;
  std::vector<std::shared_ptr<Collection>> docs_;
  CollectionModel model_;
  TextIndexSettings settings_;
  uint64_t found_ = 0;
};

TEST_F(TextSearch, GivesWhatTheModelGivesHoweverRowsAreSpread) {
  Open(kEnglish);
  TextMaker maker(11);
  for (int round = 0; round < 40; ++round) {
    Write(maker.Batch(120));
    if (HasFatalFailure()) return;
    if (round % 9 == 8) ASSERT_OK(docs_[maker.Below(4)]->Compact());
    if (round % 4 == 3) {
      Compare(maker, 25);
      if (HasFatalFailure()) FAIL() << "in round " << round;
    }
  }
  EXPECT_GT(found_, 1000u);
}

TEST_F(TextSearch, GivesWhatTheModelGivesWithOtherParameters) {
  for (const auto& [k1, b] : {std::pair(0.0, 0.5), {2.5, 0.0}, {100.0, 1.0}}) {
    stores_.clear();
    docs_.clear();
    model_ = {};
    Open(fmt::format(R"({{"text_index":{{"k1":{},"b":{}}}}})", k1, b));
    TextMaker maker(12);
    for (int round = 0; round < 12; ++round) Write(maker.Batch(200));
    Compare(maker, 60);
    if (HasFatalFailure()) FAIL() << "k1 " << k1 << " b " << b;
  }
}

TEST_F(TextSearch, ParametersThatAreModifiedHaveEffectAtOnce) {
  Open(kEnglish);
  TextMaker maker(13);
  for (int round = 0; round < 6; ++round) Write(maker.Batch(100));
  for (size_t i = 0; i < docs_.size(); ++i) {
    ASSERT_OK(stores_[i]->ModifyCollection(docs_[i]->entry().id, [](CollectionEntry& entry) {
      PIGMENT_ASSIGN_OR_RETURN(
          const Configuration changed,
          UpdateConfiguration(entry.configuration_json, R"({"text_index":{"k1":0.3,"b":0.1}})"));
      entry.configuration_json = changed.json;
      return Status::Ok();
    }));
  }
  settings_.k1 = 0.3;
  settings_.b = 0.1;
  Compare(maker, 40);
}

// Blocks that are passed by need lists of many blocks.
TEST_F(TextSearch, LongListsGiveWhatTheModelGivesAndARareWordSparesBlocks) {
  Open(R"({"text_index":{}})");
  std::mt19937_64 random(14);
  for (int part = 0; part < 12; ++part) {
    WriteBatch batch;
    batch.kind = WriteKind::kAdd;
    batch.dimension = 1;
    for (int row = 0; row < 1000; ++row) {
      batch.ids.push_back("id" + std::to_string(part * 1000 + row));
      batch.embeddings.push_back(0);
      std::string text;
      for (size_t words = 3 + random() % 40; words-- > 0;)
        text += "w" + std::to_string(random() % (size_t{1} << (random() % 9))) + " ";
      batch.documents.push_back(text);
    }
    Write(batch);
  }
  ASSERT_OK(docs_[2]->Compact());
  const std::vector<const Record*> live = model_.InOrder({});
  const TextModel model(settings_, live);
  for (const std::string query : {"w0", "w1 w2", "w0 w1 w200", "w3 w5 w100 w250", "+w1 +w2 w3",
                                  "w150", "w7 w7 w9", "\"w0 w1\" w44", "w2* w1"}) {
    SCOPED_TRACE(query);
    const auto expected = model.Search(query, false, 10, [](const Record&) { return true; });
    ASSERT_EQ(expected.size(), 10u);
    for (const auto& docs : docs_) {
      const auto version = docs->Pin().value();
      TextQuestion search{.query = query};
      search.read.explain = true;
      const ResultSet set = Run(*version, search).value();
      ASSERT_EQ(TextOf(set), TextOf(expected));
      unsigned long of_lists = 0, decoded = 0;
      const size_t at = set.explain_json.find("\"blocks\":");
      ASSERT_EQ(std::sscanf(set.explain_json.c_str() + at, "\"blocks\":%lu,\"blocks_read\":%lu",
                            &of_lists, &decoded),
                2);
      // Where a rare word decides, most blocks of the frequent ones are passed by.
      if (query == "w0 w1 w200") {
        EXPECT_LT(decoded, of_lists / 2);
      }
    }
  }
}

TEST_F(TextSearch, HighlightsAreTheWordsThatMatch) {
  Open(kEnglish);
  WriteBatch batch;
  batch.kind = WriteKind::kAdd;
  batch.dimension = 1;
  batch.ids = {"a", "b"};
  batch.embeddings = {0, 0};
  batch.documents = {"Walking é walks. New york, york new", std::nullopt};
  Write(batch);
  const auto highlights = [&](const std::string& query) {
    TextSearchRequest request;
    const std::string text = query;
    request.queries = {text};
    request.highlights = true;
    const ResultSet set = SearchText(*docs_[0]->Pin().value(), request).value();
    EXPECT_TRUE(set.documents.offsets.empty()) << "they were not asked for";
    return set.highlights.bytes;
  };
  EXPECT_EQ(highlights("walk"), "[[0,7],[11,16]]");
  EXPECT_EQ(highlights("\"new york\""), "[[18,21],[22,26]]");
  EXPECT_EQ(highlights("ne* é"), "[[8,10],[18,21],[33,36]]");
  EXPECT_EQ(highlights("absent"), "");
}

TEST_F(TextSearch, ManyQueriesAreAnsweredEachForItself) {
  Open(kEnglish);
  TextMaker maker(15);
  for (int round = 0; round < 5; ++round) Write(maker.Batch(100));
  const auto version = docs_[1]->Pin().value();
  TextSearchRequest request;
  request.queries = {"token", "", "w1 search", "the"};
  const ResultSet together = SearchText(*version, request).value();
  ASSERT_EQ(together.query_offsets.size(), 5u);
  std::string apart;
  for (const std::string_view query : request.queries)
    apart += TextOf(Run(*version, {.query = std::string(query)}).value());
  EXPECT_EQ(TextOf(together), apart);
  EXPECT_EQ(together.query_offsets[1], together.query_offsets[2]) << "no words, no rows";
  EXPECT_EQ(together.query_offsets[3], together.query_offsets[4]) << "stop words alone";
}

TEST_F(TextSearch, ACollectionWithoutATextIndexRefuses) {
  const auto store = Store::Open(std::nullopt, {}).value();
  const auto docs = store->CreateCollection(EntryWith("{}")).value();
  const Status status = Run(*docs->Pin().value(), {.query = "word"}).status();
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_EQ(status.hint(), "create it with \"text_index\" in its configuration");
}

TEST_F(TextSearch, TooManyWordsAreRefused) {
  Open(kEnglish);
  std::string query;
  for (int i = 0; i < 257; ++i) query += "w" + std::to_string(i) + " ";
  EXPECT_EQ(Run(*docs_[0]->Pin().value(), {.query = query}).status().detail(), Detail::kLimit);
  EXPECT_EQ(Run(*docs_[0]->Pin().value(), {.query = "\"" + query + "\""}).status().detail(),
            Detail::kLimit);
}

TEST_F(TextSearch, CancelledCallsEnd) {
  Open(kEnglish);
  TextMaker maker(16);
  for (int round = 0; round < 5; ++round) Write(maker.Batch(100));
  CancelToken token;
  token.Set();
  TextQuestion search{.query = "token w1*"};
  search.read.control.cancel = &token;
  EXPECT_EQ(Run(*docs_[0]->Pin().value(), search).status().code(), Code::kCancelled);
}

TEST_F(TextSearch, ForksAndReopenedStoresGiveTheSame) {
  MemoryFileSystem files;
  StoreOptions options;
  options.background_threads = 0;
  options.flush_rows_max = 200;
  auto store = Store::Open("db", options, &files).value();
  auto docs = store->CreateCollection(EntryWith(kEnglish)).value();
  TextMaker maker(17);
  for (int round = 0; round < 12; ++round) {
    const WriteBatch batch = maker.Batch(100);
    model_.Apply(batch);
    ASSERT_OK(docs->Write(batch));
  }
  settings_ = *ReadTextIndexSettings(docs->entry().configuration_json);
  docs_ = {docs, store->ForkCollection(docs->entry().id, "fork").value()};
  Compare(maker, 20);
  docs_.clear();
  docs.reset();
  ASSERT_OK(store->Close());
  store = Store::Open("db", options, &files).value();
  docs_ = {store->GetCollection({}, "docs").value(), store->GetCollection({}, "fork").value()};
  Compare(maker, 20);
  EXPECT_EQ(store->Check().value().errors, 0u);
  docs_.clear();
  ASSERT_OK(store->Close());
}

// A segment of another version of ICU is analyzed by this one, until a merge makes it anew.
TEST_F(TextSearch, SegmentsOfAnotherAnalyzerGiveTheSame) {
  MemoryFileSystem files;
  StoreOptions options;
  options.background_threads = 0;
  auto store = Store::Open("db", options, &files).value();
  auto docs = store->CreateCollection(EntryWith(kEnglish)).value();
  TextMaker maker(19);
  for (int round = 0; round < 6; ++round) {
    const WriteBatch batch = maker.Batch(200);
    model_.Apply(batch);
    ASSERT_OK(docs->Write(batch));
    if (round == 3) ASSERT_OK(docs->Flush());
  }
  settings_ = *ReadTextIndexSettings(docs->entry().configuration_json);
  docs.reset();
  ASSERT_OK(store->Close());
  ASSERT_EQ(ChangeAnalyzerOfSegments(files), 1);
  store = Store::Open("db", options, &files).value();
  docs_ = {store->GetCollection({}, "docs").value()};
  Compare(maker, 30);
  EXPECT_EQ(store->Check().value().errors, 0u);
  ASSERT_OK(docs_[0]->Compact());
  Compare(maker, 30);
  const auto version = docs_[0]->Pin().value();
  EXPECT_EQ(version->segments[0].segment->NewTextReader()->ReadIdentity().value(),
            version->text.shared->analyzer()->identity());
  docs_.clear();
  ASSERT_OK(store->Close());
}

TEST_F(TextSearch, ASmallMemoryBudgetGivesTheSame) {
  StoreOptions options;
  options.background_threads = 0;
  options.flush_rows_max = 500;
  options.memory_budget_bytes = 8 << 20;
  stores_.push_back(Store::Open(std::nullopt, options).value());
  docs_.push_back(stores_.back()->CreateCollection(EntryWith(kEnglish)).value());
  settings_ = *ReadTextIndexSettings(docs_[0]->entry().configuration_json);
  TextMaker maker(18);
  for (int round = 0; round < 40; ++round) Write(maker.Batch(200));
  ASSERT_OK(docs_[0]->Compact());
  Compare(maker, 40);
}

}  // namespace
}  // namespace pigment
