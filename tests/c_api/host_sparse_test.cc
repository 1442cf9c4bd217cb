// SPDX-License-Identifier: Apache-2.0
//
// Sparse vectors ranked by bounds of their distances, against distances computed for every row as a
// host computes them, in floats: segments, pending pages and their cache, deleted rows, conditions,
// NULLs, vectors of other dimensions and of wild numbers, interrupted anywhere.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "tests/c_api/host_fixture.h"

namespace host_test {
namespace {

constexpr uint32_t kFilteredBy = 0;
constexpr uint32_t kSparseColumn = 1;
constexpr int32_t kSparseMetrics[] = {PIGMENT_METRIC_L2, PIGMENT_METRIC_COSINE_NAN,
                                      PIGMENT_METRIC_NEGATIVE_IP, PIGMENT_METRIC_L1};
constexpr float kSparseInfinity = std::numeric_limits<float>::infinity();

struct Sparse {
  uint32_t dimension = 100;
  std::map<int32_t, float> values;

  pigment_sparse_vector Borrow(std::vector<int32_t>& places, std::vector<float>& numbers) const {
    places.clear();
    numbers.clear();
    for (const auto& [place, value] : values) {
      places.push_back(place);
      numbers.push_back(value);
    }
    return {dimension, static_cast<uint32_t>(values.size()), places.data(), numbers.data()};
  }
};

// As the operators of PostgreSQL's sparsevec compute it: sums of floats in the order of the places.
double DistanceOf(const Sparse& a, const Sparse& b, int32_t metric) {
  float product = 0, difference = 0, squares = 0, norm_a = 0, norm_b = 0;
  std::map<int32_t, std::pair<float, float>> both;
  for (const auto& [place, value] : a.values) both[place].first = value;
  for (const auto& [place, value] : b.values) both[place].second = value;
  for (const auto& [place, pair] : both) {
    const auto [x, y] = pair;
    if (x != 0 && y != 0) product += x * y;
    difference += std::fabs(x - y);
    squares += (x - y) * (x - y);
    norm_a += x * x;
    norm_b += y * y;
  }
  switch (metric) {
    case PIGMENT_METRIC_L2:
      return std::sqrt(double{squares});
    case PIGMENT_METRIC_L1:
      return difference;
    case PIGMENT_METRIC_NEGATIVE_IP:
      return -double{product};
    default:
      return 1 - std::clamp(product / std::sqrt(double{norm_a} * norm_b), -1.0, 1.0);
  }
}

// How much the terms of a distance are, by their size.
double SizeOf(const Sparse& a, const Sparse& b, int32_t metric) {
  double product = 0, absolute = 0, squares = 0;
  for (const auto& [place, value] : a.values) {
    const auto other = b.values.find(place);
    if (other != b.values.end()) product += std::fabs(double{value} * other->second);
  }
  for (const Sparse* one : {&a, &b}) {
    for (const auto& [place, value] : one->values) {
      absolute += std::fabs(value);
      squares += double{value} * value;
    }
  }
  return metric == PIGMENT_METRIC_NEGATIVE_IP ? product
         : metric == PIGMENT_METRIC_L1        ? absolute
         : metric == PIGMENT_METRIC_L2        ? squares
                                              : 1;
}

// What values are like.
// kBrim: the greatest of a level, so that bounds are as near as rounding lets them be.
enum class Kind { kPositive, kSigned, kEqual, kWild, kBrim };
constexpr uint64_t kKinds = 5;

float RandomValue(std::mt19937_64& random, Kind kind) {
  const float size = std::exp(std::normal_distribution<float>(0, 1)(random));
  switch (kind) {
    case Kind::kPositive:
      return size;
    case Kind::kSigned:
      return random() % 2 ? size : -size;
    case Kind::kEqual:
      return 1;
    case Kind::kBrim:
      return std::bit_cast<float>(std::bit_cast<uint32_t>(size) | 0x3FFFF);
    case Kind::kWild:
      return std::ldexp(random() % 2 ? size : -size, static_cast<int>(random() % 240) - 120);
  }
  return 0;
}

Sparse RandomSparse(std::mt19937_64& random, Kind kind) {
  Sparse vector;
  if (random() % 40 == 0) vector.dimension = 101;
  for (size_t i = random() % 20 ? random() % 12 : random() % 80; i > 0; --i) {
    const float value = RandomValue(random, kind);
    // Few places are frequent.
    const auto place = static_cast<int32_t>(random() % (random() % 2 ? 5 : 100));
    if (std::isfinite(value) && value != 0) vector.values[place] = value;
  }
  return vector;
}

std::vector<std::string> ElementsOf(const Sparse& vector, int32_t metric) {
  Error error;
  pigment_buffer* buffer = nullptr;
  std::vector<int32_t> places;
  std::vector<float> values;
  const pigment_sparse_vector borrowed = vector.Borrow(places, values);
  EXPECT_EQ(pigment_host_sparse_elements(metric, &borrowed, &buffer, error.out()), PIGMENT_OK)
      << error.message();
  return TakeElements(buffer);
}

// What a row has: its vector, or NULL, and a group by which it is chosen.
struct Record {
  std::optional<Sparse> vector;
  std::string group;
};

std::string Encode(const Record& record, int32_t metric) {
  std::vector<pigment_host_key> keys;
  keys.push_back({kFilteredBy, PIGMENT_KEY_VALUE, record.group.data(), record.group.size()});
  std::vector<std::string> elements;
  if (record.vector) {
    elements = ElementsOf(*record.vector, metric);
    EXPECT_TRUE(std::is_sorted(elements.begin(), elements.end()));
    keys.push_back({kSparseColumn, PIGMENT_KEY_VALUE, "", 0});
    for (const std::string& element : elements)
      keys.push_back({kSparseColumn, PIGMENT_KEY_ELEMENT, element.data(), element.size()});
  }
  std::string bytes(pigment_host_keys_bytes(keys.data(), keys.size()), '\0');
  pigment_host_keys_encode(keys.data(), keys.size(), bytes.data());
  return bytes;
}

struct SparseIndex {
  explicit SparseIndex(int32_t of) : index(0), metric(of) {
    index.has_keys = true;
    index.sparse_column = kSparseColumn;
  }

