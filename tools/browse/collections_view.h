// SPDX-License-Identifier: Apache-2.0
//
// The collections of a store.

#pragma once

#include <string>
#include <vector>

#include "tools/browse/view.h"
#include "tools/session.h"

namespace pigment_tool::browse {

class CollectionsView final : public View {
 public:
  // Borrows `client`. `selection` is whose collections are listed.
  CollectionsView(pigment_client* client, std::string store, Selection selection);

  Frame Draw(Size size) override;
  Step Handle(Input input, Size size) override;

 private:
  struct Line {
    Place place;
    uint64_t records;
    std::string dimension;
    std::string index;
  };

  void Load();

  pigment_client* client_;
  std::string store_;
  Selection selection_;
  std::vector<Line> lines_;
  Scroll scroll_;
};

}  // namespace pigment_tool::browse
