// SPDX-License-Identifier: Apache-2.0
// What a Trainer holds; the predictor copies from it.
#pragma once

#include "bind.hpp"
#include "halftone/trainer.hpp"
#include "step.hpp"

namespace halftone {

struct Trainer::State {
  State(const Artifact& artifact, const Device& device, const Setup& setup)
      : program("trainer", artifact, device, "training", setup), step(program) {}

  BoundProgram program;
  Step step;
};

}  // namespace halftone
