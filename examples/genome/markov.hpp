// SPDX-License-Identifier: Apache-2.0
// What a model of the next base has to be better than: a Markov chain of the bases before it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// The bytes of a file of tokens. Throws std::runtime_error where it cannot be read.
[[nodiscard]] std::string read_text(const std::filesystem::path& tokens);

/// Counts which base comes behind every `order` bases, and adds `pseudo_count` to each count.
class Markov {
 public:
  Markov(int order, double pseudo_count);

  /// What is no base ends a context.
  void count(std::string_view text);

  /// Of a base behind a context; bases are A, C, G, T, and of a context the last `order` count.
  [[nodiscard]] double probability(std::string_view context, char base) const;

  /// The mean of -log2 of the probability of text[first] and all behind it, contexts as long as the
  /// order.
  [[nodiscard]] double bits_per_base(std::string_view text, std::size_t first) const;

  [[nodiscard]] int order() const { return order_; }
  [[nodiscard]] double pseudo_count() const { return pseudo_count_; }

 private:
  int order_;
  double pseudo_count_;
  std::vector<std::array<double, 4>> counts_;
};

/// Order (0 to 8) and pseudo-count (0.1 to 10) are those under which the first nine tenths of the
/// first line tell its last tenth best; then all lines are counted.
[[nodiscard]] Markov best_markov(std::string_view training);
