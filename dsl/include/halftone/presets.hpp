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

/// Current scaling of NVIDIA's TransformerEngine 2.x under power_2_scale, with its HYBRID formats:
/// products read E4M3, and of gradients E5M2, each operand as a whole times one power of two; what
/// lies between is stored in bf16, and other contractions, as attention, compute in it. Norms,
/// softmax and losses compute in f32. `products` are contractions:
///   precision(presets::fp8_current(), where(layer("head"))(compute(bf16)))
constexpr auto fp8_current(const Selector& products = op("linear")) {
  return precision(everywhere(store(bf16)), where(contraction)(compute(bf16)),
                   where(products)(compute(scaled(f8e4m3))),
                   where(products & gradients).if_any()(compute(scaled(f8e5m2))));
}

/// E4M3 in blocks of 32 with a power of two each, as "OCP Microscaling Formats (MX)" 1.0 has MXFP8
/// and TransformerEngine's recipe of that name its operands, in forward and in input gradients.
/// Blocks lie along rows (P51), which is what products sum over in a linear's forward, and of
/// gradients in its input gradients; TransformerEngine has weights there in blocks of columns. Of
/// both operands of a weight gradient it has blocks of columns; here they are bf16. All else is as
/// in fp8_current.
constexpr auto mxfp8(const Selector& products = op("linear")) {
  return precision(everywhere(store(bf16)), where(contraction)(compute(bf16)),
                   where(products)(compute(scaled(f8e4m3, block(32)))),
                   where(products & weight_gradient_pass).if_any()(compute(bf16)));
}

}  // namespace halftone::dsl::presets
