// SPDX-License-Identifier: Apache-2.0
//
// JSON lines, files of Arrow and matrices.

#include "tools/record_source.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "tools/arrow/reader.h"
#include "tools/job.h"
#include "tools/npy.h"
#include "tools/rows.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

class JsonLines : public RecordSource {
 public:
  JsonLines(const std::string& path, const std::string& embeddings) : path_(path) {
    if (path == "-") {
      file_ = stdin;
    } else {
      identity_ = FileIdentity(path);
      total_ = identity_.at("bytes");
      file_ = std::fopen(path.c_str(), "re");
      if (file_ == nullptr) {
        throw Failure(PIGMENT_NOT_FOUND, "cannot read \"" + path + "\": " + std::strerror(errno));
      }
    }
    if (embeddings.empty()) return;
    embeddings_.emplace(embeddings);
    identity_ = {identity_, FileIdentity(embeddings)};
  }
  ~JsonLines() override {
    std::free(line_);
    if (file_ != stdin) std::fclose(file_);
  }

  bool Next(Record& record) override {
    for (;;) {
      errno = 0;
      const ssize_t size = getline(&line_, &capacity_, file_);
      if (size < 0) return End();
      offset_ += static_cast<uint64_t>(size);
      ++lines_;
      const std::string text = Stripped(size);
      if (text.empty()) continue;
      try {
        record = ParseRecord(text);
      } catch (const Failure& failure) {
        throw Failure(failure.status, where() + ": " + failure.what());
      }
      if (embeddings_) AddEmbedding(record);
      ++records_;
      return true;
    }
  }

  nlohmann::json identity() const override { return identity_; }
  bool can_go_on() const override { return file_ != stdin; }
  nlohmann::json place() const override {
    return {{"offset", offset_}, {"lines", lines_}, {"records", records_}};
  }
  void GoTo(const nlohmann::json& place) override {
    offset_ = place.at("offset");
    lines_ = place.at("lines");
    records_ = place.at("records");
    if (fseeko(file_, static_cast<off_t>(offset_), SEEK_SET) != 0) {
      throw Failure(PIGMENT_UNAVAILABLE,
                    "cannot go on in \"" + path_ + "\": " + std::strerror(errno));
    }
  }
  uint64_t records() const override { return records_; }
  uint64_t done() const override { return offset_; }
  uint64_t total() const override { return total_; }
  std::string where() const override {
    return (path_ == "-" ? "standard input" : path_) + ":" + std::to_string(lines_);
  }

 private:
  std::string Stripped(ssize_t size) const {
    std::string_view text(line_, static_cast<size_t>(size));
    if (lines_ == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a mark of order
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    return std::string(text);
  }

  bool End() const {
    if (std::ferror(file_) != 0) {
      throw Failure(PIGMENT_UNAVAILABLE, "cannot read \"" + path_ + "\": " + std::strerror(errno));
    }
    if (embeddings_ && records_ != embeddings_->rows()) {
      throw Failure(PIGMENT_INVALID_ARGUMENT, "\"" + path_ + "\" has " + std::to_string(records_) +
                                                  " records, its matrix " +
                                                  std::to_string(embeddings_->rows()) + " rows");
    }
    return false;
  }

  void AddEmbedding(Record& record) {
    if (record.embedding) {
      throw Failure(PIGMENT_INVALID_ARGUMENT, where() + ": has a vector beside that of the matrix");
    }
    if (records_ >= embeddings_->rows()) {
      throw Failure(PIGMENT_INVALID_ARGUMENT,
                    where() + ": the matrix has " + std::to_string(embeddings_->rows()) + " rows");
    }
    embeddings_->Read(records_, record.embedding.emplace());
  }

  std::string path_;
  nlohmann::json identity_;
  std::FILE* file_ = nullptr;
  std::optional<NpyReader> embeddings_;
  char* line_ = nullptr;
  size_t capacity_ = 0;
  uint64_t offset_ = 0;
  uint64_t lines_ = 0;
  uint64_t records_ = 0;
  uint64_t total_ = 0;
};

class ArrowRecords : public RecordSource {
 public:
  explicit ArrowRecords(const std::string& path) : identity_(FileIdentity(path)), file_(path) {}

  bool Next(Record& record) override {
    if (!file_.Next(record)) return false;
    ++records_;
    return true;
  }
  nlohmann::json identity() const override { return identity_; }
  bool can_go_on() const override { return true; }
  nlohmann::json place() const override {
    return {{"offset", file_.offset()}, {"row", file_.row()}, {"records", records_}};
  }
  void GoTo(const nlohmann::json& place) override {
    file_.GoTo(place.at("offset"), place.at("row"));
    records_ = place.at("records");
  }
  uint64_t records() const override { return records_; }
  uint64_t done() const override { return file_.offset(); }
  uint64_t total() const override { return file_.bytes(); }
  std::string where() const override { return file_.where(); }

 private:
  nlohmann::json identity_;
  ArrowReader file_;
  uint64_t records_ = 0;
};

class Matrix : public RecordSource {
 public:
  explicit Matrix(const std::string& path)
      : path_(path), identity_(FileIdentity(path)), file_(path) {}

  bool Next(Record& record) override {
    if (row_ >= file_.rows()) return false;
    record = {};
    record.id = std::to_string(row_);
    file_.Read(row_++, record.embedding.emplace());
    return true;
  }
  nlohmann::json identity() const override { return identity_; }
  bool can_go_on() const override { return true; }
  nlohmann::json place() const override { return {{"row", row_}}; }
  void GoTo(const nlohmann::json& place) override { row_ = place.at("row"); }
  uint64_t records() const override { return row_; }
  uint64_t done() const override { return row_; }
  uint64_t total() const override { return file_.rows(); }
  std::string where() const override { return path_ + ", row " + std::to_string(row_); }

 private:
  std::string path_;
  nlohmann::json identity_;
  NpyReader file_;
  uint64_t row_ = 0;
};

}  // namespace

std::unique_ptr<RecordSource> OpenSource(const std::string& path, const std::string& embeddings) {
  if (path.ends_with(".npy") && embeddings.empty()) return std::make_unique<Matrix>(path);
  if (path.ends_with(".arrow") || path.ends_with(".arrows")) {
    if (!embeddings.empty())
      throw Failure(PIGMENT_INVALID_ARGUMENT, "--embeddings goes with JSON lines, not with Arrow");
    return std::make_unique<ArrowRecords>(path);
  }
  return std::make_unique<JsonLines>(path, embeddings);
}

}  // namespace pigment_tool