  std::vector<Row> RandomRows(std::mt19937_64& random, Kind kind, size_t count) {
    std::vector<Row> rows(count);
    for (Row& row : rows) {
      Record record;
      if (random() % 8 != 0) record.vector = RandomSparse(random, kind);
      record.group = std::string(1, static_cast<char>('0' + random() % 10));
      row.pointer = records.size();
      row.is_dead = random() % 6 == 0;
      row.keys = Encode(record, metric);
      records.push_back(record);
    }
    return rows;
  }

  Index index;
  const int32_t metric;
  std::vector<Record> records;
};

// Sees that these are the live rows of the group, in an order that their distances allow; adds to
// `close` those whose bound is near.
void CheckHits(const SparseIndex& of, const Sparse& query, const std::optional<std::string>& group,
               const std::vector<Expected>& got, size_t* close) {
  std::set<uint64_t> expected;
  for (const Row& row : of.index.all)
    if (!row.is_dead && (!group || of.records[row.pointer].group == *group))
      expected.insert(row.pointer);
  ASSERT_EQ(got.size(), expected.size());
  // Roots of two squares may be one.
  ASSERT_TRUE(std::is_sorted(got.begin(), got.end(), [](const Expected& a, const Expected& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  }));
  for (const auto& [kind, bound, pointer] : got) {
    ASSERT_EQ(expected.erase(pointer), 1u) << pointer;
    const std::optional<Sparse>& vector = of.records[pointer].vector;
    ASSERT_EQ(kind == 2, !vector) << pointer;
    if (!vector) continue;
    if (vector->dimension != query.dimension) {
      const bool has_none = of.metric == PIGMENT_METRIC_COSINE_NAN && query.values.empty() &&
                            of.index.nan == PIGMENT_NAN_LAST;
      ASSERT_TRUE(has_none ? kind == 1 : kind == 0 && bound == -kSparseInfinity) << pointer;
      continue;
    }
    const double distance = DistanceOf(query, *vector, of.metric);
    if (std::isnan(distance)) {
      ASSERT_TRUE((kind == 1 && of.index.nan == PIGMENT_NAN_LAST) ||
                  (kind == 0 && bound == -kSparseInfinity))
          << pointer;
      continue;
    }
    ASSERT_EQ(kind, 0) << pointer;
    ASSERT_LE(bound, distance) << pointer;
    // A value is off by a 32nd at the most.
    const double size = SizeOf(query, *vector, of.metric);
    const double square = of.metric == PIGMENT_METRIC_L2 ? distance * distance : distance;
    const double bound_square = of.metric == PIGMENT_METRIC_L2 ? double{bound} * bound : bound;
    *close += square - bound_square <= size * (1.0 / 32 + 1.0 / 128);
  }
}

TEST(HostSparse, RanksAllRowsByBoundsOfTheirDistances) {
  size_t given = 0, close = 0, wild = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    SparseIndex vectors(kSparseMetrics[seed % 4]);
    Index& index = vectors.index;
    const auto kind = static_cast<Kind>(seed / 4 % kKinds);
    // Little memory makes groups of few rows.
    if (random() % 3 == 0) index.build_budget_bytes = uint64_t{3} << 20;
    for (size_t i = random() % 4; i > 0; --i)
      index.AddSegment(vectors.RandomRows(random, kind, random() % 2000));
    for (const Row& row : vectors.RandomRows(random, kind, random() % 200)) index.AddPending(row);
    const uint64_t bytes_max = random() % 2 ? uint64_t{1} << 20 : 4000;
    if (random() % 2) index.cache = NewCache(index, 0, bytes_max);
    for (int i = 0; i < 8; ++i) {
      const Sparse query = RandomSparse(random, i < 6 ? kind : Kind::kPositive);
      std::optional<std::string> group;
      if (random() % 2) group = std::string(1, static_cast<char>('0' + random() % 10));
      pigment_host_bytes key{};
      if (group) {
        key = {group->data(), group->size()};
        index.conditions = {{kFilteredBy, PIGMENT_CONDITION_ANY_OF, &key, 1, false, false}};
      }
      std::vector<int32_t> places;
      std::vector<float> values;
      const pigment_sparse_vector borrowed = query.Borrow(places, values);
      index.sparse = &borrowed;
      index.nan = i % 3 == 1 ? PIGMENT_NAN_FIRST : PIGMENT_NAN_LAST;
      pigment_host_search* search = index.NewSearch(vectors.metric, nullptr, random() % 20);
      places.assign(places.size(), -1);  // it was copied
      const auto got = Drain(
          search, random,
          {.pages = random() % 2 != 0 ? &index.pages : nullptr, .pins_first = 60, .pins_more = 10});
      size_t near = 0;
      CheckHits(vectors, query, group, got, &near);
      (kind == Kind::kWild ? wild : given) += got.size();
      if (kind != Kind::kWild) close += near;
      const pigment_host_search_counters counters = CountersOf(search);
      EXPECT_EQ(counters.segment_rows + counters.pending_rows, got.size());
      EXPECT_LE(index.pages.pinned_max, 8);
      EXPECT_EQ(index.pages.pinned, 0);
      pigment_host_search_free(search);
      index.conditions.clear();
    }
    pigment_pending_cache_free(std::exchange(index.cache, nullptr));
  }
  EXPECT_GT(given, 40000u);
  EXPECT_GT(wild, 10000u);
  EXPECT_GT(close, given * 3 / 4) << "the rest is NULL, of another dimension, or no number";
}

TEST(HostSparse, TheNearestRowsComeFirst) {
  std::mt19937_64 random(1);
  for (const int32_t metric : kSparseMetrics) {
    SparseIndex vectors(metric);
    std::vector<Row> rows = vectors.RandomRows(random, Kind::kPositive, 3000);
    vectors.index.AddSegment(rows);
    size_t looked_at = 0;
    for (int i = 0; i < 20; ++i) {
      Sparse query = RandomSparse(random, Kind::kPositive);
      query.dimension = 100;
      query.values[3] = 2;
      std::vector<double> distances;
      for (const Row& row : vectors.index.all) {
        const std::optional<Sparse>& vector = vectors.records[row.pointer].vector;
        if (!row.is_dead && vector && vector->dimension == 100 && !vector->values.empty())
          distances.push_back(DistanceOf(query, *vector, metric));
      }
      std::nth_element(distances.begin(), distances.begin() + 9, distances.end());
      std::vector<int32_t> places;
      std::vector<float> values;
      const pigment_sparse_vector borrowed = query.Borrow(places, values);
      vectors.index.sparse = &borrowed;
      pigment_host_search* search = vectors.index.NewSearch(metric, nullptr);
      const auto got = Drain(search, random);
      looked_at += static_cast<size_t>(std::count_if(got.begin(), got.end(), [&](const auto& hit) {
        return std::get<0>(hit) == 0 && std::get<1>(hit) <= distances[9];
      }));
      pigment_host_search_free(search);
    }
    // Beside ten rows, those of another dimension, one of forty, and what is nearly as near.
    EXPECT_LT(looked_at, 20u * 220) << "metric " << metric;
  }
}

// Ten rows are far ahead by one place, and another place, which all rows of their segment have, is
// not worth reading: these rows have their order all the same, also among those of a segment where
// it is read.
TEST(HostSparse, RowsOfPlacesThatAreNotReadKeepTheirOrder) {
  for (const size_t batch : {size_t{3}, size_t{12}, size_t{40}}) {
    std::mt19937_64 random(batch);
    SparseIndex vectors(PIGMENT_METRIC_NEGATIVE_IP);
    const auto add = [&](size_t count, const std::map<int32_t, float>& values,
                         std::vector<Row>& rows) {
      for (size_t i = 0; i < count; ++i) {
        vectors.records.push_back({Sparse{.dimension = 100, .values = values}, "0"});
        Row row;
        row.pointer = vectors.records.size() - 1;
        row.keys = Encode(vectors.records.back(), vectors.metric);
        rows.push_back(row);
      }
    };
    std::vector<Row> few, many;
    add(20, {{1, 0.1f}}, few);
    add(10, {{1, 10.0f}, {2, 0.5f}}, many);
    add(1000, {{2, 0.5f}}, many);
    add(5, {{3, 1.0f}}, many);
    vectors.index.AddSegment(few);
    vectors.index.AddSegment(many);
    const Sparse query{.dimension = 100, .values = {{1, 1.0f}, {2, 1.0f}}};
    std::vector<int32_t> places;
    std::vector<float> values;
    const pigment_sparse_vector borrowed = query.Borrow(places, values);
    vectors.index.sparse = &borrowed;
    pigment_host_search* search = vectors.index.NewSearch(vectors.metric, nullptr, batch);
    const auto got = Drain(search, random);
    size_t close = 0;
    CheckHits(vectors, query, std::nullopt, got, &close);
    // What is not read is added to all.
    const auto far = std::count_if(got.begin(), got.end(), [](const Expected& hit) {
      return std::get<1>(hit) < -0.5f && std::get<1>(hit) > -9;
    });
    EXPECT_EQ(far, 1005);
    pigment_host_search_free(search);
  }
}

// A float's sum of thousands is off by more than any one of its terms was rounded.
TEST(HostSparse, BoundsHoldForLongSumsOfFloats) {
  std::mt19937_64 random(3);
  for (const int32_t metric : kSparseMetrics) {
    for (int i = 0; i < 5; ++i) {
      const float one = RandomValue(random, Kind::kBrim), other = RandomValue(random, Kind::kBrim);
      SparseIndex vectors(metric);
      Sparse vector{.dimension = 16000, .values = {}}, query = vector;
      for (int32_t place = 0; place < 16000; ++place) {
        vector.values[place] = one;
        query.values[place] = place % 3 == 0 ? other : one;
      }
      vectors.records.push_back({vector, "0"});
      Row row;
      row.keys = Encode(vectors.records[0], metric);
      vectors.index.AddSegment({row});
      std::vector<int32_t> places;
      std::vector<float> values;
      const pigment_sparse_vector borrowed = query.Borrow(places, values);
      vectors.index.sparse = &borrowed;
      pigment_host_search* search = vectors.index.NewSearch(metric, nullptr);
      size_t close = 0;
      CheckHits(vectors, query, std::nullopt, Drain(search, random), &close);
      EXPECT_EQ(close, 1u);
      pigment_host_search_free(search);
    }
  }
}

TEST(HostSparse, ElementsAreAsTheyAreDescribed) {
  const Sparse vector{.dimension = 1'000'000'000, .values = {{0, 3.0f}, {999'999'999, -4.0f}}};
  const auto of_l2 = ElementsOf(vector, PIGMENT_METRIC_L2);
  ASSERT_EQ(of_l2.size(), 4u) << "two values, a dimension and a mass";
  EXPECT_EQ(of_l2[0], std::string("\0\0\0\0\x10\x10", 6));
  EXPECT_EQ(of_l2[1], std::string("\x3B\x9A\xC9\xFF\x90\x20", 6)) << "by its sign";
  EXPECT_EQ(of_l2[2], std::string("\xFE\x3B\x9A\xCA\x00", 5));
  EXPECT_EQ(of_l2[3].substr(0, 1), "\xFF");
  EXPECT_EQ(ElementsOf(vector, PIGMENT_METRIC_NEGATIVE_IP).size(), 3u) << "no mass";
  EXPECT_EQ(ElementsOf(vector, PIGMENT_METRIC_COSINE_NAN)[0], std::string("\0\0\0\0\x0F\xC6", 6))
      << "0.6";
  EXPECT_EQ(ElementsOf({.dimension = 5, .values = {}}, PIGMENT_METRIC_COSINE_NAN).size(), 1u);
  const auto of_wild =
      ElementsOf({.dimension = 5, .values = {{1, 1e-30f}}}, PIGMENT_METRIC_NEGATIVE_IP);
  EXPECT_EQ(of_wild.back(), "\xFF\xFF\xFF");
}

TEST(HostSparse, RowsWithoutTheMemoryForTheirPlacesComeFirst) {
  std::mt19937_64 random(6);
  SparseIndex vectors(PIGMENT_METRIC_L2);
  vectors.index.build_budget_bytes = uint64_t{1} << 20;
  std::vector<Row> rows = vectors.RandomRows(random, Kind::kPositive, 100);
  for (Row& row : rows) {
    row.is_dead = false;
    Record& record = vectors.records[row.pointer];
    record.group.assign(40000, static_cast<char>('a' + row.pointer));
    row.keys = Encode(record, vectors.metric);
  }
  vectors.index.AddSegment(rows);
  const Sparse query = RandomSparse(random, Kind::kPositive);
  std::vector<int32_t> places;
  std::vector<float> values;
  const pigment_sparse_vector borrowed = query.Borrow(places, values);
  vectors.index.sparse = &borrowed;
  pigment_host_search* search = vectors.index.NewSearch(vectors.metric, nullptr);
  const auto got = Drain(search, random);
  EXPECT_EQ(got.size(), 100u);
  EXPECT_GT(std::count_if(got.begin(), got.end(),
                          [](const Expected& hit) { return std::get<1>(hit) == -kSparseInfinity; }),
            50);
  pigment_host_search_free(search);
}

TEST(HostSparse, DamageIsNeverBelieved) {
  std::mt19937_64 random(7);
  SparseIndex vectors(PIGMENT_METRIC_L2);
  vectors.index.AddSegment(vectors.RandomRows(random, Kind::kSigned, 150));
  Sparse query = RandomSparse(random, Kind::kSigned);
  query.values[2] = 1;
  std::vector<int32_t> places;
  std::vector<float> values;
  const pigment_sparse_vector borrowed = query.Borrow(places, values);
  vectors.index.sparse = &borrowed;
  ExpectDamageIsNeverBelieved(vectors.index, [&](Error& error) {
    pigment_host_search* search = vectors.index.NewSearch(vectors.metric, nullptr);
    pigment_host_hit hits[200];
    size_t count = 0;
    const pigment_status status = pigment_host_search_next(search, hits, 200, &count, error.out());
    pigment_host_search_free(search);
    return status;
  });
}

TEST(HostSparse, KeysOfOtherThingsAreRefused) {
  for (const bool is_pending : {false, true}) {
    for (const std::string& element : {std::string("abc"), std::string("\0\0\0\1x", 5),
                                       std::string("\xFE"), std::string("\xFF")}) {
      SparseIndex vectors(PIGMENT_METRIC_L2);
      const pigment_host_key keys[] = {
          {kSparseColumn, PIGMENT_KEY_VALUE, "", 0},
          {kSparseColumn, PIGMENT_KEY_ELEMENT, element.data(), element.size()}};
      Row row;
      row.keys.resize(pigment_host_keys_bytes(keys, 2));
      pigment_host_keys_encode(keys, 2, row.keys.data());
      if (is_pending) {
        vectors.index.AddPending(row);
      } else {
        vectors.index.AddSegment({row});
      }
      const int32_t place = 1;
      const float value = 1;
      const pigment_sparse_vector query{5, 1, &place, &value};
      vectors.index.sparse = &query;
      pigment_host_search* search = vectors.index.NewSearch(PIGMENT_METRIC_L2, nullptr);
      Error error;
      pigment_host_hit hit{};
      size_t count = 0;
      const pigment_status status = pigment_host_search_next(search, &hit, 1, &count, error.out());
      // In a segment only the lists of the query's places are looked at.
      EXPECT_TRUE(status == PIGMENT_DATA_LOSS || (!is_pending && element == "abc")) << element;
      pigment_host_search_free(search);
    }
  }
}

TEST(HostSparse, WhatIsAskedWronglyIsRefusedByName) {
  Error error;
  pigment_buffer* buffer = nullptr;
  const auto refused = [&](int32_t metric, const pigment_sparse_vector* vector) {
    EXPECT_EQ(pigment_host_sparse_elements(metric, vector, &buffer, error.out()),
              PIGMENT_INVALID_ARGUMENT);
    EXPECT_EQ(buffer, nullptr);
    return error.message();
  };
  const int32_t places[] = {1, 3, 2};
  const float values[] = {1, 2, 3};
  const pigment_sparse_vector descending{5, 3, places, values}, beyond{3, 2, places, values},
      sound{5, 2, places, values}, none{0, 0, nullptr, nullptr}, absent{5, 2, places, nullptr};
  EXPECT_EQ(refused(PIGMENT_METRIC_L2, nullptr), "argument vector is NULL");
  EXPECT_EQ(refused(PIGMENT_METRIC_HAMMING, &sound),
            "metric 7 has no sparse vectors, expected 1, 6, 4 or 5");
  EXPECT_EQ(refused(PIGMENT_METRIC_L2, &descending),
            "vector has place 2 behind 3, expected ascending ones from 0 to 4");
  EXPECT_EQ(refused(PIGMENT_METRIC_L2, &beyond),
            "vector has place 3 behind 1, expected ascending ones from 0 to 2");
  EXPECT_EQ(refused(PIGMENT_METRIC_L2, &none), "vector has 0 dimensions, expected 1 to 1000000000");
  EXPECT_EQ(refused(PIGMENT_METRIC_L2, &absent),
            "argument vector.values is NULL and its count is 2");
  for (const float value : {0.0f, NAN, INFINITY}) {
    const pigment_sparse_vector of_value{5, 1, places, &value};
    EXPECT_NE(refused(PIGMENT_METRIC_L1, &of_value).find("at place 1, expected a finite one"),
              std::string::npos);
  }
  std::vector<int32_t> many(16385);
  std::iota(many.begin(), many.end(), 0);
  const std::vector<float> ones(many.size(), 1);
  const pigment_sparse_vector large{100000, 16385, many.data(), ones.data()};
  EXPECT_EQ(refused(PIGMENT_METRIC_L2, &large),
            "vector has 16385 values that are not 0, expected 16384 at the most");

  pigment_host_search_options options{};
  options.struct_size = sizeof options;
  options.metric = PIGMENT_METRIC_L2;
  options.sparse = &descending;
  pigment_host_search* search = nullptr;
  EXPECT_EQ(pigment_host_search_new(&options, &search, error.out()), PIGMENT_INVALID_ARGUMENT);
  EXPECT_NE(error.message().find("options.sparse has place 2"), std::string::npos);
  options.sparse = &sound;
  options.sparse_column = 65536;
  EXPECT_EQ(pigment_host_search_new(&options, &search, error.out()), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(error.message(), "options.sparse_column 65536, expected 0 to 65535");
  options.sparse_column = 0;
  options.dimension = 1;
  options.query = values;
  EXPECT_EQ(pigment_host_search_new(&options, &search, error.out()), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(error.message(), "options.sparse and options.query, expected one of them");
  options.query = nullptr;
  options.nan = PIGMENT_NAN_LEFT_OUT;
  EXPECT_EQ(pigment_host_search_new(&options, &search, error.out()), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(error.message(), "options.nan leaves rows out, and options.sparse none");
  options.nan = PIGMENT_NAN_LAST;
  HOST_OK(pigment_host_search_new(&options, &search, error.out()));
  uint64_t rows = 0, within = 0;
  EXPECT_EQ(pigment_host_search_sample_within(search, 1, &rows, &within, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(error.message(), "argument search ranks sparse vectors");
  pigment_host_search_free(search);
}

}  // namespace
}  // namespace host_test
