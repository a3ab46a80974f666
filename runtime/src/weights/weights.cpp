// SPDX-License-Identifier: Apache-2.0
// What of Trainer and Predictor reads and writes files of weights, apart from their own files:
// programs that do neither are linked without it.
#include "../files/replace_file.hpp"
#include "../generate/generator_state.hpp"
#include "../predictor_state.hpp"
#include "../trainer_state.hpp"
#include "weights_file.hpp"

namespace halftone {
namespace {

void write(const BoundProgram& program, const std::filesystem::path& file,
           const SaveWeightsOptions& options) {
  const Snapshot snapshot = weights_of(program, options);
  replace_file(system_file_calls(), "save_weights", file, snapshot.parts(), 0);
}

LoadedWeights read(BoundProgram& program, const std::filesystem::path& file,
                   const LoadOptions& options) {
  const std::vector<std::byte> bytes = read_file(system_file_calls(), "load_weights", file);
  return take_weights(program, bytes, file.string(), options);
}

}  // namespace

void Trainer::save_weights(const std::filesystem::path& file,
                           const SaveWeightsOptions& options) const {
  const auto state = use("save_weights");
  state->saving.finish();
  write(state->program, file, options);
}

LoadedWeights Trainer::load_weights(const std::filesystem::path& file, const LoadOptions& options) {
  const auto state = use("load_weights");
  state->saving.finish();
  return read(state->program, file, options);
}

void Predictor::save_weights(const std::filesystem::path& file,
                             const SaveWeightsOptions& options) const {
  write(use("save_weights")->program, file, options);
}

LoadedWeights Generator::load_weights(const std::filesystem::path& file,
                                      const LoadOptions& options) {
  return read(use("load_weights")->program, file, options);
}

LoadedWeights Predictor::load_weights(const std::filesystem::path& file,
                                      const LoadOptions& options) {
  return read(use("load_weights")->program, file, options);
}

}  // namespace halftone
