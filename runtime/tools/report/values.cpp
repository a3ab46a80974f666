// SPDX-License-Identifier: Apache-2.0
#include "values.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "gradient_flow.hpp"
#include "halftone/encoding/text.hpp"
#include "halftone/encoding/traits.hpp"
#include "markup.hpp"

namespace halftone::tools {
namespace {

constexpr std::size_t kRows = 60;  ///< of a table, and of a picture: those that lose most

/// Powers of two, the last one included.
struct Range {
  std::int64_t first = 0, last = -1;

  void take(std::int64_t begin, const std::vector<std::int64_t>& counts) {
    if (counts.empty()) return;
    const std::int64_t end = begin + static_cast<std::int64_t>(counts.size()) - 1;
    const bool is_empty = last < first;
    first = is_empty ? begin : std::min(first, begin);
    last = is_empty ? end : std::max(last, end);
  }
  [[nodiscard]] bool has(std::int64_t exponent) const {
    return first <= exponent && exponent <= last;
  }
};

/// The powers of two that the format has numbers of. None where scales move them.
std::optional<Range> range_of(std::string_view format) {
  const auto parsed = encoding::parse(format);
  const auto* const found = std::get_if<encoding::Encoding>(&parsed);
  if (found == nullptr || encoding::is_scaled(*found) || !encoding::is_narrow(found->element))
    return std::nullopt;
  const encoding::ElementTraits& traits = encoding::traits(found->element);
  return Range{encoding::least_subnormal(traits), encoding::largest_exponent(traits)};
}

/// How many magnitudes have each power of two of `shown` before the rounding, or after it where it
/// is not known before.
std::string exponents_picture(const ValueStatistics& value, const Range& shown) {
  constexpr double kCell = 5, kHeight = 14;
  const bool is_before = !value.exponents_before.empty();
  const auto& counts = is_before ? value.exponents_before : value.exponents;
  const std::int64_t begin = is_before ? value.first_exponent_before : value.first_exponent;
  const std::optional<Range> held = range_of(value.format);
  const auto width = kCell * static_cast<double>(shown.last - shown.first + 1);
  std::string svg = "<svg style=\"width:" + coordinate(width) + "px;height:" + coordinate(kHeight) +
                    "px\" viewBox=\"0 0 " + coordinate(width) + " " + coordinate(kHeight) + "\">";
  std::int64_t most = 1;
  for (const std::int64_t count : counts) most = std::max(most, count);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const std::int64_t exponent = begin + static_cast<std::int64_t>(i);
    const double part = static_cast<double>(counts[i]) / static_cast<double>(most);
    const double height = std::max(1.0, kHeight * part);
    svg += "<path class=\"" + std::string(held && !held->has(exponent) ? "spoiled" : "norm") +
           "\" d=\"M" + coordinate(kCell * static_cast<double>(exponent - shown.first)) + " " +
           coordinate(kHeight - height) + "h4v" + coordinate(height) + "h-4z\"/>";
  }
  return svg + "</svg>";
}

std::string share_cell(double share) {
  return "<td class=\"number\">" + (share == 0 ? "" : figure_text(100 * share, 3) + " %") + "</td>";
}

std::string value_row(const ValueStatistics& value, const Range& shown) {
  const std::string rule = value.rule.empty() ? "default" : value.rule;
  const auto of = static_cast<double>(std::max<std::int64_t>(1, value.elements));
  return "<tr><th>" + escaped(value.layer) + "</th><td>" + escaped(value.role) + ", " +
         escaped(value.pass) + "</td><td class=\"" +
         escaped(value.format.substr(0, value.format.find(' '))) + "\">" + escaped(value.format) +
         "</td><td class=\"number\">" + figure_text(value.error, 3) + "</td>" +
         share_cell(value.flushed_share()) +
         share_cell(static_cast<double>(value.overflowed) / of) +
         share_cell(static_cast<double>(value.saturated) / of) + "<td>" +
         exponents_picture(value, shown) + "</td><td><code>" + escaped(rule) + "</code></td></tr>";
}

/// "fc1 gradient, input_gradient, f16", by which samples of one run are told apart.
std::string name_of(const ValueStatistics& value) {
  return value.layer + " " + value.role + ", " + value.pass + ", " + value.format;
}

/// A share of every rounding, step by step, of those that ever lose any the ones that lose most.
std::vector<Series> shares_of(const LoggedRun& run, double (ValueStatistics::*share)() const) {
  std::vector<Series> all;
  std::vector<double> most;  // of each
  std::map<std::string, std::size_t> known;
  for (const ValueSample& sample : run.samples) {
    for (const ValueStatistics& value : sample.values) {
      const std::string name = name_of(value);
      const std::size_t index = known.emplace(name, all.size()).first->second;
      if (index == all.size()) {
        all.push_back({name, {}});
        most.push_back(0.0);
      }
      const double lost = (value.*share)();
      std::vector<Point>& points = all[index].points;
      // Several roundings of one name are the worst of them.
      if (points.empty() || points.back().step != sample.step) points.push_back({sample.step, 0.0});
      points.back().value = std::max(points.back().value, lost);
      most[index] = std::max(most[index], lost);
    }
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (most[i] > 0) order.push_back(i);
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(-most[i], i); });
  if (order.size() > kRows) order.resize(kRows);
  std::ranges::sort(order);
  std::vector<Series> worst;
  for (const std::size_t i : order) worst.push_back(std::move(all[i]));
  return worst;
}

