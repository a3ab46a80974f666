#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes long_convolution_expected.hpp: causal convolutions of long sequences by numpy's fft of f64, which is a transform of twice as
many places by other formulas than those of docs/spec/math.md; once direct sums agree with it, and all that torch.fft and torch's
autograd make of it. Run with numpy and torch: ./record_long_convolution.py > long_convolution_expected.hpp"""
import numpy as np
import torch

LENGTHS = (4096, 5000, 32768, 262144)
MOST = 1048576  # places that there may be (D101)
SAMPLES = 12


def noise(count, salt):
    """As noise() of long_convolution_test.cpp: splitmix64, its first 24 bits, in [-1, 1)."""
    with np.errstate(over="ignore"):
        z = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(salt << 32)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(40)).astype(np.float64) / 2.0**23 - 1


def convolved(x, f):
    places = 2 * len(x)
    return np.fft.irfft(np.fft.rfft(x, places) * np.fft.rfft(f, places), places)[:len(x)]


def torchs(x, f, g):
    """Of the same transforms in torch: the result, and what its autograd makes of them for x and f."""
    x, f = (torch.tensor(values, requires_grad=True) for values in (x, f))
    places = 2 * len(x)
    y = torch.fft.irfft(torch.fft.rfft(x, places) * torch.fft.rfft(f, places), places)[:len(x)]
    y.backward(torch.tensor(g))
    return y.detach().numpy(), x.grad.numpy(), f.grad.numpy()


def rows(n):
    x, f, g = noise(n, 1), noise(n, 2), noise(n, 3)
    y = convolved(x, f)
    of_x, of_f = convolved(g[::-1], f)[::-1], convolved(g[::-1], x)[::-1]
    for ours, theirs in zip((y, of_x, of_f), torchs(x, f, g)):
        assert np.abs(ours - theirs).max() < 1e-9, "torch has other sums"
    places = sorted({0, 1, n // 2 - 1, n // 2, n - 2, n - 1, *(i * 7919 * 31 % n for i in range(1, SAMPLES - 5))})
    for t in places:
        assert abs(y[t] - np.dot(x[:t + 1][::-1], f[:t + 1])) < 1e-9, "the fft is not the sum"
        assert abs(of_x[t] - np.dot(g[t:], f[:n - t])) < 1e-9, "the fft is not the sum"
        assert abs(of_f[t] - np.dot(g[t:], x[:n - t])) < 1e-9, "the fft is not the sum"
        print(f"    {{{n}, {t}, {y[t]:.11f}, {of_x[t]:.11f}, {of_f[t]:.11f}}},")


def main():
    print("""// SPDX-License-Identifier: Apache-2.0
// Written by record_long_convolution.py.
#pragma once

#include <cstdint>

namespace halftone::reference::tests {

/// At one place of a sequence: the result, and the gradients of x and of filter.
struct ConvolvedPlace {
  std::int64_t length, place;
  double y, of_x, of_filter;
};

inline constexpr ConvolvedPlace kConvolvedPlaces[] = {""")
    for n in LENGTHS:
        rows(n)
    print("""};

/// Of a sequence as long as there may be.
inline constexpr ConvolvedPlace kMostConvolvedPlaces[] = {""")
    rows(MOST)
    print("""};

}  // namespace halftone::reference::tests""")


main()
