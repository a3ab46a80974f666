// SPDX-License-Identifier: Apache-2.0
// The optimizers of a Description, each with its word and its settings in the order of the text
// form: printing, parsing, checks and import read these lists. Defaults are torch.optim's.
// Formulas: docs/spec/description.md, U4, U5, U9 to U14, U16, U18.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "halftone/description/expression.hpp"

namespace halftone::description {

/// A number or a flag of the optimizer `Of`.
template <class Of>
struct OptimizerSetting {
  const char* word;
  double Of::*number = nullptr;  ///< or else
  bool Of::*flag = nullptr;      ///< stands in the text where it is set
  bool below_one = false;        ///< D11; every number is finite and not negative
  bool optional = false;         ///< a number that the text leaves out where it is 0
};

/// torch.optim.SGD: g += decay * p; buf = momentum * buf + (1 - dampening) * g, at first g alone;
/// p -= lr * (nesterov ? g + momentum * buf : buf). U5
struct Sgd {
  double learning_rate = 1e-2;
  double momentum = 0.0;
  bool nesterov = false;
  double weight_decay = 0.0;
  double dampening = 0.0;

  static constexpr const char* word = "sgd";
  static constexpr OptimizerSetting<Sgd> settings[] = {
      {.word = "learning_rate", .number = &Sgd::learning_rate},
      {.word = "momentum", .number = &Sgd::momentum, .below_one = true},
      {.word = "dampening", .number = &Sgd::dampening, .below_one = true, .optional = true},
      {.word = "nesterov", .flag = &Sgd::nesterov},
      {.word = "weight_decay", .number = &Sgd::weight_decay}};
  bool operator==(const Sgd&) const = default;
};

/// torch.optim.AdamW, decoupled decay, epsilon added after bias correction; amsgrad divides by the
/// largest second moment that there was. U4
struct AdamW {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 1e-2;
  bool amsgrad = false;

  static constexpr const char* word = "adamw";
  static constexpr OptimizerSetting<AdamW> settings[] = {
      {.word = "learning_rate", .number = &AdamW::learning_rate},
      {.word = "beta1", .number = &AdamW::beta1, .below_one = true},
      {.word = "beta2", .number = &AdamW::beta2, .below_one = true},
      {.word = "epsilon", .number = &AdamW::epsilon},
      {.word = "weight_decay", .number = &AdamW::weight_decay},
      {.word = "amsgrad", .flag = &AdamW::amsgrad}};
  bool operator==(const AdamW&) const = default;
};

/// torch.optim.Adam: as AdamW, but the decay is part of the gradient, g += decay * p. U9
struct Adam {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;
  bool amsgrad = false;

  static constexpr const char* word = "adam";
  static constexpr OptimizerSetting<Adam> settings[] = {
      {.word = "learning_rate", .number = &Adam::learning_rate},
      {.word = "beta1", .number = &Adam::beta1, .below_one = true},
      {.word = "beta2", .number = &Adam::beta2, .below_one = true},
      {.word = "epsilon", .number = &Adam::epsilon},
      {.word = "weight_decay", .number = &Adam::weight_decay},
      {.word = "amsgrad", .flag = &Adam::amsgrad}};
  bool operator==(const Adam&) const = default;
};

/// torch.optim.NAdam: Adam with Nesterov's momentum, which grows towards beta1 as momentum_decay
/// says; the decay is part of the gradient, or decoupled as AdamW's. U10
struct NAdam {
  double learning_rate = 2e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;
  double momentum_decay = 4e-3;
  bool decoupled_weight_decay = false;

  static constexpr const char* word = "nadam";
  static constexpr OptimizerSetting<NAdam> settings[] = {
      {.word = "learning_rate", .number = &NAdam::learning_rate},
      {.word = "beta1", .number = &NAdam::beta1, .below_one = true},
      {.word = "beta2", .number = &NAdam::beta2, .below_one = true},
      {.word = "epsilon", .number = &NAdam::epsilon},
      {.word = "weight_decay", .number = &NAdam::weight_decay},
      {.word = "momentum_decay", .number = &NAdam::momentum_decay},
      {.word = "decoupled_weight_decay", .flag = &NAdam::decoupled_weight_decay}};
  bool operator==(const NAdam&) const = default;
};

/// torch.optim.Adagrad without lr_decay, which is a schedule: g += decay * p; sum += g * g;
/// p -= lr * g / (sqrt(sum) + epsilon). U11
struct Adagrad {
  double learning_rate = 1e-2;
  double epsilon = 1e-10;
  double weight_decay = 0.0;
  double initial_accumulator_value = 0.0;

  static constexpr const char* word = "adagrad";
  static constexpr OptimizerSetting<Adagrad> settings[] = {
      {.word = "learning_rate", .number = &Adagrad::learning_rate},
      {.word = "epsilon", .number = &Adagrad::epsilon},
      {.word = "weight_decay", .number = &Adagrad::weight_decay},
      {.word = "initial_accumulator_value", .number = &Adagrad::initial_accumulator_value}};
  bool operator==(const Adagrad&) const = default;
};

/// torch.optim.RMSprop: g / (sqrt(mean of g * g) + epsilon), the mean's square taken off it where
/// centered, goes through a momentum. U12
struct RmsProp {
  double learning_rate = 1e-2;
  double alpha = 0.99;
  double epsilon = 1e-8;
  double momentum = 0.0;
  bool centered = false;
  double weight_decay = 0.0;

