// SPDX-License-Identifier: Apache-2.0
// contraction.cu, compiled for a problem and run on the simulator: operands of every format, what
// the kernel stored, and what it had to store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "class_b.hpp"
#include "simulated.hpp"

namespace halftone::tests {

/// The parameters of tensor_contraction::Tile.
struct TilePlan {
  int rows, columns, depth, warp_rows, warp_columns, stages, lhs_bytes, rhs_bytes, splits = 1;

  [[nodiscard]] std::string text() const;
  [[nodiscard]] int threads() const { return 32 * (rows / warp_rows) * (columns / warp_columns); }
  /// README.md of kernels: shared memory of a block for elements of this size, of operands in
  /// blocks with so many scales of four bytes for each line of a stage.
  [[nodiscard]] int shared_bytes(int element_bytes, int scales_of_line = 0) const;
};

/// So many lines, none of which is summed over, by so many places of the sum have one scale.
struct ScaledBlocks {
  int lines = 1, places = 32;
};

enum class LhsSum { unused, per_row, by_elements };

/// Which instance of contraction.cu. `chip` is as in "80", formats are tf32, f16 or bf16: that of
/// lhs, input and result, and that of rhs where it is another. Or both are of 8 bits, or both of 4
/// in blocks of a line, input and result then of f32.
struct Instance {
  TilePlan tile;
  description::Element format = description::Element::bf16;
  bool transpose_lhs = false, transpose_rhs = true;
  int columns = 64;
  std::string chip = "80";
  int width = 4;
  LhsSum lhs_sum = LhsSum::per_row;
  std::optional<description::Element> rhs_format = std::nullopt;
  int batch = 1;          ///< so many products of their own
  bool promotes = false;  ///< of 8 bits: N14
  /// Of 8 bits, both or none: numbers are codes times powers of two, of one product without sums of
  /// lhs. Of 4 bits likewise, in blocks of 16 places with numbers of f8e4m3 as scales, of 32 with
  /// powers of two.
  std::optional<ScaledBlocks> lhs_blocks = std::nullopt, rhs_blocks = std::nullopt;
  bool by_factors = false;  ///< of 8 bits in blocks: by numbers of f32 in place of powers of two
  /// Of 8 bits or 4: sums in tensor memory. Of the tile rows are 128 and depth 128, in bytes;
  /// columns, stages and splits count.
  bool is_in_tensor_memory = false;
  /// Of 8 bits along the sum: by warp groups, each with tiles of its own where they take turns. Of
  /// the tile depth is 128; rows, columns, stages and splits count.
  bool is_by_groups = false, groups_take_turns = false;

  [[nodiscard]] description::Element rhs() const { return rhs_format.value_or(format); }
  /// Operands come by tensor copies into blocks that stay for many tiles.
  [[nodiscard]] bool has_maps() const { return is_in_tensor_memory || is_by_groups; }
  [[nodiscard]] bool is_of_4_bits() const { return encoding::traits(format).bits == 4; }
  /// Or of 4: whose sums keep what digits the instruction does.
  [[nodiscard]] bool is_of_8_bits() const { return encoding::traits(format).bits <= 8; }
  /// Of input and result.
  [[nodiscard]] description::Element element() const {
    return is_of_8_bits() ? description::Element::tf32 : format;
  }
  /// Of an operand in shared memory: two formats are widened to tf32.
  [[nodiscard]] int element_bytes() const {
    if (is_of_8_bits()) return 1;
    return format == description::Element::tf32 || rhs() != format ? 4 : 2;
  }
  [[nodiscard]] std::string text() const;
};

/// contraction.cu with the options of an instance. `target` is "compute" for PTX, "sm" for a cubin.
[[nodiscard]] Compilation compile(const Instance& instance, const std::string& target);

/// One launch's operands, exact in their format, in the order of memory.
struct Operands {
  long long rows, columns, depth;  ///< rows: of all products
  std::vector<float> lhs, rhs;     ///< (rows, depth), (batch, columns, depth), whatever the memory
  std::vector<float> input;        ///< (rows, columns)
  std::vector<float> bias, scale;  ///< (columns), (rows)
  /// Of operands in blocks, whose numbers lhs and rhs are: codes in their order, and a scale for
  /// each block, in that order, too.
  std::vector<float> lhs_codes = {}, rhs_codes = {}, lhs_scales = {}, rhs_scales = {};
};
/// Of so many rows in each product.
[[nodiscard]] Operands operands(const Instance& instance, long long rows, long long depth);

/// Numbers of operands in blocks: codes times scales, rounded to f32.
void scale_blocks(const Instance& instance, Operands& operands);

/// What a launch left behind.
struct Outcome {
  std::vector<float> sum, result;  ///< (rows, columns); result widened
  std::vector<float> row_sum;      ///< (rows)
  std::vector<std::uint32_t> counters;
  simulator::LaunchReport report;
};

/// Runs `ptx` with so many splits of the depth.
[[nodiscard]] Outcome run(const Instance& instance, const std::string& ptx,
                          const Operands& operands, int splits,
                          const simulator::LaunchOptions& options);

/// N3 of every row of lhs.
[[nodiscard]] std::vector<float> lhs_sums(const Operands& operands);

/// contraction.cu's `result` for the sums that it stored.
[[nodiscard]] std::vector<float> results(const Instance& instance, const Operands& operands,
                                         const Outcome& outcome);

/// Sums that N8 does not allow, or N13, N14 or N17, as sentences, at most `most`.
[[nodiscard]] std::vector<std::string> outside_class_b(const Operands& operands,
                                                       const Outcome& outcome,
                                                       Sums sums = Sums::toward_zero,
                                                       std::size_t most = 3);

}  // namespace halftone::tests
