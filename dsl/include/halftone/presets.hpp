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

/// Current scaling of NVIDIA's TransformerEngine 2.x with its HYBRID formats: products read E4M3,
/// and of gradients E5M2, each operand as a whole times one scale; what lies between is stored in
/// bf16, and other contractions, as attention, compute in it. Norms, softmax and losses compute in
/// f32. `scale` is f8e8m0 for powers of two, its power_2_scale, or f32, its default (P87), which is
/// for linear and matmul alone. `products` are contractions:
///   precision(presets::fp8_current(), where(layer("head"))(compute(bf16)))
///   presets::fp8_current(op("linear"), f32)
constexpr auto fp8_current(const Selector& products = op("linear"), Element scale = f8e8m0) {
  return precision(everywhere(store(bf16)), where(contraction)(compute(bf16)),
                   where(products)(compute(scaled(f8e4m3, scale))),
                   where(products & gradients).if_any()(compute(scaled(f8e5m2, scale))));
}

/// Delayed scaling of TransformerEngine 2.x with its HYBRID formats: as fp8_current, but that scales
/// are those of the largest magnitudes of earlier steps (P72), so that no product waits for the
/// maximum of what it reads.
///   precision(presets::fp8_delayed(delayed(16), op("linear") & layer("h/**")))
///   presets::fp8_delayed(delayed(), op("linear"), f32)
constexpr auto fp8_delayed(Delayed scales = delayed(), const Selector& products = op("linear"),
                           Element scale = f8e8m0) {
  return precision(everywhere(store(bf16)), where(contraction)(compute(bf16)),
                   where(products)(compute(scaled(f8e4m3, scales, scale))),
                   where(products & gradients).if_any()(compute(scaled(f8e5m2, scales, scale))));
}

/// The recipe "rowwise" of torchao.float8: E4M3 with a scale for each vector that a linear's product
/// sums over (P89): each row of both operands in forward and of the gradient in an input gradient,
/// each column of the weight there and of both operands of a weight gradient. Scales are powers of
/// two, or with `scale` f32 as under round_scales_to_power_of_2=False. All else is as in
/// fp8_current.
constexpr auto fp8_rowwise(const Selector& products = op("linear"), Element scale = f8e8m0) {
  const Scaled rows = scaled(f8e4m3, per_row, scale);
  const Scaled columns = scaled(f8e4m3, per_column, scale);
  return precision(everywhere(store(bf16)), where(contraction)(compute(bf16)),
                   where(products)(compute(rows)),
                   where(products & weights & input_gradient_pass).if_any()(compute(columns)),
                   where(products & weight_gradient_pass).if_any()(compute(columns)));
}

/// MXFP8 of "OCP Microscaling Formats (MX)" 1.0 as TransformerEngine's recipe of that name has it:
/// E4M3 in blocks of 32 with a power of two each, always along what a linear's product sums over.
/// That are rows' elements in forward, and of gradients in an input gradient; columns' elements of
/// the weight there and of both operands of a weight gradient, along the dimension in front of the
/// last one (P51). All else is as in fp8_current.
constexpr auto mxfp8(const Selector& products = op("linear")) {
  constexpr Scaled rows = scaled(f8e4m3, block(32)), columns = scaled(f8e4m3, block(32, 1));
  return precision(everywhere(store(bf16)), where(contraction)(compute(bf16)),
                   where(products)(compute(rows)),
                   where(products & weights & input_gradient_pass).if_any()(compute(columns)),
                   where(products & weight_gradient_pass).if_any()(compute(columns)));
}

/// TransformerEngine's Float8BlockScaling: E4M3 with a scale for each 1 x 128 elements of
/// activations and gradients and 128 x 128 of weights, and for 128 x 1 of both operands of a weight
/// gradient.
/// Scales are powers of two, its default, or with `scale` f32 as under
/// NVTE_FP8_BLOCK_SCALING_FP32_SCALES=1 (P101), whose products are of f32. All else is as in
/// fp8_current.
constexpr auto fp8_block(const Selector& products = op("linear"), Element scale = f8e8m0) {
  return precision(everywhere(store(bf16)), where(contraction)(compute(bf16)),
                   where(products)(compute(scaled(f8e4m3, block(128), scale))),
                   where(products & weights)
                       .if_any()(compute(scaled(f8e4m3, block(128, 128), scale))),
                   where(products & weight_gradient_pass)
                       .if_any()(compute(scaled(f8e4m3, block(128, 1), scale))));
}

/// The 8-bit training of "DeepSeek-V3 Technical Report", 3.3: fp8_block, whose scales are powers of
/// two or f32, and moments in bf16. The report keeps embedding, output head, gating, norms and
/// attention as they are; here products that are no linear compute in bf16, and `products` leaves
/// out a head:
///   presets::deepseek_v3(op("linear") & layer("h/**"))
///   presets::deepseek_v3(op("linear"), f32)
constexpr auto deepseek_v3(const Selector& products = op("linear"), Element scale = f8e8m0) {
  return precision(fp8_block(products, scale), where(optimizer_states).if_any()(store(bf16)));
}

/// What of NVFP4's recipe is left out, as TransformerEngine calls it.
struct Nvfp4 {
  bool disable_rht = false;                  ///< operands of weight gradients are not rotated
  bool disable_stochastic_rounding = false;  ///< gradients are rounded to the nearest
  Element of_all = f32;  ///< f8e8m0: a power of two as the tensor's scale (P77)
};

/// NVFP4 as TransformerEngine's NVFP4BlockScaling: E2M1 in blocks of 16 along what is summed,
/// weights in blocks of 16 x 16, each block times a number of E4M3 under one of f32 for the tensor
/// (P97); gradients are rounded stochastically, and both operands of a weight gradient rotated
/// (P105). All else is as in fp8_current.
constexpr auto nvfp4(const Selector& products = op("linear"), const Nvfp4& without = {}) {
  const Scaled rows = scaled(f4e2m1, block(16), f8e4m3, without.of_all);
  const Scaled plain = scaled(f4e2m1, block(16, 1), f8e4m3, without.of_all);
  const Scaled columns = without.disable_rht ? plain : rotated(plain);
  const auto drawn = without.disable_stochastic_rounding ? nearest_even : stochastic;
  return precision(everywhere(store(bf16)), where(contraction)(compute(bf16)),
                   where(products)(compute(rows)),
                   where(products & weights)
                       .if_any()(compute(scaled(f4e2m1, block(16, 16), f8e4m3, without.of_all))),
                   where(products & gradients).if_any()(compute(rows), rounding(drawn)),
                   where(products & weight_gradient_pass).if_any()(compute(columns)));
}
/// Under a power of two in the place of f32, and not rotated: for products of any kind.
constexpr auto nvfp4(const Selector& products, Element of_all) {
  return nvfp4(products, {.disable_rht = true, .of_all = of_all});
}

}  // namespace halftone::dsl::presets
