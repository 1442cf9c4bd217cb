// SPDX-License-Identifier: Apache-2.0
//
// Running out of memory at every allocation of a call, one after the other: each gives
// RESOURCE_EXHAUSTED with DETAIL_MEMORY and leaves everything usable. The program's operator new is
// the library's too. Not under sanitizers, whose own allocator this would hide.

#include <gtest/gtest.h>

#include "tests/support/effort.h"

#if !PIGMENT_IS_SANITIZED

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>

#include "tests/c_api/abi.h"

namespace {

thread_local int64_t g_allocations_left = -1;  // below 0: no limit
thread_local bool g_keeps_failing = false;

bool MayAllocate() {
  if (g_allocations_left < 0) return true;
  if (g_allocations_left > 0) {
    --g_allocations_left;
    return true;
  }
  if (!g_keeps_failing) g_allocations_left = -1;
  return false;
}

}  // namespace

// Inlined, the compiler would see new and free meet.
#define NOT_INLINED __attribute__((noinline))
NOT_INLINED void* operator new(size_t size) {
  if (!MayAllocate()) throw std::bad_alloc();
  if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
NOT_INLINED void* operator new[](size_t size) { return operator new(size); }
NOT_INLINED void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return MayAllocate() ? std::malloc(size != 0 ? size : 1) : nullptr;
}
NOT_INLINED void operator delete(void* memory) noexcept { std::free(memory); }
NOT_INLINED void operator delete[](void* memory) noexcept { std::free(memory); }
NOT_INLINED void operator delete(void* memory, size_t) noexcept { std::free(memory); }
NOT_INLINED void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
NOT_INLINED void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

namespace {

using abi_test::Sized;

// Fails the n-th allocation of `call` for n = 0, 1, 2 … until it needs no more than n. `call` must
// not allocate itself.
int Sweep(bool keeps_failing, const std::function<pigment_status(pigment_error**)>& call) {
  for (int n = 0; n < 5000; ++n) {
    pigment_error* error = nullptr;
    g_keeps_failing = keeps_failing;
    g_allocations_left = n;
    const pigment_status status = call(&error);
    const bool ran_out = g_allocations_left == 0 || (!keeps_failing && g_allocations_left < 0);
    g_allocations_left = -1;
    if (status == PIGMENT_OK) {
      EXPECT_EQ(error, nullptr);
      if (!ran_out || keeps_failing) return n;
      continue;  // what failed was not needed
    }
    EXPECT_EQ(status, PIGMENT_RESOURCE_EXHAUSTED)
        << "allocation " << n << ": " << pigment_error_message(error);
    EXPECT_EQ(pigment_error_detail(error), PIGMENT_DETAIL_MEMORY);
    EXPECT_STRNE(pigment_error_message(error), "");
    pigment_error_free(error);
    if (status != PIGMENT_RESOURCE_EXHAUSTED) return -1;
  }
  ADD_FAILURE() << "never succeeded";
  return -1;
}

TEST(Memory, TheTestsAllocatorIsTheLibrarys) {
  pigment_error* error = nullptr;
  pigment_cancel* cancel = nullptr;
  g_keeps_failing = true;
  g_allocations_left = 0;
  const pigment_status status = pigment_cancel_new(&cancel, &error);
  g_allocations_left = -1;
  EXPECT_EQ(status, PIGMENT_RESOURCE_EXHAUSTED);
  EXPECT_EQ(cancel, nullptr);
  EXPECT_STREQ(pigment_error_message(error), "out of memory");
  pigment_error_free(error);  // static: freeing does nothing
  pigment_error_free(error);
}

TEST(Memory, AnErrorThatCannotBeBuiltIsTheStaticOne) {
  for (int n = 0; n < 100; ++n) {
    pigment_error* error = nullptr;
    g_keeps_failing = true;
    g_allocations_left = n;
    const pigment_status status = pigment_client_close(nullptr, &error);
    g_allocations_left = -1;
    ASSERT_EQ(pigment_error_status(error), status);
    pigment_error_free(error);
    if (status == PIGMENT_INVALID_ARGUMENT) {
      EXPECT_GT(n, 0);
      return;
    }
    ASSERT_EQ(status, PIGMENT_RESOURCE_EXHAUSTED);
  }
  FAIL() << "an error needs more than 100 allocations";
}

class MemoryOfCalls : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    client_ = abi_test::OpenMemory();
    ASSERT_NE(client_, nullptr);
    ASSERT_TRUE(abi_test::Create(client_.get(), "docs", &docs_).ok());
    abi_test::Batch batch;
    batch.dimension = 2;
    batch.documents.emplace();
    batch.metadatas.emplace();
    for (int i = 0; i < 20; ++i) {
      batch.ids.Add("id" + std::to_string(i));
      batch.values.push_back(static_cast<float>(i));
      batch.values.push_back(1);
      batch.documents->Add("a document that is longer than a small string, number " +
                           std::to_string(i));
      batch.metadatas->Add("{\"n\":" + std::to_string(i) + "}");
    }
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs_.get(), batch).ok());
  }
  abi_test::Client client_;
  abi_test::Collection docs_;
};

