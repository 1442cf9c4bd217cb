// SPDX-License-Identifier: Apache-2.0
//
// Texts ranked by the words of a query, against the formula computed for every row: segments,
// pending pages and their cache, deleted rows, conditions, NULLs, interrupted anywhere.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/c_api/host_fixture.h"

namespace host_test {
namespace {

constexpr uint32_t kTextColumn = 0;
constexpr uint32_t kGroupColumn = 1;

struct AnalyzerFree {
  void operator()(pigment_text_analyzer* analyzer) const { pigment_text_analyzer_free(analyzer); }
};
struct QueryFree {
  void operator()(pigment_text_query* query) const { pigment_text_query_free(query); }
};
using AnalyzerPtr = std::unique_ptr<pigment_text_analyzer, AnalyzerFree>;
using QueryPtr = std::unique_ptr<pigment_text_query, QueryFree>;

AnalyzerPtr NewAnalyzer(std::string_view settings = "") {
  Error error;
  pigment_text_analyzer* analyzer = nullptr;
  const char* json = settings.empty() ? nullptr : settings.data();
  EXPECT_EQ(pigment_text_analyzer_new(json, settings.size(), &analyzer, error.out()), PIGMENT_OK)
      << error.message();
  return AnalyzerPtr(analyzer);
}

struct Parameters {
  double k1 = 1.2;
  double b = 0.75;
};

QueryPtr NewQuery(pigment_text_analyzer* analyzer, std::string_view words,
                  const Parameters& parameters = {}, int32_t grammar = PIGMENT_QUERY_WORDS) {
  Error error;
  pigment_text_query_options options{};
  options.struct_size = sizeof options;
  options.words = words.data();
  options.words_size = words.size();
  options.k1 = parameters.k1;
  options.b = parameters.b;
  options.grammar = grammar;
  pigment_text_query* query = nullptr;
  EXPECT_EQ(pigment_text_query_new(analyzer, &options, &query, error.out()), PIGMENT_OK)
      << error.message();
  return QueryPtr(query);
}

// Words of letters, so that they are terms as they stand; few are frequent, and many rare.
std::string RandomWord(std::mt19937_64& random) {
  const size_t frequent = random() % 3;
  const size_t number = frequent == 0   ? random() % 5
                        : frequent == 1 ? random() % 60
                                        : random() % 900;
  return std::string(1, static_cast<char>('a' + number % 26)) + "x" +
         std::string(1 + number / 200, static_cast<char>('a' + number / 26 % 26));
}

using Words = std::vector<std::string>;

Words RandomWords(std::mt19937_64& random, size_t most) {
  Words words(random() % (most + 1));
  for (std::string& word : words) word = RandomWord(random);
  return words;
}

std::string Join(const Words& words) {
  return std::accumulate(words.begin(), words.end(), std::string(),
                         [](const std::string& text, const std::string& word) {
                           return text.empty() ? word : text + " " + word;
                         });
}

std::vector<std::string> ElementsOf(pigment_text_analyzer* analyzer, std::string_view text) {
  Error error;
  pigment_buffer* buffer = nullptr;
  EXPECT_EQ(pigment_host_text_elements(analyzer, text.data(), text.size(), &buffer, error.out()),
            PIGMENT_OK)
      << error.message();
  return TakeElements(buffer);
}

// A query, and what its clauses ask for: by term and whether words begin with it.
struct Asked {
  struct Clause {
    uint32_t count = 0;
    bool is_required = false;
  };

