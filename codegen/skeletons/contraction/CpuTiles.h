// SPDX-License-Identifier: Apache-2.0
// Products of bf16 matrices by AMX, of operands that are packed as whole tiles (CpuPacking). A
// product adds 32 k to a tile of 16 by 16 sums: the even k one chain from zero, the odd k another,
// both added to one another and then to the sum ("Intel 64 and IA-32 Architectures Software
// Developer's Manual", volume 2, TDPBF16PS). So no bit depends on blocks whose depth is a multiple
// of 32.
#ifndef HALFTONE_SKELETONS_CONTRACTION_CPUTILES_H
#define HALFTONE_SKELETONS_CONTRACTION_CPUTILES_H

#include "codegen/skeletons/contraction/CpuPacking.h"

namespace halftone::skeletons {

class CpuTiles {
public:
  /// Whether the frame's variant has tiles.
  static bool run(const cpu::Frame &frame) {
    return frame.variant.products == cpu::Bf16Products::Tiles;
  }

  CpuTiles(cpu::Code &code, cpu::Frame &frame, const CpuPacking &packed)
      : code(code), frame(frame), packed(packed) {}

  /// Tiles are this thread's from here on; release() gives them back.
  void configure();
  void release();

  /// Adds the products of `rows` rows, 16 or 32, from the block's `row` on to the sums at `tile`,
  /// or sets those where `isLater` does not hold.
  void multiply(Value tile, Value row, int64_t rows, Value isLater, Value length);

private:
  void fetchNextPanel(Value k, Value rowInBlock);
  void emit(llvm::StringRef instruction, mlir::ValueRange operands);
  Value number(unsigned tile);

  cpu::Code &code;
  cpu::Frame &frame;
  const CpuPacking &packed;
};

} // namespace halftone::skeletons

#endif
