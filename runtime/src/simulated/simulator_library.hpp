// SPDX-License-Identifier: Apache-2.0
// libhalftone_simulator.so: what it gives, and how it is found when somebody asks for a simulated
// device. Nothing else of the simulator is in the runtime.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "../driver.hpp"

namespace halftone::simulator {
struct Chip;
struct LaunchOptions;
struct LaunchReport;
}  // namespace halftone::simulator

namespace halftone {

/// Is told of every launch, in order, before its findings become a status.
using ObserveLaunch = std::function<void(const std::string& entry, const simulator::LaunchReport&)>;

/// The first two members stay as they are in every release, so that a foreign library can be told;
/// what is behind them is used by those alone whose two members are equal.
struct SimulatorLibrary {
  const char* version;    ///< of Halftone: "0.1.0"
  const char* interface;  ///< a digest of the headers that both sides are compiled from

  std::span<const simulator::Chip> (*chips)();
  /// Null for a chip that it does not know.
  std::unique_ptr<Driver> (*open)(std::string_view chip, const simulator::LaunchOptions& options,
                                  ObserveLaunch observe);
};

/// The only symbol that the shared object exports, of type SimulatorEntry.
inline constexpr const char* kSimulatorEntry = "halftone_simulator";
using SimulatorEntry = const SimulatorLibrary*();

/// The simulator in `file` where one is named; otherwise the first libhalftone_simulator.so beside
/// the program, beside the shared object that the runtime is linked into, or where the loader looks
/// for it, which programs of this build and of the installed package tell. Throws Error, with the
/// loader's reason, where there is none, or the first is broken, foreign or of another release.
[[nodiscard]] const SimulatorLibrary& open_simulator(const std::string& file);

/// The one of HALFTONE_SIMULATOR, opened once in a process.
[[nodiscard]] const SimulatorLibrary& process_simulator();

}  // namespace halftone
