// SPDX-License-Identifier: Apache-2.0
// The model of adaptation.halftone, in one of its stages, and inputs that its formats lose.
#pragma once

#include <cstdint>
#include <string>

#include "artifacts.hpp"
#include "halftone/adaptation.hpp"
#include "own_pair.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

inline constexpr std::int64_t kBatch = 6;
/// Gradients of this many times the targets' differences are below what f8e4m3 has.
inline constexpr float kFaint = 0x1p-14f;

inline Pair pair_in(const std::string& stage) {
  Pair pair = make_pair(find_artifact("adaptation"), tested_variant, kBatch);
  pair.trainer.enter(stage);
  return pair;
}

/// Inputs of a step whose gradients are so much smaller.
inline void draw(Pair& pair, float targets = 1.0f) {
  pair.draw();
  if (targets == 1.0f) return;
  // The output and a little more.
  pair.trainer.forward(pair.named_inputs());
  const auto output = pair.trainer.output("y");
  auto& wanted = pair.inputs.values.at("wanted");
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = output[i] + targets * wanted[i];
}

inline AdaptationOptions by_layer(std::int64_t window, std::int64_t windows = 1) {
  return {
      .moves = {{.from = "f8",
                 .to = "f8_but_head",
                 .layers = "head",
                 .most_flushed = 0.5,
                 .windows = windows},
                {.from = "f8_but_head", .to = "f32", .layers = "{act,fc}", .most_flushed = 0.5}},
      .window = window};
}

}  // namespace halftone::tests
