// SPDX-License-Identifier: Apache-2.0
// How the manifest's enumerators are spelled for people, as in the text form and in the
// specification, and what names of buffers begin with.
#pragma once

#include <string_view>

#include "halftone/manifest/manifest.hpp"

namespace halftone::manifest {

/// In front of a state's name: the buffer of what it was before a step of several micro-batches.
inline constexpr std::string_view kBeforeStep = "before=";

/// In front of the digest of their names: delayed scales, which passes read and updates move (P72),
/// and the largest magnitudes of the steps that they follow.
inline constexpr std::string_view kDelayedScales = "scales=", kAmaxes = "amaxes=";

/// Whether the optimizer's state is read by forward and backward passes, not by updates alone.
[[nodiscard]] inline bool scales_passes(const Buffer& buffer) {
  return buffer.name == "loss_scale" || buffer.name.starts_with(kDelayedScales);
}

[[nodiscard]] std::string_view spelled(Role role);             ///< "working_copies"
[[nodiscard]] std::string_view spelled(Phase phase);           ///< "loss_backward"
[[nodiscard]] std::string_view spelled(ValueRole role);        ///< "weight_gradient"
[[nodiscard]] std::string_view spelled(Pass pass);             ///< "input_gradient"; "none"
[[nodiscard]] std::string_view spelled(LossScale::Kind kind);  ///< "dynamic"

}  // namespace halftone::manifest
