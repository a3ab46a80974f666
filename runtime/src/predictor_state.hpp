// SPDX-License-Identifier: Apache-2.0
// What a Predictor holds.
#pragma once

#include <atomic>
#include <vector>

#include "bind.hpp"
#include "halftone/predictor.hpp"
#include "in_use.hpp"
#include "inputs.hpp"

namespace halftone {

struct Predictor::State {
  State(const Artifact& artifact, const Device& device, const Setup& setup)
      : program("predictor", artifact, device, "inference", setup) {
    const ProgramPlan& plan = program.plan();
    for (std::size_t input : plan.inputs_of(manifest::Phase::forward))
      inputs.push_back(input_place(plan, input));
    for (const std::string& name : plan.manifest().inputs) {
      if (const auto input = plan.find(name)) all_inputs.push_back(input_place(plan, *input));
    }
  }

  std::atomic<bool> in_use = false;
  BoundProgram program;
  std::vector<Place> inputs;      ///< of the forward phase
  std::vector<Place> all_inputs;  ///< of losses, too
};

}  // namespace halftone
