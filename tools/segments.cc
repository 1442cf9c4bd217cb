// SPDX-License-Identifier: Apache-2.0
//
// pigment segments DIR [COLLECTION]

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
                    [&](const Place& place, pigment_collection* collection) {
                      pigment_buffer* json = nullptr;
                      pigment_error* error = nullptr;
                      Check(pigment_collection_segments(collection, &json, &error), error);
                      for (auto segment : TakeJson(json)) {
                        segment["tenant"] = place.tenant;
                        segment["database"] = place.database;
                        segment["collection"] = place.name;
                        all.push_back(std::move(segment));
                      }
                    });
  if (is_json) {
    PrintJson(all);
    return kFine;
  }
  Table table({"collection", "segment", "kind", "rows", "live rows", "bytes", "deletions"});
  for (const auto& segment : all) {
    table.Add({segment["collection"], segment["segment"], segment["kind"], segment["rows"],
               segment["live_rows"], segment["bytes"], segment["deletions_bytes"]});
  }
  table.Print();
  return kFine;
}

}  // namespace

void AddSegments(Program& program) {
  const Command command = AddCommand(program, "segments", "list the segments of collections");
  const auto arguments = std::make_shared<Arguments>();
  AddStore(command, "DIR", arguments->directory, "the store");
  command.AddOption("COLLECTION", arguments->selection.collection, "one collection, by name");
  command.AddOption("--tenant", arguments->selection.tenant, "of that tenant");
  command.AddOption("--database", arguments->selection.database, "of that database");
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
