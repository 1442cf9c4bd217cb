// SPDX-License-Identifier: Apache-2.0
//
// An immutable segment: what is in it, and the reader. The same payload bytes are read from a file
// and from the pages of a host. Thread safety: a Segment is immutable after Open and may be read
// from any thread if its source may.
//
// A segment is a run of logical blocks 0..n-1, grouped into parts (one BlockKind each); the root is
// the last one. Rows and vectors are numbered apart, both in the order in which rows were added: a
// vector owns one or more rows, and slots of vectors up to a multiple of 32 are padding. A row may
// have no vector (kNoVector). In a segment with an index each vector is of the row of its number,
// and rows without one come last.
//
// Root payload (offset relative to the payload):
//   offset size meaning
//   0      8    magic "PIGSEG\r\n"
//   8      2    format version, 2 (1 is read)
//   10     2    header bytes (offset of the part table)
//   12     4    segment id
//   16     16   owner: uuid of the store, or bytes of the host's choice; zero when unknown
//   32     4    dimension (0: no row has a vector)
//   36     4    metric (Metric), 0 when the segment serves any
//   40     4    rows
//   44     4    vector slots (padding included), a multiple of 32
//   48     4    vectors
//   52     4    clusters; of other kinds 1 where there are vectors
//   56     4    segment kind (SegmentKind)
//   60     4    logical blocks, root included
//   64     2    number of parts
//   66     2    extents in the root
//   68     4    physical block of the first kExtents block, or kNoBlock
//   72     4    extents in all
//   76     4    packed blocks
//   80     8    bytes of all documents before compression
//   88     4    bytes of a chunk of documents before compression; 0: they are not compressed
//   92     4    what each number of a vector is kept as (VectorElement)
//   96     32*p part table: kind u32, element bytes u32 (0: a stream), first logical block u32,
//               blocks u32, bytes u64, offset u32, reserved u32
//   …      12*e extents: logical u32, physical u32, count u32; ascending, without gaps, of all but
//               kExtents blocks and root
//   …           small parts, each at a multiple of 8
//
// A part of 0 blocks and some bytes is packed: it lies at `offset` in the payload of block `first`,
// which is a kPacked block or the root. The parts with blocks of their own come first in the table.
//
// Version 2 numbers the blocks of a part within the part (their trailers say so), because parts are
// written side by side before anybody knows how many blocks each will have; the extents map the
// logical numbers, in which parts follow each other, to where the blocks lie. kPacked and kExtents
// blocks and the root are numbered within the segment. Version 1 had no packed parts and no
// documents apart, part entries of 24 bytes (without the last two members), zeros at 76, and all
// blocks numbered within the segment.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/block/block_source.h"
#include "engine/record/record.h"
#include "engine/record/vector_element.h"
#include "engine/vector/distance.h"

namespace pigment {

inline constexpr uint32_t kNoVector = 0xFFFFFFFF;
inline constexpr uint32_t kClusterAlignment = 32;
inline constexpr uint64_t kNoRowPointer = ~uint64_t{0};

enum class SegmentKind : uint32_t {
  kFlat = 1,
  kGraph = 2,     // with a graph over all vectors (index_part.h)
  kClusters = 3,  // with the clusters of all vectors (index_part.h)
};
constexpr std::string_view SegmentKindName(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::kFlat:
      return "flat";
    case SegmentKind::kGraph:
      return "graph";
    case SegmentKind::kClusters:
      return "clusters";
  }
  return "unknown";
}

// What a segment is to have for searches beside its vectors. Without the memory for its build, or
// where vectors have no room in its space, a segment is flat all the same.
struct SegmentIndex {
  SegmentKind kind = SegmentKind::kFlat;
  // Of a graph: clusters may stand in its place where they are expected to be searched in less
  // time, which a sample tells.
  bool may_be_clusters = false;
  // Of a graph: links that each node has place for, at most kLinksPerNodeMax; 0: as many as the
  // dimension is worth. How many candidates are looked at for them: 1 is enough for most data.
  uint32_t links_max = 0;
  float effort = 1;
  uint32_t vectors_per_cluster = 100;  // of clusters, on average
};

using OwnerId = std::array<std::byte, 16>;

struct SegmentInfo {
  uint32_t segment = 0;
  OwnerId owner{};
  SegmentKind kind = SegmentKind::kFlat;
  uint32_t dimension = 0;
  Metric metric = Metric::kL2;
  VectorElement vector_element = VectorElement::kF32;
  uint32_t rows = 0;
  uint32_t vectors = 0;
  uint32_t vector_slots = 0;
  uint32_t clusters = 0;
  uint32_t blocks = 0;

  uint32_t vector_bytes() const {
    return static_cast<uint32_t>(VectorBytes(vector_element, dimension));
  }
};

struct HostKey;        // host_keys.h
class RowReader;       // row_reader.h
class VectorReader;    // vector_reader.h
class InvertedReader;  // inverted_reader.h
class CellReader;      // cell_reader.h
class TextReader;      // text_reader.h
class IndexReader;     // index_reader.h
struct IndexHead;      // index_part.h
struct IdHash;         // id_index.h
struct Hash128;        // checksum.h

class Segment {
 public:
  // Reads and checks the root at physical block `root` and the extents. `source` must outlive the
  // segment. Everything that later reads rely on (counts, sizes of parts, extents) is checked here.
  static Result<std::unique_ptr<Segment>> Open(BlockSource* source, uint32_t root,
                                               std::optional<uint32_t> expected_segment);
  virtual ~Segment() = default;

  virtual const SegmentInfo& info() const = 0;

