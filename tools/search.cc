// SPDX-License-Identifier: Apache-2.0
//
// pigment search DIR COLLECTION TEXT...: ranked text.

#include <memory>

#include "tools/answers.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

struct Arguments {
  Target target;
  Filters filters;
  std::vector<std::string> queries;
  int64_t results = 10;
  bool must_all = false;
  bool highlights = false;
  std::vector<std::string> include;
};

int Run(Arguments& arguments, bool is_json) {
  arguments.filters.Read();
  const Client client = OpenToRead(arguments.target.directory);
  const Collection collection = OpenCollection(client.get(), arguments.target.place);
  Texts queries;
  for (const std::string& query : arguments.queries) queries.Add(query);
  pigment_text_search_request request{};
  pigment_text_search_request_init(&request);
  arguments.filters.Put(request);
  request.queries_count = queries.size();
  request.queries = queries.column();
  request.n_results = arguments.results;
  request.operator_ = arguments.must_all ? PIGMENT_TEXT_ALL : PIGMENT_TEXT_ANY;
  request.highlights = arguments.highlights;
  request.include = ParseInclude(arguments.include);
  pigment_result* result = nullptr;
  pigment_error* error = nullptr;
  const pigment_call_options options = CallOptions();
  Check(pigment_collection_search_text(collection.get(), &request, &options, &result, &error),
        error);
  const ResultHandle owned(result);
  PrintAnswers(result, is_json);
  return kFine;
}

}  // namespace

void AddSearch(Program& program) {
  const Command command =
      AddCommand(program, "search", "print the documents that match words best");
  const auto arguments = std::make_shared<Arguments>();
  AddTarget(command, arguments->target);
  command.AddOption("QUERY", arguments->queries, "words, \"phrases\", prefix*, +required")
      .Required();
  command.AddOption("-n,--results", arguments->results, "how many for each query")
      .ShowDefault()
      .TypeName("N");
  command.AddFlag("--all", arguments->must_all, "only documents with all words");
  command.AddFlag("--highlights", arguments->highlights, "where the words are, with --json");
  AddInclude(command, arguments->include);
  arguments->filters.AddTo(command);
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
