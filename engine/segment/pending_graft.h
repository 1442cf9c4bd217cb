// SPDX-License-Identifier: Apache-2.0
//
// What pending rows of a host hang on (graft.h), as the host keeps it in its pages: so it is found
// out once for all who search. A part says it of some rows, those behind the rows of the part
// before it, which it names; a host knows the newest. Each lies in a chain of overflow pages
// (host_pages.h) that carry the stamp of the pending pages. Pure functions; sources are borrowed
// for a call.
//
// Bytes of a part: 'PIGG' u32, version u32 (1), graph u32, nodes of its index u32, first page of
// the part before u32 (or kNoBlock), flags u32 (1: these rows are the first, what the parts before
// say holds no more; 2: rows hang nowhere, because it would be of no use), rows that were looked at
// u32, those of this part included, nodes per row u32, rows of this part u32. Then of each row, in
// the order of the chain: page u32, entry u16, nodes u8, and each node as a varint, how far it is
// beyond the one before.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/block/block_source.h"

namespace pigment {

struct PendingGraftPart {
  uint32_t graph = 0;  // the segment
  uint32_t graph_nodes = 0;
  uint32_t previous = kNoBlock;
  bool is_first = false;
  bool hangs = false;
  uint32_t rows_seen = 0;
  uint32_t nodes_per_row = 0;

  struct Row {
    uint32_t physical;  // its pending page
    uint32_t entry;
  };
  std::vector<Row> rows;        // none where it does not hang
  std::vector<uint32_t> nodes;  // nodes_per_row of each, ascending; then Graft::kNoNode
};

// REQUIRES: 1 to nodes_per_row nodes of each row, and entries below 65,536.
std::string EncodePendingGraft(const PendingGraftPart& part);

// The parts of the newest one's rows and those before, the oldest first. Parts that hold no more
// are left out, but `visit` is called for their pages too. kDataLoss: a part says what cannot be.
using GraftPageVisitor = std::function<Status(uint32_t physical)>;
Result<std::vector<PendingGraftPart>> ReadPendingGrafts(BlockSource* source, uint32_t stamp,
                                                        uint32_t first,
                                                        const GraftPageVisitor& visit = {});

}  // namespace pigment
