// SPDX-License-Identifier: Apache-2.0
//
// pigment: the command line. Exit statuses: session.h.

#include <cstdio>
#include <exception>

#include "tools/commands.h"
#include "tools/session.h"

namespace pigment_tool {

CLI::App* AddCommand(Program& program, const char* name, const char* description) {
  CLI::App* const command = program.app.add_subcommand(name, description);
  command->add_flag("--json", program.is_json, "print JSON instead of text");
  return command;
}

}  // namespace pigment_tool

int main(int argc, char** argv) {
  using namespace pigment_tool;
  Program program;
  program.app.set_version_flag("--version", std::string("pigment ") + pigment_version());
  program.app.require_subcommand(1);
  AddSegments(program);
  AddStats(program);
  AddMigrations(program);
  AddCheck(program);
  AddRepair(program);
  AddBackup(program);
  AddCompact(program);
  try {
    program.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.app.exit(error) == 0 ? kFine : kUsage;
  }
  try {
    const int status = program.run();
    if (std::fflush(stdout) == 0) return status;
    std::perror("pigment: cannot write the output");
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "pigment: %s\n", failure.what());
  }
  return kFailed;
}
