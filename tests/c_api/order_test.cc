// SPDX-License-Identifier: Apache-2.0
//
// When several things are wrong, the order of validation is fixed: where, where_document,
// collection, dimension, then the rest. Every combination of wrongs, for every call that has them.

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/c_api/abi.h"

namespace {

using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;

constexpr int kWrongWhere = 1, kWrongWhereDocument = 2, kWrongCollection = 4, kWrongDimension = 8,
              kWrongRest = 16;

const std::string kBadWhere = R"({"k":{"$nope":1}})";
const std::string kBadWhereDocument = R"({"$nope":"x"})";

// Which of the wrongs an outcome is about; 0 for success.
int WrongOf(const Outcome& outcome) {
  if (outcome.ok()) return 0;
  if (outcome.detail == PIGMENT_DETAIL_FILTER) {
    return outcome.message.rfind("where_document", 0) == 0 ? kWrongWhereDocument : kWrongWhere;
  }
  if (outcome.status == PIGMENT_NOT_FOUND || outcome.detail == PIGMENT_DETAIL_CLOSED ||
      outcome.detail == PIGMENT_DETAIL_STALE) {
    return kWrongCollection;
  }
  return outcome.detail == PIGMENT_DETAIL_DIMENSION ? kWrongDimension : kWrongRest;
}

int FirstOf(int wrongs) { return wrongs & -wrongs; }

class Fixture : public ::testing::Test {
 protected:
  void SetUp() override {
    client_ = abi_test::OpenMemory();
    ASSERT_NE(client_, nullptr);
    ASSERT_TRUE(abi_test::Create(client_.get(), "alive", &alive_).ok());
    ASSERT_TRUE(abi_test::Create(client_.get(), "gone", &gone_).ok());
    abi_test::Batch batch;
    batch.ids.Add("a");
    batch.values = {1, 2};
    batch.dimension = 2;
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, alive_.get(), batch).ok());
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, gone_.get(), batch).ok());
    ASSERT_TRUE(Try(pigment_client_delete_collection, client_.get(),
                    static_cast<const pigment_scope*>(nullptr), "gone", size_t{4})
                    .ok());
  }

  pigment_collection* Target(int wrongs) {
    return (wrongs & kWrongCollection) != 0 ? gone_.get() : alive_.get();
  }

  template <typename Request>
  static void SetFilters(int wrongs, Request* request) {
    static const std::string good = R"({"k":{"$ne":1}})",
                             good_document = R"({"$not_contains":"x"})";
    const std::string& where = (wrongs & kWrongWhere) != 0 ? kBadWhere : good;
    const std::string& where_document =
        (wrongs & kWrongWhereDocument) != 0 ? kBadWhereDocument : good_document;
    request->where_json = where.data();
    request->where_json_size = where.size();
    request->where_document_json = where_document.data();
    request->where_document_json_size = where_document.size();
  }

  Outcome Query(int wrongs, int rest) {
    const std::vector<float> good{1, 2}, bad{1, 2, 3};
    const bool mismatch = (wrongs & kWrongDimension) != 0;
    pigment_query_request request = abi_test::QueryFor(mismatch ? bad : good, mismatch ? 3 : 2);
    SetFilters(wrongs, &request);
    static const abi_test::Texts absent = abi_test::Texts().AddAbsent();
    if ((wrongs & kWrongRest) != 0) {
      if (rest == 0) request.n_results = 0;
      if (rest == 1) request.include = 1 << 20;
      if (rest == 2) {
        request.ids = absent.column();
        request.ids_count = 1;
      }
      if (rest == 3) request.embeddings.dtype = 99;
    }
    abi_test::ResultHandle result;
    return abi_test::Query(Target(wrongs), request, &result);
  }

  Outcome Get(int wrongs, int rest) {
    auto request = Sized<pigment_get_request>();
    SetFilters(wrongs, &request);
    static const abi_test::Texts twice{"a", "a"}, none;
    if ((wrongs & kWrongRest) != 0) {
      if (rest == 0) {
        request.has_limit = true;
        request.limit = -1;
      }
      if (rest == 1) request.offset = -1;
      if (rest == 2) {
        request.ids = twice.column();
        request.ids_count = 2;
      }
      if (rest == 3) request.include = PIGMENT_INCLUDE_DISTANCES;
    }
    abi_test::ResultHandle result;
    return abi_test::Get(Target(wrongs), request, &result);
  }

  Outcome Delete(int wrongs, int rest) {
    auto request = Sized<pigment_delete_request>();
    SetFilters(wrongs, &request);
    static const abi_test::Texts twice{"a", "a"}, none;
    if ((wrongs & kWrongRest) != 0) {
      if (rest == 0) {
        request.has_limit = true;
        request.limit = -1;
      }
      if (rest == 1) {
        request.ids = twice.column();
        request.ids_count = 2;
      }
      if (rest >= 2) request.ids = none.column();
    }
    return Try(pigment_collection_delete, Target(wrongs), &request,
               static_cast<const pigment_call_options*>(nullptr),
               static_cast<pigment_write_result*>(nullptr));
  }

  Outcome Write(abi_test::WriteFunction function, int wrongs, int rest) {
    abi_test::Batch batch;
    const bool mismatch = (wrongs & kWrongDimension) != 0;
    batch.ids.Add("b");
    batch.dimension = mismatch ? 3 : 2;
    batch.values.assign(batch.dimension, 1.0f);
    if ((wrongs & kWrongRest) != 0) {
      if (rest == 0) batch.ids.Add("b");
      if (rest == 1) batch.values[0] = std::numeric_limits<float>::quiet_NaN();
      if (rest == 2) batch.metadatas.emplace().Add("{}");
      if (rest == 3) batch.ids = abi_test::Texts{""};
    }
    return abi_test::Write(function, Target(wrongs), batch);
  }

  Outcome Run(const std::string& call, int wrongs, int rest) {
    if (call == "query") return Query(wrongs, rest);
    if (call == "get") return Get(wrongs, rest);
    if (call == "delete") return Delete(wrongs, rest);
    if (call == "add") return Write(pigment_collection_add, wrongs, rest);
    if (call == "update") return Write(pigment_collection_update, wrongs, rest);
    return Write(pigment_collection_upsert, wrongs, rest);
  }

  abi_test::Client client_;
  abi_test::Collection alive_, gone_;
};

