#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes factors_expected.hpp: products of codes under scales of f32 (P87 to P89, P101 and N12 of docs/spec/) by other means than the
reference's. Multipliers are TransformerEngine's compute_scale_from_amax (recipe/recipe_common.cuh) with an epsilon of 0, delayed ones those
of recipe/delayed_scaling.cu, and of torchao's rows amax_to_scale (torchao/float8/float8_utils.py) without powers of two; codes are casts of numpy and ml_dtypes, sums the chains of numpy_rules.py. Run with numpy and ml_dtypes:
./record_factors.py > factors_expected.hpp"""
import ml_dtypes
import numpy as np

from numpy_rules import chain, columns, data, f32, record, results

FORMATS = {"f8e4m3": (ml_dtypes.float8_e4m3fn, 448.0), "f8e5m2": (ml_dtypes.float8_e5m2, 57344.0), "f4e2m1": (ml_dtypes.float4_e2m1fn, 6.0),
           "f16": (np.float16, 65504.0)}
MOST = np.finfo(f32).max


def multiplier(amax, largest):
    if np.isinf(amax) or amax == 0 or np.isnan(amax):
        return f32(1)
    scale = f32(largest) / f32(amax)
    return MOST if np.isinf(scale) else scale


def torchao_multiplier(amax, largest):
    """amax in f64, the quotient rounded to f32; torchao.float8.config.EPS is 1e-12."""
    return f32(np.float64(largest) / np.maximum(np.float64(amax), 1e-12))


class Operand:
    """Codes, and for each the factor of its group: all of x, its row, or its column over all leading dimensions."""

    def __init__(self, x, name, groups):
        cast, largest = FORMATS[name]
        amax = {"tensor": np.max(np.abs(x)), "row": np.max(np.abs(x), -1, keepdims=True),
                "column": np.max(np.abs(x).reshape(-1, x.shape[-1]), 0)}[groups]
        scale = np.broadcast_to(np.vectorize(lambda a: multiplier(a, largest))(amax).astype(f32), x.shape)
        multiplied = np.where(np.isfinite(x), x * scale, f32(np.nan))
        clipped = np.clip(np.nan_to_num(multiplied), f32(-largest), f32(largest)).astype(cast).astype(f32)
        self.codes = np.where(np.isnan(multiplied), multiplied, clipped).astype(f32)
        self.factors = f32(1) / scale
        self.numbers = self.codes * self.factors


class Blocks:
    """Numbers of f32: codes in blocks of (rows, columns) times their factors, as Operand has them of all (compute_scale_from_types in
    quantize_transpose_vector_blockwise.cu and quantize_transpose_square_blockwise.cu of TransformerEngine, of f32 in)."""

    def __init__(self, x, name, block):
        self.numbers, self.codes = np.empty_like(x), np.empty_like(x)
        views = [array.reshape(-1, *x.shape[-2:]) for array in (x, self.numbers, self.codes)]
        for n in range(views[0].shape[0]):
            for i in range(0, x.shape[-2], block[0]):
                for j in range(0, x.shape[-1], block[1]):
                    at = (n, slice(i, i + block[0]), slice(j, j + block[1]))
                    of_block = Operand(views[0][at], name, "tensor")
                    views[1][at], views[2][at] = of_block.numbers, of_block.codes


class Levels:
    """E2M1 in blocks of (rows, columns), each with a scale of E4M3, under S_enc of the whole tensor: core_nvfp4.cuh of TransformerEngine
    (compute_global_encode_scaling_factor_FP4, compute_decoding_scaling_factor, compute_scaling_coefficient). Codes are elements times their
    block's scale, every factor is 1 / S_enc."""

    def __init__(self, x, block):
        encode = multiplier(np.max(np.abs(x)), 448 * 6)
        decode = f32(1) / encode
        self.codes = np.empty_like(x)
        matrices, codes = x.reshape(-1, *x.shape[-2:]), self.codes.reshape(-1, *x.shape[-2:])
        for n in range(matrices.shape[0]):
            for i in range(0, x.shape[-2], block[0]):
                for j in range(0, x.shape[-1], block[1]):
                    at = (n, slice(i, i + block[0]), slice(j, j + block[1]))
                    codes[at] = self.block(matrices[at], encode, decode)
        self.factors = np.full_like(x, decode)
        self.numbers = self.codes * self.factors

    @staticmethod
    def block(x, encode, decode):
        fitting = np.fmin(np.max(np.abs(x)) * (encode * (f32(1) / f32(6))), f32(448))  # of a NaN 448
        scale = fitting.astype(ml_dtypes.float8_e4m3fn).astype(f32)
        coefficient = np.fmin(f32(1) / (scale * decode), MOST)
        multiplied = np.where(np.isfinite(x), x * coefficient, f32(np.nan))
        elements = np.clip(np.nan_to_num(multiplied), f32(-6), f32(6)).astype(ml_dtypes.float4_e2m1fn).astype(f32)
        return np.where(np.isnan(multiplied), multiplied, elements * scale).astype(f32)


