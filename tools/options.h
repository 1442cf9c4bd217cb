// SPDX-License-Identifier: Apache-2.0
//
// Arguments that several subcommands have: a store, a collection in it, filters, JSON.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/batch.h"
#include "tools/command_line.h"
#include "tools/json.h"
#include "tools/session.h"

namespace pigment_tool {

// DIR: a directory, or @NAME for what the file of profiles says NAME is ($PIGMENT_PROFILES, else
// ~/.config/pigment/profiles; lines "NAME = DIR").
Option AddStore(Command command, const char* name, std::string& directory, const char* description);
// The same, where it may be a database of PostgreSQL too: "postgresql://...".
Option AddHome(Command command, const char* name, std::string& home, const char* description);

struct Target {
  std::string directory;
  Place place;
};
// DIR COLLECTION --tenant --database
void AddTarget(Command command, Target& target);
void AddCollection(Command command, Place& place);  // without DIR
void AddScope(Command command, std::string& tenant, std::string& database);

// --id --where --where-document. A value "@FILE" stands for what is in the file.
class Filters {
 public:
  Filters() = default;
  Filters(std::optional<std::string> where, std::optional<std::string> where_document)
      : where_(std::move(where)), where_document_(std::move(where_document)) {}

  void AddTo(Command command);
  void Read();  // of files; once, before the rest is used

  bool has_ids() const { return !ids_.empty(); }
  bool is_given() const { return has_ids() || where_ || where_document_; }
  const std::vector<std::string>& ids() const { return ids_; }
  const std::optional<std::string>& where() const { return where_; }  // JSON
  const std::optional<std::string>& where_document() const { return where_document_; }

  nlohmann::json Text() const;  // what was given, to compare one run's with another's

  // Fills the members that all requests have; what they point at lives as long as this.
  template <typename Request>
  void Put(Request& request) const {
    if (has_ids()) {
      request.ids_count = id_column_.size();
      request.ids = id_column_.column();
    }
    if (where_) {
      request.where_json = where_->data();
      request.where_json_size = where_->size();
    }
    if (where_document_) {
      request.where_document_json = where_document_->data();
      request.where_document_json_size = where_document_->size();
    }
  }

 private:
  std::vector<std::string> ids_;
  Texts id_column_;
  std::optional<std::string> where_;
  std::optional<std::string> where_document_;
};

// The text of an argument that may be "@FILE".
std::string ReadArgument(const std::string& argument);
nlohmann::json ParseArgument(const std::string& option, const std::string& argument);

// "documents,metadatas": bits of PIGMENT_INCLUDE_…; none: 0, the default.
int32_t ParseInclude(const std::vector<std::string>& names);
Option AddInclude(Command command, std::vector<std::string>& names);

}  // namespace pigment_tool
