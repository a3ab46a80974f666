// SPDX-License-Identifier: Apache-2.0
// The optimizers and what they share: U0 to U6, U9 to U14; lamb and clips of groups:
// part_norms.hpp; adafactor: factored.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "expression.hpp"
#include "factored.hpp"
#include "halftone/description/description.hpp"
#include "halftone/reference/evaluator.hpp"
#include "node_kinds.hpp"
#include "numerics.hpp"
#include "part_norms.hpp"

namespace halftone::reference {

// One trained parameter and what belongs to it.
template <class Scalar>
struct Slot {
  Slot(const description::ParameterAttributes& of_parameter, const std::vector<Scalar>& gradient)
      : attributes(of_parameter), g(gradient) {}

  const description::ParameterAttributes& attributes;
  std::vector<Scalar> g;
  const description::Shape* shape = nullptr;
  std::vector<Scalar>* p = nullptr;
  std::vector<Scalar>* first = nullptr;  // absent where the optimizer keeps none
  std::vector<Scalar>* second = nullptr;
  std::vector<Scalar>* third = nullptr;
  std::vector<std::vector<Scalar>*> own;  // U14
  std::vector<Scalar>* average = nullptr;
  Scalar learning_rate = 0, decay = 0;  // U3
};

// The trained parameters in the order of the flat buffers: a group has one clip, one decay and one
// learning-rate scale; groups stand in the order of their first members, but those of a clip behind
// its first.
inline std::vector<description::NodeId> flat_order(const description::Description& description) {
  using description::NodeId;
  std::vector<std::vector<NodeId>> groups;
  for (NodeId at = 0; at < static_cast<NodeId>(description.nodes.size()); ++at) {
    if (!is_trained(description.nodes[at])) continue;
    const auto& mine = attributes_of(description.nodes[at]);
    const auto group = std::ranges::find_if(groups, [&](const std::vector<NodeId>& members) {
      const auto& theirs = attributes_of(description.nodes[members.front()]);
      return mine.decay == theirs.decay && mine.learning_rate_scale == theirs.learning_rate_scale &&
             clip_of(description, at) == clip_of(description, members.front());
    });
    (group == groups.end() ? groups.emplace_back() : *group).push_back(at);
  }
  std::vector<NodeId> order;
  std::set<int> done;
  for (const auto& first : groups) {
    const int clip = clip_of(description, first.front());
    if (!done.insert(clip).second) continue;
    for (const auto& members : groups) {
      if (clip_of(description, members.front()) == clip)
        order.insert(order.end(), members.begin(), members.end());
    }
  }
  return order;
}

// The states of a user's optimizer (U14), of others null.
inline const std::vector<description::Custom::State>* own_states(
    const description::Optimizer& optimizer) {
  const auto* is = std::get_if<description::Custom>(&optimizer);
  return is != nullptr ? &is->states : nullptr;
}

// Which moments the optimizer keeps: U4, U5, U9 to U14.
inline bool keeps_first(const description::Optimizer& optimizer) {
  if (const auto* sgd = std::get_if<description::Sgd>(&optimizer)) return sgd->momentum != 0;
  if (const auto* is = std::get_if<description::RmsProp>(&optimizer)) return is->momentum != 0;
  return !std::holds_alternative<description::Adagrad>(optimizer) &&
         own_states(optimizer) == nullptr;
}

inline bool keeps_second(const description::Optimizer& optimizer) {
  return !std::holds_alternative<description::Sgd>(optimizer) &&
         !std::holds_alternative<description::Lion>(optimizer) && own_states(optimizer) == nullptr;
}

inline bool keeps_third(const description::Optimizer& optimizer) {
  if (const auto* is = std::get_if<description::AdamW>(&optimizer)) return is->amsgrad;
  if (const auto* is = std::get_if<description::Adam>(&optimizer)) return is->amsgrad;
  const auto* is = std::get_if<description::RmsProp>(&optimizer);
  return is != nullptr && is->centered;
}

// The second moment before the first update.
inline double starts_second(const description::Optimizer& optimizer) {
  const auto* is = std::get_if<description::Adagrad>(&optimizer);
  return is != nullptr ? is->initial_accumulator_value : 0;
}

// U0, L2
template <class Scalar>
void unscale(float scale, std::int64_t micro_batches, std::vector<Slot<Scalar>>& slots) {
  const Scalar inverse =
      (Scalar(1) / static_cast<Scalar>(scale)) / static_cast<Scalar>(micro_batches);
  for (Slot<Scalar>& slot : slots) {
    for (Scalar& g : slot.g) g = g * inverse;
  }
}

// U1: the sum of g*g over the flat gradient, in which every tensor is padded to a multiple of 32
// elements, or to whole blocks where there are norms of parts or states in blocks.
template <class Scalar>
Scalar sum_of_squares(std::size_t padding, const std::vector<Slot<Scalar>>& slots) {
  std::vector<Scalar> squares;
  for (const Slot<Scalar>& slot : slots) {
    for (const Scalar g : slot.g) squares.push_back(g * g);
    squares.resize((squares.size() + padding - 1) / padding * padding, Scalar(0));
  }
  return sum(std::span<const Scalar>(squares));
}

// U2
template <class Scalar>
void clip(double largest_norm, Scalar norm, std::vector<Slot<Scalar>>& slots) {
  const Scalar coefficient = clip_coefficient(largest_norm, norm);
  for (Slot<Scalar>& slot : slots) {
    for (Scalar& g : slot.g) g = g * coefficient;
  }
}

// U2, of single elements
template <class Scalar>
void clip_value(double largest, std::vector<Slot<Scalar>>& slots) {
  const Scalar high = static_cast<Scalar>(largest), low = -high;
  for (Slot<Scalar>& slot : slots) {
    for (Scalar& g : slot.g) g = minimum(maximum(g, low), high);
  }
}

// U6
inline Power<float> next_power(Power<float> power, double beta) {
  const float bh = static_cast<float>(beta);
  const float bl = static_cast<float>(beta - bh);
  const float t = power.high * bh;
  float e = std::fma(power.high, bh, -t);
  e = std::fma(power.high, bl, e);
  e = std::fma(power.low, bh, e);
  const float high = t + e;
  return {high, e - (high - t)};
}

inline Power<double> next_power(Power<double> power, double beta) { return {power.high * beta, 0}; }

// The pair's error, of two f32 significands, instead of that of its operations.
inline Power<Bounded> next_power(Power<Bounded> power, double beta) {
  const double value = power.high.value * beta;
  power.high.error = power.high.error * beta + value * 0x1p-46;
  power.high.value = value;
  return power;
}

// U4 and, of description::Adam, U9, with the powers of this step.
template <class Optimizer, class Scalar>
void adam(const Optimizer& o, Power<Scalar> power1, Power<Scalar> power2, Slot<Scalar>& slot) {
  constexpr bool decoupled = std::is_same_v<Optimizer, description::AdamW>;
  const Scalar c1 = (1 - power1.high) - power1.low;
  const Scalar c2 = (1 - power2.high) - power2.low;
  const Scalar beta2 = static_cast<Scalar>(o.beta2), epsilon = static_cast<Scalar>(o.epsilon);
  const Scalar rest1 = static_cast<Scalar>(1 - o.beta1), rest2 = static_cast<Scalar>(1 - o.beta2);
  const Scalar shrink = -(slot.learning_rate * slot.decay);
  for (std::size_t e = 0; e < slot.g.size(); ++e) {
    Scalar &p = (*slot.p)[e], &m = (*slot.first)[e], &v = (*slot.second)[e];
    const Scalar g = decoupled ? slot.g[e] : fma(slot.decay, p, slot.g[e]);
    const Scalar p1 = decoupled ? fma(shrink, p, p) : p;
    m = fma(rest1, g - m, m);
    v = fma(rest2, g * g, beta2 * v);
    Scalar divisor = v;
    if (slot.third != nullptr) {
      Scalar& largest = (*slot.third)[e];
      divisor = largest = maximum(v, largest);
    }
    p = p1 - ((slot.learning_rate / c1) * m) / (sqrt(divisor) / sqrt(c2) + epsilon);
  }
}

// U10, with the state of this step.
template <class Scalar>
void nadam(const description::NAdam& o, Scalar mu, Scalar next_mu, const State<Scalar>& state,
           Slot<Scalar>& slot) {
  const Scalar c2 = (1 - state.power2.high) - state.power2.low, product = state.momentum_product;
  const Scalar a = (slot.learning_rate * (1 - mu)) / (1 - product);
  const Scalar b = (slot.learning_rate * next_mu) / (1 - product * next_mu);
  const Scalar beta2 = static_cast<Scalar>(o.beta2), epsilon = static_cast<Scalar>(o.epsilon);
  const Scalar rest1 = static_cast<Scalar>(1 - o.beta1), rest2 = static_cast<Scalar>(1 - o.beta2);
  const Scalar shrink = -(slot.learning_rate * slot.decay);
  for (std::size_t e = 0; e < slot.g.size(); ++e) {
    Scalar &p = (*slot.p)[e], &m = (*slot.first)[e], &v = (*slot.second)[e];
    const Scalar g = o.decoupled_weight_decay ? slot.g[e] : fma(slot.decay, p, slot.g[e]);
    const Scalar p1 = o.decoupled_weight_decay ? fma(shrink, p, p) : p;
    m = fma(rest1, g - m, m);
    v = fma(rest2, g * g, beta2 * v);
    p = p1 - fma(a, g, b * m) / (sqrt(v) / sqrt(c2) + epsilon);
  }
}

// U11
template <class Scalar>
void adagrad(const description::Adagrad& o, Slot<Scalar>& slot) {
  const Scalar epsilon = static_cast<Scalar>(o.epsilon);
  for (std::size_t e = 0; e < slot.g.size(); ++e) {
    Scalar &p = (*slot.p)[e], &sum = (*slot.second)[e];
    const Scalar g = fma(slot.decay, p, slot.g[e]);
    sum = fma(g, g, sum);
    p = fma(-slot.learning_rate, g / (sqrt(sum) + epsilon), p);
  }
}

// U12
template <class Scalar>
void rmsprop(const description::RmsProp& o, Slot<Scalar>& slot) {
  const Scalar alpha = static_cast<Scalar>(o.alpha), rest = static_cast<Scalar>(1 - o.alpha);
  const Scalar epsilon = static_cast<Scalar>(o.epsilon);
  const Scalar momentum = static_cast<Scalar>(o.momentum);
  for (std::size_t e = 0; e < slot.g.size(); ++e) {
    Scalar &p = (*slot.p)[e], &v = (*slot.second)[e];
    const Scalar g = fma(slot.decay, p, slot.g[e]);
    v = fma(rest, g * g, alpha * v);
    Scalar divisor = v;
    if (slot.third != nullptr) {
      Scalar& mean = (*slot.third)[e];
      mean = fma(rest, g - mean, mean);
      divisor = maximum(fma(-mean, mean, v), Scalar(0));
    }
    Scalar step = g / (sqrt(divisor) + epsilon);
    if (slot.first != nullptr) {
      Scalar& buffer = (*slot.first)[e];
      step = buffer = fma(momentum, buffer, step);
    }
    p = fma(-slot.learning_rate, step, p);
  }
}

// U13
template <class Scalar>
void lion(const description::Lion& o, Slot<Scalar>& slot) {
  const Scalar rest1 = static_cast<Scalar>(1 - o.beta1), rest2 = static_cast<Scalar>(1 - o.beta2);
  const Scalar shrink = -(slot.learning_rate * slot.decay);
  for (std::size_t e = 0; e < slot.g.size(); ++e) {
    Scalar &p = (*slot.p)[e], &m = (*slot.first)[e];
    const Scalar g = slot.g[e], direction = fma(rest1, g - m, m);
    p = fma(shrink, p, p);
    if (direction > Scalar(0)) {
      p = p - slot.learning_rate;
    } else if (direction < Scalar(0)) {
      p = p + slot.learning_rate;
    }
    m = fma(rest2, g - m, m);
  }
}

// U5, of an update that `before` others preceded.
template <class Scalar>
void sgd(const description::Sgd& o, std::int64_t before, Slot<Scalar>& slot) {
  const Scalar momentum = static_cast<Scalar>(o.momentum);
  const Scalar taken = before == 0 ? Scalar(1) : static_cast<Scalar>(1 - o.dampening);
  for (std::size_t e = 0; e < slot.g.size(); ++e) {
    Scalar& p = (*slot.p)[e];
    const Scalar g = fma(slot.decay, p, slot.g[e]);
    Scalar step = g;
    if (slot.first != nullptr) {
      Scalar& buffer = (*slot.first)[e];
      buffer = fma(momentum, buffer, taken * g);
      step = o.nesterov ? fma(momentum, buffer, g) : buffer;
    }
    p = fma(-slot.learning_rate, step, p);
  }
}

// U14, of an update that `before` others preceded.
template <class Scalar>
void custom(const description::Custom& o, std::int64_t before, Slot<Scalar>& slot) {
  const auto value = [](const description::Expression& of, const Values<Scalar>& operands) {
    Values<Scalar> results;
    evaluate<Scalar>(of, operands, results);
    return results.back();
  };
  for (std::size_t e = 0; e < slot.g.size(); ++e) {
    Values<Scalar> operands = {(*slot.p)[e], slot.g[e], slot.learning_rate, slot.decay,
                               static_cast<Scalar>(static_cast<float>(before))};
    for (const std::vector<Scalar>* state : slot.own) operands.push_back((*state)[e]);
    for (std::size_t i = 0; i < o.states.size(); ++i)
      (*slot.own[i])[e] = value(o.states[i].next, operands);
    (*slot.p)[e] = value(o.parameter, operands);
  }
}

template <class Scalar>
void apply(const description::Custom& o, State<Scalar>& state, std::vector<Slot<Scalar>>& slots) {
  for (Slot<Scalar>& slot : slots) custom(o, state.steps, slot);
}
template <class Scalar>
void apply(const description::Sgd& o, State<Scalar>& state, std::vector<Slot<Scalar>>& slots) {
  for (Slot<Scalar>& slot : slots) sgd(o, state.steps, slot);
}
template <class Scalar>
void apply(const description::NAdam& o, State<Scalar>& state, std::vector<Slot<Scalar>>& slots) {
  const double growth = std::pow(0.96, o.momentum_decay);
  const auto momentum = [&](const Power<Scalar>& power) {
    return static_cast<Scalar>(o.beta1) * (1 - Scalar(0.5) * power.high);
  };
  state.power2 = next_power(state.power2, o.beta2);
  state.growth = next_power(state.growth, growth);
  const Scalar mu = momentum(state.growth), next_mu = momentum(next_power(state.growth, growth));
  state.momentum_product = state.momentum_product * mu;
  for (Slot<Scalar>& slot : slots) nadam(o, mu, next_mu, state, slot);
}
template <class Scalar>
void apply(const description::Adagrad& o, State<Scalar>&, std::vector<Slot<Scalar>>& slots) {
  for (Slot<Scalar>& slot : slots) adagrad(o, slot);
}
template <class Scalar>
void apply(const description::RmsProp& o, State<Scalar>&, std::vector<Slot<Scalar>>& slots) {
  for (Slot<Scalar>& slot : slots) rmsprop(o, slot);
}
template <class Scalar>
void apply(const description::Lion& o, State<Scalar>&, std::vector<Slot<Scalar>>& slots) {
  for (Slot<Scalar>& slot : slots) lion(o, slot);
}
template <class Scalar>
void apply(const description::Lamb& o, State<Scalar>& state, std::vector<Slot<Scalar>>& slots) {
  state.power1 = next_power(state.power1, o.beta1);
  state.power2 = next_power(state.power2, o.beta2);
  lamb<Scalar>(o, state.power1, state.power2, slots);
}
template <class Scalar>
void apply(const description::Adafactor& o, State<Scalar>& state,
           std::vector<Slot<Scalar>>& slots) {
  const auto update = static_cast<Scalar>(static_cast<float>(state.steps + 1));
  for (Slot<Scalar>& slot : slots) adafactor(o, update, Factored(*slot.shape), slot);
}
template <class Optimizer, class Scalar>
void apply(const Optimizer& o, State<Scalar>& state, std::vector<Slot<Scalar>>& slots) {
  state.power1 = next_power(state.power1, o.beta1);
  state.power2 = next_power(state.power2, o.beta2);
  for (Slot<Scalar>& slot : slots) adam(o, state.power1, state.power2, slot);
}

// U3: the schedule's factor after so many updates; 1 without one.
template <class Scalar>
Scalar scheduled(const description::Description& description, std::int64_t updates) {
  if (!description.schedule) return 1;
  Values<Scalar> results;
  const Values<Scalar> operands = {static_cast<Scalar>(static_cast<float>(updates))};
  evaluate<Scalar>(*description.schedule, operands, results);
  return results.back();
}

// U8, of an update that `before` others preceded.
template <class Scalar>
void average(double kept, std::int64_t before, Slot<Scalar>& slot) {
  const Scalar share = before == 0 ? Scalar(1) : static_cast<Scalar>(1 - kept);
  for (std::size_t e = 0; e < slot.g.size(); ++e) {
    Scalar& a = (*slot.average)[e];
    a = fma(share, (*slot.p)[e] - a, a);
  }
}

// U3 to U6, U8 to U14, U16; counts the step. `learning_rate` replaces the optimizer's where it is
// given.
template <class Scalar>
void update_parameters(const description::Description& description,
                       std::optional<double> learning_rate, State<Scalar>& state,
                       std::vector<Slot<Scalar>>& slots) {
  const description::Optimizer& optimizer = description.optimizer;
  const Scalar factor = scheduled<Scalar>(description, state.steps);
  std::visit(
      [&](const auto& o) {
        Scalar rate = static_cast<Scalar>(learning_rate.value_or(o.learning_rate));
        if (description.schedule) rate = rate * factor;
        for (Slot<Scalar>& slot : slots) {
          slot.learning_rate = rate * static_cast<Scalar>(slot.attributes.learning_rate_scale);
          slot.decay = slot.attributes.decay ? static_cast<Scalar>(o.weight_decay) : Scalar(0);
        }
      },
      optimizer);
  std::visit([&](const auto& o) { apply(o, state, slots); }, optimizer);
  if (description.average) {
    for (Slot<Scalar>& slot : slots) average(*description.average, state.steps, slot);
  }
  ++state.steps;
}

}  // namespace halftone::reference
