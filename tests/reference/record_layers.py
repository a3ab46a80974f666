#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes layers_expected.hpp: what numpy computes in f32 when it follows D33 to D39, D52 to D60, D77 to D84, D89 and D90 of
docs/spec/description.md, operation by operation, once torch's values and gradients in f64 agree with it where torch has the layer.
Run with python3-numpy and python3-torch:  ./record_layers.py > layers_expected.hpp"""
import numpy as np
import torch
from torch.nn import functional

from numpy_rules import chain, columns, data, f32, f64, fma, philox, record, tree, write


def tensor(values):
    """In f64, laid out as ours is; its gradient will be, too."""
    return torch.tensor(values.astype(f64), requires_grad=True)


def agree(name, ours, result, g, of):
    """`ours`, values by what they are, have torch's `result` and gradients of `of`, but for what f32 rounds of the largest of them; then
    they are recorded in order."""
    result.backward(torch.tensor(np.asarray(g, f64)))
    theirs = {"result": result.detach(), **{what: leaf.grad for what, leaf in of.items()}}
    assert ours.keys() == theirs.keys(), name
    for what, values in ours.items():
        held = theirs[what].numpy()
        assert values.shape == held.shape, f"{name} {what} has another shape than torch's"
        assert np.allclose(values, held, rtol=0, atol=2e-6 * max(1, np.abs(held).max())), f"{name} {what} is not torch's"
        record(f"{name} {what}", values)


def rms_norm(rows, n):
    x, w, g = data(rows * n, 1).reshape(rows, n), data(n, 2), data(rows * n, 9).reshape(rows, n)
    rstd = (f32(1) / np.sqrt(tree(x * x) / f32(n) + f32(1e-5)))[:, None]
    h = x * rstd
    q = g * w
    ours = {"result": h * w, "x": rstd * (q - h * (tree(q * h) / f32(n))[:, None]), "weight": columns(g * h)}
    of = {"x": tensor(x), "weight": tensor(w)}
    theirs = of["x"] * torch.rsqrt((of["x"] ** 2).mean(1, keepdim=True) + 1e-5) * of["weight"]  # Zhang and Sennrich 2019
    agree(f"rms_norm {rows}x{n}", ours, theirs, g, of)


def batch_norm(rows, n):
    x, w, b, g = data(rows * n, 1).reshape(rows, n), data(n, 2), data(n, 3), data(rows * n, 9).reshape(rows, n)
    mean, variance, momentum, r = data(n, 4), data(n, 5) + f32(1.5), f32(0.3), f32(rows)
    m = columns(x) / r
    d = x - m
    v = columns(d * d) / r
    rstd = f32(1) / np.sqrt(v + f32(1e-5))
    h = d * rstd
    name = f"batch_norm {rows}x{n}"
    of_weight, of_bias = columns(g * h), columns(g)
    ours = {"result": fma(h, w, b), "x": (w * rstd) * ((g - of_bias / r) - h * (of_weight / r)), "weight": of_weight, "bias": of_bias}
    moves = rows > 1
    moved = [fma(momentum, m - mean, mean), fma(momentum, v * (r / (r - f32(1))) - variance, variance)] if moves else [mean, variance]
    predicted = fma((x - mean) * (f32(1) / np.sqrt(variance + f32(1e-5))), w, b)
    if moves:
        of = {"x": tensor(x), "weight": tensor(w), "bias": tensor(b)}
        kept = [torch.tensor(state.astype(f64)) for state in (mean, variance)]
        theirs = functional.batch_norm(of["x"], *kept, of["weight"], of["bias"], training=False, eps=1e-5).detach().numpy()
        assert np.allclose(predicted, theirs, rtol=0, atol=2e-6), f"{name} predicted is not torch's"
        theirs = functional.batch_norm(of["x"], *kept, of["weight"], of["bias"], training=True, momentum=0.3, eps=1e-5)
        agree(name, ours, theirs, g, of)
        for ours, theirs in zip(moved, kept):
            assert np.allclose(ours, theirs.numpy(), rtol=0, atol=2e-6), f"{name} moves its averages elsewhere than torch"
    else:  # which torch refuses
        for what, values in ours.items():
            record(f"{name} {what}", values)
    record(f"{name} moved mean", moved[0])
    record(f"{name} moved variance", moved[1])
    record(f"{name} predicted", predicted)


def expand(m, places, n):
    x, g = data(m * n, 1).reshape(m, n), data(m * places * n, 9).reshape(m, places, n)
    name = f"expand {m}x{places}x{n} "
    record(name + "result", np.broadcast_to(x[:, None], g.shape))
    record(name + "x", np.stack([columns(image) for image in g]))


def global_average_pool(m, places, n):
    x, g = data(m * places * n, 1).reshape(m, places, n), data(m * n, 9).reshape(m, n)
    ours = {"result": np.stack([columns(image) for image in x]) / f32(places), "x": np.broadcast_to((g / f32(places))[:, None], x.shape)}
    of = {"x": tensor(x)}
    agree(f"global_average_pool {m}x{places}x{n}", ours, of["x"].mean(1), g, of)


def group_norm(m, places, n, groups):
    x, g = (data(m * places * n, seed).reshape(m, places, n) for seed in (1, 9))
    w, b = data(n, 2), data(n, 3)

    def over_group(sums):  # of each image and channel: the mean over its group
        totals = tree(sums.reshape(m, groups, n // groups)) / f32(places * (n // groups))
        return np.repeat(totals, n // groups, axis=1)[:, None]

    def over_places(v):
        return np.stack([columns(image) for image in v])

    d = x - over_group(over_places(x))
    rstd = f32(1) / np.sqrt(over_group(over_places(d * d)) + f32(1e-5))
    h = d * rstd
    of_bias, of_weight = over_group(w * over_places(g)), over_group(w * over_places(g * h))
    ours = {"result": fma(h, w, b), "x": rstd * ((g * w - of_bias) - h * of_weight), "weight": columns((g * h).reshape(-1, n)),
            "bias": columns(g.reshape(-1, n))}
    of = {"x": tensor(x), "weight": tensor(w), "bias": tensor(b)}
    theirs = functional.group_norm(of["x"].movedim(-1, 1), groups, of["weight"], of["bias"], eps=1e-5).movedim(1, -1)
    agree(f"group_norm {m}x{places}x{n} of {groups}", ours, theirs, g, of)


def embedding(name, positions, vocabulary, n, padding):
    # Tokens from -1 to vocabulary, both of which have no row.
    token = np.arange(positions) * 5 % (vocabulary + 2) - 1
    w, g = data(vocabulary * n, 2).reshape(vocabulary, n), data(positions * n, 9).reshape(positions, n)
    inside = (token >= 0) & (token < vocabulary)
    record(name + " result", np.where(inside[:, None], w[np.clip(token, 0, vocabulary - 1)], 0))
    rows = []
    for row in range(vocabulary):
        total = np.zeros(n, f32)
        for i in np.flatnonzero(token == row) if row != padding else []:
            total = total + g[i]
        rows.append(total)
    record(name + " weight", np.concatenate(rows))


def dropout(count, rate, seed, layer, step, micro_batch):
    key = [(seed ^ layer) & (2**32 - 1), (seed ^ layer) >> 32]
    words = [philox([e // 4, 0, step, micro_batch], key)[e % 4] for e in range(count)]
    kept = np.array(words) >= int(rate * 2**32)
    scale = f32(1 / (1 - rate))
    record("dropout result", np.where(kept, data(count, 1) * scale, f32(0)))
    record("dropout x", np.where(kept, data(count, 9) * scale, f32(0)))


def transpose(name, shape, axes):
    count = int(np.prod(shape))
    record(name + " result", data(count, 1).reshape(shape).transpose(axes))
    g = data(count, 9).reshape([shape[a] for a in axes])
    record(name + " x", g.transpose(np.argsort(axes)))


def matmul(name, batch, m, k, n, transpose_a, transpose_b):
    a = data(batch * m * k, 1).reshape((batch, k, m) if transpose_a else (batch, m, k))
    b = data(batch * k * n, 2).reshape((batch, n, k) if transpose_b else (batch, k, n))
    g = data(batch * m * n, 9).reshape(batch, m, n)
    rows_a, rows_b = a.swapaxes(1, 2) if transpose_a else a, b if transpose_b else b.swapaxes(1, 2)  # (m, k), (n, k)
    result = chain(rows_a[:, :, None, :], rows_b[:, None, :, :])
    of_a = chain(g[:, :, None, :], rows_b.swapaxes(1, 2)[:, None, :, :])
    of_b = chain(rows_a.swapaxes(1, 2)[:, :, None, :], g.swapaxes(1, 2)[:, None, :, :])  # (k, n)
    ours = {"result": result, "a": of_a.swapaxes(1, 2) if transpose_a else of_a, "b": of_b.swapaxes(1, 2) if transpose_b else of_b}
    of = {"a": tensor(a), "b": tensor(b)}
    left, right = of["a"].mT if transpose_a else of["a"], of["b"].mT if transpose_b else of["b"]
    agree(name, ours, left @ right, g, of)


def causal_conv1d(name, sequences, times, channels, width, with_bias):
    shape = (sequences, times, channels)
    x, g = (data(sequences * times * channels, salt).reshape(shape) for salt in (1, 9))
    w, b = data(channels * width, 2).reshape(channels, width), data(channels, 3)
    zeros = np.zeros((sequences, width - 1, channels), f32)
    before, after = np.concatenate([zeros, x], 1), np.concatenate([g, zeros], 1)
    taps = np.stack([before[:, k:k + times] for k in range(width)], -1)
    y = chain(w, taps)
    of_taps = [columns((g * taps[..., k]).reshape(-1, channels)) for k in range(width)]
    ours = {"result": y + b if with_bias else y, "x": chain(w, np.stack([after[:, width - 1 - k:][:, :times] for k in range(width)], -1)),
            "weight": np.stack(of_taps, -1)}
    of = {"x": tensor(x), "weight": tensor(w)}
    if with_bias:
        ours["bias"], of["bias"] = columns(g.reshape(-1, channels)), tensor(b)
    held = functional.pad(of["x"].movedim(-1, 1), (width - 1, 0))
    agree(name, ours, functional.conv1d(held, of["weight"][:, None], of.get("bias"), groups=channels).movedim(1, -1), g, of)


def sides(before, after):
    """As functional.pad takes them: the last dimension first; negative ones leave elements out."""
    return [side for pair in reversed(list(zip(before, after))) for side in pair]


def convolution(name, x_shape, w_shape, stride, dilation, padding, groups, with_bias):
    r, kernel = len(stride), w_shape[1:-1]
    x, w = data(int(np.prod(x_shape)), 1).reshape(x_shape), data(int(np.prod(w_shape)), 2).reshape(w_shape)
    before, after = padding[:r], padding[r:]
    inside = tuple(slice(b, b + n) for b, n in zip(before, x_shape[1:-1]))
    wide = np.pad(x, [(0, 0), *zip(before, after), (0, 0)])
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, d, k, s in zip(wide.shape[1:-1], dilation, kernel, stride)]

    def elements(tap):  # of all windows, in what the zeros lie around
        return tuple(slice(t * d, t * d + (m - 1) * s + 1, s) for t, d, m, s in zip(tap, dilation, counts, stride))

    taps = list(np.ndindex(*kernel))
    held = np.stack([wide[(slice(None), *elements(tap))] for tap in taps], -2)  # (images, windows..., taps, channels)
    outputs = w_shape[0]
    g = data(x_shape[0] * int(np.prod(counts)) * outputs, 9).reshape(x_shape[0], *counts, outputs)
    given = []
    for tap in taps:
        lands = np.zeros(wide.shape[:-1] + (outputs,), f32)
        lands[(slice(None), *elements(tap))] = g
        given.append(lands[(slice(None), *inside)])
    given = np.stack(given, -2)  # (images, x..., taps, outputs)
    y, of_x, of_w = [], [], []
    for group in range(groups):
        ours = slice(group * outputs // groups, (group + 1) * outputs // groups)
        theirs = slice(group * x_shape[-1] // groups, (group + 1) * x_shape[-1] // groups)
        rows = held[..., theirs].reshape(*held.shape[:-2], 1, -1)
        y.append(chain(rows, w[ours].reshape(len(w[ours]), -1)))
        back = np.moveaxis(w[ours].reshape(len(w[ours]), len(taps), -1), -1, 0).swapaxes(1, 2)  # (channels, taps, outputs)
        of_x.append(chain(given[..., ours].reshape(*x.shape[:-1], 1, -1), back.reshape(len(back), -1)))
        flat = rows.reshape(-1, rows.shape[-1])
        of_w.append(chain(g[..., ours].reshape(len(flat), -1).T[:, None, :], flat.T[None, :, :]))
    y = np.concatenate(y, -1)
    ours = {"result": y + data(outputs, 3) if with_bias else y, "x": np.concatenate(of_x, -1), "weight": np.concatenate(of_w).reshape(w_shape)}
    of = {"x": tensor(x), "weight": tensor(w)}
    if with_bias:
        ours["bias"], of["bias"] = columns(g.reshape(-1, outputs)), tensor(data(outputs, 3))
    held = functional.pad(of["x"].movedim(-1, 1), sides(before, after))
    convolve = (functional.conv1d, functional.conv2d, functional.conv3d)[r - 1]
    theirs = convolve(held, of["weight"].movedim(-1, 1), of.get("bias"), stride, 0, dilation, groups).movedim(1, -1)
    agree(name, ours, theirs, g, of)


def transposed_convolution(name, x_shape, w_shape, m, stride, dilation, padding, groups, with_bias):
    """Scatters: every element of x, times a tap's weights, lands on a place of the wide result."""
    r, kernel, outputs = len(stride), w_shape[1:-1], w_shape[0]
    x, w = data(int(np.prod(x_shape)), 1).reshape(x_shape), data(int(np.prod(w_shape)), 2).reshape(w_shape)
    g = data(x_shape[0] * int(np.prod(m)) * outputs, 9).reshape(x_shape[0], *m, outputs)
    wide = [n + b + a for n, b, a in zip(m, padding[:r], padding[r:])]
    inside = (slice(None), *(slice(b, b + n) for b, n in zip(padding[:r], m)))
    taps = list(np.ndindex(*kernel))
    held, given = [], []
    for tap in taps:
        lands = (slice(None), *(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilation, x_shape[1:-1], stride)))
        all_x = np.zeros((x_shape[0], *wide, x_shape[-1]), f32)
        all_x[lands] = x
        held.append(all_x[inside])
        all_g = np.zeros((x_shape[0], *wide, outputs), f32)
        all_g[inside] = g
        given.append(all_g[lands])
    held, given = np.stack(held, -2), np.stack(given, -2)  # of the result's places, and of those of x
    y, of_x, of_w = [], [], []
    for group in range(groups):
        ours = slice(group * outputs // groups, (group + 1) * outputs // groups)
        theirs = slice(group * x_shape[-1] // groups, (group + 1) * x_shape[-1] // groups)
        kernels = w[ours].reshape(outputs // groups, len(taps), -1)
        y.append(chain(held[..., theirs].reshape(*held.shape[:-2], 1, -1), kernels.reshape(len(kernels), -1)))
        back = np.moveaxis(kernels, -1, 0).swapaxes(1, 2)  # (channels, taps, outputs)
        rows = given[..., ours].reshape(*x.shape[:-1], 1, -1)
        of_x.append(chain(rows, back.reshape(len(back), -1)))
        flat_g, flat_x = rows.reshape(-1, rows.shape[-1]), x[..., theirs].reshape(-1, x_shape[-1] // groups)
        of_taps = chain(flat_g.T[:, None, :], flat_x.T[None, :, :]).reshape(len(taps), len(kernels), -1)
        of_w.append(of_taps.swapaxes(0, 1))
    y = np.concatenate(y, -1)
    ours = {"result": y + data(outputs, 3) if with_bias else y, "x": np.concatenate(of_x, -1), "weight": np.concatenate(of_w).reshape(w_shape)}
    of = {"x": tensor(x), "weight": tensor(w)}
    if with_bias:
        ours["bias"], of["bias"] = columns(g.reshape(-1, outputs)), tensor(data(outputs, 3))
    convolve = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)[r - 1]
    apart = of["weight"].reshape(groups, outputs // groups, *w_shape[1:]).movedim(-1, 1)  # (groups, channels, outputs, kernel...)
    reached = convolve(of["x"].movedim(-1, 1), apart.flatten(0, 1), None, stride, 0, 0, groups, dilation)
    lacks = [n - have for n, have in zip(wide, reached.shape[2:])]
    theirs = functional.pad(reached, sides([-b for b in padding[:r]], [n - a for n, a in zip(lacks, padding[r:])])).movedim(1, -1)
    agree(name, ours, theirs + of["bias"] if with_bias else theirs, g, of)


rms_norm(300, 40)
rms_norm(2, 2100)
batch_norm(300, 7)
batch_norm(1, 3)
expand(3, 150, 5)
global_average_pool(3, 150, 5)
group_norm(3, 150, 12, 3)
group_norm(2, 40, 5, 5)
embedding("embedding", 301, 7, 5, None)
embedding("embedding with padding", 301, 7, 5, 3)
dropout(1001, 0.45, 0x0123456789abcdef, 0xfedcba9876543211, 5, 2)
transpose("transpose of heads", (3, 5, 2, 7), (0, 2, 1, 3))
transpose("transpose of all", (3, 5, 2, 7), (3, 0, 2, 1))
for transpose_a in (False, True):
    for transpose_b in (False, True):
        name = "matmul" + " of a transposed" * transpose_a + " by b transposed" * transpose_b
        matmul(name, 3, 5, 37, 6, transpose_a, transpose_b)
causal_conv1d("causal_conv1d", 3, 70, 5, 4, True)
causal_conv1d("causal_conv1d without bias", 2, 3, 4, 5, False)
convolution("convolution of a plane", (2, 6, 5, 4), (6, 3, 2, 2), (2, 1), (1, 2), (1, 0, 0, 1), 2, True)
convolution("convolution of a line", (3, 9, 4), (5, 3, 4), (1,), (1,), (2, 0), 1, False)
convolution("convolution of each channel", (2, 4, 3, 5, 3), (6, 2, 3, 2, 1), (2, 1, 2), (1, 1, 3), (0, 1, 1, 1, 1, 0), 3, True)
transposed_convolution("transposed convolution of a plane", (2, 3, 4, 4), (6, 3, 2, 2), (7, 5), (2, 1), (1, 2), (0, 0, 0, 1), 2, True)
transposed_convolution("transposed convolution of a line", (3, 5, 4), (5, 3, 4), (16,), (3,), (1,), (0, 1), 1, False)
write("record_layers.py", "kLayerBits")
