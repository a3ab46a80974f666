// SPDX-License-Identifier: Apache-2.0
// Written by record_segments.py.
#pragma once

#include <vector>

#include "recorded.hpp"

namespace halftone::reference::tests {

inline const std::vector<Bits> kSegmentsBits = {
    {"sums result", 30, 0x6af074c6ce8b8512, {0xbfa645a2, 0xbe849ba6, 0x3f47ef9e, 0x3f3ced92}},
    {"sums x", 54, 0x4e6d17840e490cce, {0x3e19999a, 0xbedeb852, 0x3f7ba5e3, 0x3e19999a}},
    {"means result", 30, 0xfb6e6dbf0acb6f31, {0xbf2645a2, 0xbe049ba6, 0x3ec7ef9e, 0x3e7be76d}},
    {"means x", 54, 0xa67511f2d1369a69, {0x3d99999a, 0xbe5eb852, 0x3efba5e3, 0x3d99999a}},
    {"broadcast result", 54, 0x06a4a431ed5fc571, {0xbedb22d1, 0x3dbc6a7f, 0x3f1cac08, 0xbedb22d1}},
    {"broadcast x", 30, 0x7c81ca768af370c4, {0x3f0c49ba, 0xbf1f3b64, 0x3e581060, 0x3f2dd2f1}},
    {"maxima result", 30, 0xfba011421e44f0e0, {0xbedb22d1, 0x3dbc6a7f, 0x3f1cac08, 0x3f30624e}},
    {"maxima x", 54, 0x73586190b182bf1f, {0x3e19999a, 0xbedeb852, 0x3f7ba5e3, 0x00000000}},
};

}  // namespace halftone::reference::tests
