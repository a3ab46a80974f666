// SPDX-License-Identifier: Apache-2.0
// D77: which elements of a tensor the windows over it hold, and the sums of products over them.
// Places and windows are counted in row-major order, over the images and the spatial dimensions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layer.hpp"

namespace halftone::reference {

class Windows {
 public:
  static constexpr std::int64_t kOutside = -1;

  /// Of what windows lie over, and of what has a place for each of them.
  Windows(const Settings& settings, const Extents& places, const Extents& windows)
      : kernel_(settings.lists.at("kernel")), rank_(kernel_.size()) {
    stride_ = numbers(settings, "stride", 1);
    dilation_ = numbers(settings, "dilation", 1);
    padding_ = numbers(settings, "padding", 0);
    for (std::size_t d = 0; d < rank_; ++d) {
      places_.push_back(places[places.size() - 1 - rank_ + d]);
      windows_.push_back(windows[windows.size() - 1 - rank_ + d]);
    }
    for (const std::int64_t extent : kernel_) taps_ *= extent;
  }

  /// How many elements a window has.
  [[nodiscard]] std::int64_t taps() const { return taps_; }

  /// The place of element `tap` of a window.
  [[nodiscard]] std::int64_t place(std::int64_t window, std::int64_t tap) const {
    return moved(window, tap, windows_, places_, [this](std::size_t d, auto at, auto k) {
      return at * stride_[d] - padding_[d] + k * dilation_[d];
    });
  }

  /// The window whose element `tap` this place is.
  [[nodiscard]] std::int64_t window(std::int64_t place, std::int64_t tap) const {
    return moved(place, tap, places_, windows_, [this](std::size_t d, auto at, auto k) {
      const std::int64_t from = at + padding_[d] - k * dilation_[d];
      return from % stride_[d] == 0 ? from / stride_[d] : kOutside;
    });
  }

 private:
  [[nodiscard]] std::vector<std::int64_t> numbers(const Settings& settings, const std::string& name,
                                                  std::int64_t otherwise) const {
    const auto stated = settings.lists.find(name);
    return stated == settings.lists.end() ? std::vector(rank_, otherwise) : stated->second;
  }

  /// From the last dimension to the first, as row-major numbers are taken apart.
  template <class Move>
  [[nodiscard]] std::int64_t moved(std::int64_t from, std::int64_t tap, const Extents& apart,
                                   const Extents& together, Move move) const {
    std::int64_t result = 0, step = 1;
    for (std::size_t d = rank_; d-- > 0;) {
      const std::int64_t at = move(d, from % apart[d], tap % kernel_[d]);
      if (at < 0 || at >= together[d]) return kOutside;
      result += at * step;
      step *= together[d];
      from /= apart[d];
      tap /= kernel_[d];
    }
    return result + from * step;
  }

  std::vector<std::int64_t> kernel_, stride_, dilation_, padding_;
  std::size_t rank_;
  Extents places_, windows_;
  std::int64_t taps_ = 1;
};

/// Products with a weight [outputs, taps, channels of a group], group by group. `find` says from
/// which element of the other side a place and a tap take their channels, or kOutside.
struct WindowProducts {
  std::int64_t taps = 1, channels = 1, outputs = 1, groups = 1;

  template <class Scalar>
  explicit WindowProducts(const Layer<Scalar>& layer, const Windows& windows)
      : taps(windows.taps()),
        channels(columns(layer.operand("x").extents)),
        outputs(columns(layer.extents)) {
    const auto stated = layer.settings.numbers.find("groups");
    if (stated != layer.settings.numbers.end()) groups = static_cast<std::int64_t>(stated->second);
  }

  [[nodiscard]] std::int64_t of_group() const { return channels / groups; }
  [[nodiscard]] std::int64_t outputs_of_group() const { return outputs / groups; }
  [[nodiscard]] std::int64_t weight(std::int64_t output, std::int64_t tap, std::int64_t c) const {
    return (output * taps + tap) * of_group() + c;
  }

  /// For every place and output the chain over (tap, channel).
  template <class Scalar, class Find, class Finish>
  Values<Scalar> forward(View<Scalar> x, View<Scalar> weights, std::int64_t places, Find find,
                         Finish finish) const {
    Values<Scalar> y(places * outputs);
    for (std::int64_t e = 0; e < std::ssize(y); ++e) {
      const std::int64_t o = e % outputs, first = o / outputs_of_group() * of_group();
      y[e] = finish(
          o,
          contraction<Scalar>(
              taps * of_group(),
              [&](std::int64_t k) {
                const std::int64_t at = find(e / outputs, k / of_group());
                return at == Windows::kOutside ? Scalar(0)
                                               : x[at * channels + first + k % of_group()];
              },
              [&](std::int64_t k) { return weights[weight(o, k / of_group(), k % of_group())]; }));
    }
    return y;
  }

  /// For every place and channel the chain over (tap, output).
  template <class Scalar, class Find>
  Values<Scalar> backward(View<Scalar> g, View<Scalar> weights, std::int64_t places,
                          Find find) const {
    Values<Scalar> x(places * channels);
    for (std::int64_t e = 0; e < std::ssize(x); ++e) {
      const std::int64_t c = e % channels, first = c / of_group() * outputs_of_group();
      const auto output = [&](std::int64_t k) { return first + k % outputs_of_group(); };
      x[e] = contraction<Scalar>(
          taps * outputs_of_group(),
          [&](std::int64_t k) {
            const std::int64_t at = find(e / channels, k / outputs_of_group());
            return at == Windows::kOutside ? Scalar(0) : g[at * outputs + output(k)];
          },
          [&](std::int64_t k) {
            return weights[weight(output(k), k / outputs_of_group(), c % of_group())];
          });
    }
    return x;
  }

  /// For every element of the weight the chain over `windows`. `of_g` and `of_x` say where a window
  /// and a tap take g and x from, or kOutside.
  template <class Scalar, class OfG, class OfX>
  Values<Scalar> weight_gradient(View<Scalar> x, View<Scalar> g, std::int64_t windows, OfG of_g,
                                 OfX of_x) const {
    Values<Scalar> result(outputs * taps * of_group());
    for (std::int64_t e = 0; e < std::ssize(result); ++e) {
      const std::int64_t o = e / (taps * of_group()), tap = e / of_group() % taps;
      const std::int64_t c = o / outputs_of_group() * of_group() + e % of_group();
      result[e] = contraction<Scalar>(
          windows,
          [&](std::int64_t window) {
            const std::int64_t at = of_g(window, tap);
            return at == Windows::kOutside ? Scalar(0) : g[at * outputs + o];
          },
          [&](std::int64_t window) {
            const std::int64_t at = of_x(window, tap);
            return at == Windows::kOutside ? Scalar(0) : x[at * channels + c];
          });
    }
    return result;
  }
};

}  // namespace halftone::reference
