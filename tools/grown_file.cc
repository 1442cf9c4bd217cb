// SPDX-License-Identifier: Apache-2.0
//
// GrownFile: see the header.

#include "tools/grown_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/session.h"

namespace pigment_tool {

GrownFile::GrownFile(const std::string& path, uint64_t bytes) : path_(path), bytes_(bytes) {
  file_ = std::fopen(path.c_str(), bytes > 0 ? "r+e" : "we");
  if (file_ == nullptr) Fail();
  if (ftruncate(fileno(file_), static_cast<off_t>(bytes)) != 0) Fail();
  if (fseeko(file_, static_cast<off_t>(bytes), SEEK_SET) != 0) Fail();
}

GrownFile::~GrownFile() { std::fclose(file_); }

void GrownFile::Append(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) Fail();
  bytes_ += bytes.size();
}

void GrownFile::Sync() {
  if (std::fflush(file_) != 0 || fdatasync(fileno(file_)) != 0) Fail();
}

void GrownFile::Fail() const {
  throw Failure(errno == ENOSPC ? PIGMENT_RESOURCE_EXHAUSTED : PIGMENT_UNAVAILABLE,
                "cannot write \"" + path_ + "\": " + std::strerror(errno));
}

}  // namespace pigment_tool
