// SPDX-License-Identifier: Apache-2.0
// Products of 8 bits in an artifact: which kernels have them, devices that give their texts a
// fault, and how far two trainers are from each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/device.hpp"
#include "halftone/simulator/device.hpp"
#include "halftone/trainer.hpp"
#include "replay.hpp"

namespace halftone::tests {

[[nodiscard]] Artifact artifact_of(const char* name);

/// Of a contraction's kernel: what its text multiplies, and why no 8 bits, or 4.
struct Product {
  bool is_of_8_bits = false, is_of_blocks = false, is_of_4_bits = false, is_by_factors = false,
       is_in_memory = false, promotes = false;
  std::string reason;
};
/// The chip's, by their kernels' names.
[[nodiscard]] std::map<std::string, Product> products_of(const char* artifact,
                                                         std::string_view chip);

/// A kernel's name without the number that tells it from others of its layer.
[[nodiscard]] std::string without_number(const std::string& kernel);
/// Why codes of rows of other lengths are not multiplied as such.
inline constexpr std::string_view kNoRowsOf4 =
    "rows of codes do not begin at multiples of 4 bytes, the least that is copied";
inline constexpr std::string_view kNoRowsOf16 =
    "rows of codes do not begin at multiples of 16 bytes, as tensor copies want";
/// Of the artifact "four_bits", those of two packed operands, where a chip multiplies these.
[[nodiscard]] const std::set<std::string>& products_of_4_bits();

/// In the text of every kernel that is asked for, `from` becomes `to`.
struct Mutant {
  const char* fault;
  std::string_view from, to;
};

/// Kernels that are asked for: whose text holds `run`. Of others only refreshes do anything where
/// they run alone.
struct Asked {
  std::string_view run;
  Mutant mutant = {};
  bool run_alone = false;
};
struct Watched {
  std::size_t findings = 0;
  int kernels = 0, changed = 0;  ///< compiled of those that are asked for, and with the fault
};
/// A simulated chip of which `watched` tells, which outlives it.
[[nodiscard]] Device watched_device(const char* chip, const simulator::LaunchOptions& options,
                                    const Asked& asked, Watched& watched);

inline constexpr simulator::LaunchOptions kTruncating = {
    .traffic = false, .accumulation = simulator::Accumulation::truncating};

/// Of a training step every product that is asked for, and nothing else, each beside the reference.
struct ProductsRun : Watched {
  Tally tally;
};
[[nodiscard]] ProductsRun run_products(const char* artifact, std::int64_t batch,
                                       const simulator::LaunchOptions& options, const char* chip,
                                       std::string_view run, const Mutant& mutant = {});

using Parameters = std::map<std::string, std::vector<float>>;
[[nodiscard]] Parameters parameters_of(const Trainer& trainer);

/// Of a parameter, as norms over its elements: how far it went, and how far another trainer's is
/// from where it is.
struct Course {
  double moved = 0, off = 0;
};
[[nodiscard]] Course course_of(const std::vector<float>& before, const std::vector<float>& wanted,
                               const std::vector<float>& got);

}  // namespace halftone::tests
