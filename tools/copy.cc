// SPDX-License-Identifier: Apache-2.0
//
// pigment copy FROM COLLECTION TO [NAME]: a collection into another one, of the same store or
// another. The copy has the order, the ids, every bit of the vectors, metadata, configuration,
// schema and the name of the embedding function. The same command goes on after a kill.

#include <cstdio>
#include <filesystem>
#include <memory>

#include "tools/commands.h"
#include "tools/create.h"
#include "tools/job.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/pages.h"
#include "tools/progress.h"
#include "tools/rows.h"
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
};

bool IsSameStore(const std::string& one, const std::string& other) {
  std::error_code none;
  return std::filesystem::equivalent(one, other, none);
}

nlohmann::json IdentityOf(const Arguments& arguments, const nlohmann::json& from) {
  return {{"from", from.at("id")},
          {"tenant", arguments.place.tenant},
          {"database", arguments.place.database},
          {"name", arguments.place.name},
          {"filters", arguments.filters.Text()}};
}

class Copy {
 public:
  Copy(const Arguments& arguments, pigment_collection* from, pigment_client* to)
      : arguments_(arguments),
        described_(Describe(from)),
        job_(JobPath(arguments.to, "copy", IdentityOf(arguments, described_)),
             IdentityOf(arguments, described_)),
        to_(OpenTarget(to)),
        pages_(from, arguments.filters, is_resumed_ ? job_.progress().at("cursor") : ""),
        progress_("copy", pages_.Count()) {}

  nlohmann::json Run() {
    uint64_t records = is_resumed_ ? job_.progress().at("records").get<uint64_t>() : 0;
    const uint64_t resumed_at = records;
    progress_.Begin(records, records);
    while (const ResultHandle page = pages_.Next()) {
      const Rows rows(page.get());
      for (uint64_t row = 0; row < rows.size(); ++row) {
        const Record record = rows[row].ToRecord();
        if (!batch_.Add(record)) {
          Write();
          batch_.Add(record);
        }
      }
      Write();
      records += rows.size();
      progress_.Show(records, records);
      const bool is_over = pages_.cursor().empty();
      if (!is_over && (IsInterrupted() || job_.IsTimeToSave())) Save(records);
      if (!is_over && IsInterrupted()) {
        throw Failure(PIGMENT_CANCELLED, "interrupted; the same command goes on from here");
      }
    }
    return {{"records", records},
            {"inserted", counts_.inserted},
            {"updated", counts_.updated},
            {"resumed_at", resumed_at}};
  }
  void Finish() { job_.Finish(); }

 private:
  // The job names the copy by id, so that nothing is written into another collection that has its
  // name now.
  Collection OpenTarget(pigment_client* to) {
    const bool is_made = job_.is_resumed() && !job_.progress().at("to").is_null();
    if (is_made) {
      Collection collection = FindTarget(to);
      if (collection != nullptr) is_resumed_ = IdOf(collection) == job_.progress().at("to");
      if (is_resumed_) return collection;
    }
    if (arguments_.must_merge) return OpenCollection(to, arguments_.place);
    if (arguments_.with_parents) MakeParents(to, arguments_.place);
    const bool may_take = job_.is_resumed() && !is_made;
    if (!may_take && FindTarget(to) == nullptr) {
      job_.Save({{"to", nullptr}, {"cursor", ""}, {"records", 0}});
    }
    Collection collection = may_take ? MakeLikeOrTake(to, arguments_.place, described_)
                                     : MakeLike(to, arguments_.place, described_);
    job_.Save({{"to", IdOf(collection)}, {"cursor", ""}, {"records", 0}});
    return collection;
  }

  Collection FindTarget(pigment_client* to) {
    try {
      return OpenCollection(to, arguments_.place);
    } catch (const Failure& failure) {
      if (failure.status != PIGMENT_NOT_FOUND) throw;
      return nullptr;
    }
  }
  static nlohmann::json IdOf(const Collection& collection) {
    return Describe(collection.get()).at("id");
  }

  void Write() { batch_.WriteTo(to_.get(), WriteMode::kUpsert, counts_); }

  void Save(uint64_t records) {
    job_.Save({{"to", IdOf(to_)}, {"cursor", pages_.cursor()}, {"records", records}});
  }

  const Arguments& arguments_;
  nlohmann::json described_;
  Job job_;
  bool is_resumed_ = false;
  Collection to_;
  Pages pages_;
  Progress progress_;
  Batch batch_;
  WriteCounts counts_;
};

int Run(Arguments& arguments, bool is_json) {
  CatchInterrupts();
  arguments.filters.Read();
  if (arguments.place.name.empty()) arguments.place.name = arguments.from.place.name;
  const Client to = OpenOrMake(arguments.to);
  // One process may not read beside its own writing: the same store has one client.
  const bool is_one = IsSameStore(arguments.from.directory, arguments.to);
  const Client other = is_one ? nullptr : OpenToRead(arguments.from.directory);
  pigment_client* const from = is_one ? to.get() : other.get();
  const Collection source = OpenCollection(from, arguments.from.place);
  Copy copy(arguments, source.get(), to.get());
  const nlohmann::json done = copy.Run();
  Close(to.get());  // everything is durable before the job is forgotten
  copy.Finish();
  if (is_json) {
    PrintJson(done);
  } else {
    std::printf("%s records copied\n", done["records"].dump().c_str());
  }
  return kFine;
}

}  // namespace

void AddCopy(Program& program) {
  CLI::App* const command = AddCommand(
      program, "copy", "copy a collection, also into another store; goes on where it was killed");
  const auto arguments = std::make_shared<Arguments>();
  AddTarget(command, arguments->from);
  AddStore(command, "TO", arguments->to, "the store to copy into; made where there is none");
  command->add_option("NAME", arguments->place.name, "of the copy; the same when left out");
  command->add_option("--to-tenant", arguments->place.tenant, "of the copy")->type_name("NAME");
  command->add_option("--to-database", arguments->place.database, "of the copy")->type_name("NAME");
  arguments->filters.AddTo(command);
  command->add_flag("--parents", arguments->with_parents,
                    "make tenant and database where they are missing");
  command->add_flag("--merge", arguments->must_merge,
                    "into a collection that is there: records that it has are updated");
  command->callback([&program, arguments] {
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
