// SPDX-License-Identifier: Apache-2.0
// The optimizers' formulas: U4, U5, U6, U9.
#include "codegen/passes/Optimizers.h"

using namespace mlir;

namespace halftone::ir {

namespace {

double number(DictionaryAttr attributes, StringRef name) {
  return attributes.getAs<FloatAttr>(name).getValueAsDouble();
}

/// U5
class Sgd : public OptimizerForm {
public:
  explicit Sgd(DictionaryAttr attributes)
      : momentum(number(attributes, "momentum")),
        nesterov(attributes.getAs<BoolAttr>("nesterov").getValue()) {}

  SmallVector<std::string> moments() const override {
    return momentum == 0 ? SmallVector<std::string>() : SmallVector<std::string>{"sgd.momentum"};
  }

  SmallVector<Scalar> hyperparameters() const override {
    return momentum == 0 ? SmallVector<Scalar>() : SmallVector<Scalar>{{"momentum", momentum}};
  }

  SmallVector<Value> updateElement(Scalars &s, const Element &e) const override {
    Value g = s.fma(e.weightDecay, e.parameter, e.gradient), rate = s.neg(e.learningRate);
    if (momentum == 0)
      return {s.fma(rate, g, e.parameter)};
    Value factor = e.hyperparameters[0], buffer = s.fma(factor, e.moments[0], g);
    Value step = nesterov ? s.fma(factor, buffer, g) : buffer;
    return {s.fma(rate, step, e.parameter), buffer};
  }

private:
  double momentum;
  bool nesterov;
};

/// U4 and, with the decay in the gradient, U9; carried: beta1^t and beta2^t, each as the
/// unevaluated sum of two floats (U6)
class Adam : public OptimizerForm {
public:
  Adam(DictionaryAttr attributes, StringRef word, bool decoupled)
      : word(word.str()), decoupled(decoupled), beta1(number(attributes, "beta1")),
        beta2(number(attributes, "beta2")), epsilon(number(attributes, "epsilon")) {}

  SmallVector<std::string> moments() const override {
    return {word + ".first_moment", word + ".second_moment"};
  }

  SmallVector<Scalar> carriedScalars() const override {
    return {{word + ".beta1_power_high", 1},
            {word + ".beta1_power_low", 0},
            {word + ".beta2_power_high", 1},
            {word + ".beta2_power_low", 0}};
  }

  SmallVector<Value> nextScalars(Scalars &s, ValueRange carried) const override {
    SmallVector<Value> next = multiply(s, carried[0], carried[1], beta1);
    llvm::append_range(next, multiply(s, carried[2], carried[3], beta2));
    return next;
  }

  SmallVector<Value> updateElement(Scalars &s, const Element &e) const override {
    Value p = e.parameter, one = s.like(p, 1);
    Value g = decoupled ? e.gradient : s.fma(e.weightDecay, p, e.gradient);
    Value correction1 = s.sub(s.sub(one, e.carried[0]), e.carried[1]);
    Value correction2 = s.sub(s.sub(one, e.carried[2]), e.carried[3]);
    Value decayed = decoupled ? s.fma(s.neg(s.mul(e.learningRate, e.weightDecay)), p, p) : p;
    Value first = s.fma(s.like(p, 1 - beta1), s.sub(g, e.moments[0]), e.moments[0]);
    Value second = s.fma(s.like(p, 1 - beta2), s.mul(g, g), s.mul(s.like(p, beta2), e.moments[1]));
    Value denominator = s.add(s.div(s.sqrt(second), s.sqrt(correction2)), s.like(p, epsilon));
    Value step = s.div(s.mul(s.div(e.learningRate, correction1), first), denominator);
    return {s.sub(decayed, step), first, second};
  }

private:
  /// U6
  static SmallVector<Value> multiply(Scalars &s, Value high, Value low, double beta) {
    float betaHigh = static_cast<float>(beta);
    Value bh = s.like(high, betaHigh), bl = s.like(high, beta - betaHigh);
    Value t = s.mul(high, bh);
    Value e = s.fma(high, bh, s.neg(t));
    e = s.fma(high, bl, e);
    e = s.fma(low, bh, e);
    Value sum = s.add(t, e);
    return {sum, s.sub(e, s.sub(sum, t))};
  }

  std::string word;
  bool decoupled;
  double beta1, beta2, epsilon;
};

} // namespace

std::unique_ptr<OptimizerForm> createOptimizer(DictionaryAttr attributes) {
  StringRef kind = attributes.getAs<StringAttr>("kind").getValue();
  if (kind == "adam" || kind == "adamw")
    return std::make_unique<Adam>(attributes, kind, /*decoupled=*/kind == "adamw");
  assert(kind == "sgd" && "import gives it one of these");
  return std::make_unique<Sgd>(attributes);
}

} // namespace halftone::ir
