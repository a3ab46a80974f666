// SPDX-License-Identifier: Apache-2.0
#include "bisect_page.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "axis.hpp"
#include "bisect/search.hpp"
#include "chart.hpp"
#include "figures.hpp"
#include "markup.hpp"
#include "page.hpp"
#include "values.hpp"

namespace halftone::tools {
namespace {

using Outcome = BisectTrial::Outcome;

constexpr double kNames = 330, kPlot = 430, kFailed = 60, kRow = 20, kFoot = 30;
constexpr std::size_t kNameMost = 56;

std::string paragraph(const std::string& text) { return "<p>" + escaped(text) + "</p>"; }

std::string difference_text(const Difference& difference) {
  if (difference.failed > 0) {
    return "not finite from " + std::to_string(difference.failed) + " of " +
           std::to_string(difference.seeds) + " seeds";
  }
  return (difference.mean < 0 ? "" : "+") + figure_text(difference.mean, 4) + " (" +
         figure_text(difference.low, 4) + " to " + figure_text(difference.high, 4) + ")";
}

/// Of the page's palette: what is as good, worse, unclear.
const char* colour_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::reference:
      return "c7";
    case Outcome::as_good:
      return "c2";
    case Outcome::worse:
      return "c5";
    default:
      return "c4";
  }
}

/// Every variant in a row: its differences from the reference, seed by seed, their mean and its
/// bounds.
class Comparison {
 public:
  explicit Comparison(const BisectResult& result) : result_(result) {
    const auto reference =
        std::ranges::find(result.trials, Outcome::reference, &BisectTrial::outcome);
    if (reference == result.trials.end()) return;
    for (std::size_t i = 0; i < reference->seeds.size(); ++i)
      losses_[reference->seeds[i]] = reference->losses[i];
    double least = 0.0, greatest = result.least;
    for (const BisectTrial& trial : result.trials) {
      for (const double each : differences(trial)) {
        if (!std::isfinite(each)) continue;
        least = std::min(least, each);
        greatest = std::max(greatest, each);
      }
    }
    axis_ = Axis(Axis::Kind::linear, least, greatest);
  }

  [[nodiscard]] std::string svg() const {
    const double height = kRow * static_cast<double>(result_.trials.size());
    const double width = kNames + kPlot + kFailed;
    std::string svg = "<div class=\"wide\"><svg class=\"flow\" viewBox=\"0 0 " + coordinate(width) +
                      " " + coordinate(height + kFoot) + "\">" + grid(height);
    for (std::size_t i = 0; i < result_.trials.size(); ++i)
      svg += row(result_.trials[i], kRow * static_cast<double>(i));
    return svg + "</svg></div>";
  }

 private:
  [[nodiscard]] std::vector<double> differences(const BisectTrial& trial) const {
    std::vector<double> all;
    for (std::size_t i = 0; i < trial.seeds.size(); ++i) {
      const auto reference = losses_.find(trial.seeds[i]);
      if (reference != losses_.end() && std::isfinite(reference->second))
        all.push_back(trial.losses[i] - reference->second);
    }
    return all;
  }

  [[nodiscard]] double x(double value) const {
    return kNames + kPlot * std::clamp(axis_.part(value), -0.01, 1.01);
  }

  [[nodiscard]] std::string vertical(const char* style, double value, double height) const {
    const std::string at = coordinate(x(value));
    return "<path class=\"" + std::string(style) + "\" d=\"M" + at + " 0V" + coordinate(height) +
           "\"/>";
  }

  [[nodiscard]] std::string grid(double height) const {
    std::string svg;
    for (const double tick : axis_.ticks()) {
      svg += vertical("grid", tick, height) + "<text class=\"tick\" text-anchor=\"middle\" x=\"" +
             coordinate(x(tick)) + "\" y=\"" + coordinate(height + 14) + "\">" +
             figure_text(tick == 0 ? 0.0 : tick, 3) + "</text>";  // no -0
    }
    return svg + vertical("axis", 0.0, height) + "<text class=\"label\" text-anchor=\"end\" x=\"" +
           coordinate(kNames + kPlot) + "\" y=\"" + coordinate(height + 27) +
           "\">loss above that of the reference</text><text class=\"tick\" x=\"" +
           coordinate(kNames + kPlot + 12) + "\" y=\"" + coordinate(height + 14) +
           "\">not finite</text>";
  }

  [[nodiscard]] std::string row(const BisectTrial& trial, double top) const {
    const double middle = top + kRow / 2;
    const std::string colour = colour_of(trial.outcome);
    std::string rules;
    for (const std::string& rule : trial.rules) rules += "\n" + rule;
    std::string svg = "<g><title>" +
                      escaped(trial.name + ": " + word_of(trial.outcome) +
                              (trial.refusal.empty() ? "" : ", " + trial.refusal)) +
                      escaped_lines(rules) +
                      "</title><text class=\"label\" text-anchor=\"end\" x=\"" +
                      coordinate(kNames - 10) + "\" y=\"" + coordinate(middle + 4) + "\">" +
                      escaped(shortened(trial.name)) + "</text>";
    if (trial.outcome != Outcome::reference && trial.outcome != Outcome::refused)
      svg += interval(trial.worse_by, middle, colour);
    for (const double each : differences(trial)) svg += dot(each, middle, colour);
    return svg + "</g>";
  }

