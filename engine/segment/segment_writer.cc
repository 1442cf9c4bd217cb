// SPDX-License-Identifier: Apache-2.0
//
// Rows into parts. Vectors that are rows' own are in row order.

#include "engine/segment/segment_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "engine/base/checksum.h"
#include "engine/base/planted_bugs.h"
#include "engine/segment/cell_part.h"
#include "engine/segment/documents.h"
#include "engine/segment/hash_index.h"
#include "engine/segment/host_keys.h"
#include "engine/segment/id_index.h"
#include "engine/segment/index_part.h"
#include "engine/segment/inverted_part.h"
#include "engine/segment/part_writer.h"
#include "engine/segment/record_bytes.h"
#include "engine/segment/root.h"
#include "engine/segment/row_reader.h"
#include "engine/segment/text_part.h"
#include "engine/segment/vector_hash.h"
#include "engine/vector/byte_code.h"
#include "engine/vector/half.h"
#include "engine/vector/packed_vector.h"

namespace pigment {
namespace {

// Rows without a vector wait for the end of the others in pieces of so many bytes.
constexpr size_t kHeldBytes = size_t{16} << 10;
// Hashes of vectors are sorted in runs of so many, which are merged when they are written.
constexpr size_t kHashesPerRun = 8192;
// What the keys of a row take that was not seen.
constexpr size_t kUsualKeys = 4096;
// Of a limited budget: with these rows no more may be in use. An index takes three quarters
// (index_part.cc), and what is left is for postings and pages when the rows are written.
constexpr uint64_t ShareOfHeld(uint64_t limit_bytes) { return limit_bytes / 16 * 13; }

// An id until its place among the others is known.
struct PendingId {
  uint64_t entry;  // as the index keeps it
  uint64_t check;
  bool operator<(const PendingId& other) const { return entry < other.entry; }
};
static_assert(sizeof(PendingId) == SegmentWriter::kBytesPerRecord);

// Grows by doubling, charged before the memory is taken; the old array counts until it is gone.
template <typename T>
Status Push(std::vector<T>& values, const T& value, Reservation& reservation) {
  if (values.size() == values.capacity()) {
    const size_t capacity = std::max<size_t>(values.capacity() * 2, 16);
    PIGMENT_RETURN_IF_ERROR(reservation.Grow((capacity - values.capacity()) * sizeof(T)));
    values.reserve(capacity);
  }
  values.push_back(value);
  return Status::Ok();
}

}  // namespace

struct SegmentWriter::State {
  State(const SegmentOptions& given, BlockSink* sink)
      : options(given),
        packer(given.segment, sink, given.budget),
        reservation(given.budget),
        documents(&packer, &reservation),
        inverted(
            &packer, given.budget, Xxh3_64(given.owner, given.key_seed), given.rules,
            given.row_keys && given.dimension == 0 ? kLoneGroupBudgetParts : kGroupBudgetParts),
        cells(&packer, given.budget, Xxh3_64(given.owner)) {
    if (given.analyzer != nullptr)
      text.emplace(&packer, *given.analyzer, given.budget, Xxh3_64(given.owner));
    if (given.index.kind == SegmentKind::kFlat || given.index_vectors == 0 || given.dimension == 0)
      return;
    auto made = IndexWriter::Make({.index = given.index,
                                   .metric = given.metric,
                                   .dimension = given.dimension,
                                   .vector_element = given.vector_element,
                                   .vectors = given.index_vectors,
                                   .grows = given.index_grows,
                                   .expected = given.index_expected,
                                   .threads = given.threads,
                                   .budget = given.budget,
                                   .scratch = given.scratch,
                                   .pause = given.pause});
    has_given_up = !made.ok();
    if (made.ok()) index = *std::move(made);
  }

