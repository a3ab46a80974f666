# SPDX-License-Identifier: Apache-2.0
"""The f32 arithmetic of docs/spec/description.md in numpy, operation by operation, for the scripts that record expected
values."""
import numpy as np

f32, f64 = np.float32, np.float64


def data(count, salt):
    i = np.arange(count, dtype=np.int64)
    return ((((i * (7919 + 613 * salt) + salt * 104729) % 2003) - 1001) / 1000.0).astype(f32)


def fma(a, b, c):
    """One rounding: the exact product in f64, the sum rounded to odd there, then to f32."""
    a, b, c = np.broadcast_arrays(f32(a), f32(b), f32(c))
    p, q = a.astype(f64) * b.astype(f64), c.astype(f64)
    s = p + q
    t = s - p
    error = (p - (s - t)) + (q - t)
    bits = np.atleast_1d(s).copy().view(np.int64)
    error, away = np.atleast_1d(error), (np.atleast_1d(error) > 0) == (np.atleast_1d(s) > 0)
    inexact_even = (error != 0) & (bits & 1 == 0)
    bits += np.where(inexact_even, np.where(away, 1, -1), 0)
    return bits.view(f64).astype(f32).reshape(a.shape)


def chain(a, b):  # N1 over the last axis
    acc = np.zeros(np.broadcast_shapes(a.shape, b.shape)[:-1], f32)
    for k in range(a.shape[-1]):
        acc = fma(a[..., k], b[..., k], acc)
    return acc


def tree(v):  # N2 over the last axis
    n = v.shape[-1]
    if n > 1024:
        return tree(np.stack([tree(v[..., b:b + 1024]) for b in range(0, n, 1024)], -1))
    p = np.zeros(v.shape[:-1] + (32,), f32)
    for e in range(n):
        p[..., e % 32] = p[..., e % 32] + v[..., e]
    for s in (16, 8, 4, 2, 1):
        p = p[..., :s] + p[..., s:2 * s]
    return p[..., 0]


def columns(v):  # N3
    total = np.zeros(v.shape[1], f32)
    for begin in range(0, v.shape[0], 128):
        part = np.zeros(v.shape[1], f32)
        for row in v[begin:begin + 128]:
            part = part + row
        total = total + part
    return total


def next_power(power, base):
    bh = f32(base)
    bl = f32(base - float(bh))
    h, l = power
    t = h * bh
    e = fma(l, bh, fma(h, bl, fma(h, bh, -t)))
    return f32(t + e), f32(e - (f32(t + e) - t))


def philox(c, k):
    mask = 2**32 - 1
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k[0], q & mask, (p >> 32) ^ c[3] ^ k[1], p & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c


def padded(tensors, multiple=32):
    flat = []
    for t in tensors:
        flat += [t, np.zeros(-len(t) % multiple, f32)]
    return np.concatenate(flat)


results = []  # lines of a table of Bits (recorded.hpp)


def record(name, values):
    patterns = np.asarray(values, f32).reshape(-1).view(np.uint32)
    h = 0xcbf29ce484222325
    for pattern in patterns.tolist():
        h = ((h ^ pattern) * 0x100000001b3) & (2**64 - 1)
    first = ", ".join(f"0x{p:08x}" for p in patterns[:4].tolist())
    results.append(f'    {{"{name}", {len(patterns)}, 0x{h:016x}, {{{first}}}}},')


def write(script, table):
    """Prints what was recorded as a header that holds `table`."""
    print(f"""// SPDX-License-Identifier: Apache-2.0
// Written by {script}.
#pragma once

#include <vector>

#include "recorded.hpp"

namespace halftone::reference::tests {{

inline const std::vector<Bits> {table} = {{""")
    print("\n".join(results))
    print("""};

}  // namespace halftone::reference::tests""")