def product(a, b, factor_a, factor_b):
    """Over the last axis of both, broadcast against each other."""
    return chain(a, b) * (factor_a * factor_b)


def spread(shape, salt, power):
    count = int(np.prod(shape))
    i = np.arange(count)
    return np.ldexp(data(count, salt), (i * 17 % 21 - 10 + power).astype(np.int32)).astype(f32).reshape(shape)


def linear(name, along_sum, across):
    """Of `along_sum` groups are forward's and a gradient's, of `across` what is summed over rows."""
    passes(name, lambda v: Operand(v, "f8e4m3", along_sum), lambda v: Operand(v, "f8e5m2", along_sum),
           lambda v: Operand(v, "f8e4m3", across), lambda v: Operand(v, "f8e5m2", across))


def levels_linear():
    """Weights in squares of 4 x 4, all else in blocks of 4 along what is summed."""
    def levels(rows, columns):
        return lambda v: Levels(v, (4, 4) if v.shape == (4, 10) else (rows, columns))
    passes("levels", levels(1, 4), levels(1, 4), levels(4, 1), levels(4, 1))


def halves():
    """Operands of f16, then weights of E4M3 beside them, whose codes f16 has."""
    def half(v):
        return Operand(v, "f16", "tensor")
    passes("halves", half, half, half, half)
    def mixed(v):
        return Operand(v, "f8e4m3" if v.shape == (4, 10) else "f16", "tensor")
    passes("mixed", mixed, mixed, mixed, mixed)


def passes(name, read, arrive, read_across, arrive_across):
    x, g = spread((2, 3, 10), 1, 4), spread((2, 3, 4), 2, -30)
    weight, bias = spread((4, 10), 3, 0), data(4, 4)
    a, w = read(x), read(weight)
    y = product(a.codes[..., None, :], w.codes, a.factors[..., :1], w.factors[:, 0])
    record(f"{name} forward", y + bias.astype(ml_dtypes.bfloat16).astype(f32))
    arriving, back = arrive(g), read_across(weight)
    record(f"{name} x", product(arriving.codes[..., None, :], back.codes.T, arriving.factors[..., :1], back.factors[0]))
    rows, saved = arrive_across(g), read_across(x)
    flat_g, flat_x = rows.codes.reshape(-1, 4), saved.codes.reshape(-1, 10)
    record(f"{name} weight", product(flat_g.T[:, None, :], flat_x.T[None, :, :], rows.factors.reshape(-1, 4)[0][:, None], saved.factors.reshape(-1, 10)[0]))
    record(f"{name} bias", columns(rows.numbers.reshape(-1, 4)))


def blocks_linear():
    """As DeepSeek-V3 has them but for sizes: weights in squares of 4 x 4, all else in blocks of 4 along what is summed. Sums are of numbers."""
    def numbers(rows, columns):
        return lambda v: Blocks(v, "f8e4m3", (4, 4) if v.shape == (4, 10) else (rows, columns)).numbers
    x, g, weight, bias = spread((2, 3, 10), 1, 4), spread((2, 3, 4), 2, -30), spread((4, 10), 3, 0), data(4, 4)
    along, across = numbers(1, 4), numbers(4, 1)
    record("blocks forward", chain(along(x)[..., None, :], along(weight)) + bias.astype(ml_dtypes.bfloat16).astype(f32))
    record("blocks x", chain(along(g)[..., None, :], across(weight).T))
    rows = across(g).reshape(-1, 4)
    record("blocks weight", chain(rows.T[:, None, :], across(x).reshape(-1, 10).T[None, :, :]))
    record("blocks bias", columns(rows))


