// SPDX-License-Identifier: Apache-2.0
//
// What all subcommands have.

#include "tools/commands.h"

namespace pigment_tool {

Command AddCommand(Program& program, const char* name, const char* description) {
  const Command command = program.command_line.AddCommand(name, description);
  command.AddFlag("--json", program.is_json, "print JSON instead of text");
  return command;
}

}  // namespace pigment_tool
