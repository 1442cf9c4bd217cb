// SPDX-License-Identifier: Apache-2.0
//
// Results of gets as a file of Arrow, a record batch each, with the columns that
// pigment_result_arrow_stream gives. The file is one when Finish() has returned. One thread.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pigment/pigment.h"
#include "tools/grown_file.h"
#include "tools/json.h"

namespace pigment_tool {

class ArrowWriter {
 public:
  // The columns are those of `sample`. `saved` is what Save() gave of a file that is there, or
  // null. Throws Failure, as the others do.
  ArrowWriter(const std::string& path, const pigment_result* sample, const nlohmann::json& saved);

  // A result with other columns than the sample's is refused; of no rows it adds nothing.
  void Add(const pigment_result* page);
  nlohmann::json Save();  // what was added is durable
  void Finish();

 private:
  // A column as its field says it: the keys and values are the field's metadata.
  struct Column {
    std::string name;
    std::string format;  // of the C interface: "U", or "+w:N" of float32
    bool is_nullable = false;
    std::vector<std::pair<std::string, std::string>> metadata;

    bool operator==(const Column&) const = default;
  };
  // As the footer has it: where a message begins, its head with what stands before, its body.
  struct Block {
    uint64_t offset;
    uint64_t head_bytes;
    uint64_t body_bytes;
  };

  static std::vector<Column> ColumnsOf(const ArrowSchema& schema);
  size_t AddSchema(class FlatBuilder& builder) const;
  Block AppendMessage(const std::string& head, const std::string& body);

  GrownFile file_;
  std::vector<Column> columns_;
  std::vector<Block> blocks_;
};

}  // namespace pigment_tool
