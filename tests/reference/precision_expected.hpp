// SPDX-License-Identifier: Apache-2.0
// Written by record_precision.py.
#pragma once

#include <vector>

#include "recorded.hpp"

namespace halftone::reference::tests {

inline const std::vector<Bits> kPrecisionBits = {
    {"f16 act", 35, 0x1d84e6fb6886ab37, {0x3f78c000, 0x00000000, 0x3f792000, 0x3f1f2000}},
    {"f16 loss", 1, 0x0c1a44aa988bdf44, {0x3f5cfa89}},
    {"f16 gradient act", 35, 0x03179a585e01eb37, {0x41ec8000, 0x40c80000, 0x4188a000, 0x40952000}},
    {"f16 gradient fc.weight", 30, 0xc074ab4b710ba90a, {0x42216b4f, 0xc24112ee, 0x4112de46, 0xc074d52c}},
    {"f16 gradient fc.bias", 5, 0x787bb5055d2d554f, {0x42bdd900, 0x42407000, 0x42802900, 0x42177400}},
    {"f16 norm", 1, 0xf1be9ea8b8c22432, {0x3e465d23}},
    {"f16 fc.weight", 30, 0xf40bcd207045fe6c, {0x3dd0c4fa, 0xbf10344a, 0x3ea144d4, 0xbeb900dd}},
    {"f16 fc.bias", 5, 0xe3d96b2fa05014e8, {0x3f0ae04c, 0x3eaf9402, 0x3e152bad, 0xbd5b6fad}},
    {"bf16 act", 35, 0x40fb6a90a394cb37, {0x3f790000, 0x00000000, 0x3f790000, 0x3f200000}},
    {"bf16 loss", 1, 0x0c1cf4aa98907054, {0x3f5cff79}},
    {"bf16 gradient act", 35, 0x267db66a9ddacb37, {0x3ced0000, 0x3bc80000, 0x3c890000, 0x3b970000}},
    {"bf16 gradient fc.weight", 30, 0x1a68c2aff5a5cb09, {0x3d215db8, 0xbd414058, 0x3c15a1a8, 0xbb760c00}},
    {"bf16 gradient fc.bias", 5, 0x626d6e4628a48d4f, {0x3dbe4c00, 0x3d3fe000, 0x3d7fc000, 0x3d17e000}},
    {"bf16 norm", 1, 0xf18ac8a8b86a0f90, {0x3e466915}},
    {"bf16 fc.weight", 30, 0x927f2f4d91bb9ab3, {0x3dd0af89, 0xbf10336e, 0x3ea13e61, 0xbeb8ff45}},
    {"bf16 fc.bias", 5, 0x545e5ea25d8686d6, {0x3f0adb1b, 0x3eaf9696, 0x3e153487, 0xbd5b8e47}},
    {"f32 act", 35, 0xfc7ed8cb5a58fc86, {0x3f78e12e, 0x00000000, 0x3f790204, 0x3f1f14cb}},
    {"f32 loss", 1, 0x0c6448aa9909a410, {0x3f5d0095}},
    {"f32 gradient act", 35, 0x7de725931e3f328c, {0x3cec8479, 0x3bc7fa7b, 0x3c88993f, 0x3b95175b}},
    {"f32 gradient fc.weight", 30, 0xe26f6a2078f653ee, {0x3d21786c, 0xbd41115e, 0x3c12b6ec, 0xbb74e4cb}},
    {"f32 gradient fc.bias", 5, 0x9bf184baadd903f6, {0x3dbdea7c, 0x3d407850, 0x3d801e0c, 0x3d177a3c}},
    {"f32 norm", 1, 0xf1bd02a8b8bf681e, {0x3e465f4f}},
    {"f32 fc.weight", 30, 0x3ae9d1322f4f067c, {0x3dd0c395, 0xbf103453, 0x3ea14501, 0xbeb900cc}},
    {"f32 fc.bias", 5, 0xaffd531fb6d46918, {0x3f0adfe7, 0x3eaf93e7, 0x3e152c7f, 0xbd5b7044}},
    {"mixed sum", 42, 0x329cae2189a589b1, {0xbedb22d1, 0x3e1ddd40, 0x3f1cac08, 0x3e661894}},
    {"mixed norm", 42, 0xb033b75c080eda6a, {0x3f3410b0, 0xbda0d68d, 0xbf2dc102, 0xbf3e73a2}},
    {"mixed joined", 84, 0xbab146bf0d6e3e35, {0x3f340000, 0xbda0c000, 0xbf2dc000, 0xbf3e6000}},
    {"mixed head", 35, 0x0aec9e458df5cb37, {0x3fbc0000, 0xbfd10000, 0xbf860000, 0xbf140000}},
    {"mixed loss", 1, 0x2489c8aac2115c90, {0x3fb56a15}},
    {"mixed gradient head", 35, 0xd7bb7a0fd5ddcb37, {0x40ba0000, 0xc07f0000, 0xc0cc0000, 0xbf020000}},
    {"mixed gradient joined", 84, 0x5ba5b607b7dd3e35, {0xbfca8000, 0xc0656000, 0xc0b28000, 0xc0f30000}},
    {"mixed gradient norm", 42, 0x5002dcdede8ef60d, {0xbfca0000, 0xc0650000, 0xc0b20000, 0xc0f30000}},
    {"mixed gradient sum", 42, 0x691140ddb39bf4dc, {0x40c2bdb2, 0xc0cb7a09, 0x4093aecc, 0xc1791510}},
    {"mixed gradient act", 42, 0x09dda7b60590f60d, {0x40880000, 0xc1220000, 0x41380000, 0xc02c0000}},
    {"mixed gradient fc", 42, 0x99292043edebf60d, {0x00000000, 0xc1220000, 0x00000000, 0xc02c0000}},
    {"mixed gradient fc.weight", 36, 0x9dde77837dd54e75, {0x00000000, 0x00000000, 0x00000000, 0x00000000}},
    {"mixed gradient fc.bias", 6, 0x17045ff4cb3f713d, {0x00000000, 0xc16d0000, 0x421b0000, 0x41600000}},
    {"mixed gradient norm.weight", 6, 0xb297ffaebb92cf98, {0xc168268a, 0x41e4c844, 0xc204304b, 0x40f73077}},
    {"mixed gradient norm.bias", 6, 0x727cc8a6e9d9993d, {0xc1510800, 0xc1a9b800, 0xc1eac000, 0xc2164000}},
    {"mixed gradient head.weight", 60, 0x193f587d61afac55, {0x418f0000, 0xc1b70000, 0xc1a70000, 0xc20e0000}},
    {"mixed norm of all", 1, 0xa8aba0a9ef96de98, {0x3f39482d}},
    {"f16_overflow large", 60, 0x1e9df51674a1cc55, {0xff800000, 0xff800000, 0xff800000, 0x7f800000}},
    {"f16_overflow clamped", 60, 0x728f2f9c1aa1cc55, {0xc1000000, 0xc1000000, 0xc1000000, 0x41000000}},
    {"f16_overflow gradient large", 60, 0x4d0354ee005cac55, {0x00000000, 0x00000000, 0x00000000, 0x00000000}},
    {"f16_overflow gradient fc.weight", 144, 0x928ea189d6fef7ae, {0xbd98872b, 0x3d2dd2f1, 0x3e1326ea, 0x3cd41894}},
    {"bf16_round_trip rest", 60, 0x80489e4e1111ce55, {0x3ec50400, 0xbf030000, 0xbe981c00, 0x3ecd2800}},
    {"bf16_round_trip gradient fc.weight", 144, 0x6bda9bf395a7abd6, {0xbbd2a923, 0x3b88c29f, 0xb97d4996, 0xbb26d164}},
    {"bf16_matmul_then_add sum", 100, 0xe114c13cc95d0772, {0xc037645a, 0xbffe3958, 0x3f9a5604, 0x3f170625}},
    {"bf16_matmul_then_add gradient fc.weight", 400, 0xc8f619566c59f37f, {0x3db617f0, 0x3cc3d280, 0xbd89a650, 0x3cf3d6a0}},
    {"rotary_bf16 rotated", 80, 0x9de88f0de7718965, {0xbf3c0000, 0x3f860000, 0xbe0f0000, 0xbe8e0000}},
    {"rotary_bf16 gradient even.weight", 80, 0x46c253d8ac2c09e7, {0xbd2baae0, 0xba08d800, 0x3c824880, 0x3cdbc7a0}},
    {"rotary_bf16 gradient odd.weight", 80, 0xc91273205218a3ff, {0x3cc99c10, 0x3cd6bef0, 0x3c9b4ee0, 0xbd2783d8}},
};

}  // namespace halftone::reference::tests
