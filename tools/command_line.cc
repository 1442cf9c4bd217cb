// SPDX-License-Identifier: Apache-2.0
//
// The command line, by CLI11.

#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <string_view>
#include <utility>

#include "tools/json.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

// What was read before the error may not have come to the flag.
bool AsksForJson(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--") return false;
    if (argument == "--json") return true;
  }
  return false;
}

}  // namespace

Option Option::Required() const { return Option(option_->required()); }

Option Option::TypeName(const char* name) const { return Option(option_->type_name(name)); }

Option Option::ShowDefault() const { return Option(option_->capture_default_str()); }

Option Option::Delimiter(char delimiter) const { return Option(option_->delimiter(delimiter)); }

Option Option::OneOf(const std::vector<std::string>& values) const {
  return Option(option_->check(CLI::IsMember(values)));
}

Option Option::InRange(int64_t least, int64_t greatest) const {
  return Option(option_->check(CLI::Range(least, greatest)));
}

Option Option::InRange(size_t least, size_t greatest) const {
  return Option(option_->check(CLI::Range(least, greatest)));
}

Option Option::Transform(std::string (*transform)(const std::string& argument)) const {
  return Option(option_->transform(transform));
}

template <typename Value>
Option Command::AddOption(const char* names, Value& variable, const char* description) const {
  return Option(app_->add_option(names, variable, description));
}

Option Command::AddFlag(const char* name, bool& variable, const char* description) const {
  return Option(app_->add_flag(name, variable, description));
}

void Command::OnGiven(std::function<void()> callback) const { app_->callback(std::move(callback)); }

CommandLine::CommandLine(const char* description)
    : app_(std::make_unique<CLI::App>(description, "pigment")) {
  app_->set_version_flag("--version", std::string("pigment ") + pigment_version());
  app_->require_subcommand(1);
}

CommandLine::~CommandLine() = default;

Command CommandLine::AddCommand(const char* name, const char* description) {
  return Command(app_->add_subcommand(name, description));
}

std::optional<int> CommandLine::Parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    const bool is_error = error.get_exit_code() != 0;
    if (is_error && AsksForJson(argc, argv)) {
      PrintErrorAsJson(kUsage, "usage", error.what());
      return kUsage;
    }
    return app_->exit(error) == 0 ? kFine : kUsage;
  }
}

void ThrowUsageError(const std::string& message) { throw CLI::ValidationError(message); }

template Option Command::AddOption(const char*, std::string&, const char*) const;
template Option Command::AddOption(const char*, std::optional<std::string>&, const char*) const;
template Option Command::AddOption(const char*, std::vector<std::string>&, const char*) const;
template Option Command::AddOption(const char*, int64_t&, const char*) const;
template Option Command::AddOption(const char*, std::optional<int64_t>&, const char*) const;
template Option Command::AddOption(const char*, size_t&, const char*) const;
template Option Command::AddOption(const char*, double&, const char*) const;
template Option Command::AddOption(const char*, std::optional<double>&, const char*) const;

}  // namespace pigment_tool
