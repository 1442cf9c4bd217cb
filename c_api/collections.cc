// SPDX-License-Identifier: Apache-2.0
//
// Collections: making, finding, listing, changing, forking and deleting them.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "c_api/call_options.h"
#include "c_api/client.h"
#include "c_api/json_text.h"
#include "engine/record/configuration.h"
#include "engine/record/schema.h"
#include "engine/record/validate.h"

namespace pigment::abi {
namespace {

using FunctionPointer = std::shared_ptr<EmbeddingFunction>;

void ClearCollection(pigment_collection** collection) {
  if (collection != nullptr) *collection = nullptr;
}

// Metadata of a collection; absent and JSON null: none.
Result<std::optional<Metadata>> ReadCollectionMetadata(const char* json, size_t size,
                                                       MetadataUse use) {
  PIGMENT_ASSIGN_OR_RETURN(const auto text, ReadOptionalText(json, size, "options.metadata_json"));
  if (!text) return std::optional<Metadata>();
  bool present = false;
  PIGMENT_ASSIGN_OR_RETURN(Metadata metadata, ParseMetadataJson(*text, use, &present));
  if (!present) return std::optional<Metadata>();
  return std::optional<Metadata>(std::move(metadata));
}

struct CreateRequest {
  CollectionEntry entry;
  FunctionPointer function;
  bool get_or_create = false;
};

struct IndexTexts {
  std::optional<std::string_view> configuration;
  std::optional<std::string_view> schema;
  std::optional<std::string_view> preferred_space;
};

bool IsGiven(const std::optional<std::string_view>& json) { return json && *json != "null"; }

// Configuration and schema of a new collection, whose metadata the entry has.
Status ReadIndexes(const IndexTexts& texts, CollectionEntry& entry) {
  const Metadata* const metadata = entry.metadata ? &*entry.metadata : nullptr;
  Configuration configuration;
  if (IsGiven(texts.schema)) {
    if (IsGiven(texts.configuration)) {
      return InvalidArgument("cannot set both collection config and schema simultaneously")
          .WithHint("the schema has the configuration of the vector index at \"#embedding\"");
    }
    PIGMENT_ASSIGN_OR_RETURN(Schema schema,
                             ParseSchema(*texts.schema, metadata, texts.preferred_space));
    entry.schema_json = std::move(schema.rules.json);
    configuration = std::move(schema.configuration);
  } else {
    PIGMENT_ASSIGN_OR_RETURN(
        configuration, ParseConfiguration(texts.configuration, metadata, texts.preferred_space));
  }
  entry.configuration_json = std::move(configuration.json);
  entry.metric = configuration.metric;
  entry.vector_element = configuration.vector_element;
  return Status::Ok();
}

Result<CreateRequest> ReadCreateRequest(const pigment_scope* scope, const char* name,
                                        size_t name_size,
                                        const pigment_collection_options* options) {
  PIGMENT_ASSIGN_OR_RETURN(const std::string_view text, ReadText(name, name_size, "name"));
  PIGMENT_ASSIGN_OR_RETURN(const Scope where, ReadScope(scope));
  constexpr size_t kSizeOfAbi1 = offsetof(pigment_collection_options, schema_json);
  PIGMENT_ASSIGN_OR_RETURN(const pigment_collection_options read,
                           ReadOptionalStruct(options, "options", kSizeOfAbi1));
  PIGMENT_RETURN_IF_ERROR(CheckCollectionName(text));
  CreateRequest request;
  CollectionEntry& entry = request.entry;
  entry.name = std::string(text);
  entry.tenant = where.tenant;
  entry.database = where.database;
  PIGMENT_ASSIGN_OR_RETURN(entry.metadata,
                           ReadCollectionMetadata(read.metadata_json, read.metadata_json_size,
                                                  MetadataUse::kCollection));
  PIGMENT_ASSIGN_OR_RETURN(request.function, EmbeddingFunction::Read(read.embedding_function,
                                                                     "options.embedding_function"));
  PIGMENT_ASSIGN_OR_RETURN(const auto configuration_json,
                           ReadOptionalText(read.configuration_json, read.configuration_json_size,
                                            "options.configuration_json"));
  std::optional<std::string_view> preferred_space;
  if (request.function && request.function->space()) preferred_space = *request.function->space();
  PIGMENT_ASSIGN_OR_RETURN(
      const auto schema_json,
      ReadOptionalText(read.schema_json, read.schema_json_size, "options.schema_json"));
  PIGMENT_RETURN_IF_ERROR(ReadIndexes({configuration_json, schema_json, preferred_space}, entry));
  if (request.function) {
    entry.embedding_function_name = request.function->name();
    entry.embedding_function_config_json = request.function->config_json();
  }
  request.get_or_create = IsTrue(read.get_or_create);
  return request;
}

Result<std::unique_ptr<pigment_collection>> Wrap(const std::shared_ptr<ClientCore>& core,
                                                 std::shared_ptr<Collection> collection,
                                                 FunctionPointer function) {
  const CollectionEntry entry = collection->entry();
  PIGMENT_RETURN_IF_ERROR(
      CheckFunctionConflict(function.get(), entry.embedding_function_name, entry.name));
  return std::make_unique<pigment_collection>(core, std::move(collection), std::move(function));
}

Result<std::shared_ptr<Collection>> CreateOrGet(Store& store, const CreateRequest& request) {
  const Scope scope{request.entry.tenant, request.entry.database};
  // Somebody else may create or delete it between the two steps; each round means that they did.
  constexpr int kRounds = 16;
  Status last;
  for (int round = 0; round < kRounds; ++round) {
    if (request.get_or_create) {
      auto found = store.GetCollection(scope, request.entry.name);
      if (found.ok() || found.status().code() != Code::kNotFound) return found;
    }
    auto made = store.CreateCollection(request.entry);
    if (made.ok()) return made;
    last = made.status();
    if (!request.get_or_create || last.code() != Code::kAlreadyExists) return last;
  }
  return Status(Code::kAborted,
                "collection \"" + request.entry.name + "\" is created and deleted all the time")
      .WithHint(last.message());
}

Status RefuseSpaceChange(const Metadata& metadata) {
  if (metadata.find("hnsw:space") == metadata.end()) return Status::Ok();
  return InvalidArgument(
      Detail::kMetadata,
      "changing the distance function of a collection once it is created is not supported: "
      "metadata key \"hnsw:space\"");
}

struct Change {
  std::optional<std::string> name;
  std::optional<Metadata> metadata;
  std::optional<std::string> configuration_json;
};

Result<Change> ReadChange(const pigment_modify_options& options) {
  Change change;
  PIGMENT_ASSIGN_OR_RETURN(const auto name,
                           ReadOptionalText(options.name, options.name_size, "options.name"));
  if (name) {
    PIGMENT_RETURN_IF_ERROR(CheckCollectionName(*name));
    change.name = std::string(*name);
  }
  PIGMENT_ASSIGN_OR_RETURN(change.metadata,
                           ReadCollectionMetadata(options.metadata_json, options.metadata_json_size,
                                                  MetadataUse::kCollectionChange));
  if (change.metadata) PIGMENT_RETURN_IF_ERROR(RefuseSpaceChange(*change.metadata));
  PIGMENT_ASSIGN_OR_RETURN(
      const auto configuration,
      ReadOptionalText(options.configuration_json, options.configuration_json_size,
                       "options.configuration_json"));
  if (configuration) change.configuration_json = std::string(*configuration);
  return change;
}

Status Apply(const Change& change, CollectionEntry& entry) {
  if (change.name) entry.name = *change.name;
  if (change.metadata) {
    Metadata metadata = *change.metadata;
    std::erase_if(metadata,
                  [](const auto& pair) { return std::holds_alternative<Erased>(pair.second); });
    entry.metadata.reset();
    if (!metadata.empty()) entry.metadata = std::move(metadata);
  }
  if (change.configuration_json) {
    PIGMENT_ASSIGN_OR_RETURN(
        Configuration configuration,
        UpdateConfiguration(entry.configuration_json, *change.configuration_json));
    entry.configuration_json = std::move(configuration.json);
  }
  return Status::Ok();
}

}  // namespace
}  // namespace pigment::abi

