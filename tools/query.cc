// SPDX-License-Identifier: Apache-2.0
//
// pigment query DIR COLLECTION and pigment explain DIR COLLECTION: what is nearest, and how it was
// found.

#include <cstdio>
#include <memory>
#include <optional>

#include "tools/answers.h"
#include "tools/commands.h"
#include "tools/npy.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/rows.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

struct Arguments {
  Target target;
  Filters filters;
  std::string vector;
  std::string npy;
  std::string like;
  std::vector<std::string> texts;
  int64_t results = 10;
  double recall = 0;
  int64_t width = 0;
  std::optional<double> max_distance;
  std::vector<std::string> include;
};

// The vectors to ask with, row by row.
struct Questions {
  std::vector<float> values;
  size_t dimension = 0;

  void Add(const std::vector<float>& vector) {
    if (dimension == 0) dimension = vector.size();
    if (vector.size() != dimension) {
      throw Failure(PIGMENT_INVALID_ARGUMENT, "the vectors to ask with differ in dimension");
    }
    values.insert(values.end(), vector.begin(), vector.end());
  }
};

std::vector<float> NumbersOf(const nlohmann::json& json) {
  std::vector<float> numbers;
  for (const auto& number : json) {
    if (!number.is_number())
      throw Failure(PIGMENT_INVALID_ARGUMENT, "--vector is no list of numbers");
    numbers.push_back(number.get<float>());
  }
  return numbers;
}

void AddVectors(const std::string& argument, Questions& questions) {
  const nlohmann::json json = ParseArgument("--vector", argument);
  if (!json.is_array() || json.empty()) {
    throw Failure(PIGMENT_INVALID_ARGUMENT, "--vector is no list of numbers");
  }
  if (!json[0].is_array()) return questions.Add(NumbersOf(json));
  for (const auto& row : json) questions.Add(NumbersOf(row));
}

void AddFile(const std::string& path, Questions& questions) {
  const NpyReader file(path);
  std::vector<float> row;
  for (uint64_t i = 0; i < file.rows(); ++i) {
    file.Read(i, row);
    questions.Add(row);
  }
}

Questions QuestionsOf(pigment_collection* collection, const Arguments& arguments) {
  Questions questions;
  if (!arguments.vector.empty()) AddVectors(arguments.vector, questions);
  if (!arguments.npy.empty()) AddFile(arguments.npy, questions);
  if (!arguments.like.empty()) questions.Add(VectorOfRecord(collection, arguments.like));
  return questions;
}

ResultHandle Ask(pigment_collection* collection, const Arguments& arguments, bool explain) {
  const Questions questions = QuestionsOf(collection, arguments);
  Texts texts;
  for (const std::string& text : arguments.texts) texts.Add(text);
  pigment_query_request request{};
  pigment_query_request_init(&request);
  arguments.filters.Put(request);
  if (questions.dimension > 0) {
    request.embeddings = {questions.values.data(), questions.values.size() / questions.dimension,
                          questions.dimension, 0, PIGMENT_F32};
  }
  if (texts.size() > 0) {
    request.texts_count = texts.size();
    request.texts = texts.column();
  }
  request.n_results = arguments.results;
  request.recall = arguments.recall;
  request.search_width = arguments.width;
  request.has_max_distance = arguments.max_distance.has_value();
  request.max_distance = arguments.max_distance.value_or(0);
  request.include = ParseInclude(arguments.include);
  request.explain = explain;
  pigment_result* result = nullptr;
  pigment_error* error = nullptr;
  const pigment_call_options options = CallOptions();
  Check(pigment_collection_query(collection, &request, &options, &result, &error), error);
  return ResultHandle(result);
}

// A get with the same filters, for `explain` without a question.
ResultHandle Get(pigment_collection* collection, const Arguments& arguments) {
  pigment_get_request request{};
  request.struct_size = sizeof request;
  arguments.filters.Put(request);
  request.has_limit = true;
  request.limit = arguments.results;
  request.include = ParseInclude(arguments.include);
  request.explain = true;
  pigment_result* result = nullptr;
  pigment_error* error = nullptr;
  const pigment_call_options options = CallOptions();
  Check(pigment_collection_get(collection, &request, &options, &result, &error), error);
  return ResultHandle(result);
}

bool HasQuestion(const Arguments& arguments) {
  return !arguments.vector.empty() || !arguments.npy.empty() || !arguments.like.empty() ||
         !arguments.texts.empty();
}

int RunQuery(Arguments& arguments, bool is_json) {
  arguments.filters.Read();
  const Client client = OpenToRead(arguments.target.directory);
  const Collection collection = OpenCollection(client.get(), arguments.target.place);
  const ResultHandle result = Ask(collection.get(), arguments, false);
  PrintAnswers(result.get(), is_json);
  return kFine;
}

// The explanation is a tree of JSON already; as text its leaves are a table.
int RunExplain(Arguments& arguments, bool is_json) {
  arguments.filters.Read();
  const Client client = OpenToRead(arguments.target.directory);
  const Collection collection = OpenCollection(client.get(), arguments.target.place);
  const ResultHandle result = HasQuestion(arguments) ? Ask(collection.get(), arguments, true)
                                                     : Get(collection.get(), arguments);
  size_t size = 0;
  const char* const text = pigment_result_explain(result.get(), &size);
  if (text == nullptr) throw Failure(PIGMENT_INTERNAL, "the result explains nothing");
  const nlohmann::json explanation = nlohmann::json::parse(text, text + size);
  if (is_json) {
    PrintJson(explanation);
    return kFine;
  }
  Table table({"what", "value"});
  const nlohmann::json leaves = explanation.flatten();
  for (const auto& [path, value] : leaves.items()) {
    table.Add({path.substr(1), value});
  }
  table.Print();
  return kFine;
}

void Add(Program& program, const char* name, const char* description, int (*run)(Arguments&, bool),
         bool needs_question) {
  const Command command = AddCommand(program, name, description);
  const auto arguments = std::make_shared<Arguments>();
  AddTarget(command, arguments->target);
  command.AddOption("--vector", arguments->vector, "a list of numbers, or of such lists, or @FILE")
      .TypeName("JSON");
  command.AddOption("--npy", arguments->npy, "a file of NumPy, each row a query").TypeName("FILE");
  command.AddOption("--like", arguments->like, "the vector of this record").TypeName("ID");
  command
      .AddOption("--text", arguments->texts,
                 "a text, embedded by the collection's function; may be given again")
      .TypeName("TEXT");
  command.AddOption("-n,--results", arguments->results, "how many for each query")
      .ShowDefault()
      .TypeName("N");
  command
      .AddOption("--recall", arguments->recall,
                 "share of the nearest records to find; 1 is exact; 0: the default, 0.98")
      .TypeName("R");
  command.AddOption("--width", arguments->width, "search width, in place of a recall")
      .TypeName("N");
  command.AddOption("--max-distance", arguments->max_distance, "nothing that is farther away")
      .TypeName("D");
  AddInclude(command, arguments->include);
  arguments->filters.AddTo(command);
  command.OnGiven([&program, arguments, run, needs_question] {
    if (needs_question && !HasQuestion(*arguments)) {
      ThrowUsageError("query: one of --vector, --npy, --like, --text is required");
    }
    program.run = [&program, arguments, run] { return run(*arguments, program.is_json); };
  });
}

}  // namespace

void AddQuery(Program& program) {
  Add(program, "query", "print the records nearest to vectors or texts", RunQuery, true);
}

void AddExplain(Program& program) {
  Add(program, "explain", "show how a query, or without one a get, is answered", RunExplain, false);
}

}  // namespace pigment_tool
