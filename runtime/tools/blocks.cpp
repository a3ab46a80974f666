// SPDX-License-Identifier: Apache-2.0
#include "blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

namespace halftone::tools {
namespace {

/// Nothing for what is no number as repeat writes it.
std::optional<int> number_of(const std::string& part) {
  const bool has_zero_before = part.size() > 1 && part.front() == '0';
  if (part.empty() || part.size() > 9 || has_zero_before) return std::nullopt;
  if (part.find_first_not_of("0123456789") != part.npos) return std::nullopt;
  return std::stoi(part);
}

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char letter : name) {
    if (letter == '/') {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string name = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) name += "/" + parts[i];
  return name;
}

/// A name whose numbers turn into sets of numbers, the last first.
struct Pattern {
  explicit Pattern(const std::string& name) : parts(parts_of(name)) {
    std::vector<std::string> shaped = parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto number = number_of(parts[i]);
      if (!number) continue;
      places.push_back(i);
      numbers.push_back(*number);
      shaped[i] = "#";
    }
    shape = joined(shaped);
  }

  /// All but the number at `place`.
  [[nodiscard]] std::string without(std::size_t place) const {
    std::vector<std::string> others = parts;
    others[places[place]] = "#";
    return joined(others);
  }

  std::vector<std::string> parts;
  std::vector<std::size_t> places;  // of numbers among the parts
  std::vector<int> numbers;
  std::string shape;  // "h/#/fc"
};

/// "0..3,7"
std::string ranges_of(const std::set<int>& numbers) {
  std::string text;
  for (auto first = numbers.begin(); first != numbers.end();) {
    auto last = first, next = std::next(first);
    while (next != numbers.end() && *next == *last + 1) last = next++;
    text += (text.empty() ? "" : ",") + std::to_string(*first);
    if (last != first) text += (*last == *first + 1 ? "," : "..") + std::to_string(*last);
    first = next;
  }
  return text;
}

std::string text_of(const std::set<int>& numbers, const std::set<int>& all) {
  if (numbers.size() == 1) return std::to_string(*numbers.begin());
  return numbers == all ? "*" : "{" + ranges_of(numbers) + "}";
}

struct PatternRow {
  Pattern pattern;
  std::vector<std::string> cells;
};

/// Rows that are equal but for the number at `place`, as one.
std::vector<PatternRow> folded(const std::vector<PatternRow>& rows, std::size_t place,
                               const std::map<std::string, std::vector<std::set<int>>>& all) {
  using Key = std::tuple<std::vector<std::size_t>, std::string, std::vector<std::string>>;
  std::map<Key, std::size_t> known;
  std::vector<std::set<int>> sets;
  std::vector<PatternRow> result;
  for (const PatternRow& row : rows) {
    const bool has_place = row.pattern.places.size() > place;
    const std::string rest = has_place ? row.pattern.without(place) : joined(row.pattern.parts);
    const auto [at, fresh] =
        known.try_emplace({row.pattern.places, rest, row.cells}, result.size());
    if (fresh) {
      result.push_back(row);
      sets.emplace_back();
    }
    if (has_place) sets[at->second].insert(row.pattern.numbers[place]);
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    Pattern& pattern = result[i].pattern;
    if (pattern.places.size() <= place) continue;
    const auto found = all.find(pattern.shape);
    pattern.parts[pattern.places[place]] =
        text_of(sets[i], found == all.end() ? std::set<int>{} : found->second[place]);
  }
  return result;
}

}  // namespace

Blocks::Blocks(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Pattern pattern(name);
    auto& sets = numbers_[pattern.shape];
    sets.resize(pattern.numbers.size());
    for (std::size_t i = 0; i < sets.size(); ++i) sets[i].insert(pattern.numbers[i]);
  }
}

std::vector<Row> Blocks::grouped(const std::vector<Row>& rows) const {
  std::vector<PatternRow> patterns;
  std::size_t places = 0;
  for (const Row& row : rows) {
    patterns.push_back({Pattern(row.name), row.cells});
    places = std::max(places, patterns.back().pattern.places.size());
  }
  while (places > 0) patterns = folded(patterns, --places, numbers_);
  std::vector<Row> result;
  for (PatternRow& row : patterns) {
    result.push_back({joined(row.pattern.parts), std::move(row.cells)});
  }
  return result;
}

}  // namespace halftone::tools
