// SPDX-License-Identifier: Apache-2.0
//
// The terminal through ncurses.

#include "tools/browse/screen.h"

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tools/browse/text.h"
#include "tools/session.h"

namespace pigment_tool::browse {
namespace {

constexpr int kLookMs = 100;   // how long a signal waits at most
constexpr int kFrameRows = 3;  // title, status, keys

void Put(int row, const std::string& text, size_t columns, attr_t attributes) {
  attrset(static_cast<int>(attributes));
  const std::wstring wide =
      Wide(attributes == A_NORMAL ? Fit(text, columns) : Padded(text, columns));
  mvaddnwstr(row, 0, wide.data(), static_cast<int>(wide.size()));
  attrset(A_NORMAL);
}

std::optional<Input> OfCode(wint_t code) {
  switch (code) {
    case KEY_UP:
      return Input{Key::kUp};
    case KEY_DOWN:
      return Input{Key::kDown};
    case KEY_PPAGE:
      return Input{Key::kPageUp};
    case KEY_NPAGE:
      return Input{Key::kPageDown};
    case KEY_HOME:
      return Input{Key::kHome};
    case KEY_END:
      return Input{Key::kEnd};
    case KEY_ENTER:
      return Input{Key::kEnter};
    case KEY_BACKSPACE:
      return Input{Key::kErase};
    default:
      return std::nullopt;  // KEY_RESIZE among them
  }
}

std::optional<Input> OfLetter(wint_t letter) {
  switch (letter) {
    case L'\n':
    case L'\r':
      return Input{Key::kEnter};
    case 27:
      return Input{Key::kEscape};
    case 8:
    case 127:
      return Input{Key::kErase};
    case 'U' & 31:
      return Input{Key::kEraseAll};
    default:
      if (letter < 32) return std::nullopt;
      return Input{Key::kLetter, static_cast<wchar_t>(letter)};
  }
}

}  // namespace

Screen::Screen() {
  if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1) {
    throw Failure(PIGMENT_FAILED_PRECONDITION,
                  "browse needs a terminal, and standard input or output is none\n"
                  "hint: list, get and query print to files and pipes");
  }
  set_escdelay(25);
  screen_ = newterm(nullptr, stdout, stdin);
  if (screen_ == nullptr) {
    const char* const type = std::getenv("TERM");
    throw Failure(PIGMENT_FAILED_PRECONDITION, "browse knows no terminal \"" +
                                                   std::string(type != nullptr ? type : "") +
                                                   "\"\nhint: TERM names the terminal's type");
  }
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, true);
  wtimeout(stdscr, kLookMs);
}

Screen::~Screen() {
  endwin();
  delscreen(static_cast<SCREEN*>(screen_));
}

Size Screen::size() const {
  return {static_cast<size_t>(std::max(getmaxy(stdscr) - kFrameRows, 0)),
          static_cast<size_t>(std::max(getmaxx(stdscr), 0))};
}

void Screen::Draw(const Frame& frame) {
  const int rows = getmaxy(stdscr);
  const size_t columns = size().columns;
  werase(stdscr);
  Put(0, frame.title, columns, A_BOLD);
  for (size_t line = 0; line < frame.lines.size() && line < size().rows; ++line) {
    Put(static_cast<int>(line) + 1, frame.lines[line], columns,
        frame.selected == line ? A_REVERSE : A_NORMAL);
  }
  if (rows >= kFrameRows) Put(rows - 2, frame.status, columns, A_NORMAL);
  const int cursor = getcurx(stdscr);
  if (rows >= 2) Put(rows - 1, frame.keys, columns, A_REVERSE);
  curs_set(frame.is_prompt ? 1 : 0);
  if (frame.is_prompt && rows >= kFrameRows) move(rows - 2, cursor);
  refresh();
}

std::optional<Input> Screen::Read() {
  wint_t got = 0;
  const int kind = wget_wch(stdscr, &got);
  if (kind == ERR) return std::nullopt;
  return kind == KEY_CODE_YES ? OfCode(got) : OfLetter(got);
}

}  // namespace pigment_tool::browse
