// SPDX-License-Identifier: Apache-2.0
// What of a training program a checkpoint holds, tensor by tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../bind.hpp"

namespace halftone {

inline constexpr std::string_view kOwnTensors = "halftone/";

/// A tensor of a checkpoint and the part of a buffer that it is.
struct StatePart {
  std::string name;
  std::string type;  ///< as safetensors spells it
  std::vector<std::int64_t> shape;
  std::size_t buffer = 0;
  std::int64_t at = 0, bytes = 0;
  /// Of masters that lie in two buffers (P69): a file has the f32, and `at` is as if they were one.
  bool is_split = false;
  /// Of codes how many share a scale (P86); and whether it is those scales.
  std::int64_t block = 0;
  bool is_scales = false;
  std::string former_name = {};  ///< that a file of an earlier release may have instead, or empty
  const BoundProgram::Turn* turn = nullptr;  ///< whose buffer it is; null: of the stage at hand
};

/// Parameters under their names; "halftone/" and a buffer's name for the rest, and behind that the
/// parameter's, where the buffer holds something for each: the optimizer's state, the loss scale
/// and its counters, the user's states, the learning rate, weight decay and momentum.
[[nodiscard]] std::vector<StatePart> state_parts(const ProgramPlan& plan);

/// Of all stages (P66), whichever the program is in. The first loss scale that there is has its
/// buffers' names, another one (P70) "halftone/STAGE/" before them, of the first stage that has it;
/// delayed scales (P75) have names of their own.
[[nodiscard]] std::vector<StatePart> state_parts(const BoundProgram& program);

}  // namespace halftone
