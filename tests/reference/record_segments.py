#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes segments_expected.hpp: what numpy computes in f32 when it follows D93 to D96 of docs/spec/description.md, operation by
operation, once torch's values and gradients in f64 agree with it. Run with numpy and torch:
./record_segments.py > segments_expected.hpp"""
import numpy as np
import torch

from numpy_rules import data, f32, f64, record, write

SEGMENTS = 5
# Ascending; in any order, with numbers of no segment and segments without times.
NUMBERS = np.array([[0, 0, 1, 1, 1, 2, 3, 3, 4], [4, 2, -1, 2, 5, 0, 4, 4, 2**31 - 1]])


def sums(x, numbers):
    y = np.zeros((len(x), SEGMENTS, x.shape[-1]), f32)
    for b, row in enumerate(numbers):
        for t, k in enumerate(row):
            if 0 <= k < SEGMENTS:
                y[b, k] = y[b, k] + x[b, t]
    return y


def spread(rows, numbers):
    x = np.zeros((*numbers.shape, rows.shape[-1]), f32)
    for b, row in enumerate(numbers):
        for t, k in enumerate(row):
            if 0 <= k < SEGMENTS:
                x[b, t] = rows[b, k]
    return x


def shares(rows, numbers):
    counts = np.array([[(row == k).sum() for k in range(SEGMENTS)] for row in numbers]).astype(f32)[..., None]
    return np.where(counts == 0, f32(0), rows / np.maximum(counts, f32(1)))


def maxima(x, numbers):
    """The largest of each, 0 of none, and for each element of x whether it is one."""
    y = np.zeros((len(x), SEGMENTS, x.shape[-1]), f32)
    is_largest = np.zeros(x.shape, bool)
    for b, row in enumerate(numbers):
        for k in range(SEGMENTS):
            times = np.flatnonzero(row == k)
            if len(times):
                y[b, k] = x[b, times].max(0)
                is_largest[b, times[x[b, times].argmax(0)], np.arange(x.shape[-1])] = True
    return y, is_largest


def agree(name, ours, x, y, g):
    y.backward(torch.tensor(g.astype(f64)))
    for what, values, theirs in (("result", ours[0], y), ("x", ours[1], x.grad)):
        theirs = theirs.detach().numpy()
        assert theirs.shape == values.shape and np.allclose(values, theirs, rtol=0, atol=2e-6), f"{name} {what} is not torch's"
        record(f"{name} {what}", values)


one_hot = torch.tensor(NUMBERS[..., None] == np.arange(SEGMENTS), dtype=torch.float64)  # (sequences, times, segments)
counted = one_hot.sum(1)[..., None].clamp(min=1)
for name, mean in (("sums", False), ("means", True)):
    x = data(2 * 9 * 3, 1).reshape(2, 9, 3)
    g = data(2 * SEGMENTS * 3, 9).reshape(2, SEGMENTS, 3)
    y = sums(x, NUMBERS)
    ours = (shares(y, NUMBERS), spread(shares(g, NUMBERS), NUMBERS)) if mean else (y, spread(g, NUMBERS))
    their_x = torch.tensor(x.astype(f64), requires_grad=True)
    theirs = one_hot.transpose(1, 2) @ their_x
    agree(name, ours, their_x, theirs / counted if mean else theirs, g)
x = data(2 * SEGMENTS * 3, 1).reshape(2, SEGMENTS, 3)
g = data(2 * 9 * 3, 9).reshape(2, 9, 3)
their_x = torch.tensor(x.astype(f64), requires_grad=True)
agree("broadcast", (spread(x, NUMBERS), sums(g, NUMBERS)), their_x, one_hot @ their_x, g)
x = data(2 * 9 * 3, 1).reshape(2, 9, 3)
g = data(2 * SEGMENTS * 3, 9).reshape(2, SEGMENTS, 3)
y, is_largest = maxima(x, NUMBERS)
their_x = torch.tensor(x.astype(f64), requires_grad=True)
belongs = (NUMBERS >= 0) & (NUMBERS < SEGMENTS)
segments = torch.tensor(np.where(belongs, NUMBERS, SEGMENTS))[..., None].expand(-1, -1, 3)
theirs = torch.zeros(2, SEGMENTS + 1, 3, dtype=torch.float64).scatter_reduce(1, segments, their_x, "amax", include_self=False)[:, :SEGMENTS]
agree("maxima", (y, np.where(is_largest, spread(g, NUMBERS), f32(0))), their_x, theirs, g)
write("record_segments.py", "kSegmentsBits")
