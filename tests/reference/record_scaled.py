#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes scaled_expected.hpp: what scaled operands are (P51 and P77 of docs/spec/precision.md) by other means than the reference's.
The exponents of scales are found as TransformerEngine's ptx::float_to_e8m0 finds them, in the bits of amax * (1 / largest), within the
limits that P51 adds; the two levels of NVFP4 by the steps of its compute_decoding_scaling_factor and of what multiplies by that. Elements
and scales of E4M3 are rounded by the casts of ml_dtypes. Run with numpy and ml_dtypes:
./record_scaled.py > scaled_expected.hpp"""
import ml_dtypes
import numpy as np

from numpy_rules import data, f32, record, results

FORMATS = {"f8e4m3": (ml_dtypes.float8_e4m3fn, 448.0), "f8e5m2": (ml_dtypes.float8_e5m2, 57344.0),
           "f6e3m2": (ml_dtypes.float6_e3m2fn, 28.0), "f6e2m3": (ml_dtypes.float6_e2m3fn, 7.5),
           "f4e2m1": (ml_dtypes.float4_e2m1fn, 6.0)}


def exponent_of(amax, largest):
    """The code of the scale in f8e8m0."""
    value = f32(amax) * (f32(1) / f32(largest))
    most = 254 - int(np.floor(np.log2(largest))) + 1
    if np.isnan(value) or np.isinf(value):
        return most
    bits = int(value.view(np.uint32))
    exponent, mantissa = bits >> 23, bits & 0x7fffff
    if mantissa > 0:
        exponent += 1
    return min(max(exponent, 17), most)


def power_of(amax, largest):
    return np.array([exponent_of(amax, largest) << 23], np.uint32).view(f32)[0]


def rounded(divided, cast, largest, scale):
    """Numbers of what was divided by the scale; a NaN stays one."""
    clipped = np.where(np.isnan(divided), divided, np.clip(divided, f32(-largest), f32(largest)))
    return np.where(np.isnan(divided), divided, np.nan_to_num(clipped).astype(cast).astype(f32) * scale)


def scaled_group(x, cast, largest):
    scale = power_of(np.max(np.abs(x)), largest)  # NaN where there is one
    return rounded(x * (f32(1) / scale), cast, largest, scale)


def nvfp4_group(x, cast, of_all):
    """One block under the tensor's scale: the decoding scale in E4M3, fminf() of a NaN being the other number."""
    encoding = f32(1) / of_all
    decoding = np.fmin(np.max(np.abs(x)) * (encoding * (f32(1) / f32(6))), f32(448)).astype(ml_dtypes.float8_e4m3fn).astype(f32)
    scale = decoding * of_all
    inverse = np.fmin(f32(1) / scale, np.finfo(f32).max)
    return rounded(x * inverse, cast, 6, scale)


def scaled(x, name, block):
    """x of (rows, columns) in blocks of so many rows and columns; without them the whole tensor."""
    if block is None:
        return scaled_group(x.reshape(-1), *FORMATS[name])
    y = np.empty_like(x)
    of_all = power_of(np.max(np.abs(x)), 6 * 448) if name == "nvfp4" else None
    for i in range(0, x.shape[0], block[0]):
        for j in range(0, x.shape[1], block[1]):
            at = (slice(i, i + block[0]), slice(j, j + block[1]))
            if name == "nvfp4":
                y[at] = nvfp4_group(x[at], FORMATS["f4e2m1"][0], of_all)
            else:
                y[at] = scaled_group(x[at], *FORMATS[name])
    return y.reshape(-1)


def spread(count, salt, power):
    """As spread_wide() of scaled_test.cpp: data() times powers of two, 41 of them, around 2^power."""
    i = np.arange(count)
    with np.errstate(under="ignore", over="ignore"):
        return np.ldexp(data(count, salt), (i * 17 % 41 - 20 + power).astype(np.int32)).astype(f32)


def f(text):
    return f32(float.fromhex(text)) if "0x" in text else f32(float(text))


