// SPDX-License-Identifier: Apache-2.0
// Written by record_padding.py.
#pragma once

#include <vector>

#include "recorded.hpp"

namespace halftone::reference::tests {

inline const std::vector<Bits> kPaddingBits = {
    {"zeros around a plane result", 294, 0x912cbd8f25507aca, {0x00000000, 0x00000000, 0x00000000, 0x00000000}},
    {"zeros around a plane x", 120, 0xda12d0da7f8ce14a, {0x3ec20c4a, 0xbe52f1aa, 0xbf4a7efa, 0x3f208312}},
    {"a value around a film result", 288, 0x4e640a4fa36da4c0, {0x3f400000, 0x3f400000, 0x3f400000, 0x3f400000}},
    {"a value around a film x", 72, 0x17f3eb7c74f1982f, {0x3f49374c, 0x3e4dd2f2, 0xbec49ba6, 0xbf781062}},
    {"a crop of a plane result", 72, 0xaf7f0f0bd07ca695, {0x3d0b4396, 0x3f0dd2f2, 0xbf6dd2f2, 0xbed16873}},
    {"a crop of a plane x", 180, 0xb8d812ece34de440, {0x00000000, 0x00000000, 0x00000000, 0x00000000}},
    {"a shift of a line result", 84, 0x6acf137c85ee8618, {0xbfc00000, 0xbfc00000, 0xbfc00000, 0xbfc00000}},
    {"a shift of a line x", 84, 0x47ea9c62e219b06f, {0xbf0624dd, 0x3f64dd2f, 0x3e9e353f, 0xbe8d4fdf}},
    {"a line reflected result", 180, 0x3f2ce12826ac7930, {0x3d0b4396, 0x3f0dd2f2, 0xbf6dd2f2, 0xbed16873}},
    {"a line reflected x", 84, 0x5004630fe6753e55, {0x3e0624dd, 0xbee872b0, 0x3f76c8b4, 0x3ec20c4a}},
    {"a plane reflected result", 540, 0x1cb9c5ad75d0c064, {0x3efdf3b6, 0xbf7cac08, 0xbeef1aa0, 0x3f70624e}},
    {"a plane reflected x", 120, 0x591a8bd9be9d8446, {0xbebbe76c, 0xbfc4bc6a, 0x3fa645a2, 0xbf49fbe8}},
    {"a film reflected result", 432, 0x099102743dc6fa36, {0x3f7f3b64, 0xbef8d4fe, 0xbd3020c5, 0x3ef43958}},
    {"a film reflected x", 72, 0xedc71672b97dbf2c, {0xbf10624e, 0xbfddf3b6, 0x40539581, 0xbe50e560}},
    {"a plane reflected and cut result", 252, 0xc61b874d0c407939, {0x3d591687, 0x3f12b021, 0xbf68f5c3, 0xbec7ae14}},
    {"a plane reflected and cut x", 120, 0x92e3604527d68785, {0x3f5645a2, 0x3e810625, 0xbeaa7efa, 0x3f16c8b4}},
    {"a line replicated result", 120, 0x808160be6ca8e407, {0xbedb22d1, 0x3dbc6a7f, 0x3f1cac08, 0xbf5ef9db}},
    {"a line replicated x", 36, 0x535197637b4ad538, {0xbe189370, 0x3eb1a9fa, 0x3f57ced8, 0xbf29fbe7}},
    {"a plane replicated result", 324, 0x61fc5385e3817aea, {0xbedb22d1, 0x3dbc6a7f, 0x3f1cac08, 0xbedb22d1}},
    {"a plane replicated x", 120, 0xb93de483d38f5487, {0x3f0c49ba, 0xbf1f3b64, 0x3e581060, 0x3f256042}},
    {"a film replicated result", 432, 0x69513fba4ce9ec69, {0xbedb22d1, 0x3dbc6a7f, 0xbedb22d1, 0x3dbc6a7f}},
    {"a film replicated x", 72, 0xc493aea0d048dd34, {0x3fc6c8b3, 0xbfbb020c, 0x3f0147ae, 0xbfeae148}},
    {"a plane replicated and cut result", 252, 0x48b7fbaa37e8d5eb, {0x3f30624e, 0xbf4b4396, 0xbe8c49ba, 0x3e7be76d}},
    {"a plane replicated and cut x", 120, 0xdf9ce9093502bff8, {0x00000000, 0x00000000, 0x00000000, 0x00000000}},
    {"a line in a circle result", 156, 0x3fcd7fd8638aeb32, {0xbedb22d1, 0x3dbc6a7f, 0x3f1cac08, 0xbf5ef9db}},
    {"a line in a circle x", 60, 0x3e56cdb30ab849a1, {0x3fb3b646, 0xbeb3b645, 0xbdd2f1b0, 0x3e147ae8}},
    {"a plane in a circle result", 462, 0x9de01d5d7adac0df, {0xbed16873, 0x3de353f8, 0x3f218937, 0xbf23d70a}},
    {"a plane in a circle x", 120, 0xc99a0f68a59827ea, {0x3ec10624, 0xbf4b020c, 0x3d23d700, 0x3f5f7cee}},
    {"a film in a circle result", 672, 0x9be2b7d650cb92f5, {0xbf6dd2f2, 0xbed16873, 0x3de353f8, 0x3f218937}},
    {"a film in a circle x", 72, 0x25bf088793b0bd3f, {0xbeb22d10, 0xc0a0e560, 0x401645a1, 0xc0153f7d}},
    {"a plane in a circle and cut result", 252, 0x980d1370ccd02b4f, {0x3ef43958, 0x3f7f3b64, 0xbef8d4fe, 0x3d0b4396}},
    {"a plane in a circle and cut x", 120, 0xcfbd56ec8f35fcc0, {0x3dbe76c9, 0xbefbe76d, 0x3f6d0e56, 0x3eae978d}},
    {"blocks of a plane result", 288, 0xf9bef549f32bc8cd, {0xbedb22d1, 0xbeb3b646, 0xbe8c49ba, 0x3dbc6a7f}},
    {"blocks of a plane x", 288, 0x32badfb0e7ecdaf1, {0x3e19999a, 0x3ecbc6a8, 0x3e0624dd, 0x3ec20c4a}},
    {"oblong blocks of a plane result", 288, 0xcc06cbda1f23aa4f, {0xbedb22d1, 0x3f30624e, 0x3dbc6a7f, 0xbf4b4396}},
    {"oblong blocks of a plane x", 288, 0x77acca0ac51005db, {0x3e19999a, 0x3f7ba5e3, 0xbe3f7cee, 0x3e0624dd}},
    {"blocks of a line result", 120, 0xe90d92b83c5e1888, {0xbedb22d1, 0xbeb3b646, 0x3dbc6a7f, 0x3e2d0e56}},
    {"blocks of a line x", 120, 0xd5cf7ebff06a7f7c, {0x3e19999a, 0x3f7ba5e3, 0xbe3f7cee, 0x3f256042}},
    {"blocks of a film result", 576, 0x6064ebeb787fd664, {0xbedb22d1, 0x3f30624e, 0xbe49ba5e, 0x3f6b851f}},
    {"blocks of a film x", 576, 0xacf6c23018c85537, {0x3e19999a, 0xbe3f7cee, 0xbf0624dd, 0x3dbe76c9}},
    {"a plane in blocks result", 144, 0xc849e51a54f7f60c, {0xbedb22d1, 0xbf5ef9db, 0xbe49ba5e, 0xbf23d70a}},
    {"a plane in blocks x", 144, 0x1f01b5b21de39214, {0x3e19999a, 0xbe3f7cee, 0xbf0624dd, 0xbedeb852}},
    {"a line in blocks result", 90, 0x6c1d253a05c1560a, {0xbedb22d1, 0x3e2d0e56, 0x3f441893, 0x3dbc6a7f}},
    {"a line in blocks x", 90, 0x3d9691e5de9f71f9, {0x3e19999a, 0x3ecbc6a8, 0x3f256042, 0x3f64dd2f}},
    {"a film in blocks result", 96, 0x0b53dab6af7a4ae2, {0xbedb22d1, 0x3f1cac08, 0xbe8c49ba, 0x3f441893}},
    {"a film in blocks x", 96, 0x61ca55281452d7d4, {0x3e19999a, 0x3f256042, 0xbedeb852, 0x3d79db23}},
};

}  // namespace halftone::reference::tests
