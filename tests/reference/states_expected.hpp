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
    {"f8e4m3 scaled block 32 f32 saturate p", 47, 0x654d15b862c68490, {0xbe0a436d, 0xbd617fb8, 0xbf362228, 0xbe767c8b}},
    {"f8e4m3 scaled block 32 f32 saturate first", 47, 0x58e6832c70e03753, {0xbc241048, 0xbbdac060, 0x3c7f35c5, 0xb77f35c5}},
    {"f8e4m3 scaled block 32 f32 saturate second", 47, 0xa6ffec1970195c69, {0x380bd317, 0x37c04240, 0x37633705, 0x37c04240}},
    {"f8e5m2 scaled block 64 f32 saturate stochastic p", 47, 0xbdc4f8a8874ea610, {0xbe099d6f, 0xbdc0b90a, 0xbf416b86, 0xbe8db844}},
    {"f8e5m2 scaled block 64 f32 saturate stochastic first", 47, 0xb2ae7e8673aa97a4, {0xbc2bf1c8, 0xbbce5557, 0x3c70b8e6, 0x3a70b8e6}},
    {"f8e5m2 scaled block 64 f32 saturate stochastic second", 47, 0x4453edabefeabe89, {0x37f7614d, 0x37d40a42, 0x3730b337, 0x37d40a42}},
};

}  // namespace halftone::reference::tests