  [[nodiscard]] std::string interval(const Difference& difference, double y,
                                     const std::string& colour) const {
    if (difference.seeds == difference.failed) return {};
    const std::string height = coordinate(y);
    std::string svg = "<path class=\"line " + colour + "\" d=\"M" + coordinate(x(difference.mean)) +
                      " " + coordinate(y - 6) + "v12\"/>";
    if (std::isfinite(difference.low) && std::isfinite(difference.high))
      svg += "<path class=\"line " + colour + "\" d=\"M" + coordinate(x(difference.low)) + " " +
             height + "H" + coordinate(x(difference.high)) + "\"/>";
    return svg;
  }

  [[nodiscard]] std::string dot(double difference, double y, const std::string& colour) const {
    const double at = std::isfinite(difference) ? x(difference) : kNames + kPlot + 24;
    return "<circle class=\"mark " + colour + "\" fill-opacity=\".55\" r=\"3\" cx=\"" +
           coordinate(at) + "\" cy=\"" + coordinate(y) + "\"/>";
  }

  static std::string escaped_lines(const std::string& text) {
    std::string lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      lines += escaped(text.substr(at, end - at)) + "\n";
      at = end + 1;
    }
    return lines;
  }

  static std::string shortened(const std::string& name) {
    return name.size() <= kNameMost ? name : name.substr(0, kNameMost - 3) + "...";
  }

  const BisectResult& result_;
  std::map<std::uint64_t, double> losses_;  ///< of the reference, by seed
  Axis axis_{Axis::Kind::linear, 0.0, 1.0};
};

/// Roundings under all rules, the worst first.
std::string values_table(const BisectResult& result) {
  const std::string table = roundings_table(result.values);
  if (table.empty()) return {};
  return "<h2>Values under all rules</h2><p>Of a step of the first seed.</p>" + table;
}

std::string blame(const BisectResult& result) {
  std::string html = "<h2>What is to blame</h2>";
  const std::string text = text_of(result);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) html += paragraph(text.substr(at, end - at));
    at = end + 1;
  }
  if (result.remedy.empty() || result.blamed.empty()) return html;
  html +=
      "<h2>Remedy</h2><p>Rules that leave out what is to blame and no more, for <code>halftonec "
      "--rules</code>; against the reference " +
      escaped(difference_text(result.remedy_worse_by)) + ".</p><pre>";
  for (const std::string& rule : result.remedy) html += "rule " + escaped(rule) + "\n";
  return html + "</pre>";
}

std::string legend(const BisectResult& result) {
  std::string html = "<div class=\"legend\">";
  for (std::size_t i = 0; i < result.curves.size(); ++i)
    html += "<span>" + swatch(i) + escaped(result.curves[i].first) + "</span>";
  return html + "</div>";
}

std::string curves(const BisectResult& result) {
  if (result.curves.empty()) return {};
  std::vector<std::vector<Point>> points;
  Chart chart{.title = "Loss, first seed", .unit = "loss", .curves = {}};
  for (const auto& [name, curve] : result.curves) {
    std::vector<Point>& of = points.emplace_back();
    for (const LossPoint& point : curve) of.push_back({point.step, point.loss});
    chart.first = points.size() == 1 ? of.front().step : std::min(chart.first, of.front().step);
    chart.last = std::max(chart.last, of.back().step);
  }
  for (std::size_t i = 0; i < points.size(); ++i)
    chart.curves.push_back({result.curves[i].first, static_cast<int>(i), points[i]});
  return legend(result) + "<div class=\"charts\">" + drawn(chart) + "</div>";
}

std::string rules_list(const char* title, const std::vector<std::string>& rules) {
  if (rules.empty()) return {};
  std::string html = "<h2>" + std::string(title) + "</h2><ol>";
  for (const std::string& rule : rules) html += "<li><code>" + escaped(rule) + "</code></li>";
  return html + "</ol>";
}

}  // namespace

std::string page_of(const BisectResult& result) {
  const std::string title = "Rules of " + result.model;
  return "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width\"><title>" +
         escaped(title) + "</title><style>" + kPageStyle + "</style></head><body><h1>" +
         escaped(title) + "</h1>" + blame(result) + curves(result) +
         "<h2>Variants</h2><p>In the order in which they were trained. A dot is a seed, its line "
         "the mean with its bounds; green: as good as the reference, red: worse, yellow: unclear. "
         "The rules of a variant are under the mouse.</p>" +
         Comparison(result).svg() + values_table(result) +
         rules_list("Rules on trial", result.rules) +
         rules_list("Rules of the reference", result.reference) + "<script>" + kPageScript +
         "</script></body></html>\n";
}

}  // namespace halftone::tools
