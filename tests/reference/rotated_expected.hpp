// SPDX-License-Identifier: Apache-2.0
// Written by record_rotated.py.
#pragma once

#include <vector>

#include "recorded.hpp"

namespace halftone::reference::tests {

inline const std::vector<Bits> kRotatedBits = {
    {"published rows", 3960, 0x7c2bb9e67a735685, {0x3ddc0000, 0x3f3f0000, 0x3e1a0000, 0xbef90000}},
    {"published columns", 3960, 0x1db1ffb1ae7e5685, {0x3f2b0000, 0x3e4c0000, 0x3e6e0000, 0x3e870000}},
    {"rows -130", 3960, 0x22d671e6fb825685, {0x806f0000, 0x006f0000, 0x00fb0000, 0x80c70000}},
    {"rows -130 codes", 3960, 0x0f7138d957485685, {0xc0840000, 0x40840000, 0x41040000, 0xc0b00000}},
    {"columns -130", 3960, 0x4e50a92d65435685, {0x81430000, 0x01ad0000, 0x81f20000, 0x81900000}},
    {"columns -130 codes", 3960, 0x1acf5094115c5685, {0xc1500000, 0x41c00000, 0xc2100000, 0xc1900000}},
    {"rows 0", 3960, 0x90b75e4ba39d5685, {0xc21c0000, 0x42950000, 0x42840000, 0xc28e0000}},
    {"rows 0 codes", 3960, 0xb2b0c9c6352c5685, {0xc3580000, 0x43d80000, 0x43900000, 0xc3d80000}},
    {"columns 0", 3960, 0x7da5541aa1035685, {0x42b60000, 0x431a0000, 0x402e0000, 0x41040000}},
    {"columns 0 codes", 3960, 0x4b68306ca6805685, {0x43500000, 0x43d80000, 0x00000000, 0x41900000}},
    {"rows 100", 3960, 0x6fab36af06925685, {0xf27e0000, 0xf4420000, 0x73f00000, 0xf1830000}},
    {"rows 100 codes", 3960, 0x94f678c166ac5685, {0xc1b00000, 0xc3840000, 0x43300000, 0x80000000}},
    {"columns 100", 3960, 0xb54c21a8d7bd5685, {0x72940000, 0xf50a0000, 0x74e70000, 0x74750000}},
    {"columns 100 codes", 3960, 0x869f3c5e102c5685, {0x41700000, 0xc3c00000, 0x43b40000, 0x43100000}},
    {"linear forward", 640, 0x23544f508990ba35, {0xc9e2fd03, 0x4693bb60, 0xc5c4fac8, 0xc7076c0f}},
    {"linear x", 960, 0x12a24d1c3e51868f, {0x373df638, 0xb6e56c25, 0xb5090aab, 0x368cb662}},
    {"linear weight", 384, 0x49a6e359ab984055, {0x3a0294f0, 0x39639e49, 0xba006a0f, 0xbad201ac}},
    {"linear bias", 16, 0xaafd303ad20d0431, {0x35c9dcd9, 0xb624397b, 0xb3e4409f, 0x361d4567}},
};

}  // namespace halftone::reference::tests
