// SPDX-License-Identifier: Apache-2.0
#include "chart.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "markup.hpp"

namespace halftone::tools {
namespace {

constexpr int kWidth = 560, kHeight = 250, kLeft = 70, kRight = 18, kTop = 10, kBottom = 38;
constexpr int kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;
constexpr std::size_t kMeans = 120;  ///< of a smoothed curve
constexpr int kTickMost = 9;         ///< characters

std::string attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + coordinate(value) + "\"";
}

/// 20000 is 20k, so that ticks are short.
std::string step_text(double step) {
  if (step >= 1e6) return figure_text(step / 1e6, 4) + "M";
  if (step >= 1e4) return figure_text(step / 1e3, 4) + "k";
  return figure_text(step, 6);
}

std::string tick_text(double value) {
  std::string text = figure_text(value, 3);
  if (text.size() <= kTickMost) return text;
  return std::abs(value) >= 1e6 ? figure_text(value / 1e6, 4) + "M" : text;
}

class Drawing {
 public:
  Drawing(const Chart& chart, double least, double greatest)
      : chart_(chart), vertical_(axis_of(chart, least, greatest)) {}

  std::string svg() const {
    std::string svg = "<svg viewBox=\"0 0 " + std::to_string(kWidth) + " " +
                      std::to_string(kHeight) + "\" role=\"img\" aria-label=\"" +
                      escaped(chart_.title) + "\">" + grid();
    for (const Curve& curve : chart_.curves) svg += marks_of(curve);
    for (const Curve& curve : chart_.curves) svg += lines_of(curve);
    return svg + "<line class=\"cursor\" y1=\"" + std::to_string(kTop) + "\" y2=\"" +
           std::to_string(kTop + kPlotHeight) + "\"/></svg>";
  }

  /// What the page's script shows under the mouse.
  std::string data() const {
    std::string json =
        "{\"first\":" + std::to_string(chart_.first) + ",\"last\":" + std::to_string(chart_.last) +
        ",\"left\":" + std::to_string(kLeft) + ",\"width\":" + std::to_string(kPlotWidth) +
        ",\"of\":" + std::to_string(kWidth) + ",\"curves\":[";
    for (const Curve& curve : chart_.curves) {
      json += json.back() == '[' ? "[" : ",[";
      for (const Point& point : thinned(curve.points, chart_.first, chart_.last, kPlotWidth / 4)) {
        if (!std::isfinite(point.value)) continue;
        json += (json.back() == '[' ? "[" : ",[") + std::to_string(point.step) + "," +
                figure_text(point.value, 4) + "]";
      }
      json += "]";
    }
    return json + "]}";
  }

 private:
  static Axis axis_of(const Chart& chart, double least, double greatest) {
    if (chart.is_binary && least > 0) return {Axis::Kind::binary, least, greatest};
    if (chart.is_linear) return {Axis::Kind::linear, least, greatest};
    return Axis::fitting(least, greatest);
  }

  double x(double step) const {
    const auto range = static_cast<double>(std::max<std::int64_t>(1, chart_.last - chart_.first));
    return kLeft + kPlotWidth * (step - static_cast<double>(chart_.first)) / range;
  }
  double y(double value) const { return kTop + kPlotHeight * (1 - vertical_.part(value)); }
  bool is_drawn(double value) const {
    return std::isfinite(value) && (vertical_.kind() == Axis::Kind::linear || value > 0);
  }

