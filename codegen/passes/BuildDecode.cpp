// SPDX-License-Identifier: Apache-2.0
// The inference graph becomes one that goes on from earlier tokens: G8 to G12 of
// docs/spec/generation.md.
#include "codegen/ir/Continuation.h"
#include "codegen/passes/Passes.h"
#include "codegen/passes/ScaledRounding.h"
#include "codegen/skeletons/KernelGroup.h"

namespace halftone::ir {
#define GEN_PASS_DEF_BUILDDECODE
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

class Decoding {
public:
  explicit Decoding(GraphOp graph)
      : graph(graph), block(graph.getBody().front()), builder(graph.getContext()),
        loc(NameLoc::get(builder.getStringAttr("decode"))) {}

  LogicalResult run() {
    if (failed(findTokens()))
      return failure();
    if (failed(checkScales()))
      return failure();
    makePositions();
    for (auto layer : llvm::make_early_inc_range(block.getOps<Layer>()))
      if (failed(layer.continueFrom(before)))
        return failure();
    auto isCache = [](StateOp state) { return state.getCache(); };
    if (llvm::none_of(block.getOps<StateOp>(), isCache))
      return refuse("no attention reads earlier tokens, so that there is nothing to go on from");
    for (auto output : block.getOps<OutputOp>())
      if (!before.leads(tensor(output.getX())))
        return refuse("output '" + output.getName() + "' is not one row for every token");
    computeLastAlone();
    graph.setName(kDecode);
    return success();
  }

private:
  LogicalResult refuse(const Twine &why) {
    auto model = graph->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>(kModelAttr);
    return graph.emitError() << "model '" << model.getValue() << "' cannot decode: " << why;
  }

  /// The one input: integers, of sequences and their times.
  LogicalResult findTokens() {
    for (auto input : block.getOps<InputOp>()) {
      if (tokens)
        return refuse("its outputs depend on the inputs '" + tokens.getName() + "' and '" +
                      input.getName() + "', where tokens alone are given");
      tokens = input;
    }
    auto dims = tokens ? tensor(tokens).getDims() : ArrayRef<Attribute>();
    auto isSymbol = [](Attribute dim) {
      auto symbol = dyn_cast<StringAttr>(dim);
      return symbol && symbolicExtentOf(symbol.getValue()).name == symbol.getValue();
    };
    if (dims.size() != 2 || !llvm::all_of(dims, isSymbol) || dims[0] == dims[1] || isFloat(tokens))
      return refuse("it wants tokens, an input of integers with symbols for sequences and times, "
                    "i32[batch, time] say");
    if (llvm::any_of(dims,
                     [](Attribute dim) { return cast<StringAttr>(dim).getValue() == kCapacity; }))
      return refuse("'" + kCapacity +
                    "' is what the rows of its caches are called; give the "
                    "symbol another name");
    before.batch = dims[0];
    before.time = dims[1];
    return success();
  }

  /// Whether it is a parameter, rounded or put together (P69).
  static bool isOfParameter(Operation *op) {
    return isa<ParameterOp, WorkingCopyOp>(op) ||
           ((isa<CastOp>(op) || isOfScaledRounding(op) || isForAnyAccess(op)) &&
            isOfParameter(op->getOperand(0).getDefiningOp()));
  }

  /// Whether one scale is for several rows (P51, P77).
  static bool isOfRows(const encoding::Scaling &scaling) {
    using Kind = encoding::Scaling::Kind;
    return scaling.kind == Kind::tensor || scaling.kind == Kind::column || scaling.rows > 1 ||
           encoding::has_two_levels(scaling);
  }

  /// Such a scale is that of all tokens at hand (P54).
  LogicalResult checkScales() {
    for (Operation &op : block)
      if (auto cast = op.getAttrOfType<DictionaryAttr>(kCastAttr))
        if (isOfRows(cast.getAs<EncodingAttr>("to").getValue().scaling) && !isOfParameter(&op))
          return refuse("what layer '" + getLayer(&op) +
                        "' leaves is read under a scale of several rows, so that a token's logits "
                        "would depend on the others beside it; scale blocks of one row (P54)");
    return success();
  }

  /// A number for every sequence, which the host gives.
  Value inputOfSequences(StringRef name) {
    auto type = TensorType::get(builder.getContext(), {before.batch}, builder.getI32Type());
    auto input = InputOp::create(builder, loc, type, name, false, false, FloatAttr(), FloatAttr());
    input->setAttr(kLayerAttr, builder.getStringAttr(name));
    return input;
  }

