// SPDX-License-Identifier: Apache-2.0
// Rules that several systems have in common, to be used as they are or before rules of one's own:
//   constexpr auto rules = precision(presets::allow_deny(f16), everywhere(dynamic_loss_scale()));
#pragma once

#include "halftone/layers.hpp"
#include "halftone/precision.hpp"

namespace halftone::dsl::presets {

/// What an automatic cast lets compute in 16 bits: products of matrices, convolutions, attention
/// and what works element by element.
inline constexpr Selector allowed = contraction | activation_function | elementwise;
/// And what it does not: norms, softmax and losses. The softmax inside of attention is f32 under
/// any rules, and so are sums of gradients and the update (P31, P35, P36).
inline constexpr Selector denied = normalization | softmax | loss;

/// An allow list and a deny list. Activations and their gradients are stored in `half`; what is
/// allowed rounds its operands to it, weights among them, of which the update writes copies; what
/// is denied, or in no list, as an embedding, computes in f32. What is in both is denied. Of each
/// list something must be in the model (P40), so a model without losses and norms needs a list of
/// its own:
///   presets::allow_deny(bf16, contraction, layer("head"))
constexpr auto allow_deny(Element half, const Selector& allow = allowed,
                          const Selector& deny = denied) {
  return precision(everywhere(store(half)), where(allow)(compute(half)), where(deny)(compute(f32)));
}

}  // namespace halftone::dsl::presets
