// SPDX-License-Identifier: Apache-2.0
#include "opcode_families.hpp"

#include <algorithm>
#include <vector>

#include "syntax.hpp"

namespace halftone::simulator {

namespace {

/// Words that many rows have: "<name>" stands for them.
struct Set {
  std::string_view name, words;
};

constexpr Set kSets[] = {
    {"<integers>", "u16|s16|u32|s32|u64|s64"},
    {"<converted>", "u8|s8|u16|s16|u32|s32|u64|s64"},
    {"<stored>", "b8|u8|s8|b16|u16|s16|f16|bf16|b32|u32|s32|f32|f16x2|bf16x2|b64|u64|s64|f64"},
    {"<memory>",
     "v2|v4|v8|weak|volatile|mmio|relaxed|acquire|release|cta|cluster|gpu|sys|ca|cg|cs|lu|cv|wb|wt|"
     "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate|L2::64B|"
     "L2::128B|L2::256B|L2::evict_normal|L2::evict_first|L2::evict_last|L2::cache_hint"},
    {"<atomic>",
     "global|shared|shared::cta|shared::cluster|relaxed|acquire|release|acq_rel|cta|cluster|gpu|"
     "sys|"
     "L2::cache_hint"},
    {"<policy>",
     "fractional|range|cvt|global|b64|L2|L2::evict_last|L2::evict_normal|L2::evict_first|"
     "L2::evict_unchanged|L2::evict_last.L2::evict_unchanged"},
};

constexpr OpcodeFamily kFamilies[] = {
    // Integers
    {"add.u16|s16", ""},
    {"add.u32|s32", "sat"},
    {"add.u64|s64", ""},
    {"add.u16x2|s16x2", ""},
    {"add.cc.u32|s32|u64|s64", ""},
    {"addc.u32|s32|u64|s64", "cc"},
    {"sub.u16|s16", ""},
    {"sub.u32|s32", "sat"},
    {"sub.u64|s64", ""},
    {"sub.u16x2|s16x2", ""},
    {"sub.cc.u32|s32|u64|s64", ""},
    {"subc.u32|s32|u64|s64", "cc"},
    {"mul.lo.u16|s16", ""},
    {"mul.lo.u32|s32", ""},
    {"mul.lo.u64|s64", ""},
    {"mul.hi.u16|s16", ""},
    {"mul.hi.u32|s32", ""},
    {"mul.hi.u64|s64", ""},
    {"mul.wide.u16|s16", ""},
    {"mul.wide.u32|s32", ""},
    {"mad.lo.u16|s16", ""},
    {"mad.lo.u32|s32", ""},
    {"mad.lo.u64|s64", ""},
    {"mad.hi.u16|s16", ""},
    {"mad.hi.u32|s32", "sat"},
    {"mad.hi.u64|s64", ""},
    {"mad.wide.u16|s16", ""},
    {"mad.wide.u32|s32", ""},
    {"mad.lo|hi.cc.u32|s32|u64|s64", ""},
    {"madc.lo|hi.u32|s32|u64|s64", "cc"},
    {"mul24.lo|hi.u32|s32", ""},
    {"mad24.lo|hi.u32|s32", ""},
    {"div.u16|s16", ""},
    {"div.u32|s32", ""},
    {"div.u64|s64", ""},
    {"rem.u16|s16", ""},
    {"rem.u32|s32", ""},
    {"rem.u64|s64", ""},
    {"neg.s16|s32|s64", ""},
    {"abs.s16|s32|s64", ""},
    {"min.<integers>", ""},
    {"min.u16x2|s16x2", "relu"},
    {"max.<integers>", ""},
    {"max.u16x2|s16x2", "relu"},
    {"sad.<integers>", ""},
    // Floats
    {"add.f32", "rn rz rm rp ftz sat"},
    {"add.f64", "rn rz rm rp"},
    {"add.f16|bf16", "rn ftz sat"},
    {"add.f16x2|bf16x2", "rn ftz sat"},
    {"sub.f32", "rn rz rm rp ftz sat"},
    {"sub.f64", "rn rz rm rp"},
    {"sub.f16|bf16", "rn ftz sat"},
    {"sub.f16x2|bf16x2", "rn ftz sat"},
    {"mul.f32", "rn rz rm rp ftz sat"},
    {"mul.f64", "rn rz rm rp"},
    {"mul.f16|bf16", "rn ftz sat"},
    {"mul.f16x2|bf16x2", "rn ftz sat"},
    {"fma.f32", "rn rz rm rp ftz sat"},
    {"fma.f64", "rn rz rm rp"},
    {"fma.f16|bf16", "rn ftz sat relu"},
    {"fma.f16x2|bf16x2", "rn ftz sat relu"},
    {"mad.f32|f64", "rn rz rm rp ftz sat"},
    {"div.rn|rz|rm|rp.f32", "ftz"},
    {"div.approx|full.f32", "ftz"},
    {"div.rn|rz|rm|rp.f64", ""},
    {"sqrt.rn|rz|rm|rp.f32", "ftz"},
    {"sqrt.approx.f32", "ftz"},
    {"sqrt.rn|rz|rm|rp.f64", ""},
    {"rcp.rn|rz|rm|rp.f32", "ftz"},
    {"rcp.approx.f32", "ftz"},
    {"rcp.rn|rz|rm|rp.f64", ""},
    {"rcp.approx.ftz.f64", ""},
    {"rsqrt.approx.f32", "ftz"},
    {"rsqrt.approx.f64", "ftz"},
    {"ex2.approx.f32", "ftz"},
    {"lg2.approx.f32", "ftz"},
    {"sin.approx.f32", "ftz"},
    {"cos.approx.f32", "ftz"},
    {"ex2.approx.f16|f16x2|bf16|bf16x2", "ftz"},
    {"tanh.approx.f32", ""},
    {"tanh.approx.f16|f16x2|bf16|bf16x2", ""},
    {"neg.f32", "ftz"},
    {"neg.f64", ""},
    {"neg.f16|f16x2|bf16|bf16x2", ""},
    {"abs.f32", "ftz"},
    {"abs.f64", ""},
    {"abs.f16|f16x2|bf16|bf16x2", ""},
    {"min.f32", "ftz NaN xorsign abs"},
    {"min.f64", ""},
    {"min.f16|f16x2|bf16|bf16x2", "NaN"},
    {"max.f32", "ftz NaN xorsign abs"},
    {"max.f64", ""},
    {"max.f16|f16x2|bf16|bf16x2", "NaN"},
    {"copysign.f32|f64", ""},
    {"testp.f32|f64", "finite infinite number notanumber normal subnormal"},
    // Bits
    {"and.b16|b32|b64", ""},
    {"and.pred", ""},
    {"or.b16|b32|b64", ""},
    {"or.pred", ""},
    {"xor.b16|b32|b64", ""},
    {"xor.pred", ""},
    {"not.b16|b32|b64", ""},
    {"not.pred", ""},
    {"cnot.b16|b32|b64", ""},
    {"shl.b16|b32|b64", ""},
    {"shr.b16|b32|b64|<integers>", ""},
    {"lop3.b32", "and or"},
    {"shf.l.b32", "wrap clamp"},
    {"shf.r.b32", "wrap clamp"},
    {"prmt.b32", ""},
    {"prmt.b32.f4e|b4e|rc8|ecl|ecr|rc16", ""},
    {"bfe.u32|s32|u64|s64", ""},
    {"bfi.b32|b64", ""},
    {"bfind.u32|s32|u64|s64", "shiftamt"},
    {"brev.b32|b64", ""},
    {"clz.b32|b64", ""},
    {"popc.b32|b64", ""},
    {"dp4a.u32|s32.u32|s32", ""},
    {"dp2a.lo|hi.u32|s32.u32|s32", ""},
    {"szext.clamp|wrap.u32|s32", ""},
    {"bmsk.clamp|wrap.b32", ""},
    {"fns.b32", ""},
    // Comparisons and selections
    {"setp.u16|s16|b16", "eq ne lt le gt ge lo ls hi hs and or xor"},
    {"setp.u32|s32|b32", "eq ne lt le gt ge lo ls hi hs and or xor"},
    {"setp.u64|s64|b64", "eq ne lt le gt ge lo ls hi hs and or xor"},
    {"setp.f32", "eq ne lt le gt ge equ neu ltu leu gtu geu num nan and or xor ftz"},
    {"setp.f64", "eq ne lt le gt ge equ neu ltu leu gtu geu num nan and or xor"},
    {"setp.f16|bf16", "eq ne lt le gt ge equ neu ltu leu gtu geu num nan and or xor"},
    {"setp.f16x2|bf16x2", "eq ne lt le gt ge equ neu ltu leu gtu geu num nan and or xor"},
    {"set.u32|s32|f32.b16|b32|b64|<integers>", "eq ne lt le gt ge lo ls hi hs"},
    {"set.u32|s32|f32.f32", "eq ne lt le gt ge equ neu ltu leu gtu geu num nan ftz"},
    {"set.u16|s16|u32|s32|f32|f16|bf16|f16x2|bf16x2.f16|bf16|f16x2|bf16x2",
     "eq ne lt le gt ge equ neu ltu leu gtu geu num nan"},
    {"selp.b16|b32|u16|s16|u32|s32|f32", ""},
    {"selp.b64|u64|s64|f64", ""},
    {"slct.b16|b32|b64|<integers>|f32|f64.s32|f32", ""},
    // Moves and conversions
    {"mov.b16|u16|s16|f16|bf16", ""},
    {"mov.b32|u32|s32|f32", ""},
    {"mov.b64|u64|s64|f64", ""},
    {"mov.pred", ""},
    {"activemask.b32", ""},
    {"cvt.<converted>.<converted>", "sat"},
    {"cvt.<converted>.f32", "rni rzi rmi rpi ftz sat"},
    {"cvt.<converted>.f64", "rni rzi rmi rpi sat"},
    {"cvt.<converted>.f16|bf16", "rni rzi rmi rpi"},
    {"cvt.f32.<converted>", "rn rz rm rp sat"},
    {"cvt.f64.<converted>", "rn rz rm rp"},
    {"cvt.f16|bf16.<converted>", "rn rz rm rp sat"},
    {"cvt.f32.f16|bf16", "ftz sat"},
    {"cvt.f16|bf16.f32", "rn rz rm rp ftz sat relu satfinite"},
    {"cvt.f32.f32", "rn rz rm rp rni rzi rmi rpi ftz sat"},
    {"cvt.f64.f64", "rni rzi rmi rpi sat"},
    {"cvt.f64.f32|f16|bf16", "ftz sat"},
    {"cvt.f32|f16|bf16.f64", "rn rz rm rp ftz sat"},
    {"cvt.f16|bf16.f16|bf16", "rn rz rm rp rni rzi rmi rpi sat"},
    {"cvt.f16x2.f32", "rn rz relu satfinite"},
    {"cvt.bf16x2.f32", "rn rz relu satfinite"},
    {"cvt.tf32.f32", "rn rz rna relu satfinite"},
    {"cvt.e4m3x2.f32", "rn satfinite relu"},
    {"cvt.e4m3x2.f16x2|bf16x2", "rn satfinite relu"},
    {"cvt.f16x2.e4m3x2", "rn relu"},
    {"cvt.e5m2x2.f32", "rn satfinite relu"},
    {"cvt.e5m2x2.f16x2|bf16x2", "rn satfinite relu"},
    {"cvt.f16x2.e5m2x2", "rn relu"},
    {"cvt.e2m1x2.f32", "rn satfinite relu"},
    {"cvt.e2m1x2.f16x2|bf16x2", "rn satfinite relu"},
    {"cvt.f16x2.e2m1x2", "rn relu"},
    {"cvt.e2m3x2.f32", "rn satfinite relu"},
    {"cvt.e2m3x2.f16x2|bf16x2", "rn satfinite relu"},
    {"cvt.f16x2.e2m3x2", "rn relu"},
    {"cvt.e3m2x2.f32", "rn satfinite relu"},
    {"cvt.e3m2x2.f16x2|bf16x2", "rn satfinite relu"},
    {"cvt.f16x2.e3m2x2", "rn relu"},
    {"cvt.ue8m0x2.f32", "rz rp satfinite"},
    {"cvt.ue8m0x2.bf16x2", "rz rp satfinite"},
    {"cvt.bf16x2.ue8m0x2", "rn"},
    {"cvt.rs.f16x2|bf16x2.f32", "relu satfinite"},
    {"cvt.rs.satfinite.e4m3x4|e5m2x4.f32", "relu"},
    {"cvt.rs.satfinite.e2m3x4|e3m2x4.f32", "relu"},
    {"cvt.rs.satfinite.e2m1x4.f32", "relu"},
    {"cvt.pack.sat.u16|s16.s32", ""},
    {"cvt.pack.sat.u2|s2|u4|s4|u8|s8.s32.b32", ""},
    {"cvta.global|const.u64", "to"},
    {"cvta.shared|shared::cta.u64", "to"},
    {"cvta.local.u64", "to"},
    {"cvta.param.u64", "to"},
    // Memory
    {"ld.<stored>", "<memory>"},
    {"ld.global.<stored>", "<memory>"},
    {"ld.global.nc.<stored>", "<memory>"},
    {"ld.shared|shared::cta.<stored>", "<memory>"},
    {"ld.shared::cluster.<stored>", "<memory>"},
    {"ld.local.<stored>", "<memory>"},
    {"ld.param|param::entry|param::func.<stored>", "v2 v4"},
    {"ld.const.<stored>", "<memory>"},
    {"ldu.<stored>", "global v2 v4"},
    {"st.<stored>", "<memory>"},
    {"st.global.<stored>", "<memory>"},
    {"st.shared|shared::cta.<stored>", "<memory>"},
    {"st.shared::cluster.<stored>", "<memory>"},
    {"st.async.shared::cluster.mbarrier::complete_tx::bytes.b32|b64|u32|u64|s32|s64|f32|f64",
     "weak v2 v4"},
    {"st.local.<stored>", "<memory>"},
    {"st.param|param::func.<stored>", "v2 v4"},
    {"prefetch", "global local const param L1 L2 L2::evict_last L2::evict_normal tensormap"},
    {"prefetchu.L1", ""},
    {"isspacep.const|global|local|shared|shared::cta|param", ""},
    {"discard", "global L2"},
    {"applypriority", "global L2::evict_normal"},
    {"createpolicy", "<policy>"},
    // Atomics
    {"atom.add.u32|s32|u64|s64", "<atomic>"},
    {"atom.add.f32", "<atomic> ftz"},
    {"atom.add.f64", "<atomic>"},
    {"atom.add.f16|f16x2|bf16|bf16x2", "<atomic> noftz"},
    {"atom.add.v2|v4|v8.f32|f16x2|bf16x2", "<atomic> noftz"},
    {"atom.min|max.u32|s32|u64|s64", "<atomic>"},
    {"atom.min|max.f16|f16x2|bf16|bf16x2", "<atomic> noftz"},
    {"atom.inc|dec.u32", "<atomic>"},
    {"atom.and|or|xor.b32|b64", "<atomic>"},
    {"red.add.u32|s32|u64|s64", "<atomic>"},
    {"red.add.f32", "<atomic> ftz"},
    {"red.add.f64", "<atomic>"},
    {"red.add.f16|f16x2|bf16|bf16x2", "<atomic> noftz"},
    {"red.add.v2|v4|v8.f32|f16x2|bf16x2", "<atomic> noftz"},
    {"red.min|max.u32|s32|u64|s64", "<atomic>"},
    {"red.min|max.f16|f16x2|bf16|bf16x2", "<atomic> noftz"},
    {"red.inc|dec.u32", "<atomic>"},
    {"red.and|or|xor.b32|b64", "<atomic>"},
    {"atom.exch.b32|b64", "<atomic>"},
    {"atom.cas.b16|b32|b64", "<atomic>"},
    // Control
    {"bra", "uni"},
    {"brx.idx", "uni"},
    {"call", "uni"},
    {"ret", "uni"},
    {"exit", ""},
    {"bar.sync|arrive", "cta"},
    {"bar.red.popc|and|or.u32|pred", "cta"},
    {"barrier.sync|arrive", "cta aligned"},
    {"barrier.red.popc|and|or.u32|pred", "cta aligned"},
    {"bar.warp.sync", ""},
    {"barrier.cluster.arrive", "release relaxed aligned"},
    {"barrier.cluster.wait", "acquire aligned"},
    {"membar.cta|gl|sys", ""},
    {"fence", "acq_rel sc cta cluster gpu sys"},
    {"fence.mbarrier_init.release.cluster", ""},
    {"fence.proxy.async*", "global shared::cta shared::cluster"},
    {"fence.proxy.alias", ""},
    {"fence.proxy.tensormap::generic.acquire|release", "cta cluster gpu sys"},
    {"nanosleep.u32", ""},
    {"pmevent", "mask"},
    {"trap", ""},
    {"brkpt", ""},
    {"griddepcontrol.launch_dependents|wait", ""},
    // Warps
    {"shfl.sync.up.b32", ""},
    {"shfl.sync.down.b32", ""},
    {"shfl.sync.bfly.b32", ""},
    {"shfl.sync.idx.b32", ""},
    {"vote.sync.all|any|uni.pred", ""},
    {"vote.sync.ballot.b32", ""},
    {"match.any.sync.b32|b64", ""},
    {"match.all.sync.b32|b64", ""},
    {"redux.sync.add|min|max.u32|s32", ""},
    {"redux.sync.and|or|xor.b32", ""},
    {"redux.sync.min|max.f32", "abs NaN"},
    {"elect.sync", ""},
    // Matrices
    {"ldmatrix.sync.aligned.m8n8.x1|x2|x4.b16", "shared shared::cta"},
    {"ldmatrix.sync.aligned.m8n8.x1|x2|x4.trans.b16", "shared shared::cta"},
    {"stmatrix.sync.aligned.m8n8.x1|x2|x4.b16", "shared shared::cta"},
    {"stmatrix.sync.aligned.m8n8.x1|x2|x4.trans.b16", "shared shared::cta"},
    {"mma.sync.aligned.m16n8k8|m16n8k16.row.col.f32.f16.f16.f32", ""},
    {"mma.sync.aligned.m16n8k8|m16n8k16.row.col.f16.f16.f16.f16", ""},
    {"mma.sync.aligned.m16n8k8|m16n8k16.row.col.f32.bf16.bf16.f32", ""},
    {"mma.sync.aligned.m16n8k4|m16n8k8.row.col.f32.tf32.tf32.f32", ""},
    {"mma.sync.aligned.m16n8k16|m16n8k32.row.col.f32.e4m3|e5m2.e4m3|e5m2.f32", "kind::f8f6f4"},
    {"mma.sync.aligned.m16n8k16|m16n8k32.row.col.f16.e4m3|e5m2.e4m3|e5m2.f16", "kind::f8f6f4"},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3|e5m2.e4m3|e5m2.f32."
     "ue8m0",
     "scale_vec::1X"},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
     "scale_vec::2X"},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X|scale_vec::4X.f32."
     "e2m1.e2m1.f32.ue8m0",
     ""},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32."
     "ue4m3",
     ""},
    // Asynchronous copies
    {"cp.async.ca|cg.shared|shared::cta.global", "L2::64B L2::128B L2::256B L2::cache_hint"},
    {"cp.async.commit_group", ""},
    {"cp.async.wait_group", ""},
    {"cp.async.wait_all", ""},
    {"cp.async.mbarrier.arrive.b64", "noinc shared shared::cta"},
    {"cp.async.bulk.shared::cluster|shared::cta.global.mbarrier::complete_tx::bytes",
     "L2::cache_hint"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
     "L2::cache_hint"},
    {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", ""},
    {"cp.async.bulk.global.shared::cta.bulk_group", "L2::cache_hint"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add|min|max|inc|dec|and|or|xor.u32|s32|"
     "u64|s64|b32|b64|f16|bf16|f32|f64",
     "noftz L2::cache_hint"},
    {"cp.async.bulk.commit_group", ""},
    {"cp.async.bulk.wait_group", "read"},
    {"cp.async.bulk.prefetch.L2.global", "L2::cache_hint"},
    {"cp.async.bulk.tensor.1d|2d|3d|4d|5d.shared::cluster|shared::cta.global.mbarrier::complete_tx:"
     ":bytes",
     "tile L2::cache_hint"},
    {"cp.async.bulk.tensor.1d|2d|3d|4d|5d.shared::cluster.global.mbarrier::complete_tx::bytes."
     "multicast::cluster",
     "tile L2::cache_hint"},
    {"cp.async.bulk.tensor.1d|2d|3d|4d|5d.global.shared::cta.bulk_group", "tile L2::cache_hint"},
    {"cp.reduce.async.bulk.tensor.1d|2d|3d|4d|5d.global.shared::cta.add|min|max|inc|dec|and|or|xor."
     "bulk_group",
     "tile L2::cache_hint"},
    {"cp.async.bulk.prefetch.tensor.1d|2d|3d|4d|5d.L2.global", "tile L2::cache_hint"},
    // mbarriers, clusters, warpgroups
    {"mbarrier.init.b64", "shared shared::cta"},
    {"mbarrier.inval.b64", "shared shared::cta"},
    {"mbarrier.arrive.b64", "shared shared::cta shared::cluster release relaxed cta cluster"},
    {"mbarrier.arrive.expect_tx.b64",
     "shared shared::cta shared::cluster release relaxed cta cluster"},
    {"mbarrier.arrive_drop.b64",
     "shared shared::cta shared::cluster release relaxed cta cluster expect_tx"},
    {"mbarrier.expect_tx.relaxed.b64", "shared shared::cta shared::cluster cta cluster"},
    {"mbarrier.complete_tx.relaxed.b64", "shared shared::cta shared::cluster cta cluster"},
    {"mbarrier.test_wait.b64", "shared shared::cta acquire relaxed cta cluster"},
    {"mbarrier.test_wait.parity.b64", "shared shared::cta acquire relaxed cta cluster"},
    {"mbarrier.try_wait.b64", "shared shared::cta acquire relaxed cta cluster"},
    {"mbarrier.try_wait.parity.b64", "shared shared::cta acquire relaxed cta cluster"},
    {"mbarrier.pending_count.b64", ""},
    {"mapa.u32|u64", "shared::cluster"},
    {"getctarank.u32|u64", "shared::cluster"},
    {"wgmma.fence.sync.aligned", ""},
    {"wgmma.commit_group.sync.aligned", ""},
    {"wgmma.wait_group.sync.aligned", ""},
    {"wgmma.mma_async.sync.aligned.m64n*.f32|f16.f16.f16", ""},
    {"wgmma.mma_async.sync.aligned.m64n*.f32.bf16.bf16", ""},
    {"wgmma.mma_async.sync.aligned.m64n*.f32.tf32.tf32", ""},
    {"wgmma.mma_async.sync.aligned.m64n*.f32|f16.e4m3|e5m2.e4m3|e5m2", ""},
    {"setmaxnreg.inc|dec.sync.aligned.u32", ""},
    // Tensor memory
    {"tcgen05.alloc.cta_group::1.sync.aligned.b32", "shared::cta"},
    {"tcgen05.dealloc.cta_group::1.sync.aligned.b32", ""},
    {"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned", ""},
    {"tcgen05.fence::before_thread_sync", ""},
    {"tcgen05.fence::after_thread_sync", ""},
    {"tcgen05.cp.cta_group::1.32x128b.warpx4", ""},
    {"tcgen05.mma.cta_group::1.kind::f8f6f4", ""},
    {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale", "scale_vec::1X block32"},
    {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64", "shared::cluster"},
    {"tcgen05.ld.sync.aligned.32x32b.x1|x2|x4|x8|x16|x32|x64|x128.b32", ""},
    {"tcgen05.ld.sync.aligned.16x256b.x1|x2|x4|x8|x16|x32.b32", ""},
    {"tcgen05.wait::ld.sync.aligned", ""},
};

/// Whether `word` is one of `list`, whose entries `separator` parts.
bool is_among(std::string_view word, std::string_view list, char separator) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(separator), list.size());
    const std::string_view each = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    if (each == word) return true;
    if (each.ends_with('*') && word.starts_with(each.substr(0, each.size() - 1))) return true;
    if (!each.starts_with('<')) continue;
    const auto* const set = std::ranges::find(kSets, each, &Set::name);
    if (set != std::end(kSets) && is_among(word, set->words, '|')) return true;
  }
  return false;
}

bool describes(const OpcodeFamily& family, const std::vector<std::string_view>& opcode) {
  std::string_view wanted = family.words;
  for (const std::string_view word : opcode) {
    const std::size_t end = std::min(wanted.find('.'), wanted.size());
    if (!wanted.empty() && is_among(word, wanted.substr(0, end), '|'))
      wanted.remove_prefix(std::min(end + 1, wanted.size()));
    else if (!is_among(word, family.modifiers, ' '))
      return false;
  }
  return wanted.empty();
}

}  // namespace

std::span<const OpcodeFamily> opcode_families() { return kFamilies; }

const OpcodeFamily* family_of(std::string_view opcode) {
  const std::vector<std::string_view> words = syntax::split(opcode);
  const auto* const found = std::ranges::find_if(
      kFamilies, [&](const OpcodeFamily& family) { return describes(family, words); });
  return found == std::end(kFamilies) ? nullptr : found;
}

}  // namespace halftone::simulator
