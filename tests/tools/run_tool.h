// SPDX-License-Identifier: Apache-2.0
//
// Runs the command line as a shell does. One thread.

#pragma once

#include <string>
#include <vector>

#include "tools/json.h"

namespace tool_test {

struct Ran {
  int status = -1;
  std::string output;  // both streams
  nlohmann::json json() const;
};

Ran RunShell(const std::string& command);
Ran RunTool(const std::string& arguments);

// On a pseudo-terminal, which gives both streams; a status of -1: a signal ended it. When the
// output has `interrupt_at` (not empty), the tool is interrupted.
Ran RunOnTerminal(const std::vector<std::string>& arguments, const std::string& interrupt_at = "");

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const std::string& bytes);

}  // namespace tool_test
