// SPDX-License-Identifier: Apache-2.0
// D77: which elements of x the windows of a layer hold. Places of either side are counted in
// row-major order, over the images and the spatial dimensions; channels are left to the layer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layer.hpp"

namespace halftone::reference {

class Windows {
 public:
  static constexpr std::int64_t kOutside = -1;

  /// The spatial extents of x and of what has a place for every window.
  Windows(const Settings& settings, const Extents& x, const Extents& windows)
      : kernel_(settings.lists.at("kernel")), rank_(kernel_.size()) {
    stride_ = numbers(settings, "stride", 1);
    dilation_ = numbers(settings, "dilation", 1);
    padding_ = numbers(settings, "padding", 0);
    for (std::size_t d = 0; d < rank_; ++d) {
      inputs_.push_back(x[x.size() - 1 - rank_ + d]);
      outputs_.push_back(windows[windows.size() - 1 - rank_ + d]);
    }
    for (const std::int64_t extent : kernel_) taps_ *= extent;
  }

  /// How many elements a window has.
  [[nodiscard]] std::int64_t taps() const { return taps_; }

  /// The place in x of element `tap` of a window.
  [[nodiscard]] std::int64_t input(std::int64_t window, std::int64_t tap) const {
    return moved(window, tap, outputs_, inputs_, [this](std::size_t d, auto at, auto k) {
      return at * stride_[d] - padding_[d] + k * dilation_[d];
    });
  }

  /// The window whose element `tap` this place of x is.
  [[nodiscard]] std::int64_t window(std::int64_t input, std::int64_t tap) const {
    return moved(input, tap, inputs_, outputs_, [this](std::size_t d, auto at, auto k) {
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
  [[nodiscard]] std::int64_t moved(std::int64_t place, std::int64_t tap, const Extents& from,
                                   const Extents& to, Move move) const {
    std::int64_t result = 0, step = 1;
    for (std::size_t d = rank_; d-- > 0;) {
      const std::int64_t at = move(d, place % from[d], tap % kernel_[d]);
      if (at < 0 || at >= to[d]) return kOutside;
      result += at * step;
      step *= to[d];
      place /= from[d];
      tap /= kernel_[d];
    }
    return result + place * step;
  }

  std::vector<std::int64_t> kernel_, stride_, dilation_, padding_;
  std::size_t rank_;
  Extents inputs_, outputs_;
  std::int64_t taps_ = 1;
};

}  // namespace halftone::reference
