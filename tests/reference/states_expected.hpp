// SPDX-License-Identifier: Apache-2.0
// Written by record_states.py.
#pragma once

#include <vector>

#include "recorded.hpp"

namespace halftone::reference::tests {

inline const std::vector<Bits> kStateBits = {
    {"bf16 p", 47, 0x78054aa41e680ed9, {0xbe0ae112, 0xbd3cafe2, 0xbf2f73b6, 0xbe7f4feb}},
    {"bf16 first", 47, 0x4ae120dbf8e68907, {0xbc1e0000, 0xbbe70000, 0x3c830000, 0x39940000}},
    {"bf16 second", 47, 0xd3354e17837e8907, {0x380a0000, 0x37cd0000, 0x37710000, 0x37b70000}},
    {"f16 toward_zero p", 47, 0x9a8feec78f72f0db, {0xbe0aaf37, 0xbd37e37a, 0xbf2f9818, 0xbe7ffce1}},
    {"f16 toward_zero first", 47, 0x377307c809ffa907, {0xbc1e2000, 0xbbe7c000, 0x3c82e000, 0x39a42000}},
    {"f16 toward_zero second", 47, 0xc1f478b2ff04c907, {0x3809c000, 0x37cc0000, 0x376f0000, 0x37b68000}},
    {"bf16 stochastic p", 47, 0xa9dfd6ecf0489589, {0xbe0afda4, 0xbd3ad0de, 0xbf2eb2f8, 0xbe7faf57}},
    {"bf16 stochastic first", 47, 0x0c1ddc72a02b8907, {0xbc1e0000, 0xbbe80000, 0x3c840000, 0x39940000}},
    {"bf16 stochastic second", 47, 0x5fc20ff2f7ea8907, {0x38090000, 0x37ce0000, 0x37710000, 0x37b90000}},
};

}  // namespace halftone::reference::tests
