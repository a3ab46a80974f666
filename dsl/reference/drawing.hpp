// SPDX-License-Identifier: Apache-2.0
// What layers that drop elements do to one of them: D35.
#pragma once

#include "layer.hpp"
#include "philox.hpp"

namespace halftone::reference {

inline std::uint32_t draw(const Draws& draws, std::uint64_t e) {
  const std::uint64_t block = e / 4, key = draws.seed ^ draws.layer;
  const auto low = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
  return philox({low(block), low(block >> 32), draws.step, draws.micro_batch},
                {low(key), low(key >> 32)})[e % 4];
}

/// In inference, and of a layer without a rate, elements stay as they are.
template <class Scalar>
class Dropping {
 public:
  Dropping(const Layer<Scalar>& layer, double rate)
      : draws_(layer.draws),
        threshold_(static_cast<std::uint32_t>(rate * 0x1p32)),  // towards zero
        scale_(static_cast<Scalar>(1 / (1 - rate))) {
    if (!draws_) {
      throw std::invalid_argument(
          "a layer that draws has no seed; give it the draws of its micro-batch");
    }
    if (!draws_->training) draws_.reset();
  }
  Dropping() = default;

  /// Of element e, whose value is x.
  Scalar operator()(std::uint64_t e, Scalar x) const {
    if (!draws_) return x;
    return draw(*draws_, e) < threshold_ ? Scalar(0) : x * scale_;
  }

 private:
  std::optional<Draws> draws_;
  std::uint32_t threshold_ = 0;
  Scalar scale_ = 1;
};

}  // namespace halftone::reference
