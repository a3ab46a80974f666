// SPDX-License-Identifier: Apache-2.0
// Written by record_layers.py.
#pragma once

#include <vector>

#include "recorded.hpp"

namespace halftone::reference::tests {

inline const std::vector<Bits> kLayerBits = {
    {"rms_norm 300x40 result", 12000, 0x2bedd01907579d45, {0xbde00d74, 0xbdf0cddd, 0x3ee15ddf, 0x3f3598ca}},
    {"rms_norm 300x40 x", 12000, 0x8efe2280a79c7a96, {0x3cb9f1b8, 0x3f0f2f15, 0x3f3ab821, 0xbeb64257}},
    {"rms_norm 300x40 weight", 40, 0x73635ade517c4be8, {0x3e9a245a, 0x409a8c94, 0xbfd5e3dd, 0xbfc3d978}},
    {"rms_norm 2x2100 result", 4200, 0x56da6e9e3259f0fa, {0xbddbd9dd, 0xbdec49da, 0x3edd23f8, 0x3f323103}},
    {"rms_norm 2x2100 x", 4200, 0xf483aee43a1b8ab1, {0x3d1230aa, 0x3f0bc2ae, 0x3f324e53, 0xbea4dc35}},
    {"rms_norm 2x2100 weight", 2100, 0x4418298567020b0e, {0xbd62c9ce, 0x3f25d081, 0x3fcad94a, 0xbebd299c}},
    {"batch_norm 300x7 result", 2100, 0xf8511c2bd395b6c5, {0x3f1c8813, 0x3eaef61a, 0x3f23d6ad, 0x3f24eaa0}},
    {"batch_norm 300x7 x", 2100, 0xcb8bd7af9cb70ded, {0x3d0a4073, 0x3f0b9bab, 0x3f2fa0b1, 0xbeaefc5c}},
    {"batch_norm 300x7 weight", 7, 0x69b583a843531342, {0xbfe05cfe, 0x3e7365c0, 0xc01fdcfb, 0x40df29f8}},
    {"batch_norm 300x7 bias", 7, 0x36396ffedd5c229c, {0x40510626, 0x3cc49aa0, 0x40d98107, 0x3fc6a7f3}},
    {"batch_norm 300x7 moved mean", 7, 0xdb61e46f5eb34e7b, {0xbeff8d0d, 0xbe801494, 0xba9c1b53, 0x3e7fc5ce}},
    {"batch_norm 300x7 moved variance", 7, 0xa6ca65cd086e8e14, {0x3f86de93, 0x3fddaa56, 0x3f80ec33, 0x3fd7d5c2}},
    {"batch_norm 300x7 predicted", 2100, 0x0431f58bc1f36c64, {0x3f40d82b, 0x3e7e2c92, 0x3ed8bf54, 0x3ea5b6fd}},
    {"batch_norm 1x3 result", 3, 0xeeb1b975d48c28ad, {0x3f37ced9, 0x3eec0831, 0x3e50e560}},
    {"batch_norm 1x3 x", 3, 0xd94ba083ec0f2fb7, {0x00000000, 0x80000000, 0x00000000}},
    {"batch_norm 1x3 weight", 3, 0xd94d12186c0f2fb7, {0x00000000, 0x00000000, 0x00000000}},
    {"batch_norm 1x3 bias", 3, 0x42234e82f83d3eca, {0x3e19999a, 0xbedeb852, 0x3f7ba5e3}},
    {"batch_norm 1x3 moved mean", 3, 0xffc927bc88e2d6df, {0xbf3645a2, 0xbeb645a2, 0x00000000}},
    {"batch_norm 1x3 moved variance", 3, 0x632666d79b68d4e3, {0x3fae3540, 0x40151eb8, 0x3fa5e354}},
    {"batch_norm 1x3 predicted", 3, 0xccebcf60974b7fd4, {0x3f40d82b, 0x3e7e2c92, 0x3ed8bf54}},
    {"embedding result", 1505, 0xbce677a9974621cb, {0x00000000, 0x00000000, 0x00000000, 0x00000000}},
    {"embedding weight", 35, 0x7ef4fac0e33243b1, {0x3e91eb82, 0x3ed9999c, 0x3f10a3d6, 0xbfa624dd}},
    {"embedding with padding result", 1505, 0xbce677a9974621cb, {0x00000000, 0x00000000, 0x00000000, 0x00000000}},
    {"embedding with padding weight", 35, 0x3b63f437aa26436f, {0x3e91eb82, 0x3ed9999c, 0x3f10a3d6, 0xbfa624dd}},
    {"dropout result", 1001, 0x083608f3807919f1, {0xbf4736ed, 0x00000000, 0x3f8e6dd9, 0xbfcab499}},
    {"dropout x", 1001, 0xaa1f1d1e4af55c21, {0x3e8ba2e9, 0x00000000, 0x3fe4c55a, 0x3f39403c}},
    {"transpose of heads result", 210, 0x4a77f21352ddf373, {0xbedb22d1, 0x3dbc6a7f, 0x3f1cac08, 0xbf5ef9db}},
    {"transpose of heads x", 210, 0x09040ea0191e8acc, {0x3e19999a, 0xbedeb852, 0x3f7ba5e3, 0x3ecbc6a8}},
    {"transpose of all result", 210, 0x489298a2b96fad1d, {0xbedb22d1, 0x3f57ced9, 0x3de353f8, 0xbf1ef9db}},
    {"transpose of all x", 210, 0x59ea303a70b332dc, {0x3e19999a, 0x3f208312, 0xbf6624dd, 0xbed81062}},
    {"matmul result", 90, 0xd823ec030b28e4e8, {0xbf72aa7d, 0xbcfdd42f, 0xbf0cda5c, 0x3fb81b1a}},
    {"matmul a", 555, 0x6af5632e852d80fe, {0x3f151c5c, 0xbf676177, 0xbeb1b2a4, 0x3f80e1de}},
    {"matmul b", 666, 0x9da1809c7a8aeaa4, {0x3f4aca37, 0x3f4bf855, 0xbf4d106f, 0x3f4933e4}},
    {"matmul by b transposed result", 90, 0xcaf0e6d9e2ea2b44, {0x3f8be3f3, 0x3fe79e92, 0x3f481377, 0x3fd38234}},
    {"matmul by b transposed a", 555, 0xf290997ca168c7d7, {0x3e931291, 0x3f81b4b3, 0x3ea58537, 0xbfdbbf9c}},
    {"matmul by b transposed b", 666, 0xe2de88b00eb1bf1c, {0x3f4aca37, 0xbf2842d9, 0x3f2641b3, 0x3e46277d}},
    {"matmul of a transposed result", 90, 0xc51430413ff094cf, {0xc0883e88, 0x4088c61e, 0xc03ed345, 0x40134898}},
    {"matmul of a transposed a", 555, 0xd357605bb2a94e5e, {0x3f151c5c, 0xbea1565c, 0x3e753c12, 0x3e88db29}},
    {"matmul of a transposed b", 666, 0x10f4af09bb75296e, {0xbe85000d, 0x3fc27e52, 0xbf9db425, 0xbefd1e97}},
    {"matmul of a transposed by b transposed result", 90, 0xb2ca4adb05721650, {0xc004ac42, 0x3ee7023b, 0x3fd8c3b0, 0x3f7a10f3}},
    {"matmul of a transposed by b transposed a", 555, 0x5ac6c2c2da7db953, {0x3e931291, 0xbd72dc28, 0xbed2dd38, 0xbe483cb0}},
    {"matmul of a transposed by b transposed b", 666, 0x439dd787afa36d4e, {0xbe85000d, 0x3fa4a5f0, 0xbe3e9817, 0xbf6d6edf}},
    {"causal_conv1d result", 1050, 0x92d9772b63f3f1f0, {0x3f6a6dad, 0x3eef0bf2, 0x3f10a915, 0x3f383633}},
    {"causal_conv1d x", 1050, 0xff7bf51eb51cced6, {0xbf327ac8, 0x3f95d652, 0x3db42edb, 0x3e6eccc1}},
    {"causal_conv1d weight", 20, 0xdccaf17bebe5fe38, {0xc0acdb2a, 0xc0426d23, 0x40bd31a2, 0xc0026567}},
    {"causal_conv1d bias", 5, 0x4f8f0167ce7850cb, {0xbfc47ae1, 0x4073a5e6, 0xbf5db21b, 0xbfc4395c}},
    {"causal_conv1d without bias result", 24, 0xd23d06afe0c7f91a, {0xbe930a4e, 0x3cf672b8, 0xbc2a758a, 0x3ea0fd1a}},
    {"causal_conv1d without bias x", 24, 0x87ab1a23767d0f3c, {0xbcdb1e94, 0x3f098623, 0x3ee546f6, 0x3d7419e2}},
    {"causal_conv1d without bias weight", 20, 0x24e8817382238591, {0x00000000, 0x00000000, 0x3e073eee, 0x3d4995ad}},
    {"convolution of a plane result", 144, 0x2e2c94cfb758d09f, {0x3f2ccbe3, 0xbc58f920, 0xbe55be5e, 0xbfa13e56}},
    {"convolution of a plane x", 240, 0x6b2aeffb10ca4004, {0xbe3ab14f, 0x3f96f5a9, 0xbf58aaeb, 0x3ee0b84a}},
    {"convolution of a plane weight", 72, 0x176b8f5402a73e7c, {0xbf159127, 0x3dc4fb8e, 0x3fb43e75, 0x3e574322}},
    {"convolution of a plane bias", 6, 0x2d9624000d2394e5, {0xc06e147a, 0x3e88b43a, 0x408820c5, 0x400ed917}},
    {"convolution of a line result", 135, 0xb8198fb21a757a8e, {0xbef13b17, 0xbf89ac0c, 0x3ece696a, 0x3f27f120}},
    {"convolution of a line x", 108, 0x8d6f8a6e1dfa13d3, {0x3ffbd523, 0xc006e197, 0x3e313128, 0xbfb7d65a}},
    {"convolution of a line weight", 60, 0xbb9e0d405a1321b3, {0xbfdefca5, 0xbb0e9b1a, 0x3d85963e, 0x3e6e5e67}},
    {"convolution of each channel result", 144, 0xd32f5bbf0d75f880, {0x3e69c23c, 0xbef55c55, 0x3e5a0e3e, 0xbf06fbd3}},
    {"convolution of each channel x", 360, 0xbd0c1d7480e34e45, {0x00000000, 0x00000000, 0x00000000, 0x3ef382a1}},
    {"convolution of each channel weight", 72, 0xb4ec86d1f818b4ab, {0x3f742397, 0xbf3beae5, 0xbf357ebb, 0xbfe77e8f}},
    {"convolution of each channel bias", 6, 0x2d9624000d2394e5, {0xc06e147a, 0x3e88b43a, 0x408820c5, 0x400ed917}},
};

}  // namespace halftone::reference::tests
