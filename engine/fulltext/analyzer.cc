// SPDX-License-Identifier: Apache-2.0
//
// Words by ICU, where there are other bytes than ASCII; ASCII by rules of our own that give what
// ICU's do (a test holds them against each other), in a fraction of the time.

#include "engine/fulltext/analyzer.h"

#include <fmt/format.h>
#include <libstemmer.h>
#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>
#include <unicode/uversion.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_set>

#include "engine/fulltext/stop_words.h"
#include "engine/record/json_tape.h"
#include "engine/record/text.h"

namespace pigment {
namespace {

// To be raised when anything here, or a list of stop words, makes other terms of any text.
constexpr int kAnalyzerVersion = 1;
// A text without white space is cut to pieces of so many bytes, which bounds what ICU takes.
constexpr size_t kPieceBytesMax = size_t{32} << 10;
constexpr size_t kWordsPerStretch = 64;

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
using WordSet = std::unordered_set<std::string, TextHash, std::equal_to<>>;

Status IcuFailed(const char* call, UErrorCode code) {
  if (code == U_MEMORY_ALLOCATION_ERROR)
    return ResourceExhausted(Detail::kMemory, fmt::format("no memory for ICU's {}", call));
  return Internal(fmt::format("ICU's {} failed: {}", call, u_errorName(code)));
}

// What a byte of ASCII is to word boundaries.
enum class Ascii : uint8_t { kOther, kLetter, kDigit, kJoin, kInNumber, kInBoth };

constexpr std::array<Ascii, 128> kAsciiKinds = [] {
  std::array<Ascii, 128> kinds{};
  for (char c = 'a'; c <= 'z'; ++c) kinds[static_cast<size_t>(c)] = Ascii::kLetter;
  for (char c = 'A'; c <= 'Z'; ++c) kinds[static_cast<size_t>(c)] = Ascii::kLetter;
  for (char c = '0'; c <= '9'; ++c) kinds[static_cast<size_t>(c)] = Ascii::kDigit;
  kinds['_'] = Ascii::kJoin;
  kinds[','] = kinds[';'] = Ascii::kInNumber;
  kinds['.'] = kinds['\''] = Ascii::kInBoth;
  return kinds;
}();

Ascii KindOf(char c) { return kAsciiKinds[static_cast<unsigned char>(c)]; }
bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }
// Where every word ends. The at sign is a letter to ICU 72, and to no version before or after it.
bool IsSpace(char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F' || c == '@'; }

// The end of the word that begins at `at`; `has_text`: it is not of underscores alone.
size_t EndOfAsciiWord(std::string_view text, size_t at, size_t end, bool* has_text) {
  Ascii last = Ascii::kOther;
  *has_text = false;
  for (; at < end; ++at) {
    const Ascii kind = KindOf(text[at]);
    if (kind == Ascii::kLetter || kind == Ascii::kDigit || kind == Ascii::kJoin) {
      *has_text = *has_text || kind != Ascii::kJoin;
      last = kind;
      continue;
    }
    const bool may_join = at + 1 < end && KindOf(text[at + 1]) == last;
    if (may_join && (last == Ascii::kLetter || last == Ascii::kDigit) &&
        (kind == Ascii::kInBoth || (kind == Ascii::kInNumber && last == Ascii::kDigit)))
      continue;
    break;
  }
  return at;
}

void ReadAsciiWords(std::string_view text, size_t at, size_t end, std::vector<Word>& words) {
  while (at < end) {
    const Ascii kind = KindOf(text[at]);
    if (kind != Ascii::kLetter && kind != Ascii::kDigit && kind != Ascii::kJoin) {
      ++at;
      continue;
    }
    bool has_text = false;
    const size_t word_end = EndOfAsciiWord(text, at, end, &has_text);
    if (has_text) words.push_back({at, word_end});
    at = word_end;
  }
}

// What lies between two boundaries is a word if it has a letter, an ideograph or a number. (The
// status that ICU gives of its rules tells this too, but depends on what was looked at before.)
bool HasLetterOrDigit(std::string_view text) {
  const auto size = static_cast<int32_t>(text.size());
  for (int32_t at = 0; at < size;) {
    UChar32 c = 0;
    U8_NEXT(text.data(), at, size, c);
    if (c >= 0 && (u_isUAlphabetic(c) || u_isalnum(c))) return true;
  }
  return false;
}

// At most so many bytes, without a part of a character.
std::string_view CutText(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  size_t bytes = bytes_max;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes == 0 ? bytes_max : bytes);
}

std::string IdentityOf(const AnalyzerSettings& settings) {
  std::array<char, U_MAX_VERSION_STRING_LENGTH> icu{};
  UVersionInfo version;
  u_getVersion(version);
  u_versionToString(version, icu.data());
  return fmt::format(R"({{"version":{},"icu":"{}","unicode":"{}","analyzer":{}}})",
                     kAnalyzerVersion, icu.data(), U_UNICODE_VERSION, AnalyzerToJson(settings));
}

}  // namespace

