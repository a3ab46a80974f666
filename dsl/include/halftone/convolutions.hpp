// SPDX-License-Identifier: Apache-2.0
// Layers that slide windows over images, videos and sequences, and their options. Formulas:
// docs/spec/description.md, D77, D79 and D91.
#pragma once

#include "halftone/layers.hpp"

namespace halftone::dsl {

/// An option of windows: numbers of a setting.
template <int Which, int N>
struct WindowNumbers {
  double numbers[N];
};
struct Same {};
struct Groups {
  double number;
};
struct PaddingMode {
  double number;
};

namespace building {
namespace windows = description::windows;

template <int Which, Whole... N>
constexpr WindowNumbers<Which, sizeof...(N)> window_numbers(N... numbers) {
  return {{static_cast<double>(whole_number(numbers))...}};
}

/// Those of a setting that is a list.
template <int Setting, int N>
constexpr Spec<N> setting_list(auto number) {
  Spec<N> tokens;
  for (int i = 0; i < N; ++i)
    tokens[i] = {.part = Part::setting, .detail = Setting, .x = number(i)};
  return tokens;
}
}  // namespace building

/// The sizes of a window that differ from dimension to dimension: conv2d("conv", 64, kernel(3, 5)).
template <Whole First, Whole... N>
constexpr auto kernel(First first, N... others) {
  return building::window_numbers<building::windows::kKernel>(first, others...);
}
/// How far a window is from the next: one number for all spatial dimensions, or one for each. Of a
/// multiple of a symbol it leaves its part: with stride(2) of 4 * symbol("side") 2 * side (D113).
template <Whole First, Whole... N>
constexpr auto stride(First first, N... others) {
  return building::window_numbers<building::windows::kStride>(first, others...);
}
/// How far the elements of a window are apart; likewise.
template <Whole First, Whole... N>
constexpr auto dilation(First first, N... others) {
  return building::window_numbers<building::windows::kDilation>(first, others...);
}
/// How many zeros lie around x: one number for every side, one for both sides of each dimension, or
/// those before and then those behind each dimension: padding(top, left, bottom, right). A causal
/// window of k times has padding(k - 1, 0).
template <Whole First, Whole... N>
constexpr auto padding(First first, N... others) {
  return building::window_numbers<building::windows::kPadding>(first, others...);
}
/// As much padding as the window reaches beyond one element, the odd zero behind: without a stride
/// every dimension keeps its length, with one it is divided by that, rounded up.
inline constexpr Same same{};
/// What lies around x in place of zeros, torch's padding modes. reflect: x mirrored at its first
/// and its last element, which stand once; replicate: the nearest of these; circular: x again, from
/// its other end. With padding() or same, of conv1d() to conv3d(), which have a pad in front of
/// them then, and of pad1d() to pad3d(). D91
inline constexpr PaddingMode reflect{description::kinds::Pad::kReflect};
inline constexpr PaddingMode replicate{description::kinds::Pad::kReplicate};
inline constexpr PaddingMode circular{description::kinds::Pad::kCircular};
/// Of a transposed convolution: so many places more behind each dimension, fewer than its stride.
template <Whole First, Whole... N>
constexpr auto output_padding(First first, N... others) {
  return building::window_numbers<building::windows::kOutputPadding>(first, others...);
}
/// Channels are cut into so many groups, and outputs of one read channels of one.
template <Whole Number>
constexpr Groups groups(Number number) {
  return {static_cast<double>(whole_number(number))};
}

namespace building {
/// Which setting an option states; -1 of an option of parameters.
template <class Option>
inline constexpr int kWindowSetting = -1;
template <int Which, int N>
inline constexpr int kWindowSetting<WindowNumbers<Which, N>> = Which;
template <>
inline constexpr int kWindowSetting<Same> = windows::kPadding;
template <>
inline constexpr int kWindowSetting<Groups> = windows::kGroups;

/// Whether an option is one of Of, and has as many numbers as fit D dimensions.
template <class Of, int D, class Option>
inline constexpr bool kFitsDimensions = true;
template <class Of, int D, int Which, int N>
inline constexpr bool kFitsDimensions<Of, D, WindowNumbers<Which, N>> =
    Which != windows::kKernel && Which < Of::form.settings.size &&
    (N == 1 || N == D || (N == 2 * D && Which == windows::kPadding));

template <class Of, int D>
inline constexpr bool kFitsDimensions<Of, D, PaddingMode> = std::is_same_v<Of, Convolution>;

/// Whether a mode, if there is one, has padding to speak of.
template <class... Options>
inline constexpr bool kModeFits =
    kTimes<PaddingMode, Options...> == 0 ||
    (kTimes<PaddingMode, Options...> == 1 &&
     ((kWindowSetting<Options> == windows::kPadding) || ...));

template <int Setting, class... Options>
inline constexpr bool kStatedOnce = (0 + ... + (kWindowSetting<Options> == Setting ? 1 : 0)) <= 1;

template <class Of, int D, class... Options>
concept WindowOptions =
    (kFitsDimensions<Of, D, Options> && ...) && kModeFits<Options...> &&
    kStatedOnce<windows::kStride, Options...> && kStatedOnce<windows::kDilation, Options...> &&
    kStatedOnce<windows::kPadding, Options...> && kStatedOnce<windows::kGroups, Options...> &&
    kStatedOnce<windows::kOutputPadding, Options...>;

/// What is a kernel of D dimensions: a number, or one for each.
template <int D, class Kernel>
inline constexpr bool kIsKernel = Whole<Kernel>;
template <int D, int N>
inline constexpr bool kIsKernel<D, WindowNumbers<windows::kKernel, N>> = N == 1 || N == D;

/// Number `i` for D dimensions, or 2 D of padding.
template <int D, int Which, int N>
constexpr double number_at(const WindowNumbers<Which, N>& option, int i) {
  return option.numbers[N == 1 ? 0 : i % N];
}
template <int D>
constexpr double number_at(Whole auto size, int) {
  return static_cast<double>(whole_number(size));
}

/// What `same` depends on.
template <int D>
struct WindowSizes {
  double kernel[D], dilation[D];

