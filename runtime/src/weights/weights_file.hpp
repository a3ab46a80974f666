// SPDX-License-Identifier: Apache-2.0
// The bytes of files of weights, to and from a trainer's or predictor's parameters.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "../bind.hpp"
#include "../safetensors/snapshot.hpp"
#include "halftone/weights.hpp"

namespace halftone {

/// Throws Error for a finite parameter that the type rounds to infinity.
[[nodiscard]] Snapshot weights_of(const BoundProgram& program, const SaveWeightsOptions& options);

/// Gives parameters what the file holds. Throws Error, and changes nothing, where it is no sound
/// file or does not fit; `name` is the file's, for errors.
LoadedWeights take_weights(BoundProgram& program, std::span<const std::byte> file,
                           const std::string& name, const LoadOptions& options);

}  // namespace halftone
