// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/AttentionGradient.h"

#include "codegen/ir/Forms.h"
#include "codegen/passes/KeptReductions.h"
#include "codegen/skeletons/KernelGroup.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace halftone::ir {

bool AttentionGradient::find() {
  return llvm::count_if(around.rows.getInputs(), [&](Value input) {
           return static_cast<bool>(around.findProduct(input));
         }) == 2;
}

/// Which product is which, or why one is another's.
std::string AttentionGradient::findProducts() {
  if (llvm::any_of(around.members, [](Operation *op) { return isa<CastOp>(op); }))
    return "casts lie between it and its products";
  scores = around.rows.getInputs()[0].getDefiningOp<ContractOp>();
  arriving = around.rows.getInputs()[1].getDefiningOp<ContractOp>();
  if (!scores || !arriving || scores == arriving)
    return "the products that it reads are not its first operands";
  for (ContractOp product : {scores, arriving})
    if (product.getTransposeLhs() || !product.getTransposeRhs())
      return "the products that it reads are transposed otherwise than those of attention";
  for (Operation *op : around.leaving) {
    auto product = cast<ContractOp>(op);
    bool turns = product.getTransposeLhs();
    if (product.getTransposeRhs() || around.rows != product.getLhs().getDefiningOp())
      continue;
    if (product.getRhs() == (turns ? scores.getLhs() : scores.getRhs()))
      (turns ? ofKeys : ofQueries) = product;
    else if (turns && product.getRhs() == arriving.getLhs())
      ofValues = product;
  }
  constexpr size_t kLeaving = 3;
  if (around.leaving.size() < kLeaving ||
      llvm::any_of(around.leaving, [](Operation *op) { return op->use_empty(); }))
    return "not all gradients of queries, keys and values are wanted";
  if (around.leaving.size() > kLeaving || !ofQueries || !ofKeys || !ofValues ||
      ofKeys.getLhs() != ofQueries.getLhs() || around.rows.getNumResults() != 2)
    return "the products that read it read other operands, or others' roundings, than those that "
           "it reads";
  return {};
}

skeletons::AttentionProduct productOf(StringRef operands, ContractOp product) {
  TensorType rhs = tensor(product.getRhs());
  return {operands, tensor(product.getLhs()).getElementType(), rhs.getElementType(), rhs};
}

std::string AttentionGradient::whyNot() {
  if (std::string reason = findProducts(); !reason.empty())
    return reason;
  for (ContractOp product : {scores, arriving, ofQueries, ofKeys, ofValues})
    if (accumulationOf(product) == Accumulation::Ordered)
      return "accumulate ordered: tensor cores sum in an order of their own";
  return skeletons::whyNotAttention({productOf("queries and keys", scores),
                                     productOf("gradients and values", arriving),
                                     productOf("score gradients and keys", ofQueries),
                                     productOf("score gradients and queries", ofKeys),
                                     productOf("weights and gradients", ofValues)});
}

std::string AttentionGradient::whyNotOn(StringRef chip) {
  return skeletons::whyNotAttentionOn(chip, productOf("queries and keys", scores));
}

//===--- Two maps of one ---===//

static bool isReduction(Operation *op) { return isa<RowSumOp, RowMaxOp>(op); }

