// SPDX-License-Identifier: Apache-2.0
//
// Handles, errors and output of the subcommands.

#include "tools/session.h"

#include <algorithm>
#include <csignal>
#include <utility>

namespace pigment_tool {
namespace {

Client Open(const std::string& directory, pigment_open_options options) {
  pigment_client* client = nullptr;
  pigment_error* error = nullptr;
  Check(pigment_client_open(directory.data(), directory.size(), &options, &client, &error), error);
  return Client(client);
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

pigment_cancel* interrupt = nullptr;  // for the handler; made once, freed never

void Interrupt(int) { pigment_cancel_set(interrupt); }

pigment_status RefuseTexts(void*, int32_t, size_t, const pigment_text_column*,
                           pigment_embedding_sink* sink) {
  constexpr std::string_view kWhy =
      "the command line cannot compute this collection's embedding function: give vectors";
  pigment_embedding_sink_fail(sink, kWhy.data(), kWhy.size());
  return PIGMENT_FAILED_PRECONDITION;
}

constexpr std::string_view kLexicalName = "pigment_lexical_v1";

// The dimension that `pigment create --lexical` has kept; 0: the function's default.
size_t StoredDimension(const nlohmann::json& stored) {
  const auto config = stored.find("config");
  if (config == stored.end() || !config->is_object()) return 0;
  const auto dimension = config->find("dimension");
  return dimension != config->end() && dimension->is_number_unsigned() ? dimension->get<size_t>()
                                                                       : 0;
}

pigment_collection* Get(pigment_client* client, const Place& place,
                        const pigment_embedding_function* function) {
  const pigment_scope scope = ScopeOf(place);
  pigment_collection* collection = nullptr;
  pigment_error* error = nullptr;
  Check(pigment_client_get_collection(client, &scope, place.name.data(), place.name.size(),
                                      function, &collection, &error),
        error);
  return collection;
}

}  // namespace

pigment_scope ScopeOf(const Place& place) {
  pigment_scope scope{};
  scope.struct_size = sizeof scope;
  scope.tenant = place.tenant.data();
  scope.tenant_size = place.tenant.size();
  scope.database = place.database.data();
  scope.database_size = place.database.size();
  return scope;
}

int ExitStatusOf(pigment_status status) {
  if (status == PIGMENT_CANCELLED) return kInterrupted;
  // 1 and 2 mean something else to who runs a program.
  return status > kUsage ? status : PIGMENT_INTERNAL;
}

void Check(pigment_status status, pigment_error* const& error) {
  if (status == PIGMENT_OK) return;
  const char* const name = pigment_status_name(status);
  std::string text =
      std::string(name != nullptr ? name : "unknown status") + ": " + pigment_error_message(error);
  if (const std::string hint = pigment_error_hint(error); !hint.empty()) text += "\nhint: " + hint;
  pigment_error_free(error);
  throw Failure(status, text);
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

Client OpenOrMake(const std::string& directory) {
  if (directory.empty()) throw Failure(PIGMENT_INVALID_ARGUMENT, "the store has no name");
  pigment_open_options options{};
  pigment_open_options_init(&options);
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
        const Collection collection(Get(client, place, nullptr));
        visit(place, collection.get());
      }
    }
  }
}

Collection OpenCollection(pigment_client* client, const Place& place) {
  Collection collection(Get(client, place, nullptr));
  const nlohmann::json described = Describe(collection.get());
  const nlohmann::json& stored = described.at("embedding_function");
  if (stored.is_null() || stored.at("name") != kLexicalName) return collection;
  const nlohmann::json& dimension = described.at("dimension");
  const StoredFunction function(stored, dimension.is_null() ? 0 : dimension.get<size_t>());
  return Collection(Get(client, place, function.get()));
}

nlohmann::json Describe(pigment_collection* collection) {
  pigment_buffer* json = nullptr;
  pigment_error* error = nullptr;
  Check(pigment_collection_describe(collection, &json, &error), error);
  return TakeJson(json);
}

uint64_t CountOf(pigment_collection* collection) {
  uint64_t count = 0;
  pigment_error* error = nullptr;
  Check(pigment_collection_count(collection, nullptr, &count, &error), error);
  return count;
}

std::string IndexOf(const nlohmann::json& described) {
  for (const char* kind : {"hnsw", "spann"}) {
    const auto& configuration = described.at("configuration");
    const auto found = configuration.find(kind);
    if (found != configuration.end() && found->is_object()) {
      return std::string(kind) + " " + found->value("space", "");
    }
  }
  return "";
}

void Refresh(pigment_client* client) {
  pigment_error* error = nullptr;
  Check(pigment_client_refresh(client, nullptr, &error), error);
}

StoredFunction::StoredFunction(const nlohmann::json& stored, size_t dimension)
    : name_(stored.at("name")) {
  if (name_ == kLexicalName) {
    pigment_error* error = nullptr;
    Check(pigment_embedding_function_lexical(dimension != 0 ? dimension : StoredDimension(stored),
                                             &function_, &error),
          error);
  }
  const auto config = stored.find("config");
  if (config != stored.end() && !config->is_null()) config_ = config->dump();
  function_.struct_size = sizeof function_;
  function_.name = name_.data();
  function_.name_size = name_.size();
  if (!config_.empty()) {
    function_.config_json = config_.data();
    function_.config_json_size = config_.size();
  }
  if (function_.embed == nullptr) function_.embed = RefuseTexts;
}

void CatchInterrupts(Repeated repeated) {
  pigment_error* error = nullptr;
  Check(pigment_cancel_new(&interrupt, &error), error);
  struct sigaction action {};
  action.sa_handler = Interrupt;
  if (repeated == Repeated::kEndsAll) action.sa_flags = SA_RESETHAND;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  if (repeated == Repeated::kIgnored) sigaction(SIGHUP, &action, nullptr);
}

bool IsInterrupted() { return interrupt != nullptr && pigment_cancel_is_set(interrupt); }

pigment_call_options CallOptions() {
  pigment_call_options options{};
  pigment_call_options_init(&options);
  options.cancel = interrupt;
  return options;
}

}  // namespace pigment_tool
