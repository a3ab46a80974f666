// SPDX-License-Identifier: Apache-2.0
// `halftone bisect`: which rules of an artifact make its training on recorded data worse.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "halftone/bisect.hpp"

namespace CLI {
class App;
}

namespace halftone::tools {

struct BisectTask {
  std::string artifact, model, data, symbols, loss, reference, page;
  std::string stages, cycle;              ///< "warmup=500,full=100", as StageSchedule takes them
  std::string folder, halftonec, linker;  ///< empty: ARTIFACT.bisect, on PATH
  std::int64_t steps = 300;
  bool plain = false;  ///< neither fields nor layers of blamed rules
  BisectOptions options = {};
};

/// Its command line.
CLI::App& add_bisect(CLI::App& app, BisectTask& task);

/// Trains variants and writes the page; `say` gets what it came to, `tell` a line for each variant.
/// Throws, in one sentence, where something of the task is at fault.
void bisect(const BisectTask& task, const std::function<void(const std::string&)>& say,
            const std::function<void(const std::string&)>& tell);

}  // namespace halftone::tools
