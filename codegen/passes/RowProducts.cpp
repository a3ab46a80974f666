// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/RowProducts.h"

using namespace mlir;

namespace halftone::ir {

bool RowProducts::find() {
  auto product = rows.getInputs().empty() ? ContractOp() : findProduct(rows.getInputs().front());
  if (!product)
    return false;
  axes = static_cast<int64_t>(product.getBatchAxes());
  dims = llvm::to_vector(product.getType().getDims().take_front(axes));
  members.insert(rows);
  return llvm::all_of(rows.getInputs(), [&](Value v) { return addProducer(v); }) &&
         llvm::all_of(rows.getOutputs(), [&](Value v) { return addUsers(v); });
}

ContractOp RowProducts::findProduct(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa<CastOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto contract = dyn_cast<ContractOp>(op);
  bool fits =
      contract && contract.getBatchAxes() > 0 && getPhase(op) == getPhase(rows) &&
      !contract.getStart() &&
      (axes == 0 || (static_cast<int64_t>(contract.getBatchAxes()) == axes &&
                     contract.getType().getDims().take_front(axes) == ArrayRef<Attribute>(dims)));
  return fits ? contract : ContractOp();
}

/// The product that an operand of the map is, if it is one, which nothing else may read.
bool RowProducts::addProducer(Value value) {
  if (!findProduct(value))
    return true;
  for (Operation *op = value.getDefiningOp();; op = op->getOperand(0).getDefiningOp()) {
    members.insert(op);
    if (!op->hasOneUse())
      return false;
    if (isa<ContractOp>(op))
      return true;
  }
}

/// Whether products of the batch alone read a value, be it through casts.
bool RowProducts::addUsers(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto cast = dyn_cast<CastOp>(user); cast && getPhase(user) == getPhase(rows)) {
      members.insert(user);
      return addUsers(cast);
    }
    if (!isa<ContractOp>(user) || !findProduct(user->getResult(0)))
      return false;
    members.insert(user);
    leaving.insert(user);
    return true;
  });
}

Operation *RowProducts::edge(bool isFirst) {
  Operation *found = members.front();
  for (Operation *op : members)
    if (op->isBeforeInBlock(found) == isFirst)
      found = op;
  return found;
}

void RowProducts::gather() {
  Operation *begin = edge(true), *end = edge(false), *behind = end;
  llvm::SmallDenseSet<Operation *> late(members.begin(), members.end());
  for (Operation *op = begin, *next; op != end; op = next) {
    next = op->getNextNode();
    if (members.contains(op))
      continue;
    bool needsMember =
        llvm::any_of(op->getOperands(), [&](Value v) { return late.contains(v.getDefiningOp()); });
    if (needsMember) {
      late.insert(op);
      op->moveAfter(behind);
      behind = op;
    } else {
      op->moveBefore(begin);
    }
  }
}

} // namespace halftone::ir
