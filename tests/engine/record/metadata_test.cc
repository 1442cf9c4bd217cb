// SPDX-License-Identifier: Apache-2.0
//
// Tests of engine/record/metadata.h: rules, round trips, merge, and decoding of damaged bytes.

#include "engine/record/metadata.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "engine/base/bytes.h"
#include "engine/record/short_metadata.h"

namespace pigment {
namespace {

Result<Metadata> Parse(std::string_view json, MetadataUse use = MetadataUse::kNewRecord) {
  bool present = false;
  return ParseMetadataJson(json, use, &present);
}

TEST(Metadata, ValuesKeepTheirTypes) {
  const Result<Metadata> parsed = Parse(
      R"({"s":"x","i":2,"f":2.0,"b":true,"ss":["a","b"],"is":[1,2],"fs":[1.5],"bs":[true,false],"e":""})");
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  const Metadata expected{{"s", std::string("x")},
                          {"i", int64_t{2}},
                          {"f", 2.0},
                          {"b", true},
                          {"ss", std::vector<std::string>{"a", "b"}},
                          {"is", std::vector<int64_t>{1, 2}},
                          {"fs", std::vector<double>{1.5}},
                          {"bs", std::vector<bool>{true, false}},
                          {"e", std::string()}};
  EXPECT_EQ(*parsed, expected);
}

TEST(Metadata, NullMeansNoMetadata) {
  bool present = true;
  const Result<Metadata> parsed = ParseMetadataJson(" null ", MetadataUse::kNewRecord, &present);
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(present);
  ASSERT_TRUE(ParseMetadataJson(R"({"a":1})", MetadataUse::kNewRecord, &present).ok());
  EXPECT_TRUE(present);
}

TEST(Metadata, WhatAHostStoredMayBeEmpty) {
  bool present = false;
  const Result<Metadata> parsed = ParseMetadataJson("{}", MetadataUse::kStored, &present);
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(present);
  EXPECT_TRUE(parsed->empty());
  EXPECT_FALSE(Parse(R"({"a":null})", MetadataUse::kStored).ok());
}

struct Refusal {
  const char* json;
  MetadataUse use;
  const char* message;
};

TEST(Metadata, RefusalsNameKeyAndValue) {
  constexpr auto kNew = MetadataUse::kNewRecord;
  constexpr auto kMerge = MetadataUse::kMergeRecord;
  constexpr auto kCollection = MetadataUse::kCollection;
  for (const Refusal& r : {
           Refusal{"{}", kNew, "metadata must not be empty, got {}"},
           {"{}", kMerge, "metadata must not be empty, got {}"},
           {"{}", kCollection, "metadata must not be empty, got {}"},
           {"[1]", kNew, "metadata must be an object, got a list of 1"},
           {"\"x\"", kNew, "metadata must be an object, got \"x\""},
           {R"({"":1})", kNew, "metadata keys must not be empty, got \"\""},
           {R"({"#a":1})", kNew, "metadata key \"#a\": a key must not start with # or $"},
           {R"({"$a":1})", kCollection, "metadata key \"$a\": a key must not start with # or $"},
           {R"({"chroma:document":"x"})", kNew,
            "metadata key \"chroma:document\": this key is reserved"},
           {R"({"chroma:uri":"x"})", kMerge, "metadata key \"chroma:uri\": this key is reserved"},
           {R"({"a":null})", kNew, "metadata key \"a\": null is no value here"},
           {R"({"a":null})", kCollection, "metadata key \"a\": null is no value here"},
           {R"({"a":[1]})", MetadataUse::kCollectionChange,
            "metadata key \"a\": the metadata of a collection takes no list, got a list of 1"},
           {R"({"a":[1]})", kCollection,
            "metadata key \"a\": the metadata of a collection takes no list, got a list of 1"},
           {R"({"a":[]})", kNew, "metadata key \"a\": a list must not be empty, got []"},
           {R"({"a":{}})", kNew,
            "metadata key \"a\": expected a string, integer, float, bool or a list of these, got "
            "{}"},
           {R"({"a":{"b":1}})", kMerge,
            "metadata key \"a\": expected a string, integer, float, bool or a list of these, "
            "got an object with the key \"b\""},
           {R"({"n":9223372036854775808})", kNew,
            "metadata key \"n\": integer 9223372036854775808 does not fit 64 bits"},
           {R"({"n":[1,-9223372036854775809]})", kNew,
            "metadata key \"n\": integer -9223372036854775809 does not fit 64 bits"},
           {R"({"n":[99999999999999999999]})", kNew,
            "metadata key \"n\": integer 99999999999999999999 does not fit 64 bits"},
           {R"({"m":[1,2.5]})", kNew,
            "metadata key \"m\": all values of a list must be of one type, got float 2.5 after "
            "integer 1"},
           {R"({"m":[1.5,2]})", kNew,
            "metadata key \"m\": all values of a list must be of one type, got integer 2 after "
            "float 1.5"},
           {R"({"m":["a",true]})", kNew,
            "metadata key \"m\": all values of a list must be of one type, got bool true after "
            "string \"a\""},
           {R"({"m":[null]})", kMerge,
            "metadata key \"m\": a list takes strings, integers, floats or bools, got null"},
           {R"({"m":[[1]]})", kNew,
            "metadata key \"m\": a list takes strings, integers, floats or bools, got a list of 1"},
           {R"({"m":["a",{}]})", kNew,
            "metadata key \"m\": a list takes strings, integers, floats or bools, got {}"},
           {R"({"a":1,"a":2})", kNew, "metadata has the key \"a\" twice in one object"},
           {R"({"a":NaN})", kNew, "metadata: \"a\": is not valid JSON"},
           {R"({"a":1e999})", kNew, "metadata: \"a\": has a number beyond double: 1e999"},
       }) {
    const Result<Metadata> parsed = Parse(r.json, r.use);
    ASSERT_FALSE(parsed.ok()) << r.json;
    EXPECT_EQ(parsed.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(parsed.status().detail(), Detail::kMetadata);
    EXPECT_EQ(parsed.status().message().substr(0, std::string_view(r.message).size()), r.message)
        << r.json;
  }
}

TEST(Metadata, NullDeletesAKeyInAMerge) {
  Result<Metadata> base = Parse(R"({"keep":1,"drop":2,"change":3})");
  Result<Metadata> update =
      Parse(R"({"drop":null,"absent":null,"change":["x"],"new":4.0})", MetadataUse::kMergeRecord);
  ASSERT_TRUE(base.ok() && update.ok());
  MergeMetadata(*base, *update);
  EXPECT_EQ(MetadataToJson(*base), R"({"change":["x"],"keep":1,"new":4.0})");
}

TEST(Metadata, PrintingEscapesAndSorts) {
  const Result<Metadata> parsed =
      Parse(R"({"z":"ü\"\\\u0000\n/","a":[1.0,1e100],"k\"":[true],"i":-5})");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(MetadataToJson(*parsed),
            R"({"a":[1.0,1e+100],"i":-5,"k\"":[true],"z":"ü\"\\\u0000\n/"})");
}

// ---- Random metadata ---------------------------------------------------------------------------

using Random = std::mt19937_64;

std::string RandomText(Random& random) {
  static const char* const kPieces[] = {"a", "Z", "\"",  "\\", "\n", "ü", "你", "\xf0\x9f\x98\x80",
                                        " ", "/", "\x7f"};
  std::string text;
  for (uint64_t n = random() % 8; n > 0; --n) {
    const uint64_t piece = random() % (std::size(kPieces) + 1);
    if (piece == std::size(kPieces)) {
      text += '\0';
    } else {
      text += kPieces[piece];
    }
  }
  return text;
}

double RandomDouble(Random& random) {
  const uint64_t bits = random();
  double value;
  memcpy(&value, &bits, sizeof(value));
  return std::isfinite(value) ? value : 0.25;
}

template <typename T, typename Make>
std::vector<T> RandomList(Random& random, Make make) {
  std::vector<T> values;
  for (uint64_t n = 1 + random() % 4; n > 0; --n) values.push_back(make());
  return values;
}

MetadataValue RandomValue(Random& random) {
  switch (random() % 8) {
    case 0:
      return RandomText(random);
    case 1:
      return static_cast<int64_t>(random());
    case 2:
      return RandomDouble(random);
    case 3:
      return random() % 2 == 0;
    case 4:
      return RandomList<std::string>(random, [&] { return RandomText(random); });
    case 5:
      return RandomList<int64_t>(random, [&] { return static_cast<int64_t>(random()); });
    case 6:
      return RandomList<double>(random, [&] { return RandomDouble(random); });
    default:
      return RandomList<bool>(random, [&] { return random() % 2 == 0; });
  }
}

Metadata RandomMetadata(Random& random) {
  Metadata metadata;
  for (uint64_t n = 1 + random() % 6; n > 0; --n)
    metadata["k" + RandomText(random)] = RandomValue(random);
  return metadata;
}

TEST(Metadata, RandomMetadataSurvivesJsonAndTheStoredForm) {
  constexpr uint64_t kSeed = 7;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int i = 0; i < 20000; ++i) {
    const Metadata metadata = RandomMetadata(random);
    const std::string json = MetadataToJson(metadata);
    const Result<Metadata> from_json = Parse(json);
    ASSERT_TRUE(from_json.ok()) << json << ": " << from_json.status().ToString();
    ASSERT_EQ(*from_json, metadata) << json;
    std::string encoded;
    EncodeMetadata(metadata, encoded);
    const Result<Metadata> decoded = DecodeMetadata(AsBytes(encoded));
    ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
    ASSERT_EQ(*decoded, metadata);
    std::string printed = "before ";
    const Status status = StoredMetadataToJson(AsBytes(encoded), printed);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_EQ(printed, "before " + json);
  }
}

