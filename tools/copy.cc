// SPDX-License-Identifier: Apache-2.0
//
// pigment copy FROM COLLECTION TO [NAME]: a collection into another one, of the same home or
// another; a home is a directory or a database of PostgreSQL. The copy has the order, the ids,
// every bit of the vectors, metadata, configuration, schema and the name of the embedding function.
// The same command goes on after a kill.

#include <cstdio>
#include <memory>

#include "tools/commands.h"
#include "tools/homes/home.h"
#include "tools/job.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

struct Arguments {
  Target from;
  std::string to;
  Place place;
  Filters filters;
  bool with_parents = false;
  bool must_merge = false;
  bool without_function = false;
};

nlohmann::json IdentityOf(const Arguments& arguments, const nlohmann::json& from, const Home& to) {
  nlohmann::json identity = {{"from", from.at("id")},
                             {"tenant", arguments.place.tenant},
                             {"database", arguments.place.database},
                             {"name", arguments.place.name},
                             {"filters", arguments.filters.Text()}};
  if (const nlohmann::json home = to.identity(); !home.is_null()) identity["home"] = home;
  return identity;
}

class Copy {
 public:
  Copy(const Arguments& arguments, const Homes& homes)
      : arguments_(arguments),
        reader_(homes.from->Read(arguments.from.place, arguments.filters)),
        to_home_(homes.to),
        writer_(homes.to->Write(arguments.place)),
        identity_(IdentityOf(arguments, reader_->described(), *homes.to)),
        job_(homes.to->PathOfJob("copy", identity_), identity_),
        to_(OpenTarget()),
        progress_("copy", reader_->Count()) {
    if (is_resumed_) reader_->GoTo(job_.progress().at("cursor"));
  }

  nlohmann::json Run() {
    uint64_t records = is_resumed_ ? job_.progress().at("records").get<uint64_t>() : 0;
    const uint64_t resumed_at = records;
    progress_.Begin(records, records);
    try {
      std::vector<Record> page;
      while (reader_->Next(page)) {
        writer_->Write(WriteMode::kUpsert, page, counts_);
        records += page.size();
        progress_.Show(records, records);
        const bool is_over = reader_->cursor().empty();
        if (!is_over && (IsInterrupted() || job_.IsTimeToSave())) Save(records);
        if (!is_over && IsInterrupted()) throw Failure(PIGMENT_CANCELLED, "between two pages");
      }
    } catch (const Failure& failure) {
      if (failure.status != PIGMENT_CANCELLED) throw;
      throw Failure(PIGMENT_CANCELLED, "interrupted; the same command goes on from here");
    }
    to_home_->Finish();  // everything is durable before the job is forgotten
    job_.Finish();
    return {{"records", records},
            {"inserted", counts_.inserted},
            {"updated", counts_.updated},
            {"resumed_at", resumed_at}};
  }

 private:
  // Its id. The job names the copy by id, so that nothing is written into another collection that
  // has its name now.
  std::string OpenTarget() {
    const std::string there = writer_->Find();
    const bool is_made = job_.is_resumed() && !job_.progress().at("to").is_null();
    is_resumed_ = is_made && !there.empty() && there == job_.progress().at("to");
    if (is_resumed_) return there;
    if (arguments_.must_merge) {
      if (!there.empty()) return there;
      throw Failure(PIGMENT_NOT_FOUND,
                    "not found: collection \"" + arguments_.place.name + "\" to merge into");
    }
    if (arguments_.with_parents) writer_->MakeParents();
    const bool may_take = job_.is_resumed() && !is_made;
    if (!may_take && there.empty()) Begin(nullptr);
    nlohmann::json described = reader_->described();
    if (arguments_.without_function) described["embedding_function"] = nullptr;
    const std::string made = writer_->Make(described, may_take);
    Begin(made);
    return made;
  }

  void Begin(const nlohmann::json& to) { job_.Save({{"to", to}, {"cursor", ""}, {"records", 0}}); }
  void Save(uint64_t records) {
    job_.Save({{"to", to_}, {"cursor", reader_->cursor()}, {"records", records}});
  }

  const Arguments& arguments_;
  std::unique_ptr<CollectionReader> reader_;
  std::shared_ptr<Home> to_home_;
  std::unique_ptr<CollectionWriter> writer_;
  nlohmann::json identity_;
  Job job_;
  bool is_resumed_ = false;
  std::string to_;
  Progress progress_;
  WriteCounts counts_;
};

int Run(Arguments& arguments, bool is_json) {
  CatchInterrupts();
  arguments.filters.Read();
  if (arguments.place.name.empty()) arguments.place.name = arguments.from.place.name;
  const Homes homes = OpenHomes(arguments.from.directory, arguments.to);
  const nlohmann::json done = Copy(arguments, homes).Run();
  if (is_json) {
    PrintJson(done);
  } else {
    std::printf("%s records copied\n", done["records"].dump().c_str());
  }
  return kFine;
}

}  // namespace

void AddCopy(Program& program) {
  const Command command = AddCommand(
      program, "copy", "copy a collection, also into another home; goes on where it was killed");
  const auto arguments = std::make_shared<Arguments>();
  AddHome(command, "FROM", arguments->from.directory,
          "the home to copy from: a directory or postgresql://...");
  AddCollection(command, arguments->from.place);
  AddHome(command, "TO", arguments->to,
          "the home to copy into; a directory is made where there is none");
  command.AddOption("NAME", arguments->place.name, "of the copy; the same when left out");
  command.AddOption("--to-tenant", arguments->place.tenant, "of the copy").TypeName("NAME");
  command.AddOption("--to-database", arguments->place.database, "of the copy").TypeName("NAME");
  arguments->filters.AddTo(command);
  command.AddFlag("--parents", arguments->with_parents,
                  "make tenant and database where they are missing");
  command.AddFlag("--merge", arguments->must_merge,
                  "into a collection that is there: records that it has are updated");
  command.AddFlag("--no-function", arguments->without_function,
                  "leave the name of the embedding function out");
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