  std::string text;
  int32_t grammar = PIGMENT_QUERY_WORDS;
  std::map<std::pair<std::string, bool>, Clause> clauses;
};

Asked RandomQuery(std::mt19937_64& random) {
  Asked asked;
  asked.grammar = static_cast<int32_t>(random() % 3);
  for (std::string word : RandomWords(random, 5)) {
    const bool has_clauses = asked.grammar != PIGMENT_QUERY_WORDS;
    const bool is_prefix = has_clauses && random() % 4 == 0, has_plus = random() % 4 == 0;
    if (is_prefix) word.resize(1 + random() % 2);
    asked.text += (has_plus ? " +" : " ") + word + (is_prefix ? "*" : "");
    Asked::Clause& clause = asked.clauses[{word, is_prefix}];
    ++clause.count;
    clause.is_required |= has_clauses && (has_plus || asked.grammar == PIGMENT_QUERY_CLAUSES_ALL);
  }
  return asked;
}

double Frequency(const Words& words, const std::pair<std::string, bool>& term) {
  return static_cast<double>(
      std::count_if(words.begin(), words.end(), [&](const std::string& word) {
        return term.second ? word.starts_with(term.first) : word == term.first;
      }));
}

// What a row has: its words, or NULL, and a group by which it is chosen.
struct Document {
  std::optional<Words> words;
  std::string group;
};

std::string Encode(pigment_text_analyzer* analyzer, const Document& document) {
  std::vector<pigment_host_key> keys;
  std::vector<std::string> elements;
  if (document.words) {
    elements = ElementsOf(analyzer, Join(*document.words));
    keys.push_back({kTextColumn, PIGMENT_KEY_VALUE, "", 0});
    for (const std::string& element : elements)
      keys.push_back({kTextColumn, PIGMENT_KEY_ELEMENT, element.data(), element.size()});
  }
  keys.push_back({kGroupColumn, PIGMENT_KEY_VALUE, document.group.data(), document.group.size()});
  std::string bytes(pigment_host_keys_bytes(keys.data(), keys.size()), '\0');
  pigment_host_keys_encode(keys.data(), keys.size(), bytes.data());
  return bytes;
}

struct TextIndex {
  TextIndex() : index(0) { index.has_keys = true; }

  std::vector<Row> RandomRows(std::mt19937_64& random, size_t count, size_t most_words = 30) {
    std::vector<Row> rows(count);
    for (Row& row : rows) {
      Document document;
      if (random() % 8 != 0) document.words = RandomWords(random, random() % 20 ? most_words : 600);
      document.group = std::string(1, static_cast<char>('0' + random() % 10));
      row.pointer = documents.size();
      row.is_dead = random() % 6 == 0;
      row.keys = Encode(analyzer.get(), document);
      documents.push_back(document);
    }
    return rows;
  }

  // By the formula as it stands, in the rounding that is promised.
  std::vector<Expected> Ranked(const Asked& asked, const Parameters& parameters,
                               const std::optional<std::string>& group,
                               std::map<uint64_t, double>* scores) const {
    double count = 0, length_sum = 0;
    std::map<std::pair<std::string, bool>, double> with;
    for (const Row& row : index.all) {
      const std::optional<Words>& words = documents[row.pointer].words;
      if (row.is_dead || !words || words->empty()) continue;
      ++count;
      length_sum += static_cast<double>(words->size());
      for (const auto& [term, clause] : asked.clauses) with[term] += Frequency(*words, term) != 0;
    }
    using Order = std::pair<int64_t, uint64_t>;
    std::vector<Order> with_text;
    std::vector<Expected> expected;
    std::vector<uint64_t> without_text;
    for (const Row& row : index.all) {
      const Document& document = documents[row.pointer];
      if (row.is_dead || (group && document.group != *group)) continue;
      if (!document.words) {
        without_text.push_back(row.pointer);
        continue;
      }
      int64_t sum = 0;
      bool lacks = false;
      for (const auto& [term, clause] : asked.clauses) {
        const double frequency = Frequency(*document.words, term);
        lacks = lacks || (frequency == 0 && clause.is_required);
        if (frequency == 0) continue;
        const double idf = std::log(1 + (count - with[term] + 0.5) / (with[term] + 0.5));
        const double norm =
            parameters.k1 * (1 - parameters.b) + parameters.k1 * parameters.b * count / length_sum *
                                                     static_cast<double>(document.words->size());
        const double weight = clause.count * idf * (parameters.k1 + 1) / 0x1p-32;
        sum += static_cast<int64_t>(weight / (1 + norm / frequency));
      }
      if (lacks) sum = 0;
      with_text.emplace_back(-sum, row.pointer);
      if (scores != nullptr) (*scores)[row.pointer] = static_cast<double>(-sum) * 0x1p-32;
    }
    std::sort(with_text.begin(), with_text.end());
    std::sort(without_text.begin(), without_text.end());
    for (const auto& [rank, pointer] : with_text)
      expected.emplace_back(0, static_cast<float>(static_cast<double>(rank) * 0x1p-32), pointer);
    for (const uint64_t pointer : without_text) expected.emplace_back(2, 0.0f, pointer);
    return expected;
  }

