// SPDX-License-Identifier: Apache-2.0
// The laws of weights that a program holds as codes, and of the masters of all others.
#include "sizes.hpp"
#include "verify.hpp"

namespace halftone::manifest {
namespace {

std::int64_t count_elements(const Parameter& parameter) {
  std::int64_t count = 1;
  for (const std::int64_t extent : parameter.shape) count = times(count, extent);
  return count;
}

/// Whether so many elements lie in the buffer from `first` on.
bool lies_in(const Buffer& buffer, std::int64_t first, std::int64_t count) {
  return buffer.shape.size() == 1 && buffer.shape[0].symbol < 0 && first >= 0 &&
         count <= buffer.shape[0].extent && first <= buffer.shape[0].extent - count;
}

}  // namespace

std::string verify_quantized(const Manifest& manifest, const Program& program) {
  const auto scales = std::ranges::find(program.buffers, Role::scales, &Buffer::role);
  if (program.quantized.empty()) {
    const bool is_without =
        program.masters.empty() && scales == program.buffers.end() &&
        std::ranges::find(program.buffers, Role::codes, &Buffer::role) == program.buffers.end();
    return is_without ? "" : "it has codes of no weight";
  }
  if (program.name != "inference" && program.name != kDecode) return "it trains quantized weights";
  if (scales == program.buffers.end() || program.masters.size() != manifest.parameters.size()) {
    return "its quantized weights have no scales, or its other parameters no masters";
  }
  std::vector<bool> held(manifest.parameters.size(), false);
  for (const QuantizedWeight& weight : program.quantized) {
    if (!in_range(weight.parameter, manifest.parameters)) return "it has codes of no parameter";
    const auto index = static_cast<std::size_t>(weight.parameter);
    const Parameter& parameter = manifest.parameters[index];
    const std::string who = quoted("parameter", parameter.name);
    const bool is_known = !held[index] && program.masters[index] == -1 &&
                          in_range(weight.codes, program.buffers) && weight.dimension >= 0 &&
                          weight.dimension <= 1 && parameter.shape.size() > 1;
    if (!is_known) return who + " is held as impossible codes";
    held[index] = true;
    const Buffer& codes = program.buffers[static_cast<std::size_t>(weight.codes)];
    const std::int64_t channels = parameter.shape[static_cast<std::size_t>(weight.dimension)];
    if (codes.role != Role::codes ||
        !lies_in(codes, weight.first_code, count_elements(parameter)) ||
        !lies_in(*scales, weight.first_scale, channels)) {
      return who + " has codes or scales that lie outside of their buffer";
    }
  }
  const auto parameters = std::ranges::find(program.buffers, Role::parameters, &Buffer::role);
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i]) continue;
    if (parameters == program.buffers.end() ||
        !lies_in(*parameters, program.masters[i], count_elements(manifest.parameters[i]))) {
      return quoted("parameter", manifest.parameters[i].name) + " has no master";
    }
  }
  return {};
}

}  // namespace halftone::manifest
