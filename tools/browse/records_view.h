// SPDX-License-Identifier: Apache-2.0
//
// The records of a collection: page by page in insertion order, those that match a filter, or those
// that are nearest to a text or a vector.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/browse/view.h"
#include "tools/options.h"
#include "tools/session.h"

namespace pigment_tool::browse {

class RecordsView final : public View {
 public:
  // Borrows `client`.
  RecordsView(pigment_client* client, Place place);

  Frame Draw(Size size) override;
  Step Handle(Input input, Size size) override;

 private:
  struct Prompt {
    std::string label;
    std::wstring text;
    std::function<void(const std::string&)> apply;
  };
  // Where a page begins.
  struct Start {
    std::string cursor;  // empty: at the first record
    uint64_t record = 0;
  };
  struct Question {
    std::string text;  // or
    std::string like;  // the id of a record
  };

  void Begin();  // at the first record of what is asked for
  void Load(size_t rows);
  void LoadPage(size_t rows);
  void LoadHits();
  void TurnPage(bool is_forward);
  void Ask(std::string label, const std::string& text,
           std::function<void(const std::string&)> apply);
  Step HandlePrompt(Input input);
  Step HandleLetter(wchar_t letter);
  std::string Status() const;
  std::string LineOf(size_t row, size_t columns) const;

  pigment_client* client_;
  Place place_;
  Collection collection_;
  std::string where_;     // JSON
  std::string document_;  // a text that documents contain, or JSON
  Filters filters_;
  std::optional<Question> question_;
  uint64_t count_ = 0;         // of records that match
  std::vector<Start> starts_;  // of the pages up to this one
  Start next_;                 // of the page behind it
  bool has_next_ = false;
  ResultHandle result_;
  size_t result_rows_ = 0;  // of the page, or all hits
  size_t asked_rows_ = 0;   // what the page was read for
  Scroll scroll_;
  std::optional<Prompt> prompt_;
};

}  // namespace pigment_tool::browse
