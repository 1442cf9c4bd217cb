// SPDX-License-Identifier: Apache-2.0
//
// pigment export DIR COLLECTION FILE: JSON lines, and vectors into a file of NumPy; or Arrow. The
// file is FILE.part until all of it is there; FILE.part.job says how far it is, so that the same
// command goes on after a kill.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "tools/arrow/writer.h"
#include "tools/commands.h"
#include "tools/grown_file.h"
#include "tools/job.h"
#include "tools/npy.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/pages.h"
#include "tools/progress.h"
#include "tools/rows.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

struct Arguments {
  Target target;
  std::string file;
  std::string embeddings;
  Filters filters;
  bool is_fresh = false;

  bool is_arrow() const { return file.ends_with(".arrow"); }
};

std::string PartOf(const std::string& file) { return file + ".part"; }

void Publish(const std::string& file) {
  if (std::rename(PartOf(file).c_str(), file.c_str()) == 0) return;
  throw Failure(PIGMENT_UNAVAILABLE, "cannot make \"" + file + "\": " + std::strerror(errno));
}

nlohmann::json JobOf(const Arguments& arguments, pigment_collection* collection) {
  return {{"collection", Describe(collection).at("id")},
          {"embeddings", arguments.embeddings},
          {"arrow", arguments.is_arrow()},
          {"filters", arguments.filters.Text()}};
}

class Export {
 public:
  Export(const Arguments& arguments, pigment_collection* collection)
      : arguments_(arguments),
        job_(PartOf(arguments.file) + ".job", JobOf(arguments, collection)),
        saved_(job_.is_resumed() && !arguments.is_fresh ? job_.progress() : nlohmann::json()),
        records_(saved_.is_null() ? 0 : saved_.at("records").get<uint64_t>()),
        resumed_at_(records_),
        pages_(collection, arguments.filters,
               saved_.is_null() ? "" : saved_.at("cursor").get<std::string>()),
        progress_("export", pages_.Count()) {
    if (arguments.is_arrow()) {
      const Filters all{};
      const ResultHandle sample = Pages(collection, all, "", Pages::kEverything, 0).Next();
      arrow_.emplace(PartOf(arguments.file), sample.get(),
                     saved_.is_null() ? nlohmann::json() : saved_.at("arrow"));
    } else if (arguments.file != "-") {
      lines_.emplace(PartOf(arguments.file),
                     saved_.is_null() ? 0 : saved_.at("bytes").get<uint64_t>());
    }
    if (!arguments.embeddings.empty()) {
      matrix_.emplace(PartOf(arguments.embeddings), records_,
                      saved_.is_null() ? 0 : saved_.at("dimension").get<size_t>());
    }
  }

  nlohmann::json Run() {
    progress_.Begin(records_, records_);
    while (const ResultHandle page = pages_.Next()) {
      if (arrow_) {
        arrow_->Add(page.get());
        records_ += pigment_result_row_count(page.get());
      } else {
        const Rows rows(page.get());
        for (uint64_t row = 0; row < rows.size(); ++row) Add(rows[row]);
      }
      progress_.Show(records_, records_);
      if (IsInterrupted()) break;
      if (job_.IsTimeToSave() && !pages_.cursor().empty()) Save();
    }
    if (IsInterrupted() && !pages_.cursor().empty()) {
      Save();
      throw Failure(PIGMENT_CANCELLED, "interrupted; the same command goes on from here");
    }
    if (lines_) lines_->Sync();
    if (arrow_) arrow_->Finish();
    if (matrix_) {
      matrix_->Finish();
      Publish(arguments_.embeddings);
    }
    if (lines_ || arrow_) Publish(arguments_.file);
    job_.Finish();
    return {{"records", records_}, {"resumed_at", resumed_at_}};
  }

 private:
  void Add(Row row) {
    ++records_;
    if (matrix_) {
      matrix_->Add(row.embedding);
      row.embedding = {};
    }
    if (lines_) {
      lines_->Append(RecordLine(row) + "\n");
    } else {
      std::puts(RecordLine(row).c_str());
    }
  }

  void Save() {
    if (!lines_ && !arrow_) return;  // what went to standard output is gone
    if (lines_) lines_->Sync();
    if (matrix_) matrix_->Sync();
    job_.Save({{"cursor", pages_.cursor()},
               {"records", records_},
               {"bytes", lines_ ? lines_->bytes() : 0},
               {"arrow", arrow_ ? arrow_->Save() : nlohmann::json()},
               {"dimension", matrix_ ? matrix_->dimension() : 0}});
  }

  const Arguments& arguments_;
  Job job_;
  nlohmann::json saved_;
  uint64_t records_;
  uint64_t resumed_at_;
  Pages pages_;
  Progress progress_;
  std::optional<GrownFile> lines_;
  std::optional<ArrowWriter> arrow_;
  std::optional<NpyWriter> matrix_;
};

int Run(Arguments& arguments, bool is_json) {
  CatchInterrupts();
  if (arguments.is_arrow() && !arguments.embeddings.empty())
    throw Failure(PIGMENT_INVALID_ARGUMENT, "--embeddings goes with JSON lines, not with Arrow");
  arguments.filters.Read();
  const Client client = OpenToRead(arguments.target.directory);
  const Collection collection = OpenCollection(client.get(), arguments.target.place);
  const nlohmann::json done = Export(arguments, collection.get()).Run();
  if (arguments.file == "-") return kFine;
  if (is_json) {
    PrintJson(done);
  } else {
    std::printf("%s records in %s\n", done["records"].dump().c_str(), arguments.file.c_str());
  }
  return kFine;
}

}  // namespace

void AddExport(Program& program) {
  const Command command =
      AddCommand(program, "export", "write a collection into a file; goes on where it was killed");
  const auto arguments = std::make_shared<Arguments>();
  AddTarget(command, arguments->target);
  command
      .AddOption("FILE", arguments->file,
                 "JSON lines; - for standard output; or a file of Arrow (.arrow)")
      .Required();
  command
      .AddOption("--embeddings", arguments->embeddings,
                 "put the vectors into this file of NumPy (.npy), not into the lines")
      .TypeName("FILE");
  arguments->filters.AddTo(command);
  command.AddFlag("--restart", arguments->is_fresh, "begin anew, also after a kill");
  command.OnGiven([&program, arguments] {
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
