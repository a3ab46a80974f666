// SPDX-License-Identifier: Apache-2.0
// The rules of systems with automatic casts, list by list. Each has a page in docs/presets/ with
// its source, the source's lists and what differs here. Their rules speak of layers that a model
// may lack (P65), so that each fits any model.
#pragma once

#include "halftone/layers.hpp"
#include "halftone/loss_scale.hpp"
#include "halftone/precision.hpp"

namespace halftone::dsl::presets {

namespace listed {

/// The layers and losses of a list of kinds.
constexpr Selector any_of(const KindList& list) {
  return selecting::only(SelectedParts{.ops = list.set});
}

/// Casts by two lists: what is on neither computes in the widest format of its inputs, its
/// parameters being f32, and stores that.
constexpr auto casts(Element half, const KindList& lower, const KindList& full) {
  return precision(
      everywhere(store(follow), compute(follow), because("on no list: as its inputs are stored")),
      where(weights).if_any()(compute(f32), because("parameters of what is on no list")),
      where(any_of(lower)).if_any()(store(half), compute(half), because("on the 16-bit list")),
      where(any_of(lower) & weight_gradient_pass)
          .if_any()(result(half), because("gradients of 16-bit copies have 16 bits")),
      where(any_of(full)).if_any()(store(f32), compute(f32), because("on the 32-bit list")));
}

}  // namespace listed

/// torch.autocast("cuda", dtype=half), but for its loss scale: add dynamic_loss_scale() for f16.
constexpr auto torch_autocast(Element half) {
  return listed::casts(
      half,
      ops("linear", "matmul", "attention", "convolution", "transposed_convolution",
          "causal_conv1d"),
      ops("layer_norm", "group_norm", "rms_norm", "softmax", "upsample", "cross_entropy",
          "soft_cross_entropy", "mse", "pointwise_loss", "cosine_embedding"));
}

/// torch.autocast("cpu", dtype=half): there norms and softmax are on no list.
constexpr auto torch_autocast_cpu(Element half) {
  return listed::casts(half,
                       ops("linear", "matmul", "attention", "convolution",
                           "transposed_convolution", "causal_conv1d"),
                       ops("cross_entropy", "soft_cross_entropy", "mse", "pointwise_loss",
                           "cosine_embedding", "long_convolution"));
}

/// The loss scale of Apex: halved by every overflow, at most 2^24.
inline constexpr FieldOfRule apex_loss_scale = dynamic_loss_scale(
    initial(65536), growth(2), backoff(0.5), interval(2000), ceiling_at(16777216));

/// opt_level "O0": f32 throughout.
constexpr auto apex_o0() { return precision(everywhere(store(f32), compute(f32))); }

/// opt_level "O1": casts around functions, by Apex's lists.
constexpr auto apex_o1() {
  return precision(
      listed::casts(f16,
                    ops("linear", "matmul", "convolution", "transposed_convolution",
                        "causal_conv1d"),
                    ops("layer_norm", "group_norm", "softmax", "upsample", "gelu", "cross_entropy",
                        "soft_cross_entropy", "mse", "pointwise_loss", "cosine_embedding")),
      where(op("attention") & internal_values).if_any()(store(f16), because("products of matmul")),
      where(op("attention")).if_any()(store(f16), compute(f16), because("its two matmul")),
      everywhere.if_any()(apex_loss_scale));
}

/// opt_level "O2": a model in f16 but for its batch norms, with f32 masters.
constexpr auto apex_o2() {
  return precision(everywhere(store(f16), compute(f16), because("model.half()")),
                   where(weight_gradient_pass).if_any()(result(f16), because("model.half()")),
                   where(op("batch_norm")).if_any()(compute(f32), because("keep_batchnorm_fp32")),
                   where(op("batch_norm") & weight_gradient_pass)
                       .if_any()(result(f32), because("keep_batchnorm_fp32")),
                   where(loss).if_any()(compute(f32), because("outputs are cast to f32")),
                   everywhere.if_any()(apex_loss_scale));
}

/// opt_level "O3": f16 throughout, without a loss scale. Masters are f32 all the same (P14).
constexpr auto apex_o3() {
  return precision(everywhere(store(f16), compute(f16), because("model.half()")),
                   where(weight_gradient_pass).if_any()(result(f16), because("model.half()")),
                   where(loss).if_any()(compute(f32), because("outputs are cast to f32")));
}

/// TensorFlow's graph rewrite auto_mixed_precision: four lists and a painted graph (P64).
constexpr auto tensorflow(Element half) {
  return precision(
      paint(half,
            ops("linear", "matmul", "attention", "convolution", "transposed_convolution"),
            ops("add", "batch_norm", "standardize", "softmax", "gelu", "silu", "dropout",
                "position_embedding", "rotary", "pool", "adaptive_pool"),
            ops("layer_norm", "group_norm", "rms_norm", "global_average_pool",
                "cross_entropy", "soft_cross_entropy", "mse", "pointwise_loss",
                "cosine_embedding"),
            ops("relu", "embedding", "concat", "slice", "reshape", "transpose", "expand", "pad",
                "pixel_shuffle", "segment_broadcast")));
}

/// Keras' policies: every layer computes and stores in one format, norms reckon in f32, and so do
/// losses.
constexpr auto keras_policy(Element element) {
  return precision(
      everywhere(store(element), compute(element), because("the policy's compute dtype")),
      where(normalization).if_any()(compute(f32), because("norms cast their inputs to float32")),
      where(loss).if_any()(compute(f32), because("losses are float32")));
}
/// "mixed_float16", with the LossScaleOptimizer that compile() adds.
constexpr auto keras_mixed_float16() {
  return precision(keras_policy(f16),
                   everywhere.if_any()(dynamic_loss_scale(initial(32768), interval(2000))));
}
/// "mixed_bfloat16"
constexpr auto keras_mixed_bfloat16() { return keras_policy(bf16); }
/// "float32"
constexpr auto keras_float32() { return keras_policy(f32); }

/// Micikevicius et al. 2018: weights, activations and gradients in f16 beside f32 masters, sums in
/// f32, a dynamic loss scale.
constexpr auto micikevicius() {
  return precision(
      everywhere(store(f16), compute(f16), because("section 3.1: stored as FP16")),
      where(weights).if_any()(store(f16), because("section 3.1: an FP16 copy of the masters")),
      where(weight_gradient_pass).if_any()(result(f16), because("section 3.1: stored as FP16")),
      where(contraction).if_any()(accumulate(f32), because("section 3.3: summed in FP32")),
      where(loss).if_any()(compute(f32), because("section 3.3: reduced in FP32")),
      everywhere.if_any()(dynamic_loss_scale(initial(32768), growth(2), backoff(0.5),
                                             interval(2000))));
}

}  // namespace halftone::dsl::presets
