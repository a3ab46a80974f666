#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes scaled_expected.hpp: what scaled operands are (P51 of docs/spec/precision.md) by other means than the reference's. The
exponents of scales are found as TransformerEngine's ptx::float_to_e8m0 finds them, in the bits of amax * (1 / largest), within the
limits that P51 adds; elements are rounded by the casts of ml_dtypes. Run with numpy and ml_dtypes:
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


def scaled_group(x, cast, largest):
    amax = np.max(np.abs(x))  # NaN where there is one
    scale = np.array([exponent_of(amax, largest) << 23], np.uint32).view(f32)[0]
    divided = x * (f32(1) / scale)
    clipped = np.where(np.isnan(divided), divided, np.clip(divided, f32(-largest), f32(largest)))
    return np.where(np.isnan(divided), divided, np.nan_to_num(clipped).astype(cast).astype(f32) * scale)


def scaled(x, name, block):
    """In rows, x of (rows, columns); block 0 is the whole tensor."""
    cast, largest = FORMATS[name]
    if block == 0:
        return scaled_group(x.reshape(-1), cast, largest)
    groups = [scaled_group(row[i:i + block], cast, largest) for row in x for i in range(0, len(row), block)]
    return np.concatenate(groups)


def spread(count, salt, power):
    """As spread() of scaled_test.cpp: data() times powers of two, 41 of them, around 2^power."""
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
    for name in FORMATS:
        for salt, (rows, columns, block, power) in enumerate(
            [(7, 50, 0, 0), (7, 50, 32, 0), (5, 64, 32, -100), (5, 33, 2, 90), (3, 300, 128, 12), (1, 4099, 4096, -60), (6, 1, 2, 0)]):
            record(f"{name} {block} {power}", scaled(spread(rows * columns, salt, power).reshape(rows, columns), name, block))
        for case, row in SPECIAL.items():
            x = np.array([f(text) for text in row], f32)
            for block in (0, 4):
                of = ", ".join(f"0x{bits:08x}" for bits in x.view(np.uint32).tolist())
                y = scaled(x.reshape(1, -1), name, block)
                y = np.where(np.isnan(y), np.array([0x7fffffff], np.uint32).view(f32), y)
                to = ", ".join(f"0x{bits:08x}" for bits in y.astype(f32).view(np.uint32).tolist())
                special.append(f'    {{"{case}", Element::{name}, {block},\n     {{{of}}},\n     {{{to}}}}},')
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
  Element format;
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


main()