  /// An integer for every sequence and `columns`, of `start` and `count`.
  Value map(StringRef label, Attribute columns, ScalarCode code) {
    auto type =
        TensorType::get(builder.getContext(), {before.batch, columns}, builder.getI32Type());
    Space space{type, accesses(builder.getContext(), {AccessKind::Row, AccessKind::Row}),
                accesses(builder.getContext(), {AccessKind::Full})};
    return makeMap(builder, loc, label, space, {start, count}, type, code).getOutputs()[0];
  }

  void makePositions() {
    builder.setInsertionPointToStart(&block);
    start = inputOfSequences("%start");
    count = inputOfSequences("%count");
    using Predicate = arith::CmpIPredicate;
    before.positions = map("positions", before.time, [](Scalars &s, ValueRange e) {
      Value i = s.columnIndex(), isThere = s.compare(Predicate::slt, i, e[1]);
      return SmallVector<Value>{s.select(isThere, s.plus(e[0], i), s.integer(-1))};
    });
    Attribute capacity = builder.getStringAttr(kCapacity);
    before.sources = map("sources", capacity, [](Scalars &s, ValueRange e) {
      Value i = s.minus(s.columnIndex(), e[0]);
      Value isNew =
          s.both(s.compare(Predicate::sge, i, s.integer(0)), s.compare(Predicate::slt, i, e[1]));
      return SmallVector<Value>{s.select(isNew, i, s.integer(-1))};
    });
  }

  /// Leaves of outputs the rows of each sequence's last token (G11), and computes no others of what
  /// they alone are computed from.
  void computeLastAlone() {
    SmallVector<Operation *> ofLast = findOfLast();
    Value last = makeLast();
    llvm::DenseMap<Value, Value> taken;
    for (Operation *op : ofLast) {
      builder.setInsertionPoint(op);
      for (OpOperand &operand : op->getOpOperands()) {
        Value x = operand.get();
        if (!before.hasTimesInFront(tensor(x)))
          continue; // of no tokens, or of the last ones
        if (!taken.contains(x))
          taken[x] = before.takeLast(builder, x, last);
        operand.set(taken[x]);
      }
      for (Value result : op->getResults())
        if (before.hasTimesInFront(tensor(result)))
          result.setType(before.ofLast(tensor(result)));
    }
  }

  /// Outputs and what is computed for them alone, in the order of the graph.
  SmallVector<Operation *> findOfLast() {
    llvm::SmallPtrSet<Operation *, 16> found;
    SmallVector<Operation *> ofLast;
    for (Operation &op : llvm::reverse(block)) {
      bool isReadByOthers =
          llvm::any_of(op.getUsers(), [&](Operation *reader) { return !found.contains(reader); });
      if (isa<OutputOp>(op) || (isRowByRow(op) && !op.use_empty() && !isReadByOthers)) {
        found.insert(&op);
        ofLast.push_back(&op);
      }
    }
    std::reverse(ofLast.begin(), ofLast.end());
    return ofLast;
  }

  /// All layers and casts of tokens are: what attention reads of other tokens comes from caches.
  bool isRowByRow(Operation &op) {
    return isa<Layer, CastOp>(op) && before.hasTimesInFront(tensor(op.getResult(0))) &&
           llvm::all_of(op.getOperands(), [&](Value x) { return canTakeLast(x); });
  }

  bool canTakeLast(Value x) {
    return !before.hasTimesInFront(tensor(x)) ||
           (tensor(x).getRank() <= 3 && !x.getDefiningOp<InputOp>());
  }

  /// [batch, 1]: the last of the tokens that a sequence is given, 0 where it is given none.
  Value makeLast() {
    builder.setInsertionPointAfterValue(before.sources);
    Attribute one = builder.getI64IntegerAttr(1);
    return map("last", one, [](Scalars &s, ValueRange e) {
      Value i = s.minus(e[1], s.integer(1));
      Value isThere = s.compare(arith::CmpIPredicate::sge, i, s.integer(0));
      return SmallVector<Value>{s.select(isThere, i, s.integer(0))};
    });
  }

  GraphOp graph;
  Block &block;
  OpBuilder builder;
  Location loc;
  InputOp tokens;
  Value start, count;
  Continuation before;
};

struct BuildDecodePass : halftone::ir::impl::BuildDecodeBase<BuildDecodePass> {
  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>())
      if (failed(Decoding(graph).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace halftone::ir