def matmul():
    """a transposed(b)."""
    a, b, g = spread((2, 5, 6), 5, 3), spread((2, 7, 6), 6, -8), spread((2, 5, 7), 7, 20)
    qa, qb, qg = Operand(a, "f8e4m3", "tensor"), Operand(b, "f8e4m3", "tensor"), Operand(g, "f8e5m2", "tensor")
    fa, fb, fg = qa.factors.flat[0], qb.factors.flat[0], qg.factors.flat[0]
    record("matmul forward", product(qa.codes[:, :, None, :], qb.codes[:, None, :, :], fa, fb))
    record("matmul a", product(qg.codes[:, :, None, :], qb.codes.transpose(0, 2, 1)[:, None, :, :], fg, fb))
    record("matmul b", product(qg.codes.transpose(0, 2, 1)[:, :, None, :], qa.codes.transpose(0, 2, 1)[:, None, :, :], fg, fa))


def weight_alone():
    x, g, weight, bias = spread((2, 3, 10), 1, 4), spread((2, 3, 4), 2, -30), spread((4, 10), 3, 0), data(4, 4)
    w = Operand(weight, "f8e4m3", "tensor")
    factor = w.factors.flat[0]
    record("alone forward", chain(x[..., None, :], w.codes) * factor + bias.astype(ml_dtypes.bfloat16).astype(f32))
    record("alone x", chain(g[..., None, :], w.codes.T) * factor)
    record("alone weight", chain(g.reshape(-1, 4).T[:, None, :], x.reshape(-1, 10).T[None, :, :]))
    record("alone bias", columns(g.reshape(-1, 4)))


def operands():
    for name in FORMATS:
        for groups in ("tensor", "row", "column"):
            for power in (-120, 0, 110):
                x = spread((3, 7, 10), power + 200, power)
                record(f"{name} {groups} {power}", Operand(x, name, groups).numbers)
    for name in ("f8e4m3", "f8e5m2", "f4e2m1"):
        for block in ((1, 4), (4, 1), (3, 16)):
            for power in (-140, -120, 0, 110):
                blocks = Blocks(spread((3, 7, 10), power + 200, power), name, block)
                record(f"{name} {block[0]}x{block[1]} {power}", blocks.numbers)
    for block in ((1, 4), (4, 1), (3, 16)):
        for power in (-140, -120, 0, 110):
            levels = Levels(spread((3, 7, 10), power + 200, power), block)
            record(f"levels {block[0]}x{block[1]} {power} codes", levels.codes)
            record(f"levels {block[0]}x{block[1]} {power}", levels.numbers)


def multipliers():
    lines = []
    for name, (_, largest) in FORMATS.items():
        for amax in ("0", "0x1p-149", "0x1p-127", "0x1.5p-119", "0x1p-20", "0.1", "1", "3", "448", "449", "57344", "1e30", "0x1.fffffep127", "inf", "nan"):
            a = f32(float.fromhex(amax)) if "0x" in amax else f32(float(amax))
            lines.append(f"    {{Element::{name}, 0x{a.view(np.uint32):08x}, 0x{multiplier(a, largest).view(np.uint32):08x}}},")
    return lines


def block_scales():
    """Blocks under tensors for which S * (1 / 6) first, as TransformerEngine has it, is another scale than a * (1 / 6) first."""
    random = np.random.default_rng(97)
    amax = np.ldexp(random.uniform(1, 2, 1 << 24), random.integers(-60, 60, 1 << 24)).astype(f32)
    of_block = (amax * random.uniform(0.02, 1, 1 << 24)).astype(f32)
    encode, sixth = f32(2688) / amax, f32(1) / f32(6)
    scale = lambda fitting: np.fmin(fitting, f32(448)).astype(ml_dtypes.float8_e4m3fn).astype(f32)
    found = scale(of_block * (encode * sixth))
    differ = np.flatnonzero(found != scale(of_block * sixth * encode))
    bits = lambda values, i: f"0x{values.view(np.uint32)[i]:08x}"
    return [f"    {{{bits(amax, i)}, {bits(of_block, i)}, {bits(found, i)}}}," for i in differ]


