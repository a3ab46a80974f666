// SPDX-License-Identifier: Apache-2.0
// What of a training program a checkpoint holds, tensor by tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../program_plan.hpp"

namespace halftone {

inline constexpr std::string_view kOwnTensors = "halftone/";

/// A tensor of a checkpoint and the part of a buffer that it is.
struct StatePart {
  std::string name;
  std::string type;  ///< as safetensors spells it
  std::vector<std::int64_t> shape;
  std::size_t buffer = 0;
  std::int64_t at = 0, bytes = 0;
};

/// Parameters under their names; "halftone/" and a buffer's name for the rest, and behind that the
/// parameter's, where the buffer holds something for each: the optimizer's state, the loss scale
/// and its counters, the user's states, the learning rate, weight decay and momentum.
[[nodiscard]] std::vector<StatePart> state_parts(const ProgramPlan& plan);

}  // namespace halftone
