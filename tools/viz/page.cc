// SPDX-License-Identifier: Apache-2.0
//
// The page: head and style, then a section for each subject.

#include "tools/viz/page.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "pigment/pigment.h"
#include "tools/output.h"
#include "tools/viz/charts.h"

namespace pigment_tool {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: #1c2230; --soft: #667085; --line: #d8dce4; --dot: #2f6fde; --paper: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e7eaf0; --soft: #98a2b3; --line: #344054; --dot: #7aa7ff; --paper: #14181f; }
}
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { margin-bottom: 0; overflow-wrap: anywhere; } h2 { margin: 2.2rem 0 .6rem; }
.soft { color: var(--soft); margin-top: .2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--soft); font-weight: 500; }
th, td { padding: .2rem 1.4rem .2rem 0; border-bottom: 1px solid var(--line); }
td.number { text-align: right; }
svg { display: block; max-width: 100%; height: auto; }
.map { border: 1px solid var(--line); }
.map circle { fill: var(--dot); fill-opacity: .45; }
.map circle:hover, .curve circle:hover { fill-opacity: 1; stroke: var(--ink); stroke-width: 2; }
.curve line { stroke: var(--line); } .curve text { fill: var(--soft); font-size: 12px; }
.curve polyline { fill: none; stroke: var(--dot); stroke-width: 2; } .curve circle { fill: var(--dot); }
rect.live { fill: var(--dot); } rect.deleted { fill: var(--line); }
pre { overflow-wrap: anywhere; white-space: pre-wrap; }
)";

std::string Percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", share * 100);
  return text.data();
}

