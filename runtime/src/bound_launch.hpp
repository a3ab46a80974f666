// SPDX-License-Identifier: Apache-2.0
// A launch of a program on a device behind a driver, with the sizes of a run: its grid, the
// addresses and the sizes that its kernel is given, and what of the host's memory it sees.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver_context.hpp"
#include "driver_memory.hpp"
#include "driver_modules.hpp"

namespace halftone {

struct BoundLaunch {
  DriverFunction function{};
  DriverLaunch shape;                 ///< without its parameters
  std::vector<EncodedMap> maps;       ///< of the parameters, the first ones
  std::vector<std::uint64_t> values;  ///< of the others
  std::vector<HostPart> parts;        ///< of the host's memory that it sees (P91)
  std::vector<std::size_t> buffers;   ///< that it uses
  std::string kernel, entry;          ///< its names in the manifest and in the text
};

/// With the sizes and the rows of a chunk, where the launch is one of a section.
struct LaunchPlace {
  const Sizes& sizes;
  const manifest::Section* section = nullptr;
  std::int64_t begin = 0;    ///< element of the section's symbol
  std::size_t of_parts = 0;  ///< on the device, of a launch that sees parts of the host's memory
};

/// What launches are bound to.
struct LaunchTarget {
  const ProgramPlan& plan;
  DriverContext& context;
  const DriverMemory& memory;
  const DriverModules& modules;
};

/// Throws what ProgramPlan::refuse_launch does where a kernel cannot be launched with such sizes.
[[nodiscard]] BoundLaunch bind_launch(const LaunchTarget& to, const manifest::Launch& launch,
                                      const LaunchPlace& place);

}  // namespace halftone
