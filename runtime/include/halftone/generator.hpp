// SPDX-License-Identifier: Apache-2.0
// Text, token by token: the program that decodes, with keys and values of earlier tokens in caches,
// and the choice of tokens. docs/generation.md shows its use, docs/spec/generation.md its meaning.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/device.hpp"
#include "halftone/predictor.hpp"
#include "halftone/sampling.hpp"
#include "halftone/trainer.hpp"
#include "halftone/weights.hpp"

namespace halftone {

/// How large a generator is. Memory grows with sequences * capacity for the caches, and with
/// sequences * chunk for a pass. What a pass costs grows with the longest sequence, not with
/// `capacity`.
struct GeneratorSizes {
  std::int64_t sequences = 1;    ///< at most, side by side
  std::int64_t capacity = 1024;  ///< tokens of a sequence, those of its prompt among them
  std::int64_t chunk = 64;       ///< tokens of a prompt that one pass reads
};

struct GenerateOptions {
  Sampling sampling;
  std::int64_t tokens = 16;               ///< at most, of every sequence
  std::optional<std::int32_t> stop = {};  ///< the token that ends a sequence; it is its last one
};

using Tokens = std::vector<std::int32_t>;

/// Made from an artifact of `halftonec --decode`. Every method throws Error on misuse, and when the
/// generator was moved from. One thread at a time may use a generator.
class Generator {
 public:
  /// Parameters start at the values that a trainer with seed 0 starts from.
  Generator(const Artifact& artifact, const Device& device, const GeneratorSizes& sizes);
  Generator(Generator&&) noexcept;
  Generator& operator=(Generator&&) noexcept;
  ~Generator();

  /// As Predictor's.
  void copy_parameters(const Trainer& trainer);
  void copy_parameters(const Predictor& predictor);
  void copy_averages(const Trainer& trainer);
  [[nodiscard]] std::vector<std::string> parameter_names() const;
  void set_parameter(std::string_view name, std::span<const float> values);
  LoadedWeights load_weights(const std::filesystem::path& file, const LoadOptions& options = {});

  /// Forgets what was and reads one prompt for every sequence, of 1 to `capacity` tokens. Returns
  /// the logits of the token behind each, sequence by sequence, valid until the next call.
  std::span<const float> prefill(std::span<const Tokens> prompts);

  /// A token that leaves its sequence as it is.
  static constexpr std::int32_t kNone = -1;

  /// One more token for every sequence of prefill(). Returns logits likewise; those of a sequence
  /// that was given none stay.
  std::span<const float> step(std::span<const std::int32_t> tokens);

  /// How many tokens a sequence has.
  [[nodiscard]] std::int64_t length(std::size_t sequence) const;
  /// How many logits a token has.
  [[nodiscard]] std::int64_t vocabulary() const;

  /// What comes behind every prompt. Token t of sequence s is draw t of sequence s (G6).
  [[nodiscard]] std::vector<Tokens> generate(std::span<const Tokens> prompts,
                                             const GenerateOptions& options = {});

  /// As Predictor's.
  [[nodiscard]] std::string variant() const;
  [[nodiscard]] std::int64_t peak_bytes_predicted() const;

 private:
  struct State;
  [[nodiscard]] InUse<State> use(const char* operation) const;
  [[nodiscard]] const State& held(const char* operation) const;
  std::unique_ptr<State> state_;
};

}  // namespace halftone
