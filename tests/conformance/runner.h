// SPDX-License-Identifier: Apache-2.0
//
// Runs the language-neutral scripts of this folder through the C interface: one step (op, args)
// becomes calls and a JSON answer or an error. README.md defines the format; a binding's runner
// does the same in its own language. One thread. A Runner owns the client and collections of one
// script.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/c_api/abi.h"
#include "tests/support/json.h"

namespace conformance {

using Json = nlohmann::json;

// What a step gave: the answer, or the outcome of the call that failed.
struct Answer {
  Json value;
  abi_test::Outcome outcome;
};

class Runner {
 public:
  // `directory` empty: in memory.
  explicit Runner(std::string directory);
  ~Runner();

  // Executes one step; an op or argument that the format does not know is an exception (the script
  // is wrong).
  Answer Execute(const Json& step);

 private:
  struct Column;
  using Op = Answer (Runner::*)(const Json& args);

  Answer Reopen(const Json& args);
  Answer Close(const Json& args);
  Answer CreateTenant(const Json& args);
  Answer GetTenant(const Json& args);
  Answer ListTenants(const Json& args);
  Answer DeleteTenant(const Json& args);
  Answer CreateDatabase(const Json& args);
  Answer GetDatabase(const Json& args);
  Answer ListDatabases(const Json& args);
  Answer DeleteDatabase(const Json& args);
  Answer CreateCollection(const Json& args);
  Answer GetCollection(const Json& args);
  Answer GetCollectionById(const Json& args);
  Answer ListCollections(const Json& args);
  Answer CountCollections(const Json& args);
  Answer DeleteCollection(const Json& args);
  Answer Describe(const Json& args);
  Answer Modify(const Json& args);
  Answer Fork(const Json& args);
  Answer Flush(const Json& args);
  Answer Add(const Json& args);
  Answer Update(const Json& args);
  Answer Upsert(const Json& args);
  Answer Delete(const Json& args);
  Answer Get(const Json& args);
  Answer Peek(const Json& args);
  Answer Count(const Json& args);
  Answer Facets(const Json& args);
  Answer Query(const Json& args);

  static const std::map<std::string, Op>& Ops();
  Answer Write(abi_test::WriteFunction function, const Json& args);
  Answer Keep(const abi_test::Outcome& outcome, pigment_collection* made, const Json& args);
  pigment_collection* Handle(const Json& args) const;

  std::string directory_;
  abi_test::Client client_;
  std::map<std::string, abi_test::Collection> collections_;
  std::string cursor_;  // of the last get
};

// Why `actual` is not what `expected` asks for; nothing when it is. See README.md for what matches
// what.
std::optional<std::string> Mismatch(const Json& expected, const Json& actual,
                                    const std::string& path = "$");
std::optional<std::string> ErrorMismatch(const Json& expected, const abi_test::Outcome& outcome);

struct Step {
  size_t line = 0;
  Json json;
};
struct Script {
  std::string file;
  std::string name;
  std::string home;  // "both", "memory" or "directory"
  std::vector<Step> steps;
};
// Reads the scripts of a file; throws with file and line when a line is not what the format says.
std::vector<Script> ReadScripts(const std::string& path);

}  // namespace conformance
