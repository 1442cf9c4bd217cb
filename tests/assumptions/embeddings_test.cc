// SPDX-License-Identifier: Apache-2.0
//
// What one might take for granted of embeddings and is not: that a function keeps the order of its
// texts, gives one vector for each, that norms are not zero or tiny, that dimensions are those of
// well-known models, that one call of a function runs at a time.

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/c_api/abi.h"

namespace {

using abi_test::Outcome;
using abi_test::Sized;

// Borrows `configuration`.
pigment_collection_options Options(std::string_view configuration,
                                   const pigment_embedding_function* function) {
  pigment_collection_options options;
  pigment_collection_options_init(&options);
  options.configuration_json = configuration.data();
  options.configuration_json_size = configuration.size();
  options.embedding_function = function;
  return options;
}

// How a misbehaving function answers.
struct Mood {
  enum Kind { kStraight, kReversed, kDropsFirst, kDropsLast, kDropsAll, kDoubles } kind = kStraight;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
};

// The vector of a text is (its size, its first letter).
pigment_status Embed(void* user_data, int32_t, size_t count, const pigment_text_column* texts,
                     pigment_embedding_sink* sink) {
  Mood& mood = *static_cast<Mood*>(user_data);
  const int now = ++mood.inside;
  for (int seen = mood.most; now > seen && !mood.most.compare_exchange_weak(seen, now);) {
  }
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    const std::string text =
        abi_test::Text(*texts, mood.kind == Mood::kReversed ? count - 1 - i : i);
    values.push_back(static_cast<float>(text.size()));
    values.push_back(text.empty() ? 0.0f : static_cast<float>(text[0]));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  --mood.inside;
  const float* begin = values.data() + (mood.kind == Mood::kDropsFirst ? 2 : 0);
  size_t rows = count;
  if (mood.kind == Mood::kDropsFirst || mood.kind == Mood::kDropsLast) --rows;
  if (mood.kind == Mood::kDropsAll) rows = 0;
  if (mood.kind == Mood::kDoubles) {
    const pigment_status first = pigment_embedding_sink_put(sink, begin, rows, 2);
    if (first != PIGMENT_OK) return first;
  }
  return pigment_embedding_sink_put(sink, begin, rows, 2);
}

pigment_embedding_function FunctionOf(Mood* mood) {
  auto function = Sized<pigment_embedding_function>();
  function.name = "moody";
  function.name_size = 5;
  function.embed = Embed;
  function.user_data = mood;
  return function;
}

Outcome AddTexts(pigment_collection* docs, const abi_test::Texts& ids,
                 const abi_test::Texts& texts) {
  abi_test::Batch batch;
  batch.ids = ids;
  batch.documents = texts;
  return abi_test::Write(pigment_collection_add, docs, batch);
}

// A function that drops or doubles vectors cannot shift the others onto wrong records: the whole
// batch is refused.
TEST(EmbeddingAssumptions, DroppedOrDoubledVectorsRefuseTheWholeBatch) {
  for (const auto kind : {Mood::kDropsFirst, Mood::kDropsLast, Mood::kDropsAll, Mood::kDoubles}) {
    Mood mood;
    mood.kind = kind;
    const pigment_embedding_function function = FunctionOf(&mood);
    const abi_test::Client client = abi_test::OpenMemory();
    const pigment_collection_options options = Options("{}", &function);
    abi_test::Collection docs;
    ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs, &options).ok());
    const Outcome outcome = AddTexts(docs.get(), {"a", "b", "c"}, {"x", "yy", "zzz"});
    EXPECT_EQ(outcome.detail, PIGMENT_DETAIL_EMBEDDING_FUNCTION) << outcome;
    EXPECT_NE(outcome.message.find("moody"), std::string::npos) << outcome;
    uint64_t count = 1;
    ASSERT_TRUE(abi_test::Count(docs.get(), &count).ok());
    EXPECT_EQ(count, 0u);
  }
}

// Order cannot be checked by anybody but the function: what it gives for row i is stored with id i,
// no more is assumed, and one call over a batch equals calls one text at a time exactly when the
// function keeps its order.
TEST(EmbeddingAssumptions, RowsAreTakenInTheOrderOfTheAnswer) {
  for (const auto kind : {Mood::kStraight, Mood::kReversed}) {
    Mood mood;
    mood.kind = kind;
    const pigment_embedding_function function = FunctionOf(&mood);
    const abi_test::Client client = abi_test::OpenMemory();
    const pigment_collection_options options = Options("{}", &function);
    abi_test::Collection docs;
    ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs, &options).ok());
    ASSERT_TRUE(AddTexts(docs.get(), {"a", "b", "c"}, {"x", "yy", "zzz"}).ok());
    ASSERT_TRUE(AddTexts(docs.get(), {"d"}, {"wwww"}).ok());
    auto get = Sized<pigment_get_request>();
    get.include = PIGMENT_INCLUDE_EMBEDDINGS;
    abi_test::ResultHandle result;
    ASSERT_TRUE(abi_test::Get(docs.get(), get, &result).ok());
    const float* values = pigment_result_embeddings(result.get(), nullptr);
    const std::vector<float> sizes{values[0], values[2], values[4], values[6]};
    EXPECT_EQ(sizes, kind == Mood::kStraight ? (std::vector<float>{1, 2, 3, 4})
                                             : (std::vector<float>{3, 2, 1, 4}));
  }
}

