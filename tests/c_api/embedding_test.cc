// SPDX-License-Identifier: Apache-2.0
//
// Embedding functions at the edge of the interface: what the callback is given, what it may do
// wrong, when its user data is released.

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/c_api/abi.h"

namespace {

using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;

struct Probe {
  std::function<pigment_status(int32_t purpose, size_t count, const pigment_text_column& texts,
                               pigment_embedding_sink* sink)>
      embed;
  std::atomic<int> calls{0};
  std::atomic<int> released{0};

  pigment_embedding_function function(const char* name) {
    auto function = Sized<pigment_embedding_function>();
    function.name = name;  // a literal
    function.name_size = std::strlen(name);
    function.user_data = this;
    function.embed = [](void* user_data, int32_t purpose, size_t count,
                        const pigment_text_column* texts,
                        pigment_embedding_sink* sink) -> pigment_status {
      auto* probe = static_cast<Probe*>(user_data);
      ++probe->calls;
      return probe->embed(purpose, count, *texts, sink);
    };
    function.release = [](void* user_data) { ++static_cast<Probe*>(user_data)->released; };
    return function;
  }
};

// Two numbers per text: its size, and the purpose.
pigment_status SizeAndPurpose(int32_t purpose, size_t count, const pigment_text_column& texts,
                              pigment_embedding_sink* sink) {
  std::vector<float> values;
  for (size_t row = 0; row < count; ++row) {
    values.push_back(static_cast<float>(abi_test::Text(texts, row).size()));
    values.push_back(static_cast<float>(purpose));
  }
  return pigment_embedding_sink_put(sink, values.data(), count, 2);
}

class Embedding : public ::testing::Test {
 protected:
  void SetUp() override {
    client_ = abi_test::OpenMemory();
    ASSERT_NE(client_, nullptr);
    probe_.embed = SizeAndPurpose;
  }
  Outcome CreateDocs(const pigment_embedding_function& function) {
    pigment_collection_options options;
    pigment_collection_options_init(&options);
    options.embedding_function = &function;
    return abi_test::Create(client_.get(), "docs", &docs_, &options);
  }
  Outcome Add(const abi_test::Texts& ids, const abi_test::Texts& documents) {
    abi_test::Batch batch;
    batch.ids = ids;
    batch.documents = documents;
    return abi_test::Write(pigment_collection_add, docs_.get(), batch);
  }
  abi_test::Client client_;
  abi_test::Collection docs_;
  Probe probe_;
};

TEST_F(Embedding, TheCallbackGetsTextsAndPurposeOncePerCall) {
  ASSERT_TRUE(CreateDocs(probe_.function("probe")).ok());
  ASSERT_TRUE(Add({"a", "b"}, {"xyz", std::string_view("\xff\0", 2)}).ok());
  EXPECT_EQ(probe_.calls, 1);
  const abi_test::Texts texts{"four"};
  pigment_query_request request;
  pigment_query_request_init(&request);
  request.texts_count = 1;
  request.texts = texts.column();
  request.include = PIGMENT_INCLUDE_EMBEDDINGS | PIGMENT_INCLUDE_DISTANCES;
  abi_test::ResultHandle result;
  ASSERT_TRUE(abi_test::Query(docs_.get(), request, &result).ok());
  EXPECT_EQ(probe_.calls, 2);
  EXPECT_EQ(abi_test::Ids(result.get()), (std::vector<std::string>{"a", "b"}));
  const float* distances = pigment_result_distances(result.get());
  EXPECT_EQ(distances[0], 2.0f);  // (4, 1) to (3, 0)
  EXPECT_EQ(distances[1], 5.0f);  // (4, 1) to (2, 0)
}

// The callback stands for another thread: it runs when the call is surely under way.
TEST_F(Embedding, ATokenMayBeFreedWhileACallUsesIt) {
  ASSERT_TRUE(CreateDocs(probe_.function("probe")).ok());
  ASSERT_TRUE(Add({"a"}, {"xyz"}).ok());
  pigment_cancel* cancel = nullptr;
  ASSERT_TRUE(Try(pigment_cancel_new, &cancel).ok());
  auto options = Sized<pigment_call_options>();
  options.cancel = cancel;
  probe_.embed = [&](int32_t purpose, size_t count, const pigment_text_column& texts,
                     pigment_embedding_sink* sink) {
    pigment_cancel_set(cancel);
    pigment_cancel_free(cancel);
    return SizeAndPurpose(purpose, count, texts, sink);
  };
  const abi_test::Texts texts{"four"};
  pigment_query_request request;
  pigment_query_request_init(&request);
  request.texts_count = 1;
  request.texts = texts.column();
  abi_test::ResultHandle result;
  const Outcome outcome = abi_test::Query(docs_.get(), request, &result, &options);
  EXPECT_EQ(outcome.status, PIGMENT_CANCELLED) << outcome;
}

TEST_F(Embedding, SlicesAreJoinedInOrder) {
  probe_.embed = [](int32_t, size_t count, const pigment_text_column&,
                    pigment_embedding_sink* sink) -> pigment_status {
    for (size_t row = 0; row < count; ++row) {
      const float value = static_cast<float>(row);
      if (pigment_embedding_sink_put(sink, &value, 1, 1) != PIGMENT_OK) return PIGMENT_INTERNAL;
    }
    return pigment_embedding_sink_put(sink, nullptr, 0, 0);  // nothing more
  };
  ASSERT_TRUE(CreateDocs(probe_.function("slices")).ok());
  ASSERT_TRUE(Add({"a", "b", "c"}, {"", "", ""}).ok());
  auto get = Sized<pigment_get_request>();
  get.include = PIGMENT_INCLUDE_EMBEDDINGS;
  abi_test::ResultHandle result;
  ASSERT_TRUE(abi_test::Get(docs_.get(), get, &result).ok());
  const float* values = pigment_result_embeddings(result.get(), nullptr);
  EXPECT_EQ(std::vector<float>(values, values + 3), (std::vector<float>{0, 1, 2}));
}

TEST_F(Embedding, EveryWrongAnswerIsRefusedWholeAndNamesTheFunction) {
  struct Case {
    const char* what;
    int64_t row;
    decltype(Probe::embed) embed;
  };
  const float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<Case> cases = {
      {"nothing", 0,
       [](int32_t, size_t, const pigment_text_column&, pigment_embedding_sink*) {
         return PIGMENT_OK;
       }},
      {"null", 0,
       [](int32_t, size_t count, const pigment_text_column&, pigment_embedding_sink* sink) {
         return pigment_embedding_sink_put(sink, nullptr, count, 2);
       }},
      {"no dimension", 0,
       [&](int32_t, size_t count, const pigment_text_column&, pigment_embedding_sink* sink) {
         return pigment_embedding_sink_put(sink, values, count, 0);
       }},
      {"huge dimension", 0,
       [&](int32_t, size_t count, const pigment_text_column&, pigment_embedding_sink* sink) {
         return pigment_embedding_sink_put(sink, values, count, SIZE_MAX / 2);
       }},
      {"huge count", 2,
       [&](int32_t, size_t, const pigment_text_column&, pigment_embedding_sink* sink) {
         return pigment_embedding_sink_put(sink, values, SIZE_MAX / 2, 2);
       }},
      {"two dimensions", 1,
       [&](int32_t, size_t, const pigment_text_column&, pigment_embedding_sink* sink) {
         return pigment_embedding_sink_put(sink, values, 1, 2) |
                pigment_embedding_sink_put(sink, values, 1, 3);
       }},
      {"a mistake that is hidden", 0,
       [&](int32_t, size_t count, const pigment_text_column&, pigment_embedding_sink* sink) {
         static_cast<void>(pigment_embedding_sink_put(sink, nullptr, 1, 2) +
                           pigment_embedding_sink_put(sink, values, count, 2));
         return PIGMENT_OK;
       }},
  };
  ASSERT_TRUE(CreateDocs(probe_.function("probe")).ok());
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    probe_.embed = one.embed;
    const Outcome outcome = Add({"a", "b"}, {"x", "y"});
    EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT) << outcome;
    EXPECT_EQ(outcome.detail, PIGMENT_DETAIL_EMBEDDING_FUNCTION) << outcome;
    EXPECT_EQ(outcome.row, one.row) << outcome;
    EXPECT_NE(outcome.message.find("\"probe\""), std::string::npos) << outcome;
  }
  uint64_t count = 1;
  ASSERT_TRUE(abi_test::Count(docs_.get(), &count).ok());
  EXPECT_EQ(count, 0u);
}

