// SPDX-License-Identifier: Apache-2.0
// A driver that lies to nobody and fails when it is told to: device memory is the host's, kernels
// are those of line_artifact.cpp, and every call is written down.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driver_context.hpp"
#include "halftone/device.hpp"

namespace fake {

/// What happened, and what is to happen; outlives the driver.
struct Log {
  std::vector<std::string> calls;  ///< "allocate arena 1536", "launch line_forward 2 x 32"
  std::vector<std::string> graph;  ///< what the last capture wrote down
  std::size_t fail_at = 0;         ///< the call with this number, counted from 1, fails
  halftone::DriverStatus failure = {halftone::DriverStatus::Kind::failed, "the fake says no", ""};
  std::map<std::string, int> live;  ///< what was made and not given back, by kind
  std::int64_t held_bytes = 0;
  std::vector<std::string> compiled;  ///< "line_forward for sm_80"
  std::string refused_text;           ///< its compilation fails
  /// Called, by the thread that compiles, with every text that is compiled for one size.
  std::function<void(const std::string& text)> specialising = {};
  std::vector<std::string> loaded;  ///< images

  /// Nothing of what was made is left.
  [[nodiscard]] bool is_clean() const {
    for (const auto& [kind, count] : live) {
      if (count != 0) return false;
    }
    return held_bytes == 0;
  }
};

/// Of chip `chip`, named "fake:0". Whoever asks for separate buffers gets an allocation for each.
struct Options {
  std::string chip = "sm_80";
  bool separate_buffers = false;
  bool checks_launches = false;
  bool encodes_maps = false;
  int steps_in_flight = 4;
  std::int64_t free_bytes = std::int64_t{1} << 40;  ///< as the driver says it, whatever is held
  /// Of a graph with several streams all but the captured one go on as early as they may, not as
  /// late.
  bool others_early = false;
  std::size_t forgotten_wait = 0;  ///< of one stream for another, counted from 1: it is not made
  bool late = false;  ///< what is put on a stream is done when somebody waits for it, and only then
  bool idle = false;  ///< kernels and graphs do nothing, and calls are not written down
  std::string name = "fake:0";
  halftone::Jit jit = halftone::Jit::missing;
  std::function<halftone::Toolchain()> toolchain = {};
  /// What is to stand between the fake and the runtime.
  std::function<std::unique_ptr<halftone::Driver>(std::unique_ptr<halftone::Driver>)> wrapped = {};
};
[[nodiscard]] halftone::Device device(const std::shared_ptr<Log>& log = std::make_shared<Log>(),
                                      const Options& options = {});

}  // namespace fake
