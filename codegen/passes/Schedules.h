// SPDX-License-Identifier: Apache-2.0
// What a schedule of the learning rate (U3) and averages of the parameters (U8) add to the end of a
// step and to one element's update.
#ifndef HALFTONE_PASSES_SCHEDULES_H
#define HALFTONE_PASSES_SCHEDULES_H

#include "codegen/passes/Optimizers.h"

namespace halftone::ir {

class ScheduleForm {
public:
  /// From the graph's ScheduleOp, if it has one.
  explicit ScheduleForm(GraphOp graph);

  bool isStated() const { return static_cast<bool>(op); }
  /// The number of updates, in two digits of base 2^20.
  llvm::SmallVector<OptimizerForm::Scalar> carriedScalars() const;
  llvm::SmallVector<mlir::Value> nextScalars(Scalars &s, mlir::ValueRange carried) const;
  /// What the learning rate is multiplied by after so many updates.
  mlir::Value factor(mlir::OpBuilder &builder, Scalars &s, mlir::ValueRange carried);
  void erase();

private:
  ScheduleOp op;
};

class AverageForm {
public:
  /// From the module's kAverageAttr; null for no averages.
  explicit AverageForm(mlir::FloatAttr kept) : kept(kept) {}

  bool isStated() const { return static_cast<bool>(kept); }
  llvm::SmallVector<llvm::StringRef> moments() const;
  /// The share that the new values have in the averages.
  llvm::SmallVector<OptimizerForm::Scalar> carriedScalars() const;
  llvm::SmallVector<mlir::Value> nextScalars(Scalars &s, mlir::ValueRange carried) const;
  mlir::Value updateElement(Scalars &s, mlir::Value share, mlir::Value parameter,
                            mlir::Value average) const;

private:
  mlir::FloatAttr kept;
};

} // namespace halftone::ir

#endif
