#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes padding_expected.hpp: what numpy computes in f32 when it follows D91, D92, D97 and D98 of docs/spec/description.md,
operation by operation, once torch's values and gradients in f64 agree with it. Run with numpy and torch:
./record_padding.py > padding_expected.hpp"""
import numpy as np
import torch
from torch.nn import functional

from numpy_rules import data, f32, f64, record, write


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


def source(u, n, mode):
    """Of place u of a dimension of n elements; None beside them."""
    if 0 <= u < n:
        return u
    return {"constant": None, "reflect": -u if u < 0 else 2 * (n - 1) - u, "replicate": min(max(u, 0), n - 1),
            "circular": u % n}[mode]


def pad(name, x_shape, padding, mode, value=0.0, torchs=True):
    r = len(padding) // 2
    x = data(int(np.prod(x_shape)), 1).reshape(x_shape)
    places = [[source(i - b, n, mode) for i in range(b + n + a)] for n, b, a in zip(x_shape[1:-1], padding[:r], padding[r:])]
    y = x
    for d, sources in enumerate(places):
        beside = np.full_like(y.take(0, 1 + d), value)
        y = np.stack([beside if u is None else y.take(u, 1 + d) for u in sources], 1 + d)
    g = data(y.size, 9).reshape(y.shape)
    of_x = g
    for d, sources in enumerate(places):
        if padding[d] == 0 and padding[r + d] == 0:
            continue
        along = np.moveaxis(of_x, 1 + d, 0)
        sums = np.zeros((x_shape[1 + d], *along.shape[1:]), f32)
        for i, u in enumerate(sources):
            if u is not None:
                sums[u] = along[i] if mode == "constant" else sums[u] + along[i]
        of_x = np.moveaxis(sums, 0, 1 + d)
    if not torchs:  # which leaves what a crop beside a repetition is to each mode
        record(f"{name} result", y)
        record(f"{name} x", of_x)
        return
    their_x = tensor(x)
    sides = [side for d in reversed(range(r)) for side in (padding[d], padding[r + d])]
    of = {"value": value} if mode == "constant" else {}
    agree(name, (y, of_x), their_x, functional.pad(their_x, sides, mode, **of), g)


def blocks(deep, factor):
    """[images, places..., channels * blocks...] as [images, places * blocks..., channels]."""
    r, shape = len(factor), deep.shape
    apart = deep.reshape(*shape[:-1], -1, *factor)
    axes = [0] + [axis for d in range(r) for axis in (1 + d, 2 + r + d)] + [1 + r]
    return apart.transpose(axes).reshape(shape[0], *(n * f for n, f in zip(shape[1:-1], factor)), -1)


def unblocks(wide, factor):
    r, shape = len(factor), wide.shape
    apart = wide.reshape(shape[0], *(k for n, f in zip(shape[1:-1], factor) for k in (n // f, f)), shape[-1])
    axes = [0] + [1 + 2 * d for d in range(r)] + [1 + 2 * r] + [2 + 2 * d for d in range(r)]
    return apart.transpose(axes).reshape(shape[0], *(n // f for n, f in zip(shape[1:-1], factor)), -1)


def shuffle(name, x_shape, factor, inverse=False):
    there, back = (unblocks, blocks) if inverse else (blocks, unblocks)
    x = data(int(np.prod(x_shape)), 1).reshape(x_shape)
    y = there(x, factor)
    g = data(y.size, 9).reshape(y.shape)
    ours = y, back(g, factor)
    if len(factor) == 2 and factor[0] == factor[1]:  # torch has planes and squares alone
        their_x = tensor(x)
        agree(name, ours, their_x, (functional.pixel_unshuffle if inverse else functional.pixel_shuffle)(their_x, factor[0]), g)
        return
    record(f"{name} result", ours[0])
    record(f"{name} x", ours[1])


pad("zeros around a plane", (2, 4, 5, 3), (1, 2, 2, 0), "constant")
pad("a value around a film", (2, 3, 2, 3, 2), (1, 0, 2, 0, 1, 1), "constant", 0.75)
pad("a crop of a plane", (2, 5, 6, 3), (-1, -2, -1, 0), "constant")
pad("a shift of a line", (3, 7, 4), (2, -2), "constant", -1.5)
pad("a line reflected", (3, 7, 4), (6, 2), "reflect")
pad("a plane reflected", (2, 4, 5, 3), (3, 1, 2, 4), "reflect")
pad("a film reflected", (2, 3, 2, 3, 2), (1, 1, 2, 2, 0, 1), "reflect")
pad("a plane reflected and cut", (2, 4, 5, 3), (3, -2, -1, 4), "reflect", torchs=False)
pad("a line replicated", (3, 3, 4), (5, 2), "replicate")
pad("a plane replicated", (2, 4, 5, 3), (0, 1, 2, 3), "replicate")
pad("a film replicated", (2, 3, 2, 3, 2), (1, 1, 2, 2, 0, 1), "replicate")
pad("a plane replicated and cut", (2, 4, 5, 3), (3, -2, -1, 4), "replicate", torchs=False)
pad("a line in a circle", (3, 5, 4), (5, 3), "circular")
pad("a plane in a circle", (2, 4, 5, 3), (3, 1, 0, 5), "circular")
pad("a film in a circle", (2, 3, 2, 3, 2), (1, 2, 2, 3, 0, 1), "circular")
pad("a plane in a circle and cut", (2, 4, 5, 3), (3, -2, -1, 4), "circular", torchs=False)
shuffle("blocks of a plane", (2, 3, 4, 12), (2, 2))
shuffle("oblong blocks of a plane", (2, 3, 4, 12), (2, 3))
shuffle("blocks of a line", (3, 5, 8), (4,))
shuffle("blocks of a film", (2, 2, 3, 2, 24), (2, 1, 3))
shuffle("a plane in blocks", (2, 6, 4, 3), (2, 2), inverse=True)
shuffle("a line in blocks", (3, 6, 5), (3,), inverse=True)
shuffle("a film in blocks", (2, 2, 3, 4, 2), (1, 3, 2), inverse=True)
write("record_padding.py", "kPaddingBits")
