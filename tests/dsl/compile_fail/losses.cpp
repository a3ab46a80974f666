// SPDX-License-Identifier: Apache-2.0
// What fits no function of losses.
#include <cases.hpp>

// EXPECT l1_of_one_value: l1 takes the names of the loss, the value and the target, weight() and
// sample_weight(): write l1("loss", "guess", "y")
namespace l1_of_one_value {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           losses(MISSPELT(l1("loss", "guess"), l1("loss", "guess", "y"))));
MODEL(net, rules, adamw())
}  // namespace l1_of_one_value

// EXPECT huber_of_one_value: huber takes the names of the loss, the value and the target, delta,
// weight() and sample_weight(): write huber("loss", "guess", "y", 1.0)
namespace huber_of_one_value {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           losses(MISSPELT(huber("loss", "guess"), huber("loss", "guess", "y"))));
MODEL(net, rules, adamw())
}  // namespace huber_of_one_value

// EXPECT huber_of_zero: huber takes a finite delta above 0: write huber("loss", "guess", "y",
// 1.0)
namespace huber_of_zero {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(MISSPELT(huber("loss", "guess", "y", 0), huber("loss", "guess", "y", 1))));
MODEL(net, rules, adamw())
}  // namespace huber_of_zero

// EXPECT smooth_l1_of_a_weight: smooth_l1 takes the names of the loss, the value and the target,
// beta, weight() and sample_weight(): write smooth_l1("loss", "guess", "y", 1.0)
namespace smooth_l1_of_a_weight {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    from("x") | linear("fc", 4) | output("guess"),
    losses(MISSPELT(smooth_l1("loss", weight(2)), smooth_l1("loss", "guess", "y", weight(2)))));
MODEL(net, rules, adamw())
}  // namespace smooth_l1_of_a_weight

// EXPECT smooth_l1_below_zero: smooth_l1 takes a finite beta above 0: write smooth_l1("loss",
// "guess", "y", 1.0)
namespace smooth_l1_below_zero {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    from("x") | linear("fc", 4) | output("guess"),
    losses(MISSPELT(smooth_l1("loss", "guess", "y", -1.0), smooth_l1("loss", "guess", "y", 1.0))));
MODEL(net, rules, adamw())
}  // namespace smooth_l1_below_zero

// EXPECT poisson_nll_of_a_number: poisson_nll takes the names of the loss, the logarithm of the
// rate and the count, weight() and sample_weight(): write poisson_nll("loss", "log_rate", "count")
namespace poisson_nll_of_a_number {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(MISSPELT(poisson_nll("loss", "guess", 3), poisson_nll("loss", "guess", "y"))));
MODEL(net, rules, adamw())
}  // namespace poisson_nll_of_a_number

// EXPECT binary_cross_entropy_of_probabilities: binary_cross_entropy_with_logits takes the names
// of the loss, the logits and the target, weight() and sample_weight(): write
// binary_cross_entropy_with_logits("loss", "logits", "y")
namespace binary_cross_entropy_of_probabilities {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(MISSPELT(binary_cross_entropy_with_logits("loss", "guess"),
                          binary_cross_entropy_with_logits("loss", "guess", "y"))));
MODEL(net, rules, adamw())
}  // namespace binary_cross_entropy_of_probabilities

// EXPECT log_cosh_of_one_value: log_cosh takes the names of the loss, the value and the target,
// weight() and sample_weight(): write log_cosh("loss", "guess", "y")
namespace log_cosh_of_one_value {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(MISSPELT(log_cosh("loss", "guess"), log_cosh("loss", "guess", "y"))));
MODEL(net, rules, adamw())
}  // namespace log_cosh_of_one_value

// EXPECT hinge_with_a_number: hinge takes the names of the loss, the value and the target, weight()
// and sample_weight(): write hinge("loss", "score", "y")
namespace hinge_with_a_number {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(MISSPELT(hinge("loss", "guess", "y", 1), hinge("loss", "guess", "y"))));
MODEL(net, rules, adamw())
}  // namespace hinge_with_a_number

// EXPECT hinge_embedding_of_one_value: hinge_embedding takes the names of the loss, the value and
// the target, a margin, weight() and sample_weight(): write hinge_embedding("loss", "distance",
// "y", 1.0)
namespace hinge_embedding_of_one_value {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           losses(MISSPELT(hinge_embedding("loss", "guess", 1.0),
                                           hinge_embedding("loss", "guess", "y", 1.0))));
MODEL(net, rules, adamw())
}  // namespace hinge_embedding_of_one_value

// EXPECT hinge_embedding_of_nan: hinge_embedding takes a finite margin: write
// hinge_embedding("loss", "distance", "y", 1.0)
namespace hinge_embedding_of_nan {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           losses(MISSPELT(hinge_embedding("loss", "guess", "y", __builtin_nan("")),
                                           hinge_embedding("loss", "guess", "y", 2))));
