// SPDX-License-Identifier: Apache-2.0
//
// A collection read page by page, from a cursor on: what export and copy go through. A page is
// whole; records that others write, change or delete meanwhile are in it as they were when it was
// read. One thread.

#pragma once

#include <string>

#include "tools/options.h"
#include "tools/session.h"

namespace pigment_tool {

class Pages {
 public:
  static constexpr int32_t kEverything = PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_METADATAS |
                                         PIGMENT_INCLUDE_EMBEDDINGS | PIGMENT_INCLUDE_URIS;

  // `cursor` empty: from the first record on; `rows` of a page. Borrows `collection` and `filters`.
  Pages(pigment_collection* collection, const Filters& filters, std::string cursor,
        int32_t include = kEverything, int64_t rows = kRows);

  // The next page; null behind the last one.
  ResultHandle Next();
  // Behind the page that Next() gave; empty when it was the last.
  const std::string& cursor() const { return cursor_; }

  // How many records there are now, for a bar of progress.
  uint64_t Count() const;

 private:
  static constexpr int64_t kRows = 1000;

  pigment_collection* collection_;
  const Filters& filters_;
  std::string cursor_;
  int32_t include_;
  int64_t rows_;
  bool is_over_ = false;
};

}  // namespace pigment_tool
