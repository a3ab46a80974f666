// SPDX-License-Identifier: Apache-2.0
#include "halftone/value_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <variant>

#include "formats.hpp"
#include "halftone/encoding/text.hpp"
#include "halftone/encoding/traits.hpp"

namespace halftone {
namespace {

double largest_of(std::string_view format) {
  const auto parsed = encoding::parse(format);
  const auto* const found = std::get_if<encoding::Encoding>(&parsed);
  if (found == nullptr || !encoding::is_narrow(found->element))
    return std::numeric_limits<double>::infinity();
  return value_of(found->element, encoding::code_of_largest(encoding::traits(found->element)));
}

void count_rounding(const InspectedValue& value, ValueStatistics& statistics) {
  const double largest = largest_of(value.format);
  double of_differences = 0.0, of_values = 0.0;
  for (std::size_t i = 0; i < value.values.size(); ++i) {
    const double before = value.before[i], after = value.values[i];
    if (!std::isfinite(before)) continue;
    if (!std::isfinite(after)) {
      ++statistics.overflowed;
      continue;
    }
    statistics.flushed += before != 0 && after == 0;
    statistics.saturated += std::abs(after) == largest && std::abs(before) > largest;
    of_differences += (after - before) * (after - before);
    of_values += before * before;
  }
  if (of_values > 0) statistics.error = std::sqrt(of_differences / of_values);
}

}  // namespace

ValueStatistics statistics_of(const InspectedValue& value) {
  ValueStatistics statistics{.layer = std::string(value.layer),
                             .op = std::string(value.op),
                             .pass = std::string(value.pass),
                             .role = std::string(value.role)};
  statistics.elements = static_cast<std::int64_t>(value.values.size());
  std::map<int, std::int64_t> counts;
  for (const float each : value.values) {
    statistics.not_a_number += std::isnan(each);
    statistics.infinite += std::isinf(each);
    statistics.zeros += each == 0;
    if (!std::isfinite(each) || each == 0) continue;
    const double size = std::abs(static_cast<double>(each));
    statistics.least = counts.empty() ? size : std::min(statistics.least, size);
    statistics.greatest = std::max(statistics.greatest, size);
    ++counts[std::ilogb(size)];
  }
  if (!counts.empty()) {
    statistics.first_exponent = counts.begin()->first;
    const auto last = counts.rbegin()->first;
    statistics.exponents.resize(static_cast<std::size_t>(last - counts.begin()->first + 1));
    for (const auto& [exponent, count] : counts)
      statistics.exponents[static_cast<std::size_t>(exponent - statistics.first_exponent)] = count;
  }
  if (value.before.size() == value.values.size() && !value.before.empty()) {
    statistics.format = value.format;
    statistics.rule = value.rule;
    count_rounding(value, statistics);
  }
  return statistics;
}

std::vector<ValueStatistics> value_statistics(const Trainer& trainer) {
  std::vector<ValueStatistics> all;
  trainer.inspect([&](const InspectedValue& value) { all.push_back(statistics_of(value)); });
  return all;
}

}  // namespace halftone
