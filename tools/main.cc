// SPDX-License-Identifier: Apache-2.0
//
// pigment: the command line. Exit statuses: session.h.

#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "tools/commands.h"
#include "tools/json.h"
#include "tools/output.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

// On standard error, and as an object where JSON is asked for.
int Report(const Failure& failure, bool is_json) {
  if (!is_json) {
    std::fprintf(stderr, "pigment: %s\n", Printable(failure.what()).c_str());
  } else {
    const char* const name = pigment_status_name(failure.status);
    PrintErrorAsJson(failure.status, name != nullptr ? name : "unknown", failure.what());
  }
  return ExitStatusOf(failure.status);
}

int Run(const Program& program) {
  try {
    const int status = program.run();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    return Report(Failure(PIGMENT_UNAVAILABLE, "cannot write the output"), program.is_json);
  } catch (const Failure& failure) {
    std::fflush(stdout);
    return Report(failure, program.is_json);
  } catch (const std::bad_alloc&) {
    return Report(Failure(PIGMENT_RESOURCE_EXHAUSTED, "out of memory"), program.is_json);
  } catch (const std::exception& failure) {
    return Report(Failure(PIGMENT_INTERNAL, failure.what()), program.is_json);
  }
}

}  // namespace

}  // namespace pigment_tool

int main(int argc, char** argv) {
  using namespace pigment_tool;
  Program program;
  AddCreate(program);
  AddList(program);
  AddDelete(program);
  AddImport(program);
  AddExport(program);
  AddCopy(program);
  AddImportChroma(program);
  AddGet(program);
  AddQuery(program);
  AddSearch(program);
  AddExplain(program);
  AddCount(program);
  AddFacets(program);
  AddSegments(program);
  AddStats(program);
  AddMigrations(program);
  AddCheck(program);
  AddRepair(program);
  AddBackup(program);
  AddCompact(program);
  AddBrowse(program);
  AddViz(program);
  AddBench(program);
  AddManual(program);
  if (const std::optional<int> status = program.command_line.Parse(argc, argv)) return *status;
  return Run(program);
}
