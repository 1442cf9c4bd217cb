// SPDX-License-Identifier: Apache-2.0
//
// What all subcommands have.

#include "tools/commands.h"

namespace pigment_tool {

CLI::App* AddCommand(Program& program, const char* name, const char* description) {
  CLI::App* const command = program.app.add_subcommand(name, description);
  command->add_flag("--json", program.is_json, "print JSON instead of text");
  return command;
}

}  // namespace pigment_tool
