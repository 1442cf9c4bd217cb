// SPDX-License-Identifier: Apache-2.0
//
// Chunks of documents through zstd.

#include "engine/segment/documents.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/planted_bugs.h"

namespace pigment {
namespace {

// By measurement (README.md). Higher levels take twice the time for 4 % of the bytes.
constexpr int kLevel = 1;
// Less is not worth a context, which takes longer to make than the block to read.
constexpr size_t kCompressedBytesMin = 1024;
// So many bytes of documents tell how long they are on average.
constexpr size_t kSampleBytes = 16 << 10;
// Documents of this average length or less are stored as they are: a read would inflate several
// times its own bytes, and chunks that were short enough for it hardly shrink.
constexpr size_t kShortBytesMax = 1024;
// A chunk that shrinks by less than one part in so many is not worth inflating.
constexpr size_t kLeastShare = 16;

// A context holds nothing from one chunk to the next, and takes as long to make as ten chunks to
// inflate: each thread keeps one.
ZSTD_DCtx* InflatingContext() {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  thread_local std::unique_ptr<ZSTD_DCtx, Free> context;
  if (context == nullptr) context.reset(ZSTD_createDCtx());
  return context.get();
}

Status NoMemory(const char* what) {
  return ResourceExhausted(Detail::kMemory, fmt::format("no memory for {}", what));
}

}  // namespace

DocumentWriter::DocumentWriter(BlockPacker* packer, Reservation* reservation)
    : packer_(packer), reservation_(reservation) {}

DocumentWriter::~DocumentWriter() { ZSTD_freeCCtx(context_); }

Status DocumentWriter::Add(std::string_view document) {
  bytes_ += document.size();
  if (is_decided_) return Put(document);
  sampled_ += document.empty() ? 0 : 1;
  const std::string_view some = document.substr(0, kSampleBytes - sample_.size());
  sample_ += some;
  if (sample_.size() < kSampleBytes) return Status::Ok();
  PIGMENT_RETURN_IF_ERROR(Decide());
  return Put(document.substr(some.size()));
}

Status DocumentWriter::Decide() {
  is_decided_ = true;
  const bool are_short = sample_.size() <= sampled_ * kShortBytesMax;
  chunk_bytes_ = are_short ? 0 : kDocumentChunkBytes;
  PIGMENT_RETURN_IF_ERROR(Put(sample_));
  sample_ = std::string();
  return Status::Ok();
}

Status DocumentWriter::Put(std::string_view bytes) {
  if (chunk_bytes_ == 0) return packer_->Part(BlockKind::kDocuments, 0)->AddStream(bytes);
  while (!bytes.empty()) {
    const std::string_view some = bytes.substr(0, chunk_bytes_ - chunk_.size());
    chunk_ += some;
    bytes.remove_prefix(some.size());
    if (chunk_.size() == chunk_bytes_) PIGMENT_RETURN_IF_ERROR(PutChunk());
  }
  return Status::Ok();
}

Status DocumentWriter::PutChunk() {
  PartWriter* const stream = packer_->Part(BlockKind::kDocuments, 0);
  PIGMENT_RETURN_IF_ERROR(
      packer_->Part(BlockKind::kDocumentChunks, sizeof(uint64_t))->Add(stream->bytes()));
  std::string_view stored = chunk_;
  if (chunk_.size() >= kCompressedBytesMin) {
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view compressed, Compress());
    if (compressed.size() < chunk_.size() - chunk_.size() / kLeastShare) stored = compressed;
  }
  PIGMENT_RETURN_IF_ERROR(stream->AddStream(stored));
  chunk_.clear();
  return Status::Ok();
}

Result<std::string_view> DocumentWriter::Compress() {
  const bool is_first = context_ == nullptr;
  if (is_first) {
    context_ = ZSTD_createCCtx();
    if (context_ == nullptr) return NoMemory("the compression of documents");
    ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, kLevel);
    compressed_.resize(ZSTD_compressBound(chunk_bytes_));
  }
  const size_t size = ZSTD_compress2(context_, compressed_.data(), compressed_.size(),
                                     chunk_.data(), chunk_.size());
  if (ZSTD_isError(size)) return NoMemory(ZSTD_getErrorName(size));
  if (is_first) {
    PIGMENT_RETURN_IF_ERROR(reservation_->Grow(ZSTD_sizeof_CCtx(context_) + compressed_.size()));
  }
  return std::string_view(compressed_).substr(0, size);
}