  static constexpr const char* word = "rmsprop";
  static constexpr OptimizerSetting<RmsProp> settings[] = {
      {.word = "learning_rate", .number = &RmsProp::learning_rate},
      {.word = "alpha", .number = &RmsProp::alpha, .below_one = true},
      {.word = "epsilon", .number = &RmsProp::epsilon},
      {.word = "momentum", .number = &RmsProp::momentum, .below_one = true},
      {.word = "centered", .flag = &RmsProp::centered},
      {.word = "weight_decay", .number = &RmsProp::weight_decay}};
  bool operator==(const RmsProp&) const = default;
};

/// Chen et al. 2023, Symbolic Discovery of Optimization Algorithms, algorithm 2, with the defaults
/// of its authors' lion_pytorch: every element moves by lr, in the direction of its momentum. U13
struct Lion {
  double learning_rate = 1e-4;
  double beta1 = 0.9, beta2 = 0.99;
  double weight_decay = 0.0;

  static constexpr const char* word = "lion";
  static constexpr OptimizerSetting<Lion> settings[] = {
      {.word = "learning_rate", .number = &Lion::learning_rate},
      {.word = "beta1", .number = &Lion::beta1, .below_one = true},
      {.word = "beta2", .number = &Lion::beta2, .below_one = true},
      {.word = "weight_decay", .number = &Lion::weight_decay}};
  bool operator==(const Lion&) const = default;
};

/// You et al. 2020, Large Batch Optimization for Deep Learning, algorithm 2, with the defaults of
/// NVIDIA Apex's FusedLAMB: what AdamW moves a parameter by, its decay among it, times the norm of
/// the parameter over the norm of that, at most max_trust where that is not 0. U16
struct Lamb {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-6;  ///< positive (D11)
  double weight_decay = 1e-2;
  double max_trust = 0;
  bool decayed_only = false;  ///< parameters without decay move as with a trust of 1

  static constexpr const char* word = "lamb";
  static constexpr OptimizerSetting<Lamb> settings[] = {
      {.word = "learning_rate", .number = &Lamb::learning_rate},
      {.word = "beta1", .number = &Lamb::beta1, .below_one = true},
      {.word = "beta2", .number = &Lamb::beta2, .below_one = true},
      {.word = "epsilon", .number = &Lamb::epsilon},
      {.word = "weight_decay", .number = &Lamb::weight_decay},
      {.word = "max_trust", .number = &Lamb::max_trust, .optional = true},
      {.word = "decayed_only", .flag = &Lamb::decayed_only}};
  bool operator==(const Lamb&) const = default;
};

/// torch.optim.Adafactor, after Shazeer and Stern 2018: of a matrix the squares' means over each
/// row and over each column stand for the second moments. decay_rate is torch's beta2_decay without
/// its sign, epsilon1 and epsilon2 are its eps (the first of f32 where it is None), clip_threshold
/// is its d. U18
struct Adafactor {
  double learning_rate = 1e-2;
  double decay_rate = 0.8;
  double epsilon1 = 0x1p-23, epsilon2 = 1e-3;  ///< the first, and clip_threshold, positive (D11)
  double clip_threshold = 1;
  double weight_decay = 0.0;

  static constexpr const char* word = "adafactor";
  static constexpr OptimizerSetting<Adafactor> settings[] = {
      {.word = "learning_rate", .number = &Adafactor::learning_rate},
      {.word = "decay_rate", .number = &Adafactor::decay_rate},
      {.word = "epsilon1", .number = &Adafactor::epsilon1},
      {.word = "epsilon2", .number = &Adafactor::epsilon2},
      {.word = "clip_threshold", .number = &Adafactor::clip_threshold},
      {.word = "weight_decay", .number = &Adafactor::weight_decay}};
  bool operator==(const Adafactor&) const = default;
};

/// A user's: what a parameter's element and its states become, as functions of kCustomOperands and
/// the states. U14
struct Custom {
  struct State {
    std::string name;
    Expression next;
    bool operator==(const State&) const = default;
  };

  double learning_rate = 1e-3;
  double weight_decay = 0.0;
  Expression parameter;
  std::vector<State> states;

  static constexpr const char* word = "custom";
  static constexpr OptimizerSetting<Custom> settings[] = {
      {.word = "learning_rate", .number = &Custom::learning_rate},
      {.word = "weight_decay", .number = &Custom::weight_decay}};
  bool operator==(const Custom&) const = default;
};

/// Parameter, gradient, learning rate, weight decay and the number of updates before.
inline constexpr int kCustomOperands = 5;
inline constexpr int kMostCustomStates = 8;

using Optimizer =
    std::variant<Sgd, AdamW, Adam, NAdam, Adagrad, RmsProp, Lion, Lamb, Adafactor, Custom>;

}  // namespace halftone::description
