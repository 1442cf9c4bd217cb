// SPDX-License-Identifier: Apache-2.0
//
// pigment count DIR COLLECTION and pigment facets DIR COLLECTION KEY...

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
  std::vector<std::string> keys;
  std::optional<int64_t> limit;
};

int RunCount(Arguments& arguments, bool is_json) {
  arguments.filters.Read();
  const Client client = OpenToRead(arguments.target.directory);
  const Collection collection = OpenCollection(client.get(), arguments.target.place);
  pigment_count_request request{};
  request.struct_size = sizeof request;
  arguments.filters.Put(request);
  uint64_t count = 0;
  pigment_error* error = nullptr;
  Check(pigment_collection_count_where(collection.get(), &request, nullptr, &count, &error), error);
  if (is_json) {
    PrintJson({{"count", count}});
  } else {
    std::printf("%llu\n", static_cast<unsigned long long>(count));
  }
  return kFine;
}

int RunFacets(Arguments& arguments, bool is_json) {
  arguments.filters.Read();
  const Client client = OpenToRead(arguments.target.directory);
  const Collection collection = OpenCollection(client.get(), arguments.target.place);
  Texts keys;
  for (const std::string& key : arguments.keys) keys.Add(key);
  pigment_facets_request request{};
  request.struct_size = sizeof request;
  arguments.filters.Put(request);
  request.keys_count = keys.size();
  request.keys = keys.column();
  request.has_limit = arguments.limit.has_value();
  request.limit = arguments.limit.value_or(0);
  pigment_buffer* json = nullptr;
  pigment_error* error = nullptr;
  Check(pigment_collection_facets(collection.get(), &request, nullptr, &json, &error), error);
  const nlohmann::json facets = TakeJson(json);
  if (is_json) {
    PrintJson(facets);
    return kFine;
  }
  Table table({"key", "value", "records"});
  for (const std::string& key : arguments.keys) {
    for (const auto& each : facets.at(key)) table.Add({key, each["value"].dump(), each["count"]});
  }
  table.Print();
  return kFine;
}

void Add(Program& program, const char* name, const char* description,
         int (*run)(Arguments&, bool)) {
  const Command command = AddCommand(program, name, description);
  const auto arguments = std::make_shared<Arguments>();
  AddTarget(command, arguments->target);
  if (run == RunFacets) {
    command.AddOption("KEY", arguments->keys, "keys of metadata, or chroma:uri").Required();
    command.AddOption("--limit", arguments->limit, "values of each key").TypeName("N");
  }
  arguments->filters.AddTo(command);
  command.OnGiven([&program, arguments, run] {
    program.run = [&program, arguments, run] { return run(*arguments, program.is_json); };
  });
}

}  // namespace

void AddCount(Program& program) {
  Add(program, "count", "count records, all or those that match", RunCount);
}

void AddFacets(Program& program) {
  Add(program, "facets", "count the values of keys of metadata", RunFacets);
}

}  // namespace pigment_tool
