// SPDX-License-Identifier: Apache-2.0
// The layer vocabulary. A layer reads the chain's current value x, written (rows..., columns)
// below, and its result becomes the current value. Formulas: docs/spec/description.md, D20 to D59.
#pragma once

#include "halftone/functions.hpp"
#include "halftone/selectors.hpp"
#include "halftone/shape.hpp"
#include "halftone/spec.hpp"

namespace halftone::dsl {

namespace building {
using namespace description::kinds;

template <class Option, class... Options>
inline constexpr int kTimes = (0 + ... + (std::is_same_v<Option, Options> ? 1 : 0));

/// Whether Options are some of Known, each given once.
template <class Listed, class... Options>
inline constexpr bool kFits = false;
template <class... Known, class... Options>
inline constexpr bool kFits<void(Known...), Options...> =
    ((kTimes<Known, Options...> <= 1) && ...) &&
    (0 + ... + kTimes<Known, Options...>) == static_cast<int>(sizeof...(Options));

/// What joins the ends of a residual, and the branches of a concat.
inline constexpr description::Kind kSum = description::kind<description::kinds::Add>;
inline constexpr description::Kind kBeside = description::kind<description::kinds::Concat>;

/// Which operand of a kind has the role.
template <class Of>
constexpr unsigned char number_of_role(const char* role) {
  unsigned char i = 0;
  while (!same_text(Of::operands[i].role, role)) ++i;
  return i;
}

template <class Of>
constexpr Token function(const char* name, const Expression* expression) {
  Token token = node<Of>(name);
  token.expression = expression;
  return token;
}
}  // namespace building

// ---- options of parameters: linear, causal_conv1d, embedding and the norms ----

template <int N>
struct ParameterOptions {
  Spec<N> tokens;
};

namespace building {
constexpr ParameterOptions<1> parameter_option(Part part, Target target, double x = 0,
                                               double y = 0) {
  return {one({.part = part, .detail = target, .x = x, .y = y})};
}

template <int... N>
constexpr auto aimed(Target target, const ParameterOptions<N>&... options) {
  auto tokens = join(options.tokens...);
  for (int i = 0; i < (N + ...); ++i) tokens[i].detail = target;
  return ParameterOptions<(N + ...)>{tokens};
}
}  // namespace building

/// No gradient, no update (D9). For weight and bias unless inside on_weight or on_bias, as the next
/// two.
inline constexpr auto frozen = building::parameter_option(Part::frozen, kBoth);
/// Not subject to the optimizer's weight decay. Without it every parameter decays, as in torch.
inline constexpr auto no_decay = building::parameter_option(Part::no_decay, kBoth);
/// Multiplies the optimizer's learning rate; finite and not negative.
constexpr auto learning_rate_scale(double factor) {
  return building::parameter_option(Part::learning_rate_scale, kBoth, factor);
}

/// First values of the weight, or of the bias inside on_bias. Without: linear draws weight and bias
/// uniformly from +-sqrt(1 / inputs), as torch.nn.Linear, causal_conv1d from +-sqrt(1 / taps), as
/// torch.nn.Conv1d; embedding draws normally, with deviation 1, as torch.nn.Embedding; norms
/// start at weight 1 and bias 0. The names of torch.nn.init stand for its formulas.
constexpr auto init_constant(double value) {
  return building::parameter_option(Part::init_constant, kWeight, value);
}
constexpr auto init_uniform(double low, double high) {
  return building::parameter_option(Part::init_uniform, kWeight, low, high);
}
constexpr auto init_normal(double mean, double standard_deviation) {
  return building::parameter_option(Part::init_normal, kWeight, mean, standard_deviation);
}
/// torch.nn.init.trunc_normal_: of a normal distribution what lies in [low, high].
template <class Mean = double, class Deviation = double, class Low = double, class High = double>
  requires(std::is_arithmetic_v<Mean> && std::is_arithmetic_v<Deviation> &&
           std::is_arithmetic_v<Low> && std::is_arithmetic_v<High>)
constexpr ParameterOptions<2> init_truncated_normal(Mean mean = 0, Deviation standard_deviation = 1,
                                                    Low low = -2, High high = 2) {
  const auto number = [](auto value) { return static_cast<double>(value); };
  const auto normal = building::parameter_option(Part::init_truncated_normal, kWeight, number(mean),
                                                 number(standard_deviation));
  const auto bounds =
      building::parameter_option(Part::init_bounds, kWeight, number(low), number(high));
  return {normal.tokens | bounds.tokens};
}

/// By how much a function shrinks a deviation, which initial values make up for.
struct Gain {
  double square;
};
/// torch.nn.init.calculate_gain of no function, relu, tanh and selu.
inline constexpr Gain gain_linear{1}, gain_relu{2}, gain_tanh{25.0 / 9}, gain_selu{9.0 / 16};
constexpr Gain gain_leaky_relu(double slope = 0.01) { return {2 / (1 + slope * slope)}; }
constexpr Gain gain(double factor) { return {factor * factor}; }

/// Of a weight (outputs, places..., inputs) inputs * places, or outputs * places.
enum class Fan : unsigned char { in, out };
inline constexpr Fan fan_in = Fan::in, fan_out = Fan::out;

namespace building {
constexpr auto scaled_option(Part part, Gain gain, Fan fan = Fan::in) {
  auto option = parameter_option(part, kWeight, gain.square);
  option.tokens[0].number = static_cast<long long>(fan);
  return option;
}
}  // namespace building

/// torch.nn.init's orthogonal_: rows, or columns where those are fewer, that are orthogonal and of
/// length `gain`. Of a weight of two dimensions or more, as those that follow.
constexpr auto init_orthogonal(Gain gain = gain_linear) {
  return building::scaled_option(Part::init_orthogonal, gain);
}
/// torch.nn.init's xavier_uniform_ and xavier_normal_, of deviation gain * sqrt(2 / (fan_in +
/// fan_out)).
constexpr auto init_xavier_uniform(Gain gain = gain_linear) {
  return building::scaled_option(Part::init_xavier_uniform, gain);
}
constexpr auto init_xavier_normal(Gain gain = gain_linear) {
  return building::scaled_option(Part::init_xavier_normal, gain);
}
/// torch.nn.init's kaiming_uniform_ and kaiming_normal_, of deviation gain / sqrt(fan):
///   linear("fc", 64, init_kaiming_normal(gain_relu, fan_out))
constexpr auto init_kaiming_uniform(Gain gain = gain_relu, Fan fan = fan_in) {
  return building::scaled_option(Part::init_kaiming_uniform, gain, fan);
}
constexpr auto init_kaiming_normal(Gain gain = gain_relu, Fan fan = fan_in) {
  return building::scaled_option(Part::init_kaiming_normal, gain, fan);
}

/// The options for the weight alone.
template <int... N>
constexpr auto on_weight(const ParameterOptions<N>&... options) {
  return building::aimed(kWeight, options...);
}
/// The options for the bias alone: linear("fc", 64, on_bias(no_decay, init_constant(0))).
template <int... N>
constexpr auto on_bias(const ParameterOptions<N>&... options) {
  return building::aimed(kBias, options...);
}

struct LinearOption {
  Token token;
};
inline constexpr LinearOption no_bias{{.part = Part::without, .detail = kBias}};
/// Uses the weight of `layer`, a linear or an embedding, instead of an own one; both then train one
/// parameter.
constexpr LinearOption tied(const char* layer) {
  return {{.part = Part::tied, .detail = kWeight, .name = layer}};
}

struct Transposed {};
inline constexpr Transposed transposed{};
struct TransposedTie {
  const char* layer;
};
/// Of linear alone: uses the weight of `layer` transposed, so that the outputs of each are the
/// inputs of the other, as in an autoencoder: linear("decode", 784, tied("encode", transposed)).
constexpr TransposedTie tied(const char* layer, Transposed) { return {layer}; }

struct SharedOption {
  Token token;
};
/// Uses all parameters of `layer`, which is of the same kind and of the same sizes, instead of own
/// ones; both then train one set, whose gradient is the sum of theirs:
///   from("left") | linear("left_tower", 64) | ...,
///   from("right") | linear("right_tower", 64, shared("left_tower")) | ...
/// It goes without a bias where `layer` does; settings, such as epsilon, are its own.
constexpr SharedOption shared(const char* layer) {
  return {{.part = Part::tied, .detail = kBoth, .name = layer}};
}

namespace building {
constexpr Spec<1> tokens_of(const auto&) { return one({.part = Part::stranger}); }
constexpr Spec<1> tokens_of(const LinearOption& option) { return one(option.token); }
constexpr Spec<1> tokens_of(const SharedOption& option) { return one(option.token); }
template <int N>
constexpr const Spec<N>& tokens_of(const ParameterOptions<N>& options) {
  return options.tokens;
}
template <int N>
constexpr Token operand_token(const char (&name)[N]) {
  return {.part = Part::operand, .name = name};
}

namespace of_linear {
using building::tokens_of;
constexpr Spec<2> tokens_of(const TransposedTie& tie) {
  return one(setting<Linear>("transposed", 1)) | one(tied(tie.layer).token);
}
}  // namespace of_linear
}  // namespace building

// ---- layers ----

/// y = x weight^T + bias: (rows..., columns) -> (rows..., outputs); weight (outputs, columns), bias
/// (outputs). D21
template <Whole Outputs, class... Options>
constexpr auto linear(const char* name, Outputs outputs, const Options&... options) {
  return join(one(building::node<building::Linear>(name, outputs)),
              building::of_linear::tokens_of(options)...);
}

/// Every channel weighs its present and its past by taps of its own, the last of them the present;
/// zero before the first time. (rows..., times, channels) -> (rows..., times, channels); weight
/// (channels, taps), bias (channels). D39
template <Whole Taps, class... Options>
constexpr auto causal_conv1d(const char* name, Taps taps, const Options&... options) {
  return join(one(building::node<building::CausalConv1d>(name, taps)),
              building::tokens_of(options)...);
}

struct PaddingIndex {
  long long row;
};
/// The row of an embedding that is not trained: its gradient is 0 (D53). Forward reads it like any
/// other, and it starts like any other.
template <Whole Row>
constexpr PaddingIndex padding_index(Row row) {
  return {row};
}

namespace building {
constexpr auto tokens_of(const PaddingIndex& padding) {
  return one(setting<Embedding>("padding_index", static_cast<double>(padding.row)));
}
}  // namespace building

/// For every token its row of the weight (rows, columns): (dims...) -> (dims..., columns); a token
/// outside of [0, rows) gives NaN. from("word") | embedding("embed", 50257, 768), where "word" is
/// one of tokens(). D34
template <Whole Rows, Whole Columns, class... Options>
constexpr auto embedding(const char* name, Rows rows, Columns columns, const Options&... options) {
  return join(one(building::node<building::Embedding>(name, rows)),
              one({.part = Part::extent, .number = columns}), building::tokens_of(options)...);
}

struct Epsilon {
  double value;
};
/// Added to a variance (layer_norm, batch_norm), a mean square (rms_norm) or a root (adam, adamw).
constexpr Epsilon epsilon(double value) { return {value}; }
struct Momentum {
  double value;
};
/// How much of it sgd keeps of earlier gradients, or batch_norm takes of a new batch.
constexpr Momentum momentum(double value) { return {value}; }

struct SoftCap {
  double cap = 0;
  const char* misuse = nullptr;
};
/// cross_entropy reads cap * tanh(logits / cap) in place of its logits, attention bends its scores
/// likewise; Gemma 2 takes 30 and 50. An output of the logits shows them as they are. D29, D61
template <class Cap>
  requires(std::is_arithmetic_v<Cap>)
constexpr SoftCap soft_cap(Cap cap) {
  return {static_cast<double>(cap)};
}

/// Normalizes every row, then weight and bias (columns); epsilon(1e-5). D22
template <int... N>
constexpr auto layer_norm(const char* name, Epsilon added, const ParameterOptions<N>&... options) {
  return join(one(building::node_with<building::LayerNorm>(name, added.value)), options.tokens...);
}
template <int... N>
constexpr auto layer_norm(const char* name, const ParameterOptions<N>&... options) {
  return join(one(building::node<building::LayerNorm>(name)), options.tokens...);
}
constexpr auto layer_norm(const char* name, Epsilon added, const SharedOption& option) {
  return join(one(building::node_with<building::LayerNorm>(name, added.value)), one(option.token));
}
constexpr auto layer_norm(const char* name, const SharedOption& option) {
  return join(one(building::node<building::LayerNorm>(name)), one(option.token));
}

/// Divides every row by its root mean square, then weight (columns); epsilon(1e-5). D33
template <int... N>
constexpr auto rms_norm(const char* name, Epsilon added, const ParameterOptions<N>&... options) {
  return join(one(building::node_with<building::RmsNorm>(name, added.value)), options.tokens...);
}
template <int... N>
constexpr auto rms_norm(const char* name, const ParameterOptions<N>&... options) {
  return join(one(building::node<building::RmsNorm>(name)), options.tokens...);
}
constexpr auto rms_norm(const char* name, Epsilon added, const SharedOption& option) {
  return join(one(building::node_with<building::RmsNorm>(name, added.value)), one(option.token));
}
constexpr auto rms_norm(const char* name, const SharedOption& option) {
  return join(one(building::node<building::RmsNorm>(name)), one(option.token));
}

namespace building {
constexpr auto batch_norm_tokens(const auto& option) { return tokens_of(option); }
constexpr auto batch_norm_tokens(Epsilon added) {
  return one(setting<BatchNorm>("epsilon", added.value));
}
constexpr auto batch_norm_tokens(Momentum taken) {
  return one(setting<BatchNorm>("momentum", taken.value));
}
}  // namespace building

/// Normalizes every column over all rows, then weight and bias (columns); in a predictor by the
/// states `mean` and `variance` (columns), averages of the training batches' that momentum(0.1)
/// moves; epsilon(1e-5). torch.nn.BatchNorm1d, and BatchNorm2d where channels are the last
/// dimension. D59
template <class... Options>
  requires((0 + ... + std::is_same_v<Epsilon, Options>) <= 1 &&
           (0 + ... + std::is_same_v<Momentum, Options>) <= 1)
constexpr auto batch_norm(const char* name, const Options&... options) {
  return join(one(building::node<building::BatchNorm>(name)),
              building::batch_norm_tokens(options)...);
}

namespace building {
constexpr auto group_norm_tokens(const auto& option) { return tokens_of(option); }
constexpr auto group_norm_tokens(Epsilon added) {
  return one(setting<GroupNorm>("epsilon", added.value));
}
}  // namespace building

/// Cuts the channels of every image, a choice of the first dimension, into groups of neighbours,
/// normalizes each over all of its places, then weight and bias (channels); epsilon(1e-5).
/// torch.nn.GroupNorm, with the channels last. (images, places..., channels) -> the same. D83
///   conv2d("stem", 64, 3, same) | group_norm("norm", 8) | silu
template <Whole Groups, class... Options>
  requires((0 + ... + std::is_same_v<Epsilon, Options>) <= 1)
constexpr auto group_norm(const char* name, Groups groups, const Options&... options) {
  return join(one(building::node<building::GroupNorm>(name)),
              one(building::setting<building::GroupNorm>(
                  "groups", static_cast<double>(whole_number(groups)))),
              building::group_norm_tokens(options)...);
}
/// Likewise of each channel by itself: torch.nn.InstanceNorm2d with affine=True.
template <class... Options>
  requires((0 + ... + std::is_same_v<Epsilon, Options>) <= 1)
constexpr auto instance_norm(const char* name, const Options&... options) {
  return join(one(building::node<building::GroupNorm>(name)),
              building::group_norm_tokens(options)...);
}

/// Every column less its mean, divided by its deviation: x of other scales as one of mean 0 and
/// deviation 1. Both are states, NAME.mean and NAME.deviation, 0 and 1 until set_state() gives them
/// what was fitted to data; no step moves them, and they go with the parameters. D109
constexpr Spec<1> standardize(const char* name) {
  return one(building::node<building::Standardize>(name));
}

/// A layer without parameters: `gelu`, or gelu("name"). Without a name it is called after the value
/// it reads.
struct Activation : Spec<1> {
  constexpr explicit Activation(const Token& token) : Spec<1>(one(token)) {}
  constexpr Spec<1> operator()(const char* name) const {
    Spec<1> named = *this;
    named[0].name = name;
    return named;
  }
  constexpr Spec<1> operator()(const auto&...) const {
    return building::misused(
        "relu, gelu, gelu_tanh, silu, softmax, log_softmax, softplus, mish, softsign, "
        "hard_sigmoid, hard_swish and selu take a name, or stand without parentheses: write "
        "relu, or relu(\"act\")");
  }
};
/// One that is a function in lambdas, too: silu(x). There its operations are those of the formula,
/// each rounded by itself.
template <class F>
struct ActivationOf : Activation {
  using Activation::Activation;
  using Activation::operator();
  constexpr Scalar operator()(const Scalar& x) const { return F{}(x); }
};
inline constexpr ActivationOf<functions::Relu> relu{
    building::node<building::Relu>(nullptr)};  ///< D23
inline constexpr ActivationOf<functions::Gelu> gelu{
    building::node<building::Gelu>(nullptr)};  ///< D24, by erf
inline constexpr ActivationOf<functions::GeluTanh> gelu_tanh{
    building::node_with<building::Gelu>(nullptr, 1)};  ///< D25
inline constexpr ActivationOf<functions::Silu> silu{
    building::node<building::Silu>(nullptr)};  ///< D32

/// A layer in a chain, and in rules the class of what computes one (P3).
struct SoftmaxOrClass : Activation, Selector {
  constexpr SoftmaxOrClass()
      : Activation(building::node<building::Softmax>(nullptr)),
        Selector(selecting::only(description::LayerClass::softmax)) {}
};
/// The shares of the exponentials of a row's elements in their sum; and their logarithms, with all
/// of the digits of small shares. D103
inline constexpr SoftmaxOrClass softmax;
inline constexpr Activation log_softmax{building::node_with<building::Softmax>(nullptr, 1)};

/// In training +0 for a share `rate` of the elements, below 1, drawn anew for every pass by the
/// trainer's seed, and x / (1 - rate) for the others; x in a predictor. D35
template <class Rate>
  requires(std::is_arithmetic_v<Rate>)
constexpr Spec<1> dropout(const char* name, Rate rate) {
  return one(building::node_with<building::Dropout>(name, static_cast<double>(rate)));
}

/// The user's function of the current value and of values of the same shape, elementwise. D28
///   pointwise("gate", [](auto x, auto y) { return x * sigmoid(y); }, "other")
/// The lambda captures nothing; + - * /, comparisons for select() and the functions of
/// expression.hpp, functions.hpp and pointwise.hpp are its vocabulary.
template <class F, int... N>
constexpr auto pointwise(const char* name, F, const char (&... others)[N]) {
  constexpr bool accepted =
      requires(const F& f, Scalar x, tracing::ScalarAt<N>... more) { f(x, more...); };
  const Expression* expression = &tracing::expression_of<F, accepted, 1 + sizeof...(N)>;
  return join(one(building::function<building::Pointwise>(name, expression)),
              one(building::operand_token(others))...);
}

/// Current value + the named one, of the same shape: the end of a skip connection. D26
constexpr Spec<2> add(const char* value) {
  return one(building::node<building::Add>(nullptr)) | one({.part = Part::operand, .name = value});
}

/// The current value and the named ones side by side along the last dimension. D27
template <int... N>
constexpr auto concat(const char (&... values)[N]) {
  return join(one(building::node<building::Concat>(nullptr)),
              one(building::operand_token(values))...);
}

/// Columns begin to end - 1 of every row, counted from 0: (rows..., n) -> (rows..., end - begin).
/// D75
///   from("qkv") | slice("q", 0, 64)
template <Whole Begin, Whole End>
constexpr Spec<2> slice(const char* name, Begin begin, End end) {
  return one(building::node_with<building::Slice>(
             name, static_cast<double>(static_cast<long long>(begin)))) |
         one(building::setting<building::Slice>("end",
                                                static_cast<double>(static_cast<long long>(end))));
}

/// How a factor of matmul is given.
struct Transposition {
  bool of_a = false, of_b = false;
};
/// The current value as (batch..., k, m).
inline constexpr Transposition transpose_a{.of_a = true};
/// The named value as (batch..., n, k).
inline constexpr Transposition transpose_b{.of_b = true};

/// Current value * the named one, for each matrix of their leading dimensions: (batch..., m, k) and
/// (batch..., k, n) -> (batch..., m, n). Nothing is broadcast. D38
///   from("queries") | matmul("scores", "keys", transpose_b)
constexpr Spec<3> matmul(const char* name, const char* value, Transposition first = {},
                         Transposition second = {}) {
  return one(building::node_with<building::Matmul>(name, first.of_a || second.of_a)) |
         one(building::setting<building::Matmul>("transpose_b", first.of_b || second.of_b)) |
         one({.part = Part::operand, .name = value});
}

/// The values of x, in row-major order, under another shape: reshape("heads", batch, time, 12, 64).
/// Costs nothing. D36
template <DimensionOfShape First, DimensionOfShape... D>
constexpr auto reshape(const char* name, const First& first, const D&... others) {
  return join(one(building::node<building::Reshape>(name)), building::dimension_token(first),
              building::dimension_token(others)...);
}

/// Every row of x, repeated over the dimensions that the shape has between x's and the last one, as
/// a shift or scale of an image is at each of its places: (rows..., columns) -> (rows...,
/// repeated..., columns). D81
///   from("time") | linear("shift", 64) | expand("everywhere", batch, 32, 32, 64)
template <DimensionOfShape First, DimensionOfShape... D>
constexpr auto expand(const char* name, const First& first, const D&... others) {
  return join(one(building::node<building::Expand>(name)), building::dimension_token(first),
              building::dimension_token(others)...);
}

namespace building {
constexpr Spec<1> axis_token(auto axis) {
  return one(setting<Transpose>("axes", static_cast<double>(whole_number(axis))));
}
}  // namespace building

/// Dimension d of the result is dimension axes_d of x, counted from 0. D37
///   transpose("swap", 0, 2, 1, 3)
template <Whole First, Whole... Axes>
constexpr auto transpose(const char* name, const First& first, const Axes&... others) {
  return join(one(building::node<building::Transpose>(name)), building::axis_token(first),
              building::axis_token(others)...);
}

}  // namespace halftone::dsl
