// SPDX-License-Identifier: Apache-2.0
//
// pigment import DIR COLLECTION FILE: JSON lines, and vectors from a file of NumPy. What was
// written is saved beside the store, at least once a second: the same command goes on after a kill.
// What it does twice then changes nothing, whatever the mode.

#include <cstdio>
#include <memory>
#include <optional>

#include "tools/commands.h"
#include "tools/create.h"
#include "tools/job.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "tools/record_source.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

struct Arguments {
  Target target;
  std::string source;
  std::string embeddings;
  std::string mode = "add";
  bool must_make = false;
  bool is_fresh = false;
  Making making;
};

WriteMode ModeOf(const std::string& name) {
  return name == "add"      ? WriteMode::kAdd
         : name == "update" ? WriteMode::kUpdate
                            : WriteMode::kUpsert;
}

Collection OpenOrMakeCollection(pigment_client* client, const Arguments& arguments) {
  if (arguments.must_make) {
    Making making = arguments.making;
    making.may_exist = true;
    Make(client, arguments.target.place, making);
  }
  return OpenCollection(client, arguments.target.place);
}

class Import {
 public:
  Import(const Arguments& arguments, pigment_collection* collection)
      : arguments_(arguments),
        collection_(collection),
        source_(OpenSource(arguments.source, arguments.embeddings)),
        progress_("import", source_->total()) {
    const nlohmann::json identity = {{"collection", Describe(collection).at("id")},
                                     {"source", source_->identity()},
                                     {"mode", arguments.mode}};
    written_ = read_ = source_->place();
    if (!source_->can_go_on()) return;
    job_.emplace(JobPath(arguments.target.directory, "import", identity), identity);
    if (arguments.is_fresh || !job_->is_resumed()) return;
    const auto& saved = job_->progress();
    counts_ = {saved.at("inserted"), saved.at("updated"), saved.at("skipped")};
    source_->GoTo(saved.at("place"));
    written_ = read_ = source_->place();
    resumed_at_ = source_->records();
  }

  void Run() {
    progress_.Begin(source_->done(), source_->records());
    try {
      Record record;
      while (!IsInterrupted() && Next(record)) {
        if (!batch_.Add(record)) {
          Write();
          batch_.Add(record);
        }
        read_ = source_->place();
        if (batch_.is_full()) Write();
      }
      Write();
    } catch (const Failure&) {
      if (!IsInterrupted()) {
        if (job_) Save();
        throw;
      }
    }
    if (IsInterrupted()) {
      if (job_) Save();  // also what was written since the last time
      throw Failure(PIGMENT_CANCELLED,
                    job_ ? "interrupted; the same command goes on from here" : "interrupted");
    }
  }

  nlohmann::json Finish() {
    if (job_) job_->Finish();
    return {{"read", source_->records()},
            {"inserted", counts_.inserted},
            {"updated", counts_.updated},
            {"skipped", counts_.skipped},
            {"resumed_at", resumed_at_}};
  }

 private:
  // What is before a wrong line is written.
  bool Next(Record& record) {
    try {
      return source_->Next(record);
    } catch (const Failure&) {
      Write();
      throw;
    }
  }

  void Write() {
    try {
      batch_.WriteTo(collection_, ModeOf(arguments_.mode), counts_);
    } catch (const Failure& failure) {
      throw Failure(failure.status, "records up to " + source_->where() + ": " + failure.what());
    }
    written_ = read_;
    progress_.Show(source_->done(), source_->records());
    if (job_ && job_->IsTimeToSave()) Save();
  }

  void Save() {
    job_->Save({{"place", written_},
                {"inserted", counts_.inserted},
                {"updated", counts_.updated},
                {"skipped", counts_.skipped}});
  }

  const Arguments& arguments_;
  pigment_collection* collection_;
  std::unique_ptr<RecordSource> source_;
  Progress progress_;
  std::optional<Job> job_;
  Batch batch_;
  WriteCounts counts_;
  nlohmann::json read_;     // the place behind the last record in the batch
  nlohmann::json written_;  // and behind the last one in the collection
  uint64_t resumed_at_ = 0;
};

int Run(const Arguments& arguments, bool is_json) {
  CatchInterrupts();
  const Client client = arguments.must_make ? OpenOrMake(arguments.target.directory)
                                            : OpenToWrite(arguments.target.directory);
  nlohmann::json done;
  {
    const Collection collection = OpenOrMakeCollection(client.get(), arguments);
    Import import(arguments, collection.get());
    import.Run();
    Close(client.get());  // everything is durable before the job is forgotten
    done = import.Finish();
  }
  if (is_json) {
    PrintJson(done);
  } else {
    std::printf("%s records read: %s inserted, %s updated, %s skipped\n",
                done["read"].dump().c_str(), done["inserted"].dump().c_str(),
                done["updated"].dump().c_str(), done["skipped"].dump().c_str());
  }
  return kFine;
}

}  // namespace

void AddImport(Program& program) {
  const Command command = AddCommand(
      program, "import", "write records of a file into a collection; goes on where it was killed");
  const auto arguments = std::make_shared<Arguments>();
  AddTarget(command, arguments->target);
  command
      .AddOption(
          "FILE", arguments->source,
          "JSON lines; - for standard input; a file or stream of Arrow (.arrow, .arrows); or .npy "
          "alone, ids are the numbers of rows")
      .Required();
  command
      .AddOption("--embeddings", arguments->embeddings,
                 "a file of NumPy with the vector of each record, in the same order")
      .TypeName("FILE");
  command.AddOption("--mode", arguments->mode, "what to do with ids that are there")
      .OneOf({"add", "update", "upsert"})
      .ShowDefault();
  command.AddFlag("--restart", arguments->is_fresh, "begin anew, also after a kill");
  command.AddFlag("--create", arguments->must_make, "make the collection when it is missing");
  arguments->making.AddTo(command);
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