struct Analyzer::State {
  AnalyzerSettings settings;
  std::string identity;
  WordSet stop_words;  // folded

  // Break iterators are made when they are first needed: the first takes milliseconds.
  std::mutex mutex;
  std::unique_ptr<icu::BreakIterator> words;                 // what others are copies of
  std::vector<std::unique_ptr<icu::BreakIterator>> readers;  // that nobody uses now

  Result<std::unique_ptr<icu::BreakIterator>> TakeReader();
  void GiveBack(std::unique_ptr<icu::BreakIterator> reader);
};

Result<std::unique_ptr<icu::BreakIterator>> Analyzer::State::TakeReader() {
  std::lock_guard lock(mutex);
  if (!readers.empty()) {
    std::unique_ptr<icu::BreakIterator> reader = std::move(readers.back());
    readers.pop_back();
    return reader;
  }
  if (words == nullptr) {
    UErrorCode code = U_ZERO_ERROR;
    words.reset(icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), code));
    if (U_FAILURE(code) || words == nullptr) {
      words.reset();
      return IcuFailed("word break iterator", U_FAILURE(code) ? code : U_MEMORY_ALLOCATION_ERROR);
    }
  }
  std::unique_ptr<icu::BreakIterator> reader(words->clone());
  if (reader == nullptr) return IcuFailed("word break iterator", U_MEMORY_ALLOCATION_ERROR);
  return reader;
}

void Analyzer::State::GiveBack(std::unique_ptr<icu::BreakIterator> reader) {
  constexpr size_t kKept = 16;
  std::lock_guard lock(mutex);
  if (readers.size() < kKept) readers.push_back(std::move(reader));
}

Analyzer::Analyzer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Analyzer::~Analyzer() = default;

const AnalyzerSettings& Analyzer::settings() const { return state_->settings; }
const std::string& Analyzer::identity() const { return state_->identity; }

Result<std::shared_ptr<const Analyzer>> Analyzer::Make(const AnalyzerSettings& settings) {
  auto state = std::make_unique<State>();
  state->settings = settings;
  state->identity = IdentityOf(settings);
  std::shared_ptr<const Analyzer> analyzer(new Analyzer(std::move(state)));
  switch (settings.stop_words) {
    case AnalyzerSettings::StopWords::kNone:
      break;
    case AnalyzerSettings::StopWords::kOfLanguage:
      for (const std::string_view word : StopWordsOf(settings.language))
        analyzer->state_->stop_words.emplace(word);
      break;
    case AnalyzerSettings::StopWords::kGiven: {
      WordReader reader(*analyzer);
      std::string folded;
      for (const std::string& word : settings.given_stop_words) {
        PIGMENT_RETURN_IF_ERROR(reader.Fold(word, folded));
        analyzer->state_->stop_words.insert(folded);
      }
      break;
    }
  }
  return analyzer;
}

Result<AnalyzerSettings> Analyzer::SettingsOf(std::string_view identity) {
  const Status damaged = DataLoss(Detail::kMiscounted, "", -1,
                                  fmt::format("{} is no analyzer's identity", Quoted(identity)));
  const auto tape = JsonTape::Parse(identity, "analyzer", Detail::kNone);
  if (!tape.ok() || tape->kind(0) != JsonKind::kObject) return damaged;
  for (size_t i = 1; i < tape->size(); i = tape->end(i)) {
    if (tape->key(i) != "analyzer") continue;
    Result<AnalyzerSettings> settings = ReadAnalyzer(*tape, i);
    if (settings.ok()) return settings;
  }
  return damaged;
}

struct WordReader::State {
  struct StemmerDeleter {
    void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
  };

