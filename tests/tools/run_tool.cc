// SPDX-License-Identifier: Apache-2.0
//
// Runs the command line as a shell does.

#include "tests/tools/run_tool.h"

#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace tool_test {

nlohmann::json Ran::json() const { return nlohmann::json::parse(output); }

Ran RunShell(const std::string& command) {
  Ran ran;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> piece;
  for (size_t size; (size = fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
    ran.output.append(piece.data(), size);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) ran.status = WEXITSTATUS(status);
  return ran;
}
Ran RunTool(const std::string& arguments) {
  return RunShell(std::string(PIGMENT_TOOL) + " " + arguments);
}

Ran RunOnTerminal(const std::vector<std::string>& arguments, const std::string& interrupt_at) {
  Ran ran;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    std::vector<char*> argv = {const_cast<char*>(PIGMENT_TOOL)};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(PIGMENT_TOOL, argv.data());
    _exit(127);
  }
  if (child < 0) return ran;
  bool is_interrupted = interrupt_at.empty();
  std::array<char, 4096> piece;
  for (ssize_t size; (size = read(terminal, piece.data(), piece.size())) > 0;) {
    ran.output.append(piece.data(), static_cast<size_t>(size));
    if (is_interrupted || ran.output.find(interrupt_at) == std::string::npos) continue;
    kill(child, SIGINT);
    is_interrupted = true;
  }
  int status = 0;
  waitpid(child, &status, 0);
  close(terminal);
  if (WIFEXITED(status)) ran.status = WEXITSTATUS(status);
  return ran;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}
void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace tool_test
