// SPDX-License-Identifier: Apache-2.0
// The device against the simulator, bit for bit: every function of the ptx header on random words,
// and every kernel of the carried models on random operands. For mma the operands make every sum
// exact; with others its sums are held to N8, and it is printed which of the simulator's two ways
// of summing the device agrees with.
//   conformance [--only NAME,...] [--share N/M]      of wrappers and models
#include <algorithm>
#include <bit>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>

#include "device_under_test.hpp"
#include "mma_case.hpp"
#include "models_artifacts.hpp"
#include "single_launches.hpp"
#include "test_report.hpp"
#include "wrapper_kernels.hpp"

using namespace halftone;
using namespace halftone::tests;
using description::Element;

namespace {

constexpr std::uint32_t kThreads = 4096;  // of a launch of a wrapper, but for conversions
constexpr std::uint64_t kSeed = 11;       // not the recorded one

enum class Draw {
  floats,  ///< random bits, and every exponent with special significands
  halves,  ///< all 2^16 codes
  words,   ///< random bits
};

/// NaNs that hardware may choose are made one: of 16 bits, of f32.
enum class Nans { kept, f16, bf16, f32 };

struct Wrapper {
  const char* name;  ///< in the ptx headers; its kernel has "_kernel" behind it
  int in, out;       ///< words of a thread
  Draw draw;
  Nans nans = Nans::kept;
  int least_chip = 75, last_chip = 1000;
};

constexpr Wrapper kWrappers[] = {
    {"cvt_rn_f16_f32", 1, 1, Draw::floats, Nans::f16},
    {"cvt_rz_f16_f32", 1, 1, Draw::floats, Nans::f16},
    {"cvt_rn_bf16_f32", 1, 1, Draw::floats, Nans::bf16, 80},
    {"cvt_f32_f16", 1, 1, Draw::halves, Nans::f32},
    {"min_nan", 2, 1, Draw::floats, Nans::f32, 80},
    {"max_nan", 2, 1, Draw::floats, Nans::f32, 80},
    {"st_global_2", 2, 2, Draw::words},
    {"st_global_4", 4, 4, Draw::words},
    {"st_global_in_order", 4, 4, Draw::words},
    {"shared_1", 4, 4, Draw::words},
    {"shared_2", 2, 2, Draw::words},
    {"shared_4", 4, 4, Draw::words},
    {"ldmatrix_x4", 4, 4, Draw::words},
    {"ldmatrix_x4_trans", 4, 4, Draw::words},
    {"cp_async_ca_4", 8, 4, Draw::words, Nans::kept, 80},
    {"cp_async_ca_8", 8, 4, Draw::words, Nans::kept, 80},
    {"cp_async_ca_16", 8, 4, Draw::words, Nans::kept, 80},
    {"cp_async_cg", 8, 4, Draw::words, Nans::kept, 80},
    {"cp_async_ca_zero_fill_4", 8, 4, Draw::words, Nans::kept, 80},
    {"cp_async_ca_zero_fill_8", 8, 4, Draw::words, Nans::kept, 80},
    {"cp_async_ca_zero_fill_16", 8, 4, Draw::words, Nans::kept, 80},
    {"cp_async_cg_zero_fill", 8, 4, Draw::words, Nans::kept, 80},
    {"cp_async_groups", 8, 8, Draw::words, Nans::kept, 80},
    {"ld_shared", 1, 1, Draw::words, Nans::kept, 89},
    {"cp_async_arrive", 4, 4, Draw::words, Nans::kept, 90, 90},
    {"mbarrier", 1, 3, Draw::words, Nans::kept, 90, 90},
    {"named_barriers", 1, 1, Draw::words, Nans::kept, 90, 90},
    {"setmaxnreg", 1, 1, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n64k16_f16", 4, 32, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n64k16_bf16", 4, 32, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n128k16_f16", 4, 64, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n128k16_bf16", 4, 64, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n192k16_f16", 4, 96, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n192k16_bf16", 4, 96, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n256k16_f16", 4, 128, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n256k16_bf16", 4, 128, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n64k32_e4m3", 4, 32, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n128k32_e4m3", 4, 64, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n192k32_e4m3", 4, 96, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n256k32_e4m3", 4, 128, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n64k32_e4m3_e5m2", 4, 32, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n128k32_e4m3_e5m2", 4, 64, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n192k32_e4m3_e5m2", 4, 96, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n256k32_e4m3_e5m2", 4, 128, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n64k32_e5m2_e4m3", 4, 32, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n128k32_e5m2_e4m3", 4, 64, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n192k32_e5m2_e4m3", 4, 96, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n256k32_e5m2_e4m3", 4, 128, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n64k32_e5m2", 4, 32, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n128k32_e5m2", 4, 64, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n192k32_e5m2", 4, 96, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n256k32_e5m2", 4, 128, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n64k16_f16_registers", 4, 32, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n64k16_bf16_registers", 4, 32, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n128k16_f16_registers", 4, 64, Draw::words, Nans::kept, 90, 90},
    {"wgmma_m64n128k16_bf16_registers", 4, 64, Draw::words, Nans::kept, 90, 90},
};

constexpr struct {
  MmaShape shape;
  int least_chip;
} kShapes[] = {{{"mma_m16n8k8_f16", Element::f16, 8, 2, 1}, 75},
               {{"mma_m16n8k16_f16", Element::f16, 16, 4, 2}, 80},
               {{"mma_m16n8k16_bf16", Element::bf16, 16, 4, 2}, 80},
               {{"mma_m16n8k8_tf32", Element::tf32, 8, 4, 2}, 80},
               {{"mma_m16n8k32_e4m3", Element::f8e4m3, 32, 4, 2}, 89},
               {{"mma_m16n8k32_e4m3_e5m2", Element::f8e4m3, 32, 4, 2, Element::f8e5m2}, 89},
               {{"mma_m16n8k32_e5m2_e4m3", Element::f8e5m2, 32, 4, 2, Element::f8e4m3}, 89},
               {{"mma_m16n8k32_e5m2", Element::f8e5m2, 32, 4, 2}, 89}};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + " cannot be read; run from the carried folder");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A header's text behind what it includes, which stands before it already.
std::string after_includes(const std::string& text) {
  return text.substr(text.find('\n', text.rfind("#include")));
}

Words drawn(Draw draw, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(kSeed));
  Words words(count);
  for (std::size_t i = 0; i < count; ++i) words[i] = static_cast<std::uint32_t>(random());
  if (draw == Draw::halves)
    for (std::size_t i = 0; i < count; ++i) words[i] = static_cast<std::uint32_t>(i);
  if (draw != Draw::floats) return words;
  // Every exponent and sign, with the significands at which f16 and bf16 round.
  constexpr std::uint32_t kSignificands[] = {
      0,      1,      0x7fffff, 0x1000,   0x0fff,   0x1001,   0x3000,   0x8000,
      0x7fff, 0x8001, 0x18000,  0x7fe000, 0x7ff000, 0x7f8000, 0x7fffff, 0x2000};
  std::size_t at = 0;
  for (std::uint32_t sign_exponent = 0; sign_exponent < 512; ++sign_exponent)
    for (const std::uint32_t significand : kSignificands)
      words[at++] = sign_exponent << 23 | significand;
  return words;
}

