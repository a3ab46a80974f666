// SPDX-License-Identifier: Apache-2.0
// docs/spec/precision.md, F1 to F4, as CUDA text: a narrow value is its code until it is widened.
#include "codegen/emit/cuda/Casts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace halftone::ir {

bool isStoredOnly(Type type) { return isa<Float16Type, BFloat16Type, FloatTF32Type>(type); }

StringRef storedType(Type type) {
  if (type.isF16())
    return "halftone::kernels::f16";
  if (type.isBF16())
    return "halftone::kernels::bf16";
  return type.isTF32() ? "float" : "";
}

static std::string roundingText(arith::TruncFOp op) {
  std::string text = "halftone::kernels::to_";
  llvm::raw_string_ostream stream(text);
  stream << op.getType() << "($a";
  auto mode = op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even);
  if (mode == arith::RoundingMode::toward_zero)
    stream << ", halftone::kernels::Rounding::toward_zero";
  else if (mode != arith::RoundingMode::to_nearest_even)
    return "";
  stream << ")";
  return text;
}

std::string castText(Operation *op) {
  if (auto widen = dyn_cast<arith::ExtFOp>(op); widen && widen.getType().isF32()) {
    if (widen.getIn().getType().isTF32())
      return "$a";
    return isStoredOnly(widen.getIn().getType()) ? "halftone::kernels::widen($a)" : "";
  }
  auto round = dyn_cast<arith::TruncFOp>(op);
  if (!round || !round.getIn().getType().isF32() || !isStoredOnly(round.getType()))
    return "";
  return roundingText(round);
}

std::string storedConstant(FloatAttr value) {
  llvm::APFloat number = value.getValue();
  if (!value.getType().isTF32())
    return (storedType(value.getType()) + "{0x" +
            llvm::utohexstr(number.isNaN() ? 0x7fff : number.bitcastToAPInt().getZExtValue(), true,
                            4) +
            "}")
        .str();
  bool losesInformation;
  number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInformation);
  uint64_t bits = number.isNaN() ? 0x7fffffff : number.bitcastToAPInt().getZExtValue();
  return "halftone::kernels::float_of(0x" + llvm::utohexstr(bits, true, 8) + "u)";
}

bool usesCasts(KernelOp kernel) {
  auto isNarrow = [](Type type) { return isStoredOnly(cast<TensorType>(type).getElementType()); };
  return llvm::any_of(kernel->getOperandTypes(), isNarrow) ||
         llvm::any_of(kernel->getResultTypes(), isNarrow) ||
         kernel.walk([](arith::TruncFOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

} // namespace halftone::ir
