// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <vector>

#include "chart.hpp"
#include "figures.hpp"
#include "gradient_flow.hpp"
#include "graph.hpp"
#include "halftone/encoding/traits.hpp"
#include "markup.hpp"
#include "pictures.hpp"
#include "values.hpp"

namespace halftone::tools {
namespace {

constexpr std::size_t kOpenKernels = 60;  ///< a longer graph is shown when it is asked for

/// What runs are called: by name, by file too where others have that name, and by number where that
/// is not enough.
std::vector<std::string> names_of(std::span<const LoggedRun> runs) {
  std::vector<std::string> names;
  for (const LoggedRun& run : runs) {
    const auto has_name = [&](const LoggedRun& other) {
      return other.facts.name == run.facts.name;
    };
    std::string name = run.facts.name;
    if (std::ranges::count_if(runs, has_name) > 1)
      name += " (" + std::filesystem::path(run.file).filename().string() + ")";
    std::string numbered = name;
    for (int i = 2; std::ranges::find(names, numbered) != names.end(); ++i)
      numbered = name + " " + std::to_string(i);
    names.push_back(numbered);
  }
  return names;
}

class Page {
 public:
  Page(std::span<const LoggedRun> runs, const PageOptions& options)
      : runs_(runs), options_(options), names_(names_of(runs)) {
    bool is_first = true;
    for (const LoggedRun& run : runs) {
      const auto& points = run.grad_norm.points;  // which every entry has
      if (points.empty()) continue;
      first_ = is_first ? points.front().step : std::min(first_, points.front().step);
      last_ = is_first ? points.back().step : std::max(last_, points.back().step);
      is_first = false;
    }
  }

  std::string html() const {
    return head() + figures_table(runs_, names_) + notes() + legend() + values() + pictures() +
           course() + gradients() + roundings() +
           "<h2>Memory</h2><p>Of a trainer's arena, by the role and the format of the largest "
           "tensor of each place.</p>" +
           memory_table(runs_, names_) + programs() + "<script>" + kPageScript +
           "</script></body></html>\n";
  }

 private:
  std::string head() const {
    std::string title;
    for (const std::string& name : names_) title += (title.empty() ? "" : ", ") + name;
    return "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
           "<meta name=\"viewport\" content=\"width=device-width\"><title>" +
           escaped(title) + "</title><style>" + kPageStyle + "</style></head><body data-reload=\"" +
           std::to_string(options_.reload_seconds) + "\"><h1>" +
           (runs_.size() == 1 ? "Run " : std::to_string(runs_.size()) + " runs: ") +
           escaped(title) + "</h1>";
  }

  std::string notes() const {
    std::string html;
    for (const LoggedRun& run : runs_) {
      for (const std::string& note : run.notes) html += "<p>" + escaped(note) + ".</p>";
    }
    return html;
  }

  std::string legend() const {
    std::string html = "<div class=\"legend\">";
    for (std::size_t i = 0; i < runs_.size(); ++i)
      html += "<span>" + swatch(i) + escaped(names_[i]) + "</span>";
    return html + "</div>";
  }

  /// A curve for each run, with no points where it has none.
  template <class PointsOf>
  Chart chart(const std::string& title, const std::string& unit, PointsOf points_of) const {
    Chart chart{.title = title, .unit = unit, .first = first_, .last = last_, .curves = {}};
    for (std::size_t i = 0; i < runs_.size(); ++i)
      chart.curves.push_back({names_[i], static_cast<int>(i), points_of(runs_[i])});
    return chart;
  }

  /// Of a loss or a metric; steps at which it was not finite are marked.
  std::string value_chart(const std::string& name, std::vector<Series> LoggedRun::*member) const {
    Chart chart = this->chart(name, name, [&](const LoggedRun& run) -> std::span<const Point> {
      const auto found = std::ranges::find(run.*member, name, &Series::name);
      if (found == (run.*member).end()) return {};
      return found->points;
    });
    std::vector<std::vector<Point>> marks;
    for (const Curve& curve : chart.curves) {
      marks.emplace_back();
      std::ranges::copy_if(curve.points, std::back_inserter(marks.back()),
                           [](const Point& point) { return !std::isfinite(point.value); });
    }
    for (std::size_t i = 0; i < marks.size(); ++i) chart.curves[i].marks = marks[i];
    return drawn(chart);
  }

