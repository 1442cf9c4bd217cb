// SPDX-License-Identifier: Apache-2.0
//
// Map, curve and bars.

#include "tools/viz/charts.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

#include "tools/viz/page.h"

namespace pigment_tool {
namespace {

constexpr double kMapWidth = 960;
constexpr double kMapHeight = 640;
constexpr double kMapMargin = 16;
constexpr double kCurveWidth = 560;
constexpr double kCurveHeight = 260;
constexpr double kCurveLeft = 48;
constexpr double kCurveTop = 12;
constexpr double kCurveBottom = 40;
constexpr double kBarWidth = 200;

std::string Number(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

std::string Svg(double width, double height, const std::string& label, const std::string& inside) {
  return "<svg viewBox=\"0 0 " + Number(width) + " " + Number(height) + "\" width=\"" +
         Number(width) + "\" role=\"img\" aria-label=\"" + Escape(label) + "\">\n" + inside +
         "</svg>\n";
}

std::string Line(double x1, double y1, double x2, double y2) {
  return "<line x1=\"" + Number(x1) + "\" y1=\"" + Number(y1) + "\" x2=\"" + Number(x2) +
         "\" y2=\"" + Number(y2) + "\"/>\n";
}

std::string Text(double x, double y, const char* anchor, const std::string& text) {
  return "<text x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" text-anchor=\"" + anchor + "\">" +
         Escape(text) + "</text>\n";
}

// Where the points lie, and how much of the map a unit is.
struct Frame {
  std::array<double, 2> middle{};
  double scale = 1;
};

Frame FrameOf(const Projection& projection) {
  Frame frame;
  std::array<double, 2> spread{};
  for (size_t axis : {size_t{0}, size_t{1}}) {
    double least = std::numeric_limits<double>::max();
    double most = std::numeric_limits<double>::lowest();
    for (const auto& point : projection.points) {
      least = std::min(least, point[axis]);
      most = std::max(most, point[axis]);
    }
    frame.middle[axis] = least + (most - least) / 2;
    spread[axis] = most - least;
  }
  double scale = std::numeric_limits<double>::max();
  if (spread[0] > 0) scale = std::min(scale, (kMapWidth - 2 * kMapMargin) / spread[0]);
  if (spread[1] > 0) scale = std::min(scale, (kMapHeight - 2 * kMapMargin) / spread[1]);
  if (spread[0] > 0 || spread[1] > 0) frame.scale = scale;
  return frame;
}

}  // namespace

std::string DrawMap(const Projection& projection, std::span<const SampledRecord> sample) {
  const Frame frame = FrameOf(projection);
  std::string dots;
  for (size_t i = 0; i < sample.size(); ++i) {
    const auto& point = projection.points[i];
    const double x = kMapWidth / 2 + (point[0] - frame.middle[0]) * frame.scale;
    const double y = kMapHeight / 2 - (point[1] - frame.middle[1]) * frame.scale;
    const std::string& document = sample[i].document;
    dots += "<circle cx=\"" + Number(x) + "\" cy=\"" + Number(y) + "\" r=\"4\"><title>" +
            Escape(sample[i].id) + (document.empty() ? "" : "\n" + Escape(document)) +
            "</title></circle>\n";
  }
  return "<div class=\"map\">" +
         Svg(kMapWidth, kMapHeight, "map of " + std::to_string(sample.size()) + " records", dots) +
         "</div>\n";
}

std::string DrawRecall(std::span<const WidthRecall> widths) {
  const double height = kCurveHeight - kCurveTop - kCurveBottom;
  const double step =
      (kCurveWidth - kCurveLeft - 48) / static_cast<double>(std::max<size_t>(1, widths.size() - 1));
  const auto y_of = [&](double recall) { return kCurveTop + (1 - recall) * height; };
  std::string drawing;
  for (const double recall : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    drawing += Line(kCurveLeft, y_of(recall), kCurveWidth - 24, y_of(recall)) +
               Text(kCurveLeft - 6, y_of(recall) + 4, "end",
                    std::to_string(static_cast<int>(recall * 100)) + " %");
  }
  std::string points;
  std::string marks;
  for (size_t i = 0; i < widths.size(); ++i) {
    const double x = kCurveLeft + 12 + step * static_cast<double>(i);
    const double y = y_of(widths[i].recall);
    points += Number(x) + "," + Number(y) + " ";
    marks += "<circle cx=\"" + Number(x) + "\" cy=\"" + Number(y) + "\" r=\"4\"><title>width " +
             std::to_string(widths[i].width) + ": " + Number(widths[i].recall * 100) +
             " %</title></circle>\n";
    drawing += Text(x, kCurveHeight - kCurveBottom + 18, "middle", std::to_string(widths[i].width));
  }
  drawing += Text(kCurveWidth / 2, kCurveHeight - 4, "middle", "search width");
  return "<div class=\"curve\">" +
         Svg(kCurveWidth, kCurveHeight, "recall over search width",
             drawing + "<polyline points=\"" + points + "\"/>\n" + marks) +
         "</div>\n";
}

std::string DrawRows(uint64_t live, uint64_t rows, uint64_t largest) {
  const double unit = kBarWidth / static_cast<double>(std::max<uint64_t>(1, largest));
  return Svg(kBarWidth, 10, std::to_string(live) + " of " + std::to_string(rows) + " rows live",
             "<rect class=\"deleted\" height=\"10\" width=\"" +
                 Number(static_cast<double>(rows) * unit) +
                 "\"/>\n<rect class=\"live\" height=\"10\" width=\"" +
                 Number(static_cast<double>(live) * unit) + "\"/>\n");
}

}  // namespace pigment_tool
