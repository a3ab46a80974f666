// SPDX-License-Identifier: Apache-2.0
#include "figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <functional>
#include <map>
#include <vector>

#include "curves.hpp"
#include "graph.hpp"
#include "markup.hpp"

namespace halftone::tools {
namespace {

constexpr double kWidestBar = 9;  // em

std::string utc(double seconds) {
  if (!(std::abs(seconds) < 1e12)) return "?";
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (!gmtime_r(&whole, &parts)) return "?";
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

std::string duration(double seconds) {
  if (seconds < 60) return figure_text(seconds, 3) + " s";
  if (seconds < 3600) return figure_text(seconds / 60, 3) + " min";
  return figure_text(seconds / 3600, 3) + " h";
}

std::string grouped(std::int64_t value) {
  std::string text = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

/// Of the finite ones; empty where there is none.
std::string median_text(const Series& series, const std::string& unit) {
  std::vector<double> values;
  for (const Point& point : series.points)
    if (std::isfinite(point.value)) values.push_back(point.value);
  if (values.empty()) return "";
  return figure_text(median_of(values), 3) + unit;
}

std::string last_text(const std::vector<Series>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Series::name);
  if (found == all.end() || found->points.empty()) return "";
  return figure_text(found->points.back().value, 4);
}

std::string kernels_text(const RunFacts& facts) {
  std::array<int, 3> counts{};
  for (const RunFacts::Kernel& kernel : facts.kernels) {
    const bool is_forward = kernel.phase == "forward" || kernel.phase == "loss";
    const bool is_update = kernel.phase == "check" || kernel.phase == "update";
    ++counts[is_forward ? 0 : is_update ? 2 : 1];
  }
  return std::to_string(counts[0]) + " forward, " + std::to_string(counts[1]) + " backward, " +
         std::to_string(counts[2]) + " update";
}

std::string sizes_text(const RunFacts& facts) {
  std::string text;
  for (const auto& [symbol, size] : facts.sizes)
    text += (text.empty() ? "" : ", ") + symbol + " " + std::to_string(size);
  return text;
}

class Table {
 public:
  Table(std::span<const LoggedRun> runs, std::span<const std::string> names) : runs_(runs) {
    html_ = "<div class=\"wide\"><table><thead><tr><th></th>";
    for (std::size_t i = 0; i < runs.size(); ++i)
      html_ += "<th>" + swatch(i) + escaped(names[i]) + "</th>";
    html_ += "</tr></thead><tbody>";
  }

  /// A text for every run; one cell where all are equal, and no row where all are empty.
  void add(const std::string& name, const std::function<std::string(const LoggedRun&)>& text_of) {
    std::vector<std::string> texts;
    for (const LoggedRun& run : runs_) texts.push_back(text_of(run));
    const auto is_empty = [](const std::string& text) { return text.empty(); };
    if (std::ranges::all_of(texts, is_empty)) return;
    html_ += "<tr><th>" + escaped(name) + "</th>";
    const bool are_equal =
        std::ranges::count(texts, texts.front()) == static_cast<std::ptrdiff_t>(texts.size());
    if (are_equal && texts.size() > 1) {
      html_ += "<td colspan=\"" + std::to_string(texts.size()) + "\">" + escaped(texts.front()) +
               "</td>";
    } else {
      for (const std::string& text : texts) html_ += "<td>" + escaped(text) + "</td>";
    }
    html_ += "</tr>";
  }

  [[nodiscard]] std::string html() const { return html_ + "</tbody></table></div>"; }

 private:
  std::span<const LoggedRun> runs_;
  std::string html_;
};

std::vector<std::string> names_of(std::span<const LoggedRun> runs,
                                  std::vector<Series> LoggedRun::* member) {
  std::vector<std::string> names;
  for (const LoggedRun& run : runs) {
    for (const Series& series : run.*member)
      if (std::ranges::find(names, series.name) == names.end()) names.push_back(series.name);
  }
  return names;
}

void add_course(Table& table, std::span<const LoggedRun> runs) {
  table.add("state", [](const LoggedRun& run) {
    return (run.is_ended ? "ended after " : "at ") + duration(run.seconds);
  });
  table.add("steps", [](const LoggedRun& run) { return grouped(run.last_step); });
  for (const std::string& name : names_of(runs, &LoggedRun::losses))
    table.add("last " + name, [&](const LoggedRun& run) { return last_text(run.losses, name); });
  for (const std::string& name : names_of(runs, &LoggedRun::metrics))
    table.add("last " + name, [&](const LoggedRun& run) { return last_text(run.metrics, name); });
  table.add("time per step, median",
            [](const LoggedRun& run) { return median_text(run.ms_per_step, " ms"); });
  table.add("rows per second, median",
            [](const LoggedRun& run) { return median_text(run.rows_per_second, ""); });
  table.add("skipped steps", [](const LoggedRun& run) { return grouped(run.skipped_steps); });
  table.add("last loss scale", [](const LoggedRun& run) {
    const auto& points = run.loss_scale.points;
    return run.facts.loss_scale == "none" || points.empty() ? ""
                                                            : figure_text(points.back().value, 4);
  });
}

void add_facts(Table& table) {
  table.add("kernels per step", [](const LoggedRun& run) { return kernels_text(run.facts); });
  table.add("casts per step",
            [](const LoggedRun& run) { return std::to_string(run.facts.casts.size()); });
  table.add("memory", [](const LoggedRun& run) {
    return run.peak_bytes > 0 ? bytes_text(static_cast<double>(run.peak_bytes)) : "";
  });
  table.add("parameters", [](const LoggedRun& run) {
    const RunFacts& facts = run.facts;
    return grouped(facts.parameters) + " in " + std::to_string(facts.parameter_tensors) +
           " tensors" +
           (facts.trained_parameters == facts.parameters
                ? ""
                : ", " + grouped(facts.trained_parameters) + " of them trained");
  });
  table.add("model", [](const LoggedRun& run) { return run.facts.model; });
  table.add("sizes", [](const LoggedRun& run) { return sizes_text(run.facts); });
  table.add("seed", [](const LoggedRun& run) { return std::to_string(run.facts.seed); });
  table.add("device", [](const LoggedRun& run) { return run.facts.hardware; });
  table.add("code", [](const LoggedRun& run) { return run.facts.variant; });
  table.add("started", [](const LoggedRun& run) { return utc(run.facts.started); });
  table.add("halftone", [](const LoggedRun& run) { return run.facts.halftone_version; });
}

using RoleAndFormat = std::pair<std::string, std::string>;

std::string memory_row(const RoleAndFormat& key, std::span<const std::int64_t> bytes,
                       std::int64_t most) {
  std::string role = key.first == "accumulated" ? "accumulated, with micro-batches" : key.first;
  std::ranges::replace(role, '_', ' ');
  std::string html = "<tr><th>" + escaped(role) + "</th><td>" +
                     (key.second.empty() ? ""
                                         : "<span class=\"key " + class_of(key.second) + "\">" +
                                               escaped(key.second) + "</span>") +
                     "</td>";
  for (const std::int64_t each : bytes) {
    if (each == 0) {
      html += "<td></td><td></td>";
      continue;
    }
    const double part = static_cast<double>(each) / static_cast<double>(most);
    html += "<td class=\"number\">" + bytes_text(static_cast<double>(each)) +
            "</td><td><span class=\"bar " + class_of(key.second) +
            "\" style=\"width:" + coordinate(kWidestBar * part) + "em\"></span></td>";
  }
  return html + "</tr>";
}

}  // namespace

std::string swatch(std::size_t run) {
  return "<svg class=\"swatch\" viewBox=\"0 0 26 10\" aria-hidden=\"true\"><path class=\"line c" +
         std::to_string(run % 8) + (run >= 8 ? " dashed" : "") + "\" d=\"M2 5H24\"/></svg>";
}

std::string figures_table(std::span<const LoggedRun> runs, std::span<const std::string> names) {
  Table table(runs, names);
  add_course(table, runs);
  add_facts(table);
  return table.html();
}

std::string memory_table(std::span<const LoggedRun> runs, std::span<const std::string> names) {
  std::map<RoleAndFormat, std::vector<std::int64_t>> bytes;
  std::vector<std::int64_t> totals(runs.size());
  std::int64_t most = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const RunFacts::Memory& memory : runs[i].facts.memory) {
      auto& row = bytes[{memory.role, memory.format}];
      row.resize(runs.size());
      row[i] += memory.bytes;
      most = std::max(most, row[i]);
      if (memory.role != "accumulated") totals[i] += memory.bytes;
    }
  }
  std::vector<RoleAndFormat> order;
  for (const auto& [key, row] : bytes) order.push_back(key);
  std::ranges::sort(order, {}, [&](const RoleAndFormat& key) {
    return std::pair(-std::ranges::max(bytes[key]), key);
  });
  std::string html =
      "<div class=\"wide\"><table class=\"memory\"><thead><tr><th>role</th><th>format</th>";
  for (std::size_t i = 0; i < runs.size(); ++i)
    html += "<th colspan=\"2\">" + swatch(i) + escaped(names[i]) + "</th>";
  html += "</tr></thead><tbody>";
  for (const RoleAndFormat& key : order) {
    if (std::ranges::max(bytes[key]) > 0) html += memory_row(key, bytes[key], most);
  }
  html += "<tr><th>all, as planned</th><td></td>";
  for (const std::int64_t total : totals)
    html += "<td class=\"number\">" + bytes_text(static_cast<double>(total)) + "</td><td></td>";
  return html + "</tr></tbody></table></div>";
}

}  // namespace halftone::tools
