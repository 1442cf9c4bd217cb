// SPDX-License-Identifier: Apache-2.0
//
// Pending, overflow, deletion and meta pages: bytes in the host's memory. Pure functions; any
// thread. Pages need no alignment.

#include "engine/segment/host_pages.h"

#include <algorithm>
#include <cstring>

#include "c_api/error.h"
#include "engine/base/checksum.h"
#include "pigment/pigment_host.h"

static_assert(PIGMENT_PAGE_BYTES == pigment::kBlockBytes);
static_assert(PIGMENT_PAGE_HEADER_BYTES == pigment::kBlockHeaderBytes);
static_assert(PIGMENT_PAGE_TRAILER_BYTES == pigment::kBlockTrailerBytes);
static_assert(PIGMENT_NO_PAGE == pigment::kNoBlock);

namespace {

using pigment::PendingForm;
using pigment::Status;

pigment::BlockBytes Bytes(void* page) {
  return pigment::BlockBytes(static_cast<std::byte*>(page), pigment::kBlockBytes);
}
pigment::ConstBlockBytes Bytes(const void* page) {
  return pigment::ConstBlockBytes(static_cast<const std::byte*>(page), pigment::kBlockBytes);
}

const std::string kIndexName = "index";

// The first `size` bytes of the payload, then sealed again as what the page is.
void ChangePayload(void* page, size_t offset, const void* bytes, size_t size) {
  std::memcpy(pigment::BlockPayload(Bytes(page)).data() + offset, bytes, size);
  const pigment::BlockTrailer trailer = pigment::ReadBlockTrailer(Bytes(page));
  pigment::SealBlock(Bytes(page), trailer.kind, trailer.segment, trailer.logical);
}

size_t EntryBytes(PendingForm form, size_t dimension, size_t keys_size) {
  return sizeof(pigment::PendingEntry) + pigment::PendingVectorBytes(form, dimension) + keys_size;
}

// Returns where its vector begins.
std::byte* EncodeHead(PendingForm form, uint64_t row_pointer, size_t dimension, size_t keys_size,
                      void* out) {
  const pigment::PendingEntry entry{row_pointer,
                                    pigment::PendingNumbers(form, static_cast<uint32_t>(dimension)),
                                    static_cast<uint32_t>(keys_size)};
  std::memcpy(out, &entry, sizeof entry);
  return static_cast<std::byte*>(out) + sizeof entry;
}

// `vector` empty: none.
void EncodeEntry(PendingForm form, uint64_t row_pointer, std::span<const float> vector,
                 const void* keys, size_t keys_size, void* out) {
  std::byte* const at = EncodeHead(form, row_pointer, vector.size(), keys_size, out);
  pigment::PackPendingVector(form, vector, at);
  if (keys_size != 0)
    std::memcpy(at + pigment::PendingVectorBytes(form, vector.size()), keys, keys_size);
}

}  // namespace

size_t pigment_pending_entry_bytes(size_t dimension, bool has_vector) {
  return pigment_pending_entry_bytes_with_keys(dimension, has_vector, 0);
}

void pigment_pending_entry_encode(uint64_t row_pointer, const float* vector, size_t dimension,
                                  void* out) {
  pigment_pending_entry_encode_with_keys(row_pointer, vector, dimension, nullptr, 0, out);
}

size_t pigment_pending_entry_bytes_with_keys(size_t dimension, bool has_vector, size_t keys_size) {
  return EntryBytes(PendingForm::kFloats, has_vector ? dimension : 0, keys_size);
}

void pigment_pending_entry_encode_with_keys(uint64_t row_pointer, const float* vector,
                                            size_t dimension, const void* keys, size_t keys_size,
                                            void* out) {
  EncodeEntry(PendingForm::kFloats, row_pointer, {vector, vector != nullptr ? dimension : 0}, keys,
              keys_size, out);
}

size_t pigment_pending_entry_bytes_with_halves(size_t dimension, size_t keys_size) {
  return EntryBytes(PendingForm::kHalves, dimension, keys_size);
}

void pigment_pending_entry_encode_with_halves(uint64_t row_pointer, const float* vector,
                                              size_t dimension, const void* keys, size_t keys_size,
                                              void* out) {
  EncodeEntry(PendingForm::kHalves, row_pointer, {vector, dimension}, keys, keys_size, out);
}

size_t pigment_pending_entry_bytes_with_twelves(size_t dimension, size_t keys_size) {
  return EntryBytes(PendingForm::kTwelves, dimension, keys_size);
}

