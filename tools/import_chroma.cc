// SPDX-License-Identifier: Apache-2.0
//
// pigment import-chroma FROM TO: all collections of a Chroma directory, or one, into a directory or
// a database of PostgreSQL. Goes on where it was killed; what it does twice changes nothing.

#include <cstdio>
#include <memory>
#include <vector>

#include "tools/chroma/directory.h"
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
  std::string from;
  std::string to;
  std::string collection;
  bool without_function = false;
  bool is_dry = false;
};

nlohmann::json IdentityOf(const Arguments& arguments, const Home& to) {
  nlohmann::json identity = {FileIdentity(arguments.from + "/chroma.sqlite3"),
                             arguments.collection};
  if (const nlohmann::json home = to.identity(); !home.is_null()) identity.push_back(home);
  return identity;
}

class ImportChroma {
 public:
  ImportChroma(const Arguments& arguments, const ChromaDirectory& from, Home& to)
      : ImportChroma(arguments, from, to, IdentityOf(arguments, to)) {}

  // Its line of the report.
  nlohmann::json Run(const ChromaCollection& collection) {
    collection_ = &collection;
    OpenTarget();
    nlohmann::json& state = state_[collection.id];
    skipped_ = state.at("without_vector").get<uint64_t>();
    uint64_t read = state.at("read");
    const uint64_t total = from_.CountRecords(collection);
    Progress progress("import " + collection.name, total);
    progress.Begin(read, read);
    const auto save = [&](int64_t number) {
      Write(WriteMode::kUpsert);
      state["number"] = number;
      state["read"] = read;
      state["without_vector"] = skipped_;
      if (job_.IsTimeToSave() || IsInterrupted()) job_.Save(state_);
    };
    int64_t last = state.at("number");
    from_.ForEachRecord(collection, last, [&](int64_t number, const Record& record) {
      ++read;
      last = number;
      if (record.embedding) {
        Wait(record);
      } else {
        Skip(record.id);
      }
      progress.Show(read, read);
      if (waiting_.size() >= Batch::kRowsMax || waiting_bytes_ >= Batch::kBytesMax) save(number);
      return !IsInterrupted();
    });
    save(last);
    if (IsInterrupted()) {
      throw Failure(PIGMENT_CANCELLED, "interrupted; the same command goes on from here");
    }
    const uint64_t late = ApplyLog();
    from_.CheckUnchanged();
    state["done"] = true;
    job_.Save(state_);
    return {{"tenant", collection.tenant}, {"database", collection.database},
            {"name", collection.name},     {"records", target_->Count()},
            {"log_entries", late},         {"without_vector", skipped_}};
  }
  void Finish() { job_.Finish(); }

 private:
  ImportChroma(const Arguments& arguments, const ChromaDirectory& from, Home& to,
               const nlohmann::json& identity)
      : arguments_(arguments),
        from_(from),
        to_(to),
        job_(to.PathOfJob("import-chroma", identity), identity) {
    if (job_.is_resumed()) state_ = job_.progress();
  }

  // The job names what it made by id, so that nothing is written into another collection that has
  // the name now.
  void OpenTarget() {
    target_ = to_.Write({collection_->tenant, collection_->database, collection_->name});
    const bool is_begun = state_.contains(collection_->id);
    nlohmann::json& state = state_[collection_->id];
    if (is_begun && !state.at("to").is_null() && target_->Find() == state.at("to")) return;
    const bool may_take = is_begun && state.at("to").is_null();
    state = {{"to", nullptr}, {"number", 0}, {"read", 0}, {"without_vector", 0}};
    job_.Save(state_);
    const nlohmann::json function =
        arguments_.without_function ? nlohmann::json() : collection_->embedding_function;
    const nlohmann::json described = {{"name", collection_->name},
                                      {"metadata", collection_->metadata},
                                      {"configuration", collection_->configuration},
                                      {"schema", collection_->schema},
                                      {"embedding_function", function},
                                      {"dimension", nullptr}};
    try {
      target_->MakeParents();
      state["to"] = target_->Make(described, may_take);
    } catch (const Failure&) {
      state_.erase(collection_->id);  // what is there is somebody else's
      job_.Save(state_);
      throw;
    }
    job_.Save(state_);
  }

  void Wait(const Record& record) {
    waiting_.push_back(record);
    waiting_bytes_ += BytesOf(record);
  }

  void Skip(const std::string& id) {
    ++skipped_;
    std::fprintf(stderr,
                 "pigment: collection \"%s\": Chroma has lost the vector of record \"%s\"\n",
                 Printable(collection_->name).c_str(), Printable(id).c_str());
  }

