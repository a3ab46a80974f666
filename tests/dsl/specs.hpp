// SPDX-License-Identifier: Apache-2.0
// The models of tests/support/models, written in the dsl. Names that the dsl reserves or shares
// differ; describe.cpp lists them.
#pragma once

#include <halftone/dsl.hpp>

namespace specs {
using namespace halftone::dsl;

inline constexpr auto f32_rules =
    precision(everywhere(store(f32), compute(f32), accumulate(f32), master(f32)));

/// Weight and bias drawn from +-bound.
template <class... Options>
constexpr auto drawn(const char* name, long long outputs, double bound, const Options&... options) {
  return linear(name, outputs, init_uniform(-bound, bound), on_bias(init_uniform(-bound, bound)),
                options...);
}

constexpr auto causal_conv1d_model = model(
    "causal_conv1d",
    inputs(tensor("x", batch, symbol("time"), 7), tensor("target", batch, symbol("time"), 9)),
    from("x") | causal_conv1d("conv1", 4) | silu("act1") | drawn("fc", 9, 0.38) |
        causal_conv1d("conv2", 3, no_bias, no_decay, init_uniform(-0.58, 0.58)) | relu("act2") |
        causal_conv1d("conv3", 1, on_bias(no_decay, init_constant(0))) | output("prediction"),
    losses(mse("error", "prediction", "target")));
HALFTONE_PROGRAM(causal_conv1d_model_program, causal_conv1d_model, f32_rules, adamw(), clip(1.0))

constexpr auto windows =
    model("windows", inputs(tensor("image", batch, 7, 6, 3), tensor("target", batch, 24, 5)),
          from("image") |
              conv2d("stem", 8, 3, padding(1), init_uniform(-0.19, 0.19),
                     on_bias(init_uniform(-0.19, 0.19))) |
              silu("act1") |
              conv2d("down", 6, kernel(3, 2), stride(2, 1), dilation(1, 2), padding(1, 0, 2, 2),
                     groups(2), no_bias, no_decay, init_uniform(-0.2, 0.2)) |
              conv2d("depth", 12, 3, same, groups(6), init_uniform(-0.33, 0.33),
                     on_bias(init_uniform(-0.33, 0.33))) |
              silu("act2") |
              conv2d("mix", 5, 1, init_uniform(-0.28, 0.28), on_bias(no_decay, init_constant(0))) |
              conv_transpose2d("back", 5, kernel(2, 3), stride(2, 1), padding(2, 1),
                               init_uniform(-0.18, 0.18), on_bias(init_uniform(-0.18, 0.18))) |
              reshape("frames", batch, 2, 2, 6, 5) |
              conv3d("film", 5, kernel(2, 1, 3), stride(1), padding(1, 0, 1, 0, 0, 1),
                     init_uniform(-0.18, 0.18), on_bias(init_uniform(-0.18, 0.18))) |
              reshape("places", batch, 24, 5) |
              conv1d("line", 5, 4, no_bias, init_uniform(-0.22, 0.22), padding(3, 0)) |
              output("prediction"),
          losses(mse("error", "prediction", "target")));
HALFTONE_PROGRAM(windows_program, windows, f32_rules, adamw(), clip(1.0))

constexpr auto grouped = model(
    "grouped",
    inputs(tensor("image", batch, 12, 11, 4), tensor("level", batch, 3),
           tensor("target", batch, 12, 11, 3), labels("kind", batch)),
    from("image") | drawn("stem", 12, 0.4) |
        group_norm("norm1", 4, no_decay, init_uniform(0.5, 1.5), on_bias(init_uniform(-0.5, 0.5))) |
        silu("act1"),
    from("level") | drawn("shift", 12, 0.5) | expand("everywhere", batch, 12, 11, 12),
    from("act1") | add("everywhere") | as("shifted") |
        conv2d("depth", 12, kernel(3, 2), stride(1), dilation(1, 3), padding(1, 2, 1, 1),
               groups(12), no_bias, init_uniform(-0.4, 0.4)) |
        silu("act3") | instance_norm("norm2", epsilon(1e-3)) | silu("act2"),
    from("act2") | global_avg_pool("pooled") | drawn("logits", 4, 0.2),
    from("act2") | drawn("head", 3, 0.2) | output("prediction"),
    losses(mse("error", "prediction", "target"), cross_entropy("xent", "logits", "kind")));
HALFTONE_PROGRAM(grouped_program, grouped, f32_rules, adamw(), clip(1.0))

constexpr auto resampled = model(
    "resampled",
    inputs(tensor("image", batch, symbol("time"), 6, 3),
           tensor("target", batch, symbol("time"), 6, 5)),
    from("image") |
        conv2d("conv", 5, 3, same, init_uniform(-0.19, 0.19), on_bias(init_uniform(-0.19, 0.19))) |
        relu("act") | max_pool2d("largest", 3, stride(1, 3), padding(1)) |
        upsample1d("repeated", 3) | position_embedding("places", 6, init_constant(0)) |
        max_pool1d("peaks", 4, stride(1), same) |
        avg_pool2d("smooth", kernel(2, 3), exclude_padding, stride(1), same) |
        reshape("plane", batch, symbol("time"), 6, 5, 1) |
        upsample2d("lines", factor(2, 3), bilinear) | avg_pool2d("back", kernel(2, 3)) |
        reshape("rows", batch, symbol("time"), 6, 5) |
        avg_pool1d("blur", 3, padding(1), stride(1)) | output("prediction"),
    losses(mse("error", "prediction", "target")));
HALFTONE_PROGRAM(resampled_program, resampled, f32_rules, adamw(), clip(1.0))

constexpr auto segments_model = model(
    "segments",
    inputs(tokens("word", u8, batch, symbol("time")), segments("patch", batch, symbol("time")),
           labels("next", batch, symbol("time"))),
    from("word") | embedding("embed", 11, 10) | segment_mean("means", 4, "patch") |
        drawn("fc", 10, 0.3) | silu("act") | segment_broadcast("spread", "patch") |
        segment_sum("sums", 2, "patch") | segment_broadcast("back", "patch"),
    from("embed") | segment_max("most", 3, "patch") | segment_broadcast("top", "patch"),
    from("embed") | concat("back", "top") | as("both") | drawn("head", 12, 0.2) | output("logits"),
    losses(cross_entropy("error", "logits", "next")));
HALFTONE_PROGRAM(segments_program, segments_model, f32_rules, adamw(), clip(1.0))

constexpr auto adaptive =
    model("adaptive", inputs(tensor("image", batch, 5, 7, 3), tensor("target", batch, 4, 3, 2)),
          from("image") | drawn("fc", 4, 0.5) | adaptive_max_pool2d("largest", 3, 5) | silu("act") |
              adaptive_avg_pool2d("shares", 8, 1) | adaptive_avg_pool2d("wide", 4, 2) |
              adaptive_max_pool1d("most", 3) | drawn("head", 2, 0.5) | output("prediction"),
          losses(mse("error", "prediction", "target")));
HALFTONE_PROGRAM(adaptive_program, adaptive, f32_rules, adamw(), clip(1.0))

constexpr auto padded =
    model("padded", inputs(tensor("image", batch, 4, 5, 2), tensor("target", batch, 4, 4, 3)),
          from("image") |
              conv2d("conv", 4, kernel(2, 3), reflect, init_uniform(-0.28, 0.28),
                     padding(1, 1, 0, 2), on_bias(init_uniform(-0.28, 0.28))) |
              silu("act") | pad2d("around", padding(2, -1, 1, 2), circular) |
              pad2d("ends", replicate, padding(0, 2, -1, 1)) |
              pad2d("framed", padding(1, -2, 0, 0), pad_value(0.5)) |
              pad2d("inner", padding(-1, 1, 0, -1)) | pixel_shuffle("up", factor(2, 1)) |
              pixel_unshuffle("down", factor(3, 2)) | drawn("head", 3, 0.28) | output("prediction"),
          losses(mse("error", "prediction", "target")));
HALFTONE_PROGRAM(padded_program, padded, f32_rules, adamw(), clip(1.0))

constexpr auto softmax_model = model(
    "softmax", inputs(tensor("x", batch, 3, 11), tensor("target", batch, 3, 9)),
    from("x") | drawn("fc", 9, 0.4) | log_softmax("logs") | output("log_p"),
    from("x") | linear("gate", 9, no_bias, init_uniform(-0.4, 0.4)) | softmax("shares") |
        output("shares") |
        pointwise(
            "mixed", [](auto x, auto y) { return x * y; }, "logs"),
    losses(mse("error", "mixed", "target"),
           pointwise_loss(
               "soft", [](auto x, auto y) { return y * (y - x); }, weight(2), "logs", "target")));
HALFTONE_PROGRAM(softmax_model_program, softmax_model, f32_rules, adamw())

constexpr auto decoder =
    model("decoder",
          inputs(tokens("token", batch, symbol("time")), labels("next", batch, symbol("time"))),
          from("token") | embedding("embed", 29, 16, init_normal(0, 0.3)) |
              repeat<2>("h", residual(rms_norm("norm") | swiglu("mlp", 24, 16, no_bias))) |
              rms_norm("norm") | linear("head", 29, no_bias, tied("embed")) | output("logits"),
          from("logits") | linear("expected", 16, no_bias, tied("embed", transposed)) |
              output("expected"),
          losses(cross_entropy("xent", "logits", "next"),
                 mse("agreement", "expected", "norm", weight(0.1))));
HALFTONE_PROGRAM(decoder_program, decoder, f32_rules, adamw(lr(0.01)), clip(1.0))

constexpr auto digits =
    model("digits", inputs(tensor("pixels", batch, 64), labels("digit", batch)),
          from("pixels") | linear("fc1", 128) | gelu("act1") | layer_norm("norm", no_decay) |
              linear("fc2", 64) | gelu("act2") | linear("head", 10) | output("logits"),
          losses(cross_entropy("xent", "logits", "digit")));
HALFTONE_PROGRAM(digits_program, digits, f32_rules, adamw(), clip(1.0))

constexpr auto dropout_model =
    model("dropout", inputs(tensor("x", batch, 6), tensor("target", batch, 5)),
          from("x") | dropout("blind", 0.2) | drawn("fc1", 36, 0.4) | relu("act") |
              dropout("drop1", 0.45) | drawn("fc2", 33, 0.17) | dropout("drop2", 0.1) |
              layer_norm("norm", no_decay) | dropout("kept", 0) | drawn("head", 5, 0.18) |
              output("prediction"),
          losses(mse("error", "prediction", "target")));
HALFTONE_PROGRAM(dropout_model_program, dropout_model, f32_rules, adamw(), clip(1.0))

constexpr auto frozen_and_scaled =
    model("frozen_and_scaled", inputs(tensor("x", batch, 16), labels("label", batch)),
          from("x") |
              linear("backbone", 24, frozen, init_normal(0, 0.25),
                     on_bias(init_constant(0.05), no_decay)) |
              relu("act1") |
              linear("adapter", 24, learning_rate_scale(0.1), init_uniform(-0.2, 0.2),
                     on_bias(init_constant(0), no_decay)) |
              gelu("act2") |
              linear("head", 7, on_weight(init_uniform(-0.2, 0.2), learning_rate_scale(2.5)),
                     on_bias(init_constant(0), no_decay)) |
              output("logits"),
          losses(cross_entropy("xent", "logits", "label")));
HALFTONE_PROGRAM(frozen_and_scaled_program, frozen_and_scaled,
                 adamw(lr(0.01), betas(0.9, 0.99), epsilon(1e-6), weight_decay(0.1)), f32_rules)

constexpr auto lamb_groups =
    model("lamb_groups", inputs(tensor("x", batch, 64), tensor("target", batch, 8)),
          from("x") | rms_norm("moved", frozen, init_uniform(0.5, 1.5)) |
              linear("fc1", 152, init_uniform(-0.4, 0.4), on_bias(init_constant(0.1), no_decay)) |
              relu("act") |
              linear("fc2", 8, on_weight(init_uniform(-0.4, 0.4), learning_rate_scale(0.5)),
                     on_bias(init_constant(0), no_decay)) |
              layer_norm("scale") | output("y"),
          losses(mse("error", "y", "target")));
HALFTONE_PROGRAM(lamb_groups_program, lamb_groups, f32_rules,
                 lamb(lr(0.01), betas(0.9, 0.99), epsilon(1e-6), weight_decay(0.2), max_trust(2),
                      decayed_only),
                 group("{fc1.weight,fc2.bias}", clip(0.05)),
                 group("{fc1.bias,fc2.weight}", clip(0.75)), clip_value(0.125), average(0.75))

constexpr auto rotary_layer = model(
    "rotary_layer",
    inputs(tensor("x", batch, symbol("time"), 7), positions("place", u16, batch, symbol("time")),
           tensor("target", batch, symbol("time"), 24)),
    from("x") | drawn("query", 24, 0.4) | rotary("turned_query", 2),
    from("x") | linear("key", 24, no_bias, init_uniform(-0.4, 0.4)) | rotary("turned_key", 2),
    from("turned_query") |
        pointwise(
            "mixed", [](auto a, auto b) { return a * b + a; }, "turned_key") |
        linear("head", 24, no_bias, init_uniform(-0.2, 0.2)) |
        rotary("placed", 3, "place", base(500), interleaved, rotated(6),
               llama3_scaling(4, 1, 4, 64)) |
        rotary("last", 1, interleaved, linear_scaling(2)) | output("prediction"),
    losses(mse("error", "prediction", "target")));
HALFTONE_PROGRAM(rotary_layer_program, rotary_layer, f32_rules, adamw(), clip(1.0))

constexpr auto gelu_tanh_model =
    model("gelu_tanh", inputs(tensor("x", batch, 28), labels("label", batch)),
          from("x") | drawn("fc1", 40, 0.19) | layer_norm("norm", epsilon(1e-6), no_decay) |
              gelu_tanh("act") | drawn("fc2", 10, 0.16) | output("logits"),
          losses(cross_entropy("xent", "logits", "label")));
HALFTONE_PROGRAM(gelu_tanh_model_program, gelu_tanh_model, f32_rules, adamw(), clip(1.0))

constexpr auto matmul_model =
    model("matmul",
          inputs(tensor("x", batch, 3, symbol("time"), 7), tensor("memory", batch, 3, 9, 5),
                 tensor("target", batch, 3, symbol("time"), 6)),
          from("x") | drawn("query", 4, 0.5),
          from("memory") | linear("key", 4, no_bias, init_uniform(-0.5, 0.5)),
          from("memory") | drawn("value", 6, 0.5),
          from("query") | matmul("scores", "key", transpose_b) | gelu_tanh("act") |
              matmul("mixed", "value"),
          from("query") | matmul("summed", "mixed", transpose_a) |
              matmul("turned", "key", transpose_a, transpose_b),
          from("act") | matmul("read", "turned", transpose_b) | matmul("gram", "read", transpose_a),
          from("mixed") | residual(matmul("last", "gram")) | as("residual") | output("prediction"),
          losses(mse("error", "prediction", "target")));
HALFTONE_PROGRAM(matmul_model_program, matmul_model, f32_rules, adamw(), clip(1.0))

constexpr auto long_convolution_model =
    model("long_convolution",
          inputs(tensor("x", batch, 13, 3), tensor("positions", 13, 2), tensor("z", batch, 6, 5),
                 tensor("six", 6, 2), tensor("three", 3, 2), tensor("two", 2, 2),
                 tensor("one", 1, 2), tensor("target", batch, 13, 3), tensor("last", batch, 6, 5)),
          from("x") | drawn("in", 18, 0.5),
          from("positions") | drawn("hidden", 4, 0.7) | gelu_tanh("act") | drawn("filter", 18, 0.5),
          from("in") | long_convolution("long", "filter") |
              pointwise(
                  "gate", [](auto x, auto gate) { return x * gate; }, "in"),
          from("filter") | long_convolution("twice", "filter"),
          from("gate") | long_convolution("everywhere", "twice") | drawn("head", 3, 0.2) |
              output("prediction"),
          from("six") | drawn("filter6", 5, 0.7), from("three") | drawn("filter3", 5, 0.7),
          from("two") | drawn("filter2", 5, 0.7), from("one") | drawn("filter1", 5, 0.7),
          from("z") | long_convolution("of6", "filter6") | reshape("threes", batch, 2, 3, 5) |
              long_convolution("of3", "filter3") | reshape("twos", batch, 3, 2, 5) |
              long_convolution("of2", "filter2") | reshape("ones", batch, 6, 1, 5) |
              long_convolution("of1", "filter1") | reshape("rows", batch, 6, 5),
          losses(mse("error", "prediction", "target"), mse("rest", "rows", "last", weight(0.5))));
HALFTONE_PROGRAM(long_convolution_program, long_convolution_model, f32_rules, adamw(), clip(1.0))

constexpr auto nesterov_model =
    model("nesterov", inputs(tensor("x", batch, 8), tensor("target", batch, 8)),
          from("x") | linear("fc", 8, init_normal(0, 0.3), on_bias(init_constant(0), no_decay)) |
              output("prediction"),
          losses(mse("error", "prediction", "target", weight(2))));
HALFTONE_PROGRAM(nesterov_model_program, nesterov_model, f32_rules,
                 sgd(lr(0.02), momentum(0.8), nesterov, weight_decay(0.001)), clip(0.25))

constexpr auto no_bias_model =
    model("no_bias", inputs(tensor("x", batch, 16), tensor("target", batch, 4)),
          from("x") | linear("fc1", 32, no_bias, init_uniform(-0.25, 0.25)) | relu("act") |
              linear("fc2", 4, no_bias, init_uniform(-0.18, 0.18)) | output("prediction"),
          losses(mse("error", "fc2", "target")));
HALFTONE_PROGRAM(no_bias_model_program, no_bias_model, f32_rules, sgd(lr(0.01)))

constexpr auto odd_sizes =
    model("odd_sizes", inputs(tensor("x", batch, 7), labels("label", batch)),
          from("x") | drawn("fc1", 33, 0.38) | gelu("act") | layer_norm("norm", no_decay) |
              drawn("fc2", 5, 0.17) | output("logits"),
          losses(cross_entropy("xent", "logits", "label")));
HALFTONE_PROGRAM(odd_sizes_program, odd_sizes, f32_rules, adamw(), clip(1.0))

constexpr auto embedding_model = model(
    "embedding",
    inputs(tokens("token", batch, symbol("time")), tokens("place", batch, symbol("time")),
           labels("next", batch, symbol("time"))),
    from("token") | embedding("embed", 37, 12, padding_index(3), init_uniform(-0.5, 0.5)),
    from("place") | embedding("places", 5, 12, no_decay), from("embed") | add("places") | as("sum"),
    from("sum") | layer_norm("norm") | drawn("fc", 12, 0.3) | gelu_tanh("act") |
        linear("head", 37, no_bias, tied("embed")) | output("logits"),
    losses(cross_entropy("xent", "logits", "next")));
HALFTONE_PROGRAM(embedding_model_program, embedding_model, f32_rules, adamw(lr(0.01)), clip(1.0))

constexpr auto float8 = model(
    "float8", inputs(tensor("x", batch, 16), labels("kind", batch)),
    from("x") | linear("fc", 20, init_uniform(-300, 300), on_bias(init_uniform(-0.4, 0.4))) |
        layer_norm("norm", no_decay, init_uniform(0.5, 1.5), on_bias(init_uniform(-0.5, 0.5))) |
        gelu_tanh("act") | linear("mix", 16, no_bias, init_uniform(-0.4, 0.4)) | add("x") |
        as("residual") | linear("head", 7, init_uniform(-0.3, 0.3), on_bias(init_constant(0.1))) |
        output("logits"),
    losses(cross_entropy("xent", "logits", "kind")));
inline constexpr auto float8_rules = precision(
    everywhere(store(f8e4m3, saturate), compute(f8e4m3, saturate), fixed_loss_scale(1048576)),
    where(gradients)(store(f8e5m2, saturate), compute(f8e5m2, saturate)),
    where(normalization | loss)(compute(f32)),
    where(layer("{fc,mix}") & weights)(store(f8e4m3, saturate)),
    where(layer("head") & weights)(store(f8e5m2)),
    where(layer("act") & saved_activations)(store(f8e5m2), rounding(toward_zero)),
    where(layer("act"))(store(follow), compute(follow)),
    where(layer("norm.normalized") & internal_values)(store(f8e4m3)),
    where(layer("residual"))(store(bf16), compute(bf16)),
    where(layer("head"))(store(f32), compute(bf16)));
HALFTONE_PROGRAM(float8_program, float8, float8_rules, adamw(lr(0.01)))

constexpr auto huber = [](auto x, auto target) {
  const auto d = x - target;
  const auto square = d * d;
  const auto damped = square / (1.0 + exp(-square));
  const auto size = abs(d);
  const auto line = size - 0.5;
  return maximum(minimum(select(size < 1.0, damped, line), 8.0), 0.001);
};
constexpr auto pointwise_model = model(
    "pointwise", inputs(tensor("x", batch, 10), tensor("target", batch, 12)),
    from("x") | linear("value", 12, init_uniform(-0.3, 0.3), on_bias(init_constant(0))),
    from("x") | linear("gate", 12, init_uniform(-0.3, 0.3), on_bias(init_constant(0.1))),
    from("value") |
        pointwise(
            "swish", [](auto value, auto gate) { return value * (gate * sigmoid(gate)); }, "gate") |
        output("prediction"),
    losses(pointwise_loss("huber", huber, "prediction", "target")));
HALFTONE_PROGRAM(pointwise_model_program, pointwise_model, f32_rules, adamw())

constexpr auto smooth = [](auto x, auto target) {
  const auto d = x - target;
  return sqrt(d * d + 0.01);
};
constexpr auto masked = model(
    "masked",
    inputs(tensor("features", batch, 20), labels("label", batch), tensor("target", batch, 3),
           tensor("w", batch), tensor("wanted", batch, 3)),
    from("features") | linear("trunk", 16, init_uniform(-0.2, 0.2), on_bias(init_constant(0.01))) |
        gelu("act"),
    from("act") | linear("classes", 5, no_bias, init_uniform(-0.25, 0.25)) | output("classes"),
    from("act") | linear("values", 3, init_uniform(-0.25, 0.25), on_bias(init_constant(0))) |
        output("values"),
    losses(
        cross_entropy("both", "classes", "label", ignore_index(2), sample_weight("w")),
        cross_entropy("ignoring", "classes", "label", weight(0.5), ignore_index(-100)),
        mse("by_row", "values", "target", sample_weight("w"), weight(0.25)),
        mse("by_element", "values", "target", sample_weight("wanted")),
        pointwise_loss("own_by_row", smooth, weight(0.5), sample_weight("w"), "values", "target"),
        pointwise_loss(
            "own_by_element", [](auto x, auto y) { return abs(x - y); }, weight(0.125),
            sample_weight("wanted"), "values", "target"),
        cross_entropy("metric", "classes", "label", weight(0), sample_weight("w"))));
HALFTONE_PROGRAM(masked_program, masked, f32_rules, adamw(), clip(0.5))

constexpr auto smoothed = model(
    "smoothed", inputs(tensor("features", batch, 20), labels("label", batch), tensor("w", batch)),
    from("features") | linear("trunk", 16, init_uniform(-0.2, 0.2), on_bias(init_constant(0.01))) |
        gelu("act") | linear("classes", 5, no_bias, init_uniform(-2, 2)) | output("classes"),
    losses(cross_entropy("smoothed", "classes", "label", label_smoothing(0.1)),
           cross_entropy("squared", "classes", "label", weight(0.5), z_loss(0.01)),
           cross_entropy("capped", "classes", "label", soft_cap(1.5), weight(0.25)),
           cross_entropy("all", "classes", "label", soft_cap(3), z_loss(0.125),
                         label_smoothing(0.25), ignore_index(2), sample_weight("w")),
           cross_entropy("metric", "classes", "label", label_smoothing(0.1), weight(0),
                         sample_weight("w"), soft_cap(3))));
HALFTONE_PROGRAM(smoothed_program, smoothed, f32_rules, adamw(), clip(0.5))

constexpr auto rank3 = model(
    "rank3", inputs(tensor("x", batch, symbol("time"), 32), labels("next", batch, symbol("time"))),
    from("x") | residual(layer_norm("norm", no_decay) | drawn("fc", 32, 0.18) | gelu("act")) |
        as("residual") | linear("head", 11, no_bias, init_uniform(-0.18, 0.18)) | output("logits"),
    losses(cross_entropy("xent", "logits", "next")));
HALFTONE_PROGRAM(rank3_program, rank3, f32_rules, adamw(), clip(1.0))

constexpr auto relu_sgd_momentum = model(
    "relu_sgd_momentum", inputs(tensor("x", batch, 32), labels("label", batch)),
    from("x") | drawn("fc1", 48, 0.18) | relu("act") | drawn("fc2", 4, 0.14) | output("logits"),
    losses(cross_entropy("xent", "logits", "label")));
HALFTONE_PROGRAM(relu_sgd_momentum_program, relu_sgd_momentum, f32_rules,
                 sgd(lr(0.05), momentum(0.9), weight_decay(0.0005)))

constexpr Dimension time = symbol("time");
constexpr auto attention_model = model(
    "attention", inputs(tensor("x", batch, time, 10), tensor("target", batch, time, 10)),
    from("x") | rms_norm("norm", no_decay, init_uniform(0.5, 1.5)),
    from("norm") | drawn("q1", 12, 0.5), from("norm") | drawn("k1", 12, 0.5),
    from("norm") | drawn("v1", 15, 0.5),
    from("q1") | attention("mix1", "k1", "v1", causal, halftone::dsl::heads(3)) |
        drawn("join1", 10, 0.3),
    from("x") | add("join1") | as("residual"),
    from("residual") | linear("q2", 8, no_bias, init_uniform(-0.7, 0.7)),
    from("residual") | linear("k2", 8, no_bias, init_uniform(-0.7, 0.7)),
    from("residual") | linear("v2", 10, no_bias, init_uniform(-0.5, 0.5)),
    from("q2") | attention("mix2", "k2", "v2", halftone::dsl::heads(1)) | output("prediction"),
    losses(mse("error", "prediction", "target")));
HALFTONE_PROGRAM(attention_model_program, attention_model, f32_rules, adamw(lr(0.01)), clip(1.0))

constexpr auto packed =
    model("packed", inputs(tensor("x", batch, time, 10), tensor("target", batch, time, 11)),
          from("x") | drawn("qkv", 36, 0.5), from("qkv") | slice("q", 0, 12),
          from("qkv") | slice("k", 12, 24), from("qkv") | slice("v", 24, 36),
          from("q") | attention("mix", "k", "v", causal, halftone::dsl::heads(3)) |
              linear("join", 11, no_bias, init_uniform(-0.3, 0.3)),
          from("join") | slice("low", 0, 7), from("join") | slice("high", 3, 10),
          from("low") | add("high") | as("sum"), from("join") | slice("one", 10, 11),
          from("sum") | silu("act"), from("x") | slice("edge", 7, 10),
          from("act") | concat("one", "edge") | as("guess") | output("guess"),
          losses(mse("error", "guess", "target")));
HALFTONE_PROGRAM(packed_program, packed, f32_rules, adamw(), clip(1.0))

constexpr auto heads =
    model("heads", inputs(tensor("x", batch, time, 10), tensor("target", batch, time, 10)),
          from("x") | drawn("split", 48, 0.32) | reshape("heads", batch, time, 12, 4) |
              transpose("swap", 0, 2, 1, 3) | gelu_tanh("act") | drawn("inner", 5, 0.5) |
              transpose("back", 0, 2, 1, 3) | reshape("joined", batch, time, 60) |
              drawn("join", 10, 0.13) | output("prediction"),
          losses(mse("error", "prediction", "target")));
HALFTONE_PROGRAM(heads_program, heads, f32_rules, adamw(), clip(1.0))

constexpr auto rms_norm_model =
    model("rms_norm", inputs(tensor("x", batch, 7), labels("label", batch)),
          from("x") | rms_norm("norm1") | drawn("fc1", 33, 0.38) | silu("act") |
              rms_norm("norm2", epsilon(1e-6), no_decay, init_uniform(0.5, 1.5)) |
              drawn("fc2", 5, 0.17) | output("logits"),
          losses(cross_entropy("xent", "logits", "label")));
HALFTONE_PROGRAM(rms_norm_model_program, rms_norm_model, f32_rules, adamw(), clip(1.0))

constexpr auto batch_norm_model =
    model("batch_norm", inputs(tensor("x", batch, 7), labels("label", batch)),
          from("x") | drawn("fc1", 33, 0.38) | batch_norm("norm1") | silu("act") |
              drawn("fc2", 20, 0.17) |
              batch_norm("norm2", momentum(0.25), epsilon(1e-3), no_decay, init_uniform(0.5, 1.5)) |
              drawn("head", 5, 0.22) | output("logits"),
          losses(cross_entropy("xent", "logits", "label")));
HALFTONE_PROGRAM(batch_norm_model_program, batch_norm_model, f32_rules, adamw(), clip(1.0))

constexpr auto silu_model =
    model("silu", inputs(tensor("x", batch, 24), tensor("target", batch, 6)),
          from("x") | linear("fc1", 40, init_uniform(-0.7, 0.7), on_bias(init_uniform(-2, 2))) |
              silu("act") | drawn("fc2", 6, 0.3) | output("prediction"),
          losses(mse("error", "prediction", "target")));
HALFTONE_PROGRAM(silu_model_program, silu_model, f32_rules, sgd(lr(0.05)))

constexpr auto skip = model(
    "skip", inputs(tensor("x", batch, 16), labels("label", batch)),
    from("x") | residual(drawn("h0/fc", 16, 0.25) | relu("h0/act")) | as("h0/residual") |
        drawn("h1/fc", 24, 0.25) | concat("x", "h0/residual") | as("joined") |
        linear("head", 6, init_uniform(-0.13, 0.13), on_bias(init_constant(0))) | output("logits"),
    losses(cross_entropy("xent", "logits", "label")));
HALFTONE_PROGRAM(skip_program, skip, f32_rules, adamw())

constexpr auto state_average =
    model("state_average", inputs(tensor("x", batch, 8), tensor("target", batch, 8)),
          states(state("average", initial(0.25), batch, 8)), from("x") | drawn("fc", 8, 0.35),
          from("average") |
              pointwise(
                  "moved", [](auto average, auto x) { return 0.9 * average + 0.1 * x; }, "fc") |
              output("next_average"),
          from("fc") | pointwise(
                           "centered", [](auto x, auto average) { return x - average; }, "average"),
          losses(mse("error", "centered", "target")), assignments(assign("average", "moved")));
HALFTONE_PROGRAM(state_average_program, state_average, f32_rules, adamw())

constexpr auto tied_model =
    model("tied", inputs(tensor("x", batch, 20)),
          from("x") | linear("encode", 20, init_normal(0, 0.2), on_bias(init_constant(0))) |
              gelu_tanh("act") | output("code") |
              linear("decode", 20, tied("encode"), on_bias(init_constant(0))) | output("decoded"),
          losses(mse("error", "decode", "x")));
HALFTONE_PROGRAM(tied_model_program, tied_model, f32_rules, adamw())

constexpr auto adam_model = model(
    "adam", inputs(tensor("x", batch, 16), tensor("target", batch, 8)),
    from("x") | linear("fc1", 24, init_uniform(-0.3, 0.3), on_bias(init_constant(0.1), no_decay)) |
        relu("act") |
        linear("fc2", 8, on_weight(init_uniform(-0.2, 0.2), learning_rate_scale(0.5)),
               on_bias(init_constant(0), no_decay)) |
        output("y"),
    losses(mse("error", "y", "target")));
HALFTONE_PROGRAM(adam_model_program, adam_model, f32_rules,
                 adam(lr(0.003), betas(0.9, 0.99), epsilon(1e-7), weight_decay(0.2)), clip(0.75))

constexpr auto undecayed =
    model("undecayed", inputs(tensor("x", batch, 16), tensor("target", batch, 8)),
          from("x") |
              linear("fc", 8, no_decay, init_uniform(-0.3, 0.3),
                     on_weight(learning_rate_scale(0.5)), on_bias(init_constant(0))) |
              output("y"),
          losses(mse("error", "y", "target")));
HALFTONE_PROGRAM(undecayed_program, undecayed, f32_rules,
                 sgd(lr(0.05), momentum(0.9), weight_decay(0.01)))

constexpr auto autoencoder = model(
    "autoencoder", inputs(tensor("x", batch, 48)),
    from("x") | linear("encode", 32, init_normal(0, 0.2), on_bias(init_constant(0))) |
        gelu_tanh("act") | linear("code", 16, no_bias, init_uniform(-0.3, 0.3)) | output("code") |
        linear("wide", 32, no_bias, tied("code", transposed)) | gelu_tanh("back") |
        linear("decode", 48, tied("encode", transposed),
               on_bias(init_uniform(-0.1, 0.1), no_decay)) |
        output("decoded"),
    losses(mse("error", "decode", "x")));
HALFTONE_PROGRAM(autoencoder_program, autoencoder, f32_rules, adamw())

constexpr auto siamese = model(
    "siamese",
    inputs(tokens("left", batch, 6), tokens("right", batch, 6), tensor("distance", batch, 6, 16)),
    from("left") | embedding("left_embed", 23, 16) |
        causal_conv1d("left_conv", 4, init_uniform(-0.5, 0.5), on_bias(init_constant(0.1))) |
        layer_norm("left_norm") | drawn("left_fc", 16, 0.25) | rms_norm("left_scale"),
    from("right") | embedding("right_embed", 23, 16, shared("left_embed")) |
        causal_conv1d("right_conv", 4, shared("left_conv")) |
        layer_norm("right_norm", shared("left_norm")) | linear("right_fc", 16, shared("left_fc")) |
        rms_norm("right_scale", epsilon(1e-5), shared("left_scale")),
    from("left_scale") |
        pointwise(
            "apart", [](auto x, auto y) { return abs(x - y); }, "right_scale") |
        output("apart"),
    losses(mse("error", "apart", "distance")));
HALFTONE_PROGRAM(siamese_program, siamese, f32_rules, adam(lr(0.01), weight_decay(0.001)))

// The chain that reads both branches stands before them.
constexpr auto two_inputs = model(
    "two_inputs", losses(mse("error", "head", "target")),
    from("left_fc") | add("right_fc") | as("sum") | relu("act") |
        linear("head", 8, init_uniform(-0.25, 0.25), on_bias(init_constant(0))) |
        output("prediction"),
    from("right") | linear("right_fc", 16, init_normal(0, 0.2), on_bias(init_constant(0))),
    from("left") | drawn("left_fc", 16, 0.25),
    inputs(tensor("left", batch, 12), tensor("right", batch, 20), tensor("target", batch, 8)));
HALFTONE_PROGRAM(two_inputs_program, two_inputs, f32_rules, adamw())

constexpr auto two_losses = model(
    "two_losses", inputs(tensor("x", batch, 24), labels("class", batch), tensor("value", batch, 3)),
    from("x") | linear("trunk", 32, init_uniform(-0.2, 0.2), on_bias(init_constant(0.01))) |
        gelu("act"),
    from("act") | linear("classes", 5, init_uniform(-0.17, 0.17), on_bias(init_constant(0))) |
        output("classes"),
    from("act") | linear("values", 3, init_uniform(-0.17, 0.17), on_bias(init_constant(0))) |
        output("values"),
    losses(cross_entropy("xent", "classes", "class"),
           mse("error", "values", "value", weight(0.3))));
HALFTONE_PROGRAM(two_losses_program, two_losses, f32_rules, adamw(), clip(0.5))

constexpr auto wide =
    model("wide", inputs(tensor("x", batch, 40), labels("label", batch)),
          from("x") | drawn("fc1", 1030, 0.15) | gelu("act") | layer_norm("norm", no_decay) |
              drawn("head", 2100, 0.03, on_weight(learning_rate_scale(0.5))) | output("logits"),
          losses(cross_entropy("xent", "logits", "label")));
HALFTONE_PROGRAM(wide_program, wide, f32_rules, adamw(), clip(1.0))

}  // namespace specs
