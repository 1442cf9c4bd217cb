// SPDX-License-Identifier: Apache-2.0
//
// Check: reads every byte and every cross-reference of a store and changes nothing. Of a directory,
// open or not, in this process or another; or of an open store, whose writers go on meanwhile. Gives
// a report with everything that was found, not the first error. One thread; memory: one segment at a
// time, and 16 bytes for each live row of one collection.
//
// What is compared with what:
//   catalog            its own checksums; each file that it names, with size, rows and deletions
//   segment            every block; sections against each other; the catalog's counts and identity
//   deletions          checksum, place and count
//   log                every record of every file; positions against floors; batches decode
//   collection         live ids in one place each, found by it; ordinals unique; counts
//   vectors            a live row's own vector, searched for exactly, finds the row where the
//                      distances of all rows say that it stands (sampled unless `full`)
//   folders            files that nothing names

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/base/files.h"
#include "engine/base/status.h"

namespace pigment {

enum class CheckSeverity {
  kNote,     // worth knowing: a file of somebody else
  kWarning,  // costs space, loses nothing: a file of ours that nothing names
  kError,    // something that was promised is not there
};

std::string_view CheckSeverityName(CheckSeverity severity);

struct CheckFinding {
  CheckSeverity severity = CheckSeverity::kError;
  Code code = Code::kDataLoss;
  Detail detail = Detail::kNone;
  std::string collection;  // name; empty when it concerns none
  std::string file;        // empty when it concerns none
  int64_t offset = -1;
  std::string message;
};

struct CheckTotals {
  uint64_t collections = 0;
  uint64_t files = 0;
  uint64_t bytes = 0;  // read from those files
  uint64_t segments = 0;
  uint64_t rows = 0;
  uint64_t live_rows = 0;
  uint64_t log_batches = 0;
  uint64_t rows_queried = 0;  // by their own vector
};

struct CheckReport {
  std::vector<CheckFinding> findings;
  uint64_t findings_left_out = 0;  // beyond a thousand
  uint64_t errors = 0;             // left out ones included
  uint64_t warnings = 0;
  CheckTotals totals;
  uint64_t position = 0;  // log position that was checked

  bool is_clean() const { return errors == 0; }
};

struct CheckOptions {
  FileSystem* files = nullptr;  // null: the disk; of no use for an open store
  bool full = false;            // search for every row, however many there are
  CallControl control;
};

// A directory without a store: kNotFound. Everything else that is wrong is in the report.
Result<CheckReport> CheckStore(const std::string& path, const CheckOptions& options = {});

}  // namespace pigment
