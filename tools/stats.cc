// SPDX-License-Identifier: Apache-2.0
//
// pigment stats DIR and pigment migrations DIR: what pigment_client_statistics gives.

#include <cstdio>
#include <memory>

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

nlohmann::json StatisticsOf(const std::string& directory) {
  const Client client = OpenToRead(directory);
  pigment_buffer* json = nullptr;
  pigment_error* error = nullptr;
  Check(pigment_client_statistics(client.get(), &json, &error), error);
  return TakeJson(json);
}

int RunStats(const std::string& directory, bool is_json) {
  const nlohmann::json statistics = StatisticsOf(directory);
  if (is_json) {
    PrintJson(statistics);
    return kFine;
  }
  Table table({"what", "value"});
  // "log.bytes" and the like; a store that is read has no log of its own.
  for (const auto& [key, value] : statistics.items()) {
    if (!value.is_object()) {
      if (!value.is_array() && !value.is_null()) table.Add({key, value.dump()});
      continue;
    }
    for (const auto& [name, inner] : value.items()) {
      const bool is_bytes = name.ends_with("bytes") && inner.is_number_unsigned();
      table.Add({key + "." + name, is_bytes ? PrintBytes(inner.get<uint64_t>()) : inner.dump()});
    }
  }
  table.Print();
  return kFine;
}

int RunMigrations(const std::string& directory, bool is_json) {
  const nlohmann::json migrations = StatisticsOf(directory).at("migrations");
  if (is_json) {
    PrintJson(migrations);
    return kFine;
  }
  Table table({"number", "name", "applied by"});
  for (const auto& migration : migrations) {
    table.Add({migration["number"], migration["name"], migration["version"]});
  }
  table.Print();
  return kFine;
}

void Add(Program& program, const char* name, const char* description,
         int (*run)(const std::string&, bool)) {
  const Command command = AddCommand(program, name, description);
  const auto directory = std::make_shared<std::string>();
  AddStore(command, "DIR", *directory, "the store");
  command.OnGiven([&program, directory, run] {
    program.run = [&program, directory, run] { return run(*directory, program.is_json); };
  });
}

}  // namespace

void AddStats(Program& program) {
  Add(program, "stats", "show how a store is: log, catalog, memory, formats", RunStats);
}

void AddMigrations(Program& program) {
  Add(program, "migrations", "list the changes of format that were applied", RunMigrations);
}

}  // namespace pigment_tool
