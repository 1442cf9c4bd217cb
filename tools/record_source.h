// SPDX-License-Identifier: Apache-2.0
//
// Where an import reads from. A source knows its place, as JSON, and can be sent back to it. One
// thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tools/batch.h"
#include "tools/json.h"

namespace pigment_tool {

class RecordSource {
 public:
  virtual ~RecordSource() = default;

  // False at the end. Throws Failure that names the place for what is no record.
  virtual bool Next(Record& record) = 0;

  virtual nlohmann::json identity() const = 0;
  virtual bool can_go_on() const = 0;  // GoTo works
  virtual nlohmann::json place() const = 0;
  virtual void GoTo(const nlohmann::json& place) = 0;

  virtual uint64_t records() const = 0;   // read so far, with those before GoTo
  virtual uint64_t done() const = 0;      // in the unit of total()
  virtual uint64_t total() const = 0;     // 0: nobody knows
  virtual std::string where() const = 0;  // "data.jsonl:17"
};

// `path`: JSON lines, "-" for standard input, a file (.arrow) or stream (.arrows) of Arrow, or a
// file of NumPy alone; `embeddings` (may be empty, and must be beside Arrow) a file of NumPy with
// as many rows as there are records.
std::unique_ptr<RecordSource> OpenSource(const std::string& path, const std::string& embeddings);

}  // namespace pigment_tool
