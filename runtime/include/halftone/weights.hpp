// SPDX-License-Identifier: Apache-2.0
// Weights alone, to and from safetensors files: every parameter is a tensor of its own name and
// shape. Files of other projects are read by a map of names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halftone {

/// What weights are written as. f32 holds every parameter exactly; the others round it to nearest,
/// ties to even.
enum class WeightType : std::uint8_t { f32, f16, bf16 };

struct SaveWeightsOptions {
  WeightType as = WeightType::f32;
};

/// Which parameter takes a tensor of a file.
struct WeightName {
  std::string from;  ///< the tensor's name; a `*` stands for any text, as little as will do
  /// The parameter's; each `*` is what the one in its place in `from` stands for. Empty: tensors of
  /// that name are left out.
  std::string to;
  /// The tensor is a matrix [k, m] of the parameter [m, k]. Weights of linear layers are
  /// [outputs, inputs] here, as in torch.
  bool transposed = false;
};

struct LoadOptions {
  /// The first entry whose `from` is a tensor's name holds for it; a tensor without one is of the
  /// parameter of its own name.
  std::vector<WeightName> names = {};
  /// Parameters that the file lacks keep their values, and tensors that no parameter takes are left
  /// out; otherwise either is refused.
  bool partial = false;
};

struct LoadedWeights {
  /// The parameters that the file lacks, and the tensors that no parameter took, those that
  /// LoadOptions::names leaves out among them.
  std::vector<std::string> kept = {}, left_out = {};
};

}  // namespace halftone
