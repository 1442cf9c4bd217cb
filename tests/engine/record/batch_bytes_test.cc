// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a batch before it is encoded are those that it has then.

#include "engine/record/batch_bytes.h"

#include <gtest/gtest.h>

#include "engine/base/limits.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

TEST(BatchBytes, AreKnownBeforeItIsEncoded) {
  for (int columns = 0; columns < 16; ++columns) {
    WriteBatch batch;
    batch.kind = WriteKind::kUpsert;
    batch.ids = {"a", "bc"};
    batch.dimension = 3;
    if (columns & 1) batch.embeddings = {1, 2, 3, 4, 5, 6};
    if (columns & 2) batch.documents = {std::nullopt, "a document"};
    if (columns & 4) {
      batch.metadatas = {std::nullopt, Metadata{{"k", std::string("text")},
                                                {"", Erased()},
                                                {"integer", int64_t{1}},
                                                {"real", 2.5},
                                                {"truth", true},
                                                {"texts", std::vector<std::string>{"", "two"}},
                                                {"integers", std::vector<int64_t>{1, 2, 3}},
                                                {"reals", std::vector<double>{0.5}},
                                                {"truths", std::vector<bool>{true, false}}}};
    }
    if (columns & 8) batch.uris = {"", std::nullopt};
    std::string encoded;
    EncodeWriteBatch(batch, encoded);
    EXPECT_EQ(EncodedBytes(batch), encoded.size()) << columns;
  }
}

TEST(BatchBytes, BeyondTheLimitAreRefused) {
  EXPECT_OK(CheckBatchBytes(kRecordPayloadBytesMax));
  const Status beyond = CheckBatchBytes(kRecordPayloadBytesMax + 1);
  EXPECT_CODE(beyond, Code::kResourceExhausted);
  EXPECT_EQ(beyond.detail(), Detail::kLimit);
}

}  // namespace
}  // namespace pigment
