// SPDX-License-Identifier: Apache-2.0
#include "caps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace halftone::bench {

namespace {

std::string two_digits(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", ratio);
  return text;
}

}  // namespace

Caps Caps::parse(const std::string& text) {
  Caps caps;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string kernel, ratio;
    double most = 0;
    if (!(words >> kernel >> ratio >> most) || most <= kMostOverFloor)
      throw std::runtime_error("'" + line + "' is no 'MODEL/KERNEL RATIO MOST' above " +
                               two_digits(kMostOverFloor));
    caps.most_[{kernel, ratio}] = most;
  }
  return caps;
}

void Caps::add(const std::string& kernel, const Floor& floor) {
  for (const Excess& excess : floor.excesses) {
    double& most = most_[{kernel, excess.ratio}];
    most = std::max(most, excess.value);
  }
}

std::string Caps::differences(const Caps& measured) const {
  std::string all;
  for (const auto& [key, value] : measured.most_) {
    const auto cap = most_.find(key);
    const std::string who = key.first + " has a ratio of " + key.second + " of ";
    if (cap == most_.end())
      all += who + two_digits(value) + ", and no recorded cap\n";
    else if (value > cap->second)
      all += who + two_digits(value) + ", above its cap of " + two_digits(cap->second) + "\n";
  }
  for (const auto& [key, most] : most_)
    if (!measured.most_.contains(key))
      all += key.first + " " + key.second + " is recorded and no kernel needs it\n";
  return all;
}

std::string Caps::text() const {
  std::string all;
  for (const auto& [key, most] : most_)
    all += key.first + " " + key.second + " " + two_digits(std::ceil(most * 20) / 20) + "\n";
  return all;
}

}  // namespace halftone::bench
