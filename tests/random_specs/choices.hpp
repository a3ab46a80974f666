// SPDX-License-Identifier: Apache-2.0
// Choices from a seed, the same with every standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>

namespace halftone::tests {

class Choices {
 public:
  explicit Choices(std::uint64_t seed) : engine_(seed) {}

  std::size_t below(std::size_t bound) { return engine_() % bound; }
  /// From `least` to `most`, both included.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::size_t>(most - least + 1)));
  }
  bool happens(int percent) { return below(100) < static_cast<std::size_t>(percent); }
  const auto& one_of(const auto& list) { return *(std::begin(list) + below(std::size(list))); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace halftone::tests
