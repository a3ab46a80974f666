// SPDX-License-Identifier: Apache-2.0
// What a step adds is a few elements: two launches for each encoding, and one in micro-batches.
#include "codegen/passes/DelayedScales.h"

#include "codegen/ir/Forms.h"
#include "codegen/passes/ScaleFormulas.h"
#include "halftone/manifest/checksum.hpp"
#include "halftone/manifest/spelling.hpp"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;

namespace halftone::ir {
namespace {

/// A scale, and the largest magnitudes that were found where it is read.
struct Tracker {
  StateOp scale;
  SmallVector<Value> amaxes;
};

/// Those of one encoding.
class Trackers {
public:
  Trackers(OpBuilder &builder, Location loc, const Encoding &to, ArrayRef<Tracker> trackers)
      : builder(builder), loc(loc), to(to), trackers(trackers),
        vector(TensorType::get(builder.getContext(), {number(trackers.size())},
                               builder.getF32Type())) {
    std::string names;
    for (Tracker tracker : trackers)
      names += (tracker.scale.getName() + "\n").str();
    digest = llvm::utohexstr(manifest::hash_of(names), /*LowerCase=*/true, /*Width=*/16);
  }

  void build(Value firstMicroBatch, Value microBatches, Value step) {
    Value scales = state(named(manifest::kDelayedScales), vector, 1);
    placeScales();
    Value amaxes = flattened();
    Value earlier = accumulated(amaxes, firstMicroBatch);
    Value largest = remembered(amaxes, earlier, microBatches, step);
    auto next = makeMap(builder, loc, "next_scales", {largest, scales}, vector,
                        [&](Scalars &s, ValueRange a) {
                          return SmallVector<Value>{nextDelayedScale(s, a[0], a[1], to)};
                        });
    assign(scales, next, 0, Phase::Update);
  }

private:
  Attribute number(size_t n) { return builder.getI64IntegerAttr(static_cast<int64_t>(n)); }
  std::string named(std::string_view family) const { return std::string(family) + digest; }

  Value state(const std::string &name, TensorType type, double initial) {
    return StateOp::create(builder, loc, type, builder.getStringAttr(name),
                           builder.getF64FloatAttr(initial), builder.getUnitAttr());
  }

  void assign(Value state, MapOp map, unsigned result, Phase phase) {
    setPhase(map, phase);
    setPhase(AssignOp::create(builder, loc, state, map.getOutputs()[result]), phase);
  }

  /// What passes read is an element of the vector.
  void placeScales() {
    for (auto [i, tracker] : llvm::enumerate(trackers)) {
      NamedAttrList place;
      place.append("buffer", builder.getStringAttr(named(manifest::kDelayedScales)));
      place.append("index", number(i));
      place.append("count", number(trackers.size()));
      tracker.scale->setAttr(kElementOfAttr, place.getDictionary(builder.getContext()));
      tracker.scale->removeAttr(kDelayedAttr);
    }
  }

  Value flattened() {
    SmallVector<Value> parts;
    SmallVector<int64_t> offsets;
    for (const Tracker &tracker : trackers) {
      Value largest = tracker.amaxes.front();
      for (Value other : llvm::drop_begin(tracker.amaxes)) {
        auto larger = makeMap(
            builder, loc, "larger_amax", {largest, other}, largest.getType(),
            [](Scalars &s, ValueRange a) { return SmallVector<Value>{s.maximum(a[0], a[1])}; });
        setPhase(larger, Phase::Backward);
        largest = larger.getOutputs()[0];
      }
      offsets.push_back(static_cast<int64_t>(parts.size()));
      parts.push_back(largest);
    }
    auto op = FlattenOp::create(builder, loc, vector, parts, offsets);
    op->setAttr(kFlattenedAttr, builder.getStringAttr("%" + named(manifest::kAmaxes)));
    setPhase(op, Phase::Backward);
    return op;
  }

  /// M4: the largest of a step's micro-batches so far.
  Value accumulated(Value amaxes, Value firstMicroBatch) {
    Value earlier = state(stateBeforeStepBuffer(named(manifest::kAmaxes)), vector, 0);
    auto larger =
        makeMap(builder, loc, "accumulate_amaxes", {earlier, amaxes, firstMicroBatch}, vector,
                [](Scalars &s, ValueRange a) {
                  Value isFirst = s.greater(a[2], s.like(a[2], 0));
                  return SmallVector<Value>{s.select(isFirst, a[1], s.maximum(a[0], a[1]))};
                });
    assign(earlier, larger, 0, Phase::Accumulate);
    return earlier;
  }

  /// Puts the step's into the history, and gives the largest that is there. Done twice it is the
  /// same: a step has its column.
  Value remembered(Value amaxes, Value earlier, Value microBatches, Value step) {
    TensorType matrix =
        vector.withDims({vector.getDims()[0], number(static_cast<size_t>(to.scaling.history))});
    Value history = state(named(manifest::kAmaxes), matrix, 0);
    using enum AccessKind;
    Space space{matrix, accesses(builder.getContext(), {Full, Row, Row, Scalar, Scalar}),
                accesses(builder.getContext(), {Full, Row})};
    auto map = makeMap(
        builder, loc, "remember_amaxes", space, {history, amaxes, earlier, microBatches, step},
        SmallVector<Type>{matrix, vector}, [&](Scalars &s, ValueRange a) {
          Value wereSeveral = s.greater(a[3], s.like(a[3], 1));
          Value amax = s.select(wereSeveral, a[2], a[1]);
          Value isFinite = s.less(amax, s.like(amax, INFINITY)); // NaN is not
          Value counted = s.select(isFinite, amax, s.like(amax, 0));
          Value column = s.remainder(a[4], to.scaling.history);
          Value isOfStep = s.compare(arith::CmpIPredicate::eq, s.columnIndex(), column);
          Value next = s.select(isOfStep, counted, a[0]);
          return SmallVector<Value>{next, s.rowMax(next)};
        });
    assign(history, map, 0, Phase::Check);
    return map.getOutputs()[1];
  }

  OpBuilder &builder;
  Location loc;
  Encoding to;
  ArrayRef<Tracker> trackers;
  TensorType vector;
  std::string digest; ///< of the trackers' names: others have buffers of their own
};

} // namespace

void buildDelayedScales(GraphOp graph, OpBuilder &builder, Location loc, Value firstMicroBatch,
                        Value microBatches) {
  Block &block = graph.getBody().front();
  llvm::MapVector<StringAttr, Tracker> byName;
  for (auto amax : llvm::make_early_inc_range(block.getOps<AmaxOp>())) {
    byName[amax.getNameAttr()].amaxes.push_back(amax.getX());
    amax.erase();
  }
  llvm::MapVector<Attribute, SmallVector<Tracker>> byEncoding;
  for (auto scale : block.getOps<StateOp>())
    if (Attribute encoding = scale->getAttr(kDelayedAttr))
      if (auto found = byName.find(scale.getNameAttr()); found != byName.end()) {
        found->second.scale = scale;
        byEncoding[encoding].push_back(found->second);
      }
  for (auto &[encoding, trackers] : byEncoding) {
    Value step = countersFor(microBatches.getDefiningOp())[2];
    Trackers(builder, loc, cast<EncodingAttr>(encoding).getValue(), trackers)
        .build(firstMicroBatch, microBatches, step);
  }
}

} // namespace halftone::ir