TEST(EmbeddingAssumptions, AFunctionMayBeCalledFromSeveralThreadsAtOnce) {
  Mood mood;
  const pigment_embedding_function function = FunctionOf(&mood);
  const abi_test::Client client = abi_test::OpenMemory();
  const pigment_collection_options options = Options("{}", &function);
  abi_test::Collection docs;
  ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs, &options).ok());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 20; ++i) {
        const std::string id = std::to_string(thread) + "." + std::to_string(i);
        ASSERT_TRUE(AddTexts(docs.get(), abi_test::Texts{id}, abi_test::Texts{id}).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(mood.most, 1);
  uint64_t count = 0;
  ASSERT_TRUE(abi_test::Count(docs.get(), &count).ok());
  EXPECT_EQ(count, 80u);
}

// Zero and tiny norms, and large ones: a vector is as near to itself as the space allows, and
// nothing is NaN.
TEST(EmbeddingAssumptions, NormsMayBeZeroTinyOrHuge) {
  const std::vector<float> scales{0.0f, 1e-45f, 1e-38f, 1e-20f, 1.0f, 1e18f};
  for (const std::string space : {"l2", "cosine", "ip"}) {
    const abi_test::Client client = abi_test::OpenMemory();
    const std::string configuration = "{\"hnsw\":{\"space\":\"" + space + "\"}}";
    const pigment_collection_options options = Options(configuration, nullptr);
    abi_test::Collection docs;
    ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs, &options).ok());
    abi_test::Batch batch;
    batch.dimension = 3;
    for (size_t i = 0; i < scales.size(); ++i) {
      batch.ids.Add(std::to_string(i));
      for (const float component : {1.0f, -2.0f, 3.0f})
        batch.values.push_back(component * scales[i]);
    }
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs.get(), batch).ok());
    for (const bool flushed : {false, true}) {
      if (flushed) {
        ASSERT_TRUE(abi_test::Try(pigment_collection_flush, docs.get()).ok());
      }
      for (size_t i = 0; i < scales.size(); ++i) {
        SCOPED_TRACE(space + ", scale " + std::to_string(scales[i]));
        const std::vector<float> query(batch.values.begin() + static_cast<ptrdiff_t>(3 * i),
                                       batch.values.begin() + static_cast<ptrdiff_t>(3 * i + 3));
        abi_test::ResultHandle result;
        ASSERT_TRUE(abi_test::Query(docs.get(), abi_test::QueryFor(query, 3, 10), &result).ok());
        const std::vector<std::string> ids = abi_test::Ids(result.get());
        ASSERT_EQ(ids.size(), scales.size());
        const float* distances = pigment_result_distances(result.get());
        for (size_t row = 0; row < ids.size(); ++row) {
          EXPECT_FALSE(std::isnan(distances[row]));
          if (ids[row] != std::to_string(i)) continue;
          if (space == "l2") {
            EXPECT_EQ(distances[row], 0.0f);
          }
          if (space == "cosine") {
            EXPECT_NEAR(distances[row], scales[i] == 0.0f ? 1.0f : 0.0f, 1e-6f);
          }
        }
      }
    }
  }
}

// One dimension, primes, one more and less than powers of two, the largest: in the tail and in a
// segment.
TEST(EmbeddingAssumptions, EveryDimensionWorks) {
  for (const size_t dimension :
       {1u, 2u, 3u, 7u, 8u, 13u, 31u, 63u, 65u, 127u, 383u, 1009u, 2039u, 4096u, 16000u, 65535u}) {
    SCOPED_TRACE("dimension " + std::to_string(dimension));
    const abi_test::Client client = abi_test::OpenMemory();
    abi_test::Collection docs;
    ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs).ok());
    abi_test::Batch batch;
    batch.dimension = dimension;
    for (int row = 0; row < 3; ++row) {
      batch.ids.Add(std::to_string(row));
      for (size_t d = 0; d < dimension; ++d)
        batch.values.push_back(static_cast<float>((row + 1) * (d % 5 + 1)));
    }
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs.get(), batch).ok());
    const std::vector<float> query(batch.values.begin() + static_cast<ptrdiff_t>(dimension),
                                   batch.values.begin() + static_cast<ptrdiff_t>(2 * dimension));
    std::vector<float> before;
    for (const bool flushed : {false, true}) {
      if (flushed) {
        ASSERT_TRUE(abi_test::Try(pigment_collection_flush, docs.get()).ok());
      }
      abi_test::ResultHandle result;
      pigment_query_request request = abi_test::QueryFor(query, dimension, 3);
      request.include = PIGMENT_INCLUDE_DISTANCES | PIGMENT_INCLUDE_EMBEDDINGS;
      ASSERT_TRUE(abi_test::Query(docs.get(), request, &result).ok());
      EXPECT_EQ(abi_test::Ids(result.get()), (std::vector<std::string>{"1", "0", "2"}));
      const float* distances = pigment_result_distances(result.get());
      EXPECT_EQ(distances[0], 0.0f);
      if (flushed) {
        EXPECT_EQ(std::vector<float>(distances, distances + 3), before);
      }
      before.assign(distances, distances + 3);
      size_t stored = 0;
      const float* values = pigment_result_embeddings(result.get(), &stored);
      ASSERT_EQ(stored, dimension);
      EXPECT_EQ(std::vector<float>(values, values + dimension), query);
    }
  }
}

}  // namespace
