// SPDX-License-Identifier: Apache-2.0
//
// The filter model. Numbers are compared as long double, which holds every int64 and every double
// exactly; regexes and letters of any case by RE2 as it is, text by text.

#include "tests/support/filter_model.h"

#include <re2/re2.h>

#include <algorithm>
#include <cfloat>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace pigment {
namespace {

using nlohmann::json;

static_assert(LDBL_MANT_DIG >= 64, "the model needs a type that holds int64 and double exactly");

bool IsNumber(const json& value) { return value.is_number(); }

long double AsNumber(const json& value) {
  if (value.is_number_float()) return value.get<double>();
  return value.get<int64_t>();
}

bool Equal(const json& value, const json& operand) {
  if (IsNumber(value) && IsNumber(operand)) return AsNumber(value) == AsNumber(operand);
  if (value.is_string() && operand.is_string())
    return value.get<std::string>() == operand.get<std::string>();
  if (value.is_boolean() && operand.is_boolean()) return value.get<bool>() == operand.get<bool>();
  return false;
}

bool SameTypeAndEqual(const json& value, const json& operand) {
  return value.is_number_float() == operand.is_number_float() && Equal(value, operand);
}

bool Any(const json& list, const json& value) {
  for (const json& operand : list) {
    if (Equal(value, operand)) return true;
  }
  return false;
}

bool Contains(const json& value, const json& operand) {
  if (!value.is_array()) return false;
  for (const json& element : value) {
    if (SameTypeAndEqual(element, operand)) return true;
  }
  return false;
}

bool HasSubstring(const std::string& text, const std::string& piece) {
  for (size_t at = 0; at + piece.size() <= text.size(); ++at) {
    if (text.compare(at, piece.size(), piece) == 0) return true;
  }
  return false;
}

// Unanchored. The patterns asked for last are kept compiled.
bool HasMatch(const std::string& text, const std::string& pattern) {
  static thread_local std::unordered_map<std::string, std::unique_ptr<re2::RE2>> compiled;
  if (compiled.size() > 200) compiled.clear();
  std::unique_ptr<re2::RE2>& regex = compiled[pattern];
  if (!regex) regex = std::make_unique<re2::RE2>(pattern, re2::RE2::Quiet);
  if (!regex->ok())
    throw std::logic_error("the model cannot compile " + pattern + ": " + regex->error());
  return re2::RE2::PartialMatch(text, *regex);
}

// Letters of any case, as RE2 knows them.
std::string AnyCase(const std::string& text) { return "(?i)" + re2::RE2::QuoteMeta(text); }

bool StartsWith(const std::string& text, const std::string& prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool Between(const json& value, const json& low, const json& high) {
  if (IsNumber(value) && IsNumber(low))
    return AsNumber(low) <= AsNumber(value) && AsNumber(value) <= AsNumber(high);
  if (!value.is_string() || !low.is_string()) return false;
  const auto bytes = [](const json& text) {
    const std::string& string = text.get_ref<const std::string&>();
    return std::vector<unsigned char>(string.begin(), string.end());
  };
  return bytes(low) <= bytes(value) && bytes(value) <= bytes(high);
}

// `value` null: the key is missing.
bool FieldMatches(const json* value, const std::string& op, const json& operand) {
  if (op == "$ne") return !FieldMatches(value, "$eq", operand);
  if (op == "$nin") return !FieldMatches(value, "$in", operand);
  if (op == "$not_contains") return !FieldMatches(value, "$contains", operand);
  if (op == "$exists") return (value != nullptr) == operand.get<bool>();
  if (value == nullptr) return false;
  if (op == "$between") return Between(*value, operand[0], operand[1]);
  if (op == "$prefix" || op == "$ieq" || op == "$iprefix") {
    if (!value->is_string()) return false;
    const std::string text = value->get<std::string>(), wanted = operand.get<std::string>();
    if (op == "$prefix") return StartsWith(text, wanted);
    return HasMatch(text, "\\A" + AnyCase(wanted) + (op == "$ieq" ? "\\z" : ""));
  }
  if (op == "$eq") return Equal(*value, operand);
  if (op == "$in") return Any(operand, *value);
  if (op == "$contains") return Contains(*value, operand);
  if (!IsNumber(*value)) return false;
  if (op == "$gt") return AsNumber(*value) > AsNumber(operand);
  if (op == "$gte") return AsNumber(*value) >= AsNumber(operand);
  if (op == "$lt") return AsNumber(*value) < AsNumber(operand);
  if (op == "$lte") return AsNumber(*value) <= AsNumber(operand);
  throw std::logic_error("the model has no operator " + op);
}

bool DocumentMatches(const std::optional<std::string>& document, const std::string& op,
                     const json& operand) {
  if (op == "$not_contains") return !DocumentMatches(document, "$contains", operand);
  if (op == "$not_regex") return !DocumentMatches(document, "$regex", operand);
  if (op == "$exists") return document.has_value() == operand.get<bool>();
  if (!document) return false;
  if (op == "$icontains") return HasMatch(*document, AnyCase(operand.get<std::string>()));
  if (op == "$contains") return HasSubstring(*document, operand.get<std::string>());
  if (op == "$regex") return HasMatch(*document, operand.get<std::string>());
  throw std::logic_error("the model has no document operator " + op);
}

template <typename Child>
bool GroupMatches(const std::string& op, const json& children, Child child_matches) {
  for (const json& child : children) {
    if (child_matches(child) != (op == "$and")) return op == "$or";
  }
  return op == "$and";
}

bool WhereMatches(const json& where, const ModelRecord& record) {
  const std::string key = where.begin().key();
  const json& rest = where.begin().value();
  if (key == "$and" || key == "$or") {
    return GroupMatches(key, rest, [&](const json& child) { return WhereMatches(child, record); });
  }
  if (key == "$not") return !WhereMatches(rest, record);
  const std::string op = rest.is_object() ? rest.begin().key() : "$eq";
  const json& operand = rest.is_object() ? rest.begin().value() : rest;
  if (key == "#document") return DocumentMatches(record.document, op, operand);
  json value;
  if (key == "#id") {
    value = record.id;
  } else if (key == "chroma:uri") {
    if (record.uri) value = *record.uri;
  } else {
    value = ModelField(record.metadata, key);
  }
  return FieldMatches(value.is_null() ? nullptr : &value, op, operand);
}

bool WhereDocumentMatches(const json& where, const ModelRecord& record) {
  const std::string key = where.begin().key();
  const json& rest = where.begin().value();
  if (key == "$and" || key == "$or") {
    return GroupMatches(key, rest,
                        [&](const json& child) { return WhereDocumentMatches(child, record); });
  }
  if (key == "$not") return !WhereDocumentMatches(rest, record);
  return DocumentMatches(record.document, key, rest);
}

// ---- Random values -----------------------------------------------------------------------------

using Random = std::mt19937_64;

template <typename T>
const T& Pick(Random& random, const std::vector<T>& from) {
  return from[random() % from.size()];
}

json RandomInteger(Random& random) {
  static const std::vector<int64_t> kValues = {0,
                                               1,
                                               2,
                                               3,
                                               -1,
                                               -3,
                                               INT64_MAX,
                                               INT64_MAX - 1,
                                               INT64_MIN,
                                               INT64_MIN + 1,
                                               int64_t{1} << 53,
                                               (int64_t{1} << 53) + 1,
                                               -(int64_t{1} << 53) - 1};
  return Pick(random, kValues);
}

json RandomDouble(Random& random) {
  static const std::vector<double> kValues = {0.0,
                                              -0.0,
                                              1.0,
                                              2.0,
                                              2.5,
                                              -0.5,
                                              3.0000000000000004,
                                              0x1p53,
                                              0x1p53 + 2,
                                              0x1p63,
                                              -0x1p63,
                                              -0x1.0000000000001p63,
                                              1e300,
                                              -1e300,
                                              5e-324};
  return Pick(random, kValues);
}

json RandomString(Random& random) {
  static const std::vector<std::string> kValues = {
      "",  "a", "b",  "A",       "ab", "1",  "ü",  std::string("a\0b", 3), "true", "Ü", "üß", "Üẞ",
      "k", "K", "ſk", "\u212aς", "kΣ", "aB", "Abü"};
  return Pick(random, kValues);
}

json RandomScalar(Random& random, int type) {
  switch (type) {
    case 0:
      return RandomInteger(random);
    case 1:
      return RandomDouble(random);
    case 2:
      return RandomString(random);
    default:
      return random() % 2 == 0;
  }
}

json RandomList(Random& random, int type) {
  json list = json::array();
  for (uint64_t n = 1 + random() % 4; n > 0; --n) list.push_back(RandomScalar(random, type));
  return list;
}

std::string RandomKey(Random& random) {
  static const std::vector<std::string> kKeys = {"k", "l", "m"};
  return Pick(random, kKeys);
}

std::string RandomKeyOfWhere(Random& random, ModelShape shape) {
  if (shape == ModelShape::kFlat) return RandomKey(random);
  const std::vector<std::string> steps = RandomModelSteps(random);
  return steps.size() == 1 && random() % 2 == 0 ? steps[0] : ModelPath(steps);
}

// The steps of a path as a key of `where` has it.
std::vector<std::string> StepsOf(const std::string& key) {
  if (key.substr(0, 2) != "$/") return {key};
  std::vector<std::string> steps;
  for (size_t i = 1; i < key.size(); ++i) {
    if (key[i] == '/') {
      steps.emplace_back();
    } else if (key[i] == '~') {
      steps.back() += key[++i] == '0' ? '~' : '/';
    } else {
      steps.back() += key[i];
    }
  }
  return steps;
}

json WithoutEmptyObjects(const json& value) {
  if (!value.is_object()) return value;
  json kept = json::object();
  for (const auto& [key, member] : value.items()) {
    json inner = WithoutEmptyObjects(member);
    if (!inner.is_object() || !inner.empty()) kept[key] = std::move(inner);
  }
  return kept;
}

std::string RandomDocument(Random& random) {
  static const std::vector<std::string> kPieces = {"a", "b", "c", "ab", "B", "\n", "ü", "你",
                                                   "%", "_", ".", "Ü",  "σ", "Σ",  "k", "\u212a"};
  std::string text;
  for (uint64_t n = random() % 10; n > 0; --n) {
    if (random() % 8 == 0) {
      text += '\0';
    } else {
      text += Pick(random, kPieces);
    }
  }
  return text;
}

std::string RandomId(Random& random) {
  static const std::vector<std::string> kIds = {"a", "b", "id1", "1",  "ü",
                                                "Ü", "A", "ab",  "r1", "R2"};
  return Pick(random, kIds);
}

json RandomDocumentClause(Random& random) {
  static const std::vector<std::string> kRegexes = {"a+b",  "ab|ba", "[a-c][a-c]", "b(a|c)?b", "%_",
                                                    "aa*c", "[^a]b", "\\.",        "c"};
  if (random() % 8 == 0) return {{"$exists", random() % 2 == 0}};
  if (random() % 2 == 0)
    return {{random() % 2 == 0 ? "$regex" : "$not_regex", Pick(random, kRegexes)}};
  std::string piece = RandomDocument(random).substr(0, 2);
  // Half a character is no JSON.
  if (piece.empty() || static_cast<uint8_t>(piece.back()) >= 0x80) piece = "ü";
  if (random() % 3 == 0) return {{"$icontains", piece}};
  return {{random() % 2 == 0 ? "$contains" : "$not_contains", piece}};
}

json RandomField(Random& random) {
  static const std::vector<std::string> kNumberOps = {"$gt", "$gte", "$lt", "$lte"};
  static const std::vector<std::string> kTextOps = {"$prefix", "$ieq", "$iprefix"};
  const int type = static_cast<int>(random() % 4);
  switch (random() % 10) {
    case 6:
      return {{"$exists", random() % 2 == 0}};
    case 7: {
      const int one = type == 3 ? 0 : type;
      const int other = one == 2 ? 2 : static_cast<int>(random() % 2);
      return {{"$between", json::array({RandomScalar(random, one), RandomScalar(random, other)})}};
    }
    case 8:
    case 9:
      return {{Pick(random, kTextOps), RandomString(random)}};
    case 0:
      return {{random() % 2 == 0 ? "$in" : "$nin", RandomList(random, type)}};
    case 1:
      return {{random() % 2 == 0 ? "$contains" : "$not_contains", RandomScalar(random, type)}};
    case 2:
    case 3:
      return {{Pick(random, kNumberOps), RandomScalar(random, type % 2)}};
    case 4:
      return RandomScalar(random, type);
    default:
      return {{random() % 2 == 0 ? "$eq" : "$ne", RandomScalar(random, type)}};
  }
}

json RandomIdField(Random& random) {
  static const std::vector<std::string> kTextOps = {"$prefix", "$ieq", "$iprefix"};
  if (random() % 4 == 0) return {{Pick(random, kTextOps), RandomId(random)}};
  if (random() % 6 == 0) return {{"$between", json::array({RandomId(random), RandomId(random)})}};
  if (random() % 2 == 0) return {{random() % 2 == 0 ? "$eq" : "$ne", RandomId(random)}};
  return {{random() % 2 == 0 ? "$in" : "$nin", json::array({RandomId(random), RandomId(random)})}};
}

template <typename Leaf>
json RandomTree(Random& random, int depth_max, Leaf leaf) {
  if (depth_max == 0 || random() % 2 == 0) return leaf();
  if (random() % 4 == 0) return {{"$not", RandomTree(random, depth_max - 1, leaf)}};
  json children = json::array();
  for (uint64_t n = 1 + random() % 3; n > 0; --n)
    children.push_back(RandomTree(random, depth_max - 1, leaf));
  return {{random() % 2 == 0 ? "$and" : "$or", children}};
}

}  // namespace

bool ModelMatches(const json& where, const json& where_document, const ModelRecord& record) {
  return (where.is_null() || WhereMatches(where, record)) &&
         (where_document.is_null() || WhereDocumentMatches(where_document, record));
}

json ModelField(const json& metadata, const std::string& key) {
  json value = metadata;
  for (const std::string& step : StepsOf(key)) {
    if (!value.is_object() || !value.contains(step)) return {};
    value = json(value[step]);
  }
  return value;
}

json ModelMerge(json metadata, const json& change) {
  metadata.merge_patch(change);
  metadata = WithoutEmptyObjects(metadata);
  return metadata.empty() ? json() : metadata;
}

std::vector<std::string> RandomModelSteps(Random& random) {
  static const std::vector<std::string> kSteps = {"a",  "b", "a/b", "~1", "", std::string(1, '\0'),
                                                  "\1", "0", "$eq", "a!", "ü"};
  std::vector<std::string> steps = {RandomKey(random)};
  for (uint64_t n = random() % 4; n > 0 && n < 3; --n)
    steps.push_back(kSteps[random() % (random() % 3 == 0 ? kSteps.size() : 2)]);
  return steps;
}

std::string ModelPath(const std::vector<std::string>& steps) {
  std::string path = "$";
  for (const std::string& step : steps) {
    path += '/';
    for (const char byte : step)
      path += byte == '~' ? "~0" : byte == '/' ? "~1" : std::string(1, byte);
  }
  return path;
}

void ModelSet(json& metadata, const std::vector<std::string>& steps, const json& value) {
  json* at = &metadata;
  for (const std::string& step : steps) {
    if (!at->is_object()) *at = json::object();
    at = &(*at)[step];
  }
  *at = value;
}

ModelRecord RandomModelRecord(Random& random, ModelShape shape) {
  ModelRecord record;
  record.id = RandomId(random);
  for (uint64_t n = random() % 5; n > 0; --n) {
    const int type = static_cast<int>(random() % 4);
    json value = random() % 3 == 0 ? RandomList(random, type) : RandomScalar(random, type);
    if (shape == ModelShape::kFlat) {
      record.metadata[RandomKey(random)] = std::move(value);
    } else {
      ModelSet(record.metadata, RandomModelSteps(random), value);
    }
  }
  if (random() % 4 != 0) {
    record.document = RandomDocument(random);
    if (random() % 8 == 0) *record.document += "\xff\xc3";  // not UTF-8
  }
  if (random() % 2 == 0) record.uri = RandomString(random);
  return record;
}

json RandomModelWhere(Random& random, int depth_max, ModelShape shape) {
  return RandomTree(random, depth_max, [&random, shape]() -> json {
    switch (random() % 8) {
      case 0:
        return {{"#document", RandomDocumentClause(random)}};
      case 1:
        return {{"#id", RandomIdField(random)}};
      case 2:
        return {{"chroma:uri", RandomField(random)}};
      default:
        return {{RandomKeyOfWhere(random, shape), RandomField(random)}};
    }
  });
}

json RandomModelWhereDocument(Random& random, int depth_max) {
  return RandomTree(random, depth_max, [&random] { return RandomDocumentClause(random); });
}

}  // namespace pigment
