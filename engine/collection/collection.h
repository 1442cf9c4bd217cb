// SPDX-License-Identifier: Apache-2.0
//
// A collection of an open store: writes through the log into the tail, versions for readers, flush
// into segments. Thread safety: every method from any thread. A handle survives rename; after the
// collection's deletion every call gives kNotFound.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/catalog/catalog.h"
#include "engine/collection/version.h"
#include "engine/record/record.h"

namespace pigment {

// One segment of a collection, for people to look at.
struct SegmentDescription {
  uint32_t number = 0;
  std::string kind;              // "flat", "graph" or "clusters"
  std::string path;              // of its file
  uint32_t rows = 0;             // dead ones included
  uint32_t live_rows = 0;        // as of now
  uint64_t bytes = 0;            // of its file
  uint64_t deletions_bytes = 0;  // of the file of its stored deletions; 0: none
  uint32_t dimension = 0;
  bool has_codes = false;
  bool is_shared = false;  // with a fork: the file stays when this collection lets go of it
};

struct CompactionResult {
  uint64_t records = 0;  // live ones
  uint64_t segments_in = 0;
  uint64_t segments_out = 0;
  uint64_t bytes_before = 0;  // of segments and their deletions
  uint64_t bytes_after = 0;
};

struct WriteOutcome {
  WriteCounts counts;
  uint64_t position = 0;  // log position of the batch
};

class Collection {
 public:
  virtual ~Collection() = default;

  virtual CollectionEntry entry() const = 0;  // name, metadata, configuration … as of now

  // The newest visible version. Closed store, forked process or deleted collection: an error.
  virtual Result<std::shared_ptr<const Version>> Pin() const = 0;

  // Logs and applies one batch that is already valid in itself (ids, finite vectors, metadata);
  // checks the dimension against the collection and the batches queued before it. Semantics of add,
  // update, upsert, delete: notes/chroma.md 1.5.
  virtual Result<WriteOutcome> Write(WriteBatch batch) = 0;

  // Deletes the ids that `select` returns for a version that no concurrent write can get ahead of:
  // the selection and the deletion are one step.
  using Select = std::function<Result<std::vector<std::string>>(const Version&)>;
  virtual Result<WriteOutcome> DeleteSelected(const Select& select) = 0;

  // In the order of their first flush. The tail is in none.
  virtual Result<std::vector<SegmentDescription>> Segments() const = 0;

  // Writes the tail into a segment and publishes it; nothing to do: ok. Cancelled or failed, it
  // leaves everything as it was.
  virtual Status Flush(const CallControl& control = {}) = 0;

  // Flushes, and makes one segment of all that are there, or none of an empty collection: space of
  // deleted records is given back, and their bytes leave the segments. Writers and readers go on;
  // what they write meanwhile may be in segments of its own. Merges under way are given up for it.
  // Cancelled or failed, it leaves everything as it was.
  virtual Result<CompactionResult> Compact(const CallControl& control = {}) = 0;
};

}  // namespace pigment