using pigment::Status;
using pigment::abi::Call;
using pigment::abi::CheckHandle;
using pigment::abi::CheckNotNull;
using pigment::abi::ClearCollection;
using pigment::abi::EmbeddingFunction;
using pigment::abi::ReadScope;
using pigment::abi::ReadStruct;
using pigment::abi::ReadText;

void pigment_collection_options_init(pigment_collection_options* options) {
  if (options == nullptr) return;
  *options = pigment_collection_options{};
  options->struct_size = sizeof *options;
}

pigment_status pigment_client_create_collection(pigment_client* client, const pigment_scope* scope,
                                                const char* name, size_t name_size,
                                                const pigment_collection_options* options,
                                                pigment_collection** collection,
                                                pigment_error** error) {
  return Call(
      error, [&] { ClearCollection(collection); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{collection, "collection"}}));
        PIGMENT_ASSIGN_OR_RETURN(const auto request,
                                 pigment::abi::ReadCreateRequest(scope, name, name_size, options));
        PIGMENT_RETURN_IF_ERROR(client->core->CheckUsable());
        PIGMENT_ASSIGN_OR_RETURN(auto made,
                                 pigment::abi::CreateOrGet(client->core->store(), request));
        PIGMENT_ASSIGN_OR_RETURN(
            auto handle, pigment::abi::Wrap(client->core, std::move(made), request.function));
        *collection = handle.release();
        return Status::Ok();
      });
}

