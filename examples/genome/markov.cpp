// SPDX-License-Identifier: Apache-2.0
#include "markov.hpp"

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>

namespace {

constexpr std::string_view kBases = "ACGT";

/// Which context it is, of 4^order.
std::size_t number_of(std::string_view context) {
  std::size_t number = 0;
  for (const char base : context) number = 4 * number + kBases.find(base);
  return number;
}

bool has_bases_alone(std::string_view text) {
  return text.find_first_not_of(kBases) == std::string_view::npos;
}

}  // namespace

std::string read_text(const std::filesystem::path& tokens) {
  std::ifstream in(tokens, std::ios::binary);
  if (!in)
    throw std::runtime_error("genome: cannot read " + tokens.string() +
                             "; make it with examples/genome/make_genome");
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::string text;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) text.push_back(bytes[i]);
  return text;
}

Markov::Markov(int order, double pseudo_count)
    : order_(order), pseudo_count_(pseudo_count), counts_(std::size_t{1} << (2 * order)) {}

void Markov::count(std::string_view text) {
  const auto order = static_cast<std::size_t>(order_);
  for (std::size_t i = order; i < text.size(); ++i)
    if (has_bases_alone(text.substr(i - order, order + 1)))
      counts_[number_of(text.substr(i - order, order))][kBases.find(text[i])] += 1;
}

double Markov::probability(std::string_view context, char base) const {
  const std::size_t order = static_cast<std::size_t>(order_);
  const auto& counts = counts_[number_of(context.substr(context.size() - order))];
  double sum = 0;
  for (const double count : counts) sum += count + pseudo_count_;
  return (counts[kBases.find(base)] + pseudo_count_) / sum;
}

double Markov::bits_per_base(std::string_view text, std::size_t first) const {
  double bits = 0;
  for (std::size_t i = first; i < text.size(); ++i)
    bits -= std::log2(probability(text.substr(0, i), text[i]));
  return bits / static_cast<double>(text.size() - first);
}

Markov best_markov(std::string_view training) {
  constexpr int kMostOrder = 8;
  const std::string_view line = training.substr(0, training.find('\n'));
  const std::size_t cut = line.size() / 10 * 9;
  double least = std::numeric_limits<double>::infinity();
  Markov best(0, 1);
  for (int order = 0; order <= kMostOrder; ++order)
    for (const double pseudo_count : {0.1, 1.0, 10.0}) {
      Markov chain(order, pseudo_count);
      chain.count(line.substr(0, cut));
      const double bits = chain.bits_per_base(line, cut);
      if (bits >= least) continue;
      least = bits;
      best = Markov(order, pseudo_count);
    }
  best.count(training);
  return best;
}
