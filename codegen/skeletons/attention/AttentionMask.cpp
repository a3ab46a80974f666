// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/attention/AttentionMask.h"

#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/ir/Accesses.h"
#include "codegen/skeletons/RowReductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

static constexpr StringLiteral kIn = "halftone::kernels::";

namespace {

/// Expressions of intervals.cuh for the code of one element.
class Intervals {
public:
  explicit Intervals(KernelOp kernel) : kernel(kernel), rows(kernel.getDomainType().getRowDims()) {
    Block &block = kernel.getBody().front();
    for (AxisIndexOp op : block.getOps<AxisIndexOp>())
      if (isOfHead(op))
        names[op.getResult()] = axisOfHead(op.getAxis());
    for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
      if (Value element = kernel.getElement(i); element && isSameInHead(i))
        names[element] = readOfHead(i);
  }

  std::string truthOf(Value condition) {
    if (isOfHead(condition))
      return known("Truth", condition);
    if (auto kept = condition.getDefiningOp<KeptOp>())
      return truthOf(kept.getKeeps());
    if (auto both = condition.getDefiningOp<arith::AndIOp>())
      return call("both", truthOf(both.getLhs()), truthOf(both.getRhs()));
    if (auto either = condition.getDefiningOp<arith::OrIOp>())
      return call("either", truthOf(either.getLhs()), truthOf(either.getRhs()));
    if (auto compare = condition.getDefiningOp<arith::CmpIOp>())
      return truthOf(compare);
    return kUnknown.str();
  }

  CudaNames names;          ///< of what a head has in common
  SmallVector<Value> exact; ///< what the expressions read of it

private:
  static constexpr StringLiteral kUnknown = "halftone::kernels::Truth{false, true}";

  static std::string call(StringRef function, const Twine &a, const Twine &b) {
    return (kIn + function + "(" + a + ", " + b + ")").str();
  }

  static std::string range(StringRef low, StringRef high) {
    return (kIn + "Range{" + low + ", " + high + "}").str();
  }

  /// $N$ stands for its name, once it has one.
  std::string known(StringRef type, Value value) {
    const auto *found = llvm::find(exact, value);
    std::string name = "$" + std::to_string(found - exact.begin()) + "$";
    if (found == exact.end())
      exact.push_back(value);
    return (kIn + type + "{" + name + ", " + name + "}").str();
  }

  std::string truthOf(arith::CmpIOp compare) {
    using P = arith::CmpIPredicate;
    std::optional<std::string> a = rangeOf(compare.getLhs()), b = rangeOf(compare.getRhs());
    if (!a || !b)
      return kUnknown.str();
    switch (compare.getPredicate()) {
    case P::slt:
      return call("less", *a, *b);
    case P::sgt:
      return call("less", *b, *a);
    case P::sle:
      return call("at_most", *a, *b);
    case P::sge:
      return call("at_most", *b, *a);
    case P::eq:
      return call("equal", *a, *b);
    case P::ne:
      return (kIn + "negated(" + call("equal", *a, *b) + ")").str();
    default:
      return kUnknown.str();
    }
  }

  /// Nothing where a block may have any.
  std::optional<std::string> rangeOf(Value value) {
    if (!value.getType().isInteger(32))
      return std::nullopt;
    if (isOfHead(value))
      return known("Range", value);
    auto axis = value.getDefiningOp<AxisIndexOp>(); // of rows within a head, or of columns
    if (axis && axis.getAxis() < rows.size())
      return range("first_row", "last_row");
    if (axis || value.getDefiningOp<ColumnIndexOp>())
      return range("first_column", "last_column");
    if (auto sum = value.getDefiningOp<arith::AddIOp>())
      return join(sum.getLhs(), " + ", sum.getRhs());
    if (auto difference = value.getDefiningOp<arith::SubIOp>())
      return join(difference.getLhs(), " - ", difference.getRhs());
    return std::nullopt;
  }
  std::optional<std::string> join(Value lhs, StringRef sign, Value rhs) {
    std::optional<std::string> a = rangeOf(lhs), b = rangeOf(rhs);
    return a && b ? std::optional("(" + *a + sign.str() + *b + ")") : std::nullopt;
  }

  /// Whether all rows of a head and all columns have the same.
  bool isOfHead(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return names.contains(value);
    if (auto axis = dyn_cast<AxisIndexOp>(op))
      return axis.getAxis() + 1 < rows.size();
    return !isOfPlace(op) && !isReduction(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isOfHead(operand); });
  }
  bool isSameInHead(unsigned input) {
    AccessAttr access = kernel.getInputAccess(input);
    if (access.getKind() == AccessKind::Scalar)
      return true;
    if (access.getKind() != AccessKind::General || access.getWhere() || !access.isOfAxes())
      return false;
    AffineMap map = access.getMap().getValue();
    return !map.isFunctionOfDim(rows.size() - 1) && !map.isFunctionOfDim(rows.size());
  }

  std::string axisOfHead(unsigned axis) {
    std::string text = "head / (" + cudaProduct(rows.drop_back().drop_front(axis + 1)) + ")";
    if (axis > 0)
      text += " % " + cudaProduct(rows[axis]);
    return "static_cast<int>(" + text + ")";
  }
  std::string readOfHead(unsigned input) {
    if (kernel.getInputAccess(input).getKind() == AccessKind::Scalar)
      return numbered("input", input) + "[0]";
    return numbered("read", input) + "(head * queries(), 0)";
  }

  KernelOp kernel;
  ArrayRef<Attribute> rows;
};

} // namespace

/// The names of `exact` in the places that stand for them.
static std::string fill(std::string text, Intervals &intervals) {
  for (auto [i, value] : llvm::enumerate(intervals.exact)) {
    std::string place = "$" + std::to_string(i) + "$";
    for (size_t at; (at = text.find(place)) != std::string::npos;)
      text.replace(at, place.size(), intervals.names.at(value));
  }
  return text;
}

static void printHeads(BodyPrinter &printer) {
  ArrayRef<Attribute> rows = printer.kernel.getDomainType().getRowDims();
  ArrayRef<Attribute> group = rows.drop_back().drop_front(printer.kernel.getBatchDims().size());
  printer.out << "  " << kDevice << " long long queries() const { return "
              << cudaProduct(rows.take_back()) << "; }\n  " << kDevice
              << " int group() const { return static_cast<int>(" << cudaProduct(group) << "); }\n";
}

LogicalResult printMask(BodyPrinter &printer) {
  printHeads(printer);
  Intervals intervals(printer.kernel);
  std::string truth;
  for (KeptOp op : printer.block.getOps<KeptOp>()) {
    std::string other = intervals.truthOf(op);
    truth = truth.empty() ? other : (kIn + "both(" + truth + ", " + other + ")").str();
  }
  raw_ostream &out = printer.out;
  out << bodyConstant("kMasks", !truth.empty()) << "  " << kDevice << " " << kIn
      << "Kept kept(long long head, int first_row, int last_row, int first_column,\n"
      << "      int last_column) const {\n";
  if (truth.empty()) {
    out << "    return " << kIn << "Kept::all;\n  }\n";
    return success();
  }
  if (failed(printScalars(printer.block, intervals.exact, intervals.names, "    ",
                          "is not the same in a whole head", out)))
    return failure();
  out << "    return " << kIn << "kept_of(" << fill(truth, intervals) << ");\n  }\n";
  return success();
}

} // namespace halftone::skeletons