MODEL(net, rules, adamw())
}  // namespace hinge_embedding_of_nan

// EXPECT soft_margin_of_one_value: soft_margin takes the names of the loss, the value and the
// target, weight() and sample_weight(): write soft_margin("loss", "score", "y")
namespace soft_margin_of_one_value {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(MISSPELT(soft_margin("loss", "guess"), soft_margin("loss", "guess", "y"))));
MODEL(net, rules, adamw())
}  // namespace soft_margin_of_one_value

// EXPECT margin_ranking_of_two_values: margin_ranking takes the names of the loss, of two values
// and of the target, a margin, weight() and sample_weight(): write margin_ranking("loss", "better",
// "worse", "y", 0.5)
namespace margin_ranking_of_two_values {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           losses(MISSPELT(margin_ranking("loss", "guess", "y"),
                                           margin_ranking("loss", "guess", "y", "y"))));
MODEL(net, rules, adamw())
}  // namespace margin_ranking_of_two_values

// EXPECT margin_ranking_of_infinity: margin_ranking takes a finite margin: write
// margin_ranking("loss", "better", "worse", "y", 0.5)
namespace margin_ranking_of_infinity {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(MISSPELT(margin_ranking("loss", "guess", "y", "y", __builtin_inf()),
                          margin_ranking("loss", "guess", "y", "y", 1))));
MODEL(net, rules, adamw())
}  // namespace margin_ranking_of_infinity

// EXPECT kl_div_of_one_value: kl_div takes the names of the loss, the logarithm of a probability
// and the target, weight() and sample_weight(): write kl_div("loss", "log_p", "y")
namespace kl_div_of_one_value {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           losses(MISSPELT(kl_div("loss", "guess"), kl_div("loss", "guess", "y"))));
MODEL(net, rules, adamw())
}  // namespace kl_div_of_one_value

// EXPECT loss_in_chain: a loss, input, state or section stands in a chain: write it beside the
// chain, as in model("net", inputs(...), from("x") | linear("fc", 64), losses(...))
namespace loss_in_chain {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    either(from("x") | linear("fc", 4) | mse("l", "guess", "y"), from("x") | linear("fc", 4)) |
        output("guess"),
    losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace loss_in_chain

// EXPECT losses_in_chain: a loss, input, state or section stands in a chain: write it beside the
// chain, as in model("net", inputs(...), from("x") | linear("fc", 64), losses(...))
namespace losses_in_chain {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           either(from("x") | linear("fc", 4) | losses(mse("l", "guess", "y")),
                                  from("x") | linear("fc", 4)) |
                               output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace losses_in_chain

// EXPECT no_losses_in_losses: losses takes one loss or more: write losses(mse("loss", "guess",
// "y"))
namespace no_losses_in_losses {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           either(losses(), losses(mse("loss", "guess", "y"))));
MODEL(net, rules, adamw())
}  // namespace no_losses_in_losses

// EXPECT loss_of_two: mse takes the names of the loss, the value and the target, and weight(),
// sample_weight() and summed, each once: write mse("loss", "guess", "y")
namespace loss_of_two {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           losses(either(mse("loss", "guess"), mse("loss", "guess", "y"))));
MODEL(net, rules, adamw())
}  // namespace loss_of_two

// EXPECT cross_entropy_of_two: cross_entropy takes the names of the loss, the logits and the label,
// and weight(), sample_weight(), class_weights, ignore_index(), label_smoothing(), z_loss(),
// soft_cap(), chunk_rows() and summed, each once: write
namespace cross_entropy_of_two {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), labels("y", batch)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(either(cross_entropy("guess", "y"), cross_entropy("loss", "guess", "y"))));
MODEL(net, rules, adamw())
}  // namespace cross_entropy_of_two

// EXPECT weights_twice: cross_entropy takes the names of the loss, the logits and the label, and
// weight(), sample_weight(), class_weights, ignore_index(), label_smoothing(), z_loss(),
// soft_cap(), chunk_rows() and summed, each once: write
namespace weights_twice {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), labels("y", batch), tensor("w", batch)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(cross_entropy("loss", "guess", "y", sample_weight("w"),
                               either(sample_weight("w"), ignore_index(0)))));
MODEL(net, rules, adamw())
}  // namespace weights_twice

// EXPECT mse_with_labels: mse takes the names of the loss, the value and the target, and weight(),
// sample_weight() and summed, each once: write
namespace mse_with_labels {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4), tensor("w", batch)),
    from("x") | linear("fc", 4) | output("guess"),
    losses(mse("loss", "guess", "y", sample_weight("w"), either(ignore_index(3), weight(2)))));
MODEL(net, rules, adamw())
}  // namespace mse_with_labels