  std::unique_ptr<icu::BreakIterator> breaks;  // null until a text needs it
  std::unique_ptr<sb_stemmer, StemmerDeleter> stemmer;
  UText text = UTEXT_INITIALIZER;

  ~State() { utext_close(&text); }
};

WordReader::WordReader(const Analyzer& analyzer)
    : analyzer_(analyzer), state_(std::make_unique<State>()) {}

WordReader::~WordReader() {
  if (state_->breaks != nullptr) analyzer_.state_->GiveBack(std::move(state_->breaks));
}

// Texts part at white space of ASCII: what lies between goes to ICU unless it is ASCII.
Status WordReader::ReadStretch(std::string_view text, size_t& at) {
  while (at < text.size() && words_.size() < kWordsPerStretch) {
    if (IsSpace(text[at])) {
      ++at;
      continue;
    }
    const std::string_view rest = CutText(text.substr(at), kPieceBytesMax);
    size_t end = 0;
    bool is_ascii = true;
    for (; end < rest.size() && !IsSpace(rest[end]); ++end)
      is_ascii = is_ascii && IsAscii(rest[end]);
    if (is_ascii) {
      ReadAsciiWords(text, at, at + end, words_);
    } else {
      PIGMENT_RETURN_IF_ERROR(ReadByIcu(text, at, at + end));
    }
    at += end;
  }
  return Status::Ok();
}

Status WordReader::ReadByIcu(std::string_view text, size_t begin, size_t end) {
  State& state = *state_;
  if (state.breaks == nullptr) {
    PIGMENT_ASSIGN_OR_RETURN(state.breaks, analyzer_.state_->TakeReader());
  }
  UErrorCode code = U_ZERO_ERROR;
  utext_openUTF8(&state.text, text.data() + begin, static_cast<int64_t>(end - begin), &code);
  if (U_SUCCESS(code)) state.breaks->setText(&state.text, code);
  if (U_FAILURE(code)) return IcuFailed("word break iterator", code);
  size_t from = 0;
  for (int32_t next = state.breaks->next(); next != icu::BreakIterator::DONE;
       next = state.breaks->next()) {
    const auto to = static_cast<size_t>(next);
    if (HasLetterOrDigit(text.substr(begin + from, to - from)))
      words_.push_back({begin + from, begin + to});
    from = to;
  }
  return Status::Ok();
}

Status WordReader::Fold(std::string_view word, std::string& folded) {
  word = CutText(word, kTermBytesMax);
  folded.clear();
  if (std::all_of(word.begin(), word.end(), IsAscii)) {
    for (const char c : word) folded += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return Status::Ok();
  }
  UErrorCode code = U_ZERO_ERROR;
  const icu::Normalizer2* const folder = icu::Normalizer2::getNFKCCasefoldInstance(code);
  if (U_SUCCESS(code)) {
    icu::StringByteSink<std::string> sink(&folded);
    folder->normalizeUTF8(0, {word.data(), static_cast<int32_t>(word.size())}, sink, nullptr, code);
  }
  if (U_FAILURE(code)) return IcuFailed("folding", code);
  folded.resize(CutText(folded, kTermBytesMax).size());
  return Status::Ok();
}

Status WordReader::TermOf(std::string_view word, std::string& term) {
  PIGMENT_RETURN_IF_ERROR(Fold(word, term));
  const Analyzer::State& shared = *analyzer_.state_;
  if (shared.stop_words.contains(std::string_view(term))) {
    term.clear();
    return Status::Ok();
  }
  if (shared.settings.language == "none" || term.empty()) return Status::Ok();
  if (state_->stemmer == nullptr) {
    state_->stemmer.reset(sb_stemmer_new(shared.settings.language.c_str(), nullptr));
    if (state_->stemmer == nullptr) {
      return Internal(fmt::format("Snowball has no stemmer for \"{}\", or no memory",
                                  shared.settings.language));
    }
  }
  const sb_symbol* const stem =
      sb_stemmer_stem(state_->stemmer.get(), reinterpret_cast<const sb_symbol*>(term.data()),
                      static_cast<int>(term.size()));
  if (stem == nullptr) return ResourceExhausted(Detail::kMemory, "no memory for a stem");
  term.assign(reinterpret_cast<const char*>(stem),
              static_cast<size_t>(sb_stemmer_length(state_->stemmer.get())));
  return Status::Ok();
}

}  // namespace pigment
