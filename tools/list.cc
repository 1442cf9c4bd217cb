// SPDX-License-Identifier: Apache-2.0
//
// pigment list DIR

#include <memory>

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

struct Arguments {
  std::string directory;
  Selection selection;
};

int Run(const Arguments& arguments, bool is_json) {
  const Client client = OpenToRead(arguments.directory);
  nlohmann::json all = nlohmann::json::array();
  ForEachCollection(client.get(), arguments.selection,
                    [&](const Place&, pigment_collection* collection) {
                      nlohmann::json described = Describe(collection);
                      described["count"] = CountOf(collection);
                      all.push_back(std::move(described));
                    });
  if (is_json) {
    PrintJson(all);
    return kFine;
  }
  Table table({"tenant", "database", "collection", "records", "dimension", "index"});
  for (const auto& each : all) {
    table.Add({each["tenant"], each["database"], each["name"], each["count"],
               each["dimension"].is_null() ? nlohmann::json("-") : each["dimension"],
               IndexOf(each)});
  }
  table.Print();
  return kFine;
}

}  // namespace

void AddList(Program& program) {
  const Command command = AddCommand(program, "list", "list collections with their counts");
  const auto arguments = std::make_shared<Arguments>();
  AddStore(command, "DIR", arguments->directory, "the store");
  AddScope(command, arguments->selection.tenant, arguments->selection.database);
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
