#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes delayed_expected.hpp: delayed scales (P72, P73 of docs/spec/precision.md) as TransformerEngine's recipe/delayed_scaling.cu has
them: a history that is moved on by one place each step, its largest or most recent amax, scaled_max / amax where that is finite and
positive. Then what is ours: the quotient is cut to a power of two, as TransformerEngine's current scaling cuts it under power_2_scale,
its inverse is the scale, and E's limits hold (P51). Run with numpy: ./record_delayed.py > delayed_expected.hpp"""
import numpy as np

f32 = np.float32
LARGEST = {"f8e4m3": 448.0, "f8e5m2": 57344.0, "f6e2m3": 7.5}


class Recipe:
    def __init__(self, largest, history, margin):
        self.history = np.zeros(history, f32)
        self.scale = f32(1)
        self.scaled_max = f32(largest * 2.0 ** -margin)
        self.most = f32(2.0 ** (127 - int(np.floor(np.log2(largest))) + 1))

    def step(self, amax):
        self.history = np.append(self.history[1:], f32(amax))
        largest = np.max(self.history)
        if np.isfinite(largest) and largest > 0:
            cut = (np.array([self.scaled_max / largest], f32).view(np.uint32) & np.uint32(0xff800000)).view(f32)[0]
            self.scale = f32(min(max(f32(1) / cut, f32(2.0 ** -110)), self.most))
        return self.scale


def amaxes():
    """A walk with jumps, zeros, the ends of binades and of f32."""
    state, walk = 12345, []
    for i in range(200):
        state = (1103515245 * state + 12345) % 2 ** 31
        walk.append(np.ldexp(f32(1 + (state >> 8) % 4096 / 4096), (state >> 20) % 41 - 20 + (i // 50) * 7))
    walk[20:29] = [0] * 9
    walk[60:66] = [448, np.nextafter(f32(448), f32(0)), np.nextafter(f32(448), f32(500)), 57344, 7.5, 1]
    walk[100:104] = [2.0 ** 90, 2.0 ** 110, 2.0 ** 119, 2.0 ** 120]
    walk[140:150] = [2.0 ** -80] * 10
    return np.array(walk, f32)


def words(values):
    codes = [f"0x{code:08x}" for code in np.array(values, f32).view(np.uint32).tolist()]
    return ",\n    ".join(", ".join(codes[i:i + 8]) for i in range(0, len(codes), 8))


def main():
    np.seterr(all="ignore")
    walk = amaxes()
    print("""// SPDX-License-Identifier: Apache-2.0
// Written by record_delayed.py.
#pragma once

#include <cstdint>
#include <vector>

#include "halftone/encoding/element.hpp"

namespace halftone::reference::tests {

using encoding::Element;

/// The amax of each step, as bits of f32.
inline const std::vector<std::uint32_t> kAmaxes = {
    """ + words(walk) + """};

/// The scale after each step, likewise.
struct DelayedScales {
  Element format;
  int history, margin;
  std::vector<std::uint32_t> scales;
};

inline const std::vector<DelayedScales> kDelayedScales = {""")
    for name, history, margin in [("f8e4m3", 1024, 0), ("f8e4m3", 1, 0), ("f8e4m3", 7, 0), ("f8e4m3", 5, 2), ("f8e5m2", 7, 0), ("f8e5m2", 1, 1),
                                  ("f8e5m2", 16, 16), ("f6e2m3", 3, 0)]:
        recipe = Recipe(LARGEST[name], history, margin)
        scales = [recipe.step(amax) for amax in walk]
        print(f"    {{Element::{name}, {history}, {margin},\n     {{{words(scales)}}}}},")
    print("""};

}  // namespace halftone::reference::tests""")


main()
