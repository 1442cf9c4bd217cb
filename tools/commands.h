// SPDX-License-Identifier: Apache-2.0
//
// The subcommands, each in a file of its own: what it adds to the command line, and what it does.
// `run` is set to what main() calls when its subcommand was given; it returns the exit status.

#pragma once

#include <functional>
#include <string>

#include "tools/command_line.h"

namespace pigment_tool {

struct Program {
  CommandLine command_line{"Makes, fills, asks and looks after stores of Pigment."};
  bool is_json = false;
  std::function<int()> run;
};

// In the order of --help and of the manual page.
void AddCreate(Program& program);
void AddList(Program& program);
void AddDelete(Program& program);
void AddImport(Program& program);
void AddExport(Program& program);
void AddCopy(Program& program);
void AddImportChroma(Program& program);
void AddGet(Program& program);
void AddQuery(Program& program);
void AddSearch(Program& program);
void AddExplain(Program& program);
void AddCount(Program& program);
void AddFacets(Program& program);
void AddSegments(Program& program);
void AddStats(Program& program);
void AddMigrations(Program& program);
void AddCheck(Program& program);
void AddRepair(Program& program);
void AddBackup(Program& program);
void AddCompact(Program& program);
void AddBrowse(Program& program);
void AddViz(Program& program);
void AddBench(Program& program);
void AddManual(Program& program);

// A subcommand with the options that all have.
Command AddCommand(Program& program, const char* name, const char* description);

}  // namespace pigment_tool
