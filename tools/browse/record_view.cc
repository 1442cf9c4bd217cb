// SPDX-License-Identifier: Apache-2.0
//
// One record, whole.

#include "tools/browse/record_view.h"

#include <algorithm>
#include <utility>

#include "tools/browse/text.h"
#include "tools/json_text.h"
#include "tools/rows.h"

namespace pigment_tool::browse {
namespace {

std::string TextOf(const Row& row) {
  std::string text = "id: " + std::string(row.id) + "\n";
  if (row.uri) text += "uri: " + std::string(*row.uri) + "\n";
  if (row.metadata) {
    text += "\nmetadata\n";
    const nlohmann::json metadata = ParseJson(*row.metadata);
    for (const auto& [key, value] : metadata.items()) {
      text += "  " + key + ": " + value.dump() + "\n";
    }
  }
  if (row.document) text += "\ndocument\n" + std::string(*row.document) + "\n";
  text += "\nembedding, " + std::to_string(row.embedding.size()) + " dimensions\n";
  for (const float number : row.embedding) text += ShortNumber(number) + " ";
  return text;
}

}  // namespace

RecordView::RecordView(pigment_client* client, const Place& place, std::string id)
    : id_(std::move(id)) {
  const Collection collection = OpenCollection(client, place);
  const ResultHandle found = RecordOf(collection.get(), id_,
                                      PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_METADATAS |
                                          PIGMENT_INCLUDE_URIS | PIGMENT_INCLUDE_EMBEDDINGS);
  text_ = TextOf(Rows(found.get())[0]);
}

Frame RecordView::Draw(Size size) {
  if (columns_ != size.columns || lines_.empty()) {
    // What was at the top stays there, as nearly as lines of another width allow.
    const double share =
        lines_.empty() ? 0 : static_cast<double>(first_) / static_cast<double>(lines_.size());
    lines_ = Wrap(text_, size.columns);
    columns_ = size.columns;
    first_ = static_cast<size_t>(share * static_cast<double>(lines_.size()));
  }
  first_ =
      std::min(first_, lines_.size() - std::min(lines_.size(), std::max<size_t>(size.rows, 1)));
  Frame frame;
  frame.title = "record " + id_;
  const size_t end = std::min(lines_.size(), first_ + size.rows);
  frame.lines.assign(lines_.begin() + static_cast<std::ptrdiff_t>(first_),
                     lines_.begin() + static_cast<std::ptrdiff_t>(end));
  frame.status = "lines " + std::to_string(first_ + 1) + " to " + std::to_string(end) + " of " +
                 std::to_string(lines_.size());
  frame.keys = "Esc back  Up Down PgUp PgDn Home End  q quit";
  return frame;
}

Step RecordView::Handle(Input input, Size size) {
  const size_t page = std::max<size_t>(size.rows, 1);
  switch (input.key) {
    case Key::kUp:
      first_ -= std::min<size_t>(first_, 1);
      return {};
    case Key::kDown:
      ++first_;
      return {};
    case Key::kPageUp:
      first_ -= std::min(first_, page);
      return {};
    case Key::kPageDown:
      first_ += page;
      return {};
    case Key::kHome:
      first_ = 0;
      return {};
    case Key::kEnd:
      first_ = lines_.size();
      return {};
    case Key::kEscape:
    case Key::kErase:
      return {Step::Kind::kBack};
    case Key::kLetter:
      return input.letter == L'q' ? Step{Step::Kind::kQuit} : Step{};
    case Key::kEnter:
    case Key::kEraseAll:
      return {};
  }
  return {};
}

}  // namespace pigment_tool::browse
