// SPDX-License-Identifier: Apache-2.0
// Everything that must hold in a manifest before the runtime trusts it.
#include "verify.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "sizes.hpp"

namespace halftone::manifest {
namespace {

constexpr std::int32_t kMostRegisterRows = 64, kMostRegisterColumns = 256, kMostTileDepth = 64;
constexpr std::int64_t kMostStride = 1 << 16, kStrideStep = 16;
constexpr std::int64_t kParameterAlignment =
    32;  // elements; the flat tree N4 needs whole groups of 32

std::string verify_parameters(const Manifest& manifest) {
  std::int64_t end = 0;  // of the parameters so far
  for (const Parameter& parameter : manifest.parameters) {
    const std::string who = quoted("parameter", parameter.name);
    std::int64_t count = 1;
    for (std::int64_t extent : parameter.shape) {
      if (extent <= 0 || __builtin_mul_overflow(count, extent, &count) || count > kLargest) {
        return who + " has an impossible shape";
      }
    }
    if (parameter.offset < end || parameter.offset % kParameterAlignment != 0 ||
        parameter.offset > manifest.parameter_elements ||
        count > manifest.parameter_elements - parameter.offset) {
      return who + " has an impossible offset";
    }
    end = parameter.offset + count;
    if (parameter.trained ? end > manifest.trained_elements
                          : parameter.offset < manifest.trained_elements) {
      return who + " lies on the wrong side of the trained elements";
    }
  }
  return {};
}

std::string verify_limits(const Manifest& manifest) {
  for (const Limit& limit : manifest.limits) {
    const std::string who = quoted("the limit of layer", limit.layer);
    if (!in_range(limit.symbol, manifest.symbols)) return who + " is of an unknown symbol";
    if (limit.least <= 0 || limit.most < limit.least) return who + " leaves no size";
  }
  return {};
}

bool sound(const Manifest& manifest, const Kernel& kernel) {
  const Blocking& blocking = kernel.blocking;
  if (blocking.tiles.empty()) return blocking == Blocking{};
  return blocking.tiles.size() == manifest.variants.size() && kernel.tasks.size() >= 2 &&
         std::ranges::all_of(std::span(kernel.tasks).last(2),
                             [](const TaskAxis& axis) { return axis.tile == 1; }) &&
         std::ranges::all_of(blocking.tiles,
                             [](const RegisterTile& tile) {
                               return tile.rows > 0 && tile.columns > 0 &&
                                      tile.lanes >= tile.rows && tile.lanes <= 2 * tile.rows &&
                                      tile.rows <= kMostRegisterRows &&
                                      tile.columns <= kMostRegisterColumns && tile.depth > 0 &&
                                      tile.depth <= kMostTileDepth;
                             }) &&
         blocking.stride >= 0 && blocking.stride <= kMostStride &&
         blocking.stride % kStrideStep == 0 && blocking.rhs >= -1 && blocking.lhs_neighbours >= 0 &&
         blocking.rhs_neighbours >= 0 && sound(manifest, blocking.depth);
}

std::string verify_kernels(const Manifest& manifest) {
  const bool is_of_cpu = std::ranges::find(manifest.targets, "cpu") != manifest.targets.end();
  std::set<std::int32_t> entries;  // which expect arguments of their own
  for (const Kernel& kernel : manifest.kernels) {
    for (const TaskAxis& axis : kernel.tasks) {
      const bool is_row = axis.tile == kMostColumns;  // whose length the runtime looks at
      if (axis.tile <= 0 || axis.tile > kLargest || !sound(manifest, axis.extent) ||
          (is_row && axis.extent.empty())) {
        return quoted("kernel", kernel.name) + " has an impossible task axis";
      }
    }
    if (!sound(manifest, kernel)) {
      return quoted("kernel", kernel.name) + " has impossible blocks";
    }
    if (kernel.cpu_entry < 0 || kernel.cpu_finish < -1) {
      return quoted("kernel", kernel.name) + " has an impossible entry";
    }
    const bool is_alone = entries.insert(kernel.cpu_entry).second &&
                          (kernel.cpu_finish == -1 || entries.insert(kernel.cpu_finish).second);
    if (is_of_cpu && !is_alone) {
      return quoted("kernel", kernel.name) + " has an entry of another kernel";
    }
  }
  return {};
}

std::string verify_stages(const Manifest& manifest) {
  if (manifest.during.empty() != manifest.stages.empty()) return "it holds in no stage";
  for (const std::string& stage : manifest.during) {
    if (std::ranges::find(manifest.stages, stage) == manifest.stages.end()) {
      return quoted("stage", stage) + " is unknown";
    }
  }
  return unique("stage that it holds in", manifest.during,
                [](const std::string& name) -> const std::string& { return name; });
}

}  // namespace

std::string verify(const Manifest& manifest) {
  if (manifest.model.empty()) return "the model has no name";
  if (manifest.trained_elements < 0 || manifest.trained_elements > manifest.parameter_elements ||
      manifest.parameter_elements > kLargest) {
    return "the numbers of parameter elements are impossible";
  }
  const auto itself = [](const std::string& name) -> const std::string& { return name; };
  const auto name_of = [](const auto& item) -> const std::string& { return item.name; };
  std::string why = unique("symbol", manifest.symbols, itself);
  if (why.empty()) why = unique("variant", manifest.variants, itself);
  if (why.empty()) why = unique("parameter", manifest.parameters, name_of);
  if (why.empty()) why = unique("input", manifest.inputs, itself);
  if (why.empty()) {
    why = unique(
        "input with a gradient", manifest.input_gradients,
        [](auto& wanted) -> auto& { return wanted.input; });
  }
  if (why.empty()) why = unique("output", manifest.outputs, name_of);
  if (why.empty()) why = unique("loss", manifest.losses, itself);
  if (why.empty()) why = unique("kept state", manifest.kept_states, itself);
  if (why.empty()) why = unique("stage", manifest.stages, itself);
  if (why.empty()) why = verify_stages(manifest);
  if (why.empty()) why = unique("kernel", manifest.kernels, name_of);
  if (why.empty()) why = unique("program", manifest.programs, name_of);
  if (why.empty()) why = verify_limits(manifest);
  if (why.empty()) why = verify_parameters(manifest);
  if (why.empty()) why = verify_kernels(manifest);
  if (why.empty()) why = verify_targets(manifest);
  if (why.empty()) why = verify_loss_scale(manifest);
  if (why.empty()) why = verify_decisions(manifest);
  for (const Program& program : manifest.programs) {
    if (!why.empty()) break;
    why = verify_program(manifest, program);
    if (why.empty()) why = verify_precision(manifest, program);
    if (why.empty()) why = verify_memory(manifest, program);
    if (!why.empty()) why = quoted("program", program.name) + ": " + why;
  }
  return why.empty() ? verify_arguments_of_kernels(manifest) : why;
}

}  // namespace halftone::manifest
