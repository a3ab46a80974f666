// SPDX-License-Identifier: Apache-2.0
// The text that the example writes: each token is the likeliest of a full forward pass over what
// the generator is to have seen.
#include "writing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <halftone/predictor.hpp>

#include "training.hpp"

namespace {

constexpr std::int64_t kWindow = 12;

halftone::Generator generator_of(const halftone::Predictor& predictor) {
  halftone::Generator generator(rule_set("f32").decoder, halftone::Device::cpu(),
                                {.sequences = 1, .capacity = kWindow, .chunk = 5});
  generator.copy_parameters(predictor);
  return generator;
}

/// By logits of the last token. What stands behind it is seen by nothing in front of it.
halftone::Token likeliest(halftone::Predictor& predictor, std::span<const halftone::Token> seen) {
  std::array<std::int32_t, kWindow> window{};
  std::ranges::copy(seen, window.begin());
  predictor.predict(
      std::array{halftone::NamedValues{"token", std::span<const std::int32_t>(window)}});
  const auto logits =
      predictor.output("logits").subspan((seen.size() - 1) * kVocabulary, kVocabulary);
  return static_cast<halftone::Token>(std::ranges::max_element(logits) - logits.begin());
}

}  // namespace

TEST_CASE("a text goes on by full windows, and from the later half of a full one") {
  const auto device = halftone::Device::cpu();
  halftone::Predictor predictor =
      predictor_of(rule_set("f32"), device, {.batch = 1, .window = kWindow});
  halftone::Generator generator = generator_of(predictor);
  for (const std::size_t length : {1u, 7u, 12u, 30u}) {
    CAPTURE(length);
    std::vector<halftone::Token> text, taken;
    for (std::size_t i = 0; i < length; ++i)
      text.push_back(static_cast<halftone::Token>((i * 977 + 31) % kVocabulary));
    std::vector<halftone::Token> expected = text;
    std::size_t first = length > kWindow ? length - kWindow : 0;
    for (int i = 0; i < 20; ++i) {
      const auto seen = std::span(expected).subspan(first);
      expected.push_back(likeliest(predictor, seen));
      if (expected.size() - first > kWindow) first = expected.size() - (kWindow + 1) / 2;
    }
    continue_text(text, 20, generator, kWindow, {.temperature = 0},
                  [&](halftone::Token token) { taken.push_back(token); });
    CHECK(text == expected);
    CHECK(taken ==
          std::vector(expected.begin() + static_cast<std::ptrdiff_t>(length), expected.end()));
  }
}