  void Write(WriteMode mode) {
    WriteCounts counts;
    try {
      target_->Write(mode, waiting_, counts);
    } catch (const Failure& failure) {
      if (IsInterrupted()) throw;
      throw Failure(failure.status, "collection \"" + collection_->name + "\": " + failure.what());
    }
    waiting_.clear();
    waiting_bytes_ = 0;
  }

  // One by one: entries of one id must not change their order, and there are few.
  uint64_t ApplyLog() {
    uint64_t entries = 0;
    from_.ForEachLogEntry(*collection_, [&](ChromaOperation operation, const Record& record) {
      ++entries;
      if (operation == ChromaOperation::kDelete) return target_->Delete(record.id);
      if (operation != ChromaOperation::kUpdate && !record.embedding) {
        // Nothing here can embed its text. Of a record that is there an upsert changes the rest.
        if (!target_->Contains(record.id)) return Skip(record.id);
        if (operation == ChromaOperation::kAdd) return;
        operation = ChromaOperation::kUpdate;
      }
      Wait(record);
      Write(operation == ChromaOperation::kAdd      ? WriteMode::kAdd
            : operation == ChromaOperation::kUpdate ? WriteMode::kUpdate
                                                    : WriteMode::kUpsert);
    });
    return entries;
  }

  const Arguments& arguments_;
  const ChromaDirectory& from_;
  Home& to_;
  Job job_;
  nlohmann::json state_ = nlohmann::json::object();  // of each collection, by its id
  const ChromaCollection* collection_ = nullptr;
  std::unique_ptr<CollectionWriter> target_;
  std::vector<Record> waiting_;
  size_t waiting_bytes_ = 0;
  uint64_t skipped_ = 0;
};

std::vector<ChromaCollection> Chosen(const ChromaDirectory& from, const std::string& name) {
  std::vector<ChromaCollection> chosen;
  for (ChromaCollection& collection : from.Collections()) {
    if (name.empty() || collection.name == name) chosen.push_back(std::move(collection));
  }
  if (chosen.empty() && !name.empty()) {
    throw Failure(PIGMENT_NOT_FOUND, "no collection \"" + name + "\" in the Chroma directory");
  }
  return chosen;
}

nlohmann::json Plan(const ChromaDirectory& from, const std::vector<ChromaCollection>& chosen) {
  nlohmann::json all = nlohmann::json::array();
  for (const ChromaCollection& collection : chosen) {
    all.push_back({{"tenant", collection.tenant},
                   {"database", collection.database},
                   {"name", collection.name},
                   {"records", from.CountRecords(collection)},
                   {"log_entries", nullptr},
                   {"without_vector", nullptr}});
  }
  return all;
}

nlohmann::json Import(const Arguments& arguments, const ChromaDirectory& from,
                      const std::vector<ChromaCollection>& chosen) {
  const std::shared_ptr<Home> to = OpenHome(arguments.to);
  ImportChroma import(arguments, from, *to);
  nlohmann::json all = nlohmann::json::array();
  for (const ChromaCollection& collection : chosen) all.push_back(import.Run(collection));
  to->Finish();  // everything is durable before the job is forgotten
  import.Finish();
  return all;
}

int Run(const Arguments& arguments, bool is_json) {
  CatchInterrupts();
  const ChromaDirectory from(arguments.from);
  const auto chosen = Chosen(from, arguments.collection);
  const nlohmann::json all =
      arguments.is_dry ? Plan(from, chosen) : Import(arguments, from, chosen);
  if (is_json) {
    PrintJson(all);
  } else {
    Table table({"tenant", "database", "collection", "records", "from the log", "without vector"});
    for (const auto& each : all) {
      table.Add({each["tenant"], each["database"], each["name"], each["records"],
                 each["log_entries"], each["without_vector"]});
    }
    table.Print();
  }
  for (const auto& each : all) {
    if (each["without_vector"].is_number() && each["without_vector"] != 0) return kFound;
  }
  return kFine;
}

}  // namespace

void AddImportChroma(Program& program) {
  const Command command = AddCommand(
      program, "import-chroma",
      "import a directory of Chroma, which is not changed; exits 1 when records lack vectors");
  const auto arguments = std::make_shared<Arguments>();
  command.AddOption("FROM", arguments->from, "the directory with chroma.sqlite3").Required();
  AddHome(
      command, "TO", arguments->to,
      "the home to import into, a directory or postgresql://...; a directory is made where there "
      "is none");
  command.AddOption("--collection", arguments->collection, "only that one").TypeName("NAME");
  command.AddFlag("--no-function", arguments->without_function,
                  "leave the names of embedding functions out");
  command.AddFlag("--dry-run", arguments->is_dry, "only say what there is");
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
