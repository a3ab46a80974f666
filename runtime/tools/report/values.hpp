// SPDX-License-Identifier: Apache-2.0
// What roundings did to values, as a table of one step and as a picture of a run.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "run_file.hpp"

namespace halftone::tools {

/// The roundings among the values, the worst first, with their magnitudes as pictures and what they
/// mean; empty where there is none.
[[nodiscard]] std::string roundings_table(std::span<const ValueStatistics> values);

/// Of a run's samples: what each rounding lost, step by step, the table of the last one, and the
/// stages that it entered. Empty where the run has neither.
[[nodiscard]] std::string roundings_of(const LoggedRun& run, std::int64_t first, std::int64_t last);

}  // namespace halftone::tools
