// SPDX-License-Identifier: Apache-2.0
// What a loss scale adds to the end of a step: scalars carried from step to step, and their
// advance.
#ifndef HALFTONE_PASSES_LOSSSCALEFORM_H
#define HALFTONE_PASSES_LOSSSCALEFORM_H

#include "codegen/ir/Scalars.h"

namespace halftone::ir {

class LossScaleForm {
public:
  /// From the module's kLossScaleAttr; null for no loss scale.
  explicit LossScaleForm(mlir::DictionaryAttr settings) : settings(settings) {}

  /// The scalars of `graph`, the scale first: it is there since BuildBackward. Empty without one.
  llvm::SmallVector<mlir::Value> carried(GraphOp graph, mlir::OpBuilder &builder,
                                         mlir::Location loc) const;

  /// Their values after a step (L3, L4), in their order; empty when nothing advances.
  llvm::SmallVector<mlir::Value> next(Scalars &s, mlir::ValueRange carried,
                                      mlir::Value finite) const;

private:
  bool isDynamic() const {
    return settings && settings.getAs<mlir::StringAttr>("kind").getValue() == "dynamic";
  }
  double number(llvm::StringRef name) const {
    return settings.getAs<mlir::FloatAttr>(name).getValueAsDouble();
  }

  mlir::DictionaryAttr settings;
};

} // namespace halftone::ir

#endif
