// SPDX-License-Identifier: Apache-2.0
#include "writing.hpp"

#include <algorithm>
#include <span>

void continue_text(std::vector<halftone::Token>& text, std::int64_t count,
                   halftone::Generator& generator, std::int64_t window,
                   const halftone::Sampling& sampling,
                   const std::function<void(halftone::Token)>& take) {
  const auto read_last = [&](std::int64_t most) {
    const auto length = std::min(static_cast<std::int64_t>(text.size()), most);
    const halftone::Tokens last(text.end() - length, text.end());
    return generator.prefill(std::span(&last, 1));
  };
  std::span<const float> logits = read_last(window);
  for (std::int64_t i = 0; i < count; ++i) {
    const halftone::Token token = halftone::sample(logits, sampling, static_cast<std::uint64_t>(i));
    text.push_back(token);
    take(token);
    if (i + 1 == count) break;
    logits = generator.length(0) < window ? generator.step(std::span(&token, 1))
                                          : read_last((window + 1) / 2);
  }
}
