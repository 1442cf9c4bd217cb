// SPDX-License-Identifier: Apache-2.0
//
// pigment export DIR COLLECTION FILE: JSON lines, and vectors into a file of NumPy. The file is
// FILE.part until all of it is there; FILE.part.job says how far it is, so that the same command
// goes on after a kill.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "tools/commands.h"
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
};

// A file that is written to its end and can be cut back to what was durable.
class LineWriter {
 public:
  LineWriter(const std::string& path, uint64_t bytes) : path_(path), bytes_(bytes) {
    file_ = std::fopen(path.c_str(), bytes > 0 ? "r+e" : "we");
    if (file_ == nullptr) Fail();
    if (ftruncate(fileno(file_), static_cast<off_t>(bytes)) != 0) Fail();
    if (fseeko(file_, static_cast<off_t>(bytes), SEEK_SET) != 0) Fail();
  }
  ~LineWriter() { std::fclose(file_); }
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  void Add(const std::string& line) {
    if (std::fwrite(line.data(), 1, line.size(), file_) != line.size()) Fail();
    if (std::fputc('\n', file_) == EOF) Fail();
    bytes_ += line.size() + 1;
  }
  uint64_t Sync() {
    if (std::fflush(file_) != 0 || fdatasync(fileno(file_)) != 0) Fail();
    return bytes_;
  }

 private:
  [[noreturn]] void Fail() const {
    throw Failure(errno == ENOSPC ? PIGMENT_RESOURCE_EXHAUSTED : PIGMENT_UNAVAILABLE,
                  "cannot write \"" + path_ + "\": " + std::strerror(errno));
  }

  std::string path_;
  std::FILE* file_;
  uint64_t bytes_;
};

std::string PartOf(const std::string& file) { return file + ".part"; }

void Publish(const std::string& file) {
  if (std::rename(PartOf(file).c_str(), file.c_str()) == 0) return;
  throw Failure(PIGMENT_UNAVAILABLE, "cannot make \"" + file + "\": " + std::strerror(errno));
}

nlohmann::json JobOf(const Arguments& arguments, pigment_collection* collection) {
  return {{"collection", Describe(collection).at("id")},
          {"embeddings", arguments.embeddings},
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
    if (arguments.file != "-") {
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
      const Rows rows(page.get());
      for (uint64_t row = 0; row < rows.size(); ++row) Add(rows[row]);
      progress_.Show(records_, records_);
      if (IsInterrupted()) break;
      if (job_.IsTimeToSave() && !pages_.cursor().empty()) Save();
    }
    if (IsInterrupted() && !pages_.cursor().empty()) {
      if (lines_) Save();
      throw Failure(PIGMENT_CANCELLED, "interrupted; the same command goes on from here");
    }
    if (lines_) lines_->Sync();
    if (matrix_) {
      matrix_->Finish();
      Publish(arguments_.embeddings);
    }
    if (lines_) Publish(arguments_.file);
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
      lines_->Add(RecordLine(row));
    } else {
      std::puts(RecordLine(row).c_str());
    }
  }

  void Save() {
    if (!lines_) return;  // what went to standard output is gone
    const uint64_t bytes = lines_->Sync();
    if (matrix_) matrix_->Sync();
    job_.Save({{"cursor", pages_.cursor()},
               {"records", records_},
               {"bytes", bytes},
               {"dimension", matrix_ ? matrix_->dimension() : 0}});
  }

  const Arguments& arguments_;
  Job job_;
  nlohmann::json saved_;
  uint64_t records_;
  uint64_t resumed_at_;
  Pages pages_;
  Progress progress_;
  std::optional<LineWriter> lines_;
  std::optional<NpyWriter> matrix_;
};

int Run(Arguments& arguments, bool is_json) {
  CatchInterrupts();
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
  CLI::App* const command =
      AddCommand(program, "export", "write a collection into a file; goes on where it was killed");
  const auto arguments = std::make_shared<Arguments>();
  AddTarget(command, arguments->target);
  command->add_option("FILE", arguments->file, "JSON lines; - for standard output")->required();
  command
      ->add_option("--embeddings", arguments->embeddings,
                   "put the vectors into this file of NumPy (.npy), not into the lines")
      ->type_name("FILE");
  arguments->filters.AddTo(command);
  command->add_flag("--restart", arguments->is_fresh, "begin anew, also after a kill");
  command->callback([&program, arguments] {
    program.run = [&program, arguments] { return Run(*arguments, program.is_json); };
  });
}

}  // namespace pigment_tool
