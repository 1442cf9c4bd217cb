// SPDX-License-Identifier: Apache-2.0
//
// Handles, errors and output of the subcommands.

#include "tools/session.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace pigment_tool {
namespace {

Client Open(const std::string& directory, pigment_open_options options) {
  pigment_client* client = nullptr;
  pigment_error* error = nullptr;
  Check(pigment_client_open(directory.data(), directory.size(), &options, &client, &error), error);
  return Client(client);
}

pigment_scope ScopeOf(const Place& place) {
  pigment_scope scope{};
  scope.struct_size = sizeof scope;
  scope.tenant = place.tenant.data();
  scope.tenant_size = place.tenant.size();
  scope.database = place.database.data();
  scope.database_size = place.database.size();
  return scope;
}

std::vector<std::string> TenantsOf(pigment_client* client, const Selection& selection) {
  if (!selection.tenant.empty()) return {selection.tenant};
  if (!selection.collection.empty()) return {"default_tenant"};
  pigment_buffer* json = nullptr;
  pigment_error* error = nullptr;
  Check(pigment_client_list_tenants(client, &json, &error), error);
  return TakeJson(json).get<std::vector<std::string>>();
}

std::vector<std::string> DatabasesOf(pigment_client* client, const Selection& selection,
                                     const std::string& tenant) {
  if (!selection.database.empty()) return {selection.database};
  if (!selection.collection.empty()) return {"default_database"};
  pigment_buffer* json = nullptr;
  pigment_error* error = nullptr;
  Check(pigment_client_list_databases(client, tenant.data(), tenant.size(), -1, 0, &json, &error),
        error);
  std::vector<std::string> names;
  for (const auto& database : TakeJson(json)) names.push_back(database.at("name"));
  return names;
}

std::vector<std::string> CollectionsOf(pigment_client* client, const Selection& selection,
                                       const Place& place) {
  if (!selection.collection.empty()) return {selection.collection};
  const pigment_scope scope = ScopeOf(place);
  pigment_buffer* json = nullptr;
  pigment_error* error = nullptr;
  Check(pigment_client_list_collections(client, &scope, -1, 0, &json, &error), error);
  std::vector<std::string> names;
  for (const auto& collection : TakeJson(json)) names.push_back(collection.at("name"));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

void Check(pigment_status status, pigment_error* const& error) {
  if (status == PIGMENT_OK) return;
  const char* const name = pigment_status_name(status);
  std::string text = std::string(name != nullptr ? name : "unknown status") + ": " +
                     pigment_error_message(error);
  if (const std::string hint = pigment_error_hint(error); !hint.empty()) text += "\nhint: " + hint;
  pigment_error_free(error);
  throw Failure(text);
}

std::string TakeText(pigment_buffer* buffer) {
  size_t size = 0;
  const char* const data = pigment_buffer_data(buffer, &size);
  std::string text(data != nullptr ? data : "", size);
  pigment_buffer_free(buffer);
  return text;
}

nlohmann::json TakeJson(pigment_buffer* buffer) { return nlohmann::json::parse(TakeText(buffer)); }

Client OpenToRead(const std::string& directory) {
  pigment_open_options options{};
  pigment_open_options_init(&options);
  options.read_only = true;
  return Open(directory, options);
}

Client OpenToWrite(const std::string& directory) {
  pigment_open_options options{};
  pigment_open_options_init(&options);
  options.must_exist = true;
  return Open(directory, options);
}

void Close(pigment_client* client) {
  pigment_error* error = nullptr;
  Check(pigment_client_close(client, &error), error);
}

void ForEachCollection(pigment_client* client, const Selection& selection,
                       const std::function<void(const Place&, pigment_collection*)>& visit) {
  Place place;
  for (const std::string& tenant : TenantsOf(client, selection)) {
    place.tenant = tenant;
    for (const std::string& database : DatabasesOf(client, selection, tenant)) {
      place.database = database;
      for (const std::string& name : CollectionsOf(client, selection, place)) {
        place.name = name;
        const pigment_scope scope = ScopeOf(place);
        pigment_collection* collection = nullptr;
        pigment_error* error = nullptr;
        Check(pigment_client_get_collection(client, &scope, name.data(), name.size(), nullptr,
                                            &collection, &error),
              error);
        const Collection owned(collection);
        visit(place, collection);
      }
    }
  }
}

// ---- Output -------------------------------------------------------------------------------------

Table::Table(std::vector<std::string> headings) : is_number_(headings.size(), false) {
  rows_.push_back(std::move(headings));
}

void Table::Add(const std::vector<nlohmann::json>& row) {
  std::vector<std::string> texts;
  for (size_t column = 0; column < row.size(); ++column) {
    if (row[column].is_number()) is_number_[column] = true;
    texts.push_back(row[column].is_string() ? row[column].get<std::string>() : row[column].dump());
  }
  rows_.push_back(std::move(texts));
}

void Table::Print() const {
  std::vector<size_t> widths(is_number_.size());
  for (const auto& row : rows_) {
    for (size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  for (const auto& row : rows_) {
    std::string line;
    for (size_t column = 0; column < row.size(); ++column) {
      const std::string padding(widths[column] - row[column].size(), ' ');
      if (column > 0) line += "  ";
      line += is_number_[column] ? padding + row[column] : row[column] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::puts(line.c_str());
  }
}

std::string PrintBytes(uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text.data();
}

void PrintJson(const nlohmann::json& json) { std::puts(json.dump(2).c_str()); }

}  // namespace pigment_tool