  AnalyzerPtr analyzer = NewAnalyzer();
  Index index;
  std::vector<Document> documents;
};

void Count(Index& index, pigment_text_query* query, std::mt19937_64& random) {
  Error error;
  const auto conditions = std::exchange(index.conditions, {});
  index.text = query;
  pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, nullptr);
  for (int calls = 1;; ++calls) {
    if (calls < 4) index.pages.fail_in = 1 + random() % 30;
    const pigment_status status = pigment_text_query_count(query, search, error.out());
    index.pages.fail_in = 0;
    if (status == PIGMENT_CANCELLED) continue;
    ASSERT_EQ(status, PIGMENT_OK) << error.message();
    break;
  }
  pigment_host_search_free(search);
  index.conditions = conditions;
}

TEST(HostText, RanksAllRowsAsTheFormulaDoes) {
  size_t scored = 0, given = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    TextIndex texts;
    Index& index = texts.index;
    texts.index.text_column = kTextColumn;
    // Little memory makes groups of few rows.
    if (random() % 3 == 0) index.build_budget_bytes = uint64_t{3} << 20;
    for (size_t i = random() % 4; i > 0; --i)
      index.AddSegment(texts.RandomRows(random, random() % 2000));
    for (const Row& row : texts.RandomRows(random, random() % 200)) index.AddPending(row);
    const uint64_t bytes_max = random() % 2 ? uint64_t{1} << 20 : 4000;
    if (random() % 2) index.cache = NewCache(index, 0, bytes_max);
    Error error;
    for (int i = 0; i < 6; ++i) {
      const Parameters parameters = i == 0   ? Parameters{}
                                    : i == 1 ? Parameters{.k1 = 0, .b = 1}
                                             : Parameters{.k1 = 2, .b = 0.3};
      const Asked asked = RandomQuery(random);
      const QueryPtr query = NewQuery(texts.analyzer.get(), asked.text, parameters, asked.grammar);
      Count(index, query.get(), random);
      std::optional<std::string> group;
      if (random() % 2) group = std::string(1, static_cast<char>('0' + random() % 10));
      pigment_host_bytes key{};
      if (group) {
        key = {group->data(), group->size()};
        index.conditions = {{kGroupColumn, PIGMENT_CONDITION_ANY_OF, &key, 1, false, false}};
      }
      std::map<uint64_t, double> scores;
      const auto expected = texts.Ranked(asked, parameters, group, &scores);
      index.text = query.get();
      pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, nullptr, random() % 20);
      const auto got = Drain(
          search, random,
          {.pages = random() % 2 != 0 ? &index.pages : nullptr, .pins_first = 60, .pins_more = 10});
      ASSERT_EQ(got, expected);
      given += got.size();
      scored += static_cast<size_t>(std::count_if(
          scores.begin(), scores.end(), [](const auto& score) { return score.second != 0; }));
      const pigment_host_search_counters counters = CountersOf(search);
      EXPECT_EQ(counters.segment_rows + counters.pending_rows, got.size());
      EXPECT_LE(index.pages.pinned_max, 8);
      EXPECT_EQ(index.pages.pinned, 0);
      pigment_host_search_free(search);
      index.conditions.clear();
      // One text gets the score that it has in the index.
      for (const auto& [pointer, score] : scores) {
        if (random() % 50 != 0) continue;
        const std::string text = Join(*texts.documents[pointer].words);
        double one = 1;
        HOST_OK(pigment_text_query_score(query.get(), text.data(), text.size(), &one, error.out()));
        EXPECT_EQ(one, score);
      }
    }
    pigment_pending_cache_free(std::exchange(index.cache, nullptr));
  }
  EXPECT_GT(scored, 5000u);
  EXPECT_GT(given, scored * 2);
}

