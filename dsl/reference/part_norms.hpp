// SPDX-License-Identifier: Apache-2.0
// Sums over parts of the flat buffers (U15), and what is made of them: clips of groups (U2), lamb
// (U16).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "halftone/description/description.hpp"
#include "numerics.hpp"

namespace halftone::reference {

// Where the update sums over parts, every parameter has whole blocks of so many elements.
inline constexpr std::size_t kBlock = 1024;

// Whether it does.
inline bool has_norms(const description::Description& description) {
  return !description.clip_groups.empty() ||
         std::holds_alternative<description::Lamb>(description.optimizer);
}

// Which clip of a group speaks of a parameter; -1 for none.
inline int clip_of(const description::Description& description, description::NodeId parameter) {
  for (std::size_t i = 0; i < description.clip_groups.size(); ++i) {
    if (std::ranges::count(description.clip_groups[i].parameters, parameter) > 0)
      return static_cast<int>(i);
  }
  return -1;
}

// The sums of v*v over the blocks of parameters that lie one behind another.
template <class Scalar>
class BlockSums {
 public:
  struct Range {
    std::size_t begin = 0, end = 0;  // blocks
  };

  // Those of the next parameter; returns which they are.
  Range append(const std::vector<Scalar>& values) {
    const std::size_t begin = sums_.size();
    for (std::size_t at = 0; at < values.size(); at += kBlock) {
      std::vector<Scalar> squares(kBlock, Scalar(0));
      for (std::size_t e = at; e < std::min(at + kBlock, values.size()); ++e)
        squares[e - at] = values[e] * values[e];
      sums_.push_back(sum(std::span<const Scalar>(squares)));
    }
    return {begin, sums_.size()};
  }

  // Over the blocks of a part.
  [[nodiscard]] Scalar of(Range part) const {
    std::vector<Scalar> own(sums_.size(), Scalar(0));
    for (std::size_t block = part.begin; block < part.end; ++block) own[block] = sums_[block];
    return sum(std::span<const Scalar>(own));
  }

 private:
  std::vector<Scalar> sums_;
};

// U2: the factor of gradients that have this norm.
template <class Scalar>
Scalar clip_coefficient(double largest_norm, Scalar norm) {
  return minimum(Scalar(1), static_cast<Scalar>(largest_norm) / (norm + static_cast<Scalar>(1e-6)));
}

// U2, of groups; `clips` has the number of each slot's clip, or -1.
template <class Slots>
void clip_groups(const description::Description& description, const std::vector<int>& clips,
                 Slots& slots) {
  using Scalar = std::remove_cvref_t<decltype(slots[0].g[0])>;
  BlockSums<Scalar> sums;
  std::vector<typename BlockSums<Scalar>::Range> parts(description.clip_groups.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto own = sums.append(slots[i].g);
    if (clips[i] < 0) continue;
    auto& part = parts[static_cast<std::size_t>(clips[i])];
    part = {part.end == 0 ? own.begin : part.begin, own.end};
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (clips[i] < 0) continue;
    const auto clip = static_cast<std::size_t>(clips[i]);
    const Scalar coefficient =
        clip_coefficient(description.clip_groups[clip].norm, Scalar(sqrt(sums.of(parts[clip]))));
    for (Scalar& g : slots[i].g) g = g * coefficient;
  }
}

// U16: what a parameter moves by but for its rate, with the moments that this moves on.
template <class Scalar, class Slot>
std::vector<Scalar> lamb_step(const description::Lamb& o, Scalar c1, Scalar c2, Slot& slot) {
  const Scalar beta2 = static_cast<Scalar>(o.beta2), epsilon = static_cast<Scalar>(o.epsilon);
  const Scalar rest1 = static_cast<Scalar>(1 - o.beta1), rest2 = static_cast<Scalar>(1 - o.beta2);
  std::vector<Scalar> step;
  for (std::size_t e = 0; e < slot.g.size(); ++e) {
    Scalar &m = (*slot.first)[e], &v = (*slot.second)[e];
    const Scalar g = slot.g[e];
    m = fma(rest1, g - m, m);
    v = fma(rest2, g * g, beta2 * v);
    const Scalar moved = (m / c1) / (sqrt(v) / sqrt(c2) + epsilon);
    step.push_back(fma(slot.decay, (*slot.p)[e], moved));
  }
  return step;
}

// U16: of the norms of a parameter and of its step.
template <class Scalar>
Scalar lamb_trust(const description::Lamb& o, Scalar of_parameter, Scalar of_step) {
  Scalar trust = 1;
  if (of_parameter > Scalar(0) && of_step > Scalar(0)) trust = of_parameter / of_step;
  return o.max_trust == 0 ? trust : minimum(trust, static_cast<Scalar>(o.max_trust));
}

// U16, with the powers of this step.
template <class Scalar, class Power, class Slots>
void lamb(const description::Lamb& o, const Power& power1, const Power& power2, Slots& slots) {
  const Scalar c1 = (1 - power1.high) - power1.low;
  const Scalar c2 = (1 - power2.high) - power2.low;
  BlockSums<Scalar> of_parameters, of_steps;
  std::vector<std::vector<Scalar>> steps;
  std::vector<typename BlockSums<Scalar>::Range> parts;
  for (auto& slot : slots) {
    steps.push_back(lamb_step(o, c1, c2, slot));
    parts.push_back(of_parameters.append(*slot.p));
    of_steps.append(steps.back());
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    auto& slot = slots[i];
    Scalar trust = 1;
    if (slot.attributes.decay || !o.decayed_only)
      trust = lamb_trust(o, Scalar(sqrt(of_parameters.of(parts[i]))),
                         Scalar(sqrt(of_steps.of(parts[i]))));
    const Scalar rate = -(slot.learning_rate * trust);
    for (std::size_t e = 0; e < slot.g.size(); ++e)
      (*slot.p)[e] = fma(rate, steps[i][e], (*slot.p)[e]);
  }
}

}  // namespace halftone::reference
