// SPDX-License-Identifier: Apache-2.0
// Written by record_expected.py.
#pragma once

#include <vector>

#include "recorded.hpp"

namespace halftone::reference::tests {

// Parameters of 40 and 7 elements after 5 steps of torch's optimizers in f64.
struct TorchUpdate {
  const char* optimizer;
  std::vector<double> parameters;
};

inline const std::vector<TorchUpdate> kTorchUpdates = {
    {"sgd", {-0x1.a1606ef83b9fap-4, 0x1.9c6ba5d69d413p-5, 0x1.3def6b6a773a4p-3, -0x1.164f4465a17c2p-2, -0x1.55ca072389405p-3, 0x1.ef6f6dfd2749fp-5, 0x1.ff8ea13d6bc0dp-3, -0x1.0beecc3ec157dp-2, -0x1.c024ec5809c23p-4, 0x1.3d7b10d684e10p-3, 0x1.22d9fea9d812dp-2, -0x1.fc1bbed71185ep-3, -0x1.25473c2232b68p-3, 0x1.f08c9688d4ee3p-4, 0x1.1808b5a7dc607p-2, -0x1.e75acc1b93b30p-3, -0x1.8ea01cc30dbc0p-5, 0x1.6dfddb2f685d5p-3, 0x1.22692f0d4e269p-2, -0x1.25bb986a82564p-3, -0x1.3b9c552c5e625p-5, 0x1.82beccf5eae02p-3, 0x1.8338c8d5bbdecp-2, -0x1.10faa5c46c204p-3, 0x1.3683da2584172p-6, 0x1.aa83414d10833p-3, -0x1.2f342d1cc9d4dp-2, -0x1.269d39179a532p-3, -0x1.f088cbe694c3ap-10, 0x1.33ea0e783b63cp-3, -0x1.e8b0c902c7bafp-3, -0x1.8be9433d9b622p-4, 0x1.c759f9ce1cfc7p-5, 0x1.a9a19fd38019ap-3, -0x1.88083186ca16ep-3, -0x1.40f445d93bf62p-5, 0x1.0d2ee04c839e5p-4, 0x1.be6292a5330d2p-3, -0x1.1250a28a89688p-3, -0x1.dbe0fde552f6fp-6, 0x1.2bc14acade0e5p-3, -0x1.77683fdda9204p-1, 0x1.8fcacdc8e2484p-2, -0x1.dd9488af4c421p-2, 0x1.6590206cc572bp-1, -0x1.a149cd495450ep-3, 0x1.e2871970f9753p-1}},
    {"momentum", {0x1.308112e6dd902p-2, -0x1.302e9c840d26ap-6, -0x1.ee7b55792a67fp-2, 0x1.2198cbb6f7817p-1, 0x1.9ee4b049e3619p-4, -0x1.1dbae098fedffp-3, -0x1.48fdffbb934aap-2, 0x1.c7571245c8c8ap-2, 0x1.07a62814d5ee3p-3, 0x1.69fe6631b3f99p-6, -0x1.75384e80b301ep-2, 0x1.9e0368fe98e0ap-2, -0x1.eba81ea43d56bp-5, -0x1.555064a10f779p-3, -0x1.ee2c2df0a3210p-2, 0x1.2228e16adddfdp-2, 0x1.a0214c4db535ep-4, -0x1.1d1c91d7e9a8bp-3, -0x1.35035ab8f4b67p-1, 0x1.c7a63a1cf134dp-2, -0x1.3d23341d7c743p-6, -0x1.0a68cf106fd16p-2, -0x1.c4895d1eddd16p-2, 0x1.4bcbb260599b8p-2, 0x1.08f6b92f7c3e9p-7, -0x1.63b1b3d403349p-3, 0x1.0b2de89408df5p-1, 0x1.a5afa82545131p-3, -0x1.fcf4ab8fa670cp-4, -0x1.c2c126a7e56c0p-2, 0x1.193adc9fa6c0cp-1, 0x1.c0c17469a8014p-3, -0x1.8c8d05ce7a63ep-4, -0x1.a6a73e649fbcep-2, 0x1.1fff4fc36a0fcp-1, 0x1.f8f547c8d14c6p-3, -0x1.bdfb8f1e10409p-3, -0x1.1140e2e005124p-1, 0x1.2e0c4533c6481p-1, 0x1.01403b83644e5p-3, 0x1.55bc6be210f37p-3, -0x1.87678af41c5c1p-1, 0x1.62a9f5a24c4aap-2, -0x1.df84c35eb1f76p-2, 0x1.7b76a22d2ed79p-1, -0x1.b3a813aa9f3fcp-3, 0x1.f387d69072175p-1}},
    {"nesterov", {0x1.eb7be082ddb99p-3, 0x1.40cb4f95d4aafp-6, -0x1.484bb8c207cafp-2, 0x1.802fa53e7c877p-2, 0x1.1eb9bdefe733dp-5, -0x1.5d84c6fb4c12fp-5, -0x1.838ff0674e2eap-3, 0x1.407258535c4c2p-2, 0x1.7b046f4373611p-4, 0x1.6b4ca16962256p-4, -0x1.d6752cb2676a7p-3, 0x1.caff9fa1826aep-3, -0x1.db627b02290bdp-4, -0x1.eb1a4ba56c662p-4, -0x1.5c77cd8002a0ep-2, 0x1.4b8502386b70fp-3, 0x1.f564507f8bd25p-7, -0x1.fee56eb878fa8p-5, -0x1.9c351c26c8eefp-2, 0x1.2c4643b7a3162p-2, -0x1.809159c0c0a9bp-5, -0x1.fe67ed5cd5b4dp-4, -0x1.15b159a055a41p-2, 0x1.d911e9f1b76bap-3, 0x1.5af739deac559p-7, -0x1.167f4b7fa0d66p-3, 0x1.5cfcfa3a3866bp-2, 0x1.ed2efa3c275bep-4, -0x1.2ae5a700a0a49p-3, -0x1.77240e1a89288p-2, 0x1.97e6de71a81f7p-2, 0x1.0e50989459b38p-3, -0x1.6a23b9399ba09p-4, -0x1.3c3a29b30f34bp-2, 0x1.a3c36c3c69786p-2, 0x1.842463394f2ebp-3, -0x1.348c77e4b1341p-3, -0x1.7bf77840e9553p-2, 0x1.dead52726da71p-2, 0x1.04a9c81fa03e4p-3, 0x1.540db07cba1c9p-3, -0x1.89975aec8f733p-1, 0x1.56fa17a7c08b7p-2, -0x1.e35e248486072p-2, 0x1.85e21d956f9b2p-1, -0x1.ba9516fc7d3d6p-3, 0x1.f5b7d4262cf0ap-1}},
    {"adamw", {-0x1.15aabf4bdb210p-3, -0x1.7092abd977530p-5, -0x1.5e609f0362414p-1, -0x1.004f188a6e84ap-2, -0x1.8d3cfb5a033eep-1, -0x1.f6e5e4ddbf594p-2, 0x1.caf4d9a00a38cp-2, -0x1.5b8e80834f7e7p-1, -0x1.21f7dbebfe060p-1, 0x1.a8e95f8d729cdp-2, 0x1.c59b392cc1cf6p-1, -0x1.4793b4f2d35dep-4, -0x1.acbd59240149ap-2, 0x1.1a9023d806a7fp-1, 0x1.50d9083a4395ep-1, -0x1.d79dcf2a9fdeep-2, 0x1.e70add4ecd01ep-2, 0x1.87aec649598b2p-1, 0x1.d0a72693d30c6p-3, 0x1.60574e6bc4ccfp-1, 0x1.59fda5b3dc23cp-6, 0x1.596f43bb294eap-2, 0x1.4b8965229e4bep+0, 0x1.55f0933afc751p-3, 0x1.bfdfb2d373a56p-3, 0x1.fcf5c76d6b427p-1, -0x1.b3fe109104a57p-3, -0x1.61d5ad5242f94p-3, 0x1.29e8b8e9710dap-3, 0x1.1fdd58e5282dbp-2, -0x1.c7355bd3b24e0p-6, 0x1.e5fbbe8c3b7fep-3, 0x1.4230b31e2054fp-1, 0x1.db25ef83ae1ddp-2, 0x1.6defaf60d5713p-2, 0x1.d418324a94600p-1, -0x1.83d62d75dd0cbp-4, 0x1.bf2dfb70d82acp-5, 0x1.798b5b16b3b86p-1, 0x1.a350b6bb53880p-11, 0x1.6d00ea4a1db96p-3, -0x1.f3119e5605bc5p-1, 0x1.5bcf133994950p-9, -0x1.1376abdf50e93p-1, 0x1.0197287741595p+0, -0x1.999f4dfc40ca2p-3, 0x1.478b2c7fc3fe4p+0}},
    {"adam", {0x1.e4775ccb1cff1p-3, 0x1.808b85d35d393p-3, -0x1.b36f8d3f39d1bp-2, 0x1.7ec80ddf2c124p-2, -0x1.2d8b64594b5bep-4, 0x1.185fc9cb32bb0p-5, -0x1.13c1afc8fd00ap-2, 0x1.7e2b090cef38fp-2, 0x1.2c0ce44111df0p-6, 0x1.542a9dea3a43cp-3, -0x1.42a99ca9d7afap-2, 0x1.4019e23366f76p-2, -0x1.d38b0a7ef7e28p-3, -0x1.aaf13badf3420p-6, -0x1.7ae7af589d804p-2, 0x1.f8da27acba382p-3, -0x1.054c5fd577badp-3, -0x1.36b4da7b65230p-7, -0x1.6cb115e55196ap-2, 0x1.a1fc97be14c34p-2, -0x1.dbdd125b90274p-3, -0x1.d74caea2b0f26p-3, -0x1.f6aa4a2ba030ap-3, 0x1.3157f0eb3ed3ap-2, -0x1.5eb1289fe645bp-3, -0x1.0eef8352101fep-3, 0x1.20df5a738d71ep-2, 0x1.3c5fb64603b57p-3, -0x1.b72c5fe86a351p-5, -0x1.cc7d7aae017a8p-2, 0x1.7a6f3e21656cep-2, 0x1.0edb8f4ee5ebep-3, 0x1.f4dc069548c68p-6, -0x1.72f489f0c31acp-2, 0x1.a327798454db8p-2, 0x1.95e5ef2b5927bp-4, -0x1.48fe08ab13e94p-4, -0x1.8eb46c33e0900p-2, 0x1.035e379b53e3cp-1, 0x1.e48a5d8fbff00p-12, 0x1.6d00ea4a1db96p-3, -0x1.f3119e5605bc5p-1, 0x1.5bcf133994950p-9, -0x1.1376abdf50e93p-1, 0x1.0197287741595p+0, -0x1.999f4dfc40ca2p-3, 0x1.478b2c7fc3fe4p+0}},
};

inline const std::vector<Bits> kNumpyBits = {
    {"linear y", 1800, 0x81ee08fd90294f90, {0x3fe7cb60, 0x4011504f, 0x3f7c4ccf, 0x3fccb980}},
    {"linear x", 11100, 0x39f392d937bb4a92, {0x3cba68b9, 0x3f8d2221, 0xbe64816f, 0x3e131405}},
    {"linear w", 222, 0xbcb9d3123c6aa6b7, {0x4094cfef, 0x40544952, 0xc01361f0, 0xc03f2fc2}},
    {"linear b", 6, 0xeb30c7d7c5375bb2, {0x3f564594, 0x3fbd2f16, 0x3ded90c0, 0xc04fefa0}},
    {"transposed y", 1800, 0xd97a447962081e4c, {0x3f37292c, 0xbd85071c, 0xbe9dfdf2, 0xbf14078a}},
    {"transposed x", 11100, 0xf4104a70972df981, {0xbf452bd4, 0xbf167efa, 0xbecfa440, 0xbe64951b}},
    {"transposed w", 222, 0x9298ed1594ffa24f, {0x4094cfef, 0xbfc1a022, 0xbf8b40e6, 0x408550ab}},
    {"layer_norm 300x40 y", 12000, 0x2a1863eccbd7fb49, {0x3f1bf7d0, 0x3eae2967, 0x3f2560c5, 0x3f277fc0}},
    {"layer_norm 300x40 x", 12000, 0x86bc848a432951e7, {0xbd70bcf4, 0x3ede39cf, 0xbe2917a9, 0xbd33c5b7}},
    {"layer_norm 300x40 w", 40, 0x306e1cc6e549ac92, {0xbf70768c, 0x40b01b98, 0x3ea9bdf8, 0xc08c073f}},
    {"layer_norm 300x40 b", 40, 0x8fd04841d33c55b7, {0x3e22d0b0, 0xbf99fbea, 0x3fb872b0, 0x3da1ca60}},
    {"layer_norm 2x2100 y", 4200, 0xbfa3aa77e28e45de, {0x3f1c534d, 0x3eb0f8dc, 0x3f22ca72, 0x3f24a09a}},
    {"layer_norm 2x2100 x", 4200, 0xb505a5fb82c5e2bf, {0xbe2fc2ec, 0x3ee44e1d, 0xbc037f19, 0xbe8ad8b3}},
    {"layer_norm 2x2100 w", 2100, 0xad9bd121baf67c39, {0x3f0d5d02, 0x3d2cf6af, 0x3f502533, 0xbfa25e0a}},
    {"layer_norm 2x2100 b", 2100, 0xead810721f09c586, {0xbf716873, 0xbe6c8b44, 0x3ef645a2, 0x3f98b43a}},
    {"mse loss", 1, 0x95f239a9cfc5d493, {0x3f2a9284}},
    {"mse x", 5000, 0x062f9f91e585d4b4, {0xb890333f, 0x38cd9ad4, 0x37cd5a67, 0xb84ddb3f}},
    {"mse target", 5000, 0xe5a7d63ce585d4b4, {0x3890333f, 0xb8cd9ad4, 0xb7cd5a67, 0x384ddb3f}},
    {"sgd norm", 1, 0xeb172ab9ab739a16, {0x407ff5b7}},
    {"sgd p", 47, 0xe6c187905562ebc6, {0xbdd0b039, 0x3d4e35d4, 0x3e1ef7b6, 0xbe8b27a2}},
    {"momentum norm", 1, 0xeb172ab9ab739a16, {0x407ff5b7}},
    {"momentum p", 47, 0x33edb624fc18d7cb, {0x3e984089, 0xbc98174d, 0xbef73da9, 0x3f10cc64}},
    {"momentum first", 47, 0x55291178f06a2fba, {0xbef89190, 0xbcb92603, 0x3f01f04a, 0xbf3f579f}},
    {"nesterov norm", 1, 0xeb172ab9ab739a16, {0x407ff5b7}},
    {"nesterov p", 47, 0x0693fd03ed50bdfc, {0x3e75bdef, 0x3ca065a7, 0xbea425dc, 0x3ec017d1}},
    {"nesterov first", 47, 0x2e45c9da69e8a5a1, {0xbeab4ddf, 0xbcff3966, 0x3e90b5a8, 0xbedb1ef1}},
    {"adamw norm", 1, 0xeb172ab9ab739a16, {0x407ff5b7}},
    {"adamw p", 47, 0xe65ffc474f95cf35, {0xbe0ad55e, 0xbd384944, 0xbf2f3052, 0xbe80278c}},
    {"adamw first", 47, 0x091671075c6df809, {0xbc1e3548, 0xbbe7b7c9, 0x3c830a19, 0x39a4966a}},
    {"adamw second", 47, 0xc46fb51aa9fede66, {0x380a11a9, 0x37cd165f, 0x3770e9d0, 0x37b774e5}},
    {"adamw powers", 4, 0x78c69f62d94ce3ed, {0x3f172a5a, 0x328d3ae7, 0x3f7eb8fa, 0xb2f37873}},
    {"adam norm", 1, 0xeb172ab9ab739a16, {0x407ff5b7}},
    {"adam p", 47, 0x967e92c61998aec7, {0x3e723bad, 0x3e4045c4, 0xbed9b7c6, 0x3ebf6407}},
    {"adam first", 47, 0x18f8f203e62dc291, {0x3c6a30e4, 0xbc988721, 0x3cb5ad45, 0xbd89c18f}},
    {"adam second", 47, 0xf7e7c1ae0565bcd3, {0x393deb9a, 0x38d32aca, 0x39e2211e, 0x3a24b1db}},
    {"adam powers", 4, 0x78c69f62d94ce3ed, {0x3f172a5a, 0x328d3ae7, 0x3f7eb8fa, 0xb2f37873}},
};

}  // namespace halftone::reference::tests
