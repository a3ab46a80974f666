// SPDX-License-Identifier: Apache-2.0
// The kernels of a program on a device: their texts compiled, one module loaded for each.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "driver_context.hpp"
#include "program_plan.hpp"

namespace halftone {

/// What a driver loads of a text.
struct KernelImage {
  std::string name;  ///< the first kernel's
  std::shared_ptr<const std::string> bytes;
};
using KernelImages = std::map<std::int32_t, KernelImage>;  ///< by text

/// The texts that hold these kernels, without their bytes.
[[nodiscard]] KernelImages texts_of(const ProgramPlan& plan, std::span<const std::size_t> kernels);

/// Their images: what was compiled ahead of time, or compiled on the device's threads. Throws Error
/// with the compiler's words.
[[nodiscard]] KernelImages images_of(const ProgramPlan& plan, DriverContext& context,
                                     std::span<const std::size_t> kernels);

/// Modules are the program's own, since some kernels count their blocks in a variable of theirs.
class DriverModules {
 public:
  /// `images` hold `kernels`.
  DriverModules(const ProgramPlan& plan, DriverContext& context,
                std::span<const std::size_t> kernels, const KernelImages& images);

  /// One of `kernels`.
  [[nodiscard]] DriverFunction function(std::size_t kernel) const { return functions_[kernel]; }

 private:
  std::vector<OwnedModule> modules_;
  std::vector<DriverFunction> functions_;  // by kernel
};

}  // namespace halftone
