// SPDX-License-Identifier: Apache-2.0
#include "gradient_flow.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "curves.hpp"
#include "markup.hpp"

namespace halftone::tools {
namespace {

constexpr int kColumns = 200, kShades = 12;
constexpr double kNames = 200, kCell = 4, kRow = 12, kFoot = 18;
/// A cell: no entry, a 0, a shade from 1 on, or something that is not finite.
constexpr int kNothing = -1, kNotFinite = kShades + 1;

/// The least and greatest logarithm of positive numbers; the first above the second without any.
struct Range {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();

  [[nodiscard]] int shade(double logarithm) const {
    if (greatest <= least) return kShades;
    const double part = (logarithm - least) / (greatest - least);
    return 1 + std::min(static_cast<int>(part * kShades), kShades - 1);
  }
};

bool is_positive(double value) { return value > 0 && std::isfinite(value); }

Range range_of(std::span<const Series> rows) {
  Range range;
  for (const Series& row : rows) {
    for (const Point& point : row.points) {
      if (!is_positive(point.value)) continue;
      range.least = std::min(range.least, std::log10(point.value));
      range.greatest = std::max(range.greatest, std::log10(point.value));
    }
  }
  return range;
}

/// What is in a column's steps: its mean logarithm, or that something there is not finite.
struct Cell {
  double sum = 0;
  int positive = 0, zero = 0, not_finite = 0;

  void add(double value) {
    if (!std::isfinite(value)) return void(++not_finite);
    if (value <= 0) return void(++zero);
    sum += std::log10(value);
    ++positive;
  }
  [[nodiscard]] int state(const Range& range) const {
    if (not_finite > 0) return kNotFinite;
    if (positive > 0) return range.shade(sum / positive);
    return zero > 0 ? 0 : kNothing;
  }
};

class Picture {
 public:
  Picture(std::span<const Series> rows, std::int64_t first, std::int64_t last,
          const FlowWords& words)
      : rows_(rows),
        first_(first),
        last_(std::max(last, first + 1)),
        words_(words),
        range_(range_of(rows)) {}

  std::string html() {
    std::string rows;
    for (std::size_t i = 0; i < rows_.size(); ++i) rows += row(i);
    const double width = kNames + kColumns * kCell,
                 height = kRow * static_cast<double>(rows_.size());
    std::string html = "<p>" + legend() +
                       "</p><div class=\"wide\"><svg class=\"flow\" viewBox=\"0 0 " +
                       coordinate(width) + " " + coordinate(height + kFoot) + "\">" + rows;
    for (int shade = 0; shade <= kNotFinite; ++shade) {
      const std::string& path = paths_[static_cast<std::size_t>(shade)];
      if (path.empty()) continue;
      const bool is_shade = shade != kNotFinite;
      html +=
          "<path class=\"" + std::string(is_shade ? "norm" : "spoiled") + "\" d=\"" + path + "\"";
      if (is_shade)
        html += " fill-opacity=\"" + figure_text(0.03 + 0.97 * shade / kShades, 3) + "\"";
      html += "/>";
    }
    return html + step(kNames, "start", first_, height) +
           step(kNames + kColumns * kCell, "end", last_, height) + "</svg></div>";
  }

 private:
  std::string legend() const {
    std::string text = words_.none;
    if (range_.least <= range_.greatest) {
      text = "From " + figure_text(std::pow(10, range_.least), 3) + ", faint, to " +
             figure_text(std::pow(10, range_.greatest), 3) + ", strong, by the logarithm";
    }
    return text + words_.note;
  }

  /// The layer's name, with its figures under the mouse; its cells go to the paths of their shades.
  std::string row(std::size_t number) {
    const Series& layer = rows_[number];
    const double top = kRow * static_cast<double>(number);
    std::array<Cell, kColumns> cells{};
    std::vector<double> finite;
    for (const Point& point : layer.points) {
      const std::int64_t column = (point.step - first_) * kColumns / (last_ - first_);
      cells[static_cast<std::size_t>(std::clamp<std::int64_t>(column, 0, kColumns - 1))].add(
          point.value);
      if (std::isfinite(point.value)) finite.push_back(point.value);
    }
    draw(cells, top);
    std::string figures = "never finite";
    if (!finite.empty()) {
      const auto [least, greatest] = std::ranges::minmax(finite);
      figures = figure_text(least, 3) + " to " + figure_text(greatest, 3) + ", median " +
                figure_text(median_of(finite), 3);
    }
    return "<g><title>" + escaped(layer.name + ": " + figures) +
           "</title><text class=\"label\" x=\"" + coordinate(kNames - 6) + "\" y=\"" +
           coordinate(top + kRow - 3) + "\" text-anchor=\"end\">" + escaped(shortened(layer.name)) +
           "</text></g>";
  }

  /// Entries that are further apart than a column go on to the next one's.
  void draw(const std::array<Cell, kColumns>& cells, double top) {
    int end = kColumns;  // behind the last entry
    while (end > 0 && cells[static_cast<std::size_t>(end - 1)].state(range_) == kNothing) --end;
    for (int from = 0, to = 0, state = kNothing; from < end; from = to) {
      const int own = cells[static_cast<std::size_t>(from)].state(range_);
      if (own != kNothing) state = own;
      for (to = from + 1; to < end; ++to) {
        const int next = cells[static_cast<std::size_t>(to)].state(range_);
        if (next != kNothing && next != state) break;
      }
      if (state != kNothing) fill(state, from, to, top);
    }
  }

  void fill(int state, int from, int to, double top) {
    const double width = (to - from) * kCell;
    paths_[static_cast<std::size_t>(state)] +=
        "M" + coordinate(kNames + from * kCell) + " " + coordinate(top) + "h" + coordinate(width) +
        "v" + coordinate(kRow - 1) + "h" + coordinate(-width) + "z";
  }

  static std::string shortened(const std::string& name) {
    constexpr std::size_t kMost = 32;
    return name.size() <= kMost ? name : "..." + name.substr(name.size() - kMost + 3);
  }

  static std::string step(double x, const char* anchor, std::int64_t step, double height) {
    return "<text class=\"tick\" x=\"" + coordinate(x) + "\" y=\"" + coordinate(height + 12) +
           "\" text-anchor=\"" + anchor + "\">" + figure_text(static_cast<double>(step), 6) +
           "</text>";
  }

  std::span<const Series> rows_;
  std::int64_t first_, last_;
  const FlowWords& words_;
  Range range_;
  std::array<std::string, kNotFinite + 1> paths_;
};

}  // namespace

std::string flow_of(std::span<const Series> rows, std::int64_t first, std::int64_t last,
                    const FlowWords& words) {
  return Picture(rows, first, last, words).html();
}

std::string gradient_flow(const LoggedRun& run, std::int64_t first, std::int64_t last) {
  if (run.layer_gradients.empty()) return {};
  return flow_of(run.layer_gradients, first, last,
                 {.none = "No gradient is positive",
                  .note = "; red: not finite. Without the loss scale, before clipping."});
}

}  // namespace halftone::tools
