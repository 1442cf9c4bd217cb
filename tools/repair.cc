// SPDX-License-Identifier: Apache-2.0
//
// pigment repair FROM TO

#include <cstdio>
#include <memory>

#include "tools/commands.h"
#include "tools/long_call.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

void PrintReport(const nlohmann::json& report) {
  for (const auto& message : report["messages"]) {
    std::puts(message.get_ref<const std::string&>().c_str());
  }
  Table table({"collection", "rows", "rows lost", "deletions lost", "segments rewritten"});
  for (const auto& each : report["collections"]) {
    table.Add({each["name"], each["rows"], each["rows_lost"], each["deletions_lost"],
               each["segments_rewritten"]});
  }
  table.Print();
  std::printf("catalog %s; %s log batches kept, %s lost; %s\n",
              report["catalog"].get<std::string>().c_str(), report["log_batches"].dump().c_str(),
              report["log_batches_lost"].dump().c_str(),
              report["lossless"].get<bool>() ? "nothing is lost" : "something is lost");
}

}  // namespace

void AddRepair(Program& program) {
  const Command command =
      AddCommand(program, "repair",
                 "write a new store with everything of a damaged one; exits 1 when some is lost");
  struct Arguments {
    std::string from;
    std::string to;
  };
  const auto arguments = std::make_shared<Arguments>();
  AddStore(command, "FROM", arguments->from, "the damaged store; is not changed");
  AddStore(command, "TO", arguments->to, "a directory that is missing or empty");
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] {
      CatchInterrupts();
      pigment_buffer* json = nullptr;
      const std::string& from = arguments->from;
      const std::string& to = arguments->to;
      RunLong("repair", [&](const auto& options) {
        pigment_error* error = nullptr;
        Check(
            pigment_repair(from.data(), from.size(), to.data(), to.size(), &options, &json, &error),
            error);
      });
      const nlohmann::json report = TakeJson(json);
      if (program.is_json) {
        PrintJson(report);
      } else {
        PrintReport(report);
      }
      return report["lossless"].get<bool>() ? kFine : kFound;
    };
  });
}

}  // namespace pigment_tool