pigment_status pigment_client_get_collection(pigment_client* client, const pigment_scope* scope,
                                             const char* name, size_t name_size,
                                             const pigment_embedding_function* function,
                                             pigment_collection** collection,
                                             pigment_error** error) {
  return Call(
      error, [&] { ClearCollection(collection); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{collection, "collection"}}));
        PIGMENT_ASSIGN_OR_RETURN(const std::string_view text, ReadText(name, name_size, "name"));
        PIGMENT_ASSIGN_OR_RETURN(const pigment::Scope where, ReadScope(scope));
        PIGMENT_ASSIGN_OR_RETURN(auto read, EmbeddingFunction::Read(function, "function"));
        PIGMENT_RETURN_IF_ERROR(client->core->CheckUsable());
        PIGMENT_ASSIGN_OR_RETURN(auto found,
                                 client->core->store().GetCollection(where, std::string(text)));
        PIGMENT_ASSIGN_OR_RETURN(
            auto handle, pigment::abi::Wrap(client->core, std::move(found), std::move(read)));
        *collection = handle.release();
        return Status::Ok();
      });
}

pigment_status pigment_client_get_collection_by_id(pigment_client* client, const char* id,
                                                   size_t id_size,
                                                   const pigment_embedding_function* function,
                                                   pigment_collection** collection,
                                                   pigment_error** error) {
  return Call(
      error, [&] { ClearCollection(collection); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{collection, "collection"}}));
        PIGMENT_ASSIGN_OR_RETURN(const std::string_view text, ReadText(id, id_size, "id"));
        PIGMENT_ASSIGN_OR_RETURN(const pigment::Uuid uuid, pigment::Uuid::Parse(text));
        PIGMENT_ASSIGN_OR_RETURN(auto read, EmbeddingFunction::Read(function, "function"));
        PIGMENT_RETURN_IF_ERROR(client->core->CheckUsable());
        PIGMENT_ASSIGN_OR_RETURN(auto found, client->core->store().GetCollectionById(uuid));
        PIGMENT_ASSIGN_OR_RETURN(
            auto handle, pigment::abi::Wrap(client->core, std::move(found), std::move(read)));
        *collection = handle.release();
        return Status::Ok();
      });
}

pigment_status pigment_client_list_collections(pigment_client* client, const pigment_scope* scope,
                                               int64_t limit, int64_t offset, pigment_buffer** json,
                                               pigment_error** error) {
  return Call(
      error,
      [&] {
        if (json != nullptr) *json = nullptr;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{json, "json"}}));
        PIGMENT_ASSIGN_OR_RETURN(const pigment::Scope where, ReadScope(scope));
        PIGMENT_RETURN_IF_ERROR(client->core->CheckUsable());
        PIGMENT_ASSIGN_OR_RETURN(pigment::Catalog* const catalog, client->core->store().catalog());
        PIGMENT_ASSIGN_OR_RETURN(const auto entries,
                                 catalog->ListCollections(where.tenant, where.database));
        PIGMENT_ASSIGN_OR_RETURN(const auto page,
                                 pigment::abi::ReadPage(limit, offset, entries.size()));
        std::string text = "[";
        for (size_t i = page.first; i < page.end; ++i) {
          if (i != page.first) text += ",";
          text += pigment::abi::DescribeCollection(entries[i]);
        }
        *json = pigment::abi::NewBuffer(text + "]");
        return Status::Ok();
      });
}

