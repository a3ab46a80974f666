// SPDX-License-Identifier: Apache-2.0
// Layers without parameters that make images, videos and sequences smaller or larger, and their
// options. Formulas: docs/spec/description.md, D85, D87, D91, D97 and D99.
#pragma once

#include "halftone/convolutions.hpp"

namespace halftone::dsl {

struct ExcludePadding {};
/// Of a mean over windows: zeros around x do not count, as with torch's count_include_pad=False.
inline constexpr ExcludePadding exclude_padding{};

namespace building {
/// Whether an option is one of windows without weights over D dimensions.
template <int D, class Option>
inline constexpr bool kIsPoolOption = std::is_same_v<Option, Same>;
template <int D, int Which, int N>
inline constexpr bool kIsPoolOption<D, WindowNumbers<Which, N>> =
    Which <= windows::kPadding && kFitsDimensions<Pool, D, WindowNumbers<Which, N>>;

template <int Setting, class... Options>
inline constexpr bool kStates = ((kWindowSetting<Options> == Setting) || ...);

template <int D, class... Options>
concept MaxPoolOptions =
    (kIsPoolOption<D, Options> && ...) && kStatedOnce<windows::kStride, Options...> &&
    kStatedOnce<windows::kDilation, Options...> && kStatedOnce<windows::kPadding, Options...>;

template <int D, class... Options>
concept AveragePoolOptions =
    ((kIsPoolOption<D, Options> || std::is_same_v<Options, ExcludePadding>) && ...) &&
    !kStates<windows::kDilation, Options...> && kStatedOnce<windows::kStride, Options...> &&
    kStatedOnce<windows::kPadding, Options...> && kTimes<ExcludePadding, Options...> <= 1;

inline constexpr Token kTakesMean = setting<Pool>("function", Pool::kAverage);

template <int D>
struct PoolTokens : WindowTokens<Pool, D> {
  using WindowTokens<Pool, D>::operator();
  constexpr auto operator()(const ExcludePadding&) const { return one(kTakesMean); }
};

/// Without a stride a window begins where the one before it ends.
template <int D, class Kernel, class... Options>
constexpr auto pooled(const char* name, const Kernel& kernel, const Options&... options) {
  const PoolTokens<D> tokens{{WindowSizes<D>(kernel, options...)}};
  const auto pool = join(one(node<Pool>(name)), tokens.kernel(), tokens(options)...);
  if constexpr (kStates<windows::kStride, Options...>)
    return pool;
  else
    return pool | setting_list<windows::kStride, D>([&](int i) { return tokens.sizes.kernel[i]; });
}

template <int D, class Kernel, class... Options>
constexpr auto averaged(const char* name, const Kernel& kernel, const Options&... options) {
  const auto pool = pooled<D>(name, kernel, options...);
  if constexpr (kTimes < ExcludePadding, Options... >> 0)
    return pool;
  else if constexpr (!kStates<windows::kPadding, Options...>)
    return pool | one(kTakesMean);
  else
    return pool | one(kTakesMean) | one(setting<Pool>("count_include_pad", 1));
}
}  // namespace building

/// The largest element of every window, channel by channel: (batch..., spatial..., channels) ->
/// (batch..., windows..., channels). Of equal ones the first receives the gradient. D85
///   from("image") | max_pool2d("halve", 2)
///   max_pool2d("stem", 3, stride(2), padding(1))
/// Options, in any order: stride(), otherwise the kernel, dilation(), padding() or same. Padding is
/// no element, and smaller than the window; that has 256 elements at most.
template <class Kernel, class... Options>
  requires(building::kIsKernel<1, Kernel> && building::MaxPoolOptions<1, Options...>)
constexpr auto max_pool1d(const char* name, const Kernel& kernel, const Options&... options) {
  return building::pooled<1>(name, kernel, options...);
}
template <class Kernel, class... Options>
  requires(building::kIsKernel<2, Kernel> && building::MaxPoolOptions<2, Options...>)
constexpr auto max_pool2d(const char* name, const Kernel& kernel, const Options&... options) {
  return building::pooled<2>(name, kernel, options...);
}
template <class Kernel, class... Options>
  requires(building::kIsKernel<3, Kernel> && building::MaxPoolOptions<3, Options...>)
constexpr auto max_pool3d(const char* name, const Kernel& kernel, const Options&... options) {
  return building::pooled<3>(name, kernel, options...);
}

/// The mean of every window, channel by channel; padding counts as zeros. D85
///   avg_pool2d("halve", 2)
///   avg_pool2d("blur", 3, stride(1), same, exclude_padding)
/// Options: those of max_pool2d but dilation(), and exclude_padding.
template <class Kernel, class... Options>
  requires(building::kIsKernel<1, Kernel> && building::AveragePoolOptions<1, Options...>)
constexpr auto avg_pool1d(const char* name, const Kernel& kernel, const Options&... options) {
  return building::averaged<1>(name, kernel, options...);
}
template <class Kernel, class... Options>
  requires(building::kIsKernel<2, Kernel> && building::AveragePoolOptions<2, Options...>)
constexpr auto avg_pool2d(const char* name, const Kernel& kernel, const Options&... options) {
  return building::averaged<2>(name, kernel, options...);
}
template <class Kernel, class... Options>
  requires(building::kIsKernel<3, Kernel> && building::AveragePoolOptions<3, Options...>)
constexpr auto avg_pool3d(const char* name, const Kernel& kernel, const Options&... options) {
  return building::averaged<3>(name, kernel, options...);
}

namespace building {
template <int D, class... Sizes>
inline constexpr bool kAreSizes = sizeof...(Sizes) == 1 || sizeof...(Sizes) == D;

template <int D, Whole... Sizes>
constexpr auto shared_out(const char* name, Sizes... sizes) {
  const double numbers[] = {static_cast<double>(whole_number(sizes))...};
  return one(node<AdaptivePool>(name)) |
         setting_list<AdaptivePool::kSize, D>(
             [&](int i) { return numbers[sizeof...(Sizes) == 1 ? 0 : i]; });
}
inline constexpr Token kTakesMeanOfShare =
    setting<AdaptivePool>("function", AdaptivePool::kAverage);
}  // namespace building

/// The largest element or the mean of as many windows as `sizes` say, one number for all spatial
/// dimensions or one for each, whatever the length: (batch..., spatial..., channels) -> (batch...,
/// sizes..., channels), each window the share of x of its place, rounded outwards, so that they
/// overlap where sizes do not divide lengths: torch.nn.AdaptiveAvgPool2d. D99
///   adaptive_avg_pool2d("pool", 7)
///   adaptive_max_pool1d("parts", 3)
/// A window has 64 elements at most, and an element 64 windows. Where a length is a symbol, that
/// bounds what it is bound to, from a place for each window on (D116).
template <Whole... Sizes>
  requires(building::kAreSizes<1, Sizes...>)
constexpr auto adaptive_max_pool1d(const char* name, Sizes... sizes) {
  return building::shared_out<1>(name, sizes...);
}
template <Whole... Sizes>
  requires(building::kAreSizes<2, Sizes...>)
constexpr auto adaptive_max_pool2d(const char* name, Sizes... sizes) {
  return building::shared_out<2>(name, sizes...);
}
template <Whole... Sizes>
  requires(building::kAreSizes<3, Sizes...>)
constexpr auto adaptive_max_pool3d(const char* name, Sizes... sizes) {
  return building::shared_out<3>(name, sizes...);
}
template <Whole... Sizes>
  requires(building::kAreSizes<1, Sizes...>)
constexpr auto adaptive_avg_pool1d(const char* name, Sizes... sizes) {
  return building::shared_out<1>(name, sizes...) | one(building::kTakesMeanOfShare);
}
template <Whole... Sizes>
  requires(building::kAreSizes<2, Sizes...>)
constexpr auto adaptive_avg_pool2d(const char* name, Sizes... sizes) {
  return building::shared_out<2>(name, sizes...) | one(building::kTakesMeanOfShare);
}
template <Whole... Sizes>
  requires(building::kAreSizes<3, Sizes...>)
constexpr auto adaptive_avg_pool3d(const char* name, Sizes... sizes) {
  return building::shared_out<3>(name, sizes...) | one(building::kTakesMeanOfShare);
}

/// The mean of every channel of an image, a choice of the first dimension, over all of its places:
/// torch.nn.AdaptiveAvgPool2d(1). (images, places..., channels) -> (images, channels). D89
///   from("features") | global_avg_pool("pooled") | linear("head", 10)
constexpr Spec<1> global_avg_pool(const char* name) {
  return one(building::node<building::GlobalAveragePool>(name));
}

template <int N>
struct Factors {
  double numbers[N];
};
/// How many elements one becomes, where that differs from dimension to dimension:
/// upsample2d("up", factor(1, 2)).
template <Whole First, Whole... N>
constexpr auto factor(First first, N... others) {
  return Factors<1 + sizeof...(N)>{
      {static_cast<double>(whole_number(first)), static_cast<double>(whole_number(others))...}};
}

template <int D>
struct Linearly {};
/// Elements lie on lines between those of x, which stand for the middles of their intervals:
/// torch's modes "linear", "bilinear" and "trilinear" with align_corners=False, for one, two and
/// three dimensions.
inline constexpr Linearly<1> linearly{};
inline constexpr Linearly<2> bilinear{};
inline constexpr Linearly<3> trilinear{};

namespace building {
/// What is a factor of D dimensions: a number, or one for each.
template <int D, class Factor>
inline constexpr bool kIsFactor = Whole<Factor>;
template <int D, int N>
inline constexpr bool kIsFactor<D, Factors<N>> = N == 1 || N == D;

template <int D, int N>
constexpr double number_at(const Factors<N>& factors, int i) {
  return factors.numbers[N == 1 ? 0 : i];
}

template <int D, class Factor>
constexpr auto upsampled(const char* name, const Factor& factor) {
  return one(node<Upsample>(name)) |
         setting_list<Upsample::kFactor, D>([&](int i) { return number_at<D>(factor, i); });
}
template <int D, class Factor>
constexpr auto upsampled(const char* name, const Factor& factor, Linearly<D>) {
  return upsampled<D>(name, factor) | one(setting<Upsample>("mode", Upsample::kLinear));
}
}  // namespace building

/// Every element `factor` times along each spatial dimension, or with `bilinear` and its like what
/// lies on lines between elements: (batch..., spatial..., channels) -> (batch..., factor *
/// spatial..., channels). A factor is from 1 to 8. D87
///   from("coarse") | upsample2d("up", 2)
///   upsample2d("up", factor(1, 2), bilinear)
template <class Factor, class... Mode>
  requires(building::kIsFactor<1, Factor> && building::kFits<void(Linearly<1>), Mode...>)
constexpr auto upsample1d(const char* name, const Factor& factor, const Mode&... mode) {
  return building::upsampled<1>(name, factor, mode...);
}
template <class Factor, class... Mode>
  requires(building::kIsFactor<2, Factor> && building::kFits<void(Linearly<2>), Mode...>)
constexpr auto upsample2d(const char* name, const Factor& factor, const Mode&... mode) {
  return building::upsampled<2>(name, factor, mode...);
}
template <class Factor, class... Mode>
  requires(building::kIsFactor<3, Factor> && building::kFits<void(Linearly<3>), Mode...>)
constexpr auto upsample3d(const char* name, const Factor& factor, const Mode&... mode) {
  return building::upsampled<3>(name, factor, mode...);
}

struct PadValue {
  double number;
};
/// What pad1d() to pad3d() put around x, where that is not 0.
constexpr PadValue pad_value(double value) { return {value}; }

namespace building {
template <int D, class Option>
inline constexpr bool kIsPadOption =
    std::is_same_v<Option, PaddingMode> || std::is_same_v<Option, PadValue>;
template <int D, int N>
inline constexpr bool kIsPadOption<D, WindowNumbers<windows::kPadding, N>> =
    kFitsDimensions<Convolution, D, WindowNumbers<windows::kPadding, N>>;

template <int D, class... Options>
concept PadOptions =
    (kIsPadOption<D, Options> && ...) && kStates<windows::kPadding, Options...> &&
    kStatedOnce<windows::kPadding, Options...> && sizeof...(Options) <= 2;

/// The option beside the padding.
constexpr Spec<1> pad_token(PaddingMode mode) { return mode_token(mode); }
constexpr Spec<1> pad_token(PadValue value) { return one(setting<Pad>("pad_value", value.number)); }
template <int N, class Other>
constexpr Spec<1> pad_token(const WindowNumbers<windows::kPadding, N>&, const Other& other) {
  return pad_token(other);
}
template <int N, class Other>
constexpr Spec<1> pad_token(const Other& other, const WindowNumbers<windows::kPadding, N>&) {
  return pad_token(other);
}

template <int D, class... Options>
constexpr auto padded_by(const char* name, const Options&... options) {
  const auto layer = padded(name, StatedPadding<D>(WindowSizes<D>(1), options...));
  if constexpr (sizeof...(Options) == 1)
    return layer;
  else
    return layer | pad_token(options...);
}
}  // namespace building

/// More elements at the ends of the spatial dimensions: zeros, pad_value(), or of x itself by
/// reflect, replicate or circular; fewer where padding() is negative: (batch..., spatial...,
/// channels) -> (batch..., before + spatial + behind..., channels). D91
///   pad2d("frame", padding(1, 2), replicate)
///   pad1d("shift", padding(1, -1))
/// torch.nn.functional.pad, with its modes. reflect takes fewer elements than there are, circular
/// no more, replicate 32. Of a multiple of a symbol they leave a sum, 4*side + 2, of which windows
/// without padding make a multiple again (D116).
template <class... Options>
  requires(building::PadOptions<1, Options...>)
constexpr auto pad1d(const char* name, const Options&... options) {
  return building::padded_by<1>(name, options...);
}
template <class... Options>
  requires(building::PadOptions<2, Options...>)
constexpr auto pad2d(const char* name, const Options&... options) {
  return building::padded_by<2>(name, options...);
}
template <class... Options>
  requires(building::PadOptions<3, Options...>)
constexpr auto pad3d(const char* name, const Options&... options) {
  return building::padded_by<3>(name, options...);
}

namespace building {
template <class Factor>
inline constexpr bool kIsShuffle = Whole<Factor>;
template <int N>
inline constexpr bool kIsShuffle<Factors<N>> = N <= 3;

template <int N>
constexpr auto shuffled(const char* name, const Factors<N>& factors) {
  return one(node<PixelShuffle>(name)) |
         setting_list<PixelShuffle::kFactor, N>([&](int i) { return factors.numbers[i]; });
}
template <Whole Factor>
constexpr auto shuffled(const char* name, Factor number) {
  return shuffled(name, factor(number, number));
}
}  // namespace building

/// Channels as places: of every factor * factor neighbouring channels one, and of every place as
/// many: (batch..., height, width, channels * factor * factor) -> (batch..., height * factor,
/// width * factor, channels), torch.nn.PixelShuffle, which has channel c * factor * factor + i *
/// factor + j at row i and column j of its block. A factor() of one number or of three is that of
/// sequences or films. D97
///   conv2d("rise", 64 * 4, 3, same) | pixel_shuffle("up", 2)
template <class Factor>
  requires(building::kIsShuffle<Factor>)
constexpr auto pixel_shuffle(const char* name, const Factor& factor) {
  return building::shuffled(name, factor);
}
/// The way back: places as channels.
template <class Factor>
  requires(building::kIsShuffle<Factor>)
constexpr auto pixel_unshuffle(const char* name, const Factor& factor) {
  return building::shuffled(name, factor) |
         one(building::setting<building::PixelShuffle>("inverse", 1));
}

}  // namespace halftone::dsl