  std::string grid() const {
    std::string svg;
    for (const double tick : vertical_.ticks()) {
      svg += "<line class=\"grid\" x1=\"" + std::to_string(kLeft) + "\" x2=\"" +
             std::to_string(kWidth - kRight) + "\"" + attribute("y1", y(tick)) +
             attribute("y2", y(tick)) + "/><text class=\"tick\" text-anchor=\"end\" x=\"" +
             std::to_string(kLeft - 6) + "\"" + attribute("y", y(tick) + 3.5) + ">" +
             tick_text(tick) + "</text>";
    }
    const double foot = kTop + kPlotHeight;
    const Axis steps(Axis::Kind::linear, static_cast<double>(chart_.first),
                     static_cast<double>(chart_.last));
    for (const double tick : steps.ticks()) {
      if (tick < static_cast<double>(chart_.first) || tick > static_cast<double>(chart_.last))
        continue;
      if (tick != std::floor(tick)) continue;
      svg += "<line class=\"axis\"" + attribute("x1", x(tick)) + attribute("x2", x(tick)) +
             attribute("y1", foot) + attribute("y2", foot + 4) +
             "/><text class=\"tick\" text-anchor=\"middle\"" + attribute("x", x(tick)) +
             attribute("y", foot + 15) + ">" + step_text(tick) + "</text>";
    }
    svg += "<line class=\"axis\" x1=\"" + std::to_string(kLeft) + "\" x2=\"" +
           std::to_string(kWidth - kRight) + "\"" + attribute("y1", foot) + attribute("y2", foot) +
           "/><text class=\"label\" text-anchor=\"end\" x=\"" + std::to_string(kWidth - kRight) +
           "\" y=\"" + std::to_string(kHeight - 6) + "\">step</text>";
    const std::string middle = coordinate(kTop + kPlotHeight / 2.0);
    return svg + "<text class=\"label\" text-anchor=\"middle\" transform=\"translate(11 " + middle +
           ") rotate(-90)\">" + escaped(chart_.unit) +
           (vertical_.kind() == Axis::Kind::linear ? "" : ", logarithmic") + "</text>";
  }

  std::string path_of(std::span<const Point> points, const std::string& style) const {
    std::string d, dots;
    bool is_open = false;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Point& point = points[i];
      if (!is_drawn(point.value)) {
        is_open = false;
        continue;
      }
      const std::string at =
          coordinate(x(static_cast<double>(point.step))) + " " + coordinate(y(point.value));
      d += (is_open ? "L" : "M") + at;
      const bool is_alone = !is_open && (i + 1 == points.size() || !is_drawn(points[i + 1].value));
      if (is_alone) dots += "M" + at + "h.01";  // round caps make it a dot
      is_open = true;
    }
    if (!dots.empty()) dots = "<path class=\"" + style + " dot\" d=\"" + dots + "\"/>";
    return (d.empty() ? "" : "<path class=\"" + style + "\" d=\"" + d + "\"/>") + dots;
  }

  std::string lines_of(const Curve& curve) const {
    const std::string colour =
        " c" + std::to_string(curve.colour % 8) + (curve.colour >= 8 ? " dashed" : "");
    const std::vector<Point> raw = thinned(curve.points, chart_.first, chart_.last, kPlotWidth);
    if (!chart_.is_smoothed || curve.points.size() <= 2 * kMeans)
      return path_of(raw, "line" + colour);
    return path_of(raw, "faint" + colour) +
           path_of(smoothed(curve.points, kMeans, chart_.middle), "line" + colour);
  }

  /// At most one a pixel.
  std::string marks_of(const Curve& curve) const {
    std::string svg;
    std::set<int> taken;
    const double foot = kTop + kPlotHeight;
    for (const Point& mark : curve.marks) {
      const double at = x(static_cast<double>(mark.step));
      if (!taken.insert(static_cast<int>(at)).second) continue;
      svg += "<path class=\"mark c" + std::to_string(curve.colour % 8) + "\" d=\"M" +
             coordinate(at) + " " + coordinate(foot - 7) + "l-3 7h6z\"><title>" +
             escaped(curve.run) + ", step " + std::to_string(mark.step) + ": " +
             figure_text(mark.value, 4) + " " + escaped(chart_.marks) + "</title></path>";
    }
    return svg;
  }

  const Chart& chart_;
  Axis vertical_;
};

}  // namespace

std::string drawn(const Chart& chart) {
  double least = INFINITY, greatest = -INFINITY;
  for (const Curve& curve : chart.curves) {
    for (const Point& point : curve.points) {
      if (!std::isfinite(point.value)) continue;
      least = std::min(least, point.value);
      greatest = std::max(greatest, point.value);
    }
  }
  if (least > greatest) return {};
  const Drawing drawing(chart, least, greatest);
  return "<figure class=\"chart\"><figcaption>" + escaped(chart.title) + "</figcaption>" +
         drawing.svg() + "<script type=\"application/json\">" + drawing.data() +
         "</script></figure>";
}

}  // namespace halftone::tools
