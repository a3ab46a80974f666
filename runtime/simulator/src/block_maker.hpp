// SPDX-License-Identifier: Apache-2.0
// Makes the blocks of a launch: memory poisoned, constants and special registers in place.
#pragma once

#include "launch.hpp"

namespace halftone::simulator {

[[nodiscard]] inline std::uint64_t count(Dim3 size) {
  return std::uint64_t{size.x} * size.y * size.z;
}

class BlockMaker {
 public:
  BlockMaker(Execution& launch, const Variables& variables)
      : launch_(launch), variables_(variables) {}

  /// The block of this number, x fastest.
  std::unique_ptr<Block> make(std::uint64_t number);
  /// Its memory serves another block.
  void take_back(std::unique_ptr<Block> block) { spare_.push_back(std::move(block)); }

 private:
  void prepare(const Block& block, Warp& warp, std::uint32_t index, std::byte* registers) const;
  void fill_constants(std::byte* registers) const;
  [[nodiscard]] std::uint64_t value_of(Special special, const Block& block, std::uint32_t warp,
                                       std::uint32_t lane) const;

  Execution& launch_;
  const Variables& variables_;
  std::vector<std::unique_ptr<Block>> spare_;
};

}  // namespace halftone::simulator