std::uint32_t with_one_nan(Nans nans, std::uint32_t word) {
  if (nans == Nans::f16 && (word & 0x7fff) > 0x7c00) return 0x7fff;
  if (nans == Nans::bf16 && (word & 0x7fff) > 0x7f80) return 0x7fff;
  if (nans == Nans::f32 && (word & 0x7fffffff) > 0x7f800000) return 0x7fffffff;
  return word;
}

/// The words that differ, as one sentence; `place` names a word.
template <class Place>
std::vector<std::string> differences(const Words& wanted, const Words& got, Nans nans,
                                     Place place) {
  std::vector<std::string> wrong;
  std::size_t differing = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (with_one_nan(nans, wanted[i]) == with_one_nan(nans, got[i])) continue;
    if (++differing > 4) continue;
    char words[80];
    std::snprintf(words, sizeof words, ": the simulator has 0x%08x, the device 0x%08x", wanted[i],
                  got[i]);
    wrong.push_back(place(i) + words);
  }
  if (differing > 4)
    wrong.push_back(std::to_string(differing) + " of " + std::to_string(wanted.size()) + " differ");
  return wrong;
}

class Conformance {
 public:
  Conformance(Report& report, const Device& device, std::vector<std::string> only)
      : report_(report),
        device_(device),
        only_(std::move(only)),
        chip_(simulated_chip_of(device)),
        number_(std::stoi(chip_.substr(3))),
        exact_(simulator_of(chip_, {.traffic = false, .threads = threads()})),
        truncating_(simulator_of(
            chip_, {.traffic = false, .accumulation = simulator::Accumulation::truncating})) {}

