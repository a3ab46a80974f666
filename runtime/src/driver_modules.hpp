// SPDX-License-Identifier: Apache-2.0
// The kernels of a program on a device: their texts compiled, one module loaded for each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "driver_context.hpp"
#include "program_plan.hpp"

namespace halftone {

/// Modules are the program's own, since some kernels count their blocks in a variable of theirs.
class DriverModules {
 public:
  /// Compiles on the device's threads. Throws Error with the compiler's words.
  DriverModules(const ProgramPlan& plan, DriverContext& context,
                std::span<const std::size_t> kernels);

  /// One of `kernels`.
  [[nodiscard]] DriverFunction function(std::size_t kernel) const { return functions_[kernel]; }

 private:
  std::vector<OwnedModule> modules_;
  std::vector<DriverFunction> functions_;  // by kernel
};

}  // namespace halftone
