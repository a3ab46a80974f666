#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes resampling_expected.hpp: what numpy computes in f32 when it follows D85 to D88, D99 and D100 of docs/spec/description.md, operation by
operation, once torch's values and gradients in f64 agree with it. Run with numpy and torch:
./record_resampling.py > resampling_expected.hpp"""
import itertools

import numpy as np
import torch
from torch.nn import functional

from numpy_rules import data, f32, f64, fma, record, write

DIMENSIONS = {1: "1d", 2: "2d", 3: "3d"}


def tensor(values):
    """As torch has it: channels behind the images."""
    return torch.tensor(np.moveaxis(values.astype(f64), -1, 1), requires_grad=True)


def agree(name, ours, x, y, g):
    """With torch's result and gradient, which come with channels behind the images."""
    y.backward(torch.tensor(np.moveaxis(g.astype(f64), -1, 1)))
    for what, values, theirs in (("result", ours[0], y), ("x", ours[1], x.grad)):
        theirs = np.moveaxis(theirs.detach().numpy(), 1, -1)
        assert theirs.shape == values.shape and np.allclose(values, theirs, rtol=0, atol=2e-6), f"{name} {what} is not torch's"
        record(f"{name} {what}", values)


def pool(name, x_shape, kernel, stride, dilation, padding, function, count_include_pad=False, ties=False, torchs=True):
    r = len(kernel)
    x = data(int(np.prod(x_shape)), 1).reshape(x_shape)
    x = np.floor(x * f32(4)) / f32(4) if ties else x
    zeros = [(0, 0), *zip(padding[:r], padding[r:]), (0, 0)]
    wide, within = np.pad(x, zeros), np.pad(np.ones_like(x, bool), zeros)
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, d, k, s in zip(wide.shape[1:-1], dilation, kernel, stride)]
    g = data(x_shape[0] * int(np.prod(counts)) * x_shape[-1], 9).reshape(x_shape[0], *counts, x_shape[-1])
    taps = list(np.ndindex(*kernel))
    lies = [(slice(None), *(slice(t * d, t * d + (m - 1) * s + 1, s) for t, d, m, s in zip(tap, dilation, counts, stride)))
            for tap in taps]
    largest, index = np.full(g.shape, -np.inf, f32), np.full(g.shape, -1)
    total, counted = np.zeros(g.shape, f32), np.zeros(g.shape, f32)
    for p, at in enumerate(lies):
        taken = within[at] & ((wide[at] > largest) | (index < 0))
        largest, index = np.where(taken, wide[at], largest), np.where(taken, p, index)
        total, counted = total + wide[at], counted + (f32(1) if count_include_pad else within[at].astype(f32))
    is_max = function == "max"
    of_wide = np.zeros_like(wide)
    for p, at in enumerate(lies):
        of_wide[at] = of_wide[at] + np.where(index == p, g, f32(0)) if is_max else of_wide[at] + g / counted
    inside = (slice(None), *(slice(b, b + n) for b, n in zip(padding[:r], x_shape[1:-1])))
    ours = (largest if is_max else total / counted), of_wide[inside]
    before, behind = padding[:r], padding[r:]
    if not torchs:  # which has none such
        record(f"{name} result", ours[0])
        record(f"{name} x", ours[1])
        return
    assert before == behind
    their_x = tensor(x)
    if is_max:
        y = getattr(functional, f"max_pool{DIMENSIONS[r]}")(their_x, kernel, stride, before, dilation)
    else:
        of = {"count_include_pad": count_include_pad}
        y = getattr(functional, f"avg_pool{DIMENSIONS[r]}")(their_x, kernel, stride, before, **of)
    agree(name, ours, their_x, y, g)