void pigment_pending_entry_encode_with_twelves(uint64_t row_pointer, const float* vector,
                                               size_t dimension, const void* keys, size_t keys_size,
                                               void* out) {
  EncodeEntry(PendingForm::kTwelves, row_pointer, {vector, dimension}, keys, keys_size, out);
}

size_t pigment_pending_entry_bytes_with_bits(size_t dimension, size_t keys_size) {
  return EntryBytes(PendingForm::kBits, dimension, keys_size);
}

void pigment_pending_entry_encode_with_bits(uint64_t row_pointer, const float* vector,
                                            size_t dimension, const void* keys, size_t keys_size,
                                            void* out) {
  EncodeEntry(PendingForm::kBits, row_pointer, {vector, dimension}, keys, keys_size, out);
}

size_t pigment_pending_entry_bytes_with_hash(size_t keys_size) {
  return EntryBytes(PendingForm::kShared, 1, keys_size);
}

void pigment_pending_entry_encode_with_hash(uint64_t row_pointer, const pigment_vector_hash* hash,
                                            size_t dimension, const void* keys, size_t keys_size,
                                            void* out) {
  std::byte* const at = EncodeHead(PendingForm::kShared, row_pointer, dimension, keys_size, out);
  const pigment::Hash128 kept{hash->low, hash->high};
  std::memcpy(at, &kept, sizeof kept);
  if (keys_size != 0) std::memcpy(at + sizeof kept, keys, keys_size);
}

size_t pigment_pending_entry_bytes_max(void) { return pigment::kPendingEntryBytesMax; }

void pigment_pending_page_init(void* page, uint32_t stamp, uint32_t physical) {
  pigment::InitPendingPage(Bytes(page), stamp, physical);
}

bool pigment_pending_page_append(void* page, const void* entry, size_t entry_bytes) {
  return pigment::AppendPending(Bytes(page), {static_cast<const std::byte*>(entry), entry_bytes});
}

bool pigment_pending_page_append_overflow(void* page, uint64_t row_pointer, uint32_t overflow,
                                          uint64_t entry_bytes) {
  return pigment_pending_page_append_overflow_row(page, row_pointer, overflow, entry_bytes, true);
}

bool pigment_pending_page_append_overflow_row(void* page, uint64_t row_pointer, uint32_t overflow,
                                              uint64_t entry_bytes, bool has_vector) {
  return pigment::AppendPendingOverflow(Bytes(page), {row_pointer, entry_bytes, overflow, 0},
                                        has_vector);
}

uint32_t pigment_pending_page_next(const void* page) {
  return pigment::ReadPendingHeader(Bytes(page)).next;
}

void pigment_pending_page_set_next(void* page, uint32_t next) {
  pigment::PendingHeader header = pigment::ReadPendingHeader(Bytes(page));
  header.next = next;
  pigment::WritePendingHeader(Bytes(page), header);
}

uint64_t pigment_pending_page_retired(const void* page) {
  return pigment::ReadPendingHeader(Bytes(page)).retired;
}

void pigment_pending_page_set_retired(void* page, uint64_t transaction) {
  pigment::PendingHeader header = pigment::ReadPendingHeader(Bytes(page));
  header.retired = transaction;
  pigment::WritePendingHeader(Bytes(page), header);
}

pigment_status pigment_pending_page_check(const void* page, uint32_t stamp, uint32_t physical,
                                          pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{page, "page"}}));
    return pigment::CheckPendingPage(Bytes(page), stamp, physical, kIndexName);
  });
}

uint32_t pigment_pending_page_count(const void* page) {
  return pigment::ReadPendingHeader(Bytes(page)).entries;
}

bool pigment_pending_page_entry(const void* page, uint32_t index, uint64_t* row_pointer) {
  if (index >= pigment_pending_page_count(page)) return false;
  const pigment::PendingSlot slot = pigment::ReadPendingSlot(Bytes(page), index);
  if (row_pointer != nullptr) {
    std::memcpy(row_pointer, pigment::BlockPayload(Bytes(page)).data() + slot.offset,
                sizeof *row_pointer);
  }
  return (slot.flags & pigment::kPendingDead) == 0;
}

bool pigment_pending_page_entry_has_vector(const void* page, uint32_t index) {
  if (index >= pigment_pending_page_count(page)) return false;
  const pigment::PendingSlot slot = pigment::ReadPendingSlot(Bytes(page), index);
  if ((slot.flags & pigment::kPendingOverflow) != 0)
    return (slot.flags & pigment::kPendingNoVector) == 0;
  pigment::PendingEntry entry;
  std::memcpy(&entry, pigment::BlockPayload(Bytes(page)).data() + slot.offset, sizeof entry);
  return entry.dimension() != 0;
}

