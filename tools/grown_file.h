// SPDX-License-Identifier: Apache-2.0
//
// A file that is written to its end and can be cut back to what was durable. One thread.

#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace pigment_tool {

class GrownFile {
 public:
  // Goes on behind `bytes` bytes of a file that is there, or makes one when there are none.
  GrownFile(const std::string& path, uint64_t bytes);  // throws Failure, as the others do
  ~GrownFile();
  GrownFile(const GrownFile&) = delete;
  GrownFile& operator=(const GrownFile&) = delete;

  void Append(std::string_view bytes);
  void Sync();  // what was appended is durable
  uint64_t bytes() const { return bytes_; }

 private:
  [[noreturn]] void Fail() const;

  std::string path_;
  std::FILE* file_;
  uint64_t bytes_;
};

}  // namespace pigment_tool