TEST_P(MemoryOfCalls, ReadingRunsOutAnywhere) {
  auto get = Sized<pigment_get_request>();
  const std::string where = R"({"$and":[{"n":{"$gte":3}},{"n":{"$in":[4,5,6,7]}}]})",
                    document = R"({"$regex":"number [45]"})";
  get.where_json = where.data();
  get.where_json_size = where.size();
  get.where_document_json = document.data();
  get.where_document_json_size = document.size();
  uint64_t rows = 0;
  EXPECT_GT(Sweep(GetParam(),
                  [&](pigment_error** error) {
                    pigment_result* result = nullptr;
                    const pigment_status status =
                        pigment_collection_get(docs_.get(), &get, nullptr, &result, error);
                    EXPECT_EQ(status == PIGMENT_OK, result != nullptr);
                    rows = pigment_result_row_count(result);
                    pigment_result_free(result);
                    return status;
                  }),
            3);
  EXPECT_EQ(rows, 2u);
  const std::vector<float> vector{1, 2};
  const pigment_query_request query = abi_test::QueryFor(vector, 2, 5);
  EXPECT_GT(Sweep(GetParam(),
                  [&](pigment_error** error) {
                    pigment_result* result = nullptr;
                    const pigment_status status =
                        pigment_collection_query(docs_.get(), &query, nullptr, &result, error);
                    rows = pigment_result_row_count(result);
                    pigment_result_free(result);
                    return status;
                  }),
            3);
  EXPECT_EQ(rows, 5u);
  EXPECT_GT(Sweep(GetParam(),
                  [&](pigment_error** error) {
                    pigment_buffer* json = nullptr;
                    const pigment_status status =
                        pigment_collection_describe(docs_.get(), &json, error);
                    pigment_buffer_free(json);
                    return status;
                  }),
            1);
}

TEST_P(MemoryOfCalls, ValidatingAWriteRunsOutAnywhere) {
  abi_test::Batch batch;
  batch.dimension = 2;
  batch.ids.Add("new");
  batch.values = {1, 2};
  batch.metadatas.emplace().Add(
      R"({"key":"a value that is longer than a small string","list":[1,2,3],"bad":{}})");
  const pigment_records records = batch.records();
  // The metadata is wrong, so that no write is reached: every allocation here is one of validation.
  for (int n = 0; n < 1000; ++n) {
    pigment_error* error = nullptr;
    g_keeps_failing = GetParam();
    g_allocations_left = n;
    const pigment_status status =
        pigment_collection_add(docs_.get(), &records, nullptr, nullptr, &error);
    g_allocations_left = -1;
    pigment_error_free(error);
    if (status == PIGMENT_INVALID_ARGUMENT && n > 200) return;
    ASSERT_TRUE(status == PIGMENT_INVALID_ARGUMENT || status == PIGMENT_RESOURCE_EXHAUSTED)
        << status;
  }
}