bool pigment_pending_page_has_hashes(const void* page) {
  const uint32_t count = pigment_pending_page_count(page);
  for (uint32_t i = 0; i < count; ++i) {
    const pigment::PendingSlot slot = pigment::ReadPendingSlot(Bytes(page), i);
    if ((slot.flags & (pigment::kPendingDead | pigment::kPendingOverflow)) != 0) continue;
    pigment::PendingEntry entry;
    std::memcpy(&entry, pigment::BlockPayload(Bytes(page)).data() + slot.offset, sizeof entry);
    if (entry.form() == PendingForm::kShared) return true;
  }
  return false;
}

uint64_t pigment_pending_page_bytes(const void* page) {
  const uint32_t count = pigment_pending_page_count(page);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i)
    bytes += pigment::PendingEntryBytesAt(Bytes(page), pigment::ReadPendingSlot(Bytes(page), i));
  return bytes;
}

void pigment_pending_page_unused(const void* page, size_t* begin, size_t* end) {
  const pigment::PendingUnused unused = pigment::UnusedOfPending(Bytes(page));
  *begin = pigment::kBlockHeaderBytes + unused.begin;
  *end = pigment::kBlockHeaderBytes + unused.end;
}

void pigment_pending_page_kill(void* page, uint32_t index) {
  pigment::KillPending(Bytes(page), index);
}

size_t pigment_overflow_page_init(void* page, uint32_t stamp, uint32_t physical, const void* bytes,
                                  size_t size, size_t offset, uint32_t next) {
  std::byte* payload = pigment::BlockPayload(Bytes(page)).data();
  std::memset(payload, 0, pigment::kBlockPayloadBytes);
  const size_t some = offset < size ? std::min(size - offset, pigment::kOverflowCapacity) : 0;
  const pigment::OverflowHeader header{next, static_cast<uint32_t>(some), offset};
  std::memcpy(payload, &header, sizeof header);
  if (some != 0)
    std::memcpy(payload + sizeof header, static_cast<const char*>(bytes) + offset, some);
  pigment::SealBlock(Bytes(page), pigment::BlockKind::kOverflow, stamp, physical);
  return some;
}

size_t pigment_overflow_page_capacity(void) { return pigment::kOverflowCapacity; }

uint32_t pigment_deletion_page_rows(void) { return pigment::kDeletionPageRows; }

void pigment_deletion_page_init(void* page, uint32_t segment, uint32_t number, uint32_t next) {
  pigment::InitDeletionPage(Bytes(page), segment, number, next);
}

uint32_t pigment_deletion_page_next(const void* page) {
  pigment::DeletionHeader header;
  std::memcpy(&header, pigment::BlockPayload(Bytes(page)).data(), sizeof header);
  return header.next;
}

void pigment_deletion_page_set_next(void* page, uint32_t next) {
  ChangePayload(page, 0, &next, sizeof next);
}

pigment_status pigment_deletion_page_check(const void* page, uint32_t segment, uint32_t number,
                                           pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{page, "page"}}));
    return pigment::CheckBlock(Bytes(page), {pigment::BlockKind::kDeletions, segment, number},
                               number, kIndexName);
  });
}

void pigment_deletion_page_set(void* page, const uint32_t* rows, size_t count) {
  const pigment::BlockTrailer trailer = pigment::ReadBlockTrailer(Bytes(page));
  const uint64_t first = uint64_t{trailer.logical} * pigment::kDeletionPageRows;
  std::byte* bits = pigment::BlockPayload(Bytes(page)).data() + sizeof(pigment::DeletionHeader);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bit =
        rows[i] - first;  // a row before the page wraps round and is ignored as well
    if (bit < pigment::kDeletionPageRows) bits[bit / 8] |= std::byte{1} << (bit % 8);
  }
  pigment::SealBlock(Bytes(page), trailer.kind, trailer.segment, trailer.logical);
}

const uint8_t* pigment_deletion_page_bits(const void* page) {
  return reinterpret_cast<const uint8_t*>(pigment::BlockPayload(Bytes(page)).data()) +
         sizeof(pigment::DeletionHeader);
}

void pigment_meta_page_seal(void* page, uint32_t physical) {
  pigment::SealBlock(Bytes(page), pigment::BlockKind::kMeta, 0, physical);
}

pigment_status pigment_meta_page_check(const void* page, uint32_t physical, pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{page, "page"}}));
    return pigment::CheckBlock(Bytes(page), {pigment::BlockKind::kMeta, 0, physical}, physical,
                               kIndexName);
  });
}