def torchao_multipliers():
    amaxes = [amax for power in (-29, 0, 60, 117) for amax in np.abs(spread((21,), 9 + power, power)) if amax >= 1e-12]
    return [f"    {{Element::{name}, 0x{amax.view(np.uint32):08x}, 0x{torchao_multiplier(amax, FORMATS[name][1]).view(np.uint32):08x}}},"
            for name in ("f8e4m3", "f8e5m2") for amax in amaxes]


class Recipe:
    """delayed_scaling.cu: a history that moves on by one place, scaled_max / its largest amax where that is finite and positive."""

    def __init__(self, largest, history, margin):
        self.history, self.scale, self.scaled_max = np.zeros(history, f32), f32(1), f32(largest * 2.0 ** -margin)

    def step(self, amax):
        self.history = np.append(self.history[1:], f32(amax))
        largest = np.max(self.history)
        if np.isfinite(largest) and largest > 0:
            self.scale = self.scaled_max / largest
            self.scale = MOST if np.isinf(self.scale) else self.scale
        return self.scale


def delayed():
    walk = np.abs(spread((60,), 8, 0))
    walk[[5, 6, 7, 20]] = [0, 0, 0, 2.0 ** -140]
    walk[21:26] = 2.0 ** -135
    lines = []
    for name, history, margin in [("f8e4m3", 1, 0), ("f8e4m3", 5, 2), ("f8e5m2", 3, 0), ("f8e5m2", 16, 16), ("f16", 4, 1)]:
        recipe = Recipe(FORMATS[name][1], history, margin)
        scales = ", ".join(f"0x{recipe.step(amax).view(np.uint32):08x}" for amax in walk)
        lines.append(f"    {{Element::{name}, {history}, {margin},\n     {{{scales}}}}},")
    return ", ".join(f"0x{amax.view(np.uint32):08x}" for amax in walk), lines


def main():
    np.seterr(all="ignore")
    operands()
    linear("tensor", "tensor", "tensor")
    linear("vectors", "row", "column")
    levels_linear()
    blocks_linear()
    halves()
    weight_alone()
    matmul()
    walk, scales = delayed()
    print("""// SPDX-License-Identifier: Apache-2.0
// Written by record_factors.py.
#pragma once

#include <cstdint>
#include <vector>

#include "halftone/encoding/element.hpp"
#include "recorded.hpp"

namespace halftone::reference::tests {

using encoding::Element;

/// What numbers are multiplied by whose largest magnitude has these bits of f32.
struct Multiplier {
  Element format;
  std::uint32_t amax, multiplier;
};

inline constexpr Multiplier kMultipliers[] = {""")
    print("\n".join(multipliers()))
    print("""};

/// As torchao's rows have them.
inline constexpr Multiplier kTorchaoMultipliers[] = {""")
    print("\n".join(torchao_multipliers()))
    print("""};

/// Under two levels: the largest magnitudes of a tensor and of a block of it, and the block's scale.
struct BlockScale {
  std::uint32_t amax, of_block, scale;
};

/// Such that are others where a block's magnitude is divided by 6 first.
inline constexpr BlockScale kBlockScales[] = {""")
    print("\n".join(block_scales()))
    print("""};

/// The amax of each step, and what numbers are multiplied by after it.
inline const std::vector<std::uint32_t> kAmaxesOfFactors = {""" + walk + """};

struct DelayedMultipliers {
  Element format;
  int history, margin;
  std::vector<std::uint32_t> multipliers;
};

inline const std::vector<DelayedMultipliers> kDelayedMultipliers = {""")
    print("\n".join(scales))
    print("""};

inline const std::vector<Bits> kFactoredBits = {""")
    print("\n".join(results))
    print("""};

}  // namespace halftone::reference::tests""")


if __name__ == "__main__":
    main()
