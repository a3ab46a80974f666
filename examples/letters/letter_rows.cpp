// SPDX-License-Identifier: Apache-2.0
#include "letter_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

namespace {

constexpr std::int64_t kLetters = 26;

}  // namespace

halftone::Dataset read_letters(const std::string& file) {
  std::vector<std::string> alphabet;
  for (char letter = 'A'; letter <= 'Z'; ++letter) alphabet.emplace_back(1, letter);
  return halftone::Dataset::csv(file,
                                {{.input = "letter", .columns = {0}, .classes = alphabet},
                                 {.input = "features",
                                  .columns = {{1, 16}},
                                  .convert = {.scale = 1 / 7.5f, .offset = -1.0f}}},
                                {.header = false});
}

double accuracy(halftone::Predictor& predictor, halftone::Loader& loader) {
  std::int64_t right = 0;
  while (const auto batch = loader.next()) {
    predictor.evaluate(batch->inputs);
    const auto logits = predictor.output("logits");
    const auto input = std::ranges::find(batch->inputs, "letter", &halftone::NamedValues::name);
    const auto letters = std::get<std::span<const std::int32_t>>(input->values);
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const auto row = logits.subspan(i * kLetters, kLetters);
      right += std::ranges::max_element(row) - row.begin() == letters[i];
    }
  }
  return static_cast<double>(right) / static_cast<double>(loader.rows());
}
