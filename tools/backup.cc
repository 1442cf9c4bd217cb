// SPDX-License-Identifier: Apache-2.0
//
// pigment backup DIR TO

#include <cstdio>
#include <memory>

#include "tools/commands.h"
#include "tools/long_call.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/session.h"

namespace pigment_tool {

void AddBackup(Program& program) {
  const Command command =
      AddCommand(program, "backup", "copy a store, also beside a process that writes to it");
  struct Arguments {
    std::string directory;
    std::string to;
  };
  const auto arguments = std::make_shared<Arguments>();
  AddStore(command, "DIR", arguments->directory, "the store");
  AddStore(command, "TO", arguments->to, "a directory that is missing or empty");
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] {
      CatchInterrupts();
      const Client client = OpenToRead(arguments->directory);
      pigment_buffer* json = nullptr;
      const std::string& to = arguments->to;
      RunLong("backup", [&](const auto& options) {
        pigment_error* error = nullptr;
        Check(pigment_client_backup(client.get(), to.data(), to.size(), &options, &json, &error),
              error);
      });
      const nlohmann::json summary = TakeJson(json);
      if (program.is_json) {
        PrintJson(summary);
      } else {
        std::printf("%s collections at log position %s: %s in %s files\n",
                    summary["collections"].dump().c_str(), summary["position"].dump().c_str(),
                    PrintBytes(summary["bytes"].get<uint64_t>()).c_str(),
                    summary["files"].dump().c_str());
      }
      return kFine;
    };
  });
}

}  // namespace pigment_tool