  template <class Kernel, class... Options>
  constexpr explicit WindowSizes(const Kernel& sizes, const Options&... options) {
    for (int i = 0; i < D; ++i) {
      kernel[i] = number_at<D>(sizes, i);
      dilation[i] = 1;
      (take(i, options), ...);
    }
  }
  template <int N>
  constexpr void take(int i, const WindowNumbers<windows::kDilation, N>& steps) {
    dilation[i] = number_at<D>(steps, i);
  }
  constexpr void take(int, const auto&) {}

  /// Zeros before dimension `i`, and behind it where that is D or more.
  constexpr double zeros(int i) const {
    // Of a window that is refused by itself, whatever.
    const double last = dilation[i % D] * (kernel[i % D] - 1);
    const long long reach = last > 0 && last < 0x1p40 ? static_cast<long long>(last) : 0;
    return static_cast<double>(i < D ? reach / 2 : reach - reach / 2);
  }
};

/// The tokens of one option, for layers of kind Of.
template <class Of, int D>
struct WindowTokens {
  WindowSizes<D> sizes;

  template <int Which, int N>
  constexpr auto operator()(const WindowNumbers<Which, N>& option) const {
    constexpr int kNumbers = Which == windows::kPadding ? 2 * D : D;
    return setting_list<Which, kNumbers>([&](int i) { return number_at<D>(option, i); });
  }
  constexpr auto operator()(const Same&) const {
    return setting_list<windows::kPadding, 2 * D>([&](int i) { return sizes.zeros(i); });
  }
  constexpr auto operator()(const Groups& option) const {
    return setting_list<windows::kGroups, 1>([&](int) { return option.number; });
  }
  constexpr auto operator()(const auto& option) const { return tokens_of(option); }

  constexpr auto kernel() const {
    return setting_list<windows::kKernel, D>([&](int i) { return sizes.kernel[i]; });
  }
};

/// The padding that options state, before each dimension and then behind each.
template <int D>
struct StatedPadding {
  double numbers[2 * D] = {};

