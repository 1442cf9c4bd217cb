// SPDX-License-Identifier: Apache-2.0
//
// pigment compact DIR [COLLECTION]

#include <memory>

#include "tools/commands.h"
#include "tools/long_call.h"
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
  CatchInterrupts();
  const Client client = OpenToWrite(arguments.directory);
  nlohmann::json all = nlohmann::json::array();
  ForEachCollection(
      client.get(), arguments.selection, [&](const Place& place, pigment_collection* collection) {
        pigment_compaction done{};
        done.struct_size = sizeof done;
        RunLong("compact \"" + place.name + "\"", [&](const auto& options) {
          pigment_error* error = nullptr;
          Check(pigment_collection_compact(collection, &options, &done, &error), error);
        });
        all.push_back({{"tenant", place.tenant},
                       {"database", place.database},
                       {"collection", place.name},
                       {"records", done.records},
                       {"segments_in", done.segments_in},
                       {"segments_out", done.segments_out},
                       {"bytes_before", done.bytes_before},
                       {"bytes_after", done.bytes_after}});
      });
  Close(client.get());
  if (is_json) {
    PrintJson(all);
    return kFine;
  }
  Table table({"collection", "records", "segments", "now", "bytes", "now"});
  for (const auto& each : all) {
    table.Add({each["collection"], each["records"], each["segments_in"], each["segments_out"],
               each["bytes_before"], each["bytes_after"]});
  }
  table.Print();
  return kFine;
}

}  // namespace

void AddCompact(Program& program) {
  const Command command = AddCommand(program, "compact", "merge segments and give disk space back");
  const auto arguments = std::make_shared<Arguments>();
  AddStore(command, "DIR", arguments->directory, "the store; nobody else may write to it");
  command.AddOption("COLLECTION", arguments->selection.collection, "one collection, by name");
  command.AddOption("--tenant", arguments->selection.tenant, "of that tenant");
  command.AddOption("--database", arguments->selection.database, "of that database");
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
