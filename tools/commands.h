// SPDX-License-Identifier: Apache-2.0
//
// The subcommands, each in a file of its own: what it adds to the command line, and what it does.
// `run` is set to what main() calls when its subcommand was given; it returns the exit status.

#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace pigment_tool {

struct Program {
  CLI::App app{"Looks after stores of Pigment."};
  bool is_json = false;
  std::function<int()> run;
};

void AddSegments(Program& program);
void AddStats(Program& program);
void AddMigrations(Program& program);
void AddCheck(Program& program);
void AddRepair(Program& program);
void AddBackup(Program& program);
void AddCompact(Program& program);

// A subcommand with the options that all have.
CLI::App* AddCommand(Program& program, const char* name, const char* description);

}  // namespace pigment_tool
