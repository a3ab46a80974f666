// SPDX-License-Identifier: Apache-2.0
// What phases.mlir.in sums over: of a place those taps whose windows begin where there may be one
// (N16), spelled out.
#pragma once

#include <cstdint>
#include <vector>

namespace held_places {

/// Windows begin at every third place of both axes, two before the first one down.
struct Places {
  std::int64_t images, width, channels;

  static constexpr std::int64_t kHeight = 8, kStride = 3;  // of the places
  static constexpr std::int64_t kWindows = 3;              // down and across
  static constexpr std::int64_t kDown = 5, kAcross = 2;    // taps
  [[nodiscard]] std::int64_t count() const { return images * kHeight * width; }
  [[nodiscard]] std::int64_t windows() const { return images * kWindows * kWindows; }
  [[nodiscard]] std::int64_t length() const { return kDown * kAcross * channels; }

  /// A product of the sum at a place: of row `k` of the weight, and of what `window` has of its
  /// channel, or +0 where `window` is below 0.
  struct Term {
    std::int64_t k, window, channel;
  };

  /// In order; with `all` those of windows that begin between two places of the stride, too.
  [[nodiscard]] std::vector<Term> terms(std::int64_t place, bool all) const {
    const std::int64_t image = place / (kHeight * width), row = place / width % kHeight,
                       column = place % width;
    std::vector<Term> found;
    for (std::int64_t down = 0; down < kDown; ++down)
      for (std::int64_t across = 0; across < kAcross; ++across) {
        const std::int64_t below = row + 2 - down, beside = column - across;
        const bool is_held = below % kStride == 0 && beside % kStride == 0;
        if (!is_held && !all) continue;
        const bool is_inside = is_held && below >= 0 && below / kStride < kWindows && beside >= 0 &&
                               beside / kStride < kWindows;
        const std::int64_t window =
            (image * kWindows + below / kStride) * kWindows + beside / kStride;
        for (std::int64_t channel = 0; channel < channels; ++channel)
          found.push_back(
              {(down * kAcross + across) * channels + channel, is_inside ? window : -1, channel});
      }
    return found;
  }
};

}  // namespace held_places
