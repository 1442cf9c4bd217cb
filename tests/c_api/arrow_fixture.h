// SPDX-License-Identifier: Apache-2.0
//
// What the tests of Arrow streams in and out share: two collections, records, and how to look at
// what is there. One thread.

#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/c_api/abi.h"
#include "tests/c_api/arrow.h"

namespace abi_test {

inline constexpr int32_t kAll = PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_METADATAS |
                                PIGMENT_INCLUDE_EMBEDDINGS | PIGMENT_INCLUDE_URIS;

using ArrowFunction = decltype(&pigment_collection_add_arrow);

struct Imported {
  Outcome outcome;
  pigment_write_result result = WriteResult();
  uint64_t batches = 77;
};

inline Imported Import(ArrowFunction function, pigment_collection* collection,
                       ArrowArrayStream* stream) {
  Imported made;
  made.outcome = Try(function, collection, stream, kNoOptions, &made.result, &made.batches);
  return made;
}
inline Imported Add(const Collection& collection, MadeStream& stream) {
  return Import(pigment_collection_add_arrow, collection.get(), stream.get());
}

// Struct and stream of the interface that are released here at the latest.
template <typename T>
struct Holder {
  Holder() = default;
  ~Holder() {
    if (held.release != nullptr) held.release(&held);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  T held{};
};
using HeldStream = Holder<ArrowArrayStream>;
using HeldSchema = Holder<ArrowSchema>;
using HeldArray = Holder<ArrowArray>;

inline Batch FiveRecords() {
  Batch batch;
  batch.dimension = 2;
  batch.documents.emplace();
  batch.metadatas.emplace();
  batch.uris.emplace();
  for (int i = 0; i < 5; ++i) {
    batch.ids.Add("id" + std::to_string(i));
    batch.values.insert(batch.values.end(), {static_cast<float>(i), 0.5f});
    if (i == 1) {
      batch.documents->AddAbsent();
      batch.metadatas->AddAbsent();
      batch.uris->Add("file:///one");
    } else {
      batch.documents->Add(i == 2 ? "" : "d\xc3\xa9j\xc3\xa0 vu, number " + std::to_string(i));
      batch.metadatas->Add("{\"n\":" + std::to_string(i) + ",\"f\":1.5}");
      batch.uris->AddAbsent();
    }
  }
  return batch;
}

class ArrowTest : public ::testing::Test {
 protected:
  void SetUp() override {
    client_ = OpenMemory();
    ASSERT_NE(client_, nullptr);
    ASSERT_TRUE(Create(client_.get(), "docs", &docs_).ok());
    ASSERT_TRUE(Create(client_.get(), "other", &other_).ok());
  }

  ResultHandle Get(const Collection& collection, int32_t include = kAll) {
    auto request = Sized<pigment_get_request>();
    request.include = include;
    ResultHandle result;
    const Outcome outcome = abi_test::Get(collection.get(), request, &result);
    EXPECT_TRUE(outcome.ok()) << outcome;
    return result;
  }

  // All that a collection holds, a line a record.
  std::string Dump(const Collection& collection) {
    const ResultHandle result = Get(collection);
    pigment_text_column ids{}, documents{}, metadatas{}, uris{};
    pigment_result_ids(result.get(), &ids);
    pigment_result_documents(result.get(), &documents);
    pigment_result_metadatas(result.get(), &metadatas);
    pigment_result_uris(result.get(), &uris);
    size_t dimension = 0;
    const float* values = pigment_result_embeddings(result.get(), &dimension);
    std::string out;
    for (uint64_t row = 0; row < pigment_result_row_count(result.get()); ++row) {
      out += Text(ids, row);
      for (const auto& column : {documents, metadatas, uris})
        out += "|" + (Has(column, row) ? Text(column, row) : "-");
      for (size_t i = 0; i < dimension; ++i)
        out += (i == 0 ? "|" : ",") + std::to_string(values[row * dimension + i]).substr(0, 6);
      out += "\n";
    }
    return out;
  }

  // A collection that nobody wrote to.
  Collection Fresh() {
    Collection made;
    const Outcome outcome = Create(client_.get(), "fresh" + std::to_string(++made_), &made);
    EXPECT_TRUE(outcome.ok()) << outcome;
    return made;
  }

  void Fill() { ASSERT_TRUE(Write(pigment_collection_add, docs_.get(), FiveRecords()).ok()); }

  Client client_;
  Collection docs_, other_;
  int made_ = 0;
};

}  // namespace abi_test
