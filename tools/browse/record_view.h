// SPDX-License-Identifier: Apache-2.0
//
// One record, whole: id, uri, metadata key by key, document, vector.

#pragma once

#include <string>
#include <vector>

#include "tools/browse/view.h"
#include "tools/session.h"

namespace pigment_tool::browse {

class RecordView final : public View {
 public:
  // Throws Failure (NOT_FOUND) where there is no such record.
  RecordView(pigment_client* client, const Place& place, std::string id);

  Frame Draw(Size size) override;
  Step Handle(Input input, Size size) override;

 private:
  std::string id_;
  std::string text_;                // with ends of lines
  std::vector<std::string> lines_;  // of it, so wide
  size_t columns_ = 0;
  size_t first_ = 0;
};

}  // namespace pigment_tool::browse