Status DocumentWriter::Finish() {
  if (bytes_ == 0) return Status::Ok();
  if (PIGMENT_PLANTED(kLastDocumentsAreLost)) {
    sample_.assign(sample_.size(), '\0');
    chunk_.assign(chunk_.size(), '\0');
  }
  if (!is_decided_) PIGMENT_RETURN_IF_ERROR(Decide());
  if (chunk_bytes_ == 0) return Status::Ok();
  if (!chunk_.empty()) PIGMENT_RETURN_IF_ERROR(PutChunk());
  return packer_->Part(BlockKind::kDocumentChunks, sizeof(uint64_t))
      ->Add(packer_->Part(BlockKind::kDocuments, 0)->bytes());
}

DocumentReader::DocumentReader(BlockSource* source, const Root* root)
    : root_(root),
      chunks_(source, root, BlockKind::kDocumentChunks),
      stream_(source, root, BlockKind::kDocuments) {}

Result<std::string_view> DocumentReader::Read(uint64_t offset, uint32_t size) {
  if (offset > root_->document_bytes || size > root_->document_bytes - offset) {
    return stream_.Damaged(Detail::kMiscounted, fmt::format("a document has {} bytes at {} of {}",
                                                            size, offset, root_->document_bytes));
  }
  if (size == 0) return std::string_view();
  const uint32_t chunk_bytes = root_->document_chunk_bytes;
  if (chunk_bytes == 0) return stream_.ViewStream(offset, size, joined_);
  joined_.clear();
  for (;;) {
    PIGMENT_RETURN_IF_ERROR(Load(offset / chunk_bytes));
    const std::string_view here =
        std::string_view(chunk_).substr(static_cast<size_t>(offset % chunk_bytes), size);
    if (here.size() == size && joined_.empty()) return here;
    joined_ += here;
    size -= static_cast<uint32_t>(here.size());
    if (size == 0) return std::string_view(joined_);
    offset += here.size();
  }
}

void DocumentReader::Expect(uint64_t offset, uint32_t size) {
  constexpr uint32_t kAheadMax = 512;  // the hardware goes on
  if (root_->document_chunk_bytes == 0) stream_.ExpectStream(offset, std::min(size, kAheadMax));
}

Status DocumentReader::Load(uint64_t chunk) {
  if (chunk == loaded_) return Status::Ok();
  loaded_ = ~uint64_t{0};
  const uint64_t begin = chunk * root_->document_chunk_bytes;
  const auto bytes = static_cast<size_t>(
      std::min<uint64_t>(root_->document_chunk_bytes, root_->document_bytes - begin));
  std::array<uint64_t, 2> ends;
  PIGMENT_RETURN_IF_ERROR(chunks_.ReadElements(chunk, std::span<uint64_t>(ends)));
  if (ends[0] > ends[1] || ends[1] - ends[0] > bytes) {
    return chunks_.Damaged(Detail::kMiscounted, fmt::format("chunk {} of {} bytes lies at {} to {}",
                                                            chunk, bytes, ends[0], ends[1]));
  }
  const uint64_t stored = ends[1] - ends[0];
  std::string& to = stored == bytes ? chunk_ : compressed_;
  PIGMENT_ASSIGN_OR_RETURN(const std::string_view read, stream_.ViewStream(ends[0], stored, to));
  if (stored < bytes) {
    PIGMENT_RETURN_IF_ERROR(Inflate(chunk, read, bytes));
  } else if (read.data() != chunk_.data()) {
    chunk_ = read;
  }
  loaded_ = chunk;
  return Status::Ok();
}

Status DocumentReader::Inflate(uint64_t chunk, std::string_view compressed, size_t bytes) {
  ZSTD_DCtx* const context = InflatingContext();
  if (context == nullptr) return NoMemory("the reading of documents");
  chunk_.resize(bytes);
  const size_t size =
      ZSTD_decompressDCtx(context, chunk_.data(), bytes, compressed.data(), compressed.size());
  if (size == bytes) return Status::Ok();
  return stream_.Damaged(Detail::kMiscounted,
                         fmt::format("chunk {} does not inflate to {} bytes: {}", chunk, bytes,
                                     ZSTD_isError(size) ? ZSTD_getErrorName(size) : "fewer"));
}

}  // namespace pigment
