// SPDX-License-Identifier: Apache-2.0
// What an optimizer adds to the update: per-element moments, scalars carried from step to step, one
// element's formula, and a number that sums over a parameter give its elements (U15).
#ifndef HALFTONE_PASSES_OPTIMIZERS_H
#define HALFTONE_PASSES_OPTIMIZERS_H

#include <memory>

#include "codegen/ir/Scalars.h"

namespace halftone::ir {

class FactoredForm;

class OptimizerForm {
public:
  struct Scalar {
    std::string name;
    double initial;
  };
  struct Element {
    mlir::Value parameter, gradient, learningRate, weightDecay;
    llvm::SmallVector<mlir::Value> moments, carried, hyperparameters;
    mlir::Value number = {}; ///< of its parameter, where countSums() is not 0
  };

  virtual ~OptimizerForm() = default;
  /// The flat buffers with one value per parameter element, and what each starts at.
  virtual llvm::SmallVector<Scalar> moments() const = 0;
  virtual llvm::SmallVector<Scalar> carriedScalars() const { return {}; }
  /// Scalars that the host sets, beside the learning rate and the weight decay.
  virtual llvm::SmallVector<Scalar> hyperparameters() const { return {}; }
  /// The carried scalars of the next finite step.
  virtual llvm::SmallVector<mlir::Value> nextScalars(Scalars &, mlir::ValueRange) const {
    return {};
  }
  /// The element's new parameter and moments; `element.carried` are those of this step.
  virtual llvm::SmallVector<mlir::Value> updateElement(Scalars &s,
                                                       const Element &element) const = 0;

  /// Of how many values of its elements a parameter's number is made.
  virtual unsigned countSums() const { return 0; }
  /// Whether the sums of a parameter, which decays or not, make its number; it is 1 otherwise.
  virtual bool sumsOver(bool /*decays*/) const { return true; }
  /// What of an element is summed; `element.number` is not known.
  virtual llvm::SmallVector<mlir::Value> summands(Scalars &, const Element & /*element*/) const {
    return {};
  }
  virtual mlir::Value numberOf(Scalars &, mlir::ValueRange /*sums*/) const { return {}; }

  /// Where parameters are updated one by one (FactoredUpdate.h); null of all others.
  virtual const FactoredForm *factored() const { return nullptr; }
};

/// From the module's kOptimizerAttr, and the training graph's OwnValueOps, which it erases with
/// itself.
std::unique_ptr<OptimizerForm> createOptimizer(mlir::DictionaryAttr attributes, GraphOp graph);

} // namespace halftone::ir

#endif
