// SPDX-License-Identifier: Apache-2.0
// Adafactor (U18): an update of each parameter by itself, whose second moments are, of a matrix,
// means over its rows and over its columns.
#ifndef HALFTONE_PASSES_FACTOREDUPDATE_H
#define HALFTONE_PASSES_FACTOREDUPDATE_H

#include "codegen/passes/Optimizers.h"
#include "codegen/passes/Schedules.h"

namespace halftone::ir {

class FactoredForm : public OptimizerForm {
public:
  explicit FactoredForm(mlir::DictionaryAttr attributes);

  const FactoredForm *factored() const override { return this; }
  llvm::SmallVector<Scalar> moments() const override { return {}; }
  /// Behind the number of updates, in two digits of base 2^20: the share that an update has in the
  /// means, and the largest rate.
  llvm::SmallVector<Scalar> carriedScalars() const override;
  llvm::SmallVector<mlir::Value> nextScalars(Scalars &s, mlir::ValueRange carried) const override;
  static constexpr unsigned kShare = 2, kLargestRate = 3; ///< of these
  /// `element.moments` has the estimate of the gradient's square, `element.number` the step's
  /// factor.
  llvm::SmallVector<mlir::Value> updateElement(Scalars &s, const Element &element) const override;

  mlir::Value step(Scalars &s, mlir::Value gradient, mlir::Value estimate) const;
  /// Of the mean over a matrix's rows, what products of means are divided by.
  mlir::Value divisor(Scalars &s, mlir::Value mean) const;
  /// Of so many elements' sums of squares of the parameter and of its step.
  mlir::Value factor(Scalars &s, mlir::Value ofParameter, mlir::Value ofStep, int64_t elements,
                     mlir::Value learningRate, mlir::Value largestRate) const;

private:
  double decayRate, epsilon1, epsilon2, clipThreshold;
};

/// What all parameters' updates read: flat buffers and scalars.
struct FactoredOperands {
  mlir::Value parameters = {}, gradients = {}, averages = {}; ///< the last null without averages
  mlir::Value learningRate = {}, finite = {}, coefficient = {}, inverse = {};
  mlir::Value share = {}, largestRate = {};
  mlir::Value weightDecay = {}, averageShare = {};
};

class FactoredUpdate {
public:
  /// U0 and U2 of an element of the gradient, of the coefficient and the inverse.
  using Gradient = llvm::function_ref<mlir::Value(Scalars &, mlir::Value gradient,
                                                  mlir::Value coefficient, mlir::Value inverse)>;

  FactoredUpdate(mlir::OpBuilder &builder, mlir::Location loc, const FactoredForm &form,
                 const AverageForm &averages, const FactoredOperands &all, Gradient gradientOf)
      : builder(builder), loc(loc), form(form), averages(averages), all(all),
        gradientOf(gradientOf) {}

  /// Builds that of one parameter, in the phase of updates; fails with a diagnostic where a row
  /// would be longer than kernels sum.
  llvm::LogicalResult build(ParameterOp parameter);

private:
  struct Views;

  llvm::LogicalResult buildMatrix(ParameterOp parameter, const Views &views);
  void buildRow(ParameterOp parameter, const Views &views);
  /// The new values of an element, of its factor and the estimate of its gradient's square; `a` are
  /// what operandsOf() lists.
  llvm::SmallVector<mlir::Value> updated(Scalars &s, mlir::ValueRange a, ParameterOp parameter,
                                         mlir::Value factor, mlir::Value estimate);
  llvm::SmallVector<mlir::Value> operandsOf(const Views &views);
  void assignUpdated(const Views &views, mlir::ValueRange next);

  mlir::Value gradient(Scalars &s, mlir::ValueRange a);
  mlir::Value learningRate(Scalars &s, mlir::Value rate, ParameterOp parameter);
  mlir::Value state(llvm::StringRef of, ParameterOp parameter, llvm::ArrayRef<int64_t> dims);
  TensorType type(llvm::ArrayRef<int64_t> dims);
  mlir::Value seen(mlir::Value flat, ParameterOp parameter, TensorType shape);
  MapOp map(const llvm::Twine &label, const Space &space, mlir::ValueRange inputs,
            llvm::ArrayRef<TensorType> results, ScalarCode code);
  void assign(mlir::Value to, mlir::Value next);
  AccessAttr access(AccessKind kind);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const FactoredForm &form;
  const AverageForm &averages;
  const FactoredOperands &all;
  Gradient gradientOf;
};

} // namespace halftone::ir

#endif
