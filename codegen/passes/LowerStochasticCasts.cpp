// SPDX-License-Identifier: Apache-2.0
// Stochastic rounding, F6 of docs/spec/precision.md, as scalar code of a map: what emitters get are
// draws, arithmetic and a cast to the nearest.
#include "codegen/ir/Forms.h"
#include "codegen/passes/Passes.h"
#include "codegen/passes/ScaledRounding.h"
#include "halftone/encoding/text.hpp"

#include <cmath>

namespace halftone::ir {
#define GEN_PASS_DEF_LOWERSTOCHASTICCASTS
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

using encoding::ElementTraits;

constexpr const ElementTraits &kF32 = encoding::traits(Element::f32);
constexpr int64_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;
constexpr int kDrawnBits = 24; ///< of a word, the upper ones: as many as f32 holds

/// An f32 becomes one of its two neighbours among the numbers that an element would have if its
/// exponents went on without end. `draw` is a word of 32 random bits.
class Neighbours {
public:
  Neighbours(OpBuilder &builder, Location loc, Element element, Value draw)
      : builder(builder), loc(loc), s(builder, loc), to(encoding::traits(element)), draw(draw) {}

  Value of(Value x) {
    Value bits = s.bits(x), magnitude = s.both(bits, s.integer(kMagnitude));
    Value rounded = ofNormal(magnitude);
    if (to.exponent_bits < kF32.exponent_bits)
      rounded = s.select(s.compare(arith::CmpIPredicate::ult, magnitude, s.integer(leastNormal())),
                         s.bits(ofSubnormal(magnitude)), rounded);
    Value sign = s.both(bits, s.integer(~kMagnitude));
    Value isNan = s.compare(arith::CmpIPredicate::ugt, magnitude, s.integer(kInfinity));
    return s.select(isNan, x, s.real(s.either(rounded, sign)));
  }

private:
  /// The f32 code of the element's least normal number.
  int64_t leastNormal() const {
    return int64_t(kF32.bias + encoding::least_normal(to)) << kF32.mantissa_bits;
  }

  /// The upper bits of the draw, as many as the element drops, are below what it drops where their
  /// complement carries. Codes go on from a power of two to the next, and to infinity.
  Value ofNormal(Value magnitude) {
    int64_t dropped = kF32.mantissa_bits - to.mantissa_bits;
    Value complement = arith::XOrIOp::create(builder, loc, draw, s.integer(-1));
    Value carried = s.plus(magnitude, s.shiftRight(complement, 32 - dropped));
    return s.both(carried, s.integer(-(int64_t(1) << dropped)));
  }

  /// In units of the least subnormal number, of which f32 has every fraction.
  Value ofSubnormal(Value magnitude) {
    Value isSmall = s.compare(arith::CmpIPredicate::ult, magnitude, s.integer(leastNormal()));
    Value small = s.real(s.select(isSmall, magnitude, s.integer(leastNormal())));
    int unit = encoding::least_subnormal(to);
    Value units = s.mul(small, s.like(small, std::ldexp(1.0, -unit)));
    Value below = math::FloorOp::create(builder, loc, units);
    Value drawn = s.mul(s.number(s.shiftRight(draw, 32 - kDrawnBits)),
                        s.like(small, std::ldexp(1.0, -kDrawnBits)));
    Value isUp = s.less(drawn, s.sub(units, below));
    Value above = s.add(below, s.like(small, 1));
    return s.mul(s.select(isUp, above, below), s.like(small, std::ldexp(1.0, unit)));
  }

  OpBuilder &builder;
  Location loc;
  Scalars s;
  const ElementTraits &to;
  Value draw;
};

/// What `cast` rounds as f32, computed inside of its reader.
Value inF32(OpBuilder &builder, CastOp cast) {
  Value x = cast.getX();
  if (tensor(x).getElementType().isF32())
    return x;
  auto wide = CastOp::create(builder, cast.getLoc(), x, Encoding(Element::f32));
  wide->setAttr(kInlineAttr, builder.getUnitAttr());
  setPhase(wide, getPhase(cast));
  return wide;
}

void lower(CastOp cast) {
  OpBuilder builder(cast);
  Encoding to = cast.getEncoding();
  if (auto drawn = llvm::cast_or_null<TypeAttr>(cast->removeAttr(kDrawnAsAttr)))
    to.element = elementOf(drawn.getValue()); // held in one that has its numbers
  std::string name = cast.getStochastic()->str() + " " + encoding::spelled(to); // P48
  SmallVector<Value> operands{inF32(builder, cast)};
  llvm::append_range(operands, countersFor(cast));
  Type type = operands.front().getType();
  auto map = makeMap(builder, cast.getLoc(), "stochastic", operands, type,
                     [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       Value draw = s.draw(name, e.drop_front());
                       return {Neighbours(builder, cast.getLoc(), to.element, draw).of(e[0])};
                     });
  for (StringRef attribute : {StringRef(kLayerAttr), StringRef(kKindAttr)})
    if (Attribute known = cast->getAttr(attribute))
      map->setAttr(attribute, known);
  map->setAttr(kInternalAttr, builder.getUnitAttr());
  map->setAttr(kRoundingAttr, builder.getUnitAttr());
  setPhase(map, getPhase(cast));
  cast.getXMutable().assign(map.getOutputs()[0]);
  cast.removeStochasticAttr();
  cast.removeScaleAttr();
  cast.removeOffsetAttr();
}

struct LowerStochasticCastsPass
    : halftone::ir::impl::LowerStochasticCastsBase<LowerStochasticCastsPass> {
  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>())
      for (auto cast : llvm::make_early_inc_range(graph.getBody().front().getOps<CastOp>()))
        if (cast.getStochastic())
          lower(cast);
  }
};

} // namespace
} // namespace halftone::ir
