// SPDX-License-Identifier: Apache-2.0
//
// pigment manual FORM: the manual page, and completions for shells, from the same table that the
// arguments are read by. The build runs it; what it prints is installed.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tools/commands.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

std::vector<CLI::App*> CommandsOf(CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<CLI::Option*> OptionsOf(CLI::App& command, bool is_positional) {
  return command.get_options([is_positional](const CLI::Option* option) {
    return option->get_positional() == is_positional;
  });
}

bool IsFlag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

// "--where" or "-n".
std::vector<std::string> NamesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// ---- The manual page ----

std::string Roff(const std::string& text) {
  return Replaced(Replaced(text, "\\", "\\e"), "-", "\\-");
}

std::string ValueOf(const CLI::Option& option) {
  return IsFlag(option) ? "" : " \\fI" + Roff(option.get_type_name()) + "\\fR";
}

std::string Synopsis(CLI::App& command) {
  std::string text = ".B pigment " + Roff(command.get_name()) + "\n";
  for (const CLI::Option* const option : OptionsOf(command, true)) {
    const std::string name = "\\fI" + option->get_name(true) + "\\fR";
    const std::string more = option->get_items_expected_max() > 1 ? "..." : "";
    text += option->get_required() ? name + more + "\n" : "[" + name + more + "]\n";
  }
  return text + "[options]\n";
}

std::string ManualPage(CLI::App& app) {
  std::string text = std::string(".TH PIGMENT 1 \"\" \"pigment ") + pigment_version() +
                     "\" \"User Commands\"\n"
                     ".SH NAME\npigment \\- " +
                     Roff("makes, fills, asks and looks after stores of Pigment") +
                     "\n.SH SYNOPSIS\n.B pigment\n\\fICOMMAND\\fR [arguments]\n.br\n.B pigment\n"
                     "\\fICOMMAND\\fR \\-\\-help\n.SH COMMANDS\n";
  for (CLI::App* const command : CommandsOf(app)) {
    text += ".SS " + Roff(command->get_name()) + "\n" + Synopsis(*command) + ".PP\n" +
            Roff(command->get_description()) + ".\n";
    for (const bool is_positional : {true, false}) {
      for (const CLI::Option* const option : OptionsOf(*command, is_positional)) {
        std::string names = is_positional ? "\\fI" + option->get_name(true) + "\\fR" : "";
        for (const std::string& name : NamesOf(*option)) {
          names += (names.empty() ? "\\fB" : ", \\fB") + Roff(name) + "\\fR";
        }
        text += ".TP\n" + names + (is_positional ? "" : ValueOf(*option)) + "\n" +
                Roff(option->get_description()) + "\n";
      }
    }
  }
  return text +
         ".SH STORES\nA store is a directory. \\fI@NAME\\fR stands for the directory that the file "
         "of profiles gives the name: lines \\(lqNAME = DIR\\(rq in $PIGMENT_PROFILES, or else in "
         "~/.config/pigment/profiles. For copy it may also be a database of PostgreSQL with the "
         "extension: \\(lqpostgresql://...\\(rq, as libpq takes it.\n"
         ".SH EXIT STATUS\n.TP\n0\nfine\n.TP\n1\nit ran, and what it found is not well: check "
         "found "
         "damage, repair lost something, import\\-chroma could not read all records\n"
         ".TP\n2\nthe command line is wrong\n.TP\n130\ninterrupted\n.TP\n"
         "3 to 18\nit failed, with this code of pigment_status: 3 invalid argument, 5 not found, "
         "6 already exists, 8 resource exhausted, 9 failed precondition, 13 internal, "
         "14 unavailable, 15 data loss, 17 version mismatch\n"
         ".SH ENVIRONMENT\n.TP\nPIGMENT_PROFILES\nthe file of profiles\n.TP\nXDG_STATE_HOME\nwhere "
         "copies into PostgreSQL keep how far they are; ~/.local/state when it is not set\n";
}

// ---- Completions ----

std::string Words(CLI::App& app) {
  std::string words;
  for (CLI::App* const command : CommandsOf(app)) words += command->get_name() + " ";
  return words;
}

std::string BashCompletion(CLI::App& app) {
  std::string text =
      "# bash completion of pigment\n_pigment() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} command= options= i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case ${COMP_WORDS[i]} in -*) ;; *) command=${COMP_WORDS[i]}; break ;; esac\n"
      "  done\n  case $command in\n    '') COMPREPLY=($(compgen -W \"" +
      Words(app) + "--help --version\" -- \"$word\")); return ;;\n";
  for (CLI::App* const command : CommandsOf(app)) {
    text += "    " + command->get_name() + ") options=\"";
    for (const CLI::Option* const option : OptionsOf(*command, false)) {
      for (const std::string& name : NamesOf(*option)) text += name + " ";
    }
    text += "\" ;;\n";
  }
  return text +
         "  esac\n  case $word in\n"
         "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
         "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n  esac\n}\n"
         "complete -o filenames -F _pigment pigment\n";
}

// Within single quotes, for both shells; brackets and colons end a description of zsh.
std::string Quoted(const std::string& text) { return Replaced(text, "'", "'\\''"); }
std::string Plain(const std::string& text) {
  return Replaced(Replaced(Replaced(Quoted(text), "[", "("), "]", ")"), ":", "\\:");
}

std::string ZshCompletion(CLI::App& app) {
  std::string text = "#compdef pigment\n_pigment() {\n  local -a commands\n  commands=(\n";
  for (CLI::App* const command : CommandsOf(app)) {
    text += "    '" + command->get_name() + ":" + Plain(command->get_description()) + "'\n";
  }
  text +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (CLI::App* const command : CommandsOf(app)) {
    text += "    " + command->get_name() + ") _arguments";
    for (const CLI::Option* const option : OptionsOf(*command, false)) {
      for (const std::string& name : NamesOf(*option)) {
        text += " \\\n      '" + name + "[" + Plain(option->get_description()) + "]" +
                (IsFlag(*option) ? "" : ":value:_files") + "'";
      }
    }
    text += " \\\n      '*:file:_files' ;;\n";
  }
  return text + "  esac\n}\n_pigment \"$@\"\n";
}

std::string FishCompletion(CLI::App& app) {
  std::string text = "# fish completion of pigment\n";
  for (CLI::App* const command : CommandsOf(app)) {
    text += "complete -c pigment -n __fish_use_subcommand -a " + command->get_name() + " -d '" +
            Quoted(command->get_description()) + "'\n";
    for (const CLI::Option* const option : OptionsOf(*command, false)) {
      text += "complete -c pigment -n '__fish_seen_subcommand_from " + command->get_name() + "'";
      for (const std::string& name : option->get_snames()) text += " -s " + name;
      for (const std::string& name : option->get_lnames()) text += " -l " + name;
      text += std::string(IsFlag(*option) ? "" : " -r") + " -d '" +
              Quoted(option->get_description()) + "'\n";
    }
  }
  return text;
}

}  // namespace

void AddManual(Program& program) {
  const Command command =
      AddCommand(program, "manual", "print the manual page, or the completions of a shell");
  const auto form = std::make_shared<std::string>();
  command.AddOption("FORM", *form, "man, bash, zsh or fish")
      .Required()
      .OneOf({"man", "bash", "zsh", "fish"});
  command.OnGiven([&program, form] {
    program.run = [&program, form] {
      const std::string text = *form == "man"    ? ManualPage(program.command_line.app())
                               : *form == "bash" ? BashCompletion(program.command_line.app())
                               : *form == "zsh"  ? ZshCompletion(program.command_line.app())
                                                 : FishCompletion(program.command_line.app());
      if (program.is_json) {
        std::puts(nlohmann::json({{*form, text}}).dump(2).c_str());
      } else {
        std::fputs(text.c_str(), stdout);
      }
      return kFine;
    };
  });
}

}  // namespace pigment_tool