def adaptive(name, x_shape, size, function):
    r = len(size)
    x = data(int(np.prod(x_shape)), 1).reshape(x_shape)
    g = data(x_shape[0] * int(np.prod(size)) * x_shape[-1], 9).reshape(x_shape[0], *size, x_shape[-1])
    y, of_x = np.zeros_like(g), np.zeros_like(x)
    for i in np.ndindex(*size):
        window = [range(a * n // m, -(-(a + 1) * n // m)) for a, n, m in zip(i, x_shape[1:-1], size)]
        places = list(itertools.product(*window))
        at = (slice(None), *i)
        if function == "max":
            largest, index = np.full(g[at].shape, -np.inf, f32), np.full(g[at].shape, -1)
            for p, place in enumerate(places):
                taken = x[(slice(None), *place)] > largest
                largest, index = np.where(taken, x[(slice(None), *place)], largest), np.where(taken, p, index)
            y[at] = largest
        else:
            total = np.zeros(g[at].shape, f32)
            for place in places:
                total = total + x[(slice(None), *place)]
            y[at] = total / f32(len(places))
        for p, place in enumerate(places):
            here = (slice(None), *place)
            of_x[here] = of_x[here] + (np.where(index == p, g[at], f32(0)) if function == "max" else g[at] / f32(len(places)))
    their_x = tensor(x)
    theirs = {"max": "adaptive_max_pool", "average": "adaptive_avg_pool"}[function] + DIMENSIONS[r]
    agree(name, (y, of_x), their_x, getattr(functional, theirs)(their_x, size), g)


def stretched(x, axis, factor):
    x = np.moveaxis(x, axis, 0)
    rows = []
    for i in range(len(x) * factor):
        low, high, w = blend(i, len(x), factor)
        rows.append(fma(f32(w), x[high], f32(1 - w) * x[low]) if w else x[low])
    return np.moveaxis(np.stack(rows), 0, axis)


def shrunk(g, axis, factor):
    g = np.moveaxis(g, axis, 0)
    x = np.zeros((len(g) // factor, *g.shape[1:]), f32)
    for i in range(len(g)):
        low, high, w = blend(i, len(x), factor)
        x[low] = fma(f32(1 - w), g[i], x[low])
        if w:
            x[high] = fma(f32(w), g[i], x[high])
    return np.moveaxis(x, 0, axis)


def blend(i, length, factor):
    u, t = i // factor, 2 * (i % factor) + 1 - factor
    low, high, w = (u - 1, u, 1 + t / (2 * factor)) if t < 0 else (u, u + 1, t / (2 * factor))
    return max(low, 0), min(high, length - 1), w


def upsample(name, x_shape, factor, linear):
    r = len(factor)
    x = data(int(np.prod(x_shape)), 1).reshape(x_shape)
    lengths = [n * f for n, f in zip(x_shape[1:-1], factor)]
    g = data(x_shape[0] * int(np.prod(lengths)) * x_shape[-1], 9).reshape(x_shape[0], *lengths, x_shape[-1])
    their_x = tensor(x)
    if linear:
        y, of_x = x, g
        for d in reversed(range(r)):
            y = stretched(y, 1 + d, factor[d]) if factor[d] > 1 else y
        for d in range(r):
            of_x = shrunk(of_x, 1 + d, factor[d]) if factor[d] > 1 else of_x
        mode = {1: "linear", 2: "bilinear", 3: "trilinear"}[r]
        theirs = functional.interpolate(their_x, scale_factor=tuple(map(float, factor)), mode=mode, align_corners=False)
    else:
        y, of_x = x, np.zeros_like(x)
        for d, f in enumerate(factor):
            y = np.repeat(y, f, 1 + d)
        for at in np.ndindex(*factor):
            of_x = of_x + g[(slice(None), *(slice(a, None, f) for a, f in zip(at, factor)))]
        theirs = functional.interpolate(their_x, scale_factor=tuple(map(float, factor)), mode="nearest")
    agree(name, (y, of_x), their_x, theirs, g)


pool("max of a plane", (2, 7, 6, 3), (3, 3), (2, 2), (1, 1), (1, 1, 1, 1), "max")
pool("max of equal elements", (2, 7, 6, 3), (3, 2), (1, 2), (1, 1), (1, 1, 1, 1), "max", ties=True)
pool("max of a line, far apart", (3, 11, 4), (4,), (1,), (2,), (2, 2), "max")
pool("max of a film, padded on one side", (2, 3, 4, 5, 2), (2, 2, 3), (1, 2, 1), (1, 1, 1), (1, 0, 0, 0, 1, 2), "max", torchs=False)
pool("mean of a plane", (2, 6, 6, 3), (2, 2), (2, 2), (1, 1), (0, 0, 0, 0), "average")
pool("mean of a plane with its padding", (2, 7, 5, 3), (3, 3), (2, 1), (1, 1), (1, 1, 1, 1), "average", count_include_pad=True)
pool("mean of a plane without its padding", (2, 7, 5, 3), (3, 3), (2, 1), (1, 1), (1, 1, 1, 1), "average")
pool("mean of a line, far apart", (3, 9, 4), (3,), (2,), (2,), (3, 1), "average", torchs=False)
pool("mean of a film", (2, 4, 4, 3, 2), (2, 3, 2), (2, 1, 1), (1, 1, 1), (1, 1, 0, 1, 1, 0), "average")
adaptive("largest of shares of a plane", (2, 5, 7, 3), (3, 5), "max")
adaptive("largest of shares of a film", (2, 3, 2, 4, 2), (2, 3, 3), "max")
adaptive("mean of shares of a plane", (2, 5, 7, 3), (3, 4), "average")
adaptive("mean of more shares than places", (3, 3, 4), (8,), "average")
adaptive("mean of whole shares", (2, 6, 4, 3), (3, 1), "average")
adaptive("mean of shares of a film", (2, 3, 2, 4, 2), (2, 3, 3), "average")
upsample("nearest of a plane", (2, 3, 4, 3), (2, 3), False)
upsample("nearest of a line", (3, 5, 4), (8,), False)
upsample("nearest of a film", (2, 2, 3, 2, 2), (2, 1, 3), False)
upsample("linear of a line", (3, 5, 4), (2,), True)
upsample("linear of a line of one", (3, 1, 4), (3,), True)
upsample("linear of a plane", (2, 3, 4, 3), (2, 3), True)
upsample("linear of a film", (2, 2, 3, 2, 2), (4, 1, 5), True)
write("record_resampling.py", "kResamplingBits")