/// What `roots` need of a map's code, down to `known`.
static llvm::SmallDenseSet<Operation *> findNeeded(ValueRange roots, ArrayRef<Value> known) {
  llvm::SmallDenseSet<Operation *> needed;
  SmallVector<Value> open(roots);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (op && !llvm::is_contained(known, value) && needed.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  return needed;
}

/// The reductions that elements of the map read, be it through others' values.
static SmallVector<Value> findReductions(MapOp rows) {
  Block &code = rows.getBody().front();
  SmallVector<Value> all, read;
  for (Operation &op : code)
    if (isReduction(&op))
      all.push_back(op.getResult(0));
  llvm::SmallDenseSet<Operation *> elements = findNeeded(code.getTerminator()->getOperands(), all);
  llvm::copy_if(all, std::back_inserter(read), [&](Value reduction) {
    return llvm::any_of(reduction.getUsers(), [&](Operation *user) {
      return elements.contains(user) || isa<YieldOp>(user);
    });
  });
  return read;
}

/// The map again, of other products, so that its code yields these of its scalars. It reads
/// `reduced`, one of each row, for `reductions`, and reduces what else it needs. What it yields
/// beside results of the map is of a row.
MapOp AttentionGradient::copyRows(OpBuilder &builder, ContractOp first, ContractOp second,
                                  ArrayRef<Value> reductions, ValueRange reduced,
                                  ValueRange yields) {
  MapOp rows = around.rows;
  Block &code = rows.getBody().front();
  TensorType domain = rows.getDomain();
  SmallVector<Value> inputs(rows.getInputs());
  inputs[0] = first, inputs[1] = second;
  llvm::append_range(inputs, reduced);
  AccessAttr full = AccessAttr::get(rows.getContext(), AccessKind::Full),
             row = AccessAttr::get(rows.getContext(), AccessKind::Row);
  SmallVector<AccessAttr> ofRows = rows.getOperandAccesses();
  SmallVector<Attribute> reads(ofRows.begin(), ofRows.end()), writes;
  reads.append(reduced.size(), row);
  SmallVector<Type> results;
  for (Value value : yields) {
    bool isElement = llvm::is_contained(code.getTerminator()->getOperands(), value);
    TensorType type = domain.withElementType(value.getType());
    results.push_back(isElement ? type : type.withDims(domain.getRowDims()));
    writes.push_back(isElement ? full : row);
  }
  auto map = MapOp::create(builder, rows.getLoc(), results, rows.getLabel(), inputs,
                           builder.getArrayAttr(domain.getDims()), builder.getArrayAttr(reads),
                           builder.getArrayAttr(writes));
  for (NamedAttribute attribute : rows->getDiscardableAttrs())
    if (attribute.getName() != kValuesAttr) // one for each result of the map
      map->setAttr(attribute.getName(), attribute.getValue());
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&map.getBody());
  addArguments(block, inputs, rows.getLoc());
  IRMapping mapping;
  mapping.map(code.getArguments(), block->getArguments().take_front(code.getNumArguments()));
  mapping.map(ValueRange(reductions), ValueRange(block->getArguments().take_back(reduced.size())));
  llvm::SmallDenseSet<Operation *> needed = findNeeded(yields, reductions);
  for (Operation &op : code)
    if (needed.contains(&op)) {
      Operation *copy = builder.clone(op, mapping);
      if (isExpBelowMaximum(&op))
        copy->setAttr(kOfNonpositiveAttr, builder.getUnitAttr());
    }
  YieldOp::create(builder, rows.getLoc(),
                  llvm::map_to_vector(yields, [&](Value value) { return mapping.lookup(value); }));
  return map;
}

static void join(ArrayRef<Operation *> ops, const Twine &name, Skeleton skeleton) {
  MLIRContext *context = ops.front()->getContext();
  for (Operation *op : ops) {
    op->setAttr(kJoinedAttr, StringAttr::get(context, name));
    op->setAttr(kJoinedByAttr, SkeletonAttr::get(context, skeleton));
  }
}

void AttentionGradient::mark(StringRef name) {
  around.gather();
  MapOp rows = around.rows;
  OpBuilder builder(rows);
  SmallVector<Value> all = findReductions(rows), reductions, reduced, ofRow;
  OperandRange elements = rows.getBody().front().getTerminator()->getOperands();
  auto numberOf = [](ContractOp product) {
    return cast<OpResult>(product.getLhs()).getResultNumber();
  };
  unsigned weights = numberOf(ofValues), gradients = numberOf(ofQueries);

  ofRow.push_back(elements[gradients]);
  for (auto [reduction, kept] : llvm::zip_equal(all, keepReductions(rows, all)))
    if (kept) {
      reductions.push_back(reduction);
      reduced.push_back(kept);
    } else {
      ofRow.push_back(reduction);
    }
  MapOp byRows = copyRows(builder, scores, arriving, reductions, reduced, ofRow);
  ofQueries.getLhsMutable().assign(byRows->getResult(0));
  ofQueries->moveAfter(byRows);

  builder.setInsertionPointAfter(ofQueries);
  auto again = [&](ContractOp product) { return cast<ContractOp>(builder.clone(*product)); };
  ContractOp scoresAgain = again(scores), arrivingAgain = again(arriving);
  llvm::append_range(reductions, ArrayRef<Value>(ofRow).drop_front());
  llvm::append_range(reduced, byRows->getResults().drop_front());
  MapOp byColumns = copyRows(builder, scoresAgain, arrivingAgain, reductions, reduced,
                             {elements[gradients], elements[weights]});
  ofKeys.getLhsMutable().assign(byColumns->getResult(0));
  ofValues.getLhsMutable().assign(byColumns->getResult(1));
  ofKeys->moveAfter(byColumns);
  ofValues->moveAfter(ofKeys);

  join({scores, arriving, byRows, ofQueries}, name, Skeleton::Attention);
  join({scoresAgain, arrivingAgain, byColumns, ofKeys, ofValues}, name + " by columns",
       Skeleton::AttentionColumns);
  rows.erase();
}

} // namespace halftone::ir
