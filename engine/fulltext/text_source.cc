// SPDX-License-Identifier: Apache-2.0
//
// Groups in memory, and lengths.

#include "engine/fulltext/text_source.h"

#include <utility>

namespace pigment {
namespace {

class MemoryBytes final : public TextBytes {
 public:
  explicit MemoryBytes(std::string_view bytes) : bytes_(bytes) {}
  Result<std::string_view> View(uint64_t begin, uint64_t size, std::string&) override {
    if (begin > bytes_.size() || size > bytes_.size() - begin)
      return Internal("bytes beyond the end of a text index in memory are asked for");
    return bytes_.substr(begin, size);
  }

 private:
  const std::string_view bytes_;
};

class MemoryTextSource final : public TextSource {
 public:
  explicit MemoryTextSource(std::shared_ptr<const TextGroup> group)
      : TextSource(group->rows(), group->documents, group->words,
                   static_cast<uint32_t>(group->blocks.size())),
        group_(std::move(group)),
        terms_(group_->terms) {}

  Result<TextTermBlock> ReadBlock(uint32_t block) override { return group_->blocks[block]; }
  TextBytes& terms() override { return terms_; }
  std::unique_ptr<TextBytes> NewPostings() override {
    return std::make_unique<MemoryBytes>(group_->postings);
  }
  Result<Lengths> ReadLengths(uint32_t) override {
    return Lengths{0, group_->rows(), reinterpret_cast<const std::byte*>(group_->lengths.data())};
  }
  Status Damaged(const std::string& message) const override {
    return Internal("a text index in memory: " + message);
  }

 private:
  const std::shared_ptr<const TextGroup> group_;
  MemoryBytes terms_;
};

}  // namespace

std::unique_ptr<TextSource> MakeMemoryTextSource(std::shared_ptr<const TextGroup> group) {
  return std::make_unique<MemoryTextSource>(std::move(group));
}

void LengthReader::Move(uint32_t row) {
  if (!status_.ok()) return;
  for (const TextSource::Lengths& run : runs_) {
    if (run.Has(row)) {
      run_ = run;
      return;
    }
  }
  Result<TextSource::Lengths> read = source_->ReadLengths(row);
  if (read.ok()) {
    runs_[oldest_] = *read;
    oldest_ = (oldest_ + 1) % runs_.size();
    run_ = *read;
  } else {
    status_ = read.status();
    run_ = {};
  }
}

}  // namespace pigment
