// SPDX-License-Identifier: Apache-2.0
// Weights that predictors hold as codes and scales (P82): what multiplies by them reads codes and
// leaves sums that a map scales, what reads them by elements reads both.
#include "codegen/ir/Accesses.h"
#include "codegen/ir/Forms.h"
#include "codegen/ir/Scalars.h"
#include "codegen/passes/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineMap.h"

#include <map>

namespace halftone::ir {
#define GEN_PASS_DEF_QUANTIZEWEIGHTS
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// Elements that each weight's codes, and its scales, begin at multiples of.
constexpr int64_t kCodesAlignment = 64, kScalesAlignment = 32;

/// One parameter, while its readers are changed.
class Weight {
public:
  Weight(OpBuilder &builder, ParameterOp parameter, QuantizedWeightOp held)
      : builder(builder), parameter(parameter), held(held),
        dimension(static_cast<unsigned>(held.getDimension())) {}

  void changeReaders() {
    readCodes(parameter.getResult(), held.getCodes());
    if (!parameter.use_empty())
      parameter.getResult().replaceAllUsesWith(makeF32());
  }

private:
  void readCodes(Value weight, Value codes) {
    SmallVector<std::pair<MapOp, unsigned>> elementwise; // changed last: operands move as one joins
    for (OpOperand &use : llvm::make_early_inc_range(weight.getUses())) {
      Operation *reader = use.getOwner();
      auto view = dyn_cast<ViewOp>(reader);
      if (view && keepsChannels(view)) {
        builder.setInsertionPoint(view);
        auto again = cast<ViewOp>(builder.clone(*view));
        again.getXMutable().assign(codes);
        again.getResult().setType(view.getType().withElementType(codeType()));
        readCodes(view, again);
        for (Operation *unread : {view.getOperation(), again.getOperation()})
          if (unread->use_empty())
            unread->erase();
      } else if (multiplies(use)) {
        use.set(codes);
        scaleSums(cast<ContractOp>(reader));
      } else if (auto map = dyn_cast<MapOp>(reader); map && weight == parameter.getResult()) {
        elementwise.emplace_back(map, use.getOperandNumber());
      }
    }
    for (auto [map, operand] : elementwise)
      readBoth(map, operand);
  }

  Type codeType() { return tensor(held.getCodes()).getElementType(); }

  bool keepsChannels(ViewOp view) {
    ArrayRef<Attribute> dims = view.getType().getDims();
    return dimension == 0 && view.getParts() == 0 && !view.isOfFlat() && dims.size() > 1 &&
           dims.front() == tensor(parameter.getResult()).getDims().front();
  }

  /// Whether channels are the columns of what `use` is the right factor of.
  bool multiplies(OpOperand &use) {
    auto contract = dyn_cast<ContractOp>(use.getOwner());
    return contract && use.getOperandNumber() == 1 && contract.getBatchAxes() == 0 &&
           !contract.getStart() && dimension == (contract.getTransposeRhs() ? 0u : 1u);
  }

  /// The product becomes what is inside, and the map what it was.
  void scaleSums(ContractOp contract) {
    builder.setInsertionPointAfter(contract);
    auto map =
        makeMap(builder, contract.getLoc(), "scale", {contract.getResult(), held.getScales()},
                contract.getType(),
                [](Scalars &s, ValueRange e) -> SmallVector<Value> { return {s.mul(e[0], e[1])}; });
    contract.getResult().replaceAllUsesExcept(map.getOutputs()[0], map);
    for (NamedAttribute attribute : contract->getDiscardableAttrs())
      map->setAttr(attribute.getName(), attribute.getValue());
    contract->removeAttr(kValuesAttr);
    contract->setAttr(kInternalAttr, builder.getUnitAttr());
  }

  /// How an element of `domain` that reads the weight so reads its scale.
  AccessAttr readScale(AccessAttr read, TensorType domain) {
    TensorType weight = tensor(parameter.getResult()), scales = tensor(held.getScales());
    Axes axes{domain.getDims(), {}};
    AffineMap all = getMap(read, axes, weight, false);
    auto one = AffineMap::get(all.getNumDims(), all.getNumSymbols(), {all.getResult(dimension)},
                              builder.getContext());
    if (!read.getWhere() && read.isOfAxes())
      return recogniseAccess(one, axes, scales);
    return AccessAttr::get(builder.getContext(), AccessKind::General, 0, AffineMapAttr::get(one),
                           read.getWhere(), read.getIndices(), read.getLengths());
  }

  void readBoth(MapOp map, unsigned operand) {
    SmallVector<AccessAttr> reads = map.getOperandAccesses(), writes = map.getResultAccesses();
    TensorType domain = map.getDomain();
    reads.push_back(readScale(reads[operand], domain));
    map->setOperand(operand, held.getCodes());
    map.getInputsMutable().append(held.getScales());
    auto list = [&](ArrayRef<AccessAttr> accesses) {
      return builder.getArrayAttr(SmallVector<Attribute>(accesses.begin(), accesses.end()));
    };
    map.setOverAttr(builder.getArrayAttr(domain.getDims()));
    map.setReadsAttr(list(reads));
    map.setWritesAttr(list(writes));

    Block &body = map.getBody().front();
    BlockArgument code = body.getArgument(operand),
                  scale = body.addArgument(builder.getF32Type(), map.getLoc());
    code.setType(codeType());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&body);
    Value wide = widen(code);
    code.replaceAllUsesExcept(Scalars(builder, map.getLoc()).mul(wide, scale),
                              wide.getDefiningOp());
  }