// EXPECT sample_weight_of_numbers: sample_weight takes the name of an input: write
// cross_entropy("loss", "logits", "digit", sample_weight("importance"))
namespace sample_weight_of_numbers {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), labels("y", batch), tensor("w", batch)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(cross_entropy("all", "guess", "y", sample_weight("w")),
                 cross_entropy("loss", "guess", "y", sample_weight(either(0.5, "w")))));
MODEL(net, rules, adamw())
}  // namespace sample_weight_of_numbers

// EXPECT ignored_text: ignore_index takes a label, a whole number: write cross_entropy("loss",
// "logits", "digit", ignore_index(-100))
namespace ignored_text {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), labels("y", batch)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(cross_entropy("loss", "guess", "y", ignore_index(either("none", -100)))));
MODEL(net, rules, adamw())
}  // namespace ignored_text

// EXPECT smoothed_by_text: label_smoothing takes a number: write cross_entropy("loss", "logits",
// "digit", label_smoothing(0.1))
namespace smoothed_by_text {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), labels("y", batch)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(cross_entropy("loss", "guess", "y", label_smoothing(either("0.1", 0.1)))));
MODEL(net, rules, adamw())
}  // namespace smoothed_by_text

// EXPECT z_loss_of_nothing: z_loss takes a number: write cross_entropy("loss", "logits", "digit",
// z_loss(1e-4))
namespace z_loss_of_nothing {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), labels("y", batch)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(cross_entropy("loss", "guess", "y", either(z_loss(), z_loss(1e-4)))));
MODEL(net, rules, adamw())
}  // namespace z_loss_of_nothing

// EXPECT capped_twice_over: soft_cap takes a number: write cross_entropy("loss", "logits", "digit",
// soft_cap(30))
namespace capped_twice_over {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), labels("y", batch)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(cross_entropy("loss", "guess", "y", either(soft_cap(-30, 30), soft_cap(30)))));
MODEL(net, rules, adamw())
}  // namespace capped_twice_over

// EXPECT chunks_of_fractions: chunk_rows takes a whole number: write cross_entropy("loss",
// "logits", "digit", chunk_rows(1024))
namespace chunks_of_fractions {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), labels("y", batch)),
                           from("x") | linear("fc", 4) | output("guess"),
                           losses(cross_entropy("loss", "guess", "y", chunk_rows(either(0.5, 8)))));
MODEL(net, rules, adamw())
}  // namespace chunks_of_fractions

// EXPECT pointwise_loss_without_lambda: pointwise_loss takes a name, a lambda, weight(),
// sample_weight() and names of values: write
namespace pointwise_loss_without_lambda {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(either(pointwise_loss("loss"),
                        pointwise_loss(
                            "loss", [](auto x, auto y) { return abs(x - y); }, "guess", "y"))));
MODEL(net, rules, adamw())
}  // namespace pointwise_loss_without_lambda

// EXPECT soft_labels: soft_cross_entropy takes the names of the loss, the logits and the target, and
// weight(), sample_weight() and summed, each once: write soft_cross_entropy("loss", "logits",
// "shares")
namespace soft_labels {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(MISSPELT(soft_cross_entropy("loss", "guess", "y", ignore_index(1)),
                          soft_cross_entropy("loss", "guess", "y", summed))));
MODEL(net, rules, adamw())
}  // namespace soft_labels

// EXPECT cosine_of_two: cosine_embedding takes the names of the loss, of two values and of the
// target, a margin, weight(), sample_weight() and summed, each once: write cosine_embedding("loss",
// "left", "right", "y", 0.5)
namespace cosine_of_two {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4), tensor("side", batch)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(mse("error", "guess", "y", sample_weight("side")),
                 MISSPELT(cosine_embedding("loss", "guess", "y"),
                          cosine_embedding("loss", "guess", "y", "side"))));
MODEL(net, rules, adamw())
}  // namespace cosine_of_two

// EXPECT cosine_beyond_one: loss 'loss' has a margin that is not in [-1, 1]: write 0.5
namespace cosine_beyond_one {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4), tensor("side", batch)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(cosine_embedding("loss", "guess", "y", "side", either(2, 1))));
MODEL(net, rules, adamw())
}  // namespace cosine_beyond_one

// EXPECT cosine_target_of_elements: loss 'loss' compares rows of [batch, 4] for [batch, 4] of input
// 'y': make the target [batch]
namespace cosine_target_of_elements {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4), tensor("side", batch)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(mse("error", "guess", "y", sample_weight("side")),
                 cosine_embedding("loss", "guess", "y", either("y", "side"))));
MODEL(net, rules, adamw())
}  // namespace cosine_target_of_elements

// EXPECT smoothed_by_class: loss 'loss' has class_weights and label_smoothing, which do not go
// together: leave one of them out
namespace smoothed_by_class {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), labels("digit", batch)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(cross_entropy("loss", "guess", "digit", class_weights,
                               either(label_smoothing(0.1), z_loss(0.1)))));
MODEL(net, rules, adamw())
}  // namespace smoothed_by_class
