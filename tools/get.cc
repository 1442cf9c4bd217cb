// SPDX-License-Identifier: Apache-2.0
//
// pigment get DIR COLLECTION

#include <cstdio>
#include <memory>
#include <optional>

#include "tools/answers.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

struct Arguments {
  Target target;
  Filters filters;
  std::optional<int64_t> limit;
  int64_t offset = 0;
  std::vector<std::string> order_by;
  std::vector<std::string> include;
};

// "key" and "-key", the latter descending.
std::string OrderBy(const std::vector<std::string>& keys) {
  nlohmann::json order = nlohmann::json::array();
  for (const std::string& key : keys) {
    const bool is_descending = key.starts_with('-');
    order.push_back({{"key", key.substr(is_descending ? 1 : 0)}, {"descending", is_descending}});
  }
  return order.dump();
}

int Run(Arguments& arguments, bool is_json) {
  arguments.filters.Read();
  const Client client = OpenToRead(arguments.target.directory);
  const Collection collection = OpenCollection(client.get(), arguments.target.place);
  pigment_get_request request{};
  request.struct_size = sizeof request;
  arguments.filters.Put(request);
  request.has_limit = arguments.limit.has_value();
  request.limit = arguments.limit.value_or(0);
  request.offset = arguments.offset;
  request.include = ParseInclude(arguments.include);
  const std::string order = OrderBy(arguments.order_by);
  if (!arguments.order_by.empty()) {
    request.order_by_json = order.data();
    request.order_by_json_size = order.size();
  }
  pigment_result* result = nullptr;
  pigment_error* error = nullptr;
  const pigment_call_options options = CallOptions();
  Check(pigment_collection_get(collection.get(), &request, &options, &result, &error), error);
  const ResultHandle owned(result);
  PrintRecords(result, is_json);
  return kFine;
}

}  // namespace

void AddGet(Program& program) {
  const Command command = AddCommand(program, "get", "print records");
  const auto arguments = std::make_shared<Arguments>();
  AddTarget(command, arguments->target);
  arguments->filters.AddTo(command);
  command.AddOption("--limit", arguments->limit, "at most so many").TypeName("N");
  command.AddOption("--offset", arguments->offset, "leave out so many first ones").TypeName("N");
  command
      .AddOption("--order-by", arguments->order_by,
                 "keys of metadata, separated by commas; =-KEY for descending")
      .Delimiter(',')
      .TypeName("KEY");
  AddInclude(command, arguments->include);
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
