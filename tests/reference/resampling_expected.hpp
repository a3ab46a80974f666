// SPDX-License-Identifier: Apache-2.0
// Written by record_resampling.py.
#pragma once

#include <vector>

#include "recorded.hpp"

namespace halftone::reference::tests {

inline const std::vector<Bits> kResamplingBits = {
    {"max of a plane result", 72, 0x50bfc4c4280c5f3e, {0x3f6b851f, 0x3f7f3b64, 0x3f1cac08, 0x3f30624e}},
    {"max of a plane x", 252, 0x381a17484666c073, {0x00000000, 0x00000000, 0x3f7ba5e3, 0x00000000}},
    {"max of equal elements result", 168, 0x860e249f62d36645, {0x3f400000, 0x00000000, 0x3f000000, 0x3f000000}},
    {"max of equal elements x", 252, 0xa22bd503060ac31c, {0x00000000, 0xbedeb852, 0x3f747ae1, 0x00000000}},
    {"max of a line, far apart result", 108, 0xda3cc62e7f98b69d, {0xbdf5c28f, 0x3ecccccd, 0x3f6b851f, 0xbf1020c5}},
    {"max of a line, far apart x", 132, 0x716fb37da022c3f9, {0x00000000, 0x00000000, 0x00000000, 0x00000000}},
    {"max of a film, padded on one side result", 120, 0xa2de09d1f7059098, {0x3f57ced9, 0x3ea56042, 0x3f57ced9, 0x3ecccccd}},
    {"max of a film, padded on one side x", 240, 0xa5cba7fdb607e43f, {0x00000000, 0x00000000, 0x00000000, 0x00000000}},
    {"mean of a plane result", 54, 0xfdd7d2ba507fbf27, {0x3cc8b438, 0x3d333330, 0x3d810626, 0x3e0f5c28}},
    {"mean of a plane x", 216, 0xc6011571d5f43da1, {0x3d19999a, 0xbddeb852, 0x3e7ba5e3, 0x3d19999a}},
    {"mean of a plane with its padding result", 120, 0xc7b212593429a50d, {0xbde7e10e, 0xbdd65b7b, 0x3e017aa7, 0x3c85cd7c}},
    {"mean of a plane with its padding x", 210, 0x577050955f807fbb, {0x3d7966a0, 0xbd8d8a20, 0x3cc00e8c, 0x3e07d9c6}},
    {"mean of a plane without its padding result", 120, 0xe5222f10c0ced748, {0xbe826e98, 0xbe7126ea, 0x3e91a9fc, 0x3cc8b43b}},
    {"mean of a plane without its padding x", 210, 0xd49a6cba5d086df1, {0x3dd4a692, 0xbe0f4651, 0x3defc962, 0x3e589374}},
    {"mean of a line, far apart result", 60, 0x95976e02fda8bc7c, {0xbeb3b646, 0x3e2d0e56, 0x3f30624e, 0xbf4b4396}},
    {"mean of a line, far apart x", 108, 0xb9c72e9fa1075f25, {0x00000000, 0x00000000, 0x00000000, 0x00000000}},
    {"mean of a film result", 96, 0x6e55836b7c5572a2, {0x3e195811, 0xbea9db22, 0x3e40c49b, 0xbe9624de}},
    {"mean of a film x", 192, 0x2a43d3793701b021, {0x3bcf87dc, 0xbe731d5b, 0x3eb83127, 0xbe02d0e6}},
    {"largest of shares of a plane result", 90, 0xcfe0bbf0db366ed1, {0x3ef43958, 0x3f7f3b64, 0x3f1cac08, 0x3f30624e}},
    {"largest of shares of a plane x", 210, 0x23247cae20dce72a, {0x00000000, 0x00000000, 0x3f7ba5e3, 0x00000000}},
    {"largest of shares of a film result", 72, 0x869adab6d6c1c76b, {0x3f6b851f, 0x3ecccccd, 0x3f6b851f, 0x3ef43958}},
    {"largest of shares of a film x", 96, 0x85985cebc6373c48, {0x00000000, 0x00000000, 0x00000000, 0x00000000}},
    {"mean of shares of a plane result", 72, 0xe7f427cd9765d3a0, {0xbe49ba5f, 0x3ea56042, 0xbe224dd3, 0xbe467c3f}},
    {"mean of shares of a plane x", 210, 0x94c9709ec3c32803, {0x3d19999a, 0xbddeb852, 0x3e7ba5e3, 0x3dd4a692}},
    {"mean of more shares than places result", 96, 0x3771efb280b04814, {0xbedb22d1, 0x3dbc6a7f, 0x3f1cac08, 0xbf5ef9db}},
    {"mean of more shares than places x", 36, 0x6900c54e0afb66a8, {0xbe991687, 0xbf428f5c, 0x3fe449ba, 0x3ea45a1c}},
    {"mean of whole shares result", 18, 0xc0cdfab21db970b3, {0x3cc8b43c, 0x3d333332, 0x3d810625, 0xbc6978d0}},
    {"mean of whole shares x", 144, 0xe32576fe2d79770d, {0x3c99999a, 0xbd5eb852, 0x3dfba5e3, 0x3c99999a}},
    {"mean of shares of a film result", 72, 0xc86fa38da7125148, {0x3e7be76d, 0xbe7126ea, 0x3e91a9fc, 0xbe49ba60}},
    {"mean of shares of a film x", 96, 0x69c3e8dea8a3be38, {0x3df22d0f, 0xbdcf1aa0, 0x3e98d4ff, 0x3de18937}},
    {"nearest of a plane result", 432, 0xb4f0dfd986f0bbc5, {0xbedb22d1, 0x3dbc6a7f, 0x3f1cac08, 0xbedb22d1}},
    {"nearest of a plane x", 72, 0xf56ea3e30873632e, {0xbf33b646, 0xbe52f1a8, 0x3e947ae1, 0xbe79db20}},
    {"nearest of a line result", 480, 0x01a285d8eebf1125, {0xbedb22d1, 0x3dbc6a7f, 0x3f1cac08, 0xbf5ef9db}},
    {"nearest of a line x", 60, 0x8b3460c2c5fcbfeb, {0xbe65603d, 0xbf65e355, 0x401bc6a8, 0xbe78d4fc}},
    {"nearest of a film result", 288, 0xa473a2282d7d3409, {0xbedb22d1, 0x3dbc6a7f, 0xbedb22d1, 0x3dbc6a7f}},
    {"nearest of a film x", 48, 0x72d3a41cf3f65bd5, {0x3f4e147b, 0xbf33b646, 0xbe666666, 0x3e8ac085}},
    {"linear of a line result", 120, 0x1a2e3147b51b76bb, {0xbedb22d1, 0x3dbc6a7f, 0x3f1cac08, 0xbf5ef9db}},
    {"linear of a line x", 60, 0xf746aab9c2a40da9, {0xbdf851eb, 0xbf4a5e36, 0x3fc5ba5e, 0x3ebfdf3b}},
    {"linear of a line of one result", 36, 0x2ab7f116a6dc5f1e, {0xbedb22d1, 0x3dbc6a7f, 0x3f1cac08, 0xbf5ef9db}},
    {"linear of a line of one x", 12, 0x8c8131bf97e93b15, {0xbf0f9db2, 0xbea04189, 0x3ff81062, 0x3e3b645a}},
    {"linear of a plane result", 432, 0x920c9838d4e0f8c5, {0xbedb22d1, 0x3dbc6a7f, 0x3f1cac08, 0xbedb22d1}},
    {"linear of a plane x", 72, 0x45f370e9e257cab4, {0x3e45b7a8, 0xbe9ff514, 0x3e3bfd44, 0xbf040831}},
    {"linear of a film result", 960, 0xbca5c4504a9095c8, {0xbedb22d2, 0x3dbc6a7f, 0xbedb22d1, 0x3dbc6a7f}},
    {"linear of a film x", 48, 0x3cb9d8bb7693e27d, {0x3f3e3540, 0xbfd24f75, 0x3f43a5e3, 0xbf7887fb}},
};

}  // namespace halftone::reference::tests
