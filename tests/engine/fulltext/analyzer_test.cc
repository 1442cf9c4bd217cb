// SPDX-License-Identifier: Apache-2.0
//
// Texts into terms: languages, bytes that are no text, and our words of ASCII against ICU's.

#include "engine/fulltext/analyzer.h"

#include <gtest/gtest.h>
#include <unicode/brkiter.h>
#include <unicode/utext.h>

#include <random>
#include <thread>

#include "engine/fulltext/stop_words.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

using Terms = std::vector<std::string>;

std::shared_ptr<const Analyzer> Of(const std::string& language, bool stop_words = false) {
  return Analyzer::Make({.language = language,
                         .stop_words = stop_words ? AnalyzerSettings::StopWords::kOfLanguage
                                                  : AnalyzerSettings::StopWords::kNone})
      .value();
}

Terms TermsOf(const Analyzer& analyzer, std::string_view text) {
  WordReader reader(analyzer);
  Terms terms;
  std::string term;
  EXPECT_OK(reader.VisitWords(text, [&](const Word& word) -> Status {
    EXPECT_LT(word.begin, word.end);
    EXPECT_LE(word.end, text.size());
    PIGMENT_RETURN_IF_ERROR(reader.TermOf(text.substr(word.begin, word.end - word.begin), term));
    if (!term.empty()) terms.push_back(term);
    return Status::Ok();
  }));
  return terms;
}

Terms TermsOf(const std::string& language, std::string_view text, bool stop_words = false) {
  return TermsOf(*Of(language, stop_words), text);
}

// The at sign, of which versions of ICU think differently, is white space to us.
std::vector<std::string> WordsByIcu(std::string text) {
  std::replace(text.begin(), text.end(), '@', ' ');
  UErrorCode code = U_ZERO_ERROR;
  std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), code));
  UText utext = UTEXT_INITIALIZER;
  utext_openUTF8(&utext, text.data(), static_cast<int64_t>(text.size()), &code);
  breaks->setText(&utext, code);
  EXPECT_TRUE(U_SUCCESS(code));
  std::vector<std::string> words;
  int32_t from = 0;
  for (int32_t to = breaks->next(); to != icu::BreakIterator::DONE; to = breaks->next()) {
    const std::string word = text.substr(static_cast<size_t>(from), static_cast<size_t>(to - from));
    if (std::any_of(word.begin(), word.end(), [](char c) { return c < 0 || isalnum(c) != 0; }) &&
        word != "’")
      words.push_back(word);
    from = to;
  }
  utext_close(&utext);
  return words;
}

TEST(Analyzer, EnglishWordsAreFoldedAndBroughtToTheirStems) {
  EXPECT_EQ(TermsOf("english", "Running runners RAN; connections, connected!"),
            Terms({"run", "runner", "ran", "connect", "connect"}));
  EXPECT_EQ(TermsOf("english", "The cat isn't on the mat.", true), Terms({"cat", "isn't", "mat"}));
  EXPECT_EQ(TermsOf("none", "Running runners"), Terms({"running", "runners"}));
}

TEST(Analyzer, GermanWordsAreFoldedAndBroughtToTheirStems) {
  EXPECT_EQ(TermsOf("german", "Häuser, das HAUS und die Straße"),
            Terms({"haus", "das", "haus", "und", "die", "strass"}));
  EXPECT_EQ(TermsOf("german", "Häuser, das HAUS und die Straße", true),
            Terms({"haus", "haus", "strass"}));
}

TEST(Analyzer, WordsOfScriptsWithoutSpacesAreThoseOfDictionaries) {
  EXPECT_EQ(TermsOf("none", "東京都に行く"), Terms({"東京", "都", "に", "行く"}));
  EXPECT_EQ(TermsOf("none", "我喜欢吃苹果"), Terms({"我", "喜欢", "吃", "苹果"}));
  EXPECT_EQ(TermsOf("none", "สวัสดีชาวโลก"), Terms({"สวัสดี", "ชาว", "โลก"}));
  EXPECT_EQ(TermsOf("none", "안녕하세요 세계"), Terms({"안녕하세요", "세계"}));
}

TEST(Analyzer, TextsOfSeveralScriptsAreCutAtEach) {
  EXPECT_EQ(TermsOf("english", "PostgreSQLは東京で running"),
            Terms({"postgresql", "は", "東京", "で", "run"}));
  EXPECT_EQ(TermsOf("none", "Привет, МИР"), Terms({"привет", "мир"}));
}

TEST(Analyzer, FormsOfOneCharacterAreOneTerm) {
  EXPECT_EQ(TermsOf("none", "ﬁne ＡＢＣ １２３ e\xCC\x81t\xC3\xA9"),
            Terms({"fine", "abc", "123", "\xC3\xA9t\xC3\xA9"}));
}

TEST(Analyzer, BytesThatAreNoTextPartWords) {
  EXPECT_EQ(TermsOf("none", std::string_view("one\0two\xFFthree\xC3", 15)),
            Terms({"one", "two", "three"}));
  EXPECT_EQ(TermsOf("none", "\xED\xA0\x80zwei\xF8\x88\x80\x80\x80"), Terms({"zwei"}));
  EXPECT_EQ(TermsOf("none", ""), Terms());
  EXPECT_EQ(TermsOf("none", " \t\r\n.,-_ __ \x01"), Terms());
}

