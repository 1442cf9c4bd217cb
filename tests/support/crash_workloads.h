// SPDX-License-Identifier: Apache-2.0
//
// The workloads that the crash harness runs, in order and by effort. One thread.

#pragma once

#include <string>
#include <vector>

#include "tests/support/crash_explorer.h"

namespace pigment {

// Limits so small that short histories flush, purge and merge.
CrashExplorerOptions SmallStore(SyncMode mode);

// Every sequence of up to two operations and two fifths of those of three (all at an effort
// of 2.5), on an empty directory and on a small store; at an effort below 1 a part of these. The
// first failure, or empty.
std::string ExploreShortHistories(CrashExplorer& explorer, double effort);

// `count` random histories of up to `operations_max` operations, on a small store.
std::string ExploreLongHistories(CrashExplorer& explorer, uint64_t count, uint64_t seed,
                                 size_t operations_max = 24);

// Short histories in which each sync fails once; at an effort below 1 a part of them.
std::string ExploreFailedSyncs(CrashExplorer& explorer, double effort, uint64_t seed = 1);

// A few histories that were chosen because short and random ones seldom are like them; at an effort
// below 1 a part of the syncs and writes fails that may.
std::string ExploreRareHistories(CrashExplorer& explorer, double effort);

// Histories without a sync. In one half power is cut while a process recovers what a killed one
// never synced, and again when it has recovered and written; in the other while one of two
// collections is flushed. Adds to `states`.
std::string ExploreUnsyncedWriters(uint64_t histories, uint64_t* states);

// Fails each write while a segment larger than its buffer is written: what was promised is there.
std::string ExploreFailedWrites();

// Damages the files of small stores that were closed (with segments of one block, with larger ones,
// all in the log), one thing at a time: flipped bits, zeroed sectors, blocks of other places, files
// of other numbers and of another store, missing files. Each must be an error, or change no answer.
// `looks` counts them.
std::string ExploreDamage(double effort, uint64_t* looks);

}  // namespace pigment
