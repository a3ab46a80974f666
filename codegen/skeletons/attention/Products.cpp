// SPDX-License-Identifier: Apache-2.0
// The products of attention's kernels: which they are, and which of them chips run in one kernel.
#include "codegen/ir/Accesses.h"
#include "codegen/skeletons/attention/Attention.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

constexpr int64_t kHeadStep = 16, kMostHead = 128;

static std::optional<unsigned> findInput(KernelOp kernel, AccessKind kind) {
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (kernel.getInputAccess(i).getKind() == kind)
      return i;
  return std::nullopt;
}

unsigned inputOf(KernelOp kernel, AccessKind kind) {
  return *findInput(kernel, kind); // verify() found one
}

static TensorType typeOf(KernelOp kernel, AccessKind kind) {
  return cast<TensorType>(kernel.getInputs()[inputOf(kernel, kind)].getType());
}

static AttentionProduct productOf(KernelOp kernel, StringRef operands, AccessKind lhs,
                                  AccessKind rhs) {
  return {operands, typeOf(kernel, lhs).getElementType(), typeOf(kernel, rhs).getElementType(),
          typeOf(kernel, rhs)};
}

Type weightOf(KernelOp kernel, AccessKind kind) {
  for (auto [i, store] : llvm::enumerate(kernel.getYield().getStores()))
    if (kernel.getResultAccess(i).getKind() == kind)
      return store.getType();
  llvm_unreachable("verify() found one");
}

bool hasTwoProducts(KernelOp kernel) { return kernel.countSums() == 2; }

bool leavesHeadsInPlace(KernelOp kernel) {
  auto isIn = [](Attribute access) { return isInPlace(cast<AccessAttr>(access)); };
  return llvm::any_of(kernel.getInputAccesses(), isIn) ||
         llvm::any_of(kernel.getResultAccesses(), isIn);
}

HeadColumns columnsOf(KernelOp kernel) {
  AccessKind second = hasTwoProducts(kernel) ? AccessKind::Rhs2 : AccessKind::Values;
  return {*typeOf(kernel, AccessKind::Rhs).getColumns(), *typeOf(kernel, second).getColumns()};
}

LogicalResult Attention::verifyProducts(KernelOp kernel, ArrayRef<AccessKind> operands,
                                        ArrayRef<AccessKind> sums) const {
  for (AccessKind kind : operands)
    if (!findInput(kernel, kind))
      return kernel.emitOpError() << "has no operand of access " << stringifyAccessKind(kind);
  SmallVector<AccessKind> found;
  for (unsigned i = 0; i < kernel.getStored().size(); ++i)
    if (AccessKind kind = kernel.getResultAccess(i).getKind(); isSumOfProducts(kind))
      found.push_back(kind);
  if (ArrayRef<AccessKind>(found) != sums || kernel.getTransposeLhs() ||
      !kernel.getTransposeRhs()) {
    InFlightDiagnostic error = kernel.emitOpError("multiplies lhs by a transposed rhs and stores ");
    llvm::interleave(
        sums, [&](AccessKind kind) { error << stringifyAccessKind(kind); }, [&] { error << ", "; });
    return error << " as sums of products";
  }
  SmallVector<AttentionProduct> products{
      productOf(kernel, "queries and keys", AccessKind::Lhs, AccessKind::Rhs)};
  if (hasTwoProducts(kernel))
    products.push_back(
        productOf(kernel, "gradients and values", AccessKind::Lhs2, AccessKind::Rhs2));
  for (AccessKind kind : sums) {
    products.push_back(productOf(kernel, "weights and values", kind, kind));
    products.back().lhs = weightOf(kernel, kind);
  }
  if (std::string fault = whyNotAttention(products); !fault.empty())
    return kernel.emitOpError() << fault;
  return Skeleton::verify(kernel);
}

LogicalResult Attention::verify(KernelOp kernel) const {
  if (hasTwoProducts(kernel))
    return verifyProducts(kernel,
                          {AccessKind::Lhs, AccessKind::Rhs, AccessKind::Lhs2, AccessKind::Rhs2},
                          AccessKind::Rhs);
  return verifyProducts(kernel, {AccessKind::Lhs, AccessKind::Rhs, AccessKind::Values},
                        AccessKind::Values);
}

static std::string nameOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static bool isHalf(Type type) {
  return elementOf(type) == Element::f16 || elementOf(type) == Element::bf16;
}

std::string whyNotAttention(ArrayRef<AttentionProduct> products) {
  constexpr size_t kForward = 2; // whose products may have formats of their own
  for (const AttentionProduct &product : products) {
    if (product.lhs != product.rhs || !isHalf(product.lhs))
      return (product.operands + " are " + nameOf(product.lhs) + " and " + nameOf(product.rhs) +
              ", not both f16 or both bf16")
          .str();
    if (products.size() > kForward && product.lhs != products.front().lhs)
      return (product.operands + " are " + nameOf(product.lhs) + ", " + products.front().operands +
              " " + nameOf(products.front().lhs))
          .str();
    std::optional<int64_t> columns = product.matrix.getColumns();
    if (!columns || *columns % kHeadStep != 0 || *columns > kMostHead)
      return "heads have " + formatDims(product.matrix.getDims().take_back()) +
             " columns, no multiple of 16 up to 128";
  }
  return {};
}

std::string whyNotAttentionOn(StringRef chip, ArrayRef<AttentionProduct> products) {
  const Chip *found = findChip(chip);
  for (const AttentionProduct &product : products)
    if (found && found->number < 80 && elementOf(product.lhs) != Element::f16)
      return (chip + " has no tensor cores for " + nameOf(product.lhs)).str();
  return {};
}

} // namespace halftone::skeletons