pigment_status pigment_client_count_collections(pigment_client* client, const pigment_scope* scope,
                                                uint64_t* count, pigment_error** error) {
  return Call(
      error,
      [&] {
        if (count != nullptr) *count = 0;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{count, "count"}}));
        PIGMENT_ASSIGN_OR_RETURN(const pigment::Scope where, ReadScope(scope));
        PIGMENT_RETURN_IF_ERROR(client->core->CheckUsable());
        PIGMENT_ASSIGN_OR_RETURN(pigment::Catalog* const catalog, client->core->store().catalog());
        PIGMENT_ASSIGN_OR_RETURN(const auto entries,
                                 catalog->ListCollections(where.tenant, where.database));
        *count = entries.size();
        return Status::Ok();
      });
}

pigment_status pigment_client_delete_collection(pigment_client* client, const pigment_scope* scope,
                                                const char* name, size_t name_size,
                                                pigment_error** error) {
  return Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view text, ReadText(name, name_size, "name"));
    PIGMENT_ASSIGN_OR_RETURN(const pigment::Scope where, ReadScope(scope));
    PIGMENT_RETURN_IF_ERROR(client->core->CheckUsable());
    return client->core->store().DeleteCollection(where, std::string(text));
  });
}

pigment_status pigment_collection_describe(pigment_collection* collection, pigment_buffer** json,
                                           pigment_error** error) {
  return Call(
      error,
      [&] {
        if (json != nullptr) *json = nullptr;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(collection, "collection"));
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{json, "json"}}));
        PIGMENT_RETURN_IF_ERROR(collection->core->CheckUsable());
        // The dimension of the newest version: the entry learns it at the first flush.
        PIGMENT_ASSIGN_OR_RETURN(const auto version, collection->collection->Pin());
        pigment::CollectionEntry entry = collection->collection->entry();
        if (version->dimension != 0) entry.dimension = version->dimension;
        *json = pigment::abi::NewBuffer(pigment::abi::DescribeCollection(entry));
        return Status::Ok();
      });
}

pigment_status pigment_collection_modify(pigment_collection* collection,
                                         const pigment_modify_options* options,
                                         pigment_error** error) {
  return Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckHandle(collection, "collection"));
    PIGMENT_ASSIGN_OR_RETURN(const pigment_modify_options read, ReadStruct(options, "options"));
    PIGMENT_ASSIGN_OR_RETURN(const pigment::abi::Change change, pigment::abi::ReadChange(read));
    PIGMENT_RETURN_IF_ERROR(collection->core->CheckUsable());
    return collection->core->store().ModifyCollection(
        collection->collection->entry().id,
        [&](pigment::CollectionEntry& entry) { return pigment::abi::Apply(change, entry); });
  });
}

pigment_status pigment_collection_fork(pigment_collection* collection, const char* new_name,
                                       size_t new_name_size, pigment_collection** fork,
                                       pigment_error** error) {
  return Call(
      error, [&] { ClearCollection(fork); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(collection, "collection"));
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{fork, "fork"}}));
        PIGMENT_ASSIGN_OR_RETURN(const std::string_view text,
                                 ReadText(new_name, new_name_size, "new_name"));
        PIGMENT_RETURN_IF_ERROR(collection->core->CheckUsable());
        PIGMENT_RETURN_IF_ERROR(collection->collection->Pin().status());
        PIGMENT_RETURN_IF_ERROR(pigment::CheckCollectionName(text));
        PIGMENT_ASSIGN_OR_RETURN(
            auto made, collection->core->store().ForkCollection(collection->collection->entry().id,
                                                                std::string(text)));
        PIGMENT_ASSIGN_OR_RETURN(auto handle, pigment::abi::Wrap(collection->core, std::move(made),
                                                                 collection->function));
        *fork = handle.release();
        return Status::Ok();
      });
}

pigment_status pigment_collection_flush(pigment_collection* collection, pigment_error** error) {
  return pigment_collection_flush_with(collection, nullptr, error);
}

pigment_status pigment_collection_flush_with(pigment_collection* collection,
                                             const pigment_call_options* options,
                                             pigment_error** error) {
  return Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckHandle(collection, "collection"));
    PIGMENT_ASSIGN_OR_RETURN(const auto context, pigment::abi::ReadCallOptions(options));
    PIGMENT_RETURN_IF_ERROR(collection->core->CheckUsable());
    return collection->collection->Flush(context.control);
  });
}

void pigment_collection_free(pigment_collection* collection) {
  if (pigment::abi::IsHandle(collection)) delete collection;
}