TEST(Metadata, ErasedSurvivesTheStoredForm) {
  const Metadata metadata{{"a", Erased{}}, {"b", int64_t{1}}};
  std::string encoded;
  EncodeMetadata(metadata, encoded);
  const Result<Metadata> decoded = DecodeMetadata(AsBytes(encoded));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, metadata);
}

TEST(Metadata, TheStoredFormIsTheDocumentedOne) {
  std::string encoded;
  EncodeMetadata({{"b", true}, {"i", int64_t{258}}, {"s", std::vector<std::string>{"xy"}}},
                 encoded);
  const std::string expected(
      "\3\0\0\0"
      "\1\0\0\0b\4\1"
      "\1\0\0\0i\2\2\1\0\0\0\0\0\0"
      "\1\0\0\0s\5\1\0\0\0\2\0\0\0xy",
      4 + 7 + 14 + 16);
  EXPECT_EQ(encoded, expected);
}

TEST(Metadata, EveryShorteningIsTruncation) {
  Random random(3);
  std::string encoded;
  EncodeMetadata(RandomMetadata(random), encoded);
  for (size_t size = 0; size < encoded.size(); ++size) {
    const Result<Metadata> decoded = DecodeMetadata(AsBytes(encoded).first(size));
    ASSERT_FALSE(decoded.ok()) << size;
    EXPECT_EQ(decoded.status().code(), Code::kDataLoss);
    EXPECT_EQ(decoded.status().detail(), Detail::kTruncated) << decoded.status().ToString();
  }
}

