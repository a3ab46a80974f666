// SPDX-License-Identifier: Apache-2.0
#include "name_map.hpp"

#include <algorithm>

#include "../text.hpp"
#include "halftone/error.hpp"

namespace halftone {
namespace {

std::size_t stars_of(std::string_view pattern) {
  return static_cast<std::size_t>(std::ranges::count(pattern, '*'));
}

std::string filled(std::string_view pattern, const std::vector<std::string_view>& texts) {
  std::string name;
  std::size_t star = 0;
  for (const char c : pattern) {
    if (c == '*') {
      name += texts[star++];
    } else {
      name += c;
    }
  }
  return name;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name,
             std::vector<std::string_view>& texts) {
  texts.clear();
  const std::size_t first = pattern.find('*');
  if (first == pattern.npos) return pattern == name;
  // The text before the first star and that behind the last one stand where they must; of those
  // between, each as early as it can, which leaves the most for the others.
  const std::size_t last = pattern.rfind('*');
  const std::string_view tail = pattern.substr(last + 1);
  if (name.size() < first + tail.size() || !name.starts_with(pattern.substr(0, first)) ||
      !name.ends_with(tail))
    return false;
  const std::string_view middle = name.substr(0, name.size() - tail.size());
  std::size_t at = first;  // in the name, where the text of a star begins
  for (std::size_t star = first; star != last;) {
    const std::size_t next = pattern.find('*', star + 1);
    const std::string_view between = pattern.substr(star + 1, next - star - 1);
    const std::size_t found = middle.find(between, at);
    if (found == middle.npos) return false;
    texts.push_back(middle.substr(at, found - at));
    at = found + between.size();
    star = next;
  }
  texts.push_back(middle.substr(at));
  return true;
}

NameMap::NameMap(const std::vector<WeightName>& entries) : entries_(entries) {
  for (const WeightName& entry : entries) {
    if (entry.to.empty() || stars_of(entry.to) == stars_of(entry.from)) continue;
    throw Error(
        {.operation = "load_weights",
         .object = "entry {\"" + entry.from + "\", \"" + entry.to + "\"} of LoadOptions::names",
         .cause = "has " + std::to_string(stars_of(entry.from)) + " '*' on the left and " +
                  std::to_string(stars_of(entry.to)) + " on the right",
         .hint = "write as many on both sides"});
  }
}

Destination NameMap::of(std::string_view tensor) const {
  std::vector<std::string_view> texts;
  for (const WeightName& entry : entries_) {
    if (matches(entry.from, tensor, texts))
      return {filled(entry.to, texts), entry.transposed, texts.empty()};
  }
  return {std::string(tensor), false, false};
}

}  // namespace halftone
