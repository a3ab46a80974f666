// SPDX-License-Identifier: Apache-2.0
// Values that every row of a tensor has one of, and its places share: [rows..., columns] beside
// [rows..., places..., columns].
#ifndef HALFTONE_IR_LAYERS_PLACES_H
#define HALFTONE_IR_LAYERS_PLACES_H

#include "codegen/ir/Forms.h"

namespace halftone::ir {

/// How an element of `domain` reads what its row shares with all places.
AccessAttr readShared(TensorType domain, TensorType shared);

/// How an element reads what does not depend on the domain's first dimensions.
AccessAttr readBehind(TensorType domain, TensorType behind);

/// For each row and column of `shared`, the first dimensions of x and its last one, the sum over
/// places (N3) of what `each` makes of `inputs`, x the first of them.
mlir::Value sumPlaces(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef label,
                      llvm::ArrayRef<AccessAttr> reads, mlir::ValueRange inputs, TensorType shared,
                      ScalarCode each = nullptr);

} // namespace halftone::ir

#endif