  bool has_codes() const {
    return (options.codes == SegmentOptions::Codes::kAlways ||
            (options.codes == SegmentOptions::Codes::kOfFlat && index == nullptr)) &&
           options.dimension <= kByteCodeDimensionMax;
  }
  PartWriter* VectorPart() {
    return packer.Part(BlockKind::kVectors, DenseElementBytes(vector_bytes()));
  }
  PartWriter* PlacePart(BlockKind kind) { return packer.Part(kind, sizeof(RowPlaces)); }
  size_t vector_bytes() const { return VectorBytes(options.vector_element, options.dimension); }
  Status CheckDimension(size_t dimension) const;
  Status CheckBits(std::span<const float> vector, uint64_t row_pointer) const;
  Status CheckRow(std::span<const float> vector, uint64_t row_pointer) const;
  Status AddVector(std::span<const float> vector, std::span<const std::byte> code);
  struct HostRow {
    std::span<const float> vector;
    uint64_t row_pointer;
    std::span<const std::byte> keys;
    bool has_known_keys;  // otherwise it is in no inverted index
  };
  // Now, or behind the others where that has to be.
  Status AddHostRow(const HostRow& row);
  // The same, of a vector that was rounded where that is wanted; one that cannot be changes
  // nothing.
  Status AddRounded(HostRow row);
  Status AddPointer(const HostRow& row);
  void Hold(const HostRow& row);
  // Room for a row that is kept back because it has no vector.
  Status MakeHeldRoom(size_t keys);
  // What was kept back goes behind the rows so far, and its memory with it.
  Status AddHeld();
  Status EndVectors();
  Status AddOrdinal(uint64_t ordinal);
  Status AddTexts(const RowView& row);
  Status PadVectors(uint64_t slots);
  // Which vector row number `rows` has, once there is a row without one.
  Status AddRowVector(bool has_vector);
  Status WriteIdIndex();
  // Of row number `rows`.
  void AddVectorHash(std::span<const float> vector);
  Status WriteVectorHashes();

  const SegmentOptions options;
  BlockPacker packer;
  Reservation reservation;
  enum class Rows { kNone, kRecords, kPointers } kind = Rows::kNone;
  bool is_finished = false;
  Status failed;  // the first error: a segment with a hole must not be finished

