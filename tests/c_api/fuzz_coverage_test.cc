// SPDX-License-Identifier: Apache-2.0
//
// The fuzzer's table of calls has every exported function, and random inputs reach each of them.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/c_api/header.h"
#include "tests/fuzz/abi_sequence.h"

namespace {

std::set<std::string> Exported() {
  std::set<std::string> names = abi_test::DeclaredFunctions("pigment.h");
  names.merge(abi_test::DeclaredFunctions("pigment_host.h"));
  return names;
}

TEST(AbiFuzz, TableHasEveryExportedFunctionOnce) {
  const std::set<std::string> exported = Exported();
  ASSERT_GE(exported.size(), 120u);
  std::set<std::string> in_table;
  for (const auto& entry : abi_fuzz::Table()) {
    EXPECT_TRUE(in_table.insert(entry.name).second) << entry.name << " is there twice";
    EXPECT_TRUE(exported.contains(entry.name)) << entry.name << " is not exported";
  }
  for (const std::string& name : exported)
    EXPECT_TRUE(in_table.contains(name)) << name << " is not fuzzed";
  EXPECT_LE(abi_fuzz::Table().size(), 256u) << "a byte chooses the call";
}

TEST(AbiFuzz, RandomInputsReachEveryFunction) {
  constexpr uint64_t kSeed = 20261121;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  auto& table = abi_fuzz::Table();
  for (auto& entry : table) entry.calls = 0;
  for (int run = 0; run < 60; ++run) {
    std::vector<uint8_t> bytes(4096);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    abi_fuzz::RunSequence(bytes.data(), bytes.size(), table);
  }
  for (const auto& entry : table) EXPECT_GT(entry.calls, 0u) << entry.name;
}

}  // namespace