  template <class... Options>
  constexpr explicit StatedPadding(const WindowSizes<D>& sizes, const Options&... options) {
    for (int i = 0; i < 2 * D; ++i) (take(i, sizes, options), ...);
  }
  template <int N>
  constexpr void take(int i, const WindowSizes<D>&,
                      const WindowNumbers<windows::kPadding, N>& option) {
    numbers[i] = number_at<D>(option, i);
  }
  constexpr void take(int i, const WindowSizes<D>& sizes, const Same&) {
    numbers[i] = sizes.zeros(i);
  }
  constexpr void take(int, const WindowSizes<D>&, const auto&) {}
};

template <int D>
constexpr auto padded(const char* name, const StatedPadding<D>& padding) {
  return one(node<Pad>(name)) |
         setting_list<Pad::kPadding, 2 * D>([&](int i) { return padding.numbers[i]; });
}

constexpr Spec<1> mode_token(PaddingMode mode) { return one(setting<Pad>("mode", mode.number)); }
template <class First, class... Options>
constexpr Spec<1> mode_token(const First& first, const Options&... options) {
  if constexpr (std::is_same_v<First, PaddingMode>)
    return mode_token(first);
  else
    return mode_token(options...);
}

/// A layer with all options but those of its padding.
template <class Tokens>
constexpr auto with_others(const Tokens&, const auto& layer) {
  return layer;
}
template <class Tokens, class First, class... Options>
constexpr auto with_others(const Tokens& tokens, const auto& layer, const First& first,
                           const Options&... options) {
  if constexpr (kWindowSetting<First> == windows::kPadding || std::is_same_v<First, PaddingMode>)
    return with_others(tokens, layer, options...);
  else
    return with_others(tokens, layer | tokens(first), options...);
}

template <class Of, int D, class Kernel, class... Options>
constexpr auto windowed(const Token& node, const Kernel& kernel, const Options&... options) {
  const WindowTokens<Of, D> tokens{WindowSizes<D>(kernel, options...)};
  if constexpr (kTimes<PaddingMode, Options...> == 0)
    return join(one(node), tokens.kernel(), tokens(options)...);
  else
    return padded(nullptr, StatedPadding<D>(tokens.sizes, options...)) | mode_token(options...) |
           with_others(tokens, one(node) | tokens.kernel(), options...);
}
}  // namespace building

/// Every output is the sum over a window of x, of the products of its elements and a kernel of
/// weights, plus bias: (batch..., spatial..., channels) -> (batch..., windows..., outputs); weight
/// (outputs, kernel..., channels / groups), bias (outputs). D77
///   from("image") | conv2d("stem", 64, 7, stride(2), padding(3)) | relu
///   conv2d("depth", 64, 3, same, groups(64), no_bias)
///   conv2d("smooth", 64, 3, same, reflect)
/// Options, in any order: stride(), dilation(), padding() or same, with these reflect, replicate or
/// circular, groups(), no_bias, tied(), shared() and options of parameters. Start: as
/// torch.nn.Conv2d, uniformly from +-sqrt(1 / inputs of an output).
template <Whole Outputs, class Kernel, class... Options>
  requires(building::kIsKernel<1, Kernel> &&
           building::WindowOptions<building::Convolution, 1, Options...>)
constexpr auto conv1d(const char* name, Outputs outputs, const Kernel& kernel,
                      const Options&... options) {
  return building::windowed<building::Convolution, 1>(
      building::node<building::Convolution>(name, outputs), kernel, options...);
}
template <Whole Outputs, class Kernel, class... Options>
  requires(building::kIsKernel<2, Kernel> &&
           building::WindowOptions<building::Convolution, 2, Options...>)
constexpr auto conv2d(const char* name, Outputs outputs, const Kernel& kernel,
                      const Options&... options) {
  return building::windowed<building::Convolution, 2>(
      building::node<building::Convolution>(name, outputs), kernel, options...);
}
template <Whole Outputs, class Kernel, class... Options>
  requires(building::kIsKernel<3, Kernel> &&
           building::WindowOptions<building::Convolution, 3, Options...>)
constexpr auto conv3d(const char* name, Outputs outputs, const Kernel& kernel,
                      const Options&... options) {
  return building::windowed<building::Convolution, 3>(
      building::node<building::Convolution>(name, outputs), kernel, options...);
}

/// The way back of such windows, which lie over the result, one for every element of x: an output
/// is the sum of the products of a kernel of weights with the elements whose windows hold it, plus
/// bias: (batch..., spatial..., channels) -> (batch..., places..., outputs), each length (n - 1) *
/// stride - padding + dilation * (kernel - 1) + 1 + output_padding; weight (outputs, kernel...,
/// channels / groups), bias (outputs). D79
///   conv_transpose2d("up", 32, 4, stride(2), padding(1))
/// Options: those of conv2d, and output_padding().
template <Whole Outputs, class Kernel, class... Options>
  requires(building::kIsKernel<1, Kernel> &&
           building::WindowOptions<building::TransposedConvolution, 1, Options...>)
constexpr auto conv_transpose1d(const char* name, Outputs outputs, const Kernel& kernel,
                                const Options&... options) {
  return building::windowed<building::TransposedConvolution, 1>(
      building::node<building::TransposedConvolution>(name, outputs), kernel, options...);
}
template <Whole Outputs, class Kernel, class... Options>
  requires(building::kIsKernel<2, Kernel> &&
           building::WindowOptions<building::TransposedConvolution, 2, Options...>)
constexpr auto conv_transpose2d(const char* name, Outputs outputs, const Kernel& kernel,
                                const Options&... options) {
  return building::windowed<building::TransposedConvolution, 2>(
      building::node<building::TransposedConvolution>(name, outputs), kernel, options...);
}
template <Whole Outputs, class Kernel, class... Options>
  requires(building::kIsKernel<3, Kernel> &&
           building::WindowOptions<building::TransposedConvolution, 3, Options...>)
constexpr auto conv_transpose3d(const char* name, Outputs outputs, const Kernel& kernel,
                                const Options&... options) {
  return building::windowed<building::TransposedConvolution, 3>(
      building::node<building::TransposedConvolution>(name, outputs), kernel, options...);
}

/// Every channel of a sequence, convolved with a filter of its own that is as long as the sequence,
/// by fast Fourier transforms: y at place t is the sum over s <= t of filter at s times x at t - s.
/// (batch..., places, channels) -> the same, filter (places, channels), a value like any other,
/// such as what a small network makes of positions. Places, at most 2^20, and channels are numbers.
/// A place depends on later ones by rounding alone. D101
///   from("positions") | linear("hidden", 64) | gelu_tanh | linear("filter", 256),
///   from("x") | linear("in", 256) | long_convolution("long", "filter")
constexpr Spec<2> long_convolution(const char* name, const char* filter) {
  return one(building::node<building::LongConvolution>(name)) |
         one({.part = Part::operand, .name = filter});
}

}  // namespace halftone::dsl
