// SPDX-License-Identifier: Apache-2.0
//
// pigment import-chroma FROM DIR: all collections of a Chroma directory, or one. Goes on where it
// was killed; what it does twice changes nothing.

#include <cstdio>
#include <memory>

#include "tools/chroma/directory.h"
#include "tools/commands.h"
#include "tools/create.h"
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
  bool is_dry = false;
};

class ImportChroma {
 public:
  ImportChroma(const Arguments& arguments, const ChromaDirectory& from, pigment_client* to)
      : from_(from),
        to_(to),
        job_(JobPath(arguments.to, "import-chroma", Identity(arguments)), Identity(arguments)) {
    if (job_.is_resumed()) state_ = job_.progress();
  }

  // Its line of the report.
  nlohmann::json Run(const ChromaCollection& collection) {
    collection_ = &collection;
    const Collection target = OpenTarget();
    target_ = target.get();
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
      if (!record.embedding) {
        Skip(record.id);
      } else if (!batch_.Add(record)) {
        Write(WriteMode::kUpsert);
        batch_.Add(record);
      }
      progress.Show(read, read);
      if (batch_.is_full()) save(number);
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
            {"name", collection.name},     {"records", CountOf(target.get())},
            {"log_entries", late},         {"without_vector", skipped_}};
  }
  void Finish() { job_.Finish(); }

 private:
  static nlohmann::json Identity(const Arguments& arguments) {
    return {FileIdentity(arguments.from + "/chroma.sqlite3"), arguments.collection};
  }

  Collection OpenTarget() {
    const Place place{collection_->tenant, collection_->database, collection_->name};
    const bool is_begun = state_.contains(collection_->id);
    if (is_begun && state_[collection_->id].at("made")) return OpenCollection(to_, place);
    nlohmann::json& state = state_[collection_->id];
    state = {{"made", false}, {"number", 0}, {"read", 0}, {"without_vector", 0}};
    job_.Save(state_);
    MakeParents(to_, place);
    const nlohmann::json described = {{"metadata", collection_->metadata},
                                      {"configuration", collection_->configuration},
                                      {"schema", collection_->schema},
                                      {"embedding_function", collection_->embedding_function},
                                      {"dimension", nullptr}};
    Collection made;
    try {
      made = is_begun ? MakeLikeOrTake(to_, place, described) : MakeLike(to_, place, described);
    } catch (const Failure&) {
      state_.erase(collection_->id);  // what is there is somebody else's
      job_.Save(state_);
      throw;
    }
    state["made"] = true;
    job_.Save(state_);
    return made;
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
      batch_.WriteTo(target_, mode, counts);
    } catch (const Failure& failure) {
      if (IsInterrupted()) throw;
      throw Failure(failure.status, "collection \"" + collection_->name + "\": " + failure.what());
    }
  }

  // One by one: entries of one id must not change their order, and there are few.
  uint64_t ApplyLog() {
    uint64_t entries = 0;
    from_.ForEachLogEntry(*collection_, [&](ChromaOperation operation, const Record& record) {
      ++entries;
      if (operation == ChromaOperation::kDelete) return Delete(record.id);
      if (operation != ChromaOperation::kUpdate && !record.embedding) {
        // Nothing here can embed its text. Of a record that is there an upsert changes the rest.
        if (!IsThere(record.id)) return Skip(record.id);
        if (operation == ChromaOperation::kAdd) return;
        operation = ChromaOperation::kUpdate;
      }
      batch_.Add(record);
      Write(operation == ChromaOperation::kAdd      ? WriteMode::kAdd
            : operation == ChromaOperation::kUpdate ? WriteMode::kUpdate
                                                    : WriteMode::kUpsert);
    });
    return entries;
  }

  bool IsThere(const std::string& id) {
    Texts ids;
    ids.Add(id);
    uint8_t present = 0;
    const pigment_text_column column = ids.column();
    pigment_error* error = nullptr;
    Check(pigment_collection_contains(target_, 1, &column, nullptr, &present, &error), error);
    return present != 0;
  }

  void Delete(const std::string& id) {
    Texts ids;
    ids.Add(id);
    pigment_delete_request request{};
    request.struct_size = sizeof request;
    request.ids_count = 1;
    request.ids = ids.column();
    pigment_error* error = nullptr;
    Check(pigment_collection_delete(target_, &request, nullptr, nullptr, &error), error);
  }

  const ChromaDirectory& from_;
  pigment_client* to_;
  Job job_;
  nlohmann::json state_ = nlohmann::json::object();  // of each collection, by its id
  const ChromaCollection* collection_ = nullptr;
  pigment_collection* target_ = nullptr;
  Batch batch_;
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
  const Client to = OpenOrMake(arguments.to);
  ImportChroma import(arguments, from, to.get());
  nlohmann::json all = nlohmann::json::array();
  for (const ChromaCollection& collection : chosen) all.push_back(import.Run(collection));
  Close(to.get());  // everything is durable before the job is forgotten
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
  AddStore(command, "DIR", arguments->to, "the store to import into; made where there is none");
  command.AddOption("--collection", arguments->collection, "only that one").TypeName("NAME");
  command.AddFlag("--dry-run", arguments->is_dry, "only say what there is");
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
