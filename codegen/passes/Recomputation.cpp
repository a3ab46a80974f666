// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/Recomputation.h"

#include "codegen/passes/Passes.h"
#include "codegen/passes/ScaledRounding.h"

using namespace mlir;

namespace halftone::ir {

bool isForward(Operation *op) {
  return op && (getPhase(op) == Phase::Forward || getPhase(op) == Phase::Loss);
}

bool isSource(Operation *op) { return isa<InputOp, ParameterOp, StateOp>(op); }

Operation *rootOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa<CastOp>(op) && !isSource(op->getOperand(0).getDefiningOp()) &&
         isForward(op->getOperand(0).getDefiningOp()))
    op = op->getOperand(0).getDefiningOp();
  return op;
}

SmallVector<OpOperand *> backwardUses(Value value) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    if (getPhase(use.getOwner()) == Phase::LossBackward ||
        getPhase(use.getOwner()) == Phase::Backward)
      uses.push_back(&use);
  return uses;
}

int costOf(Operation &scalar) {
  if (isa<arith::ConstantOp>(scalar))
    return 0;
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::CmpFOp,
             arith::SelectOp, arith::MinimumFOp, arith::MaximumFOp, math::FmaOp, math::AbsFOp,
             math::FloorOp>(scalar)
             ? 1
             : kCostly;
}

namespace {

bool isInlined(Operation *op) { return op->hasAttr(kInlineAttr); }
bool isWidened(Operation *op) { return isExactCast(op) && isInlined(op); }

class Reader {
public:
  Reader(GraphOp graph, const AssumedSizes &sizes) : graph(graph), sizes(sizes) {}

  ForwardPass read() {
    for (Operation &op : graph.getBody().front())
      if (getPhase(&op) == Phase::LossBackward || getPhase(&op) == Phase::Backward)
        times.try_emplace(&op, static_cast<int32_t>(times.size()));
    for (Operation &op : graph.getBody().front()) {
      pass.operations += isInlined(&op) ? 0 : operationsOf(&op);
      if (isForward(&op) && isa<Layer, KernelForm, ViewOp>(op) && !isSource(&op))
        addForward(&op);
    }
    for (auto [root, index] : pass.nodes)
      decideFate(index, root);
    addBackward();
    return std::move(pass);
  }

private:
  double elementsOf(ArrayRef<Attribute> dims) const {
    double elements = 1;
    for (Attribute dim : dims) {
      auto symbol = dyn_cast<StringAttr>(dim);
      elements *= static_cast<double>(symbol ? assumedSize(sizes, symbol.getValue())
                                             : cast<IntegerAttr>(dim).getInt());
    }
    return elements;
  }
  double elementsOf(Value value) const {
    return elementsOf(cast<TensorType>(value.getType()).getDims());
  }

  int64_t bytesOf(Value value) const {
    Type element = cast<TensorType>(value.getType()).getElementType();
    return encoding::storage_bytes(elementOf(element), static_cast<int64_t>(elementsOf(value)));
  }

  double operationsOf(Operation *op) const {
    if (auto layer = dyn_cast<Layer>(op)) {
      Block scratch;
      OpBuilder builder(op->getContext());
      builder.setInsertionPointToEnd(&scratch);
      layer.lower(builder);
      double operations = 0;
      for (Operation &part : scratch)
        operations += operationsOf(&part);
      return operations;
    }
    auto form = dyn_cast<KernelForm>(op);
    if (!form || isView(op))
      return 0;
    double elements = elementsOf(form.getDomain().getDims());
    if (auto contract = dyn_cast<ContractOp>(op))
      return 2 * elements * elementsOf(contract.getReduction());
    for (Value operand : op->getOperands())
      elements = std::max(elements, elementsOf(operand));
    double each = 0;
    for (Region &region : op->getRegions())
      for (Operation &scalar : region.getOps())
        each += costOf(scalar);
    return elements * std::max(each, 1.0);
  }

