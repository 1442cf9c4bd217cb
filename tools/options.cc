// SPDX-License-Identifier: Apache-2.0
//
// Arguments that several subcommands have.

#include "tools/options.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "tools/homes/home.h"
#include "tools/json_text.h"

namespace pigment_tool {
namespace {

const std::map<std::string, int32_t>& Includes() {
  static const std::map<std::string, int32_t> kIncludes = {
      {"documents", PIGMENT_INCLUDE_DOCUMENTS},   {"metadatas", PIGMENT_INCLUDE_METADATAS},
      {"embeddings", PIGMENT_INCLUDE_EMBEDDINGS}, {"uris", PIGMENT_INCLUDE_URIS},
      {"distances", PIGMENT_INCLUDE_DISTANCES},   {"nothing", PIGMENT_INCLUDE_NOTHING}};
  return kIncludes;
}

std::string ProfilesFile() {
  if (const char* const file = std::getenv("PIGMENT_PROFILES")) return file;
  const char* const home = std::getenv("HOME");
  return std::string(home != nullptr ? home : "") + "/.config/pigment/profiles";
}

std::string Trim(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string ResolveStore(const std::string& given) {
  if (given.empty()) ThrowUsageError("the name of a store is empty");
  if (given[0] != '@') return given;
  const std::string file = ProfilesFile();
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos || Trim(line).starts_with('#')) continue;
    if (Trim(line.substr(0, equals)) == given.substr(1)) return Trim(line.substr(equals + 1));
  }
  ThrowUsageError("no profile \"" + given.substr(1) + "\" in " + file);
}

std::string ResolveDirectory(const std::string& given) {
  const std::string store = ResolveStore(given);
  if (!IsPostgres(store)) return store;
  ThrowUsageError("a directory is wanted, got a database: only copy reaches PostgreSQL");
}

}  // namespace

Option AddStore(Command command, const char* name, std::string& directory,
                const char* description) {
  return command.AddOption(name, directory, description).Required().Transform(ResolveDirectory);
}

Option AddHome(Command command, const char* name, std::string& home, const char* description) {
  return command.AddOption(name, home, description).Required().Transform(ResolveStore);
}

void AddScope(Command command, std::string& tenant, std::string& database) {
  command.AddOption("--tenant", tenant, "of that tenant").TypeName("NAME");
  command.AddOption("--database", database, "of that database").TypeName("NAME");
}

void AddTarget(Command command, Target& target) {
  AddStore(command, "DIR", target.directory, "the store");
  AddCollection(command, target.place);
}

void AddCollection(Command command, Place& place) {
  command.AddOption("COLLECTION", place.name, "the collection, by name").Required();
  AddScope(command, place.tenant, place.database);
}

void Filters::AddTo(Command command) {
  command.AddOption("--id", ids_, "only these records; may be given again").TypeName("ID");
  command.AddOption("--where", where_, "only records whose metadata matches: JSON, or @FILE")
      .TypeName("JSON");
  command
      .AddOption("--where-document", where_document_,
                 "only records whose document matches: JSON, or @FILE")
      .TypeName("JSON");
}

void Filters::Read() {
  for (const std::string& id : ids_) id_column_.Add(id);
  if (where_) where_ = ReadArgument(*where_);
  if (where_document_) where_document_ = ReadArgument(*where_document_);
}

nlohmann::json Filters::Text() const {
  return {ids_, where_.value_or(""), where_document_.value_or("")};
}

std::string ReadArgument(const std::string& argument) {
  if (!argument.starts_with('@')) return argument;
  std::ifstream file(argument.substr(1), std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) {
    throw Failure(PIGMENT_NOT_FOUND, "cannot read file \"" + argument.substr(1) + "\"");
  }
  return text.str();
}

nlohmann::json ParseArgument(const std::string& option, const std::string& argument) {
  try {
    return ParseJson(ReadArgument(argument));
  } catch (const Failure& failure) {
    throw Failure(failure.status, option + ": " + failure.what());
  }
}

int32_t ParseInclude(const std::vector<std::string>& names) {
  int32_t bits = 0;
  for (const std::string& name : names) bits |= Includes().at(name);
  return bits;
}

Option AddInclude(Command command, std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const auto& [name, bits] : Includes()) known.push_back(name);
  return command.AddOption("--include", names, "what to print of each record, separated by commas")
      .Delimiter(',')
      .OneOf(known);
}

}  // namespace pigment_tool
