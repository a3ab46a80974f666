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

/// `indices`: what the index operands hold at the element, as i32.
Value loadGeneral(Code &code, Frame &frame, unsigned input, const ColumnRange &element,
                  mlir::ValueRange indices);

} // namespace halftone::cpu

#endif