SPECIAL = {  # rows of eight
    "zeros": ["0", "-0", "0", "0", "-0", "0", "0", "-0"],
    "one number": ["448", "0", "0", "0", "0", "0", "0", "0"],
    "above": ["449", "1", "-3", "0.4", "0.0137", "-448", "224", "5e-3"],
    "ties": ["448", "17", "19", "21", "-23", "0x1p-10", "0x1.8p-9", "-0x1p-11"],
    "wide ties": ["57344", "9", "11", "13", "-10", "0x1p-17", "0x1.8p-16", "-0x1p-18"],
    "infinite": ["inf", "1", "3e38", "-2.5e35", "1e30", "-inf", "0", "1e-20"],
    "not numbers": ["nan", "1", "3e38", "-2.5e35", "1e37", "2e36", "0", "-7e35"],
    "a NaN first": ["nan", "1", "3", "-2", "0.5", "nan", "4", "-4"],
    "both": ["nan", "inf", "-inf", "1", "2", "3", "4", "5"],
    "largest": ["0x1.fffffep127", "0x1.f7p127", "0x1.fp127", "0x1.efp127", "-0x1.fffffep127", "1", "0x1p120", "0x1.8p110"],
    "least": ["0x1p-149", "-0x1p-149", "0x1.8p-126", "0", "0x1p-130", "-0x1p-140", "0x1p-127", "0x1.fcp-127"],
    "at the floor": ["0x1.cp-102", "0x1p-119", "0x1.8p-120", "0x1p-120", "0x1.9p-118", "-0x1p-126", "0x1p-135", "0"],
    "above the floor": ["0x1.c00002p-102", "0x1p-119", "0x1.8p-120", "0x1p-120", "0x1.9p-118", "-0x1p-126", "0x1p-135", "0"],
    "odd subnormals": ["0x1.fp-95", "0x1.3p-111", "-0x1.1p-112", "0x1p-126", "0x1p-149", "0x1.7p-104", "0x1.5p-103", "3e-39"],
}


def divided_otherwise(largest):
    """Of all f32 amax in [1, 2): how many have another scale where largest / amax is cut to a power of two, as TransformerEngine's
    current scaling has it under power_2_scale."""
    amax = np.arange(0x3f800000, 0x40000000, dtype=np.uint32).view(f32)
    t = (amax * (f32(1) / f32(largest))).view(np.uint32)
    ours = (t >> 23).astype(np.int64) + ((t & 0x7fffff) > 0)
    cut = ((f32(largest) / amax).view(np.uint32) >> 23).astype(np.int64)
    return int(np.count_nonzero(ours - 127 != 127 - cut))


def main():
    np.seterr(all="ignore")
    special = []
    shapes = [(7, 50, None, 0), (7, 50, (1, 32), 0), (5, 64, (1, 32), -100), (5, 33, (1, 2), 90), (3, 300, (1, 128), 12), (1, 4099, (1, 4096), -60),
              (6, 1, (1, 2), 0), (70, 5, (32, 1), 0), (9, 33, (4, 16), 20), (2, 3, (128, 128), -3)]
    for name in FORMATS:
        for salt, (rows, columns, block, power) in enumerate(shapes):
            by = "tensor" if block is None else f"{block[0]}x{block[1]}"
            record(f"{name} {by} {power}", scaled(spread(rows * columns, salt, power).reshape(rows, columns), name, block))
    for salt, (rows, columns, block, power) in enumerate([(7, 50, (1, 16), 0), (35, 5, (16, 1), -100), (33, 20, (16, 16), 90), (1, 3, (1, 2), 120), (5, 40, (2, 4), -125)]):
        record(f"nvfp4 {block[0]}x{block[1]} {power}", scaled(spread(rows * columns, salt, power).reshape(rows, columns), "nvfp4", block))
    for name in [*FORMATS, "nvfp4"]:
        for case, row in SPECIAL.items():
            x = np.array([f(text) for text in row], f32)
            for block in (0, 4):
                if name == "nvfp4" and block == 0:
                    continue
                of = ", ".join(f"0x{bits:08x}" for bits in x.view(np.uint32).tolist())
                y = scaled(x.reshape(1, -1), name, (1, block) if block else None)
                y = np.where(np.isnan(y), np.array([0x7fffffff], np.uint32).view(f32), y)
                to = ", ".join(f"0x{bits:08x}" for bits in y.astype(f32).view(np.uint32).tolist())
                element, scale = ("f4e2m1", "f8e4m3") if name == "nvfp4" else (name, "f8e8m0")
                special.append(f'    {{"{case}", Element::{element}, Element::{scale}, {block},\n     {{{of}}},\n     {{{to}}}}},')
    print("""// SPDX-License-Identifier: Apache-2.0
// Written by record_scaled.py.
#pragma once

#include <cstdint>
#include <vector>

#include "halftone/encoding/element.hpp"
#include "recorded.hpp"

namespace halftone::reference::tests {

using encoding::Element;

/// A row of bits of f32 and what it is as a scaled operand, in blocks or, with 0, as one group.
struct ScaledRow {
  const char* name;
  Element format, scale;
  int block;
  std::uint32_t x[8], expected[8];
};

/// Of all f32 in [1, 2) as the largest magnitude: how many have another scale by division.
struct DividedOtherwise {
  Element format;
  int count;
};

inline constexpr DividedOtherwise kDividedOtherwise[] = {""")
    for name, (_, largest) in FORMATS.items():
        print(f"    {{Element::{name}, {divided_otherwise(largest)}}},")
    print("""};

inline constexpr ScaledRow kScaledRows[] = {""")
    print("\n".join(special))
    print("""};

/// Named by format, block and power of scaled_test.cpp.
inline const std::vector<Bits> kScaledBits = {""")
    print("\n".join(results))
    print("""};

}  // namespace halftone::reference::tests""")


if __name__ == "__main__":
    main()
