// SPDX-License-Identifier: Apache-2.0
//
// Results as streams of Arrow: what is in them, how long it lives, and that it goes in again.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/c_api/arrow_fixture.h"

namespace {

using abi_test::FiveRecords;
using abi_test::HeldArray;
using abi_test::HeldSchema;
using abi_test::HeldStream;
using abi_test::Import;
using abi_test::Imported;
using abi_test::kNoOptions;
using abi_test::Outcome;
using abi_test::Try;

class ArrowExport : public abi_test::ArrowTest {};

bool IsPresent(const ArrowArray& array, int64_t row) {
  const auto* bits = static_cast<const uint8_t*>(array.buffers[0]);
  const int64_t at = array.offset + row;
  return bits == nullptr || (bits[at / 8] >> (at % 8) & 1) != 0;
}
std::string TextOf(const ArrowArray& array, int64_t row) {
  if (!IsPresent(array, row)) return "(null)";
  const auto* offsets = static_cast<const int64_t*>(array.buffers[1]) + array.offset + row;
  return std::string(static_cast<const char*>(array.buffers[2]) + offsets[0],
                     static_cast<size_t>(offsets[1] - offsets[0]));
}
template <typename T>
T NumberOf(const ArrowArray& array, int64_t row) {
  return static_cast<const T*>(array.buffers[1])[array.offset + row];
}

TEST_F(ArrowExport, AGetIsOneBatchOfWhatItIncludes) {
  Fill();
  const abi_test::ResultHandle result = Get(docs_);
  HeldStream stream;
  ASSERT_TRUE(Try(pigment_result_arrow_stream, result.get(), &stream.held).ok());
  HeldSchema schema;
  ASSERT_EQ(stream.held.get_schema(&stream.held, &schema.held), 0);
  EXPECT_STREQ(schema.held.format, "+s");
  std::map<std::string, std::string> formats;
  for (int64_t i = 0; i < schema.held.n_children; ++i) {
    const ArrowSchema& column = *schema.held.children[i];
    formats[column.name] = column.format;
    const std::string name = column.name;
    EXPECT_EQ((column.flags & ARROW_FLAG_NULLABLE) != 0,
              name == "document" || name == "metadata" || name == "uri")
        << name;
    EXPECT_EQ(column.metadata != nullptr, name == "metadata") << name;
  }
  const std::map<std::string, std::string> expected{
      {"id", "U"}, {"document", "U"}, {"metadata", "U"}, {"uri", "U"}, {"embedding", "+w:2"}};
  EXPECT_EQ(formats, expected);
  const ArrowSchema& metadata = *schema.held.children[2];
  ASSERT_STREQ(metadata.name, "metadata");
  const std::string encoded = abi_test::BytesOf<int32_t>({2, 20}) + "ARROW:extension:name" +
                              abi_test::BytesOf<int32_t>({10}) + "arrow.json" +
                              abi_test::BytesOf<int32_t>({24}) + "ARROW:extension:metadata" +
                              abi_test::BytesOf<int32_t>({0});
  EXPECT_EQ(std::string(metadata.metadata, encoded.size()), encoded);
  EXPECT_STREQ(schema.held.children[4]->children[0]->format, "f");

  HeldArray batch, end;
  ASSERT_EQ(stream.held.get_next(&stream.held, &batch.held), 0);
  ASSERT_NE(batch.held.release, nullptr);
  EXPECT_EQ(batch.held.length, 5);
  const ArrowArray &ids = *batch.held.children[0], &documents = *batch.held.children[1];
  EXPECT_EQ(TextOf(ids, 4), "id4");
  EXPECT_EQ(ids.null_count, 0);
  EXPECT_EQ(TextOf(documents, 1), "(null)");
  EXPECT_EQ(TextOf(documents, 2), "");
  EXPECT_EQ(TextOf(*batch.held.children[3], 1), "file:///one");
  pigment_text_column column{};
  ASSERT_TRUE(pigment_result_documents(result.get(), &column));
  EXPECT_EQ(documents.buffers[2], column.bytes) << "not a copy";
  size_t dimension = 0;
  EXPECT_EQ(batch.held.children[4]->children[0]->buffers[1],
            pigment_result_embeddings(result.get(), &dimension));
  ASSERT_EQ(stream.held.get_next(&stream.held, &end.held), 0);
  EXPECT_EQ(end.held.release, nullptr);
}

TEST_F(ArrowExport, AQueryIsABatchForEachOfItsQueries) {
  Fill();
  const std::vector<float> vectors{4, 0.5f, 1, 0.5f, 0, 0.5f};
  auto request = abi_test::QueryFor(vectors, 2, 2);
  request.has_max_distance = true;
  abi_test::ResultHandle result;
  request.max_distance = 0.25;
  ASSERT_TRUE(abi_test::Query(docs_.get(), request, &result).ok());
  ASSERT_EQ(pigment_result_row_count(result.get()), 3u);
  HeldStream stream;
  ASSERT_TRUE(Try(pigment_result_arrow_stream, result.get(), &stream.held).ok());
  const char* const nearest[] = {"id4", "id1", "id0"};
  for (uint32_t query = 0; query < 3; ++query) {
    HeldArray batch;
    ASSERT_EQ(stream.held.get_next(&stream.held, &batch.held), 0);
    ASSERT_EQ(batch.held.length, 1);
    ASSERT_EQ(batch.held.n_children, 5);
    EXPECT_EQ(NumberOf<uint32_t>(*batch.held.children[0], 0), query);
    EXPECT_EQ(TextOf(*batch.held.children[1], 0), nearest[query]);
    EXPECT_EQ(NumberOf<float>(*batch.held.children[4], 0), 0.0f);
  }
  HeldSchema schema;
  ASSERT_EQ(stream.held.get_schema(&stream.held, &schema.held), 0);
  EXPECT_STREQ(schema.held.children[0]->name, "query");
  EXPECT_STREQ(schema.held.children[4]->name, "distance");

  const std::vector<float> far{1e6f, 0, 2, 0.5f};
  request.embeddings = abi_test::Vectors(far, 2);
  request.include = PIGMENT_INCLUDE_EMBEDDINGS;
  ASSERT_TRUE(abi_test::Query(docs_.get(), request, &result).ok());
  HeldStream second;
  ASSERT_TRUE(Try(pigment_result_arrow_stream, result.get(), &second.held).ok());
  HeldArray none, one, end;
  ASSERT_EQ(second.held.get_next(&second.held, &none.held), 0);
  ASSERT_NE(none.held.release, nullptr) << "a query without a hit is an empty batch";
  EXPECT_EQ(none.held.length, 0);
  ASSERT_EQ(second.held.get_next(&second.held, &one.held), 0);
  const ArrowArray& lists = *one.held.children[2];
  EXPECT_EQ(lists.length, 1);
  EXPECT_EQ(NumberOf<float>(*lists.children[0], lists.offset * 2), 2.0f);
  ASSERT_EQ(second.held.get_next(&second.held, &end.held), 0);
  EXPECT_EQ(end.held.release, nullptr);
}

TEST_F(ArrowExport, ATextSearchHasScoresAndHighlights) {
  pigment_collection_options options{};
  pigment_collection_options_init(&options);
  const std::string configuration = R"({"text_index":{}})";
  options.configuration_json = configuration.data();
  options.configuration_json_size = configuration.size();
  abi_test::Collection words;
  ASSERT_TRUE(abi_test::Create(client_.get(), "words", &words, &options).ok());
  ASSERT_TRUE(abi_test::Write(pigment_collection_add, words.get(), FiveRecords()).ok());
  pigment_text_search_request request{};
  pigment_text_search_request_init(&request);
  const abi_test::Texts queries{"nothing like it", "number"};
  request.queries_count = 2;
  request.queries = queries.column();
  request.highlights = true;
  pigment_result* raw = nullptr;
  ASSERT_TRUE(Try(pigment_collection_search_text, words.get(), &request, kNoOptions, &raw).ok());
  const abi_test::ResultHandle result(raw);
  HeldStream stream;
  ASSERT_TRUE(Try(pigment_result_arrow_stream, result.get(), &stream.held).ok());
  HeldSchema schema;
  ASSERT_EQ(stream.held.get_schema(&stream.held, &schema.held), 0);
  ASSERT_EQ(schema.held.n_children, 6);
  EXPECT_STREQ(schema.held.children[4]->name, "highlights");
  EXPECT_NE(schema.held.children[4]->metadata, nullptr);
  EXPECT_STREQ(schema.held.children[5]->name, "score");
  HeldArray first, second;
  ASSERT_EQ(stream.held.get_next(&stream.held, &first.held), 0);
  ASSERT_EQ(stream.held.get_next(&stream.held, &second.held), 0);
  EXPECT_EQ(first.held.length, 0);
  ASSERT_EQ(second.held.length, 3);
  EXPECT_EQ(TextOf(*second.held.children[4], 0).substr(0, 2), "[[");
  EXPECT_GT(NumberOf<float>(*second.held.children[5], 0), 0);
}

TEST_F(ArrowExport, ArraysOutliveAllThatTheyCameFrom) {
  Fill();
  HeldArray batch;
  ArrowArray ids{}, items{};
  {
    HeldStream stream;
    {
      abi_test::ResultHandle result = Get(docs_);
      ASSERT_TRUE(Try(pigment_result_arrow_stream, result.get(), &stream.held).ok());
      result.reset();
      ASSERT_TRUE(Try(pigment_client_close, client_.get()).ok());
      docs_.reset();
      other_.reset();
      client_.reset();
    }
    ASSERT_EQ(stream.held.get_next(&stream.held, &batch.held), 0);
  }
  // Moved children are the consumer's, who marks what is left behind as released.
  ids = *batch.held.children[0];
  batch.held.children[0]->release = nullptr;
  ArrowArray& lists = *batch.held.children[4];
  items = *lists.children[0];
  lists.children[0]->release = nullptr;
  batch.held.release(&batch.held);
  EXPECT_EQ(batch.held.release, nullptr);
  std::thread elsewhere([&] {
    EXPECT_EQ(TextOf(ids, 3), "id3");
    ids.release(&ids);
  });
  elsewhere.join();
  EXPECT_EQ(NumberOf<float>(items, 6), 3.0f);
  items.release(&items);
  EXPECT_EQ(items.release, nullptr);
}

TEST_F(ArrowExport, AResultMayBeAStreamTwiceAndStaysWhatItIs) {
  Fill();
  const abi_test::ResultHandle result = Get(docs_);
  for (int time = 0; time < 2; ++time) {
    HeldStream stream;
    ASSERT_TRUE(Try(pigment_result_arrow_stream, result.get(), &stream.held).ok());
    HeldArray batch;
    ASSERT_EQ(stream.held.get_next(&stream.held, &batch.held), 0);
    EXPECT_EQ(batch.held.length, 5);
  }
  EXPECT_EQ(abi_test::Ids(result.get()).size(), 5u);
}

TEST_F(ArrowExport, ADocumentThatIsNoUtf8IsNamed) {
  Fill();
  abi_test::Batch batch;
  batch.ids = {"good", "bad"};
  batch.values = {1, 2, 3, 4};
  batch.dimension = 2;
  batch.documents = {"good", "\xff\xfe"};
  ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs_.get(), batch).ok());
  const abi_test::ResultHandle result = Get(docs_);
  ArrowArrayStream stream;
  std::memset(&stream, 0x55, sizeof stream);  // must be overwritten
  const Outcome outcome = Try(pigment_result_arrow_stream, result.get(), &stream);
  EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(outcome.row, 6);
  EXPECT_NE(outcome.message.find("UTF-8"), std::string::npos) << outcome;
  EXPECT_EQ(stream.release, nullptr);
  const abi_test::ResultHandle without = Get(docs_, PIGMENT_INCLUDE_METADATAS);
  HeldStream good;
  EXPECT_TRUE(Try(pigment_result_arrow_stream, without.get(), &good.held).ok());
}

