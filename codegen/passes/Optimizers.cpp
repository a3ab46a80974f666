// SPDX-License-Identifier: Apache-2.0
// The optimizers' formulas: U4, U5, U6, U9 to U14, U16.
#include "codegen/passes/Optimizers.h"
#include "codegen/passes/FactoredUpdate.h"

#include <cmath>

using namespace mlir;

namespace halftone::ir {

namespace {

using Carried = SmallVector<OptimizerForm::Scalar>;

double number(DictionaryAttr attributes, StringRef name) {
  return attributes.getAs<FloatAttr>(name).getValueAsDouble();
}
bool flag(DictionaryAttr attributes, StringRef name) {
  return attributes.getAs<BoolAttr>(name).getValue();
}

/// U6: a power that is carried as the unevaluated sum of two floats.
class Power {
public:
  Power(StringRef name, double base) : name(name.str()), base(base) {}

  Carried carried() const { return {{name + "_high", 1}, {name + "_low", 0}}; }
  SmallVector<Value> next(Scalars &s, Value high, Value low) const {
    float baseHigh = static_cast<float>(base);
    Value bh = s.like(high, baseHigh), bl = s.like(high, base - baseHigh);
    Value t = s.mul(high, bh);
    Value e = s.fma(high, bh, s.neg(t));
    e = s.fma(high, bl, e);
    e = s.fma(low, bh, e);
    Value sum = s.add(t, e);
    return {sum, s.sub(e, s.sub(sum, t))};
  }

private:
  std::string name;
  double base;
};

/// The powers of both betas, U4.
class Powers {
public:
  Powers(const Twine &word, double beta1, double beta2)
      : first((word + ".beta1_power").str(), beta1), second((word + ".beta2_power").str(), beta2) {}

  Carried carried() const {
    Carried all = first.carried();
    llvm::append_range(all, second.carried());
    return all;
  }
  SmallVector<Value> next(Scalars &s, ValueRange carried) const {
    SmallVector<Value> next = first.next(s, carried[0], carried[1]);
    llvm::append_range(next, second.next(s, carried[2], carried[3]));
    return next;
  }

private:
  Power first, second;
};

/// 1 - power, of its two floats.
Value rest(Scalars &s, Value high, Value low) {
  Value one = s.like(high, 1);
  return s.sub(s.sub(one, high), low);
}

/// a + (1 - kept) * (x - a)
Value averaged(Scalars &s, Value a, Value x, double kept) {
  return s.fma(s.like(a, 1 - kept), s.sub(x, a), a);
}

/// kept * a + (1 - kept) * g * g
Value averagedSquare(Scalars &s, Value a, Value g, double kept) {
  return s.fma(s.like(a, 1 - kept), s.mul(g, g), s.mul(s.like(a, kept), a));
}

/// The parameter behind a decay of its own, U4.
Value decayed(Scalars &s, const OptimizerForm::Element &e) {
  Value shrink = s.neg(s.mul(e.learningRate, e.weightDecay));
  return s.fma(shrink, e.parameter, e.parameter);
}

/// The gradient with the decay in it, U5.
Value decayedGradient(Scalars &s, const OptimizerForm::Element &e) {
  return s.fma(e.weightDecay, e.parameter, e.gradient);
}

/// U5; carried, with a dampening: what the buffer takes of a gradient, all of the first.
class Sgd : public OptimizerForm {
public:
  explicit Sgd(DictionaryAttr attributes)
      : momentum(number(attributes, "momentum")), nesterov(flag(attributes, "nesterov")) {
    if (auto given = attributes.getAs<FloatAttr>("dampening"))
      dampening = given.getValueAsDouble();
  }

  SmallVector<Scalar> moments() const override {
    return momentum == 0 ? SmallVector<Scalar>() : SmallVector<Scalar>{{"sgd.momentum", 0}};
  }

  SmallVector<Scalar> carriedScalars() const override {
    return dampening == 0 ? SmallVector<Scalar>() : SmallVector<Scalar>{{"sgd.share", 0}};
  }

  SmallVector<Value> nextScalars(Scalars &s, ValueRange carried) const override {
    if (dampening == 0)
      return {};
    Value isFirst = s.equal(carried[0], s.like(carried[0], 0));
    return {s.select(isFirst, s.like(carried[0], 1), s.like(carried[0], 1 - dampening))};
  }

  SmallVector<Scalar> hyperparameters() const override {
    return momentum == 0 ? SmallVector<Scalar>() : SmallVector<Scalar>{{"momentum", momentum}};
  }