TEST_F(Embedding, AFailureHasTheStatusOfTheFunctionAndItsWords) {
  ASSERT_TRUE(CreateDocs(probe_.function("probe")).ok());
  for (pigment_status status = -1; status <= 20; ++status) {
    if (status == PIGMENT_OK) continue;
    probe_.embed = [status](int32_t, size_t, const pigment_text_column&,
                            pigment_embedding_sink* sink) {
      const std::string why("out of \xff tea\0", 13);
      pigment_embedding_sink_fail(sink, why.data(), why.size());
      return status;
    };
    const Outcome outcome = Add({"a"}, {"x"});
    EXPECT_EQ(outcome.status, pigment_status_name(status) != nullptr ? status : PIGMENT_UNKNOWN)
        << status;
    EXPECT_EQ(outcome.detail, PIGMENT_DETAIL_EMBEDDING_FUNCTION);
    EXPECT_NE(outcome.message.find("out of \\xff tea\\x00"), std::string::npos) << outcome;
  }
  probe_.embed = [](int32_t, size_t, const pigment_text_column&, pigment_embedding_sink* sink) {
    pigment_embedding_sink_fail(sink, nullptr, 5);
    return PIGMENT_OK;  // said that it failed
  };
  EXPECT_EQ(Add({"a"}, {"x"}).status, PIGMENT_UNKNOWN);
}

