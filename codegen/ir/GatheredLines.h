// SPDX-License-Identifier: Apache-2.0
// How the lines of a matrix that a contraction gathers (docs/decisions/0031, 0037) lie in their
// source: its map taken apart into images, windows inside of an image, and the elements of a line.
#ifndef HALFTONE_IR_GATHEREDLINES_H
#define HALFTONE_IR_GATHEREDLINES_H

#include <array>

#include "codegen/ir/Accesses.h"

namespace halftone::ir {

/// A tap of a line: so many neighbours in memory, from a column of the source on.
struct Tap {
  int64_t elements = 0, offset = 0;
};

/// As CPUs read the lines of an access with a map: of a tap all are neighbours, or all outside.
/// Nothing where they are not, as where channels alternate with places.
std::optional<Tap> findTapOfLines(AccessAttr access, unsigned element, int64_t length);

/// As many taps one behind the other as a window has of the source's last dimension but one, whose
/// elements follow one another in memory, since channels are the source's columns and places are
/// neighbours: what lies outside of that dimension are the run's first or last taps. Nothing where
/// there is one tap, or where they lie otherwise.
std::optional<Tap> findRunOfLines(AccessAttr access, unsigned element, int64_t length,
                                  TensorType source);

struct GatheredLines {
  unsigned firstAxis = 0, lastAxis = 0; ///< [first, last) of the axes count lines, images first
  unsigned images = 0;    ///< so many of them are the source's own first dimensions behind no other
  unsigned element = 0;   ///< the axis that counts the elements of a line
  int64_t neighbours = 0; ///< so many of them, from a multiple of it on, lie side by side
  llvm::SmallVector<unsigned> batch; ///< for each axis of the batch the dimension that it is of
};

/// Of an access Lhs or Rhs with a map; nothing where lines lie otherwise than chips gather them.
std::optional<GatheredLines> findGatheredLines(AccessAttr access, const Axes &axes,
                                               unsigned batchAxes, TensorType source);

/// The windows of an image and its places, each a product of extents.
std::array<llvm::SmallVector<mlir::Attribute>, 2>
extentsOfImage(const GatheredLines &lines, const Axes &axes, TensorType source);

/// The number of the operand that the kernel, a contraction, gathers, if there is one.
std::optional<unsigned> findGatheredInput(KernelOp kernel);

/// How many elements of a matrix of the kernel's lie side by side, from multiples of it on,
/// whatever symbols stand for: a row, or of one that is gathered what chips take of a line.
int64_t countNeighbours(KernelOp kernel, unsigned input);

} // namespace halftone::ir

#endif
