// SPDX-License-Identifier: Apache-2.0
// The parts of a run, one line each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace halftone::manifest {

/// A step is forward, loss, loss_backward, backward, check, update. With micro-batches `accumulate`
/// follows each backward, the last one's too, and leaves the sum so far in the buffers `gradients`
/// and `accumulated`, the assigned values in the user's states; where first_micro_batch is not 0
/// the sum starts anew. `refresh` writes working copies when parameters were given values.
/// `external` multiplies gradients of outputs that the caller gave by the loss scale and takes the
/// place of loss_backward. Some gradients are made with their losses, in `loss`; then external
/// overwrites them.
enum class Phase : std::uint8_t {
  forward,
  loss,
  loss_backward,
  backward,
  accumulate,
  check,
  update,
  refresh,
  external
};

/// What makes a phase run.
enum class RunBy : std::uint8_t { step, micro_batch, given_parameters, given_gradients };

struct PhaseForm {
  Phase phase;
  std::string_view word;
  RunBy run_by;
  bool in_inference, in_diagnosis;  ///< `training` has all
};

/// In the order of execution.
inline constexpr PhaseForm kPhaseForms[] = {
    {Phase::refresh, "refresh", RunBy::given_parameters, true, true},
    {Phase::forward, "forward", RunBy::step, true, true},
    {Phase::loss, "loss", RunBy::step, true, true},
    {Phase::loss_backward, "loss_backward", RunBy::step, false, true},
    {Phase::external, "external", RunBy::given_gradients, false, true},
    {Phase::backward, "backward", RunBy::step, false, true},
    {Phase::accumulate, "accumulate", RunBy::micro_batch, false, false},
    {Phase::check, "check", RunBy::step, false, false},
    {Phase::update, "update", RunBy::step, false, false},
};
inline constexpr std::size_t kPhases = std::size(kPhaseForms);

constexpr const PhaseForm& form_of(Phase phase) {
  const PhaseForm* form = kPhaseForms;
  while (form->phase != phase) ++form;
  return *form;
}

}  // namespace halftone::manifest