TEST_F(Embedding, AnExceptionOfACallbackDoesNotLeaveTheCall) {
  ASSERT_TRUE(CreateDocs(probe_.function("probe")).ok());
  probe_.embed = [](int32_t, size_t, const pigment_text_column&,
                    pigment_embedding_sink*) -> pigment_status {
    throw std::runtime_error("a stray exception");
  };
  const Outcome outcome = Add({"a"}, {"x"});
  EXPECT_EQ(outcome.status, PIGMENT_INTERNAL);
  EXPECT_NE(outcome.message.find("a stray exception"), std::string::npos) << outcome;
  probe_.embed = [](int32_t, size_t, const pigment_text_column&,
                    pigment_embedding_sink*) -> pigment_status { throw 7; };
  EXPECT_EQ(Add({"a"}, {"x"}).status, PIGMENT_INTERNAL);
  probe_.embed = [](int32_t, size_t, const pigment_text_column&,
                    pigment_embedding_sink*) -> pigment_status { throw std::bad_alloc(); };
  EXPECT_EQ(Add({"a"}, {"x"}).detail, PIGMENT_DETAIL_MEMORY);
  probe_.embed = SizeAndPurpose;
  EXPECT_TRUE(Add({"a"}, {"x"}).ok());
}

TEST_F(Embedding, UserDataIsReleasedOnceForEachSuccessfulCallThatGotIt) {
  const pigment_embedding_function function = probe_.function("probe");
  ASSERT_TRUE(CreateDocs(function).ok());
  pigment_collection* raw = nullptr;
  ASSERT_TRUE(Try(pigment_collection_fork, docs_.get(), "fork", size_t{4}, &raw).ok());
  abi_test::Collection fork(raw);
  docs_.reset();
  EXPECT_EQ(probe_.released, 0);  // the fork uses it
  fork.reset();
  EXPECT_EQ(probe_.released, 1);
  EXPECT_EQ(CreateDocs(function).status, PIGMENT_ALREADY_EXISTS);
  EXPECT_EQ(probe_.released, 1);  // a failed call leaves it with the caller
  const pigment_embedding_function other = probe_.function("other");
  raw = nullptr;
  EXPECT_EQ(Try(pigment_client_get_collection, client_.get(),
                static_cast<const pigment_scope*>(nullptr), "docs", size_t{4}, &other, &raw)
                .detail,
            PIGMENT_DETAIL_EMBEDDING_FUNCTION);
  EXPECT_EQ(raw, nullptr);
  EXPECT_EQ(probe_.released, 1);
  ASSERT_TRUE(Try(pigment_client_get_collection, client_.get(),
                  static_cast<const pigment_scope*>(nullptr), "docs", size_t{4}, &function, &raw)
                  .ok());
  pigment_collection_free(raw);
  EXPECT_EQ(probe_.released, 2);
}

TEST_F(Embedding, AFunctionThatIsNoneIsRefused) {
  pigment_embedding_function function = probe_.function("probe");
  function.embed = nullptr;
  EXPECT_NE(CreateDocs(function).message.find("embed must not be NULL"), std::string::npos);
  for (const std::string config : {"", "[]", "{", "7", "null", "{} x", "{\"a\":\xff}"}) {
    function = probe_.function("probe");
    function.config_json = config.data();
    function.config_json_size = config.size();
    EXPECT_EQ(CreateDocs(function).status, PIGMENT_INVALID_ARGUMENT) << config;
  }
  function = probe_.function("\xff");
  EXPECT_EQ(CreateDocs(function).status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(probe_.released, 0);
}

TEST_F(Embedding, SeveralCallsMayRunAtOnce) {
  std::atomic<int> inside{0}, most{0};
  probe_.embed = [&](int32_t purpose, size_t count, const pigment_text_column& texts,
                     pigment_embedding_sink* sink) {
    const int now = ++inside;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    for (int i = 0; i < 200 && inside < 4; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const pigment_status status = SizeAndPurpose(purpose, count, texts, sink);
    return status;
  };
  ASSERT_TRUE(CreateDocs(probe_.function("probe")).ok());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(
        [&, i] { EXPECT_TRUE(Add(abi_test::Texts{"id" + std::to_string(i)}, {"text"}).ok()); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 4);  // no lock of the library is held while the function runs
}

}  // namespace
