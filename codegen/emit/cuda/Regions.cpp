// SPDX-License-Identifier: Apache-2.0
// The table from scalar operations to CUDA text. Arithmetic is spelled so that each operation
// rounds once: the text is compiled with --fmad=false, fma and square root are named with their
// rounding.
#include "codegen/emit/cuda/Regions.h"

#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/emit/cuda/Casts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace halftone::ir {

StringRef cudaType(Type type) {
  if (type.isF32())
    return "float";
  if (isDelivered(type))
    return storedType(type);
  if (type.isInteger(1))
    return "bool";
  if (type.isInteger(32))
    return "int";
  return type.isInteger(64) ? "long long" : storedType(type);
}

static StringRef unsignedCudaType(Type type) {
  if (type.isInteger(1))
    return "bool";
  return type.isInteger(64) ? "unsigned long long" : "unsigned int";
}

std::string cudaProduct(ArrayRef<Attribute> dims) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Attribute dim : dims) {
    stream << (text.empty() ? "" : " * ");
    auto symbol = dyn_cast<StringAttr>(dim);
    if (!symbol) {
      stream << cast<IntegerAttr>(dim).getInt() << "LL";
      continue;
    }
    auto [name, divisor, factor, added] = symbolicExtentOf(symbol.getValue());
    if (added != 0)
      stream << "(";
    if (factor != 1)
      stream << "(" << factor << " * ";
    if (divisor == 1)
      stream << "symbol_" << name;
    else
      stream << "((symbol_" << name << " + " << divisor - 1 << ") / " << divisor << ")";
    if (factor != 1)
      stream << ")";
    if (added != 0)
      stream << (added < 0 ? " - " : " + ") << std::abs(added) << ")";
  }
  return text.empty() ? "1LL" : text;
}

namespace {

/// $a $b $c are operands, $type and $unsigned the result's type, $ufrom the first operand's
/// without a sign. Integers wrap around, so they are added, multiplied and shifted left without a
/// sign.
constexpr std::pair<StringLiteral, StringLiteral> kTexts[] = {
    {"arith.addf", "$a + $b"},
    {"arith.subf", "$a - $b"},
    {"arith.mulf", "$a * $b"},
    {"arith.divf", "__fdiv_rn($a, $b)"},
    {"arith.negf", "-$a"},
    {"arith.select", "$a ? $b : $c"},
    {"arith.addi", "static_cast<$type>(static_cast<$unsigned>($a) + static_cast<$unsigned>($b))"},
    {"arith.subi", "static_cast<$type>(static_cast<$unsigned>($a) - static_cast<$unsigned>($b))"},
    {"arith.muli", "static_cast<$type>(static_cast<$unsigned>($a) * static_cast<$unsigned>($b))"},
    {"arith.remui", "static_cast<$type>(static_cast<$unsigned>($a) % static_cast<$unsigned>($b))"},
    {"arith.andi", "static_cast<$type>($a & $b)"},
    {"arith.ori", "static_cast<$type>($a | $b)"},
    {"arith.xori", "static_cast<$type>($a ^ $b)"},
    {"arith.shli", "static_cast<$type>(static_cast<$unsigned>($a) << $b)"},
    {"arith.shrsi", "$a >> $b"},
    {"arith.shrui", "static_cast<$type>(static_cast<$unsigned>($a) >> $b)"},
    {"arith.extsi", "static_cast<$type>($a)"},
    {"arith.extui", "static_cast<$type>(static_cast<$ufrom>($a))"},
    {"arith.trunci", "static_cast<$type>($a)"},
    {"arith.sitofp", "static_cast<$type>($a)"},
    {"halftone.kept", "kAll || $a"},
    {"math.fma", "__fmaf_rn($a, $b, $c)"},
    {"math.sqrt", "__fsqrt_rn($a)"},
    {"math.absf", "fabsf($a)"},
    {"math.floor", "floorf($a)"},
};

std::string floatPredicate(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse:
    return "false";
  case P::AlwaysTrue:
    return "true";
  case P::OEQ:
    return "$a == $b";
  case P::OGT:
    return "$a > $b";
  case P::OGE:
    return "$a >= $b";
  case P::OLT:
    return "$a < $b";
  case P::OLE:
    return "$a <= $b";
  case P::ONE:
    return "$a < $b || $a > $b";
  case P::ORD:
    return "$a == $a && $b == $b";
  case P::UEQ:
    return "!($a < $b || $a > $b)";
  case P::UGT:
    return "!($a <= $b)";
  case P::UGE:
    return "!($a < $b)";
  case P::ULT:
    return "!($a >= $b)";
  case P::ULE:
    return "!($a > $b)";
  case P::UNE:
    return "$a != $b";
  case P::UNO:
    return "$a != $a || $b != $b";
  }
  llvm_unreachable("every predicate is listed");
}

std::string integerPredicate(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  auto withoutSign = [](StringRef comparison) {
    return ("static_cast<$ufrom>($a) " + comparison + " static_cast<$ufrom>($b)").str();
  };
  switch (predicate) {
  case P::eq:
    return "$a == $b";
  case P::ne:
    return "$a != $b";
  case P::slt:
    return "$a < $b";
  case P::sle:
    return "$a <= $b";
  case P::sgt:
    return "$a > $b";
  case P::sge:
    return "$a >= $b";
  case P::ult:
    return withoutSign("<");
  case P::ule:
    return withoutSign("<=");
  case P::ugt:
    return withoutSign(">");
  case P::uge:
    return withoutSign(">=");
  }
  llvm_unreachable("every predicate is listed");
}