  // For reading many rows of a store's segment; it must not outlive the segment.
  virtual std::unique_ptr<RowReader> NewReader() const = 0;

  // For filters on metadata; null where the segment has no inverted index. It must not outlive the
  // segment.
  virtual std::unique_ptr<InvertedReader> NewInvertedReader() const = 0;
  // Every key of a host's rows from `first` to before `end` (host_keys.h), each with its row; of
  // rows that are in no index none. A row's keys come in the order in which it stores them, grams
  // one by one.
  using KeyVisitor = std::function<void(const HostKey& key, uint32_t row)>;
  virtual Status VisitKeys(uint32_t first, uint32_t end, const KeyVisitor& visit) const = 0;
  // For filters on documents; null where the segment has no index of them. It must not outlive the
  // segment.
  virtual std::unique_ptr<CellReader> NewCellReader() const = 0;

  // For ranked search of documents; null where the segment has no text index. It must not outlive
  // the segment.
  virtual std::unique_ptr<TextReader> NewTextReader() const = 0;

  // Records; REQUIRES: row < info().rows. A segment built by a host has row pointers and no
  // records. What a write needs that is in the log already (FindRow, ReadOrdinal, ReadRecord) pins
  // a block of each part at most, and is not refused for want of memory (BlockSource::Urgent).
  virtual Result<std::optional<uint32_t>> FindRow(std::string_view id) const = 0;
  // The same by a hash that the caller computed once for all segments of one owner.
  virtual Result<std::optional<uint32_t>> FindRow(std::string_view id,
                                                  const IdHash& hash) const = 0;
  virtual Result<std::string> ReadId(uint32_t row) const = 0;
  virtual Result<uint64_t> ReadOrdinal(uint32_t row) const = 0;
  // Fills the fields asked for; `embedding`, `document` … are left empty otherwise.
  struct Fields {
    bool embedding = false;
    bool document = false;
    bool metadata = false;
    bool uri = false;
  };
  virtual Result<Record> ReadRecord(uint32_t row, const Fields& fields) const = 0;
  virtual Result<uint32_t> ReadRowVector(uint32_t row) const = 0;  // vector number, or kNoVector

  // Row pointers of rows first .. first + out.size() - 1 (hosts). Beyond the rows: kDataLoss, as
  // for all that follow.
  virtual Status ReadRowPointers(uint32_t first, std::span<uint64_t> out) const = 0;
  // The pointer of a row is wanted soon: memory is asked for it.
  virtual void ExpectRowPointer(uint32_t row) const = 0;
  // Vector numbers of rows first .. (kNoVector where none).
  virtual Status ReadRowVectors(uint32_t first, std::span<uint32_t> out) const = 0;
  virtual Status ReadOrdinals(uint32_t first, std::span<uint64_t> out) const = 0;

  // Calls `visit(first vector number, vectors, stride in floats, count)` for every run of vectors
  // that lie in one block (or one by one where a vector is larger than a block), in order, padding
  // excluded; those that are kept in f16 are widened. Stops with the first error that `visit`
  // returns. Runs that `wants` (where given) says no to are not read.
  using VectorVisitor =
      std::function<Status(uint32_t first, const float* vectors, size_t stride, size_t count)>;
  using VectorFilter = std::function<bool(uint32_t first, size_t count)>;
  virtual Status VisitVectors(const VectorVisitor& visit,
                              const VectorFilter& wants = nullptr) const = 0;
  // Byte codes (engine/vector/byte_code.h), where the segment has them: the same walk, over codes
  // that lie one after the other.
  virtual bool has_codes() const = 0;
  using CodeVisitor = std::function<Status(uint32_t first, const std::byte* codes, size_t count)>;
  virtual Status VisitCodes(const CodeVisitor& visit,
                            const VectorFilter& wants = nullptr) const = 0;
  // What is to be known of the graph or the clusters before a search, read when it is first asked
  // for, and kept; null where the segment is flat.
  virtual Result<const IndexHead*> Index() const = 0;
  // Nodes and vectors for searches; it must not outlive the segment. `head` is what Index gave.
  virtual std::unique_ptr<IndexReader> NewIndexReader(const IndexHead& head) const = 0;
  // Whether somebody has asked for it, as searches do.
  virtual bool has_read_index() const = 0;
  bool has_index() const { return info().kind != SegmentKind::kFlat; }
  // For reading many vectors; it must not outlive the segment.
  virtual std::unique_ptr<VectorReader> NewVectorReader() const = 0;
  // Copies one vector. REQUIRES: vector < info().vector_slots, out.size() == dimension.
  virtual Status ReadVector(uint32_t vector, std::span<float> out) const = 0;
  // Calls `visit` with the rows that have the vector with this hash (vector_hash.h), and with the
  // vector, until it says false. None where the segment has no hashes.
  using FoundVector = std::function<bool(uint32_t row, std::span<const float> vector)>;
  virtual Status VisitVector(const Hash128& hash, const FoundVector& visit) const = 0;

  // What each block says of itself, and where it lies: of all but the root and the extent map,
  // which Open has checked. For whoever copies blocks as they are.
  using BlockVisitor = std::function<void(uint32_t physical, const BlockExpectation& expected)>;
  virtual void VisitBlocks(const BlockVisitor& visit) const = 0;
  // Where each block lies, root and extent map included: for whoever gives them all up.
  virtual void VisitPlaces(const std::function<void(uint32_t physical)>& visit) const = 0;

  // Reads and checks every block and every cross-reference.
  virtual Status Verify() const = 0;
};

}  // namespace pigment
