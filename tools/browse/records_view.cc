// SPDX-License-Identifier: Apache-2.0
//
// The records of a collection.

#include "tools/browse/records_view.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tools/browse/record_view.h"
#include "tools/browse/text.h"
#include "tools/pages.h"
#include "tools/rows.h"

namespace pigment_tool::browse {
namespace {

constexpr int64_t kHits = 200;
constexpr int32_t kShown =
    PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_METADATAS | PIGMENT_INCLUDE_URIS;

std::optional<std::string> GivenOr(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// What is no JSON is a text to find.
std::optional<std::string> DocumentFilter(const std::string& text) {
  if (text.empty() || text.starts_with('{')) return GivenOr(text);
  return nlohmann::json({{"$contains", text}}).dump();
}

}  // namespace

RecordsView::RecordsView(pigment_client* client, Place place)
    : client_(client), place_(std::move(place)), collection_(OpenCollection(client, place_)) {
  Begin();
}

void RecordsView::Begin() {
  filters_ = Filters(GivenOr(where_), DocumentFilter(document_));
  Pages pages(collection_.get(), filters_, "", kShown);
  count_ = pages.Count();
  starts_ = {Start{}};
  result_ = nullptr;
  scroll_.Reset();
}

void RecordsView::Load(size_t rows) {
  if (result_ != nullptr && (question_ || asked_rows_ == rows)) return;
  question_ ? LoadHits() : LoadPage(std::max<size_t>(rows, 1));
  asked_rows_ = rows;
  result_rows_ = Rows(result_.get()).size();
}

void RecordsView::LoadPage(size_t rows) {
  const Start& start = starts_.back();
  Pages pages(collection_.get(), filters_, start.cursor, kShown, static_cast<int64_t>(rows));
  result_ = pages.Next();
  has_next_ = !pages.cursor().empty();
  next_ = {pages.cursor(), start.record + Rows(result_.get()).size()};
}

void RecordsView::LoadHits() {
  pigment_query_request request{};
  pigment_query_request_init(&request);
  filters_.Put(request);
  Texts texts;
  std::vector<float> vector;
  if (question_->like.empty()) {
    texts.Add(question_->text);
    request.texts_count = 1;
    request.texts = texts.column();
  } else {
    vector = VectorOfRecord(collection_.get(), question_->like);
    request.embeddings = {vector.data(), 1, vector.size(), 0, PIGMENT_F32};
  }
  request.n_results = kHits;
  request.include = kShown | PIGMENT_INCLUDE_DISTANCES;
  pigment_result* result = nullptr;
  pigment_error* error = nullptr;
  const pigment_call_options options = CallOptions();
  Check(pigment_collection_query(collection_.get(), &request, &options, &result, &error), error);
  result_.reset(result);
}

std::string RecordsView::Status() const {
  if (question_) {
    const std::string what =
        question_->like.empty() ? "text " + question_->text : "record " + question_->like;
    return std::to_string(result_rows_) + " nearest to " + what +
           (filters_.is_given() ? " of " + std::to_string(count_) + " that match" : "");
  }
  const uint64_t first = starts_.back().record;
  std::string text = result_rows_ == 0 ? "no records"
                                       : "records " + std::to_string(first + 1) + " to " +
                                             std::to_string(first + result_rows_) + " of " +
                                             std::to_string(count_);
  if (!where_.empty()) text += "  where " + where_;
  if (!document_.empty()) text += "  document " + document_;
  return text;
}

std::string RecordsView::LineOf(size_t row, size_t columns) const {
  const Row record = Rows(result_.get())[row];
  std::string line;
  if (record.distance) line = Padded(ShortNumber(*record.distance), 12) + "  ";
  line += Padded(record.id, std::clamp<size_t>(columns / 4, 8, 40)) + "  ";
  if (record.document) (line += *record.document) += "  ";
  if (record.metadata) (line += *record.metadata) += "  ";
  if (record.uri) line += *record.uri;
  return Fit(line, columns);
}

Frame RecordsView::Draw(Size size) {
  Load(size.rows);
  Frame frame;
  frame.title = place_.name;
  frame.keys = question_ ? "Enter whole record  Esc back  v like this  s text  q quit"
                         : "Enter whole record  PgDn PgUp page  / where  d document  s nearest to "
                           "text  v nearest to this  Esc back  q quit  r read anew  Home first";
  scroll_.Settle(result_rows_, size.rows);
  const size_t end = std::min(result_rows_, scroll_.first() + size.rows);
  for (size_t row = scroll_.first(); row < end; ++row) {
    frame.lines.push_back(LineOf(row, size.columns));
  }
  if (result_rows_ > 0) frame.selected = scroll_.selected() - scroll_.first();
  frame.status = Status();
  if (prompt_) {
    frame.is_prompt = true;
    frame.keys = "Enter apply  Esc cancel  Ctrl-U empty";
    const size_t room = size.columns - std::min(size.columns, prompt_->label.size() + 1);
    const size_t from = prompt_->text.size() - std::min(prompt_->text.size(), room);
    frame.status = prompt_->label + Narrow(prompt_->text.substr(from));
  }
  return frame;
}

void RecordsView::TurnPage(bool is_forward) {
  if (is_forward && has_next_) {
    starts_.push_back(next_);
  } else if (!is_forward && starts_.size() > 1) {
    starts_.pop_back();
  } else {
    return;
  }
  result_ = nullptr;
  scroll_.Reset();
}

void RecordsView::Ask(std::string label, const std::string& text,
                      std::function<void(const std::string&)> apply) {
  prompt_ = Prompt{std::move(label), Wide(text), std::move(apply)};
}

Step RecordsView::HandlePrompt(Input input) {
  std::wstring& text = prompt_->text;
  if (input.key == Key::kLetter) text += input.letter;
  if (input.key == Key::kErase && !text.empty()) text.pop_back();
  if (input.key == Key::kEraseAll) text.clear();
  if (input.key == Key::kEscape) prompt_.reset();
  if (input.key != Key::kEnter) return {};
  const Prompt given = std::move(*prompt_);
  prompt_.reset();
  given.apply(Narrow(given.text));
  return {};
}

// A filter that is refused, or a question that has no answer, leaves what was there.
Step RecordsView::HandleLetter(wchar_t letter) {
  const auto change = [this](std::string where, std::string document,
                             std::optional<Question> question) {
    auto before = std::make_tuple(where_, document_, question_);
    std::tie(where_, document_, question_) =
        std::make_tuple(std::move(where), std::move(document), std::move(question));
    try {
      Begin();
      Load(asked_rows_);
    } catch (...) {
      std::tie(where_, document_, question_) = std::move(before);
      Begin();
      throw;
    }
  };
  switch (letter) {
    case L'q':
      return {Step::Kind::kQuit};
    case L'/':
      Ask("where: ", where_,
          [this, change](const std::string& text) { change(text, document_, std::nullopt); });
      return {};
    case L'd':
      Ask("document: ", document_,
          [this, change](const std::string& text) { change(where_, text, std::nullopt); });
      return {};
    case L's':
      Ask("text: ", "", [this, change](const std::string& text) {
        if (!text.empty()) change(where_, document_, Question{text, ""});
      });
      return {};
    case L'v':
      if (result_rows_ == 0) return {};
      change(where_, document_,
             Question{"", std::string(Rows(result_.get())[scroll_.selected()].id)});
      return {};
    case L'r':
      Refresh(client_);
      change(where_, document_, question_);
      return {};
    default:
      return {};
  }
}

Step RecordsView::Handle(Input input, Size size) {
  if (prompt_) return HandlePrompt(input);
  const bool is_page = !question_ && (input.key == Key::kPageUp || input.key == Key::kPageDown);
  if (is_page) {
    TurnPage(input.key == Key::kPageDown);
    return {};
  }
  const bool is_below = !question_ && input.key == Key::kDown;
  if (is_below && scroll_.selected() + 1 >= result_rows_) {
    TurnPage(true);
    return {};
  }
  if (!question_ && input.key == Key::kUp && scroll_.selected() == 0 && starts_.size() > 1) {
    TurnPage(false);
    scroll_.Select(SIZE_MAX / 2);
    return {};
  }
  if (!question_ && input.key == Key::kHome) {
    starts_.resize(1);
    result_ = nullptr;
    scroll_.Reset();
    return {};
  }
  if (scroll_.Move(input.key, size.rows)) return {};
  if (input.key == Key::kEscape || input.key == Key::kErase) {
    if (!question_) return {Step::Kind::kBack};
    question_.reset();
    Begin();
    return {};
  }
  if (input.key == Key::kEnter && result_rows_ > 0) {
    const Rows rows(result_.get());
    return {Step::Kind::kOpen, std::make_unique<RecordView>(
                                   client_, place_, std::string(rows[scroll_.selected()].id))};
  }
  if (input.key == Key::kLetter) return HandleLetter(input.letter);
  return {};
}

}  // namespace pigment_tool::browse
