#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes states_expected.hpp: what numpy computes when it follows P68 and P86 of docs/spec/precision.md around adamw's update (U4):
states are rounded in f64, where every number of f32 has room for its neighbours, by words of Philox where they are drawn. Those in
blocks are as torchao's quantize_fp8 and dequantize of optim/subclass_fp8.py have them. Run with python3-numpy:  ./record_states.py > states_expected.hpp"""
import numpy as np

from numpy_rules import data, f32, f64, fma, next_power, padded, philox, record, tree, write

kSeed = 0x0123456789abcdef
# XXH3-64 of "adamw.first_moment bf16 stochastic" and of the same of the second, as python3-xxhash has it (P48).
kHashes = (0x453bf7c3ea37c4d5, 0x3055b3934c13b424)
kHashesOfBlocks = (0x1d4af0092c67ae2c, 0xdd161e274f27aef2)  # of "... f8e5m2 stochastic saturate"


def place(mantissa_bits, smallest_exponent, x):
    return np.exp2(np.maximum(np.frexp(x)[1] - 1, smallest_exponent) - mantissa_bits)


def nearest_bf16(x, *_):
    x = np.asarray(x, f64)
    unit = place(7, -126, x)
    return (np.rint(x / unit) * unit).astype(f32)


def cut_f16(x, *_):
    x = np.asarray(x, f64)
    unit = place(10, -14, x)
    return (np.trunc(x / unit) * unit).astype(f32)


def drawn(x, name_hash, step, first, mantissa_bits, smallest_exponent):
    """F6, element e of x being element first + e of the flat buffer."""
    x = np.asarray(x, f64)
    key = [(kSeed ^ name_hash) & (2**32 - 1), (kSeed ^ name_hash) >> 32]
    words = np.array([philox([e // 4, 0, step, 0], key)[e % 4] for e in range(first, first + len(x))])
    unit = place(mantissa_bits, smallest_exponent, np.abs(x))
    below = np.floor(np.abs(x) / unit)
    is_up = np.floor(words / 2**8) < (np.abs(x) / unit - below) * 2**24
    return (np.copysign(1.0, x) * (below + is_up) * unit).astype(f32)


def drawn_bf16(x, moment, step, first):
    return drawn(x, kHashes[moment], step, first, 7, -126)


def in_blocks(x, size, largest, codes_of):
    """P86: codes_of(x / scale, where) of every block, times its scale."""
    result = np.zeros_like(x)
    for begin in range(0, len(x), size):
        part = x[begin:begin + size]
        scale = np.maximum(np.abs(part).max(), f32(1e-12)) / f32(largest)
        result[begin:begin + size] = codes_of(part / scale, begin) * scale
    return result


def blocks_of_e4m3(x, *_):
    def codes_of(y, _):
        y = np.clip(np.asarray(y, f64), -448, 448)
        unit = place(3, -6, y)
        return (np.rint(y / unit) * unit).astype(f32)
    return in_blocks(x, 32, 448, codes_of)


def drawn_blocks_of_e5m2(x, moment, step, first):
    def codes_of(y, begin):
        return drawn(np.clip(y, f32(-57344), f32(57344)), kHashesOfBlocks[moment], step, first + begin, 2, -14)
    return in_blocks(x, 64, 57344, codes_of)


def updates(name, rounded, steps=5, sizes=(40, 7), padding=32):
    """Two parameters, as record_expected.py has them; the second neither decays nor learns at the full rate."""
    p = [data(sizes[0], 1), data(sizes[1], 2)]
    first, second = [[np.zeros_like(t) for t in p] for _ in range(2)]
    lr, scale, decay, clip = f32(0.3), [f32(1), f32(0.3)], [f32(0.7), f32(0)], f32(0.5)
    places = [0, -(-sizes[0] // padding) * padding]
    power = [(f32(1), f32(0)), (f32(1), f32(0))]
    for step in range(steps):
        g = [data(sizes[0], 10 + step), data(sizes[1], 20 + step)]
        flat = padded(g, padding)
        coefficient = min(f32(1), clip / (np.sqrt(tree(flat * flat)) + f32(1e-6)))
        power = [next_power(of, base) for of, base in zip(power, (0.9, 0.999))]
        c1, c2 = [(f32(1) - h) - l for h, l in power]
        for i in range(2):
            gi, lr_p = g[i] * coefficient, lr * scale[i]
            p1 = fma(-(lr_p * decay[i]), p[i], p[i])
            m = fma(f32(1 - 0.9), gi - first[i], first[i])
            v = fma(f32(1 - 0.999), gi * gi, f32(0.999) * second[i])
            p[i] = p1 - ((lr_p / c1) * m) / (np.sqrt(v) / np.sqrt(c2) + f32(1e-8))
            first[i], second[i] = rounded(m, 0, step, places[i]), rounded(v, 1, step, places[i])
    record(name + " p", np.concatenate(p))
    record(name + " first", np.concatenate(first))
    record(name + " second", np.concatenate(second))


updates("bf16", nearest_bf16)
updates("f16 toward_zero", cut_f16)
updates("bf16 stochastic", drawn_bf16)
updates("f8e4m3 scaled block 32 f32 saturate", blocks_of_e4m3)
updates("f8e5m2 scaled block 64 f32 saturate stochastic", drawn_blocks_of_e5m2, padding=64)
write("record_states.py", "kStateBits")
