// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/Lifetimes.h"

#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

/// Of what a kernel stores for a sink the sink says where it lies.
static bool outlivesStep(Value root) {
  return llvm::any_of(root.getUsers(), [](Operation *user) {
    return !isa<KernelOp, ViewOp, WholeOp, PartOp>(user);
  });
}

Value Lifetimes::rootOf(Value value) {
  while (true) {
    Operation *op = value.getDefiningOp();
    if (isView(op) || isa<PartOp>(op)) {
      value = op->getOperand(0);
      continue;
    }
    auto users = value.getUsers();
    auto whole = llvm::find_if(users, [](Operation *user) { return isa<WholeOp>(user); });
    if (whole == users.end())
      return value;
    value = (*whole)->getResult(0);
  }
}

int64_t Lifetimes::bytesOf(TensorType type) const {
  int64_t elements = 1;
  for (Attribute dim : type.getDims()) {
    auto symbol = dyn_cast<StringAttr>(dim);
    elements *= symbol ? assumedSize(sizes, symbol.getValue()) : cast<IntegerAttr>(dim).getInt();
  }
  return encoding::storage_bytes(elementOf(type.getElementType()), elements);
}

Lifetimes::Lifetimes(GraphOp graph, const AssumedSizes &sizes) : sizes(sizes) {
  int64_t time = 0;
  for (auto kernel : graph.getBody().front().getOps<KernelOp>()) {
    for (Value input : kernel.getInputs())
      if (Span *span = find(input))
        span->last = time;
    for (Value result : kernel.getStored())
      if (Value root = rootOf(result); !outlivesStep(root))
        spans.insert({root, {bytesOf(tensor(root)), time, time}}).first->second.last = time;
    ++time;
  }
}

Lifetimes::Span *Lifetimes::find(Value value) {
  auto span = spans.find(rootOf(value));
  return span == spans.end() ? nullptr : &span->second;
}

int64_t Lifetimes::countBytes() const {
  auto inOrder = llvm::map_to_vector(spans, [](const auto &each) { return &each.second; });
  llvm::sort(inOrder, [](const Span *a, const Span *b) { // then in order of making
    return std::pair(-a->bytes, a) < std::pair(-b->bytes, b);
  });
  SmallVector<int64_t> slots = firstFreeSlots(inOrder.size(), [&](size_t a, size_t b) {
    return inOrder[a]->first <= inOrder[b]->last && inOrder[b]->first <= inOrder[a]->last;
  });
  int64_t bytes = 0, known = 0;
  for (auto [span, slot] : llvm::zip(inOrder, slots)) {
    if (slot < known) // of a larger one
      continue;
    bytes += span->bytes;
    ++known;
  }
  return bytes;
}

SmallVector<int64_t> firstFreeSlots(size_t tensors, llvm::function_ref<bool(size_t, size_t)> meet) {
  SmallVector<SmallVector<size_t>> slots;
  SmallVector<int64_t> chosen;
  for (size_t tensor = 0; tensor < tensors; ++tensor) {
    auto *slot = llvm::find_if(slots, [&](ArrayRef<size_t> tenants) {
      return llvm::none_of(tenants, [&](size_t tenant) { return meet(tenant, tensor); });
    });
    if (slot == slots.end()) {
      slots.emplace_back();
      slot = std::prev(slots.end());
    }
    slot->push_back(tensor);
    chosen.push_back(slot - slots.begin());
  }
  return chosen;
}

} // namespace halftone::ir
