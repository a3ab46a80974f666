// SPDX-License-Identifier: Apache-2.0
// The rules of five training systems, each with a page in docs/presets/. As those of autocast.hpp
// they speak of layers that a model may lack (P65).
#pragma once

#include "halftone/layers.hpp"
#include "halftone/loss_scale.hpp"
#include "halftone/presets.hpp"

namespace halftone::dsl::presets {

namespace systems {

/// One format but for what normalises and for losses.
constexpr auto in_16_bits(Element half) {
  return precision(everywhere(store(half), compute(half)),
                   where(normalization | softmax | loss).if_any()(compute(f32)));
}
/// One format during a stage.
constexpr auto in_stage(const char* stage, Element format) {
  return precision(
      where(during(stage))(store(format), compute(format)),
      where(during(stage)).if_any()(format == f16 ? dynamic_loss_scale() : no_loss_scale()));
}
/// Slow to grow: by half after 200 good steps.
inline constexpr FieldOfRule conservative =
    dynamic_loss_scale(initial(1024), growth(1.5), backoff(0.5), interval(200));

}  // namespace systems

/// What the chip has: bf16 from sm_80 on and on the CPU, f16 with a loss scale before.
constexpr auto by_chip() {
  return precision(systems::in_16_bits(bf16),
                   where(on(before(sm_80)))
                       .if_any()(store(f16), compute(f16), because("no bf16 before sm_80")),
                   where(on(before(sm_80)) & (normalization | softmax | loss))
                       .if_any()(compute(f32)),
                   where(on(before(sm_80))).if_any()(dynamic_loss_scale()));
}

/// A genomic model's tasks. Annotation: linear layers in 8 bits where tensor cores have them, else
/// what the chip has; activations are computed again.
constexpr auto genomic_annotation() {
  return precision(by_chip(),
                   where(op("linear") & on(fp8_cores))
                       .if_any()(compute(scaled(f8e4m3)), because("fp8 from sm_89 on")),
                   where(op("linear") & gradients & on(fp8_cores))
                       .if_any()(compute(scaled(f8e5m2)), because("fp8 from sm_89 on")),
                   everywhere.if_any()(recompute(always)));
}
/// Effects of variants, and the domains to which a model is adapted: bf16 and a scale that grows
/// slowly.
constexpr auto genomic_variant_effect() {
  return precision(systems::in_16_bits(bf16), everywhere.if_any()(systems::conservative));
}
constexpr auto genomic_domain_adaptation() { return genomic_variant_effect(); }
/// Functions of proteins, and generation: the optimizer's states lie in the host's memory (P91).
constexpr auto genomic_protein_function() {
  return precision(systems::in_16_bits(bf16), where(optimizer_states).if_any()(place(host)));
}
constexpr auto genomic_generation() {
  return precision(systems::in_16_bits(f16), where(optimizer_states).if_any()(place(host)),
                   everywhere.if_any()(dynamic_loss_scale()));
}

/// Video diffusion: `half` throughout, attention's weights too, behind a softmax in f32; a loss
/// scale that grows after 100 good steps.
constexpr auto video_diffusion(Element half) {
  return precision(
      systems::in_16_bits(half),
      where(layer("**.{weights,score_gradients}") & op("attention") & internal_values)
          .if_any()(store(half)),
      everywhere.if_any()(
          dynamic_loss_scale(initial(65536), growth(2), backoff(0.5), interval(100))));
}

/// A forecaster of dense layers: f16, and a loss scale from 1 to 2^18.
constexpr auto forecaster() {
  return precision(everywhere(store(f16), compute(f16)), where(loss).if_any()(compute(f32)),
                   everywhere.if_any()(dynamic_loss_scale(initial(65536), growth(2), backoff(0.5),
                                                          interval(2000), floor_at(1),
                                                          ceiling_at(262144))));
}

/// A trainer by phases, whose model is given stages("warmup", "full", "predict", "correct"); each
/// has a format for all but what normalises and losses, and a loss scale where that is f16.
constexpr auto phases_custom(Element warmup, Element full, Element predict, Element correct) {
  return precision(
      systems::in_stage("warmup", warmup), systems::in_stage("full", full),
      systems::in_stage("predict", predict), systems::in_stage("correct", correct),
      where(normalization | softmax | loss).if_any()(compute(f32)));
}
/// Conservative: f32 in all of them, whatever they are called.
constexpr auto phases_conservative() { return precision(everywhere(store(f32), compute(f32))); }
/// Default: f32, but for what contractions read in the phase that predicts.
constexpr auto phases_default() {
  return precision(phases_conservative(),
                   where(contraction & during("predict")).if_any()(compute(bf16)));
}
/// Aggressive: bf16 in the phase that predicts.
constexpr auto phases_aggressive() { return phases_custom(f32, f32, bf16, f32); }

/// A graph framework with an allow list and a deny list; gradients of weights are summed in f32.
constexpr auto graph_framework(Element half) {
  return precision(everywhere(store(half)), where(allowed).if_any()(compute(half)),
                   where(denied).if_any()(compute(f32)),
                   everywhere.if_any()(dynamic_loss_scale()));
}

}  // namespace halftone::dsl::presets