TEST(HostText, WordsAreThoseOfTheLanguage) {
  const AnalyzerPtr english = NewAnalyzer(R"({"language": "english", "stop_words": true})");
  const std::string text = "The foxes were running; a Fox runs";
  const auto elements = ElementsOf(english.get(), text);
  ASSERT_EQ(elements.size(), 3u) << "a length, and two words";
  EXPECT_EQ(elements[0].size(), 9u);
  EXPECT_EQ(elements[0].substr(5), std::string("\0\0\0\4", 4));
  EXPECT_EQ(elements[1], std::string("fox\0\2", 5));
  EXPECT_EQ(elements[2], std::string("run\0\2", 5));
  EXPECT_TRUE(ElementsOf(english.get(), "the of").empty()) << "no words: no length";
  const auto often = ElementsOf(english.get(), [] {
    std::string many;
    for (int i = 0; i < 300; ++i) many += "fox ";
    return many;
  }());
  EXPECT_EQ(often[1], std::string("fox\0\xFF\0\0\1\x2C", 9));
}

TEST(HostText, ClausesAreThoseOfACollectionButForPhrases) {
  const AnalyzerPtr english = NewAnalyzer(R"({"language": "english", "stop_words": true})");
  const auto asked = [&](std::string_view text, int32_t grammar) {
    Error error;
    pigment_text_query_options options{.struct_size = sizeof options,
                                       .words = text.data(),
                                       .words_size = text.size(),
                                       .k1 = 1.2,
                                       .b = 0.75,
                                       .grammar = grammar};
    pigment_text_query* query = nullptr;
    const pigment_status status =
        pigment_text_query_new(english.get(), &options, &query, error.out());
    pigment_text_query_free(query);
    return std::pair<int, std::string>(status, error.message());
  };
  const auto phrase = asked(R"(+fox "quick foxes")", PIGMENT_QUERY_CLAUSES);
  EXPECT_EQ(phrase.first, PIGMENT_UNIMPLEMENTED);
  EXPECT_EQ(phrase.second,
            "a query has a phrase, of the terms \"quick fox\": an index of a host's texts has no "
            "places of words, by "
            "which phrases are found");
  EXPECT_EQ(asked(R"(+"foxes" "the fox" run* ")", PIGMENT_QUERY_CLAUSES_ALL).first, PIGMENT_OK)
      << "phrases of one word are words";
  EXPECT_EQ(asked(R"("quick foxes")", PIGMENT_QUERY_WORDS).first, PIGMENT_OK);
  EXPECT_EQ(asked("fox", 3).second,
            "options.grammar is 3, expected 0 (words), 1 (clauses) or 2 (all clauses)");
}

TEST(HostText, TextsThatAnotherAnalyzerReadAreRefused) {
  std::mt19937_64 random(5);
  const bool in_pending[] = {false, true};
  for (const bool pending : in_pending) {
    TextIndex other;
    if (pending) {
      for (const Row& row : other.RandomRows(random, 10)) other.index.AddPending(row);
    } else {
      other.index.AddSegment(other.RandomRows(random, 10));
    }
    const AnalyzerPtr english = NewAnalyzer(R"({"language": "english"})");
    const QueryPtr query = NewQuery(english.get(), "ax");
    other.index.text = query.get();
    pigment_host_search* search = other.index.NewSearch(PIGMENT_METRIC_L2, nullptr);
    Error error;
    EXPECT_EQ(pigment_text_query_count(query.get(), search, error.out()),
              PIGMENT_FAILED_PRECONDITION);
    EXPECT_NE(error.message().find("another version of the analyzer"), std::string::npos);
    pigment_host_search_free(search);
  }
}

TEST(HostText, RowsWithoutTheMemoryForTheirWordsAreRefused) {
  std::mt19937_64 random(6);
  TextIndex texts;
  texts.index.build_budget_bytes = uint64_t{1} << 20;
  std::vector<Row> rows = texts.RandomRows(random, 100);
  for (Row& row : rows) {
    row.is_dead = false;
    Document& document = texts.documents[row.pointer];
    document.group.assign(40000, static_cast<char>('a' + row.pointer));
    row.keys = Encode(texts.analyzer.get(), document);
  }
  texts.index.AddSegment(rows);
  const QueryPtr query = NewQuery(texts.analyzer.get(), "ax");
  texts.index.text = query.get();
  pigment_host_search* search = texts.index.NewSearch(PIGMENT_METRIC_L2, nullptr);
  Error error;
  EXPECT_EQ(pigment_text_query_count(query.get(), search, error.out()),
            PIGMENT_FAILED_PRECONDITION);
  EXPECT_NE(error.message().find("there was not the memory"), std::string::npos);
  pigment_host_hit hit{};
  size_t count = 0;
  EXPECT_EQ(pigment_host_search_next(search, &hit, 1, &count, error.out()),
            PIGMENT_FAILED_PRECONDITION);
  pigment_host_search_free(search);
}

TEST(HostText, DamageIsNeverBelieved) {
  std::mt19937_64 random(7);
  TextIndex texts;
  texts.index.AddSegment(texts.RandomRows(random, 150));
  const QueryPtr query = NewQuery(texts.analyzer.get(), "ax bx cx");
  texts.index.text = query.get();
  ExpectDamageIsNeverBelieved(texts.index, [&](Error& error) {
    pigment_host_search* search = texts.index.NewSearch(PIGMENT_METRIC_L2, nullptr);
    pigment_host_hit hits[200];
    size_t count = 0;
    pigment_status status = pigment_text_query_count(query.get(), search, error.out());
    if (status == PIGMENT_OK)
      status = pigment_host_search_next(search, hits, 200, &count, error.out());
    pigment_host_search_free(search);
    return status;
  });
}

TEST(HostText, WhatIsAskedWronglyIsRefusedByName) {
  const AnalyzerPtr analyzer = NewAnalyzer();
  Error error;
  pigment_text_analyzer* none = nullptr;
  const std::string klingon = R"({"language": "klingon"})";
  EXPECT_EQ(pigment_text_analyzer_new(klingon.data(), klingon.size(), &none, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_NE(error.message().find("klingon"), std::string::npos);
  pigment_text_query_options options{};
  options.struct_size = sizeof options;
  pigment_text_query* query = nullptr;
  for (const auto& [k1, b] : {std::pair(-1.0, 0.5), {101.0, 0.5}, {1.0, 1.5}, {NAN, 0.5}}) {
    options.k1 = k1;
    options.b = b;
    EXPECT_EQ(pigment_text_query_new(analyzer.get(), &options, &query, error.out()),
              PIGMENT_INVALID_ARGUMENT);
  }
  std::string many;
  for (int i = 0; i < 65537; ++i) many += "a ";
  options = {.struct_size = sizeof options,
             .words = many.data(),
             .words_size = many.size(),
             .k1 = 100,
             .b = 0,
             .grammar = PIGMENT_QUERY_WORDS};
  EXPECT_EQ(pigment_text_query_new(analyzer.get(), &options, &query, error.out()),
            PIGMENT_RESOURCE_EXHAUSTED);
  EXPECT_EQ(error.message(), "a query of 65537 words (limit host_query_words: 65536)");
  for (const int clauses : {256, 257}) {
    std::string text;
    for (int i = 0; i < clauses; ++i) text += "word" + std::to_string(i) + " ";
    options.words = text.data();
    options.words_size = text.size();
    options.grammar = PIGMENT_QUERY_CLAUSES;
    EXPECT_EQ(pigment_text_query_new(analyzer.get(), &options, &query, error.out()),
              clauses == 256 ? PIGMENT_OK : PIGMENT_RESOURCE_EXHAUSTED)
        << error.message();
    pigment_text_query_free(query);
  }
  const QueryPtr one = NewQuery(analyzer.get(), "fox"), other = NewQuery(analyzer.get(), "fox");
  TextIndex texts;
  texts.index.text = one.get();
  pigment_host_search* search = texts.index.NewSearch(PIGMENT_METRIC_L2, nullptr);
  EXPECT_EQ(pigment_text_query_count(other.get(), search, error.out()), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_text_query_count(one.get(), search, error.out()), PIGMENT_OK);
  uint64_t rows = 0, within = 0;
  EXPECT_EQ(pigment_host_search_sample_within(search, 1, &rows, &within, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  pigment_host_search_free(search);
  const float vector[] = {1};
  pigment_host_search_options both{};
  both.struct_size = sizeof both;
  both.metric = PIGMENT_METRIC_L2;
  both.dimension = 1;
  both.query = vector;
  both.text = one.get();
  EXPECT_EQ(pigment_host_search_new(&both, &search, error.out()), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(search, nullptr);
}

}  // namespace
}  // namespace host_test