  void wrappers() {
    const std::string text =
        read_file("kernels/include/halftone/kernels/ptx.cuh") +
        (number_ >= 89 ? after_includes(read_file("kernels/include/halftone/kernels/ptx_sm89.cuh"))
                       : "") +
        (number_ == 90
             ? read_file("kernels/include/halftone/kernels/ptx_sm90.cuh") +
                   after_includes(
                       read_file("kernels/include/halftone/kernels/ptx_sm90_attention.cuh")) +
                   after_includes(read_file("kernels/include/halftone/kernels/ptx_sm90_float8.cuh"))
             : "") +
        read_file("tests/gpu/wrappers.cu");
    WrapperKernels got(device_, text, chip_), wanted(exact_, text, chip_),
        cut(truncating_, text, chip_);
    for (const Wrapper& wrapper : kWrappers)
      if (number_ >= wrapper.least_chip && number_ <= wrapper.last_chip &&
          chosen(only_, wrapper.name))
        report_.run(wrapper.name, [&] { return compare(wrapper, wanted, got); });
    if (chosen(only_, "atom_inc_acq_rel"))
      report_.run("atom_inc_acq_rel", [&] { return compare_counter(wanted, got); });
    for (const auto& [shape, least_chip] : kShapes) {
      if (number_ < least_chip || !chosen(only_, shape.kernel)) continue;
      const MmaShape& of = shape;
      report_.run(of.kernel, [&] { return compare_exactly(of, wanted, got); });
      report_.run(std::string(of.kernel) + " inside " + of.bound(),
                  [&] { return hold_to_bound(of, wanted, cut, got); });
    }
  }

  void models() {
    for (const LinkedArtifact& linked : kArtifacts)
      if (chosen(only_, linked.name)) report_.run(linked.name, [&] { return compare(linked); });
  }

 private:
  [[nodiscard]] unsigned threads() const { return static_cast<unsigned>(device_.threads()); }

  std::vector<std::string> compare(const Wrapper& wrapper, WrapperKernels& wanted,
                                   WrapperKernels& got) {
    const std::uint32_t threads = wrapper.draw == Draw::words ? kThreads : 1 << 16;
    const Words in = drawn(wrapper.draw, static_cast<std::size_t>(wrapper.in) * threads);
    const std::size_t out = static_cast<std::size_t>(wrapper.out) * threads;
    const std::string kernel = std::string(wrapper.name) + "_kernel";
    const Words expected = wanted.run(kernel, in, out, threads),
                have = got.run(kernel, in, out, threads);
    if (std::ranges::count(have, 0u) == static_cast<std::ptrdiff_t>(out))
      return {"the device wrote nothing"};
    return differences(expected, have, wrapper.nans, [&](std::size_t i) {
      const std::size_t thread = i / static_cast<std::size_t>(wrapper.out);
      char given[40];
      std::snprintf(given, sizeof given, ", given 0x%08x",
                    in[thread * static_cast<std::size_t>(wrapper.in)]);
      return "thread " + std::to_string(thread) + ", word " +
             std::to_string(i % static_cast<std::size_t>(wrapper.out)) + given;
    });
  }

