#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes rotated_expected.hpp: blocks of 16 times the matrix of P105 of docs/spec/precision.md, by other means than the reference's. The matrix
is put together as get_rht_matrix of TransformerEngine's pytorch/tensor/nvfp4_tensor.py does it, a sign matrix times a Hadamard matrix. Where sums
are exact, blocks are multiplied by it as that is (x.reshape(-1, 16) @ matrix, rounded to bf16); where they are not, in P105's order. Formats,
sums and products are those of record_factors.py. Run with numpy and ml_dtypes: ./record_rotated.py > rotated_expected.hpp"""
import ml_dtypes
import numpy as np

from numpy_rules import chain, columns, data, f32, record, write
from record_factors import Levels, spread

SIGNS = np.array([1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1], f32)


def hadamard(size):
    """Sylvester's construction, as _build_hadamard_matrix of custom_recipes/reference_nvfp4.py."""
    h = np.ones((1, 1), f32)
    while h.shape[0] < size:
        h = np.block([[h, h], [h, -h]])
    return h


MATRIX = (SIGNS * np.eye(16, dtype=f32)) @ hadamard(16) * f32(0.25)


def bf16(x):
    return x.astype(ml_dtypes.bfloat16).astype(f32)


def published(blocks):
    """Of bf16 numbers of which no sum needs more than 24 digits."""
    exact = blocks.astype(np.float64) @ MATRIX.astype(np.float64)
    assert np.all(exact.astype(f32) == exact)
    return exact.astype(f32)


def in_pairs(blocks):
    """P105: neighbours first, then neighbouring sums; c's bits say which second ones are taken away."""
    sums = []
    for c in range(16):
        t = blocks * (SIGNS * f32(0.25))
        for k in range(4):
            sign = f32(-1 if c >> k & 1 else 1)
            t = t[..., ::2] + sign * t[..., 1::2]
        sums.append(t[..., 0])
    return np.stack(sums, -1)


def rotated(x, along, product=in_pairs):
    """Whole blocks along that axis, all in bf16."""
    x = np.moveaxis(x, along, -1)
    whole = x.shape[-1] // 16 * 16
    blocks = x[..., :whole].reshape(*x.shape[:-1], whole // 16, 16)
    y = np.concatenate([product(blocks).reshape(*x.shape[:-1], whole), x[..., whole:]], -1)
    return np.moveaxis(bf16(y), -1, along)


def product(a, b):
    """Over the last axis of both, broadcast against each other; each of one factor."""
    return lambda codes_a, codes_b: chain(codes_a, codes_b) * (a.factors.flat[0] * b.factors.flat[0])


def linear():
    """All operands rotated along what is summed; all of x but 4 rows of a sequence, and all of the weight's rows."""
    x, g, weight, bias = spread((2, 20, 24), 1, 4), spread((2, 20, 16), 2, -30), spread((16, 24), 3, 0), data(16, 4)
    a, w = Levels(rotated(x, -1), (1, 16)), Levels(rotated(weight, -1), (1, 16))
    record("linear forward", product(a, w)(a.codes[..., None, :], w.codes) + bf16(bias))
    arriving, back = Levels(rotated(g, -1), (1, 16)), Levels(rotated(weight, 0), (16, 1))
    record("linear x", product(arriving, back)(arriving.codes[..., None, :], back.codes.T))
    rows, saved = Levels(rotated(g, 1), (16, 1)), Levels(rotated(x, 1), (16, 1))
    record("linear weight", product(rows, saved)(rows.codes.reshape(-1, 16).T[:, None, :], saved.codes.reshape(-1, 24).T[None, :, :]))
    record("linear bias", columns(g.reshape(-1, 16)))


def main():
    np.seterr(all="ignore")
    near = bf16(data(3 * 40 * 33, 5)).reshape(3, 40, 33)
    record("published rows", rotated(near, -1, published))
    record("published columns", rotated(near, -2, published))
    for power in (-130, 0, 100):
        x = spread((3, 40, 33), power + 300, power)
        for name, along, block in (("rows", -1, (1, 16)), ("columns", -2, (16, 1))):
            y = rotated(x, along)
            record(f"{name} {power}", y)
            record(f"{name} {power} codes", Levels(y, block).codes)
    linear()
    write("record_rotated.py", "kRotatedBits")


main()
