// SPDX-License-Identifier: Apache-2.0
// A training step launch by launch, on the CPU and on a simulated chip: each kernel is given the
// operands that the CPU recorded, so that no difference can hide behind an earlier one.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "bind.hpp"
#include "halftone/artifact.hpp"
#include "halftone/device.hpp"

namespace halftone::tests {

/// What the kernels of one model did on one chip.
struct Tally {
  std::int64_t launches = 0;      ///< compared with the CPU's bits
  std::int64_t exact_sums = 0;    ///< launches of class B, with operands whose sums are exact
  std::int64_t differing = 0;     ///< of both
  std::set<std::string> kernels;  ///< that were run
  std::string first;              ///< the first difference
};

class Replay {
 public:
  /// Decides by a kernel's text whether its launches are compared; the CPU runs all.
  using Filter = std::function<bool(const std::string& text)>;

  Replay(const Artifact& artifact, const Device& chip, const Setup& setup, Filter filter = {});

  /// Random inputs, then every launch of a step. A kernel of class A, or ordered, must give the
  /// CPU's bits. One of class B gets operands that are multiples of 1/4 of at most 1, whose
  /// products have exact sums in any order, and must then give them too.
  void step(std::uint64_t seed, Tally& tally);

 private:
  void draw_inputs(std::uint64_t seed);
  void replay(manifest::Phase phase, std::size_t launch, Tally& tally);
  void compare(const manifest::Launch& launch, bool exact_sums, Tally& tally);
  [[nodiscard]] bool is_class_b(const manifest::Launch& launch) const;
  [[nodiscard]] std::vector<std::byte> bytes_of(BoundProgram& program, std::size_t buffer) const;
  void hand_over(const manifest::Launch& launch);
  void fill_exactly(const manifest::Launch& launch);

  BoundProgram cpu_, chip_;
  std::vector<bool> compared_;  ///< by kernel
  std::uint64_t drawn_ = 0;
};

}  // namespace halftone::tests
