#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes attention_expected.hpp: results and gradients of torch's scaled_dot_product_attention in f64, and by torch's autograd
where a score is capped, which that function cannot. Run with python3-numpy and python3-torch:
./record_attention.py > attention_expected.hpp"""
import math

import torch
from torch.nn.functional import scaled_dot_product_attention

from numpy_rules import data

BATCH, M, N, HEADS, KEY_HEADS, D, E = 2, 5, 7, 6, 2, 4, 3


def cut(x, heads):
    """(batch, time, heads * d) as (batch, heads, time, d)."""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def operand(shape, salt):
    return torch.tensor(data(math.prod(shape), salt).reshape(shape).astype("float64"), requires_grad=True)


def distances():
    return torch.arange(M)[:, None] + (N - M) - torch.arange(N)[None, :]


def slopes(heads):
    """As the code of Press et al., whose heads beyond a power of two take every other slope of twice as many."""
    if math.log2(heads).is_integer():
        start = 2 ** (-2 ** -(math.log2(heads) - 3))
        return [start * start**i for i in range(heads)]
    whole = 2 ** math.floor(math.log2(heads))
    return slopes(whole) + slopes(2 * whole)[0::2][:heads - whole]


def sdpa(q, k, v, **options):
    return scaled_dot_product_attention(q, k, v, **options)


def capped(q, k, v, cap):
    scores = q @ k.transpose(-1, -2) / math.sqrt(D)
    return torch.softmax(cap * torch.tanh(scores / cap), -1) @ v


def case(name, attend):
    shapes = [(BATCH, M, HEADS * D), (BATCH, N, KEY_HEADS * D), (BATCH, N, KEY_HEADS * E)]
    q, k, v = operands = [operand(shape, salt) for salt, shape in enumerate(shapes, 1)]
    shared = [cut(x, KEY_HEADS).repeat_interleave(HEADS // KEY_HEADS, 1) for x in (k, v)]
    y = attend(cut(q, HEADS), *shared).transpose(1, 2).reshape(BATCH, M, HEADS * E)
    y.backward(torch.tensor(data(y.numel(), 9).reshape(y.shape).astype("float64")))
    for role, values in zip(("result", "query", "key", "value"), (y.detach(), *(x.grad for x in operands))):
        numbers = ", ".join(repr(float(x)) for x in values.flatten())
        print(f'    {{"{name} {role}", {{{numbers}}}}},')


print("""// SPDX-License-Identifier: Apache-2.0
// Written by record_attention.py.
#pragma once

#include <string>
#include <vector>

namespace halftone::reference::tests {

struct Numbers {
  std::string name;
  std::vector<double> values;
};

// clang-format off
inline const Numbers kAttention[] = {""")
KEPT = (torch.arange(BATCH * N).reshape(BATCH, N) * 5 % 3 != 0)
case("plain", sdpa)
case("causal", lambda q, k, v: sdpa(q, k, v, attn_mask=distances() >= 0))
case("window and scale", lambda q, k, v: sdpa(q, k, v, attn_mask=(distances() >= 0) & (distances() <= 2), scale=0.3))
# The second sequence has no key at all.
case("length", lambda q, k, v: torch.cat(
    [sdpa(q[:1], k[:1], v[:1], attn_mask=(torch.arange(N) < 4).expand(M, N)), torch.zeros(1, HEADS, M, E)]))
case("key_mask", lambda q, k, v: sdpa(q, k, v, attn_mask=KEPT[:, None, None].expand(BATCH, HEADS, M, N)))
case("alibi", lambda q, k, v: sdpa(
    q, k, v, attn_mask=-torch.tensor(slopes(HEADS), dtype=torch.float64)[:, None, None] * distances().abs()))
case("soft_cap", lambda q, k, v: capped(q, k, v, 0.5))
print("""};
// clang-format on

}  // namespace halftone::reference::tests""")
