// SPDX-License-Identifier: Apache-2.0
//
// Streams of Arrow as records: every layout that is taken, every wrong struct, and that whatever
// happens the stream and all that it gave are released once.

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/c_api/arrow_fixture.h"

namespace {

using abi_test::Add;
using abi_test::ArrowBools;
using abi_test::ArrowFixedLists;
using abi_test::ArrowLists;
using abi_test::ArrowNulls;
using abi_test::ArrowNumbers;
using abi_test::ArrowPart;
using abi_test::ArrowStruct;
using abi_test::ArrowTexts;
using abi_test::Import;
using abi_test::Imported;
using abi_test::MadeStream;
using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;

class ArrowImport : public abi_test::ArrowTest {};

ArrowPart Ids(int64_t count) {
  abi_test::OptionalTexts texts;
  for (int64_t i = 0; i < count; ++i) texts.push_back("id" + std::to_string(i));
  return ArrowTexts("id", "u", texts);
}
ArrowPart Floats(int64_t count) {
  std::vector<std::optional<float>> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
  return ArrowNumbers<float>("item", "f", values);
}
ArrowPart Embeddings(int64_t count, int dimension = 2) {
  return ArrowFixedLists("embedding", dimension, Floats(count * dimension),
                         std::vector<bool>(static_cast<size_t>(count), true));
}
ArrowPart Batch(int64_t count, std::vector<ArrowPart> more = {}) {
  std::vector<ArrowPart> columns{Ids(count), Embeddings(count)};
  for (ArrowPart& part : more) columns.push_back(std::move(part));
  return ArrowStruct("", count, std::move(columns));
}

TEST_F(ArrowImport, TextsOfEveryLayoutAreTheSameTexts) {
  const std::string longer = "a text of more than twelve bytes";
  const abi_test::OptionalTexts texts{"a", std::nullopt, longer, "", "twelve bytes"};
  std::string expected;
  for (const char* format : {"U", "u", "vu", "Z", "z", "vz"}) {
    SCOPED_TRACE(format);
    const abi_test::Collection fresh = Fresh();
    MadeStream stream({Batch(5, {ArrowTexts("document", format, texts)})});
    const Imported made = Add(fresh, stream);
    ASSERT_TRUE(made.outcome.ok()) << made.outcome;
    EXPECT_TRUE(stream.everything_was_released_once());
    if (expected.empty()) expected = Dump(fresh);
    EXPECT_EQ(Dump(fresh), expected);
  }
  EXPECT_NE(expected.find("id2|" + longer + "|-|-|4.0000,5.0000\n"), std::string::npos) << expected;
  EXPECT_NE(expected.find("id1|-|"), std::string::npos) << expected;
}

TEST_F(ArrowImport, SlicesAreReadFromWhereTheyBegin) {
  // Rows 3 to 12 of 20; the batch begins at 1 and its columns at 2, but for the documents, at 0.
  abi_test::OptionalTexts ids, documents;
  for (int i = 0; i < 20; ++i) {
    ids.push_back("id" + std::to_string(i));
    documents.push_back(i % 3 == 0 ? std::nullopt : std::optional("d" + std::to_string(i)));
  }
  const abi_test::OptionalTexts later(documents.begin() + 2, documents.end());
  const auto sliced = [](ArrowPart part, int64_t offset, int64_t length) {
    part.offset = offset;
    part.length = length;
    part.null_count = part.null_count == 0 ? 0 : -1;
    return part;
  };
  for (const char* format : {"u", "U", "vu"}) {
    SCOPED_TRACE(format);
    const abi_test::Collection fresh = Fresh();
    ArrowPart items = sliced(Floats(41), 1, 40);
    MadeStream stream({sliced(
        ArrowStruct(
            "", 11,
            {sliced(ArrowTexts("id", format, ids), 2, 11),
             sliced(ArrowTexts("document", format, later), 0, 11),
             sliced(ArrowFixedLists("embedding", 2, items, std::vector<bool>(20, true)), 2, 11)}),
        1, 10)});
    const Imported made = Add(fresh, stream);
    ASSERT_TRUE(made.outcome.ok()) << made.outcome;
    EXPECT_EQ(made.result.inserted, 10u);
    const std::string dump = Dump(fresh);
    EXPECT_EQ(dump.find("id3|-|-|-|7.0000,8.0000\nid4|d4|-|-|9.0000,10.000\nid5|d5|"), 0u) << dump;
    EXPECT_NE(dump.find("id12|-|-|-|25.000,26.000\n"), std::string::npos) << dump;
    EXPECT_EQ(dump.find("id13"), std::string::npos) << dump;
  }
}

TEST_F(ArrowImport, EmbeddingsOfEveryLayoutAreTheSameVectors) {
  const std::vector<std::optional<double>> wide{1, 2, 3, 4};
  const std::vector<std::optional<int32_t>> whole{1, 2, 3, 4};
  const std::vector<std::optional<int64_t>> large{1, 2, 3, 4};
  const std::vector<std::optional<uint16_t>> halves{0x3c00, 0x4000, 0x4200, 0x4400};
  const std::vector<std::optional<float>> floats{1, 2, 3, 4};
  const std::vector<std::optional<float>> shifted{9, 1, 2, 3, 4, 9};
  const std::vector<ArrowPart> columns{
      ArrowFixedLists("embedding", 2, ArrowNumbers("item", "g", wide), {true, true}),
      ArrowFixedLists("embedding", 2, ArrowNumbers("item", "i", whole), {true, true}),
      ArrowFixedLists("embedding", 2, ArrowNumbers("item", "l", large), {true, true}),
      ArrowFixedLists("embedding", 2, ArrowNumbers("item", "e", halves), {true, true}),
      ArrowFixedLists("embedding", 2, ArrowNumbers("item", "f", floats), {true, true}),
      ArrowLists("embedding", "+l", {0, 2, 4}, ArrowNumbers("item", "f", floats)),
      ArrowLists("embedding", "+L", {1, 3, 5}, ArrowNumbers("item", "f", shifted)),
  };
  for (const ArrowPart& column : columns) {
    SCOPED_TRACE(column.format + " of " + column.children[0].format);
    const abi_test::Collection fresh = Fresh();
    MadeStream stream({ArrowStruct("", 2, {column, Ids(2)})});
    const Imported made = Add(fresh, stream);
    ASSERT_TRUE(made.outcome.ok()) << made.outcome;
    EXPECT_TRUE(stream.everything_was_released_once());
    EXPECT_EQ(Dump(fresh), "id0|-|-|-|1.0000,2.0000\nid1|-|-|-|3.0000,4.0000\n");
  }
}

TEST_F(ArrowImport, FieldsOfAStructAreKeysOfMetadata) {
  const std::vector<std::optional<int64_t>> years{1999, std::nullopt, std::nullopt};
  const std::vector<std::optional<uint8_t>> bytes{255, 1, std::nullopt};
  const std::vector<std::optional<int8_t>> small{-128, 1, std::nullopt};
  const std::vector<std::optional<uint64_t>> large{1, uint64_t{1} << 62, std::nullopt};
  const std::vector<std::optional<double>> wide{0.1, 1, std::nullopt};
  const std::vector<std::optional<float>> floats{0.5f, 2, std::nullopt};
  const std::vector<std::optional<uint16_t>> halves{0x3c00, 0x3800, std::nullopt};
  ArrowPart bools = ArrowBools("bool", {true, false, false});
  bools.buffers[0] = std::string("\x03", 1);
  bools.null_count = 1;
  ArrowPart lists =
      ArrowLists("list", "+l", {0, 2, 3, 3}, ArrowTexts("item", "u", {"x", "\"y\"", "z"}));
  lists.buffers[0] = std::string("\x03", 1);
  lists.null_count = 1;
  ArrowPart metadata = ArrowStruct(
      "metadata", 3,
      {ArrowNumbers("year", "l", years), ArrowNumbers("byte", "C", bytes),
       ArrowNumbers("small", "c", small), ArrowNumbers("large", "L", large),
       ArrowNumbers("wide", "g", wide), ArrowNumbers("float", "f", floats),
       ArrowNumbers("half", "e", halves), bools, lists,
       ArrowTexts("text", "vu", {"a \"quoted\" text of \n many bytes", "b", std::nullopt}),
       ArrowNulls("none", 3)});
  MadeStream stream({Batch(3, {metadata})});
  const Imported made = Add(docs_, stream);
  ASSERT_TRUE(made.outcome.ok()) << made.outcome;
  EXPECT_TRUE(stream.everything_was_released_once());
  EXPECT_EQ(Dump(docs_),
            R"(id0|-|{"bool":true,"byte":255,"float":0.5,"half":1.0,"large":1,)"
            R"("list":["x","\"y\""],"small":-128,"text":"a \"quoted\" text of \n many bytes",)"
            R"("wide":0.1,"year":1999}|-|0.0000,1.0000)"
            "\n"
            R"(id1|-|{"bool":false,"byte":1,"float":2.0,"half":0.5,"large":4611686018427387904,)"
            R"("list":["z"],"small":1,"text":"b","wide":1.0}|-|2.0000,3.0000)"
            "\n"
            "id2|-|-|-|4.0000,5.0000\n");
}

