// SPDX-License-Identifier: Apache-2.0
// Matrices of contractions that a map alone moves together, as the windows of a convolution: the
// kernel reads them from where they came from (docs/decisions/0031, 0037).
#ifndef HALFTONE_PASSES_GATHEREDMATRICES_H
#define HALFTONE_PASSES_GATHEREDMATRICES_H

#include "codegen/ir/Forms.h"

namespace halftone::ir {

struct GatheredMatrix {
  mlir::Value source;
  AccessAttr
      access;  ///< Lhs or Rhs with a map from the contraction's axes to the source's dimensions
  MapOp map;   ///< what moves it, and
  ViewOp view; ///< the matrix that is made of it
};

/// Of a contraction's operand, whether it is marked so or not; nothing where another operation than
/// a map that only moves makes it.
std::optional<GatheredMatrix> findGathered(ContractOp op, bool isLhs);

/// Whether the operation is part of such a matrix, marked by GatherMatrices, and no kernel of its
/// own.
inline bool isGathered(mlir::Operation *op) { return op && op->hasAttr(kGatheredAttr); }

} // namespace halftone::ir

#endif
