// SPDX-License-Identifier: Apache-2.0
//
// pigment create DIR COLLECTION

#include "tools/create.h"

#include <cstdio>
#include <memory>
#include <optional>

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/output.h"

namespace pigment_tool {
namespace {

constexpr int64_t kLexicalDimensionDefault = 384;  // of the built-in function

struct Wanted {
  std::string metadata;
  std::string configuration;
  std::string schema;
};

Collection Create(pigment_client* client, const Place& place, const Wanted& texts,
                  const pigment_embedding_function* function, bool may_exist) {
  pigment_collection_options options{};
  pigment_collection_options_init(&options);
  const auto put = [](const std::string& text, const char*& data, size_t& size) {
    if (text.empty()) return;
    data = text.data();
    size = text.size();
  };
  put(texts.metadata, options.metadata_json, options.metadata_json_size);
  put(texts.configuration, options.configuration_json, options.configuration_json_size);
  put(texts.schema, options.schema_json, options.schema_json_size);
  options.embedding_function = function;
  options.get_or_create = may_exist;
  const pigment_scope scope = ScopeOf(place);
  pigment_collection* collection = nullptr;
  pigment_error* error = nullptr;
  Check(pigment_client_create_collection(client, &scope, place.name.data(), place.name.size(),
                                         &options, &collection, &error),
        error);
  return Collection(collection);
}

// Makes one thing; that it is there already is fine.
template <typename Call>
void MakeOne(Call call) {
  pigment_error* error = nullptr;
  const pigment_status status = call(&error);
  if (status != PIGMENT_ALREADY_EXISTS) return Check(status, error);
  pigment_error_free(error);
}

// A configuration with the space in it, where both are given.
std::string WithSpace(const std::string& configuration, const std::string& space) {
  if (space.empty()) return ReadArgument(configuration);
  nlohmann::json json = configuration.empty() ? nlohmann::json::object()
                                              : ParseArgument("--configuration", configuration);
  if (!json.is_object()) throw Failure(PIGMENT_INVALID_ARGUMENT, "--configuration is no object");
  json[json.contains("spann") ? "spann" : "hnsw"]["space"] = space;
  return json.dump();
}

struct Arguments {
  Target target;
  Making making;
};

int Run(const Arguments& arguments, bool is_json) {
  const Client client = OpenOrMake(arguments.target.directory);
  const Collection collection = Make(client.get(), arguments.target.place, arguments.making);
  const nlohmann::json described = Describe(collection.get());
  Close(client.get());
  if (is_json) {
    PrintJson(described);
  } else {
    std::printf("collection \"%s\" has id %s\n", arguments.target.place.name.c_str(),
                described.at("id").get<std::string>().c_str());
  }
  return kFine;
}

}  // namespace

void Making::AddTo(Command command) {
  command.AddOption("--metadata", metadata, "of the collection: JSON, or @FILE").TypeName("JSON");
  command.AddOption("--configuration", configuration, "of its index: JSON, or @FILE")
      .TypeName("JSON");
  command.AddOption("--schema", schema, "which values are indexed: JSON, or @FILE")
      .TypeName("JSON");
  command.AddOption("--space", space, "l2 (default), cosine or ip")
      .OneOf({"l2", "cosine", "ip"})
      .TypeName("SPACE");
  command
      .AddOption("--lexical", lexical,
                 "embed texts by the built-in lexical function, of so many dimensions (0: 384)")
      .InRange(int64_t{0}, int64_t{65535})
      .TypeName("N");
  command.AddFlag("--parents", with_parents, "make tenant and database where they are missing");
}

void MakeParents(pigment_client* client, const Place& place) {
  const std::string& tenant = place.tenant;
  if (!tenant.empty()) {
    MakeOne([&](pigment_error** error) {
      return pigment_client_create_tenant(client, tenant.data(), tenant.size(), error);
    });
  }
  const std::string database = place.database.empty() ? "default_database" : place.database;
  MakeOne([&](pigment_error** error) {
    return pigment_client_create_database(client, tenant.data(), tenant.size(), database.data(),
                                          database.size(), error);
  });
}

Collection Make(pigment_client* client, const Place& place, const Making& making) {
  if (making.with_parents) MakeParents(client, place);
  std::optional<StoredFunction> function;
  if (making.lexical >= 0) {
    nlohmann::json stored{{"name", "pigment_lexical_v1"}};
    // Who opens the collection before it has records knows the dimension from here alone.
    if (making.lexical != 0 && making.lexical != kLexicalDimensionDefault)
      stored["config"] = {{"dimension", making.lexical}};
    function.emplace(stored, static_cast<size_t>(making.lexical));
  }
  return Create(client, place,
                {ReadArgument(making.metadata), WithSpace(making.configuration, making.space),
                 ReadArgument(making.schema)},
                function ? function->get() : nullptr, making.may_exist);
}

Collection MakeLike(pigment_client* client, const Place& place, const nlohmann::json& described) {
  const auto text = [&](const char* member) {
    const auto& value = described.at(member);
    return value.is_null() ? std::string() : value.dump();
  };
  Wanted texts{text("metadata"), text("configuration"), text("schema")};
  if (!texts.schema.empty()) texts.configuration.clear();  // the schema says all of it
  std::optional<StoredFunction> function;
  if (const auto& stored = described.at("embedding_function"); !stored.is_null()) {
    const auto& dimension = described.at("dimension");
    function.emplace(stored, dimension.is_null() ? 0 : dimension.get<size_t>());
  }
  return Create(client, place, texts, function ? function->get() : nullptr, false);
}

Collection MakeLikeOrTake(pigment_client* client, const Place& place,
                          const nlohmann::json& described) {
  try {
    return MakeLike(client, place, described);
  } catch (const Failure& failure) {
    if (failure.status != PIGMENT_ALREADY_EXISTS) throw;
    Collection there = OpenCollection(client, place);
    if (CountOf(there.get()) != 0) throw;
    return there;
  }
}

void AddCreate(Program& program) {
  const Command command =
      AddCommand(program, "create", "make a collection, and the store where there is none");
  const auto arguments = std::make_shared<Arguments>();
  AddTarget(command, arguments->target);
  arguments->making.AddTo(command);
  command.AddFlag("--get-or-create", arguments->making.may_exist,
                  "leave a collection of that name as it is");
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
