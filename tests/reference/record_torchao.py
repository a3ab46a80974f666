#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes torchao_expected.hpp: what torchao 0.18 itself makes of data of ours, on a CPU: the scales and codes of its `to_mx` (prototype/mx_formats/
mx_tensor.py) by each of its ways to find scales, and of its `nvfp4_quantize` (nvfp4_tensor.py). Numbers that its functions computed; none of its text
is here. Run with torch, torchao 0.18 and ml_dtypes: ./record_torchao.py > torchao_expected.hpp"""
import ml_dtypes
import numpy as np
import torch
from torchao.prototype.mx_formats.config import ScaleCalculationMode
from torchao.prototype.mx_formats.constants import DTYPE_FP6_E2M3, DTYPE_FP6_E3M2
from torchao.prototype.mx_formats.kernels import f4_unpacked_to_f32, f6_e2m3_unpacked_to_f32, f6_e3m2_unpacked_to_f32, unpack_uint4
from torchao.prototype.mx_formats.mx_tensor import to_mx
from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize, per_tensor_amax_to_scale

from numpy_rules import f32, record, results
from record_scaled import FORMATS, SPECIAL, exponent_of, f, spread

ELEMENTS = {"f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2, "f6e3m2": DTYPE_FP6_E3M2, "f6e2m3": DTYPE_FP6_E2M3, "f4e2m1": torch.float4_e2m1fn_x2}


def values_of(name, codes):
    if name == "f4e2m1":
        return f4_unpacked_to_f32(unpack_uint4(codes)).numpy()
    if name in ("f6e3m2", "f6e2m3"):
        return {"f6e3m2": f6_e3m2_unpacked_to_f32, "f6e2m3": f6_e2m3_unpacked_to_f32}[name](codes).numpy()
    return codes.to(torch.float32).numpy()


def cast(x, name, block, mode):
    """Codes of scales, and what the codes of elements stand for, flat."""
    scales, codes = to_mx(torch.from_numpy(np.ascontiguousarray(x)), ELEMENTS[name], block, ScaleCalculationMode(mode))
    return scales.view(torch.uint8).numpy().reshape(-1), values_of(name, codes).reshape(-1)


def scales_of(amax, name, mode):
    """Of blocks that begin with these and go on with zeros; of two, the fewest that its codes of 4 bits are packed of."""
    return cast(np.stack([amax, np.zeros_like(amax)], -1), name, 2, mode)[0].astype(np.int64)


def spread_amax():
    """All f32 from 1 to below 2 whose last 7 binary digits are 1, 65,536 of them."""
    return (np.arange(1 << 16, dtype=np.uint32) * 128 + 127 + 0x3f800000).view(f32)


def edges():
    """A few f32 from each largest(F) * 2^k on."""
    for name, (_, largest) in FORMATS.items():
        for k in (-60, -20, -5, 0, 1, 3, 40, 90):
            first = int((f32(largest) * f32(2.0**k)).view(np.uint32))
            amax = np.arange(first, first + 6, dtype=np.uint32).view(f32)
            for a, code in zip(amax, scales_of(amax, name, "rceil")):
                yield f"    {{Element::{name}, 0x{int(a.view(np.uint32)):08x}, {int(code)}}},"


def nvfp4(x):
    """Scales of E4M3 and codes, under a tensor's scale of its amax."""
    of_all = per_tensor_amax_to_scale(torch.from_numpy(np.max(np.abs(x)).reshape(1)))
    scales, codes = nvfp4_quantize(torch.from_numpy(np.ascontiguousarray(x)), 16, of_all)
    return scales.to(torch.float32).numpy().reshape(-1), values_of("f4e2m1", codes).reshape(-1)


def main():
    torch.set_num_threads(1)
    for name in FORMATS:
        for salt, power in ((1, 0), (2, -60), (3, 80)):
            scales, codes = cast(spread(40 * 64, salt, power).reshape(40, 64), name, 32, "rceil")
            record(f"{name} {power} scales", (scales.astype(np.uint32) << 23).view(f32))
            record(f"{name} {power} codes", codes)
    apart, exact = [], {name: np.array([exponent_of(a, largest) for a in spread_amax()]) for name, (_, largest) in FORMATS.items()}
    for mode in ("floor", "ceil", "even", "rceil"):
        for name in FORMATS:
            apart.append(f'    {{"{mode}", Element::{name}, {int(np.count_nonzero(scales_of(spread_amax(), name, mode) != exact[name]))}}},')
    special = []
    for case, row in SPECIAL.items():
        x = np.array([f(text) for text in row], f32)
        scales, codes = cast(x.reshape(1, -1), "f8e4m3", 8, "rceil")
        of, to = (", ".join(f"0x{bits:08x}" for bits in y.astype(f32).view(np.uint32).tolist()) for y in (x, codes))
        special.append(f'    {{"{case}", {int(scales[0])}, {{{of}}}, {{{to}}}}},')
    for salt, power in ((5, 0), (6, 40)):
        scales, codes = nvfp4(spread(40 * 64, salt, power).reshape(40, 64))
        record(f"nvfp4 {power} scales", scales)
        record(f"nvfp4 {power} codes", codes)
    print("""// SPDX-License-Identifier: Apache-2.0
// Written by record_torchao.py.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "halftone/encoding/element.hpp"
#include "recorded.hpp"

namespace halftone::reference::tests {

using encoding::Element;

/// Of 65,536 amax from 1 to below 2, how many have another scale by that way than P51's.
struct Apart {
  const char* mode;
  Element element;
  int count;
};
inline constexpr Apart kApart[] = {""")
    print("\n".join(apart))
    print("""};

/// The f8e8m0 code of torchao's scale by `rceil` of a block of this amax, just above largest(F) times a power of two.
struct Edge {
  Element element;
  std::uint32_t amax;
  int scale;
};
inline constexpr Edge kEdges[] = {""")
    print("\n".join(edges()))
    print("""};

/// Of f8e4m3 by `rceil`: the code of the scale, the block and what its codes stand for.
struct SpecialBlock {
  const char* name;
  int scale;
  std::array<std::uint32_t, 8> values, codes;
};
inline constexpr SpecialBlock kSpecialBlocks[] = {""")
    print("\n".join(special))
    print("""};

/// Named by format and power.
inline const std::vector<Bits> kTorchaoBits = {""")
    print("\n".join(results))
    print("""};

}  // namespace halftone::reference::tests""")


main()