std::string flow_of_shares(const LoggedRun& run, std::int64_t first, std::int64_t last) {
  const std::pair<const char*, double (ValueStatistics::*)() const> kinds[] = {
      {"Became 0, of what was not 0", &ValueStatistics::flushed_share},
      {"Overflowed, or cut to the largest number", &ValueStatistics::overflowed_share}};
  std::string html;
  for (const auto& [title, share] : kinds) {
    html += "<h4>" + std::string(title) + "</h4>";
    const std::vector<Series> rows = shares_of(run, share);
    if (rows.empty()) {
      html += "<p>Nothing in any sample.</p>";
      continue;
    }
    html += flow_of(rows, first, last, {.none = "Nothing", .note = "; a share of its elements."});
  }
  return html;
}

std::string list_of_switches(const LoggedRun& run) {
  if (run.switches.empty()) return {};
  std::string html = "<p>Stages that the run entered by itself:</p><ul>";
  for (const StageSwitch& taken : run.switches)
    html += "<li>after step " + std::to_string(taken.step) + " from " + escaped(taken.from) +
            " to " + escaped(taken.to) + ": " + escaped(taken.why) + "</li>";
  return html + "</ul>";
}

}  // namespace

std::string roundings_table(std::span<const ValueStatistics> values) {
  std::vector<const ValueStatistics*> roundings;
  Range shown;
  for (const ValueStatistics& value : values)
    if (!value.format.empty()) roundings.push_back(&value);
  if (roundings.empty()) return {};
  const auto badness = [&](const ValueStatistics* value) {
    return std::pair(-(value->error + value->flushed_share() + value->overflowed_share()),
                     value - values.data());
  };
  std::ranges::sort(roundings, {}, badness);
  if (roundings.size() > kRows) roundings.resize(kRows);
  for (const ValueStatistics* value : roundings) {
    shown.take(value->first_exponent, value->exponents);
    shown.take(value->first_exponent_before, value->exponents_before);
  }
  std::string html =
      "<p>Roundings, the worst first. Error: the root of the squared differences over that of the "
      "squares. Of what was not 0: what became 0. Of all: what became infinite or NaN, and what "
      "was cut to the largest number. Then how many magnitudes each power of two has before the "
      "rounding, from 2^" +
      std::to_string(shown.first) + " to 2^" + std::to_string(shown.last) +
      "; red: those that the format has no number of.</p><div class=\"wide\"><table><thead><tr>"
      "<th>layer</th><th>value</th><th>format</th><th>error</th><th>became 0</th>"
      "<th>overflowed</th><th>saturated</th><th>magnitudes</th><th>rule</th></tr></thead><tbody>";
  for (const ValueStatistics* value : roundings) html += value_row(*value, shown);
  return html + "</tbody></table></div>";
}

std::string roundings_of(const LoggedRun& run, std::int64_t first, std::int64_t last) {
  std::string html = list_of_switches(run);
  if (run.samples.empty()) return html;
  const ValueSample& latest = run.samples.back();
  double seconds = 0.0;
  for (const ValueSample& sample : run.samples) seconds += sample.seconds;
  return html + flow_of_shares(run, first, last) + "<h4>Step " + std::to_string(latest.step) +
         "</h4>" + roundings_table(latest.values) + "<p>" + std::to_string(run.samples.size()) +
         " samples, which took " + figure_text(seconds, 3) + " seconds.</p>";
}

}  // namespace halftone::tools
