// SPDX-License-Identifier: Apache-2.0
// Layers without parameters that make images, videos and sequences smaller or larger, and their
// options. Formulas: docs/spec/description.md, D85 and D87.
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
/// no element, and smaller than the window; that has 64 elements at most.
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
/// spatial..., channels). A factor is from 1 to 8; spatial dimensions are numbers. D87
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

}  // namespace halftone::dsl