  Value widen(Value code) {
    Location loc = code.getLoc();
    if (isDelivered(code.getType()))
      return IntegerOp::create(builder, loc, builder.getF32Type(), code);
    return arith::ExtFOp::create(builder, loc, builder.getF32Type(), code);
  }

  /// For whoever reads neither: each weight in f32, in memory.
  Value makeF32() {
    TensorType type = tensor(parameter.getResult());
    AccessAttr full = AccessAttr::get(builder.getContext(), AccessKind::Full);
    Space space{type, {full, readScale(full, type)}, {full}};
    builder.setInsertionPointAfter(held);
    auto map = makeMap(
        builder, held.getLoc(), "dequantize", space, {held.getCodes(), held.getScales()}, type,
        [&](Scalars &s, ValueRange e) -> SmallVector<Value> { return {s.mul(widen(e[0]), e[1])}; });
    map->setAttr(kLayerAttr, parameter.getNameAttr());
    map->setAttr(kInternalAttr, builder.getUnitAttr());
    return map.getOutputs()[0];
  }

  OpBuilder &builder;
  ParameterOp parameter;
  QuantizedWeightOp held;
  unsigned dimension;
};

class Quantizer {
public:
  explicit Quantizer(GraphOp graph) : graph(graph), builder(graph.getContext()) {}

  void run() {
    for (auto parameter : llvm::to_vector(graph.getBody().front().getOps<ParameterOp>()))
      if (auto how = parameter->getAttrOfType<DictionaryAttr>(kQuantizedAttr))
        Weight(builder, parameter, hold(parameter, how)).changeReaders();
  }

private:
  QuantizedWeightOp hold(ParameterOp parameter, DictionaryAttr how) {
    TensorType type = tensor(parameter.getResult());
    int64_t dimension = isReadByColumns(parameter) ? 1 : 0;
    Type element = how.getAs<TypeAttr>("element").getValue();
    TensorType codes = type.withElementType(element),
               scales = type.withDims(type.getDims().slice(static_cast<size_t>(dimension), 1));
    auto place = [&](int64_t &end, TensorType of, int64_t alignment) {
      int64_t first = end;
      end = static_cast<int64_t>(llvm::alignTo(end + *of.getStaticElements(), alignment));
      return builder.getI64IntegerAttr(first);
    };
    builder.setInsertionPointAfter(parameter);
    auto held = QuantizedWeightOp::create(
        builder, parameter.getLoc(), codes, scales, parameter.getNameAttr(),
        place(codesEnd[elementOf(element)], codes, kCodesAlignment),
        place(scalesEnd, scales, kScalesAlignment), builder.getI64IntegerAttr(dimension),
        how.getAs<BoolAttr>("least_error").getValue() ? builder.getUnitAttr() : UnitAttr());
    record(held, how);
    return held;
  }

  /// P81: whether all that read it multiply rows by it as it lies.
  static bool isReadByColumns(ParameterOp parameter) {
    return !parameter.use_empty() && llvm::all_of(parameter->getUses(), [](OpOperand &use) {
      auto contract = dyn_cast<ContractOp>(use.getOwner());
      return contract && use.getOperandNumber() == 1 && contract.getBatchAxes() == 0 &&
             !contract.getTransposeRhs();
    });
  }

  /// For people: what rules decided.
  void record(QuantizedWeightOp held, DictionaryAttr how) {
    NamedAttrList entry;
    entry.append("name", held.getParameterAttr());
    entry.append("layer", held.getParameterAttr());
    entry.append("op", builder.getStringAttr("parameter"));
    entry.append("role", builder.getI64IntegerAttr(static_cast<int64_t>(ValueRole::Weight)));
    entry.append("type", TypeAttr::get(held.getCodes().getType()));
    for (StringRef name : {"rule", "beaten"})
      if (Attribute known = how.get(name))
        entry.append(name, known);
    auto known = graph->getAttrOfType<ArrayAttr>(kValuesAttr);
    SmallVector<Attribute> values(known ? known.getValue() : ArrayRef<Attribute>());
    held->setAttr(kValuesAttr,
                  builder.getDenseI64ArrayAttr({static_cast<int64_t>(values.size()), -1}));
    values.push_back(entry.getDictionary(builder.getContext()));
    graph->setAttr(kValuesAttr, builder.getArrayAttr(values));
  }

  GraphOp graph;
  OpBuilder builder;
  std::map<Element, int64_t> codesEnd;
  int64_t scalesEnd = 0;
};

struct QuantizeWeightsPass : halftone::ir::impl::QuantizeWeightsBase<QuantizeWeightsPass> {
  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>())
      if (graph.isInference())
        Quantizer(graph).run();
  }
};

} // namespace
} // namespace halftone::ir