  uint32_t rows = 0;
  uint32_t vectors = 0;
  uint64_t zero_vectors = 0;
  std::vector<float> rounded;  // the vector that is being added
  double rounding = 0;
  std::vector<std::byte> packed;  // the vector that is being added, unless its numbers have 32 bits
  std::string code;               // its code
  uint64_t last_ordinal = 0;
  bool are_in_a_row = true;  // ordinals so far
  std::vector<PendingId> ids;
  std::vector<std::vector<uint64_t>> vector_hashes;  // as their index keeps them, in sorted runs
  std::string metadata;                              // of the record that is being added
  PlaceWriter id_places;
  PlaceWriter record_places;
  DocumentWriter documents;
  InvertedWriter inverted;
  CellWriter cells;
  std::optional<TextWriter> text;
  std::unique_ptr<IndexWriter> index;  // null: the segment will have none
  bool has_given_up = false;           // for want of memory
  bool are_vectors_over = false;
  // Rows without a vector, while there is an index: row pointer, bytes of keys, these.
  struct HeldRow {
    uint64_t row_pointer;
    uint64_t keys_bytes;
    uint64_t has_known_keys;  // a bool, without padding
  };
  struct HeldRows {
    Reservation reservation;
    std::vector<std::byte> bytes;  // never beyond the capacity that it began with
  };
  std::deque<HeldRows> held;
  size_t held_keys_max = kUsualKeys;  // of a row so far
};

Status SegmentWriter::State::CheckDimension(size_t dimension) const {
  if (dimension == options.dimension) return Status::Ok();
  return InvalidArgument(Detail::kDimension,
                         fmt::format("dimension mismatch: segment {} has {}, got {}",
                                     options.segment, options.dimension, dimension));
}

Status SegmentWriter::State::CheckBits(std::span<const float> vector, uint64_t row_pointer) const {
  size_t bad = 0;
  if (options.vector_element != VectorElement::kBit || AreBits(vector, &bad)) return Status::Ok();
  return InvalidArgument(fmt::format("segment {} keeps bits, got {} at place {} of row {:#x}",
                                     options.segment, vector[bad], bad, row_pointer));
}

// Whether such a row of a host may be added now.
Status SegmentWriter::State::CheckRow(std::span<const float> vector, uint64_t row_pointer) const {
  PIGMENT_RETURN_IF_ERROR(failed);
  if (kind == Rows::kRecords || is_finished) {
    return Internal("a row was added to a segment of records, or after the end");
  }
  if (row_pointer == kNoRowPointer) return InvalidArgument("row pointer 2^64 - 1 is reserved");
  if (are_vectors_over && !vector.empty())
    return InvalidArgument("a row with a vector comes after the end of these");
  if (vector.empty()) return Status::Ok();
  PIGMENT_RETURN_IF_ERROR(CheckDimension(vector.size()));
  return CheckBits(vector, row_pointer);
}

// Adds the row too. `code` empty: it is made here.
Status SegmentWriter::State::AddVector(std::span<const float> vector,
                                       std::span<const std::byte> given_code) {
  if (rows == kNoVector - kClusterAlignment) {
    return ResourceExhausted(
        Detail::kLimit,
        fmt::format("segment {} has {} rows, the most there can be", options.segment, rows));
  }
  PIGMENT_RETURN_IF_ERROR(AddRowVector(!vector.empty()));
  if (vector.empty()) {
    ++rows;
    return Status::Ok();
  }
  if (options.vector_element == VectorElement::kF32) {
    PIGMENT_RETURN_IF_ERROR(VectorPart()->AddDense(vector.data(), vector_bytes()));
  } else {
    packed.resize(vector_bytes());
    PackVector(options.vector_element, vector, packed.data());
    PIGMENT_RETURN_IF_ERROR(VectorPart()->AddDense(packed.data(), vector_bytes()));
  }
  if (has_codes()) {
    const size_t bytes = ByteCodeBytes(options.dimension);
    if (given_code.size() != bytes) {
      code.resize(bytes);
      if (vectors == 0 || !PIGMENT_PLANTED(kCodeOfTheVectorBefore))
        EncodeByteCode(vector, reinterpret_cast<std::byte*>(code.data()));
      given_code = std::as_bytes(std::span(code));
    }
    PIGMENT_RETURN_IF_ERROR(packer.Part(BlockKind::kCodes, static_cast<uint32_t>(bytes))
                                ->AddElement(given_code.data()));
  }
  if (index != nullptr) PIGMENT_RETURN_IF_ERROR(index->Add(vector));
  const auto is_zero = [](float value) { return value == 0; };
  if (std::all_of(vector.begin(), vector.end(), is_zero)) ++zero_vectors;
  AddVectorHash(vector);
  ++vectors;
  ++rows;
  return Status::Ok();
}

// The first stands for all that follow it without a gap.
Status SegmentWriter::State::AddOrdinal(uint64_t ordinal) {
  PartWriter* const part = packer.Part(BlockKind::kOrdinals, sizeof ordinal);
  if (rows > 0 && are_in_a_row && ordinal != last_ordinal + 1) {
    are_in_a_row = false;
    for (uint32_t left = rows - 1; left > 0; --left)
      PIGMENT_RETURN_IF_ERROR(part->Add(last_ordinal - left + 1));
  }
  last_ordinal = ordinal;
  return rows > 0 && are_in_a_row ? Status::Ok() : part->Add(ordinal);
}

// Ordinal, id and texts of row number `rows`.
Status SegmentWriter::State::AddTexts(const RowView& row) {
  if (ids.capacity() < options.records_max) {
    PIGMENT_RETURN_IF_ERROR(reservation.Grow(options.records_max * sizeof(PendingId)));
    ids.reserve(options.records_max);
  }
  PIGMENT_RETURN_IF_ERROR(AddOrdinal(row.ordinal));
  const IdHash hash = HashId(options.owner, row.id);
  PIGMENT_RETURN_IF_ERROR(
      Push(ids, PendingId{HashEntry(hash.stored, rows), hash.check}, reservation));
  PartWriter* const id_bytes = packer.Part(BlockKind::kIds, 0);
  PIGMENT_RETURN_IF_ERROR(id_bytes->AddStream(row.id));
  PIGMENT_RETURN_IF_ERROR(id_places.Add(*id_bytes, PlacePart(BlockKind::kIdOffsets)));
  PartWriter* const records = packer.Part(BlockKind::kRecords, 0);
  PIGMENT_RETURN_IF_ERROR(WriteRecordTexts(row.id, row.texts, records, &documents));
  PIGMENT_RETURN_IF_ERROR(record_places.Add(*records, PlacePart(BlockKind::kRecordOffsets)));
  const std::string_view* const document = row.texts.document ? &*row.texts.document : nullptr;
  if (options.document_index) PIGMENT_RETURN_IF_ERROR(cells.Add(document));
  if (text) PIGMENT_RETURN_IF_ERROR(text->Add(document));
  return inverted.Add({.metadata = row.texts.metadata,
                       .uri = row.texts.uri,
                       .has_document = row.texts.document.has_value()});
}

Status SegmentWriter::State::PadVectors(uint64_t slots) {
  const std::string padding(
      std::max<size_t>(size_t{options.dimension} * 4, ByteCodeBytes(options.dimension)), '\0');
  for (uint64_t slot = vectors; slot < slots; ++slot) {
    PIGMENT_RETURN_IF_ERROR(VectorPart()->AddDense(padding.data(), vector_bytes()));
    if (!has_codes()) continue;
    const auto bytes = static_cast<uint32_t>(ByteCodeBytes(options.dimension));
    PIGMENT_RETURN_IF_ERROR(packer.Part(BlockKind::kCodes, bytes)->AddElement(padding.data()));
  }
  return Status::Ok();
}

Status SegmentWriter::State::AddRowVector(bool has_vector) {
  if (has_vector && vectors == rows) return Status::Ok();
  PartWriter* const part = packer.Part(BlockKind::kRowVectors, sizeof(uint32_t));
  // The first without: those before it have the vectors of their own numbers.
  for (uint32_t row = 0; vectors == rows && row < rows; ++row)
    PIGMENT_RETURN_IF_ERROR(part->Add(row));
  return part->Add(has_vector ? vectors : kNoVector);
}

void SegmentWriter::State::AddVectorHash(std::span<const float> vector) {
  if (!options.vector_hashes) return;
  if (vector_hashes.empty() || vector_hashes.back().size() == kHashesPerRun) {
    if (!vector_hashes.empty()) std::ranges::sort(vector_hashes.back());
    // Whoever asks for hashes relies on them, so they are kept where nothing else would be.
    (void)reservation.Grow(kHashesPerRun * sizeof(uint64_t));
    vector_hashes.emplace_back().reserve(kHashesPerRun);
  }
  vector_hashes.back().push_back(HashEntry(StoredHash(HashVector(options.owner, vector)), rows));
}

Status SegmentWriter::State::WriteVectorHashes() {
  if (vector_hashes.empty()) return Status::Ok();
  std::ranges::sort(vector_hashes.back());
  struct Next {
    uint64_t entry;
    size_t run;
    size_t place;
    bool operator>(const Next& other) const { return entry > other.entry; }
  };
  std::priority_queue<Next, std::vector<Next>, std::greater<>> least;
  for (size_t run = 0; run < vector_hashes.size(); ++run)
    least.push({vector_hashes[run][0], run, 0});
  PartWriter* const part = packer.Part(BlockKind::kVectorHashes, sizeof(uint64_t));
  while (!least.empty()) {
    Next next = least.top();
    least.pop();
    PIGMENT_RETURN_IF_ERROR(part->Add(next.entry));
    if (++next.place == vector_hashes[next.run].size()) continue;
    next.entry = vector_hashes[next.run][next.place];
    least.push(next);
  }
  return Status::Ok();
}

Status SegmentWriter::State::WriteIdIndex() {
  PIGMENT_RETURN_IF_ERROR(id_places.Finish(PlacePart(BlockKind::kIdOffsets)));
  PIGMENT_RETURN_IF_ERROR(record_places.Finish(PlacePart(BlockKind::kRecordOffsets)));
  PIGMENT_RETURN_IF_ERROR(documents.Finish());
  PIGMENT_RETURN_IF_ERROR(inverted.Finish());
  PIGMENT_RETURN_IF_ERROR(cells.Finish());
  if (text) PIGMENT_RETURN_IF_ERROR(text->Finish());
  if (!PIGMENT_PLANTED(kIdIndexIsNotSorted)) std::sort(ids.begin(), ids.end());
  PartWriter* const index = packer.Part(BlockKind::kIdHashes, sizeof(uint64_t));
  for (size_t i = 0; i < ids.size(); ++i) {
    // 96 equal bits: the ids are equal. Entries of one hash are few.
    for (size_t j = i; j-- > 0 && HashOf(ids[j].entry) == HashOf(ids[i].entry);) {
      if (ids[j].check != ids[i].check) continue;
      return InvalidArgument(
          Detail::kDuplicateId,
          fmt::format("rows {} and {} of segment {} have one id", RowOf(ids[j].entry),
                      RowOf(ids[i].entry), options.segment));
    }
    PIGMENT_RETURN_IF_ERROR(index->Add(ids[i].entry));
  }
  return Status::Ok();
}

SegmentWriter::SegmentWriter(const SegmentOptions& options, BlockSink* sink)
    : state_(std::make_unique<State>(options, sink)) {}
SegmentWriter::~SegmentWriter() = default;

Status SegmentWriter::AddRecord(const Record& record) {
  RowView row;
  row.id = record.id;
  row.ordinal = record.ordinal;
  row.embedding = record.embedding;
  row.texts.document = record.document;
  row.texts.uri = record.uri;
  if (record.metadata) {
    state_->metadata.clear();
    EncodeMetadata(*record.metadata, state_->metadata);
    row.texts.metadata = state_->metadata;
  }
  return AddView(row);
}

Status SegmentWriter::AddView(const RowView& row) {
  State& state = *state_;
  PIGMENT_RETURN_IF_ERROR(state.failed);
  if (state.kind == State::Rows::kPointers || state.is_finished) {
    return Internal("a record was added to a segment of a host, or after the end");
  }
  PIGMENT_RETURN_IF_ERROR(state.CheckDimension(row.embedding.size()));
  if (state.rows != 0 && row.ordinal <= state.last_ordinal) {
    return Internal(fmt::format("ordinal {} was added after {}", row.ordinal, state.last_ordinal));
  }
  state.kind = State::Rows::kRecords;
  state.failed = state.AddTexts(row);
  if (state.failed.ok()) state.failed = state.AddVector(row.embedding, row.code);
  return state.failed;
}

Status SegmentWriter::State::AddPointer(const HostRow& row) {
  PIGMENT_RETURN_IF_ERROR(
      packer.Part(BlockKind::kRowPointers, sizeof row.row_pointer)->Add(row.row_pointer));
  if (!row.has_known_keys) {
    PIGMENT_RETURN_IF_ERROR(inverted.AddUnindexed());
  } else if (options.row_keys) {
    RowTerms terms;
    if (!row.keys.empty()) terms.metadata = AsText(row.keys);
    PIGMENT_RETURN_IF_ERROR(inverted.Add(terms));
  }
  return AddVector(row.vector, {});
}

Status SegmentWriter::State::MakeHeldRoom(size_t keys) {
  const size_t bytes = sizeof(HeldRow) + keys;
  if (!held.empty() && held.back().bytes.capacity() - held.back().bytes.size() >= bytes)
    return Status::Ok();
  const size_t capacity = std::max(bytes, kHeldBytes);
  const MemoryBudget* const budget = options.budget;
  if (budget != nullptr && budget->limit_bytes() != 0 &&
      budget->used_bytes() + capacity > ShareOfHeld(budget->limit_bytes())) {
    return ResourceExhausted(
        Detail::kMemory, fmt::format("{} more bytes of rows without a vector have no room in {}",
                                     capacity, budget->limit_bytes()));
  }
  HeldRows more{Reservation(options.budget), {}};
  PIGMENT_RETURN_IF_ERROR(more.reservation.Grow(capacity));
  more.bytes.reserve(capacity);
  held.push_back(std::move(more));
  return Status::Ok();
}

void SegmentWriter::State::Hold(const HostRow& row) {
  const HeldRow kept{row.row_pointer, row.keys.size(), row.has_known_keys};
  const auto head = std::as_bytes(std::span(&kept, 1));
  std::vector<std::byte>& to = held.back().bytes;
  to.insert(to.end(), head.begin(), head.end());
  to.insert(to.end(), row.keys.begin(), row.keys.end());
  held_keys_max = std::max(held_keys_max, row.keys.size());
}

Status SegmentWriter::State::AddHeld() {
  for (; !held.empty(); held.pop_front()) {
    const std::span<const std::byte> bytes(held.front().bytes);
    for (size_t at = 0; at < bytes.size();) {
      HeldRow row;
      std::memcpy(&row, bytes.data() + at, sizeof row);
      at += sizeof row;
      PIGMENT_RETURN_IF_ERROR(AddPointer({.vector = {},
                                          .row_pointer = row.row_pointer,
                                          .keys = bytes.subspan(at, row.keys_bytes),
                                          .has_known_keys = row.has_known_keys != 0}));
      at += row.keys_bytes;
    }
  }
  return Status::Ok();
}

Status SegmentWriter::State::AddRounded(HostRow row) {
  if (!options.rounds || row.vector.empty()) {
    failed = AddHostRow(row);
    return failed;
  }
  rounded.resize(row.vector.size());
  const auto shift = RoundVector(row.vector, rounded);
  if (!shift) {
    return InvalidArgument(
        Detail::kNotFinite,
        fmt::format("16 bits a number do not hold the vector of row {:#x}", row.row_pointer));
  }
  row.vector = rounded;
  rounding = std::max(rounding, shift->Of(options.metric));
  failed = AddHostRow(row);
  return failed;
}

Status SegmentWriter::State::AddHostRow(const HostRow& row) {
  kind = Rows::kPointers;
  if (index == nullptr || are_vectors_over) return AddPointer(row);
  if (row.vector.empty() && MakeHeldRoom(row.keys.size()).ok()) {
    Hold(row);
    return Status::Ok();
  }
  if (row.vector.empty() || !index->MakeRoom()) {
    index.reset();
    has_given_up = true;
    PIGMENT_RETURN_IF_ERROR(AddHeld());
  }
  return AddPointer(row);
}

Status SegmentWriter::State::EndVectors() {
  are_vectors_over = true;
  if (vectors < options.index_vectors_min) index.reset();
  if (index != nullptr && vectors < options.graph_vectors_min) index->MakeClusters();
  return AddHeld();
}

Status SegmentWriter::AddRow(std::span<const float> vector, uint64_t row_pointer,
                             std::span<const std::byte> keys) {
  State& state = *state_;
  PIGMENT_RETURN_IF_ERROR(state.CheckRow(vector, row_pointer));
  if (!keys.empty() && !state.options.row_keys)
    return InvalidArgument("the segment has no keys, and a row has some");
  PIGMENT_RETURN_IF_ERROR(VisitHostKeys(keys, [](const HostKey&) {}));
  return state.AddRounded({vector, row_pointer, keys, true});
}

Status SegmentWriter::AddUnindexedRow(std::span<const float> vector, uint64_t row_pointer) {
  State& state = *state_;
  PIGMENT_RETURN_IF_ERROR(state.CheckRow(vector, row_pointer));
  return state.AddRounded({vector, row_pointer, {}, false});
}

Status SegmentWriter::EndVectors() {
  State& state = *state_;
  PIGMENT_RETURN_IF_ERROR(state.failed);
  state.failed = state.EndVectors();
  return state.failed;
}

bool SegmentWriter::HasRoom() {
  State& state = *state_;
  return state.index == nullptr || state.are_vectors_over ||
         (state.index->MakeRoom() && state.MakeHeldRoom(state.held_keys_max).ok());
}

uint32_t SegmentWriter::vectors() const { return state_->vectors; }

Status SegmentWriter::StartFrom(const Segment& graph, std::span<const uint32_t> to) {
  State& state = *state_;
  if (state.index == nullptr || graph.info().kind != SegmentKind::kGraph) return Status::Ok();
  const auto gone = static_cast<size_t>(std::ranges::count(to, kVectorIsGone));
  if (to.size() - gone <= state.index->kept_vectors()) return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(std::optional<KeptLinks> kept,
                           KeepLinks(graph, to, state.options.budget, state.options.pause));
  if (kept) state.index->StartFrom(*std::move(kept));
  return Status::Ok();
}

bool SegmentWriter::has_given_up_index() const {
  return state_->has_given_up && state_->vectors >= state_->options.index_vectors_min;
}

double SegmentWriter::rounding() const { return state_->rounding; }

uint64_t SegmentWriter::zero_vectors() const { return state_->zero_vectors; }

Result<SegmentSummary> SegmentWriter::Finish() {
  State& state = *state_;
  PIGMENT_RETURN_IF_ERROR(state.failed);
  if (state.is_finished) return Internal("a segment was finished twice");
  state.is_finished = true;
  PIGMENT_RETURN_IF_ERROR(state.EndVectors());
  const auto slots =
      (uint64_t{state.vectors} + kClusterAlignment - 1) / kClusterAlignment * kClusterAlignment;
  if (state.vectors != 0) PIGMENT_RETURN_IF_ERROR(state.PadVectors(slots));
  if (state.kind == State::Rows::kRecords) PIGMENT_RETURN_IF_ERROR(state.WriteIdIndex());
  PIGMENT_RETURN_IF_ERROR(state.WriteVectorHashes());
  if (state.kind == State::Rows::kPointers && state.options.row_keys)
    PIGMENT_RETURN_IF_ERROR(state.inverted.Finish(1));
  IndexWriter::Written index;
  if (state.index != nullptr) {
    PIGMENT_ASSIGN_OR_RETURN(index, state.index->Write(state.packer));
  }
  RootHeader header{};
  std::memcpy(header.magic, kRootMagic, sizeof header.magic);
  header.format = kSegmentFormat;
  header.header_bytes = sizeof header;
  header.segment = state.options.segment;
  std::memcpy(header.owner, state.options.owner.data(), sizeof header.owner);
  header.dimension = state.options.dimension;
  header.metric = static_cast<uint32_t>(state.options.metric);
  header.vector_element = static_cast<uint32_t>(state.options.vector_element);
  header.rows = state.rows;
  header.vectors = state.vectors;
  header.vector_slots = static_cast<uint32_t>(slots);
  header.clusters = state.vectors != 0 ? index.clusters : 0;
  header.kind = static_cast<uint32_t>(index.kind);
  header.document_bytes = state.documents.bytes();
  header.document_chunk_bytes = state.documents.chunk_bytes();
  return state.packer.Finish(header);
}

}  // namespace pigment