  std::vector<std::string> compare_counter(WrapperKernels& wanted, WrapperKernels& got) {
    const Words in = drawn(Draw::words, kThreads);
    const char* kernel = "atom_inc_acq_rel_kernel";
    return differences(wanted.run(kernel, in, kThreads + 1, kThreads),
                       got.run(kernel, in, kThreads + 1, kThreads), Nans::kept,
                       [](std::size_t i) { return "count " + std::to_string(i); });
  }

  std::vector<std::string> compare_exactly(const MmaShape& shape, WrapperKernels& wanted,
                                           WrapperKernels& got) {
    std::vector<std::string> wrong;
    for (const Operands operands : {Operands::exact, Operands::tiny}) {
      if (operands == Operands::tiny && shape.format != Element::f16) continue;
      const MmaCase drawn(shape, operands, kWarps, kSeed);
      for (std::string& each :
           differences(run(shape, drawn, wanted), run(shape, drawn, got), Nans::kept,
                       [](std::size_t i) { return MmaCase::place(i); }))
        wrong.push_back(std::move(each));
    }
    return wrong;
  }

  std::vector<std::string> hold_to_bound(const MmaShape& shape, WrapperKernels& exact,
                                         WrapperKernels& truncating, WrapperKernels& got) {
    std::vector<std::string> wrong;
    for (const Operands operands : {Operands::ordinary, Operands::spread}) {
      const MmaCase drawn(shape, operands, kWarps, kSeed);
      const Words sums = run(shape, drawn, got), once = run(shape, drawn, exact),
                  cut = run(shape, drawn, truncating);
      for (std::string& each : drawn.outside_bound(sums)) wrong.push_back(std::move(each));
      std::size_t like_once = 0, like_cut = 0;
      for (std::size_t i = 0; i < sums.size(); ++i) {
        like_once += sums[i] == once[i];
        like_cut += sums[i] == cut[i];
      }
      std::printf("        %s, %s operands: of %zu sums %zu as if rounded once, %zu as cut off\n",
                  shape.kernel, operands == Operands::ordinary ? "ordinary" : "spread", sums.size(),
                  like_once, like_cut);
    }
    return wrong;
  }

  static Words run(const MmaShape& shape, const MmaCase& drawn, WrapperKernels& kernels) {
    return kernels.run(std::string(shape.kernel) + "_kernel", drawn.words(),
                       std::size_t{4} * drawn.threads(), drawn.threads());
  }

  std::vector<std::string> compare(const LinkedArtifact& linked) {
    const Artifact artifact = Artifact::linked(*linked.image);
    SingleLaunches wanted(artifact, exact_), got(artifact, device_);
    std::vector<std::string> wrong;
    for (const Site& site : got.sites()) {
      const Contents expected = wanted.run(site, kSeed), have = got.run(site, kSeed);
      if (std::string why = got.difference(site, expected, have); !why.empty())
        wrong.push_back(std::move(why));
    }
    return wrong;
  }

  static constexpr std::size_t kWarps = 64;

  Report& report_;
  const Device& device_;
  std::vector<std::string> only_;
  std::string chip_;
  int number_;
  Device exact_, truncating_;
};

/// What --only chooses from.
std::vector<std::string> names() {
  std::vector<std::string> names = {"atom_inc_acq_rel"};
  for (const Wrapper& wrapper : kWrappers) names.emplace_back(wrapper.name);
  for (const auto& [shape, least_chip] : kShapes) names.emplace_back(shape.kernel);
  for (const LinkedArtifact& linked : kArtifacts) names.emplace_back(linked.name);
  return names;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments{count, values};
  return report_of("conformance", arguments, [&](Report& report) {
    const auto only = share_of_names(arguments, "--only", names());
    const Device device = device_under_test();
    std::printf("%s\n", device.description().c_str());
    Conformance conformance(report, device, only);
    conformance.wrappers();
    conformance.models();
  });
}
