// SPDX-License-Identifier: Apache-2.0
//
// pigment check DIR

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
  for (const auto& finding : report["findings"]) {
    std::string line = finding["severity"].get<std::string>() + ": ";
    if (const auto collection = finding["collection"].get<std::string>(); !collection.empty()) {
      line += "collection \"" + collection + "\": ";
    }
    line += finding["message"].get<std::string>();
    if (const auto file = finding["file"].get<std::string>(); !file.empty()) {
      line += " (" + file;
      if (finding["offset"].get<int64_t>() >= 0) line += " at " + finding["offset"].dump();
      line += ")";
    }
    std::puts(line.c_str());
  }
  const auto& totals = report["totals"];
  std::printf("%s collections, %s segments, %s live rows, %s log batches; %s in %s files read\n",
              totals["collections"].dump().c_str(), totals["segments"].dump().c_str(),
              totals["live_rows"].dump().c_str(), totals["log_batches"].dump().c_str(),
              PrintBytes(totals["bytes"].get<uint64_t>()).c_str(), totals["files"].dump().c_str());
  std::printf("%s errors, %s warnings: %s\n", report["errors"].dump().c_str(),
              report["warnings"].dump().c_str(),
              report["clean"].get<bool>() ? "the store is whole" : "the store is damaged");
}

}  // namespace

void AddCheck(Program& program) {
  const Command command = AddCommand(
      program, "check", "read every byte of a store and compare everything; exits 1 on damage");
  struct Arguments {
    std::string directory;
    bool is_full = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  AddStore(command, "DIR", arguments->directory, "the store, open or not");
  command.AddFlag("--full", arguments->is_full, "search for every row by its own vector");
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] {
      CatchInterrupts();
      pigment_buffer* json = nullptr;
      const std::string& directory = arguments->directory;
      RunLong("check", [&](const auto& options) {
        pigment_error* error = nullptr;
        Check(pigment_check(directory.data(), directory.size(), arguments->is_full, &options, &json,
                            &error),
              error);
      });
      const nlohmann::json report = TakeJson(json);
      if (program.is_json) {
        PrintJson(report);
      } else {
        PrintReport(report);
      }
      return report["clean"].get<bool>() ? kFine : kFound;
    };
  });
}

}  // namespace pigment_tool
