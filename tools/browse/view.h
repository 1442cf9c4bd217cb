// SPDX-License-Identifier: Apache-2.0
//
// What is seen and what keys do, apart from any terminal: a view is asked to draw itself into a
// grid of any size, and told of each key. One thread.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pigment_tool::browse {

enum class Key {
  kLetter,
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kEnter,
  kEscape,
  kErase,
  kEraseAll,  // Ctrl-U
};
struct Input {
  Key key;
  wchar_t letter = 0;  // with kLetter
};

// What a view may use: the lines between its title and its status.
struct Size {
  size_t rows = 0;
  size_t columns = 0;
};

struct Frame {
  std::string title;
  std::vector<std::string> lines;  // at most Size::rows, made by Fit or Wrap
  std::optional<size_t> selected;  // a line
  std::string status;
  bool is_prompt = false;  // the status is being typed: the cursor stands behind it
  std::string keys;        // the most important first, for the end may be cut
};

class View;
struct Step {
  enum class Kind { kStay, kOpen, kBack, kQuit };
  Kind kind = Kind::kStay;
  std::unique_ptr<View> opened = nullptr;
};

class View {
 public:
  virtual ~View() = default;
  virtual Frame Draw(Size size) = 0;
  // `size` as at the last Draw. May throw Failure, which is shown and changes nothing else.
  virtual Step Handle(Input input, Size size) = 0;
};

// A list's selection and the first line that is seen of it.
class Scroll {
 public:
  size_t selected() const { return selected_; }
  size_t first() const { return first_; }
  void Reset() { selected_ = first_ = 0; }
  void Select(size_t line) { selected_ = line; }
  // Within `count` lines, with the selection on the screen of `rows`.
  void Settle(size_t count, size_t rows);
  // False for a key that moves nothing.
  bool Move(Key key, size_t rows);

 private:
  size_t selected_ = 0;
  size_t first_ = 0;
};

}  // namespace pigment_tool::browse
