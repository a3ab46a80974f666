// SPDX-License-Identifier: Apache-2.0
#include "codegen/audit/Sources.h"

using namespace mlir;

namespace halftone::audit {

using namespace ir; // NOLINT(google-build-using-namespace): operations

namespace {

std::optional<Source> givenOf(StringRef name, const Ranges &ranges) {
  auto found = ranges.tensors.find(name.str());
  if (found == ranges.tensors.end())
    return std::nullopt;
  const TensorRange &of = found->second;
  return Source{
      Bound::of(of.range), {of.sumOfLast, of.sumBehindFirst, of.sumBeforeLast}, of.isWhole};
}

/// Numbers that are rounded to f32 when they are drawn.
Bound drawn(Interval range) { return Bound::of(widened(range, range.magnitude() * kUnit)); }

double valueOf(FloatAttr number) { return number ? number.getValueAsDouble() : 0; }

} // namespace

Bound integersOf(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  unsigned bits = integer ? integer.getWidth() : 64;
  if (integer && integer.isUnsigned())
    return Bound::of(Interval{0, std::ldexp(1, static_cast<int>(bits)) - 1});
  double half = std::ldexp(1, static_cast<int>(bits) - 1);
  return Bound::of(Interval{-half, half - 1});
}

std::variant<Source, std::string> sourceOf(InputOp input, const Ranges &ranges,
                                           const ScalarCode &) {
  Type type = cast<TensorType>(input.getType()).getElementType();
  encoding::Element element = elementOf(type);
  Bound all = Bound::unknown();
  if (isa<IntegerType>(type))
    all = integersOf(type);
  else if (encoding::is_narrow(element))
    all = Bound::of(Interval::within(Format(element).largest));
  std::optional<Source> given = givenOf(input.getName(), ranges);
  if (given && intersect(given->bound.exact, all.exact) != given->bound.exact)
    return "input '" + input.getName().str() + "' is of " + encoding::word(element) +
           ", which does not hold all of its range; mend its line";
  if (given)
    return *given;
  if (isa<IntegerType>(type))
    return Source{all, {}, true};
  return "input '" + input.getName().str() + "' has no range; add a line `" +
         input.getName().str() + " LOW HIGH` with the numbers that it is given";
}

std::variant<Source, std::string> sourceOf(ParameterOp parameter, const Ranges &ranges,
                                           const ScalarCode &code) {
  if (std::optional<Source> given = givenOf(parameter.getName(), ranges))
    return *given;
  constexpr double kDeviations = 9.5; // sqrt(2 * 65 ln 2), initialize.cpp
  InitializerAttr initializer = parameter.getInitializer();
  double first = valueOf(initializer.getFirst()), second = valueOf(initializer.getSecond());
  switch (initializer.getKind()) {
  case InitializerKind::Constant:
    return Source{drawn(Interval::of(first)), {}};
  case InitializerKind::Uniform:
    return Source{drawn({first, second}), {}};
  case InitializerKind::Normal:
    return Source{drawn({first - kDeviations * second, first + kDeviations * second}), {}};
  case InitializerKind::TruncatedNormal:
    return Source{drawn({valueOf(initializer.getLow()), valueOf(initializer.getHigh())}), {}};
  case InitializerKind::Orthogonal: { // rows, or columns, of length |first|
    double size = std::fabs(first) * (1 + 0x1p-20);
    ArrayRef<Attribute> dims = cast<TensorType>(parameter.getType()).getDims();
    double ofRow = size * std::sqrt(code.count(dims.drop_front()));
    double ofColumn = size * std::sqrt(code.count(dims.take_front()));
    return Source{
        Bound::of(Interval::within(size)),
        {dims.size() == 2 ? ofRow : kInfinity, ofRow, dims.size() == 2 ? ofColumn : kInfinity}};
  }
  }
  llvm_unreachable("all initializers are listed");
}

std::variant<Source, std::string> sourceOf(StateOp state, const Ranges &ranges,
                                           const ScalarCode &) {
  double initial = state.getInitial().convertToDouble();
  if (state.getOptimizer()) { // the loss scale (L1)
    bool isGiven = ranges.lossScale > 0 && state.getName() == "loss_scale";
    return Source{Bound::of(isGiven ? ranges.lossScale : initial), {}};
  }
  if (std::optional<Source> given = givenOf(state.getName(), ranges))
    return *given;
  if (state->hasAttr(kKeptAttr)) // as before the first step
    return Source{drawn(Interval::of(initial)), {}};
  return "state '" + state.getName().str() + "' has no range; add a line `" +
         state.getName().str() + " LOW HIGH` with what it holds while it is trained";
}

Bound deliveredOf(CastOp cast, const Bound &number) {
  if (cast.getType().getElementType().isInteger()) // -1 where i32 does not hold it
    return Bound::of(intersect(hull(number.exact, Interval::of(-1)),
                               integersOf(IntegerType::get(cast.getContext(), 32)).exact));
  auto orElse = [](std::optional<APFloat> stated, double otherwise) {
    return Bound::of(stated ? stated->convertToDouble() : otherwise);
  };
  Bound value = number;
  if (cast.getScale() || cast.getOffset())
    value = sum(product(number, orElse(cast.getScale(), 1)), orElse(cast.getOffset(), 0));
  return roundedTo(cast.getEncoding(), value).bound;
}

} // namespace halftone::audit
