// SPDX-License-Identifier: Apache-2.0
// docs/spec/precision.md, F1 to F4, as CUDA text: a narrow value is its code until it is widened.
#include "codegen/emit/cuda/Casts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace halftone::ir {

/// In the order of Element; codes have types of their own.
static std::array<std::string, encoding::kElements> namesOfCodes() {
  std::array<std::string, encoding::kElements> names;
  for (auto [name, traits] : llvm::zip(names, encoding::kElementTraits))
    name = std::string("halftone::kernels::") + traits.word;
  return names;
}

StringRef storedType(Type type) {
  static const std::array<std::string, encoding::kElements> names = namesOfCodes();
  if (isShort(type) || isDelivered(type))
    return names[static_cast<size_t>(elementOf(type))];
  return isNarrow(type) ? "float" : "";
}

static std::string roundingText(arith::TruncFOp op) {
  std::string text = "halftone::kernels::to_";
  llvm::raw_string_ostream stream(text);
  stream << encoding::word(elementOf(op.getType())) << "($a";
  auto mode = op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even);
  if (mode == arith::RoundingMode::toward_zero)
    stream << ", halftone::kernels::Rounding::toward_zero";
  else if (mode != arith::RoundingMode::to_nearest_even)
    return "";
  stream << ")";
  return text;
}

std::string castText(Operation *op) {
  if (auto integer = dyn_cast<IntegerOp>(op))
    return integer.getType().isF32() ? "static_cast<float>(halftone::kernels::integer_of($a))"
                                     : "halftone::kernels::integer_of($a)";
  if (isa<Low16Op>(op))
    return "halftone::kernels::low16($a)";
  if (auto widen = dyn_cast<arith::ExtFOp>(op); widen && widen.getType().isF32()) {
    if (!isNarrow(widen.getIn().getType()))
      return "";
    return isShort(widen.getIn().getType()) ? "halftone::kernels::widen($a)" : "$a";
  }
  auto round = dyn_cast<arith::TruncFOp>(op);
  if (!round || !round.getIn().getType().isF32() || !isNarrow(round.getType()))
    return "";
  return roundingText(round);
}

std::string storedConstant(FloatAttr value) {
  llvm::APFloat number = value.getValue();
  const encoding::ElementTraits &traits = encoding::traits(elementOf(value.getType()));
  auto code = [&] {
    return llvm::utohexstr(number.isNaN() ? traits.nan : number.bitcastToAPInt().getZExtValue(),
                           true, traits.bits / 4);
  };
  if (isShort(value.getType()))
    return (storedType(value.getType()) + "{0x" + code() + "}").str();
  bool losesInformation;
  number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInformation);
  return "halftone::kernels::float_of(0x" + code() + "u)";
}

bool readsDelivered(KernelOp kernel) {
  return llvm::any_of(kernel.getInputs(), [](Value input) { return isDelivered(input); }) ||
         llvm::any_of(kernel.getResults(), [](Value result) { return isDelivered(result); });
}

bool usesCasts(KernelOp kernel) {
  auto isCast = [](Type type) { return isNarrow(cast<TensorType>(type).getElementType()); };
  return llvm::any_of(kernel->getOperandTypes(), isCast) ||
         llvm::any_of(kernel->getResultTypes(), isCast) ||
         kernel.walk([](arith::TruncFOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool usesFloat8(KernelOp kernel) {
  auto isFloat8 = [](Type type) {
    auto tensor = dyn_cast<TensorType>(type);
    Type element = tensor ? tensor.getElementType() : type;
    return isShort(element) && bitsOf(element) == 8;
  };
  auto holdsFloat8 = [&](Operation *op) {
    return llvm::any_of(op->getOperandTypes(), isFloat8) ||
                   llvm::any_of(op->getResultTypes(), isFloat8)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  return kernel.walk(holdsFloat8).wasInterrupted();
}

} // namespace halftone::ir