std::string Json(const nlohmann::json& json) {
  return Escape(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string Heading(const std::string& text) { return "<h2>" + Escape(text) + "</h2>\n"; }
std::string Soft(const std::string& text) { return "<p class=\"soft\">" + Escape(text) + "</p>\n"; }

// A number that is printed with its unit.
struct Quantity {
  std::string text;
};

struct Cell {
  template <typename Value>
  Cell(const Value& value) {  // implicit: a row is a list of what it shows
    const nlohmann::json json = value;
    is_number = json.is_number();
    text = json.is_string() ? json.get<std::string>() : json.dump();
  }
  Cell(Quantity quantity) : text(std::move(quantity.text)), is_number(true) {}

  std::string text;
  bool is_number = false;
};

// One row; numbers to the right. What is in `drawing` is markup already.
std::string TableRow(const std::vector<Cell>& cells, const std::string& drawing = "") {
  std::string row = "<tr>";
  for (const Cell& cell : cells)
    row += (cell.is_number ? "<td class=\"number\">" : "<td>") + Escape(cell.text) + "</td>";
  return row + (drawing.empty() ? "" : "<td>" + drawing + "</td>") + "</tr>\n";
}

std::string TableHead(const std::vector<std::string>& headings) {
  std::string row = "<tr>";
  for (const std::string& heading : headings) row += "<th>" + Escape(heading) + "</th>";
  return row + "</tr>\n";
}

std::string Head(const std::string& title) {
  return "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
         "<meta charset=\"utf-8\"/>\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
         "style-src 'unsafe-inline'\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>" +
         title + "</title>\n<style>" + kStyle + "</style>\n</head>\n";
}

std::string Sizes(const PageContent& content) {
  uint64_t bytes = 0;
  uint64_t rows = 0;
  uint64_t live = 0;
  for (const auto& segment : content.segments) {
    bytes += segment["bytes"].get<uint64_t>() + segment.at("deletions_bytes").get<uint64_t>();
    rows += segment["rows"].get<uint64_t>();
    live += segment["live_rows"].get<uint64_t>();
  }
  const uint64_t tail = content.records > live ? content.records - live : 0;
  std::string table = "<table>\n" + TableRow({"records", content.records}) +
                      TableRow({"dimension", content.described["dimension"].is_null()
                                                 ? nlohmann::json("none yet")
                                                 : content.described["dimension"]}) +
                      TableRow({"segments", content.segments.size()}) +
                      TableRow({"bytes of the segments", Quantity{PrintBytes(bytes)}});
  if (live > 0) {
    table += TableRow({"bytes for each live row", bytes / live}) +
             TableRow({"deleted rows in the segments", rows - live});
  }
  return Heading("Sizes") + table + TableRow({"records not yet in a segment", tail}) + "</table>\n";
}

std::string Segments(const PageContent& content) {
  if (content.segments.empty()) return Heading("Segments") + Soft("There is none yet.");
  uint64_t largest = 0;
  for (const auto& segment : content.segments) {
    largest = std::max(largest, segment["rows"].get<uint64_t>());
  }
  std::string table = TableHead(
      {"segment", "index", "rows", "live rows", "bytes", "deletions", "live and deleted"});
  for (const auto& segment : content.segments) {
    const auto bytes = [&](const char* key) {
      return Quantity{PrintBytes(segment[key].get<uint64_t>())};
    };
    table += TableRow(
        {segment["segment"], segment["kind"], segment["rows"], segment["live_rows"], bytes("bytes"),
         bytes("deletions_bytes")},
        DrawRows(segment["live_rows"].get<uint64_t>(), segment["rows"].get<uint64_t>(), largest));
  }
  return Heading("Segments") + "<table>\n" + table + "</table>\n";
}

std::string Recall(const PageContent& content) {
  const RecallByWidth& recall = content.recall;
  const std::string heading = Heading("Recall against search width");
  if (content.questions == 0) return heading + Soft("It was not measured.");
  if (recall.widths.empty()) {
    return heading + Soft("No segment has an index: every search is exact.");
  }
  std::string table = TableHead({"width", "recall", "rows scored"});
  for (const WidthRecall& at : recall.widths) {
    table += TableRow(
        {at.width, Quantity{Percent(at.recall)}, static_cast<int64_t>(at.rows_scored + 0.5)});
  }
  return heading +
         Soft("Searched by " + recall.strategy + ". The share of the " +
              std::to_string(kNeighbours) + " nearest that is found, over " +
              std::to_string(content.questions) + " records of the sample that ask for the others" +
              "; rows scored: distances computed or estimated for a question.") +
         DrawRecall(recall.widths) + "<table>\n" + table + "</table>\n";
}

std::string Map(const PageContent& content) {
  const std::string heading = Heading("Map");
  if (content.sample.empty()) return heading + Soft("There is no record to show.");
  const std::string of = content.filters.empty() ? "" : " of those that match " + content.filters;
  return heading +
         Soft(std::to_string(content.sample.size()) + " records" + of + ", drawn with seed " +
              std::to_string(content.seed) + ", along the two directions in which they differ " +
              "most: across " + Percent(content.projection.share[0]) + " of the variance, up " +
              Percent(content.projection.share[1]) + ". Point at a dot for id and document.") +
         DrawMap(content.projection, content.sample);
}

}  // namespace

std::string MakePage(const PageContent& content) {
  const nlohmann::json& described = content.described;
  const std::string name = Escape(described["name"].get<std::string>());
  return Head(name + " - Pigment") + "<body>\n<h1>" + name + "</h1>\n" +
         Soft("tenant " + described["tenant"].get<std::string>() + ", database " +
              described["database"].get<std::string>() + ", id " +
              described["id"].get<std::string>() + ", read by pigment " + pigment_version()) +
         Sizes(content) + Segments(content) + Recall(content) + Map(content) +
         Heading("Configuration") + "<pre>" + Json(described["configuration"]) + "</pre>\n" +
         (described["metadata"].is_null()
              ? ""
              : Heading("Metadata") + "<pre>" + Json(described["metadata"]) + "</pre>\n") +
         "</body>\n</html>\n";
}

}  // namespace pigment_tool
