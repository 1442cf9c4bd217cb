// SPDX-License-Identifier: Apache-2.0
//
// pigment viz DIR COLLECTION FILE: a page of HTML about a collection. The parts are in viz/.

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/session.h"
#include "tools/viz/page.h"

namespace pigment_tool {
namespace {

struct Arguments {
  Target target;
  std::string file;
  Filters filters;
  size_t sample = 2000;
  size_t queries = 50;
  uint64_t seed = 1;
};

nlohmann::json SegmentsOf(pigment_collection* collection) {
  pigment_buffer* json = nullptr;
  pigment_error* error = nullptr;
  Check(pigment_collection_segments(collection, &json, &error), error);
  return TakeJson(json);
}

PageContent Look(pigment_collection* collection, const Arguments& arguments) {
  PageContent content;
  content.described = Describe(collection);
  content.segments = SegmentsOf(collection);
  content.records = CountOf(collection);
  content.seed = arguments.seed;
  if (arguments.filters.is_given()) content.filters = arguments.filters.Text().dump();
  content.sample = DrawSample(collection, arguments.filters, arguments.sample, arguments.seed);
  std::vector<std::vector<float>> vectors;
  for (const SampledRecord& record : content.sample) vectors.push_back(record.embedding);
  content.projection = Project(vectors);
  content.questions = std::min(arguments.queries, content.sample.size());
  content.recall = MeasureRecall(collection, std::span(content.sample).first(content.questions));
  return content;
}

// Under its name only when all of it is there.
void Write(const std::string& path, const std::string& page) {
  const std::string part = path + ".part";
  std::FILE* const file = std::fopen(part.c_str(), "we");
  const bool is_written =
      file != nullptr && std::fwrite(page.data(), 1, page.size(), file) == page.size();
  const bool is_closed = file != nullptr && std::fclose(file) == 0;
  if (is_written && is_closed && std::rename(part.c_str(), path.c_str()) == 0) return;
  const int reason = errno;
  if (file != nullptr) std::remove(part.c_str());
  throw Failure(reason == ENOSPC ? PIGMENT_RESOURCE_EXHAUSTED : PIGMENT_UNAVAILABLE,
                "cannot write \"" + path + "\": " + std::strerror(reason));
}

nlohmann::json Summary(const PageContent& content) {
  nlohmann::json widths = nlohmann::json::array();
  for (const WidthRecall& at : content.recall.widths) {
    widths.push_back({{"width", at.width}, {"recall", at.recall}, {"rows_scored", at.rows_scored}});
  }
  return {{"records", content.records},
          {"sample", content.sample.size()},
          {"variance_shown", content.projection.share},
          {"strategy", content.recall.strategy},
          {"queries", content.questions},
          {"widths", widths}};
}

int Run(Arguments& arguments, bool is_json) {
  CatchInterrupts();
  arguments.filters.Read();
  const Client client = OpenToRead(arguments.target.directory);
  const Collection collection = OpenCollection(client.get(), arguments.target.place);
  const PageContent content = Look(collection.get(), arguments);
  Write(arguments.file, MakePage(content));
  if (is_json) {
    PrintJson(Summary(content));
  } else {
    std::printf("%zu of %llu records shown in %s\n", content.sample.size(),
                static_cast<unsigned long long>(content.records), arguments.file.c_str());
  }
  return kFine;
}

}  // namespace

void AddViz(Program& program) {
  const Command command =
      AddCommand(program, "viz", "write a page of HTML: sizes, segments, recall, a map of records");
  const auto arguments = std::make_shared<Arguments>();
  AddTarget(command, arguments->target);
  command.AddOption("FILE", arguments->file, "the page").Required();
  command.AddOption("--sample", arguments->sample, "how many records the map shows")
      .InRange(size_t{0}, size_t{100'000})
      .ShowDefault()
      .TypeName("N");
  command
      .AddOption("--queries", arguments->queries, "of them, how many recall is measured by; 0: not")
      .InRange(size_t{0}, size_t{10'000})
      .ShowDefault()
      .TypeName("N");
  command.AddOption("--seed", arguments->seed, "of the sample").ShowDefault().TypeName("N");
  arguments->filters.AddTo(command);
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
