// SPDX-License-Identifier: Apache-2.0
// A program launch by launch, on the CPU and on a simulated chip, or by products of bf16: each
// kernel is given the operands that the CPU recorded, so that no difference can hide behind an
// earlier one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bind.hpp"
#include "contraction_text.hpp"
#include "halftone/artifact.hpp"
#include "halftone/device.hpp"

namespace halftone::tests {

/// What the kernels of one model did on one chip.
struct Tally {
  std::int64_t launches = 0;      ///< compared with the CPU's bits
  std::int64_t exact_sums = 0;    ///< launches of class B, with operands whose sums are exact
  std::int64_t differing = 0;     ///< of both, and results per row of class B kernels
  std::int64_t bounded = 0;       ///< elements of class B, of the CPU's operands, held to N8
  std::int64_t outside = 0;       ///< of them
  std::set<std::string> kernels;  ///< that were run
  std::string first;              ///< the first difference

  [[nodiscard]] bool clean() const { return differing == 0 && outside == 0; }
};

enum class Inputs {
  ordinary,  ///< in [-1, 1)
  hostile,   ///< every 13th a NaN, an infinity, a zero of either sign or a subnormal
};

class Replay {
 public:
  /// Decides by a kernel's text whether its launches are compared; the CPU runs all. It is asked
  /// once for every kernel that the program launches. The `chip` may be this CPU with products of
  /// bf16.
  using Filter = std::function<bool(const std::string& text)>;

  Replay(const Artifact& artifact, const Device& chip, const Setup& setup,
         const Filter& filter = {}, std::string_view program = "training");

  /// Random inputs, then every launch of every phase. A kernel of class A, or ordered, must give
  /// the CPU's bits. One of class B runs twice: with operands that are multiples of 1/4 of at most
  /// 1, whose products have exact sums in any order, it must give them too; with the CPU's operands
  /// its sums of lhs must, and what it stores of its other sums must obey N8.
  void step(std::uint64_t seed, Tally& tally, Inputs inputs = Inputs::ordinary);

 private:
  void draw_inputs(std::uint64_t seed, Inputs inputs);
  void replay(manifest::Phase phase, std::size_t launch, Tally& tally);
  void replay_exactly(manifest::Phase phase, std::size_t launch, Tally& tally);
  /// Whether the argument's whole buffer has the CPU's bits; if not, the tally says so.
  bool compare(const manifest::Launch& launch, std::size_t argument, Tally& tally,
               const char* when = "");
  void compare_class_b(const manifest::Launch& launch, Tally& tally);
  void hold_to_bound(const manifest::Launch& launch, const ContractionText& text,
                     const SumResult& result, Tally& tally);
  /// Whose texts say which results are sums; for a CPU sm_80's.
  [[nodiscard]] const manifest::CudaTarget& target() const;
  [[nodiscard]] bool is_class_b(const manifest::Launch& launch) const;
  [[nodiscard]] std::vector<std::byte> bytes_of(BoundProgram& program, std::size_t buffer) const;
  [[nodiscard]] std::vector<float> values_of(BoundProgram& program,
                                             const manifest::Argument& argument) const;
  void hand_over(const manifest::Launch& launch);
  void fill_exactly(const manifest::Launch& launch);
  /// Of "128LL" or "symbol_batch * symbol_time".
  [[nodiscard]] std::size_t value_of(const std::string& product) const;
  [[nodiscard]] std::string place(const manifest::Launch& launch, std::size_t argument,
                                  std::size_t element) const;

  BoundProgram cpu_, chip_;
  std::vector<bool> compared_;                               ///< by kernel
  std::vector<std::optional<ContractionText>> contraction_;  ///< by kernel
  std::uint64_t drawn_ = 0;
};

}  // namespace halftone::tests
