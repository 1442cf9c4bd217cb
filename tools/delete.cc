// SPDX-License-Identifier: Apache-2.0
//
// pigment delete DIR COLLECTION: records, or the collection itself.

#include <cstdio>
#include <memory>
#include <optional>

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

struct Arguments {
  Target target;
  Filters filters;
  std::optional<int64_t> limit;
  bool is_all = false;
};

void DeleteCollection(pigment_client* client, const Place& place) {
  const pigment_scope scope = ScopeOf(place);
  pigment_error* error = nullptr;
  Check(pigment_client_delete_collection(client, &scope, place.name.data(), place.name.size(),
                                         &error),
        error);
}

uint64_t DeleteRecords(pigment_client* client, const Arguments& arguments) {
  const Collection collection = OpenCollection(client, arguments.target.place);
  pigment_delete_request request{};
  request.struct_size = sizeof request;
  arguments.filters.Put(request);
  request.has_limit = arguments.limit.has_value();
  request.limit = arguments.limit.value_or(0);
  pigment_write_result result{};
  result.struct_size = sizeof result;
  pigment_error* error = nullptr;
  Check(pigment_collection_delete(collection.get(), &request, nullptr, &result, &error), error);
  return result.deleted;
}

int Run(Arguments& arguments, bool is_json) {
  arguments.filters.Read();
  const Client client = OpenToWrite(arguments.target.directory);
  nlohmann::json done;
  if (arguments.is_all) {
    DeleteCollection(client.get(), arguments.target.place);
    done = {{"deleted_collection", arguments.target.place.name}};
  } else {
    done = {{"deleted", DeleteRecords(client.get(), arguments)}};
  }
  Close(client.get());
  if (is_json) {
    PrintJson(done);
  } else if (arguments.is_all) {
    std::printf("collection \"%s\" is deleted\n", arguments.target.place.name.c_str());
  } else {
    std::printf("%s records are deleted\n", done["deleted"].dump().c_str());
  }
  return kFine;
}

}  // namespace

void AddDelete(Program& program) {
  const Command command =
      AddCommand(program, "delete", "delete records, or with --collection the whole collection");
  const auto arguments = std::make_shared<Arguments>();
  AddTarget(command, arguments->target);
  arguments->filters.AddTo(command);
  command.AddOption("--limit", arguments->limit, "at most so many, the first ones").TypeName("N");
  command.AddFlag("--collection", arguments->is_all, "the collection with everything in it");
  command.OnGiven([&program, arguments] {
    if (arguments->is_all == arguments->filters.is_given()) {
      ThrowUsageError("delete: say what: --id, --where or --where-document, or --collection alone");
    }
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
