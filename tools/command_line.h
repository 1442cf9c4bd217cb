// SPDX-License-Identifier: Apache-2.0
//
// The command line as the subcommands see it. Thin handles on what CLI11 keeps, whose header takes
// longer to compile than all else here: command_line.cc and manual.cc alone include it. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pigment_tool {

// An argument or an option of a subcommand; lives as long as the command line.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option Required() const;
  Option TypeName(const char* name) const;  // of its value, in --help
  Option ShowDefault() const;               // likewise: the value that its variable has now
  Option Delimiter(char delimiter) const;   // between values in one argument
  Option OneOf(const std::vector<std::string>& values) const;
  Option InRange(int64_t least, int64_t greatest) const;
  Option InRange(size_t least, size_t greatest) const;
  // The variable gets what `transform` makes of the argument; it may throw by ThrowUsageError.
  Option Transform(std::string (*transform)(const std::string& argument)) const;

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  // `names` as "NAME" for an argument, "-n,--name" for an option. The variable is to live as long
  // as the command line. Its type is one of those at the end of command_line.cc.
  template <typename Value>
  Option AddOption(const char* names, Value& variable, const char* description) const;
  Option AddFlag(const char* name, bool& variable, const char* description) const;

  // Called when this subcommand was given and all of its arguments were read.
  void OnGiven(std::function<void()> callback) const;

 private:
  CLI::App* app_;
};

class CommandLine {
 public:
  explicit CommandLine(const char* description);
  ~CommandLine();

  Command AddCommand(const char* name, const char* description);

  // Nothing: a subcommand was given, and its callback called. Else what the program exits with:
  // help was printed, or what is wrong with the arguments.
  std::optional<int> Parse(int argc, char** argv);

  CLI::App& app() { return *app_; }

 private:
  std::unique_ptr<CLI::App> app_;
};

// For arguments that are wrong together, within OnGiven, or one by itself, within Transform.
[[noreturn]] void ThrowUsageError(const std::string& message);

}  // namespace pigment_tool