/// Exact: hexadecimal digits for numbers, the bits for infinities and NaN.
std::string constantText(TypedAttr value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (isNarrow(value.getType()))
    return storedConstant(cast<FloatAttr>(value));
  if (auto number = dyn_cast<FloatAttr>(value)) {
    if (number.getValue().isFinite()) {
      char digits[64];
      number.getValue().convertToHexString(digits, 0, false, llvm::APFloat::rmNearestTiesToEven);
      stream << digits << "f";
    } else {
      stream << "__int_as_float(static_cast<int>(0x"
             << llvm::utohexstr(number.getValue().bitcastToAPInt().getZExtValue(), true) << "u))";
    }
  } else if (value.getType().isInteger(1)) {
    stream << (cast<IntegerAttr>(value).getValue().isZero() ? "false" : "true");
  } else if (llvm::APInt bits = cast<IntegerAttr>(value).getValue(); bits.isMinSignedValue()) {
    // The smallest integer has no literal of its own type.
    stream << "static_cast<" << cudaType(value.getType()) << ">(0x"
           << llvm::utohexstr(bits.getZExtValue(), true) << "ull)";
  } else {
    stream << bits.getSExtValue() << (value.getType().isInteger(64) ? "LL" : "");
  }
  return text;
}

/// The operation's text with placeholders; empty when there is none.
std::string textOf(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return constantText(constant.getValue());
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return floatPredicate(compare.getPredicate());
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return integerPredicate(compare.getPredicate());
  if (auto count = dyn_cast<CountOp>(op))
    return "static_cast<$type>(" + cudaProduct(count.getDims().getValue()) + ")";
  if (auto cast = dyn_cast<arith::BitcastOp>(op))
    return cast.getType().isF32() ? "__int_as_float($a)" : "__float_as_int($a)";
  for (auto [name, text] : kTexts)
    if (op->getName().getStringRef() == name)
      return text.str();
  return castText(op);
}

/// The format that an operation other than a cast or a constant computes in although kernels only
/// store it; null when all is well.
Type wronglyComputedIn(Operation *op) {
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::ConstantOp>(op))
    return {};
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (isNarrow(type))
      return type;
  return {};
}

std::string fill(StringRef text, Operation *op, const CudaNames &names) {
  std::string filled;
  while (!text.empty()) {
    auto [before, rest] = text.split('$');
    filled += before;
    StringRef key = rest.take_while(llvm::isAlpha);
    text = rest.drop_front(key.size());
    if (key.size() == 1)
      filled += names.at(op->getOperand(key[0] - 'a'));
    else if (!key.empty())
      filled +=
          llvm::StringSwitch<StringRef>(key)
              .Case("type", cudaType(op->getResult(0).getType()))
              .Case("unsigned", unsignedCudaType(op->getResult(0).getType()))
              .Case("ufrom", key == "ufrom" ? unsignedCudaType(op->getOperand(0).getType()) : "");
  }
  return filled;
}

/// NVRTC asks of every const value in a template whether it depends on the template's parameters,
/// by asking the same of all that it is computed from, each time anew. Elements of operands do, and
/// answer at once; without any, computed values are not const, or compiling takes 2^n steps.
StringRef qualifierOf(Operation *op) {
  auto kernel = dyn_cast<KernelOp>(op->getParentOp());
  bool hasElements = !kernel || isa<arith::ConstantOp>(op) ||
                     llvm::any_of(llvm::seq<unsigned>(0, kernel.getInputs().size()),
                                  [&](unsigned i) { return isVarying(kernel, i); });
  return hasElements ? "const " : "";
}

LogicalResult printOperation(Operation *op, unsigned position, CudaNames &names, StringRef indent,
                             StringRef scope, raw_ostream &out) {
  if (isOfPlace(op) || isa<RowSumOp, RowMaxOp, LhsSumOp>(op))
    return op->emitOpError() << scope;
  if (Type type = wronglyComputedIn(op))
    return op->emitOpError() << "computes in " << type
                             << "; widen with arith.extf, compute in f32 and round with "
                                "arith.truncf";
  std::string text = textOf(op);
  StringRef type = cudaType(op->getResult(0).getType());
  if (text.empty() || type.empty())
    return op->emitOpError(
        "has no CUDA text; Regions.cpp and Casts.cpp list the operations that kernels may contain");
  std::string name = ("v" + llvm::Twine(position)).str();
  out << indent << qualifierOf(op) << type << " " << name << " = " << fill(text, op, names)
      << ";\n";
  names[op->getResult(0)] = name;
  return success();
}

} // namespace

LogicalResult printScalars(Block &block, ValueRange roots, CudaNames &names, StringRef indent,
                           StringRef scope, raw_ostream &out) {
  llvm::SmallPtrSet<Operation *, 32> needed;
  SmallVector<Value> open(roots);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (names.contains(value))
      continue;
    Operation *op = value.getDefiningOp();
    if (!op)
      return block.getParentOp()->emitOpError()
             << "argument " << cast<BlockArgument>(value).getArgNumber() << " " << scope;
    if (needed.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  for (auto [position, op] : llvm::enumerate(block))
    if (needed.contains(&op) && failed(printOperation(&op, position, names, indent, scope, out)))
      return failure();
  return success();
}

} // namespace halftone::ir
