#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes quantized_expected.hpp: codes and scales of weights by P81 and P103 of docs/spec/precision.md, as numpy computes them; those of i8 by the maximum are
what torch.quantize_per_channel gives for scales of amax / 127 and no zero point. Run with python3-numpy: ./record_quantized.py > quantized_expected.hpp"""
import numpy as np

f32, f64 = np.float32, np.float64


def data(count, salt):
    """Numbers of both signs and many sizes, the same on every machine."""
    i = np.arange(count, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(salt * 40503 + 12345)
    words = (i ^ (i >> np.uint64(13))) * np.uint64(0x9E3779B97F4A7C15)
    unit = (words >> np.uint64(40)).astype(f64) / 2.0**24 - 0.5
    return (unit * np.exp2(((words >> np.uint64(20)) & np.uint64(3)).astype(f64) * 2 - 6)).astype(f32)


def e4m3(x):
    """The nearest number of E4M3, ties to even digits, at most 448."""
    x = np.asarray(x, f32).astype(f64)
    place = np.exp2(np.maximum(np.frexp(x)[1] - 1, -6) - 3)
    return np.clip(np.rint(x / place) * place, -448, 448).astype(f32)


def codes_of(w, scale, element):
    quotient = (w / scale).astype(f32)
    if element == "i8":
        return np.clip(np.rint(quotient), f32(-127), f32(127)) + f32(0)
    return e4m3(quotient)


def channel(w, element, least_error, squares=None):
    if not np.isfinite(w).all():
        return np.zeros_like(w), f32(np.nan)
    tiny = f32(2.0**-126)
    whole = max(f32(np.max(np.abs(w)) / f32(127 if element == "i8" else 448)), tiny)
    best, least = whole, None
    for step in range(33 if least_error else 1):
        scale = max(f32(whole * f32(1 - step / 64)), tiny)
        off = w.astype(f64) - codes_of(w, scale, element).astype(f64) * f64(scale)
        error = f64(0)
        for square in off * off if squares is None else squares * (off * off):
            error += square
        if least is None or error < least:
            best, least = scale, error
    return codes_of(w, best, element), best


CASES = [("plain", data(24, 1)), ("one large", np.concatenate([data(23, 2), np.array([3.0], f32)])), ("zeros", np.zeros(24, f32)),
         ("ties", np.array([127, 0.5, 1.5, 2.5, -0.5, -1.5, -126.5, 125.5] * 3, f32)),
         ("least", data(24, 3) * f32(2.0**-130)), ("below", np.full(24, 2.0**-149, f32)), ("large", data(24, 4) * f32(2.0**127)),
         ("infinite", np.concatenate([data(23, 5), np.array([-np.inf], f32)])), ("not a number", np.concatenate([np.array([np.nan], f32), data(23, 6)]))]

# Weights beside sums of squares: of many sizes, where only small weights count, none, or but one.
CALIBRATED = [("many sizes", data(24, 7), data(24, 8).astype(f64) ** 2), ("small ones count", data(24, 9), np.where(np.abs(data(24, 9)) < 0.01, 1.0, 0.0)),
              ("the largest counts", data(24, 10), np.where(np.abs(data(24, 10)) == np.abs(data(24, 10)).max(), 1.0e30, 1.0e-30)),
              ("none counts", data(24, 11), np.zeros(24)), ("all alike", data(24, 3), np.full(24, 0.125)),
              ("infinite", np.concatenate([data(23, 5), np.array([-np.inf], f32)]), np.ones(24))]


def bits(values):
    return ", ".join(f"0x{b:08x}" for b in np.asarray(values, f32).view(np.uint32).tolist())


def main():
    np.seterr(all="ignore")
    print("""// SPDX-License-Identifier: Apache-2.0
// Written by record_quantized.py.
#pragma once

#include <cstdint>
#include <vector>

#include "halftone/encoding/element.hpp"

namespace halftone::tests {

/// Bits of the weights of one channel, of what their codes stand for, and of its scale; of every NaN
/// 7fc00000.
struct QuantizedChannel {
  const char* name;
  encoding::Element element;
  bool least_error;
  std::vector<std::uint32_t> weights, codes;
  std::uint32_t scale;
  std::vector<double> squares = {};  ///< by which errors are weighed (P103), or none
};

inline const std::vector<QuantizedChannel>& quantized_channels() {
  static const std::vector<QuantizedChannel> channels = {""")
    for name, w in CASES:
        for element in ("i8", "f8e4m3"):
            for least_error in (False, True):
                codes, scale = channel(w, element, least_error)
                print(f'      {{"{name}", encoding::Element::{element}, {"true" if least_error else "false"},\n       {{{bits(w)}}},\n       {{{bits(codes)}}},\n       {bits([scale])}}},')
    for name, w, squares in CALIBRATED:
        for element in ("i8", "f8e4m3"):
            codes, scale = channel(w, element, True, squares)
            exact = ", ".join(float(m).hex() for m in squares)
            print(f'      {{"{name}", encoding::Element::{element}, true,\n       {{{bits(w)}}},\n       {{{bits(codes)}}},\n       {bits([scale])},\n       {{{exact}}}}},')
    print("""  };
  return channels;
}

}  // namespace halftone::tests""")


main()