TEST(Metadata, DamageIsReportedByKind) {
  const auto detail = [](std::string bytes) {
    const Result<Metadata> decoded = DecodeMetadata(AsBytes(bytes));
    return decoded.ok() ? Detail::kNone : decoded.status().detail();
  };
  const auto entry = [](std::string_view key, std::string_view rest) {
    return std::string(1, static_cast<char>(key.size())) + std::string(3, '\0') + std::string(key) +
           std::string(rest);
  };
  const std::string one("\1\0\0\0", 4), two("\2\0\0\0", 4), none("\0\0\0\0", 4);
  EXPECT_EQ(detail(none), Detail::kNone);
  EXPECT_EQ(detail(none + "x"), Detail::kMiscounted) << "left over";
  EXPECT_EQ(detail(one + entry("a", "\x09")), Detail::kMiscounted) << "no such type";
  EXPECT_EQ(detail(one + entry("a", "\x04\x02")), Detail::kMiscounted) << "no such bool";
  EXPECT_EQ(detail(one + entry("a", std::string_view("\x08\0\0\0\0", 5))), Detail::kMiscounted)
      << "empty array";
  EXPECT_EQ(detail(one + entry("a", std::string_view("\3\0\0\0\0\0\0\xf0\x7f", 9))),
            Detail::kMiscounted)
      << "infinity";
  EXPECT_EQ(detail(two + entry("b", "\x04\x01") + entry("a", "\x04\x01")), Detail::kMiscounted)
      << "order";
  EXPECT_EQ(detail(two + entry("a", "\x04\x01") + entry("a", "\x04\x01")), Detail::kMiscounted)
      << "twice";
  EXPECT_EQ(detail(one + entry("a", "\x06\xff\xff\xff\xff")), Detail::kTruncated)
      << "an array of 2^32 - 1";
  EXPECT_EQ(detail(std::string("\xff\xff\xff\xff", 4) + entry("a", "\x04\x01")),
            Detail::kTruncated);
}

