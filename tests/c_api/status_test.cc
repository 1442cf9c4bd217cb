// SPDX-License-Identifier: Apache-2.0
//
// The status table: header, table in the engine, answers of the library and document agree.

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "pigment/pigment.h"
#include "tests/c_api/header.h"

namespace {

struct Row {
  std::string enumerator, name, text, sqlstate, retry, fault;
  int64_t number = 0;
};

std::map<int64_t, Row> Table() {
  const std::string text =
      abi_test::ReadFile(std::string(PIGMENT_SOURCE_DIR) + "/engine/base/status_codes.def");
  std::map<int64_t, Row> rows;
  for (
      const auto& parts : abi_test::FindAll(
          text,
          R"re(PIGMENT_STATUS\((\w+), (\w+), (\d+), "([^"]*)", "(\w+)", (true|false),\s+(\w+)\))re")) {
    Row row;
    row.enumerator = parts[0];
    row.name = parts[1];
    row.number = std::stoll(parts[2]);
    row.text = parts[3];
    row.sqlstate = parts[4];
    row.retry = parts[5];
    row.fault = parts[6];
    rows[row.number] = row;
  }
  return rows;
}

// The names of the header that are codes: an enumerator without a group word.
std::map<std::string, int64_t> HeaderCodes() {
  const std::string text = abi_test::HeaderText("pigment.h");
  const size_t begin = text.find("PIGMENT_OK = 0");
  const size_t end = text.find('}', begin);
  const std::string block = text.substr(begin, end - begin);
  std::map<std::string, int64_t> codes;
  for (const auto& parts : abi_test::FindAll(block, "PIGMENT_([A-Z_]+) = ([0-9]+)"))
    codes[parts[0]] = std::stoll(parts[1]);
  return codes;
}

TEST(StatusTable, HeaderAndTableHaveTheSameCodes) {
  const auto rows = Table();
  ASSERT_EQ(rows.size(), 19u);
  std::map<std::string, int64_t> from_table;
  for (const auto& [number, row] : rows) from_table[row.name] = number;
  EXPECT_EQ(HeaderCodes(), from_table);
}

TEST(StatusTable, FactsAboutACodeAreThoseOfTheTable) {
  const std::map<std::string, int32_t> faults = {{"kNone", PIGMENT_FAULT_NONE},
                                                 {"kCaller", PIGMENT_FAULT_CALLER},
                                                 {"kEnvironment", PIGMENT_FAULT_ENVIRONMENT},
                                                 {"kLibrary", PIGMENT_FAULT_LIBRARY}};
  for (const auto& [number, row] : Table()) {
    const auto status = static_cast<pigment_status>(number);
    SCOPED_TRACE(row.name);
    EXPECT_EQ(pigment_status_name(status), row.text);
    EXPECT_EQ(pigment_status_sqlstate(status), row.sqlstate);
    EXPECT_EQ(std::strlen(pigment_status_sqlstate(status)), 5u);
    EXPECT_EQ(pigment_status_retryable(status), row.retry == "true");
    EXPECT_EQ(pigment_status_fault(status), faults.at(row.fault));
  }
}

TEST(StatusTable, UnknownNumbersHaveNoFacts) {
  for (const pigment_status status : {-1, 19, 1000, INT32_MIN, INT32_MAX}) {
    EXPECT_EQ(pigment_status_name(status), nullptr);
    EXPECT_EQ(pigment_status_sqlstate(status), nullptr);
    EXPECT_FALSE(pigment_status_retryable(status));
    EXPECT_EQ(pigment_status_fault(status), PIGMENT_FAULT_NONE);
  }
}

TEST(StatusTable, StringsAreStatic) {
  for (pigment_status status = 0; status <= PIGMENT_UNPROCESSABLE_ENTITY; ++status) {
    const char* name = nullptr;
    const char* sqlstate = nullptr;
    std::thread([&] {
      name = pigment_status_name(status);
      sqlstate = pigment_status_sqlstate(status);
    }).join();
    EXPECT_EQ(static_cast<const void*>(pigment_status_name(status)), name);
    EXPECT_EQ(static_cast<const void*>(pigment_status_sqlstate(status)), sqlstate);
  }
}

TEST(StatusTable, DocumentHasOneRowPerCodeWithTheSameFacts) {
  const std::string document =
      abi_test::ReadFile(std::string(PIGMENT_SOURCE_DIR) + "/docs/status-codes.md");
  const std::map<std::string, std::string> faults = {{"kNone", "-"},
                                                     {"kCaller", "caller"},
                                                     {"kEnvironment", "environment"},
                                                     {"kLibrary", "library"}};
  for (const auto& [number, row] : Table()) {
    const std::string line = "| " + std::to_string(number) + " | `PIGMENT_" + row.name + "` | " +
                             row.sqlstate + " | " + (row.retry == "true" ? "yes" : "no") + " | " +
                             faults.at(row.fault) + " |";
    EXPECT_NE(document.find(line), std::string::npos) << "docs/status-codes.md lacks: " << line;
  }
  EXPECT_EQ(abi_test::FindAll(document, R"(\| \d+ \| `(PIGMENT_[A-Z_]+)` \| \w{5} \|)").size(),
            Table().size());
}

TEST(StatusTable, DocumentNamesEveryDetail) {
  const std::string document =
      abi_test::ReadFile(std::string(PIGMENT_SOURCE_DIR) + "/docs/status-codes.md");
  const auto details = abi_test::Constants("pigment.h", "PIGMENT_DETAIL_");
  ASSERT_GE(details.size(), 25u);
  std::set<int64_t> numbers;
  for (const auto& [name, number] : details) {
    EXPECT_TRUE(numbers.insert(number).second) << name << " has the number of another detail";
    const std::string line = "| " + std::to_string(number) + " | `PIGMENT_DETAIL_" + name + "` |";
    EXPECT_NE(document.find(line), std::string::npos) << "docs/status-codes.md lacks: " << line;
  }
}

TEST(StatusTable, EngineAndHeaderHaveTheSameDetails) {
  const std::string text =
      abi_test::ReadFile(std::string(PIGMENT_SOURCE_DIR) + "/engine/base/status.h");
  const size_t begin = text.find("enum class Detail");
  const std::string block = text.substr(begin, text.find("};", begin) - begin);
  std::set<int64_t> numbers;
  for (const auto& parts : abi_test::FindAll(block, R"(\bk[A-Z]\w* = (\d+))"))
    numbers.insert(std::stoll(parts[0]));
  std::set<int64_t> of_header;
  for (const auto& [name, number] : abi_test::Constants("pigment.h", "PIGMENT_DETAIL_"))
    of_header.insert(number);
  EXPECT_EQ(of_header, numbers);
}

TEST(Version, LibraryIsTheOneOfTheHeader) {
  EXPECT_EQ(pigment_abi_version(), PIGMENT_ABI_VERSION);
  const std::string version = std::to_string(PIGMENT_VERSION_MAJOR) + "." +
                              std::to_string(PIGMENT_VERSION_MINOR) + "." +
                              std::to_string(PIGMENT_VERSION_PATCH);
  EXPECT_EQ(pigment_version(), version);
  const std::string info = pigment_build_info();
  for (const std::string& part : {version, std::string("revision "), std::string("SIMD ")}) {
    EXPECT_NE(info.find(part), std::string::npos) << info;
  }
  EXPECT_EQ(static_cast<const void*>(pigment_build_info()),
            static_cast<const void*>(pigment_build_info()));
  EXPECT_EQ(static_cast<const void*>(pigment_version()),
            static_cast<const void*>(pigment_version()));
}

TEST(Clock, DoesNotGoBack) {
  int64_t before = pigment_now_ns();
  EXPECT_GT(before, 0);
  for (int i = 0; i < 1000; ++i) {
    const int64_t now = pigment_now_ns();
    ASSERT_GE(now, before);
    before = now;
  }
}

}  // namespace
