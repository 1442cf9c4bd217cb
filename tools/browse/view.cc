// SPDX-License-Identifier: Apache-2.0
//
// Scrolling.

#include "tools/browse/view.h"

#include <algorithm>

namespace pigment_tool::browse {

void Scroll::Settle(size_t count, size_t rows) {
  selected_ = count > 0 ? std::min(selected_, count - 1) : 0;
  const size_t seen = std::max<size_t>(rows, 1);
  first_ = std::clamp(first_, selected_ + 1 - std::min(selected_ + 1, seen), selected_);
  // No empty lines below while there are some above.
  first_ = std::min(first_, count - std::min(count, seen));
}

bool Scroll::Move(Key key, size_t rows) {
  const size_t page = std::max<size_t>(rows, 1);
  switch (key) {
    case Key::kUp:
      selected_ -= std::min<size_t>(selected_, 1);
      return true;
    case Key::kDown:
      ++selected_;
      return true;
    case Key::kPageUp:
      selected_ -= std::min(selected_, page);
      first_ -= std::min(first_, page);
      return true;
    case Key::kPageDown:
      selected_ += page;
      first_ += page;
      return true;
    case Key::kHome:
      Reset();
      return true;
    case Key::kEnd:
      selected_ = SIZE_MAX / 2;
      return true;
    case Key::kLetter:
    case Key::kEnter:
    case Key::kEscape:
    case Key::kErase:
    case Key::kEraseAll:
      return false;
  }
  return false;
}

}  // namespace pigment_tool::browse
