// SPDX-License-Identifier: Apache-2.0
#include "sampling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <halftone/loader.hpp>
#include <halftone/sampling.hpp>
#include <map>

#include "sizes.hpp"

namespace {

constexpr std::string_view kBases = "ACGT";

std::map<std::string_view, double> frequencies(std::string_view text, int k) {
  std::map<std::string_view, double> found;
  const auto size = static_cast<std::size_t>(k);
  const auto runs = static_cast<double>(text.size() - size + 1);
  for (std::size_t i = 0; i + size <= text.size(); ++i) found[text.substr(i, size)] += 1 / runs;
  return found;
}

}  // namespace

std::vector<std::string> sample(halftone::Predictor& predictor, std::int64_t rows,
                                std::int64_t length, std::string_view prompt, std::uint64_t seed) {
  std::vector<std::string> texts(static_cast<std::size_t>(rows), std::string(prompt));
  const auto places = static_cast<std::size_t>(kRead);
  for (std::size_t place = prompt.size(); place < static_cast<std::size_t>(length); ++place) {
    std::vector<std::int32_t> bytes(texts.size() * places, 'A');  // what is behind is not seen
    for (std::size_t row = 0; row < texts.size(); ++row)
      std::ranges::copy(texts[row], &bytes[row * places]);
    predictor.predict(std::array{halftone::NamedValues{"text", std::span(std::as_const(bytes))}});
    const auto logits = predictor.output("logits");
    for (std::size_t row = 0; row < texts.size(); ++row) {
      std::array<float, 4> of_bases{};
      for (std::size_t i = 0; i < kBases.size(); ++i)
        of_bases[i] =
            logits[(row * places + place - 1) * kBytes + static_cast<std::size_t>(kBases[i])];
      const auto drawn =
          halftone::sample(of_bases, {.seed = seed}, place, static_cast<std::uint32_t>(row));
      texts[row].push_back(kBases[static_cast<std::size_t>(drawn)]);
    }
  }
  return texts;
}

std::string sample(const Markov& chain, std::int64_t length, std::string_view prompt,
                   std::uint64_t seed) {
  std::string text(prompt);
  while (static_cast<std::int64_t>(text.size()) < length) {
    std::array<float, 4> logits{};
    for (std::size_t i = 0; i < kBases.size(); ++i)
      logits[i] = static_cast<float>(std::log(chain.probability(text, kBases[i])));
    text.push_back(
        kBases[static_cast<std::size_t>(halftone::sample(logits, {.seed = seed}, text.size()))]);
  }
  return text;
}

double gc_content(std::string_view text) {
  return static_cast<double>(
             std::ranges::count_if(text, [](char base) { return base == 'G' || base == 'C'; })) /
         static_cast<double>(text.size());
}

double kmer_distance(std::string_view left, std::string_view right, int k) {
  const auto of_left = frequencies(left, k), of_right = frequencies(right, k);
  double sum = 0;
  for (const auto& [run, share] : of_left) {
    const auto found = of_right.find(run);
    sum += std::abs(share - (found == of_right.end() ? 0.0 : found->second));
  }
  for (const auto& [run, share] : of_right)
    if (!of_left.contains(run)) sum += share;
  return sum / 2;
}