TEST(Analyzer, AnyBytesGiveTermsThatAreUtf8AndNotTooLong) {
  std::mt19937_64 random(20);
  const auto analyzer = Of("english");
  for (int round = 0; round < 300; ++round) {
    std::string text;
    const size_t size = random() % 400;
    const bool is_mostly_text = random() % 2 != 0;
    while (text.size() < size) {
      if (is_mostly_text && random() % 3 != 0) {
        text += std::string_view("東京é สวัสดีa 안녕1_.'").substr(random() % 20, 1 + random() % 6);
      } else {
        text += static_cast<char>(random());
      }
    }
    for (const std::string& term : TermsOf(*analyzer, text)) {
      EXPECT_LE(term.size(), kTermBytesMax);
      EXPECT_FALSE(term.empty());
    }
  }
}

TEST(Analyzer, LongWordsAreCutAndStillFoundByTheirOwnText) {
  const std::string word(100000, 'x');
  EXPECT_EQ(TermsOf("none", word).front(), std::string(kTermBytesMax, 'x'));
  std::string accented;
  for (int i = 0; i < 300; ++i) accented += "é";
  const Terms terms = TermsOf("none", accented);
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0].size(), kTermBytesMax);
}

// What the header promises of the fast way.
TEST(Analyzer, WordsOfAsciiAreThoseOfIcu) {
  std::mt19937_64 random(7);
  constexpr std::string_view kBytes = "abYZ019__..''::;,,-+ /@#\"\\\t\n!?()";
  const auto analyzer = Of("none");
  WordReader reader(*analyzer);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    const size_t size = random() % 24;
    while (text.size() < size) text += kBytes[random() % kBytes.size()];
    std::vector<std::string> words;
    ASSERT_OK(reader.VisitWords(text, [&](const Word& word) {
      words.push_back(text.substr(word.begin, word.end - word.begin));
      return Status::Ok();
    }));
    ASSERT_EQ(words, WordsByIcu(text)) << text;
  }
}

TEST(Analyzer, CuttingAtSpacesChangesNoWordOfIcu) {
  std::mt19937_64 random(8);
  const std::vector<std::string> pieces = {"é",   "東京", "都",   "a", "b.c", "1,2", " ", "\n",
                                           "สวัส", "ดี",    "세계", "’", "_",   "ß",   "-"};
  const auto analyzer = Of("none");
  WordReader reader(*analyzer);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (size_t i = random() % 14; i-- > 0;) text += pieces[random() % pieces.size()];
    std::vector<std::string> words;
    ASSERT_OK(reader.VisitWords(text, [&](const Word& word) {
      words.push_back(text.substr(word.begin, word.end - word.begin));
      return Status::Ok();
    }));
    ASSERT_EQ(words, WordsByIcu(text)) << text;
  }
}

TEST(Analyzer, EveryLanguageHasAStemmer) {
  for (const std::string_view language : kTextLanguages) {
    SCOPED_TRACE(language);
    EXPECT_EQ(TermsOf(std::string(language), "a 1 word").size(), 3u);
  }
}

TEST(Analyzer, ListsOfStopWordsAreThereForTheLanguagesThatTheConfigurationNames) {
  for (const std::string_view language : kTextLanguages) {
    const bool is_named = std::find(kStopWordLanguages.begin(), kStopWordLanguages.end(),
                                    language) != kStopWordLanguages.end();
    EXPECT_EQ(!StopWordsOf(language).empty(), is_named) << language;
    const auto analyzer = Of("none");
    WordReader reader(*analyzer);
    std::string folded;
    for (const std::string_view word : StopWordsOf(language)) {
      ASSERT_OK(reader.Fold(word, folded));
      EXPECT_EQ(folded, word) << "a list has words as folding gives them";
    }
  }
}

TEST(Analyzer, GivenStopWordsAreFolded) {
  const auto analyzer = Analyzer::Make({.language = "english",
                                        .stop_words = AnalyzerSettings::StopWords::kGiven,
                                        .given_stop_words = {"CATS", "É"}})
                            .value();
  EXPECT_EQ(TermsOf(*analyzer, "cats cat é dogs"), Terms({"cat", "dog"}));
}

TEST(Analyzer, TheIdentityHasTheSettings) {
  const AnalyzerSettings settings{.language = "german",
                                  .stop_words = AnalyzerSettings::StopWords::kGiven,
                                  .given_stop_words = {"und", "\"ö\""}};
  const auto analyzer = Analyzer::Make(settings).value();
  EXPECT_EQ(Analyzer::SettingsOf(analyzer->identity()).value(), settings);
  EXPECT_NE(analyzer->identity(), Of("german")->identity());
  for (const std::string_view bad : {"", "{}", "null", R"({"analyzer":{"language":"elvish"}})"})
    EXPECT_EQ(Analyzer::SettingsOf(bad).status().code(), Code::kDataLoss) << bad;
}

TEST(Analyzer, ThreadsShareOne) {
  const auto analyzer = Of("english");
  const std::string text = "東京都に行く running สวัสดีชาวโลก";
  const Terms expected = TermsOf(*analyzer, text);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) EXPECT_EQ(TermsOf(*analyzer, text), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace pigment
