// SPDX-License-Identifier: Apache-2.0
//
// RE2 takes from a pattern a formula of ands and ors over texts ("atoms"), and answers for any set
// of atoms that were found whether the pattern can match. The formula itself it keeps: so it is
// asked once for each set of atoms that some row has.

#include "engine/query/regex.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "engine/query/filter.h"
#include "engine/record/text.h"

namespace pigment {
namespace {

constexpr size_t kAtomBytesMin = 2;
// With more atoms than these nothing is looked up, and with more than these none is held to be
// required.
constexpr size_t kAtomsMax = 1024;
constexpr size_t kAtomsOfRequired = 32;

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

// RE2 gives atoms in small letters of any alphabet, where the index knows only those of ASCII. The
// Kelvin sign becomes a k by that, the I with a dot an i, and the long s an s: a document may have
// them where the atom has these letters.
bool HasOtherForms(char byte) { return byte == 'k' || byte == 'i' || byte == 's'; }

// Whether the pattern may match one of these. Only what ignores case, names characters by number or
// class, or has them itself does.
bool MayMatchOtherForms(std::string_view pattern) {
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (static_cast<unsigned char>(pattern[i]) >= 0x80) return true;
    if (pattern[i] == '\\' && std::string_view("xpP01234567").find(next) != std::string_view::npos)
      return true;
    if (pattern[i] != '(' || next != '?') continue;
    const size_t end = pattern.find_first_of(":)<", i);
    if (pattern.substr(i, end - i).find('i') != std::string_view::npos) return true;
  }
  return false;
}

std::vector<std::string> PlainPieces(std::string_view atom, bool has_other_forms) {
  std::vector<std::string> pieces;
  std::string piece;
  for (size_t i = 0; i <= atom.size(); ++i) {
    if (i < atom.size() && static_cast<unsigned char>(atom[i]) < 0x80 &&
        !(has_other_forms && HasOtherForms(atom[i]))) {
      piece.push_back(atom[i]);
      continue;
    }
    if (piece.size() >= kAtomBytesMin) pieces.push_back(piece);
    piece.clear();
  }
  return pieces;
}

}  // namespace

std::vector<std::string> PlainPieces(const FoldedText& folded) {
  std::string text;
  for (const char32_t point : folded.code_points())
    text.push_back(point < 0x80 ? static_cast<char>(point) : '\xFF');
  return PlainPieces(text, true);
}

Regex::Regex(std::string_view pattern, const re2::RE2::Options& options)
    : filtered_(static_cast<int>(kAtomBytesMin)) {
  int id = 0;
  if (filtered_.Add(Piece(pattern), options, &id) != re2::RE2::NoError) return;
  std::vector<std::string> atoms;
  filtered_.Compile(&atoms);
  if (atoms.size() > kAtomsMax) return;
  const bool has_other_forms = MayMatchOtherForms(pattern);
  for (const std::string& atom : atoms) atoms_.push_back(PlainPieces(atom, has_other_forms));
  required_ = LongestRequired();
}

// Of an atom without which it cannot match although all others are there.
std::string Regex::LongestRequired() const {
  std::string longest;
  if (atoms_.size() > kAtomsOfRequired) return longest;
  for (size_t atom = 0; atom < atoms_.size(); ++atom) {
    std::vector<int> others;
    for (size_t other = 0; other < atoms_.size(); ++other)
      if (other != atom) others.push_back(static_cast<int>(other));
    if (MayMatch(others)) continue;
    for (const std::string& piece : atoms_[atom])
      if (piece.size() > longest.size()) longest = piece;
  }
  return longest;
}

Result<std::unique_ptr<const Regex>> Regex::Compile(std::string_view pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kRegexMemoryBytesMax);
  std::unique_ptr<const Regex> made(new Regex(pattern, options));
  if (made->filtered_.NumRegexps() != 0) return made;
  const re2::RE2 refused(Piece(pattern), options);  // for its words
  if (refused.error_code() == re2::RE2::ErrorPatternTooLarge) {
    return BeyondLimit(limit::kRegexMemoryBytesMax,
                       fmt::format("regex {} needs too much memory", Quoted(pattern)));
  }
  return InvalidArgument(Detail::kFilter, Printable(refused.error(), 160));
}

bool Regex::MatchesIn(std::string_view text) const {
  return re2::RE2::PartialMatch(Piece(text), filtered_.GetRE2(0));
}

bool Regex::MayMatch(const std::vector<int>& atoms) const {
  std::vector<int> potentials;
  filtered_.AllPotentials(atoms, &potentials);
  return !potentials.empty();
}

Result<RowSet> Regex::RowsWith(CellReader& reader, const CallControl& control) const {
  if (atoms_.empty() || MayMatch({})) return RowSet(reader.rows());
  std::vector<RowSet> rows_of_atoms;
  RowSet with_any = RowSet::Nothing(reader.rows());
  for (const std::vector<std::string>& pieces : atoms_) {
    RowSet rows(reader.rows());
    for (const std::string& piece : pieces) {
      PIGMENT_ASSIGN_OR_RETURN(rows, reader.RowsWith(piece, std::move(rows), control));
    }
    with_any.Unite(rows);
    rows_of_atoms.push_back(std::move(rows));
  }
  RowSet found = RowSet::Nothing(reader.rows());
  std::map<std::vector<int>, bool> answers;
  std::vector<int> atoms, atoms_before;
  bool answer = false;  // of those before
  PacedCheck check(control);
  for (uint32_t row = with_any.Next(0); row < reader.rows(); row = with_any.Next(row + 1)) {
    PIGMENT_RETURN_IF_ERROR(check.Step());
    atoms.clear();
    for (size_t atom = 0; atom < rows_of_atoms.size(); ++atom)
      if (rows_of_atoms[atom].Test(row)) atoms.push_back(static_cast<int>(atom));
    if (atoms != atoms_before) {
      const auto [known, is_new] = answers.try_emplace(atoms, false);
      if (is_new) known->second = MayMatch(atoms);
      answer = known->second;
      atoms_before = atoms;
    }
    if (answer) found.Set(row);
  }
  return found;
}

}  // namespace pigment
