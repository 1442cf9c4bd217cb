// SPDX-License-Identifier: Apache-2.0
//
// A directory as a home of collections. See home.h.

#pragma once

#include <string>

#include "tools/homes/home.h"

namespace pigment_tool {

class DirectoryHome final : public Home {
 public:
  // To write: made where it is missing. To read: works beside a writer.
  DirectoryHome(std::string directory, bool to_write);

  std::unique_ptr<CollectionReader> Read(const Place& place, const Filters& filters) override;
  std::unique_ptr<CollectionWriter> Write(const Place& place) override;
  void Finish() override;
  std::string PathOfJob(const std::string& kind, const nlohmann::json& identity) const override;
  nlohmann::json identity() const override { return nullptr; }

 private:
  std::string directory_;
  Client client_;
};

}  // namespace pigment_tool
