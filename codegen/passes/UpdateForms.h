// SPDX-License-Identifier: Apache-2.0
// What all parts of BuildUpdate read: the forms that a model's update has, and where its operations
// go.
#ifndef HALFTONE_PASSES_UPDATEFORMS_H
#define HALFTONE_PASSES_UPDATEFORMS_H

#include "codegen/passes/HeldStates.h"
#include "codegen/passes/Optimizers.h"
#include "codegen/passes/ParameterLayout.h"
#include "codegen/passes/Schedules.h"

namespace halftone::ir {

struct UpdateForms {
  /// Of a graph that trains, whose parameters it gives their places; operations go to its end.
  explicit UpdateForms(GraphOp graph);

  /// Whether the update takes sums over parts of the flat buffers (U15).
  bool hasNorms() const;
  mlir::Value state(llvm::StringRef name, llvm::ArrayRef<mlir::Attribute> dims, double initial,
                    Element element = Element::f32);
  mlir::Value hyperparameter(llvm::StringRef name, double initial);
  /// A hyperparameter of all optimizers, and the model's number for it.
  mlir::Value ofOptimizer(llvm::StringRef name);

  /// U0, and U2 of all parameters, of an element of the gradient.
  mlir::Value unscaled(Scalars &s, mlir::Value gradient, mlir::Value coefficient,
                       mlir::Value inverse) const;
  /// U2 of an element.
  mlir::Value cut(Scalars &s, mlir::Value gradient) const;

  GraphOp graph;
  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  mlir::Location loc;
  HeldStates held;
  std::unique_ptr<OptimizerForm> optimizer;
  ParameterLayout layout;
  ScheduleForm schedule;
  AverageForm averages;
};

} // namespace halftone::ir

#endif