class Order : public Fixture, public ::testing::WithParamInterface<const char*> {};

TEST_P(Order, TheFirstWrongIsTheOneThatIsReported) {
  const std::string call = GetParam();
  const bool filters = call == "query" || call == "get" || call == "delete";
  const bool dimension = call != "get" && call != "delete";
  int combinations = 0;
  for (int wrongs = 1; wrongs < 32; ++wrongs) {
    if (!filters && (wrongs & (kWrongWhere | kWrongWhereDocument)) != 0) continue;
    if (!dimension && (wrongs & kWrongDimension) != 0) continue;
    for (int rest = 0; rest < 4; ++rest) {
      const Outcome outcome = Run(call, wrongs, rest);
      EXPECT_EQ(WrongOf(outcome), FirstOf(wrongs))
          << "wrongs " << wrongs << ", rest " << rest << ": " << outcome;
      ++combinations;
    }
  }
  EXPECT_GE(combinations, 4 * 7);
  for (int rest = 0; rest < 4; ++rest) EXPECT_TRUE(Run(call, 0, rest).ok());
}

INSTANTIATE_TEST_SUITE_P(Calls, Order,
                         ::testing::Values("query", "get", "delete", "add", "update", "upsert"),
                         [](const auto& info) { return std::string(info.param); });

using OrderOfCollectionStep = Fixture;

TEST_F(OrderOfCollectionStep, AClosedClientBelongsToIt) {
  ASSERT_TRUE(Try(pigment_client_close, client_.get()).ok());
  for (const int wrongs : {0, kWrongDimension, kWrongRest, kWrongDimension | kWrongRest}) {
    EXPECT_EQ(Query(wrongs, 0).detail, PIGMENT_DETAIL_CLOSED) << wrongs;
  }
  EXPECT_EQ(WrongOf(Query(kWrongWhere | kWrongRest, 0)), kWrongWhere);
}

TEST_F(OrderOfCollectionStep, StaleBelongsToIt) {
  const std::vector<float> bad{1, 2, 3};
  pigment_query_request request = abi_test::QueryFor(bad, 3, 0);
  auto options = Sized<pigment_call_options>();
  options.min_position = UINT64_MAX;
  abi_test::ResultHandle result;
  EXPECT_EQ(abi_test::Query(alive_.get(), request, &result, &options).detail, PIGMENT_DETAIL_STALE);
}

}  // namespace