TEST_P(MemoryOfCalls, AStreamOfAResultRunsOutAnywhere) {
  auto get = Sized<pigment_get_request>();
  get.include = PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_EMBEDDINGS;
  abi_test::ResultHandle result;
  ASSERT_TRUE(abi_test::Get(docs_.get(), get, &result).ok());
  EXPECT_GT(Sweep(GetParam(),
                  [&](pigment_error** error) {
                    ArrowArrayStream stream;
                    const pigment_status status =
                        pigment_result_arrow_stream(result.get(), &stream, error);
                    EXPECT_EQ(status == PIGMENT_OK, stream.release != nullptr);
                    if (stream.release != nullptr) stream.release(&stream);
                    return status;
                  }),
            1);
  int failures = 0;
  for (int n = 0;; ++n) {
    ArrowArrayStream stream{};
    ASSERT_EQ(pigment_result_arrow_stream(result.get(), &stream, nullptr), PIGMENT_OK);
    ArrowSchema schema{};
    ArrowArray array{};
    g_keeps_failing = GetParam();
    g_allocations_left = n;
    const int schema_failed = stream.get_schema(&stream, &schema);
    const int array_failed = stream.get_next(&stream, &array);
    const bool ran_out = g_allocations_left <= 0;
    g_allocations_left = -1;
    EXPECT_EQ(schema.release == nullptr, schema_failed == ENOMEM);
    EXPECT_EQ(array.release == nullptr, array_failed == ENOMEM);
    if (schema_failed != 0 || array_failed != 0) {
      ++failures;
      EXPECT_STREQ(stream.get_last_error(&stream), "out of memory");
    }
    if (array_failed != 0) {
      EXPECT_EQ(stream.get_next(&stream, &array), 0) << "the batch is still to come";
      EXPECT_EQ(array.length, 20);
    }
    if (schema.release != nullptr) schema.release(&schema);
    if (array.release != nullptr) array.release(&array);
    stream.release(&stream);
    if (!ran_out) break;
  }
  EXPECT_GT(failures, 10);
}

TEST_P(MemoryOfCalls, ReadingAStreamRunsOutAnywhere) {
  abi_test::Collection wide;
  ASSERT_TRUE(abi_test::Create(client_.get(), "wide", &wide).ok());
  abi_test::Batch batch;
  batch.dimension = 3;
  batch.ids.Add("one");
  batch.values = {1, 2, 3};
  ASSERT_TRUE(abi_test::Write(pigment_collection_add, wide.get(), batch).ok());
  abi_test::ResultHandle result;
  auto get = Sized<pigment_get_request>();
  get.include = PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_EMBEDDINGS;
  ASSERT_TRUE(abi_test::Get(docs_.get(), get, &result).ok());
  // The dimension is wrong, so that no write is reached.
  for (int n = 0;; ++n) {
    ArrowArrayStream stream{};
    ASSERT_EQ(pigment_result_arrow_stream(result.get(), &stream, nullptr), PIGMENT_OK);
    pigment_error* error = nullptr;
    g_keeps_failing = GetParam();
    g_allocations_left = n;
    const pigment_status status =
        pigment_collection_add_arrow(wide.get(), &stream, nullptr, nullptr, nullptr, &error);
    const bool ran_out = g_allocations_left <= 0;
    g_allocations_left = -1;
    const int32_t detail = pigment_error_detail(error);
    EXPECT_EQ(pigment_error_status(error), status);
    pigment_error_free(error);
    EXPECT_EQ(stream.release, nullptr);
    if (!ran_out) {
      EXPECT_EQ(detail, PIGMENT_DETAIL_DIMENSION);
      EXPECT_GT(n, 50);
      return;
    }
    ASSERT_TRUE(detail == PIGMENT_DETAIL_MEMORY || detail == PIGMENT_DETAIL_DIMENSION) << detail;
  }
}

INSTANTIATE_TEST_SUITE_P(Allocations, MemoryOfCalls, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "AllFromOneOn" : "OneAlone"; });

}  // namespace

#endif  // not under sanitizers