  SmallVector<Value> updateElement(Scalars &s, const Element &e) const override {
    Value g = decayedGradient(s, e), rate = s.neg(e.learningRate);
    if (momentum == 0)
      return {s.fma(rate, g, e.parameter)};
    Value factor = e.hyperparameters[0], taken = dampening == 0 ? g : s.mul(e.carried[0], g);
    Value buffer = s.fma(factor, e.moments[0], taken);
    Value step = nesterov ? s.fma(factor, buffer, g) : buffer;
    return {s.fma(rate, step, e.parameter), buffer};
  }

private:
  double momentum, dampening = 0;
  bool nesterov;
};

/// U4 and, with the decay in the gradient, U9
class Adam : public OptimizerForm {
public:
  Adam(DictionaryAttr attributes, StringRef word, bool decoupled)
      : word(word.str()), decoupled(decoupled), beta1(number(attributes, "beta1")),
        beta2(number(attributes, "beta2")), epsilon(number(attributes, "epsilon")),
        powers(word, beta1, beta2) {
    if (auto given = attributes.getAs<BoolAttr>("amsgrad"))
      amsgrad = given.getValue();
  }

  SmallVector<Scalar> moments() const override {
    SmallVector<Scalar> all{{word + ".first_moment", 0}, {word + ".second_moment", 0}};
    if (amsgrad)
      all.push_back({word + ".largest_second_moment", 0});
    return all;
  }

  SmallVector<Scalar> carriedScalars() const override { return powers.carried(); }

  SmallVector<Value> nextScalars(Scalars &s, ValueRange carried) const override {
    return powers.next(s, carried);
  }

  SmallVector<Value> updateElement(Scalars &s, const Element &e) const override {
    Value g = decoupled ? e.gradient : decayedGradient(s, e);
    Value correction1 = rest(s, e.carried[0], e.carried[1]);
    Value correction2 = rest(s, e.carried[2], e.carried[3]);
    Value p = decoupled ? decayed(s, e) : e.parameter;
    Value first = averaged(s, e.moments[0], g, beta1);
    Value second = averagedSquare(s, e.moments[1], g, beta2), divisor = second;
    SmallVector<Value> next{first, second};
    if (amsgrad)
      next.push_back(divisor = s.maximum(second, e.moments[2]));
    Value denominator = s.add(s.div(s.sqrt(divisor), s.sqrt(correction2)), s.like(p, epsilon));
    Value step = s.div(s.mul(s.div(e.learningRate, correction1), first), denominator);
    next.insert(next.begin(), s.sub(p, step));
    return next;
  }

private:
  std::string word;
  bool decoupled, amsgrad = false;
  double beta1, beta2, epsilon;
  Powers powers;
};

/// U10; carried beside the powers: the product of the momenta
class NAdam : public OptimizerForm {
public:
  explicit NAdam(DictionaryAttr attributes)
      : beta1(number(attributes, "beta1")), beta2(number(attributes, "beta2")),
        epsilon(number(attributes, "epsilon")),
        decoupled(flag(attributes, "decoupled_weight_decay")), power2("nadam.beta2_power", beta2),
        growth("nadam.growth_power", std::pow(0.96, number(attributes, "momentum_decay"))) {}

  SmallVector<Scalar> moments() const override {
    return {{"nadam.first_moment", 0}, {"nadam.second_moment", 0}};
  }

  SmallVector<Scalar> carriedScalars() const override {
    SmallVector<Scalar> all = power2.carried();
    llvm::append_range(all, growth.carried());
    all.push_back({"nadam.momentum_product", 1});
    return all;
  }

  SmallVector<Value> nextScalars(Scalars &s, ValueRange carried) const override {
    SmallVector<Value> next = power2.next(s, carried[0], carried[1]);
    llvm::append_range(next, growth.next(s, carried[2], carried[3]));
    next.push_back(s.mul(carried[4], momentum(s, next[2])));
    return next;
  }

  SmallVector<Value> updateElement(Scalars &s, const Element &e) const override {
    Value g = decoupled ? e.gradient : decayedGradient(s, e);
    Value p = decoupled ? decayed(s, e) : e.parameter;
    Value one = s.like(p, 1), correction2 = rest(s, e.carried[0], e.carried[1]);
    Value now = momentum(s, e.carried[2]), product = e.carried[4];
    Value then = momentum(s, growth.next(s, e.carried[2], e.carried[3])[0]);
    Value ofGradient = s.div(s.mul(e.learningRate, s.sub(one, now)), s.sub(one, product));
    Value ofMoment = s.div(s.mul(e.learningRate, then), s.sub(one, s.mul(product, then)));
    Value first = averaged(s, e.moments[0], g, beta1);
    Value second = averagedSquare(s, e.moments[1], g, beta2);
    Value denominator = s.add(s.div(s.sqrt(second), s.sqrt(correction2)), s.like(p, epsilon));
    Value step = s.div(s.fma(ofGradient, g, s.mul(ofMoment, first)), denominator);
    return {s.sub(p, step), first, second};
  }

private:
  /// Of the step whose power of `growth` is `power`.
  Value momentum(Scalars &s, Value power) const {
    Value half = s.mul(s.like(power, 0.5), power);
    return s.mul(s.like(power, beta1), s.sub(s.like(power, 1), half));
  }

