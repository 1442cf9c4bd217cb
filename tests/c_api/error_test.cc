// SPDX-License-Identifier: Apache-2.0
//
// Errors, buffers and cancel tokens as objects: what accessors answer, what null means, who owns
// what.

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/c_api/abi.h"

namespace {

using abi_test::Outcome;
using abi_test::Try;

TEST(Error, NullAnswersAsNoError) {
  EXPECT_EQ(pigment_error_status(nullptr), PIGMENT_OK);
  EXPECT_EQ(pigment_error_detail(nullptr), PIGMENT_DETAIL_NONE);
  EXPECT_STREQ(pigment_error_message(nullptr), "");
  EXPECT_STREQ(pigment_error_hint(nullptr), "");
  EXPECT_STREQ(pigment_error_file(nullptr), "");
  EXPECT_EQ(pigment_error_row(nullptr), -1);
  EXPECT_EQ(pigment_error_offset(nullptr), -1);
  pigment_error_free(nullptr);
}

TEST(Error, IsSetToNullOnSuccess) {
  pigment_error* error = reinterpret_cast<pigment_error*>(0x1);
  pigment_cancel* cancel = nullptr;
  ASSERT_EQ(pigment_cancel_new(&cancel, &error), PIGMENT_OK);
  EXPECT_EQ(error, nullptr);
  pigment_cancel_free(cancel);
}

TEST(Error, MayBeLeftOut) {
  EXPECT_EQ(pigment_cancel_new(nullptr, nullptr), PIGMENT_INVALID_ARGUMENT);
}

TEST(Error, OutlivesTheCallAndOtherErrors) {
  pigment_error* first = nullptr;
  pigment_error* second = nullptr;
  ASSERT_EQ(pigment_cancel_new(nullptr, &first), PIGMENT_INVALID_ARGUMENT);
  const std::string message = pigment_error_message(first);
  ASSERT_EQ(pigment_client_close(nullptr, &second), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_error_message(first), message);
  EXPECT_NE(pigment_error_message(second), message);
  pigment_error_free(first);
  pigment_error_free(second);
}

TEST(Cancel, IsStickyAndSeenByOtherThreads) {
  pigment_cancel* raw = nullptr;
  ASSERT_TRUE(Try(pigment_cancel_new, &raw).ok());
  const abi_test::Cancel cancel(raw);
  EXPECT_FALSE(pigment_cancel_is_set(cancel.get()));
  std::thread([&] { pigment_cancel_set(cancel.get()); }).join();
  EXPECT_TRUE(pigment_cancel_is_set(cancel.get()));
  pigment_cancel_set(cancel.get());
  EXPECT_TRUE(pigment_cancel_is_set(cancel.get()));
}

TEST(Cancel, NullIsNeverSet) {
  pigment_cancel_set(nullptr);
  EXPECT_FALSE(pigment_cancel_is_set(nullptr));
  pigment_cancel_free(nullptr);
}

TEST(Buffer, NullHasNoData) {
  size_t size = 7;
  EXPECT_EQ(pigment_buffer_data(nullptr, &size), nullptr);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(pigment_buffer_data(nullptr, nullptr), nullptr);
  pigment_buffer_free(nullptr);
}

TEST(Buffer, EndsWithNulBeyondItsSize) {
  const abi_test::Client client = abi_test::OpenMemory();
  ASSERT_NE(client, nullptr);
  pigment_buffer* raw = nullptr;
  ASSERT_TRUE(Try(pigment_client_list_tenants, client.get(), &raw).ok());
  const abi_test::Buffer buffer(raw);
  size_t size = 0;
  const char* data = pigment_buffer_data(buffer.get(), &size);
  EXPECT_EQ(std::string(data), std::string(data, size));
  EXPECT_EQ(pigment_buffer_data(buffer.get(), nullptr), data);
}

// A handle of another type is an error and not a crash (the memory is readable: both are ours).
TEST(Handle, OfAnotherTypeIsRefused) {
  const abi_test::Client client = abi_test::OpenMemory();
  ASSERT_NE(client, nullptr);
  uint64_t count = 1;
  const Outcome outcome =
      Try(pigment_collection_count, reinterpret_cast<pigment_collection*>(client.get()),
          static_cast<const pigment_call_options*>(nullptr), &count);
  EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_NE(outcome.message.find("collection"), std::string::npos) << outcome;
  EXPECT_EQ(count, 0u);
}

TEST(Message, IsUtf8WithoutNulWhateverTheArgumentIs) {
  const abi_test::Client client = abi_test::OpenMemory();
  ASSERT_NE(client, nullptr);
  const std::string bad("a\xff\xfe\0b", 5);
  pigment_collection* raw = nullptr;
  const Outcome outcome = Try(pigment_client_create_collection, client.get(),
                              static_cast<const pigment_scope*>(nullptr), bad.data(), bad.size(),
                              static_cast<const pigment_collection_options*>(nullptr), &raw);
  EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_NE(outcome.message.find("name"), std::string::npos) << outcome;
  EXPECT_NE(outcome.message.find("\\xff"), std::string::npos) << outcome;
  EXPECT_EQ(outcome.message.find('\xff'), std::string::npos);
}

}  // namespace
