// SPDX-License-Identifier: Apache-2.0
//
// The collections of a store.

#include "tools/browse/collections_view.h"

#include <algorithm>
#include <utility>

#include "tools/browse/records_view.h"
#include "tools/browse/text.h"
#include "tools/rows.h"

namespace pigment_tool::browse {
namespace {

constexpr size_t kNumberColumns = 10;

std::string RightOf(const std::string& text) {
  return std::string(kNumberColumns - std::min(kNumberColumns, text.size()), ' ') + text;
}

}  // namespace

CollectionsView::CollectionsView(pigment_client* client, std::string store, Selection selection)
    : client_(client), store_(std::move(store)), selection_(std::move(selection)) {
  Load();
}

void CollectionsView::Load() {
  lines_.clear();
  ForEachCollection(client_, selection_, [&](const Place& place, pigment_collection* collection) {
    const nlohmann::json described = Describe(collection);
    const auto& dimension = described.at("dimension");
    lines_.push_back({place, CountOf(collection), dimension.is_null() ? "-" : dimension.dump(),
                      IndexOf(described)});
  });
}

Frame CollectionsView::Draw(Size size) {
  Frame frame;
  frame.title =
      RightOf("records") + RightOf("dimension") + "  " + Padded("index", 13) + "  collection";
  frame.keys = "Enter open  q quit  r read anew  Home End PgUp PgDn";
  frame.status = store_ + ": " + std::to_string(lines_.size()) + " collections";
  scroll_.Settle(lines_.size(), size.rows);
  const size_t end = std::min(lines_.size(), scroll_.first() + size.rows);
  for (size_t line = scroll_.first(); line < end; ++line) {
    const Line& each = lines_[line];
    const bool is_default =
        each.place.tenant == "default_tenant" && each.place.database == "default_database";
    frame.lines.push_back(
        Fit(RightOf(std::to_string(each.records)) + RightOf(each.dimension) + "  " +
                Padded(each.index, 13) + "  " + each.place.name +
                (is_default ? "" : "  in " + each.place.tenant + " / " + each.place.database),
            size.columns));
  }
  if (!lines_.empty()) frame.selected = scroll_.selected() - scroll_.first();
  return frame;
}

Step CollectionsView::Handle(Input input, Size size) {
  if (scroll_.Move(input.key, size.rows)) return {};
  if (input.key == Key::kEnter && !lines_.empty()) {
    return {Step::Kind::kOpen,
            std::make_unique<RecordsView>(client_, lines_[scroll_.selected()].place)};
  }
  if (input.key != Key::kLetter) return {};
  if (input.letter == L'q') return {Step::Kind::kQuit};
  if (input.letter == L'r') {
    Refresh(client_);
    Load();
  }
  return {};
}

}  // namespace pigment_tool::browse
