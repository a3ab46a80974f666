// SPDX-License-Identifier: Apache-2.0
// What a Trainer holds; the predictor copies from it.
#pragma once

#include <atomic>

#include "bind.hpp"
#include "checkpoint/background.hpp"
#include "halftone/trainer.hpp"
#include "in_use.hpp"
#include "step.hpp"

namespace halftone {

struct Trainer::State {
  State(const Artifact& artifact, const Device& device, const Setup& setup)
      : program("trainer", artifact, device, "training", setup, BoundProgram::Stages::all),
        step(program, setup.seed) {}

  std::atomic<bool> in_use = false;
  BoundProgram program;
  Step step;
  Background saving;  ///< of a checkpoint
};

}  // namespace halftone
