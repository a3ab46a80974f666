// SPDX-License-Identifier: Apache-2.0
// One table per enumeration, in the order of its enumerators.
#include "halftone/manifest/spelling.hpp"

#include <array>

#include "fields.hpp"

namespace halftone::manifest {
namespace {

template <class Enum, std::size_t n>
std::string_view look_up(const std::array<std::string_view, n>& names, Enum value) {
  static_assert(n == static_cast<std::size_t>(kLast<Enum>) + 1);
  return names[static_cast<std::size_t>(value)];
}

}  // namespace

std::string_view spelled(Role role) {
  return look_up(
      std::to_array<std::string_view>(
          {"input", "parameters", "working_copies", "gradients", "accumulated", "optimizer_state",
           "state", "activation", "output", "output_gradient", "input_gradient", "loss",
           "hyperparameter", "statistic", "counters", "cache", "remainders", "codes", "scales"}),
      role);
}

std::string_view spelled(Phase phase) { return form_of(phase).word; }

std::string_view spelled(ValueRole role) {
  return look_up(std::to_array<std::string_view>({"activation", "saved", "gradient", "weight",
                                                  "weight_gradient", "master", "optimizer_state"}),
                 role);
}

std::string_view spelled(Pass pass) {
  return look_up(
      std::to_array<std::string_view>({"forward", "input_gradient", "weight_gradient", "none"}),
      pass);
}

std::string_view spelled(LossScale::Kind kind) {
  return look_up(std::to_array<std::string_view>({"none", "fixed", "dynamic"}), kind);
}

}  // namespace halftone::manifest