  /// The node of a forward value; -1 of what is no activation or nothing but a source widened.
  int32_t nodeOf(Value value) const {
    auto known = pass.nodes.find(rootOf(value));
    return known == pass.nodes.end() ? -1 : known->second;
  }

  void addForward(Operation *op) {
    Operation *root = rootOf(op->getResult(0));
    if (root == op && !(isa<CastOp>(op) && (isWidened(op) || isOfParameter(op)))) {
      pass.nodes[op] = static_cast<int32_t>(pass.saved.nodes.size());
      SavedGraph::Node &node = pass.saved.nodes.emplace_back();
      node.operations = operationsOf(op);
      for (Value operand : op->getOperands())
        if (int32_t of = nodeOf(operand); of >= 0)
          node.operands.push_back(of);
    }
    int32_t index = nodeOf(op->getResult(0));
    if (index < 0 || isWidened(op))
      return;
    SavedGraph::Node &node = pass.saved.nodes[index];
    int64_t unread = 0;
    for (Value result : op->getResults()) {
      size_t before = node.readers.size();
      addReaders(node, result);
      if (llvm::any_of(result.getUsers(), llvm::IsaPred<OutputOp>)) // there in any case
        continue;
      if (node.readers.size() > before)
        readBytes[index] += bytesOf(result);
      else if (!llvm::all_of(result.getUsers(), isRounding))
        unread = std::max(unread, bytesOf(result));
    }
    node.bytes = std::max(node.bytes, unread);
  }

  static bool isRounding(Operation *op) { return isa<CastOp>(op) && !isWidened(op); }

  static bool isOfParameter(Operation *cast) {
    return isa<ParameterOp>(cast->getOperand(0).getDefiningOp());
  }

  void addReaders(SavedGraph::Node &node, Value value) {
    for (OpOperand *use : backwardUses(value))
      node.readers.push_back(times.lookup(use->getOwner()));
    for (Operation *user : value.getUsers())
      if (isForward(user) && isWidened(user))
        addReaders(node, user->getResult(0));
  }

  void decideFate(int32_t index, Operation *root) {
    SavedGraph::Node &node = pass.saved.nodes[index];
    bool isRead = !node.readers.empty();
    if (isRead)
      node.bytes = readBytes.lookup(index);
    auto decreed = root->getAttrOfType<BoolAttr>(kRecomputeAttr); // P16
    bool mayBeAgain = getPhase(root) == Phase::Forward && !leavesNumbers(root) &&
                      !isOfScaledRounding(root) && (!decreed || decreed.getValue());
    if (isView(root)) {
      node.fate = SavedGraph::Fate::shown;
      node.bytes = 0;
      node.operations = 0;
    } else if (mayBeAgain && (!isRead || node.bytes > 0)) {
      node.fate = isRead ? SavedGraph::Fate::candidate : SavedGraph::Fate::again;
    }
  }

  void addBackward() {
    std::vector<int64_t> change(times.size() + 1);
    for (auto [op, time] : times) {
      if (isInlined(op) || isView(op))
        continue;
      for (Value result : op->getResults()) {
        int32_t last = time;
        for (Operation *user : result.getUsers())
          if (auto known = times.find(user); known != times.end())
            last = std::max(last, known->second);
        if (last == time)
          continue;
        change[time] += bytesOf(result);
        change[last + 1] -= bytesOf(result);
      }
    }
    int64_t live = 0;
    for (size_t time = 0; time < times.size(); ++time)
      pass.saved.beside.push_back(live += change[time]);
  }

  GraphOp graph;
  const AssumedSizes &sizes;
  ForwardPass pass;
  llvm::MapVector<Operation *, int32_t> times; ///< of backward operations
  llvm::DenseMap<int32_t, int64_t> readBytes;  ///< of what the backward pass reads of a node
};

} // namespace

ForwardPass readForwardPass(GraphOp graph, const AssumedSizes &sizes) {
  return Reader(graph, sizes).read();
}

} // namespace halftone::ir
