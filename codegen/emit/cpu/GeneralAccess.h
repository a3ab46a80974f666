// SPDX-License-Identifier: Apache-2.0
// Operands read by any affine map: as vectors where neighbours stay neighbours, otherwise every
// lane computes an index and reads for itself.
#ifndef HALFTONE_EMIT_CPU_GENERALACCESS_H
#define HALFTONE_EMIT_CPU_GENERALACCESS_H

#include "codegen/emit/cpu/Body.h"

namespace halftone::cpu {

/// Columns [column, column + lanes) of a row.
struct ColumnRange {
  Value row, column, mask; ///< mask: null for all lanes
  unsigned lanes;
};

/// Where a line of neighbours lies in an operand that is read by a map.
struct Line {
  Value index;  ///< of what the map's last dimension finds at 0
  Value inside; ///< whether all other dimensions are inside of the operand; null where they must be
};

/// At the places `axes` of the kernel's axes, each an i64. The last dimension is not looked at.
Line findLine(Code &code, Frame &frame, unsigned input, mlir::ValueRange axes);

/// The same of what the map's last two dimensions find at 0, neither of which is looked at, and of
/// the last but one the place that the map gives, and its extent where that may be outside.
struct Run {
  Line line;
  Value place, extent;
};
Run findRun(Code &code, Frame &frame, unsigned input, mlir::ValueRange axes);

/// `index` taken apart into places of `dims`, the last one fastest.
Values takeApart(Code &code, Frame &frame, Value index, llvm::ArrayRef<mlir::Attribute> dims);
Values takeApart(Code &code, Value index, mlir::ValueRange extents);

/// `indices`: what the index operands hold at the element, as i32.
Value loadGeneral(Code &code, Frame &frame, unsigned input, const ColumnRange &element,
                  mlir::ValueRange indices);

} // namespace halftone::cpu

#endif
