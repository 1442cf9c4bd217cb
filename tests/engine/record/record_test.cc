// SPDX-License-Identifier: Apache-2.0
//
// Tests of the write batch's stored form.

#include "engine/record/record.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "engine/base/bytes.h"

namespace pigment {
namespace {

WriteBatch Sample() {
  WriteBatch batch;
  batch.kind = WriteKind::kUpsert;
  batch.ids = {"a", std::string("b\0c", 3)};
  batch.dimension = 3;
  batch.embeddings = {1, 2, 3, -4, 5.5, 1e-40f};
  batch.documents = {std::nullopt, std::string("text\0\xff", 6)};
  batch.metadatas = {Metadata{{"k", int64_t{1}}, {"gone", Erased{}}}, std::nullopt};
  batch.uris = {"", std::nullopt};
  return batch;
}

void ExpectEqual(const WriteBatch& a, const WriteBatch& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.dimension, b.dimension);
  EXPECT_EQ(a.embeddings, b.embeddings);
  EXPECT_EQ(a.documents, b.documents);
  EXPECT_EQ(a.metadatas, b.metadatas);
  EXPECT_EQ(a.uris, b.uris);
}

TEST(WriteBatch, AnySetOfColumnsSurvives) {
  for (int columns = 0; columns < 16; ++columns) {
    WriteBatch batch = Sample();
    if (!(columns & 1)) batch.embeddings.clear();
    if (!(columns & 2)) batch.documents.clear();
    if (!(columns & 4)) batch.metadatas.clear();
    if (!(columns & 8)) batch.uris.clear();
    std::string encoded;
    EncodeWriteBatch(batch, encoded);
    const Result<WriteBatch> decoded = DecodeWriteBatch(AsBytes(encoded));
    ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
    ExpectEqual(*decoded, batch);
  }
}

TEST(WriteBatch, EveryKindSurvives) {
  for (WriteKind kind :
       {WriteKind::kAdd, WriteKind::kUpdate, WriteKind::kUpsert, WriteKind::kDelete}) {
    WriteBatch batch;
    batch.kind = kind;
    batch.ids = {"only"};
    std::string encoded;
    EncodeWriteBatch(batch, encoded);
    const Result<WriteBatch> decoded = DecodeWriteBatch(AsBytes(encoded));
    ASSERT_TRUE(decoded.ok());
    ExpectEqual(*decoded, batch);
  }
}

TEST(WriteBatch, EveryShorteningIsDataLoss) {
  std::string encoded;
  EncodeWriteBatch(Sample(), encoded);
  for (size_t size = 0; size < encoded.size(); ++size) {
    const Result<WriteBatch> decoded = DecodeWriteBatch(AsBytes(encoded).first(size));
    ASSERT_FALSE(decoded.ok()) << size;
    EXPECT_EQ(decoded.status().code(), Code::kDataLoss);
    EXPECT_EQ(decoded.status().detail(), Detail::kTruncated) << decoded.status().ToString();
  }
  encoded += 'x';
  EXPECT_EQ(DecodeWriteBatch(AsBytes(encoded)).status().detail(), Detail::kMiscounted);
}

TEST(WriteBatch, CountsAreNotBelieved) {
  std::string encoded;
  EncodeWriteBatch(Sample(), encoded);
  for (int i = 8; i < 16; ++i) {  // rows
    std::string damaged = encoded;
    damaged[i] = '\xff';
    EXPECT_EQ(DecodeWriteBatch(AsBytes(damaged)).status().code(), Code::kDataLoss) << i;
  }
  for (int i = 4; i < 8; ++i) {  // dimension
    std::string damaged = encoded;
    damaged[i] = '\xff';
    EXPECT_EQ(DecodeWriteBatch(AsBytes(damaged)).status().code(), Code::kDataLoss) << i;
  }
}

TEST(WriteBatch, ANewerVersionIsNamed) {
  std::string encoded;
  EncodeWriteBatch(Sample(), encoded);
  encoded[0] = 2;
  const Status status = DecodeWriteBatch(AsBytes(encoded)).status();
  EXPECT_EQ(status.code(), Code::kVersionMismatch);
  EXPECT_EQ(status.message(), "write batch has version 2, this library reads version 1");
}

TEST(WriteBatch, RandomDamageNeverGivesWhatCannotBeEncoded) {
  constexpr uint64_t kSeed = 5;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  std::string original;
  EncodeWriteBatch(Sample(), original);
  for (int i = 0; i < 100000; ++i) {
    std::string encoded = original;
    for (uint64_t n = 1 + random() % 3; n > 0; --n)
      encoded[random() % encoded.size()] = static_cast<char>(random());
    const Result<WriteBatch> decoded = DecodeWriteBatch(AsBytes(encoded));
    if (!decoded.ok()) continue;
    std::string again;
    EncodeWriteBatch(*decoded, again);
    ASSERT_EQ(again, encoded);
  }
}

}  // namespace
}  // namespace pigment
