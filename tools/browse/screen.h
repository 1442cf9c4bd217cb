// SPDX-License-Identifier: Apache-2.0
//
// The terminal, through ncurses: it knows terminals, sizes and keys, and gives the terminal back as
// it was. One at a time and one thread; what is drawn must come from text.h, for ncurses passes
// letters on.

#pragma once

#include <optional>

#include "tools/browse/view.h"

namespace pigment_tool::browse {

class Screen {
 public:
  // Throws Failure where standard input or output is no terminal, or one that nobody knows.
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  Size size() const;  // of a view
  void Draw(const Frame& frame);
  // A key, or nothing when the size has changed, a signal came or some time passed.
  std::optional<Input> Read();

 private:
  void* screen_;
};

}  // namespace pigment_tool::browse