TEST(Metadata, RandomDamageNeverGivesWhatCannotBeEncoded) {
  constexpr uint64_t kSeed = 11;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int i = 0; i < 50000; ++i) {
    std::string encoded;
    EncodeMetadata(RandomMetadata(random), encoded);
    encoded[random() % encoded.size()] ^= static_cast<char>(1 << random() % 8);
    const Result<Metadata> decoded = DecodeMetadata(AsBytes(encoded));
    std::string printed;
    const Status status = StoredMetadataToJson(AsBytes(encoded), printed);
    ASSERT_EQ(status.ok(), decoded.ok()) << status.ToString();
    if (!decoded.ok()) {
      ASSERT_EQ(decoded.status().code(), Code::kDataLoss);
      ASSERT_EQ(status.detail(), decoded.status().detail());
      continue;
    }
    ASSERT_EQ(printed, MetadataToJson(*decoded));
    std::string again;
    EncodeMetadata(*decoded, again);
    ASSERT_EQ(again, encoded);
  }
}

TEST(ShortMetadata, EveryMetadataComesBack) {
  constexpr uint64_t kSeed = 12;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int i = 0; i < 5000; ++i) {
    Metadata metadata = RandomMetadata(random);
    std::erase_if(metadata, [](const auto& entry) {
      return std::holds_alternative<Erased>(entry.second);  // is in no record
    });
    std::string stored, shortened, again;
    EncodeMetadata(metadata, stored);
    ASSERT_TRUE(ShortenMetadata(AsBytes(stored), shortened));
    ASSERT_TRUE(LengthenMetadata(AsBytes(shortened), again));
    ASSERT_EQ(again, stored);
    for (size_t size = 0; size < shortened.size(); ++size) {
      again.clear();
      ASSERT_FALSE(LengthenMetadata(AsBytes(shortened).first(size), again)) << size;
    }
  }
}

TEST(ShortMetadata, TheFormIsTheDocumentedOne) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  std::string stored, shortened, again;
  EncodeMetadata({{"b", true},
                  {"i", int64_t{-3}},
                  {"is", std::vector<int64_t>{kLeast, 300}},
                  {"s", std::string("xy")}},
                 stored);
  const std::string expected(
      "\4"
      "\1b\4\1"
      "\1i\2\5"
      "\2is\6\2\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\xd8\4"
      "\1s\1\2xy");
  ASSERT_TRUE(ShortenMetadata(AsBytes(stored), shortened));
  EXPECT_EQ(shortened, expected);
  ASSERT_TRUE(LengthenMetadata(AsBytes(shortened), again));
  EXPECT_EQ(again, stored);
}

// Whatever it is: no way back is longer than what the bytes bear out, and what both ways take comes
// back.
TEST(ShortMetadata, DamageIsRefusedOrIsMetadataOfItsOwn) {
  constexpr uint64_t kSeed = 13;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string stored, shortened;
    EncodeMetadata(RandomMetadata(random), stored);
    if (!ShortenMetadata(AsBytes(stored), shortened)) continue;
    shortened[random() % shortened.size()] ^= static_cast<char>(1 << random() % 8);
    std::string lengthened;
    if (!LengthenMetadata(AsBytes(shortened), lengthened)) ++refused;
    ASSERT_LE(lengthened.size(), shortened.size() * 8);
    std::string again, back;
    if (!ShortenMetadata(AsBytes(lengthened), again)) continue;
    ASSERT_TRUE(LengthenMetadata(AsBytes(again), back));
    ASSERT_EQ(back, lengthened);
  }
  EXPECT_GT(refused, 1000);
  std::string out;
  EXPECT_FALSE(LengthenMetadata(AsBytes(std::string("\1\1a\0", 4)), out)) << "no value";
  EXPECT_FALSE(LengthenMetadata(AsBytes(std::string("\1\1a\11", 4)), out)) << "no such type";
  EXPECT_FALSE(LengthenMetadata(AsBytes(std::string("\1\1a\4\1x")), out)) << "left over";
  EXPECT_FALSE(LengthenMetadata(AsBytes(std::string("\xff\xff\xff\xff\x7f")), out)) << "2^35";
}

}  // namespace
}  // namespace pigment
