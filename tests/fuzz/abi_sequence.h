// SPDX-License-Identifier: Apache-2.0
//
// The sequence of calls that an input of the fuzzer stands for. One thread.

#pragma once

#include <vector>

#include "tests/fuzz/abi_calls_database.h"
#include "tests/fuzz/abi_calls_host.h"

namespace abi_fuzz {

inline std::vector<Entry>& Table() {
  static std::vector<Entry> table = [] {
    std::vector<Entry> made;
    AddDatabaseCalls(made);
    AddHostCalls(made);
    return made;
  }();
  return table;
}

// Begins with one open client and one collection, so that short inputs get somewhere.
inline void RunSequence(const uint8_t* data, size_t size, std::vector<Entry>& table) {
  constexpr size_t kCallsMax = 200;
  Input input(data, size);
  TheScratch().Empty();
  World world;
  pigment_client* client = nullptr;
  Require(pigment_client_open(nullptr, 0, nullptr, &client, nullptr) == PIGMENT_OK,
          "a store in memory opens");
  world.clients.push_back(client);
  pigment_collection* collection = nullptr;
  Require(pigment_client_create_collection(client, nullptr, "docs", 4, nullptr, &collection,
                                           nullptr) == PIGMENT_OK,
          "a collection is made");
  world.collections.push_back(collection);
  for (size_t call = 0; call < kCallsMax && !input.empty(); ++call) {
    Entry& entry = table[input.Byte() % table.size()];
    Arguments arguments(input);
    ++entry.calls;
    entry.run(world, arguments);
  }
}

}  // namespace abi_fuzz
