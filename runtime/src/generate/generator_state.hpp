// SPDX-License-Identifier: Apache-2.0
// What a Generator holds: the program that decodes, and how long its sequences are.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "../bind.hpp"
#include "../in_use.hpp"
#include "caches.hpp"
#include "halftone/generator.hpp"

namespace halftone {

/// Where the program's inputs, symbols and logits are.
struct DecodeLayout {
  std::size_t tokens = 0, start = 0, count = 0, logits = 0;  ///< buffers
  std::size_t batch = 0, time = 0, rows = 0;                 ///< symbols, the last of the caches
};

struct Generator::State {
  State(const Artifact& artifact, const Device& device, const GeneratorSizes& sizes);

  /// Reads the next tokens of every sequence, at most `time` of each.
  void read(std::span<const Tokens> tokens, std::int64_t time);
  /// All of the prompts, of which the longest has so many tokens, chunk by chunk.
  void read_prompts(std::span<const Tokens> prompts, std::size_t longest);
  /// Throws Error where a sequence that has `before` tokens may not take these, too, or one is
  /// negative.
  void check(const char* operation, std::span<const std::int64_t> before,
             std::span<const Tokens> tokens) const;
  [[nodiscard]] std::span<const float> prefill(const char* operation,
                                               std::span<const Tokens> prompts);
  [[nodiscard]] std::span<const float> step(const char* operation,
                                            std::span<const std::int32_t> tokens);
  [[nodiscard]] std::span<const float> logits_of(std::size_t sequence) const;

  std::atomic<bool> in_use = false;
  GeneratorSizes sizes;
  BoundProgram program;
  DecodeLayout layout;
  Caches caches;
  std::int64_t vocabulary = 0;
  std::vector<std::int64_t> lengths;  ///< of the sequences of the latest prefill
  std::vector<float> logits;          ///< behind the last token of each
};

}  // namespace halftone