  double beta1, beta2, epsilon;
  bool decoupled;
  Power power2, growth;
};

/// U11
class Adagrad : public OptimizerForm {
public:
  explicit Adagrad(DictionaryAttr attributes)
      : epsilon(number(attributes, "epsilon")),
        initial(number(attributes, "initial_accumulator_value")) {}

  SmallVector<Scalar> moments() const override { return {{"adagrad.sum", initial}}; }

  SmallVector<Value> updateElement(Scalars &s, const Element &e) const override {
    Value g = decayedGradient(s, e), sum = s.fma(g, g, e.moments[0]);
    Value step = s.div(g, s.add(s.sqrt(sum), s.like(g, epsilon)));
    return {s.fma(s.neg(e.learningRate), step, e.parameter), sum};
  }

private:
  double epsilon, initial;
};

/// U12
class RmsProp : public OptimizerForm {
public:
  explicit RmsProp(DictionaryAttr attributes)
      : alpha(number(attributes, "alpha")), epsilon(number(attributes, "epsilon")),
        momentum(number(attributes, "momentum")), centered(flag(attributes, "centered")) {}

  SmallVector<Scalar> moments() const override {
    SmallVector<Scalar> all{{"rmsprop.square", 0}};
    if (centered)
      all.push_back({"rmsprop.mean", 0});
    if (momentum != 0)
      all.push_back({"rmsprop.momentum", 0});
    return all;
  }

  SmallVector<Scalar> hyperparameters() const override {
    return momentum == 0 ? SmallVector<Scalar>() : SmallVector<Scalar>{{"momentum", momentum}};
  }

  SmallVector<Value> updateElement(Scalars &s, const Element &e) const override {
    Value g = decayedGradient(s, e), square = averagedSquare(s, e.moments[0], g, alpha);
    Value divisor = square;
    SmallVector<Value> next{square};
    if (centered) {
      Value mean = averaged(s, e.moments[1], g, alpha);
      Value variance = s.fma(s.neg(mean), mean, square);
      divisor = s.maximum(variance, s.like(g, 0));
      next.push_back(mean);
    }
    Value step = s.div(g, s.add(s.sqrt(divisor), s.like(g, epsilon)));
    if (momentum != 0)
      next.push_back(step = s.fma(e.hyperparameters[0], e.moments[next.size()], step));
    next.insert(next.begin(), s.fma(s.neg(e.learningRate), step, e.parameter));
    return next;
  }

private:
  double alpha, epsilon, momentum;
  bool centered;
};

/// U13
class Lion : public OptimizerForm {
public:
  explicit Lion(DictionaryAttr attributes)
      : beta1(number(attributes, "beta1")), beta2(number(attributes, "beta2")) {}

  SmallVector<Scalar> moments() const override { return {{"lion.momentum", 0}}; }

  SmallVector<Value> updateElement(Scalars &s, const Element &e) const override {
    Value direction = averaged(s, e.moments[0], e.gradient, beta1), zero = s.like(direction, 0);
    Value p = decayed(s, e), down = s.sub(p, e.learningRate), up = s.add(p, e.learningRate);
    Value moved = s.select(s.less(direction, zero), up, p);
    return {s.select(s.greater(direction, zero), down, moved),
            averaged(s, e.moments[0], e.gradient, beta2)};
  }

private:
  double beta1, beta2;
};

/// U16
class Lamb : public OptimizerForm {
public:
  explicit Lamb(DictionaryAttr attributes)
      : beta1(number(attributes, "beta1")), beta2(number(attributes, "beta2")),
        epsilon(number(attributes, "epsilon")), maxTrust(number(attributes, "max_trust")),
        decayedOnly(flag(attributes, "decayed_only")), powers("lamb", beta1, beta2) {}

  SmallVector<Scalar> moments() const override {
    return {{"lamb.first_moment", 0}, {"lamb.second_moment", 0}};
  }

  SmallVector<Scalar> carriedScalars() const override { return powers.carried(); }

  SmallVector<Value> nextScalars(Scalars &s, ValueRange carried) const override {
    return powers.next(s, carried);
  }

  unsigned countSums() const override { return 2; }

  bool sumsOver(bool decays) const override { return decays || !decayedOnly; }

