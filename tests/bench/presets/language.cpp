// SPDX-License-Identifier: Apache-2.0
// examples/language for 300 steps: the loss on text that is held out, in nats a token.
#include "training.hpp"
#include "worker.hpp"

Outcome train_under(const halftone::Artifact& artifact, const halftone::Device& device,
                    std::uint64_t seed, const std::filesystem::path& data) {
  constexpr std::int64_t kSteps = 300;
  const RuleSet rules{"preset", artifact, rule_set("f32").decoder};
  const Run run = train(rules, device,
                        {.training = data / "training.tok",
                         .held_out = data / "held_out.tok",
                         .sizes = {},
                         .steps = kSteps,
                         .seed = seed,
                         .look_every = kSteps,
                         .progress = false});
  return {run.held_out_loss, run.statistics};
}
