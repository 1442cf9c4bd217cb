// SPDX-License-Identifier: Apache-2.0
//
// The parts of a check that read files: segments, deletions, log, folders. Each reads a file from
// the file system anew, whatever is open or cached. Errors of the call itself (cancelled) are
// returned; what is wrong with a file goes into the notes. One thread.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/collection/check_report.h"

namespace pigment {

struct CheckedStore {
  FileSystem* files = nullptr;
  std::string directory;
  Uuid store;
  // Of the catalog; null: it is unreadable.
  const std::vector<CollectionEntry>* collections = nullptr;
  std::optional<uint64_t> position;       // of an open store: the log beyond it is being written
  CallControl control;
};

// Every segment and deletions file that the catalog names, each once.
Status CheckSegmentFiles(const CheckedStore& store, CheckNotes& notes);
// Every log file; gives the last position through the report.
Status CheckLogFiles(const CheckedStore& store, CheckNotes& notes);
// Names in the folders of the store that nothing refers to. What nothing names is still read when
// the catalog is unreadable: its checksums hold without it.
Status CheckNames(const CheckedStore& store, CheckNotes& notes);

}  // namespace pigment
