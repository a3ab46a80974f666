// SPDX-License-Identifier: Apache-2.0
// A training step of GPT-2 at its own width on simulated chips: of one block, since a block is as
// the next, and of 512 words.
#include <doctest/doctest.h>

#include <cstdio>
#include <gpt2_block_model.hpp>
#include <string>
#include <vector>

#include "simulated/inputs.hpp"

namespace simulated {

namespace gpt2 = models::gpt2_block;

TEST_CASE("an ordered step of a GPT-2 block has the CPU's bits on simulated chips") {
  const gpt2::Options sizes{.batch = 2, .times = 8, .seed = 3};
  std::vector<std::int32_t> words, next;
  for (std::int32_t i = 0; i < 16; ++i) {
    words.push_back(37 * i % 512);
    next.push_back((37 * i + 11) % 512);
  }
  gpt2::Trainer expected(halftone::Device::cpu(), sizes);
  const auto first = weights_of(expected);
  expected.step(words, next);
  REQUIRE(expected.updated());
  const auto weights = weights_of(expected);
  CHECK(weights != first);
  for (const char* chip : {"sm_80", "sm_90a"}) {
    CAPTURE(std::string(chip));
    gpt2::Trainer trainer(halftone::Device::simulated(chip), sizes);
    CHECK(weights_of(trainer) == first);
    trainer.step(words, next);
    REQUIRE(trainer.updated());
    CHECK(bits(trainer.output("logits")) == bits(expected.output("logits")));
    const float loss[] = {trainer.loss("error"), expected.loss("error")};
    CHECK(bits(std::span(loss, 1)) == bits(std::span(loss + 1, 1)));
    CHECK(weights_of(trainer) == weights);
    std::printf("%s: loss %.4f, %zu tensors of parameters with the CPU's bits\n", chip, loss[0],
                weights.size());
  }
}

}  // namespace simulated
