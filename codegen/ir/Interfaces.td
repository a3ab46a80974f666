// SPDX-License-Identifier: Apache-2.0
// What passes ask of an operation instead of switching over its kind.
#ifndef HALFTONE_INTERFACES_TD
#define HALFTONE_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Halftone_Layer : OpInterface<"Layer"> {
  let description = [{
    An operation of the user's model. Its first result is its value; others are inside of it, for its gradients alone. That
    of a loss has an element for every one, or for every row, of what it reads; import takes the mean.
  }];
  let cppNamespace = "::halftone::ir";
  let methods = [
    StaticInterfaceMethod<"The types of the results, given the type of the node in the Description and its settings.",
                          "::llvm::SmallVector<::mlir::Type>", "inferResults",
                          (ins "::halftone::ir::TensorType":$node, "::mlir::ValueRange":$operands,
                               "::mlir::DictionaryAttr":$settings), [{}],
                          [{ return {node}; }]>,
    InterfaceMethod<[{
      The gradients of the operands, one value or null each, given those of the results (null: no gradient arrives).
      Follows the table of gradients in docs/spec/description.md.
    }], "::llvm::SmallVector<::mlir::Value>", "buildGradients",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$resultGradients)>,
    InterfaceMethod<"What the gradient of an operand reads beside the gradient that arrives.",
                    "::llvm::SmallVector<::mlir::Value>", "readForGradient", (ins "unsigned":$operand), [{}],
                    [{ return ::llvm::SmallVector<::mlir::Value>($_op->getOperands()); }]>,
    InterfaceMethod<"How the elements of its value address each operand.",
                    "::llvm::SmallVector<::halftone::ir::AccessAttr>", "getOperandAccesses", (ins), [{}],
                    [{ return ::halftone::ir::inferOperandAccesses($_op); }]>,
    InterfaceMethod<"Whether its value is the elements of its operand, in their order, so that it lowers to a view.", "bool", "isView",
                    (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Of a loss under weights (D71): builds the scalar that its mean divides by. Null where that is the number of elements.
    }], "::mlir::Value", "buildDivisor", (ins "::mlir::OpBuilder &":$builder), [{}], [{ return ::mlir::Value(); }]>,
    StaticInterfaceMethod<"How many operands passes alone give it, behind those of its kind.", "unsigned", "countOperandsOfPasses",
                          (ins), [{}], [{ return 0; }]>,
    InterfaceMethod<[{
      Lets it go on from earlier times, in a program that decodes (G8). Says why it cannot.
    }], "::llvm::LogicalResult", "continueFrom", (ins "const ::halftone::ir::Continuation &":$before), [{}],
    [{ return ::halftone::ir::keepsTimesApart($_op, before); }]>,
    InterfaceMethod<"Builds the primitives that it stands for; returns what its results become.",
                    "::llvm::SmallVector<::mlir::Value>", "lower", (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def Halftone_KernelForm : OpInterface<"KernelForm"> {
  let description = [{ How a primitive becomes a kernel: its skeleton, how it addresses its operands, its scalar body. }];
  let cppNamespace = "::halftone::ir";
  let methods = [
    InterfaceMethod<"What people know it by in the list of what a kernel holds.", "::llvm::StringRef", "getNameInKernel", (ins), [{}],
                    [{ return $_op->getName().stripDialect(); }]>,
    InterfaceMethod<"The skeleton that can hold this operation.", "::halftone::ir::Skeleton", "getSkeleton">,
    InterfaceMethod<"The index space of the body's elements.", "::halftone::ir::TensorType", "getDomain">,
    InterfaceMethod<"How the body's elements address each operand.", "::llvm::SmallVector<::halftone::ir::AccessAttr>",
                    "getOperandAccesses">,
    InterfaceMethod<"How the body's elements address each result that the body stores.",
                    "::llvm::SmallVector<::halftone::ir::AccessAttr>", "getResultAccesses">,
    InterfaceMethod<[{
      Appends scalar operations for one element. `elements` holds one scalar per operand, null for Lhs and Rhs;
      `accumulator` is a contraction's sum. Returns one scalar per stored result, or, for an operation with a finish,
      the scalars to be summed over all elements; for a sum into segments, behind the summand its row.
    }], "::llvm::SmallVector<::mlir::Value>", "buildBody",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$elements, "::mlir::Value":$accumulator)>,
    InterfaceMethod<"Whether results come from a finish over sums of the whole domain.", "bool", "hasFinish", (ins), [{}],
                    [{ return false; }]>,
    InterfaceMethod<"Appends the finish: from the sums and the scalar operands to one scalar per result.",
                    "::llvm::SmallVector<::mlir::Value>", "buildFinish",
                    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$sums, "::mlir::ValueRange":$scalars), [{}],
                    [{ return {}; }]>
  ];
}

def Halftone_Graded : OpInterface<"Graded"> {
  let description = [{ An operation with functions of math.md that have a recipe for results of 16 bits. }];
  let cppNamespace = "::halftone::ir";
  let methods = [
    InterfaceMethod<"Makes it narrow (N10): it computes by those recipes what N10 says.", "void", "takeNarrowRecipes">
  ];
}

#endif