TEST_F(ArrowExport, NothingIsMadeOfWrongArguments) {
  const abi_test::ResultHandle result = Get(docs_);
  ArrowArrayStream stream{};
  stream.private_data = &stream;
  EXPECT_EQ(Try(pigment_result_arrow_stream, static_cast<pigment_result*>(nullptr), &stream).status,
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(stream.private_data, nullptr);
  EXPECT_EQ(Try(pigment_result_arrow_stream, result.get(), static_cast<ArrowArrayStream*>(nullptr))
                .status,
            PIGMENT_INVALID_ARGUMENT);
}

TEST_F(ArrowExport, WhatComesOutGoesInAgain) {
  Fill();
  const std::string before = Dump(docs_);
  const abi_test::ResultHandle result = Get(docs_);
  HeldStream stream;
  ASSERT_TRUE(Try(pigment_result_arrow_stream, result.get(), &stream.held).ok());
  const Imported made = Import(pigment_collection_add_arrow, other_.get(), &stream.held);
  ASSERT_TRUE(made.outcome.ok()) << made.outcome;
  EXPECT_EQ(stream.held.release, nullptr) << "taken over";
  EXPECT_EQ(made.result.inserted, 5u);
  EXPECT_GT(made.result.position, 0u);
  EXPECT_EQ(made.batches, 1u);
  EXPECT_EQ(Dump(other_), before);
}

TEST_F(ArrowExport, AnEmptyResultGoesInAsNothing) {
  const abi_test::ResultHandle result = Get(docs_);
  HeldStream stream;
  ASSERT_TRUE(Try(pigment_result_arrow_stream, result.get(), &stream.held).ok());
  HeldSchema schema;
  ASSERT_EQ(stream.held.get_schema(&stream.held, &schema.held), 0);
  EXPECT_STREQ(schema.held.children[4]->format, "+w:0");
  const Imported made = Import(pigment_collection_add_arrow, other_.get(), &stream.held);
  ASSERT_TRUE(made.outcome.ok()) << made.outcome;
  EXPECT_EQ(made.result.inserted, 0u);
  EXPECT_EQ(made.batches, 1u);
}

}  // namespace
