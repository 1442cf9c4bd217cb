// SPDX-License-Identifier: Apache-2.0
//
// How far an import, export or copy is, in a file, so that the same command goes on where it was
// killed. What a job does again after its last save must change nothing: saving is less often than
// writing. One process at a time; the store's lock sees to that where it is written to.

#pragma once

#include <chrono>
#include <string>

#include "tools/json.h"

namespace pigment_tool {

class Job {
 public:
  // `identity` says what the job is about; a file of another one counts as none.
  Job(std::string path, nlohmann::json identity);

  bool is_resumed() const { return is_resumed_; }
  const nlohmann::json& progress() const { return progress_; }  // an object; empty at first
  // Durable when it returns; after a crash the old or the new is there.
  void Save(nlohmann::json progress);
  bool IsTimeToSave() const { return std::chrono::steady_clock::now() >= next_; }
  void Finish();  // removes the file

 private:
  std::string path_;
  nlohmann::json identity_;
  nlohmann::json progress_ = nlohmann::json::object();
  bool is_resumed_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
};

// A name beside the store `directory`, different for different identities: "DIR.import-1f2e3d4c".
std::string JobPath(const std::string& directory, const std::string& kind,
                    const nlohmann::json& identity);

// {"path","bytes","changed_ns"}: differs when the file does.
nlohmann::json FileIdentity(const std::string& path);

}  // namespace pigment_tool