TEST_F(ArrowImport, WhatMetadataCannotHoldIsNamed) {
  const auto refused = [&](ArrowPart field) {
    MadeStream stream({Batch(2, {ArrowStruct("metadata", 2, {std::move(field)})})});
    const Imported made = Add(docs_, stream);
    EXPECT_EQ(made.outcome.status, PIGMENT_INVALID_ARGUMENT);
    EXPECT_TRUE(stream.everything_was_released_once());
    return made.outcome;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::optional<double>> wide{1, nan};
  Outcome outcome = refused(ArrowNumbers("x", "g", wide));
  EXPECT_EQ(outcome.row, 1);
  EXPECT_EQ(outcome.message.find("batch 0, row 1: column \"metadata.x\" has NaN"), 0u) << outcome;
  const std::vector<std::optional<uint64_t>> large{1, ~uint64_t{0}};
  outcome = refused(ArrowNumbers("x", "L", large));
  EXPECT_EQ(outcome.detail, PIGMENT_DETAIL_METADATA) << outcome;
  EXPECT_EQ(outcome.row, 1);
  outcome = refused(ArrowTexts("x", "u", {"a", "\xff"}));
  EXPECT_NE(outcome.message.find("not valid UTF-8"), std::string::npos) << outcome;
  EXPECT_EQ(outcome.row, 1);
  outcome = refused(ArrowLists("x", "+l", {0, 1, 2}, ArrowTexts("item", "u", {"a", {}})));
  EXPECT_NE(outcome.message.find("null in a list"), std::string::npos) << outcome;
  outcome = refused(ArrowLists("x", "+l", {0, 1, 1}, ArrowTexts("item", "u", {"a"})));
  EXPECT_EQ(outcome.detail, PIGMENT_DETAIL_METADATA) << "an empty list: " << outcome;
  outcome = refused(ArrowTexts("x", "z", {"a", "b"}));
  EXPECT_NE(outcome.message.find("\"metadata.x\" is of a type that metadata cannot hold"),
            std::string::npos)
      << outcome;
  outcome = refused(ArrowStruct("x", 2, {ArrowTexts("y", "u", {"a", "b"})}));
  EXPECT_NE(outcome.message.find("metadata cannot hold"), std::string::npos) << outcome;
  outcome = refused(ArrowTexts("#x", "u", {"a", "b"}));
  EXPECT_EQ(outcome.detail, PIGMENT_DETAIL_METADATA) << outcome;
  outcome = refused(ArrowTexts("\xff", "u", {"a", "b"}));
  EXPECT_NE(outcome.message.find("name that is not valid UTF-8"), std::string::npos) << outcome;
  uint64_t count = 77;
  ASSERT_TRUE(abi_test::Count(docs_.get(), &count).ok());
  EXPECT_EQ(count, 0u);
}

TEST_F(ArrowImport, ColumnsOfNothingButNullsAreAbsent) {
  Fill();
  ArrowPart nulls = Embeddings(2);
  nulls.buffers[0] = std::string(1, '\0');
  nulls.null_count = 2;
  for (const ArrowPart& embedding : {nulls, ArrowNulls("embedding", 2)}) {
    MadeStream stream({ArrowStruct(
        "", 2,
        {Ids(2), embedding, ArrowTexts("document", "u", {{}, {}}), ArrowNulls("uri", 2),
         ArrowTexts("metadata", "u", {R"({"n":7})", R"({"n":null,"m":1})"})})});
    const Imported made = Import(pigment_collection_update_arrow, docs_.get(), stream.get());
    ASSERT_TRUE(made.outcome.ok()) << made.outcome;
    EXPECT_EQ(made.result.updated, 2u);
    EXPECT_TRUE(stream.everything_was_released_once());
  }
  const std::string dump = Dump(docs_);
  EXPECT_EQ(dump.find("id0|d\xc3\xa9j\xc3\xa0 vu, number 0|{\"f\":1.5,\"n\":7}|-|0.0000,0.5000\n"
                      "id1|-|{\"m\":1}|file:///one|"),
            0u)
      << dump;
}

TEST_F(ArrowImport, EachVerbDoesWhatItsNamesakeDoes) {
  Fill();
  const auto stream_of_seven = [] {
    return MadeStream({Batch(7, {ArrowTexts("uri", "u", {"u", "u", "u", "u", "u", "u", "u"})})});
  };
  MadeStream first = stream_of_seven(), second = stream_of_seven(), third = stream_of_seven();
  Imported made = Import(pigment_collection_update_arrow, docs_.get(), first.get());
  EXPECT_EQ(made.result.updated, 5u) << made.outcome;
  EXPECT_EQ(made.result.skipped, 2u);
  made = Import(pigment_collection_upsert_arrow, docs_.get(), second.get());
  EXPECT_EQ(made.result.updated, 5u) << made.outcome;
  EXPECT_EQ(made.result.inserted, 2u);
  made = Import(pigment_collection_add_arrow, docs_.get(), third.get());
  EXPECT_EQ(made.result.skipped, 7u) << made.outcome;
  EXPECT_EQ(made.result.inserted, 0u);
}

TEST_F(ArrowImport, BatchesAreAppliedOneByOneUntilOneIsWrong) {
  ArrowPart second = Batch(3), wrong = Batch(4);
  second.children[0] = ArrowTexts("id", "u", {"x", "y", "z"});
  wrong.children[0] = ArrowTexts("id", "u", {"p", "q", "q", "r"});
  MadeStream stream({Batch(2), Batch(0), second, wrong, Batch(5)});
  const Imported made = Add(docs_, stream);
  EXPECT_EQ(made.outcome.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(made.outcome.detail, PIGMENT_DETAIL_DUPLICATE_ID);
  EXPECT_EQ(made.outcome.message.find("batch 3"), 0u) << made.outcome;
  EXPECT_EQ(made.batches, 3u);
  EXPECT_EQ(made.result.inserted, 5u);
  EXPECT_GT(made.result.position, 0u);
  EXPECT_EQ(stream.batches_given(), 4u);
  EXPECT_TRUE(stream.everything_was_released_once());
  uint64_t count = 0;
  ASSERT_TRUE(abi_test::Count(docs_.get(), &count).ok());
  EXPECT_EQ(count, 5u);
}

TEST_F(ArrowImport, AStreamThatFailsSaysWhy) {
  MadeStream late({Batch(2), Batch(2)});
  late.fails_at = 1;
  late.error_text = "the cable is cut";
  Imported made = Add(docs_, late);
  EXPECT_EQ(made.outcome.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(made.outcome.message.find("batch 1: the Arrow stream failed with errno 5 ("), 0u)
      << made.outcome;
  EXPECT_NE(made.outcome.message.find("): the cable is cut"), std::string::npos) << made.outcome;
  EXPECT_EQ(made.batches, 1u);
  EXPECT_EQ(made.result.inserted, 2u);
  EXPECT_TRUE(late.everything_was_released_once());

  MadeStream early({Batch(2)});
  early.schema_error = EINVAL;
  made = Add(docs_, early);
  EXPECT_NE(made.outcome.message.find("errno 22"), std::string::npos) << made.outcome;
  EXPECT_TRUE(early.everything_was_released_once());

  MadeStream silent({Batch(2)});
  silent.schema_error = EIO;
  silent.get()->get_last_error = nullptr;
  EXPECT_EQ(Add(docs_, silent).outcome.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_TRUE(silent.everything_was_released_once());

  MadeStream empty({Batch(2)});
  empty.gives_no_schema = true;
  made = Add(docs_, empty);
  EXPECT_NE(made.outcome.message.find("no schema"), std::string::npos) << made.outcome;
  EXPECT_TRUE(empty.everything_was_released_once());
}

// A stream that writes to the collection that it is read into, and says on which threads it was
// asked.
TEST_F(ArrowImport, CallbacksRunOnTheThreadOfTheCallWithNoLockHeld) {
  MadeStream source({Batch(2), Batch(3)});
  struct Asking {
    ArrowArrayStream* inner;
    pigment_collection* collection;
    pigment_client* client;
    int calls = 0;
    std::set<std::thread::id> threads;
    std::vector<Outcome> outcomes;
    void Ask() {
      threads.insert(std::this_thread::get_id());
      abi_test::Batch batch;
      batch.ids.Add("own" + std::to_string(calls++));
      batch.values = {1, 1};
      batch.dimension = 2;
      outcomes.push_back(abi_test::Write(pigment_collection_add, collection, batch));
      outcomes.push_back(Try(pigment_client_flush, client));
    }
  } asking{source.get(), docs_.get(), client_.get(), 0, {}, {}};
  ArrowArrayStream stream{};
  stream.private_data = &asking;
  stream.get_schema = [](ArrowArrayStream* self, ArrowSchema* out) {
    auto& asked = *static_cast<Asking*>(self->private_data);
    asked.Ask();
    return asked.inner->get_schema(asked.inner, out);
  };
  stream.get_next = [](ArrowArrayStream* self, ArrowArray* out) {
    auto& asked = *static_cast<Asking*>(self->private_data);
    asked.Ask();
    return asked.inner->get_next(asked.inner, out);
  };
  stream.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  stream.release = [](ArrowArrayStream* self) {
    auto& asked = *static_cast<Asking*>(self->private_data);
    asked.Ask();
    asked.inner->release(asked.inner);
    self->release = nullptr;
  };
  const Imported made = Import(pigment_collection_add_arrow, docs_.get(), &stream);
  EXPECT_TRUE(made.outcome.ok()) << made.outcome;
  EXPECT_EQ(made.result.inserted, 3u);  // two ids come again
  EXPECT_GE(asking.calls, 5);           // the schema, two batches, the end, the release
  EXPECT_EQ(asking.threads, std::set{std::this_thread::get_id()});
  for (const Outcome& outcome : asking.outcomes) EXPECT_TRUE(outcome.ok()) << outcome;
  uint64_t count = 0;
  ASSERT_TRUE(abi_test::Count(docs_.get(), &count).ok());
  EXPECT_EQ(count, 3u + static_cast<uint64_t>(asking.calls));
  EXPECT_TRUE(source.everything_was_released_once());
}

TEST_F(ArrowImport, TheStreamIsReleasedWhateverElseIsWrong) {
  pigment_cancel* token = nullptr;
  ASSERT_TRUE(Try(pigment_cancel_new, &token).ok());
  const abi_test::Cancel owned(token);
  pigment_cancel_set(token);
  auto cancelled = Sized<pigment_call_options>(), odd = Sized<pigment_call_options>();
  cancelled.cancel = token;
  odd.struct_size = 3;
  pigment_write_result small{};
  struct Case {
    pigment_collection* collection;
    const pigment_call_options* options;
    pigment_write_result* result;
    pigment_status expected;
  };
  for (const Case& one : {Case{nullptr, nullptr, nullptr, PIGMENT_INVALID_ARGUMENT},
                          Case{docs_.get(), &odd, nullptr, PIGMENT_INVALID_ARGUMENT},
                          Case{docs_.get(), nullptr, &small, PIGMENT_INVALID_ARGUMENT},
                          Case{docs_.get(), &cancelled, nullptr, PIGMENT_CANCELLED}}) {
    MadeStream stream({Batch(2)});
    uint64_t batches = 77;
    EXPECT_EQ(Try(pigment_collection_add_arrow, one.collection, stream.get(), one.options,
                  one.result, &batches)
                  .status,
              one.expected);
    EXPECT_EQ(batches, 0u);
    EXPECT_TRUE(stream.everything_was_released_once());
  }
  EXPECT_EQ(Import(pigment_collection_add_arrow, docs_.get(), nullptr).outcome.status,
            PIGMENT_INVALID_ARGUMENT);
  ArrowArrayStream released{};
  EXPECT_EQ(Import(pigment_collection_add_arrow, docs_.get(), &released).outcome.message,
            "argument stream was released");
  MadeStream without({Batch(2)});
  without.get()->get_next = nullptr;
  EXPECT_EQ(Add(docs_, without).outcome.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_TRUE(without.everything_was_released_once());
  ASSERT_TRUE(Try(pigment_client_close, client_.get()).ok());
  MadeStream late({Batch(2)});
  const Imported made = Add(docs_, late);
  EXPECT_EQ(made.outcome.detail, PIGMENT_DETAIL_CLOSED) << made.outcome;
  EXPECT_TRUE(late.everything_was_released_once());
}

TEST_F(ArrowImport, ColumnsThatDoNotFitAreNamed) {
  const std::vector<std::optional<int64_t>> numbers{1, 2};
  const std::vector<std::optional<float>> floats{1, 2, 3, {}};
  const ArrowPart is_null = [] {
    ArrowPart part = Embeddings(2);
    part.buffers[0] = std::string("\x01", 1);
    part.null_count = 1;
    return part;
  }();
  const ArrowPart encoded = [] {
    ArrowPart part = ArrowTexts("uri", "u", {"a", "b"});
    part.spoil_schema = [](ArrowSchema& schema) {
      static ArrowSchema dictionary;
      schema.dictionary = &dictionary;
    };
    return part;
  }();
  struct Case {
    std::vector<ArrowPart> columns;
    const char* message;
    int64_t row = -1;
  };
  const std::vector<Case> cases{
      {{Embeddings(2)}, "the stream has no column \"id\""},
      {{Ids(2), Ids(2)}, "column \"id\" is there twice"},
      {{Ids(2), ArrowNumbers("distance", "l", numbers)}, "column \"distance\" is none that"},
      {{ArrowNumbers("id", "l", numbers)}, "column \"id\" must be a text (Arrow format \"l\")"},
      {{ArrowNulls("id", 2)}, "column \"id\" must be a text"},
      {{Ids(2), ArrowTexts("uri", "z", {"a", "b"})}, "column \"uri\" must be a text"},
      {{Ids(2), ArrowNumbers("document", "l", numbers)}, "column \"document\" must be a text or"},
      {{Ids(2), ArrowNumbers("metadata", "l", numbers)}, "column \"metadata\" must be JSON text"},
      {{Ids(2), ArrowNumbers("embedding", "l", numbers)}, "column \"embedding\" must be a list"},
      {{Ids(2), ArrowLists("embedding", "+l", {0, 1, 2}, Ids(2))}, "must be a list of floats"},
      {{Ids(2), ArrowNumbers("metadata", "tdD", numbers)}, "is of a type that no record has"},
      {{Ids(2), ArrowNumbers("metadata", "+w:x", numbers)}, "is of a type that no record has"},
      {{Ids(2), encoded}, "column \"uri\" is encoded by a dictionary"},
      {{Ids(2), is_null}, "column \"embedding\" is null beside rows that are not", 1},
      {{Ids(2), ArrowFixedLists("embedding", 2, ArrowNumbers("item", "f", floats), {true, true})},
       "column \"embedding\" has a number that is null",
       1},
      {{Ids(2), ArrowLists("embedding", "+l", {0, 2, 5}, Floats(5))}, "has 3 numbers after 2", 1},
      {{Ids(2), ArrowLists("embedding", "+l", {0, 0, 0}, Floats(0))}, "1 to 65535 dimensions"},
      {{ArrowTexts("id", "u", {"a", {}}), Embeddings(2)}, "ids", 1},
      {{ArrowTexts("id", "u", {"a", "\xff"}), Embeddings(2)}, "not valid UTF-8", 1},
      {{Ids(2), Embeddings(2), ArrowTexts("metadata", "u", {"{\"a\":1}", "[]"})}, "metadata", 1},
      {{Ids(2)}, "nothing to embed"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.message);
    MadeStream stream({ArrowStruct("", 2, one.columns)});
    const Imported made = Add(docs_, stream);
    EXPECT_EQ(made.outcome.status, PIGMENT_INVALID_ARGUMENT) << made.outcome;
    EXPECT_NE(made.outcome.message.find(one.message), std::string::npos) << made.outcome;
    EXPECT_EQ(made.outcome.row, one.row) << made.outcome;
    EXPECT_TRUE(stream.everything_was_released_once());
  }
  MadeStream texts({Ids(2)});
  EXPECT_NE(Add(docs_, texts).outcome.message.find("\"+s\", got \"u\""), std::string::npos);
  EXPECT_TRUE(texts.everything_was_released_once());
}

// A column with something wrong that the structs show, beside columns without.
struct Spoiled {
  const char* what;
  ArrowPart part;
  std::function<void(ArrowArray&)> array;
  std::function<void(ArrowSchema&)> schema;
};

std::vector<Spoiled> SpoiledColumns() {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const ArrowPart texts = ArrowTexts("document", "u", {"a", "b", "c"}),
                  larges = ArrowTexts("document", "U", {"a", "b", "c"}),
                  views = ArrowTexts("document", "vu", {"a", "b", "more than twelve bytes"}),
                  lists = ArrowLists("embedding", "+l", {0, 2, 4, 6}, Floats(6)),
                  fixed = Embeddings(3);
  const auto with_buffer = [](ArrowPart part, size_t index, std::string bytes) {
    part.buffers[index] = std::move(bytes);
    return part;
  };
  const auto of_views = [&](int32_t size, int32_t buffer, int32_t offset) {
    std::string bytes(32, '\0');
    bytes += abi_test::BytesOf<int32_t>({size, 0, buffer, offset});
    return with_buffer(views, 1, bytes);
  };
  static const void* no_buffers[4] = {nullptr, nullptr, nullptr, nullptr};
  return {
      {"length", texts, [](ArrowArray& a) { a.length = -1; }, {}},
      {"2 rows where", texts, [](ArrowArray& a) { a.length = 2; }, {}},
      {"offset", texts, [](ArrowArray& a) { a.offset = -1; }, {}},
      {"offset", texts, [](ArrowArray& a) { a.offset = kMax; }, {}},
      {"null_count", texts, [](ArrowArray& a) { a.null_count = -2; }, {}},
      {"null_count 4 (", texts, [](ArrowArray& a) { a.null_count = 4; }, {}},
      {"no validity bitmap", texts, [](ArrowArray& a) { a.null_count = 1; }, {}},
      {"n_buffers", texts, [](ArrowArray& a) { a.n_buffers = 2; }, {}},
      {"n_buffers", texts, [](ArrowArray& a) { a.n_buffers = -1; }, {}},
      {"n_buffers", views, [](ArrowArray& a) { a.n_buffers = 2; }, {}},
      {"buffers are NULL", texts, [](ArrowArray& a) { a.buffers = nullptr; }, {}},
      {"buffer 1 is NULL", texts, [](ArrowArray& a) { a.buffers = no_buffers; }, {}},
      {"buffer 2 is NULL", texts, [](ArrowArray& a) { a.buffers[2] = nullptr; }, {}},
      {"n_children", texts, [](ArrowArray& a) { a.n_children = 1; }, {}},
      {"n_children", fixed, [](ArrowArray& a) { a.n_children = 0; }, {}},
      {"children are NULL", fixed, [](ArrowArray& a) { a.children = nullptr; }, {}},
      {"array that is NULL", fixed, [](ArrowArray& a) { a.children[0] = nullptr; }, {}},
      {"dictionary", texts, [](ArrowArray& a) { a.dictionary = &a; }, {}},
      {"5 rows where", fixed, [](ArrowArray& a) { a.children[0]->length = 5; }, {}},
      {"offset", fixed, [](ArrowArray& a) { a.children[0]->offset = -7; }, {}},
      {"impossible numbers", fixed, [](ArrowArray& a) { a.offset = kMax - 3; }, {}},
      {"offset 2 behind 0, of at most 1",
       lists,
       [](ArrowArray& a) { a.children[0]->length = 1; },
       {}},
      {"offset -1", with_buffer(texts, 1, abi_test::BytesOf<int32_t>({-1, 1, 2, 3})), {}, {}},
      {"offset 0", with_buffer(texts, 1, abi_test::BytesOf<int32_t>({0, 1, 0, 3})), {}, {}},
      {"offset 1", with_buffer(larges, 1, abi_test::BytesOf<int64_t>({2, 1, 2, 3})), {}, {}},
      {"offset -9", with_buffer(larges, 1, abi_test::BytesOf<int64_t>({0, 1, 2, -9})), {}, {}},
      {"not there", of_views(-1, 0, 0), {}, {}},
      {"not there", of_views(13, 1, 0), {}, {}},
      {"not there", of_views(13, -1, 0), {}, {}},
      {"not there", of_views(13, 0, -1), {}, {}},
      {"not there", of_views(22, 0, 3), {}, {}},
      {"not there", of_views(std::numeric_limits<int32_t>::max(), 0, 1), {}, {}},
      {"sizes", views, [](ArrowArray& a) { a.buffers[3] = nullptr; }, {}},
      {"not there", views, [](ArrowArray& a) { a.buffers[2] = nullptr; }, {}},
      {"no name", texts, {}, [](ArrowSchema& s) { s.name = nullptr; }},
      {"without a format", texts, {}, [](ArrowSchema& s) { s.format = nullptr; }},
      {"1 children", texts, {}, [](ArrowSchema& s) { s.n_children = 1; }},
      {"-1 children",
       ArrowStruct("metadata", 3, {}),
       {},
       [](ArrowSchema& s) { s.n_children = -1; }},
      {"children are NULL", fixed, {}, [](ArrowSchema& s) { s.children = nullptr; }},
      {"schema that is NULL", fixed, {}, [](ArrowSchema& s) { s.children[0] = nullptr; }},
  };
}

TEST_F(ArrowImport, StructsThatContradictThemselvesAreRefused) {
  for (const Spoiled& one : SpoiledColumns()) {
    SCOPED_TRACE(std::string(one.what) + " of " + one.part.format);
    ArrowPart part = one.part;
    part.spoil_array = one.array;
    part.spoil_schema = one.schema;
    std::vector<ArrowPart> columns{Ids(3), part};
    if (part.name != "embedding") columns.push_back(Embeddings(3));
    MadeStream stream({ArrowStruct("", 3, columns)});
    const Imported made = Add(docs_, stream);
    EXPECT_EQ(made.outcome.status, PIGMENT_INVALID_ARGUMENT) << made.outcome;
    EXPECT_NE(made.outcome.message.find(one.what), std::string::npos) << made.outcome;
    EXPECT_EQ(made.batches, 0u);
    EXPECT_TRUE(stream.everything_was_released_once());
  }
  uint64_t count = 77;
  ASSERT_TRUE(abi_test::Count(docs_.get(), &count).ok());
  EXPECT_EQ(count, 0u);
}

TEST_F(ArrowImport, BatchesThatContradictThemselvesAreRefused) {
  const std::vector<std::pair<const char*, std::function<void(ArrowArray&)>>> cases{
      {"the batch has an array with length", [](ArrowArray& a) { a.length = -1; }},
      {"the batch has an array with offset", [](ArrowArray& a) { a.offset = -1; }},
      {"the batch has an array with n_children", [](ArrowArray& a) { a.n_children = 1; }},
      {"the batch has an array with n_buffers", [](ArrowArray& a) { a.n_buffers = 0; }},
      {"column \"id\" has an array that was released",
       [](ArrowArray& a) { a.children[0]->release(a.children[0]); }},
      {"column \"id\" has an array of 3 rows where its parent has 4",
       [](ArrowArray& a) { a.length = 4; }},
      {"row 2: the batch has a null for a row",
       [](ArrowArray& a) {
         static const char bits[] = {3};
         a.buffers[0] = bits;
         a.null_count = -1;
       }},
  };
  for (const auto& [message, spoil] : cases) {
    SCOPED_TRACE(message);
    ArrowPart batch = Batch(3);
    batch.spoil_array = spoil;
    MadeStream stream({batch});
    const Imported made = Add(docs_, stream);
    EXPECT_EQ(made.outcome.status, PIGMENT_INVALID_ARGUMENT) << made.outcome;
    EXPECT_NE(made.outcome.message.find(message), std::string::npos) << made.outcome;
    EXPECT_TRUE(stream.everything_was_released_once());
  }
  for (const auto& spoil : std::vector<std::function<void(ArrowSchema&)>>{
           [](ArrowSchema& s) { s.format = nullptr; }, [](ArrowSchema& s) { s.children = nullptr; },
           [](ArrowSchema& s) { s.n_children = -1; },
           [](ArrowSchema& s) { s.children[0]->release(s.children[0]); },
           [](ArrowSchema& s) { s.children[1] = nullptr; }}) {
    ArrowPart batch = Batch(3);
    batch.spoil_schema = spoil;
    MadeStream stream({batch});
    EXPECT_EQ(Add(docs_, stream).outcome.status, PIGMENT_INVALID_ARGUMENT);
    EXPECT_TRUE(stream.everything_was_released_once());
  }
}

TEST_F(ArrowImport, TheEmbeddingFunctionMakesVectorsOfDocuments) {
  pigment_embedding_function function{};
  function.struct_size = sizeof function;
  ASSERT_TRUE(Try(pigment_embedding_function_lexical, size_t{8}, &function).ok());
  pigment_collection_options options{};
  pigment_collection_options_init(&options);
  options.embedding_function = &function;
  abi_test::Collection words;
  ASSERT_TRUE(abi_test::Create(client_.get(), "words", &words, &options).ok());
  MadeStream stream({ArrowStruct("", 2, {Ids(2), ArrowTexts("document", "u", {"a", "b"})})});
  const Imported made = Add(words, stream);
  EXPECT_EQ(made.result.inserted, 2u) << made.outcome;
}

}  // namespace