  std::string values() const {
    std::string html;
    for (const auto member : {&LoggedRun::losses, &LoggedRun::metrics}) {
      std::vector<std::string> done;
      for (const LoggedRun& run : runs_) {
        for (const Series& series : run.*member) {
          if (std::ranges::find(done, series.name) != done.end()) continue;
          done.push_back(series.name);
          html += value_chart(series.name, member);
        }
      }
    }
    if (html.empty()) return "<h2>Losses and metrics</h2><p>No step is logged yet.</p>";
    return "<h2>Losses and metrics</h2><div class=\"charts\">" + html + "</div>";
  }

  std::string pictures() const {
    std::string html;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const std::string part = pictures_of(runs_[i].pictures);
      if (!part.empty()) html += "<h3>" + swatch(i) + escaped(names_[i]) + "</h3>" + part;
    }
    return html.empty() ? html : "<h2>Pictures</h2>" + html;
  }

  void mark_skipped_steps(Chart& chart) const {
    for (std::size_t i = 0; i < runs_.size(); ++i) chart.curves[i].marks = runs_[i].skipped.points;
    chart.marks = "skipped";
  }

  std::string loss_scale() const {
    Chart chart = this->chart("Loss scale; triangles: skipped steps", "loss scale",
                              [](const LoggedRun& run) -> std::span<const Point> {
                                if (run.facts.loss_scale == "none") return {};
                                return run.loss_scale.points;
                              });
    chart.is_binary = true;
    chart.is_smoothed = false;
    mark_skipped_steps(chart);
    return drawn(chart);
  }

  std::string course() const {
    const auto chart_of = [&](const char* title, const char* unit, Series LoggedRun::*member) {
      return chart(title, unit, [member](const LoggedRun& run) -> std::span<const Point> {
        return (run.*member).points;
      });
    };
    std::string html = loss_scale();
    Chart norm = chart_of("Gradient norm, before clipping", "norm", &LoggedRun::grad_norm);
    mark_skipped_steps(norm);
    html += drawn(norm);
    Chart rate = chart_of("Learning rate", "learning rate", &LoggedRun::learning_rate);
    rate.is_linear = true;
    rate.is_smoothed = false;
    html += drawn(rate);
    Chart time = chart_of("Time per step, all between steps included", "ms per step",
                          &LoggedRun::ms_per_step);
    time.middle = Middle::median;  // a step that was held up says nothing of the others
    html += drawn(time);
    if (html.empty()) return {};
    return "<h2>Course of training</h2><p>Bold: means of neighbouring entries; faint: every "
           "entry.</p>"
           "<div class=\"charts\">" +
           html + "</div>";
  }

  std::string gradients() const {
    std::string html;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const std::string picture = gradient_flow(runs_[i], first_, last_);
      if (!picture.empty()) html += "<h3>" + swatch(i) + escaped(names_[i]) + "</h3>" + picture;
    }
    return html.empty() ? html : "<h2>Gradients by layer</h2>" + html;
  }

  std::string roundings() const {
    std::string html;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const std::string part = roundings_of(runs_[i], first_, last_);
      if (!part.empty()) html += "<h3>" + swatch(i) + escaped(names_[i]) + "</h3>" + part;
    }
    return html.empty() ? html : "<h2>What roundings do</h2>" + html;
  }

  std::string programs() const {
    std::string html =
        "<h2>Kernels and formats</h2><p>Left of a kernel what it reads, right what it writes: ";
    for (const encoding::ElementTraits& element : encoding::kElementTraits) {
      if (!element.computed && !element.integer) continue;
      html += std::string("<span class=\"key ") + element.word + "\">" + element.word + "</span>";
    }
    html += "</p>";
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const RunFacts& facts = runs_[i].facts;
      const bool is_open = i == 0 && facts.kernels.size() <= kOpenKernels;
      html += std::string("<details") + (is_open ? " open" : "") + "><summary>" + swatch(i) +
              escaped(names_[i]) + "</summary><ul>";
      for (const std::string& rule : facts.rules)
        html += "<li><code>" + escaped(rule) + "</code></li>";
      html += "</ul>" + kernel_graph(facts) + "<h2>Casts</h2><div class=\"wide\">" +
              cast_table(facts) + "</div></details>";
    }
    return html;
  }

  std::span<const LoggedRun> runs_;
  PageOptions options_;
  std::vector<std::string> names_;
  std::int64_t first_ = 0, last_ = 1;  ///< steps, of all charts
};

}  // namespace

std::string page_of(std::span<const LoggedRun> runs, const PageOptions& options) {
  return Page(runs, options).html();
}

}  // namespace halftone::tools