  SmallVector<Value> summands(Scalars &s, const Element &e) const override {
    Value step = move(s, e).step;
    return {s.mul(e.parameter, e.parameter), s.mul(step, step)};
  }

  /// The trust: the norm of the parameter over that of its step.
  Value numberOf(Scalars &s, ValueRange sums) const override {
    Value ofParameter = s.sqrt(sums[0]), ofStep = s.sqrt(sums[1]), zero = s.like(ofStep, 0);
    Value both = s.both(s.greater(ofParameter, zero), s.greater(ofStep, zero));
    Value trust = s.select(both, s.div(ofParameter, ofStep), s.like(ofStep, 1));
    return maxTrust == 0 ? trust : s.minimum(trust, s.like(trust, maxTrust));
  }

  SmallVector<Value> updateElement(Scalars &s, const Element &e) const override {
    Moved moved = move(s, e);
    Value rate = s.neg(s.mul(e.learningRate, e.number));
    return {s.fma(rate, moved.step, e.parameter), moved.first, moved.second};
  }

private:
  struct Moved {
    Value first, second, step;
  };
  Moved move(Scalars &s, const Element &e) const {
    Value correction1 = rest(s, e.carried[0], e.carried[1]);
    Value correction2 = rest(s, e.carried[2], e.carried[3]);
    Value first = averaged(s, e.moments[0], e.gradient, beta1);
    Value second = averagedSquare(s, e.moments[1], e.gradient, beta2);
    Value denominator = s.add(s.div(s.sqrt(second), s.sqrt(correction2)), s.like(second, epsilon));
    Value step = s.div(s.div(first, correction1), denominator);
    return {first, second, s.fma(e.weightDecay, e.parameter, step)};
  }

  double beta1, beta2, epsilon, maxTrust;
  bool decayedOnly;
  Powers powers;
};

/// U14; carried: the number of updates, in two digits of base 2^20, and whether that is of this one
class Custom : public OptimizerForm {
public:
  explicit Custom(GraphOp graph) : values(graph.getBody().front().getOps<OwnValueOp>()) {
    assert(!values.empty() && "import gives it the parameter's");
  }
  ~Custom() override {
    for (OwnValueOp value : values)
      value.erase();
  }

  SmallVector<Scalar> moments() const override {
    SmallVector<Scalar> all;
    for (OwnValueOp state : llvm::drop_begin(values))
      all.push_back({("custom." + state.getName()).str(), 0});
    return all;
  }

  SmallVector<Scalar> carriedScalars() const override {
    return {{"custom.updates_high", 0}, {"custom.updates_low", 0}, {"custom.updates_before", 0}};
  }

  SmallVector<Value> nextScalars(Scalars &s, ValueRange carried) const override {
    Value one = s.like(carried[0], 1), base = s.like(carried[0], 0x1p20);
    Value low = s.add(carried[1], one), overflows = s.equal(low, base);
    return {s.select(overflows, s.add(carried[0], one), carried[0]),
            s.select(overflows, s.like(low, 0), low), s.fma(carried[0], base, carried[1])};
  }

  SmallVector<Value> updateElement(Scalars &s, const Element &e) const override {
    SmallVector<Value> operands{e.parameter, e.gradient, e.learningRate, e.weightDecay,
                                e.carried[2]};
    llvm::append_range(operands, ArrayRef(e.moments).take_front(values.size() - 1));
    SmallVector<Value> next;
    for (OwnValueOp value : values)
      next.push_back(s.inlined(value.getBody().front(), operands)[0]);
    return next;
  }

private:
  SmallVector<OwnValueOp> values;
};

} // namespace

std::unique_ptr<OptimizerForm> createOptimizer(DictionaryAttr attributes, GraphOp graph) {
  StringRef kind = attributes.getAs<StringAttr>("kind").getValue();
  if (kind == "adam" || kind == "adamw")
    return std::make_unique<Adam>(attributes, kind, /*decoupled=*/kind == "adamw");
  if (kind == "nadam")
    return std::make_unique<NAdam>(attributes);
  if (kind == "adagrad")
    return std::make_unique<Adagrad>(attributes);
  if (kind == "rmsprop")
    return std::make_unique<RmsProp>(attributes);
  if (kind == "lion")
    return std::make_unique<Lion>(attributes);
  if (kind == "lamb")
    return std::make_unique<Lamb>(attributes);
  if (kind == "adafactor")
    return std::make_unique<FactoredForm>(attributes);
  if (kind == "custom")
    return std::make_unique<Custom>(graph);
  assert(kind == "sgd" && "import gives it one of these");
  return std::make_unique<Sgd>(attributes);
}

} // namespace halftone::ir
