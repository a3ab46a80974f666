// SPDX-License-Identifier: Apache-2.0
// Which of an artifact's targets a chip runs, and what its text is compiled for. The expected
// columns follow NVIDIA's rules. "CUDA C++ Programming Guide", Compute Capabilities: a target with
// 'a' runs on its own chip alone, one with 'f' on later chips of its major, any other on all later
// chips; a cubin runs on later chips of its major, unless one of both is Tegra; PTX on all later
// chips. "CUDA Compatibility": a driver loads cubins of its major version of CUDA and before, and
// compiles PTX of its version and before. Lists of architectures: NVRTC's release notes; the one of
// 13.0 also from the library.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "driver_context.hpp"

using halftone::choose_kernel, halftone::CudaVersion, halftone::Toolchain;

namespace {

const std::vector<std::string> kTen = {"sm_75",  "sm_80",   "sm_86",   "sm_87",   "sm_89",
                                       "sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_121a"};

std::vector<int> architectures(CudaVersion nvrtc) {
  if (nvrtc.major == 13) return {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
  std::vector<int> known = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90};
  if (nvrtc.minor >= 8) known.insert(known.end(), {100, 101, 120});
  if (nvrtc.minor >= 9) known.insert(known.end(), {103, 121});
  return known;
}

/// "sm_89 as compute_90", or "cpu".
std::string choice_of(const std::string& chip, const std::vector<std::string>& targets,
                      const Toolchain* toolchain) {
  std::string why;
  const auto choice = choose_kernel(chip, targets, toolchain, why);
  if (!choice) {
    CHECK(!why.empty());
    return "cpu";
  }
  return targets[choice->target].substr(3) + ":" + choice->architecture;
}

}  // namespace

TEST_CASE("a chip runs the target that suits it best") {
  struct Case {
    const char* chip;
    std::vector<std::string> targets;
    const char* choice;
  };
  const Case cases[] = {
      {"sm_75", kTen, "75:sm_75"},
      {"sm_86", kTen, "86:sm_86"},
      {"sm_90", kTen, "90a:sm_90a"},
      {"sm_90a", kTen, "90a:sm_90a"},
      {"sm_100", kTen, "100a:sm_100a"},
      {"sm_121", kTen, "121a:sm_121a"},
      {"sm_88", kTen, "87:sm_88"},    // a later chip runs an earlier target
      {"sm_110", kTen, "89:sm_110"},  // never another chip's 'a'
      {"sm_72", kTen, "cpu"},
      {"sm_80", {"sm_90a"}, "cpu"},
      {"sm_80", {"sm_86"}, "cpu"},
      {"sm_103", {"sm_100f", "sm_90"}, "100f:sm_103f"},
      {"sm_103", {"sm_90", "sm_100"}, "100:sm_103"},
      {"sm_120", {"sm_100f", "sm_90"}, "90:sm_120"},
      {"sm_90", {"sm_90", "sm_90a"}, "90a:sm_90a"},
      {"sm_90a", {"sm_90", "sm_80"}, "90:sm_90"},
      {"sm_80", {}, "cpu"},
      {"gfx90a", kTen, "cpu"},
      {"sm_80", {"cpu", "rocm", "sm_", "sm_80x", "sm_-80", "sm_800000000000"}, "cpu"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.chip);
    CHECK(choice_of(c.chip, c.targets, nullptr) == c.choice);
  }
}

// Of ten targets, one for each chip: '=' the chip's own target, compiled for it; "87>88" the target
// 87 compiled to a cubin for 88; "89>p90" the target 89 compiled to PTX for compute_90; '-' the
// CPU. In order:
const char* const kChips =
    "  72 75 80 86 87     88 89 90    100    103    110    120    121    130";
struct Row {
  CudaVersion nvrtc, driver;
  const char* choices;
};
const Row kRows[] = {
    // NVRTC 12.0 to 12.4 end at 90. 88 could run 87 only as PTX, since 87 is Tegra.
    {{12, 0}, {12, 0}, "- = = = = 87>p87 = = 89>p90 89>p90 89>p90 89>p90 89>p90 89>p90"},
    {{12, 0}, {12, 4}, "- = = = = 87>p87 = = 89>p90 89>p90 89>p90 89>p90 89>p90 89>p90"},
    {{12, 0}, {13, 0}, "- = = = = 87>p87 = = 89>p90 89>p90 89>p90 89>p90 89>p90 89>p90"},
    // PTX of 12.4 is too new for a driver of 12.0, cubins are not.
    {{12, 4}, {12, 0}, "- = = = = 86>86 = = - - - - - -"},
    {{12, 4}, {12, 4}, "- = = = = 87>p87 = = 89>p90 89>p90 89>p90 89>p90 89>p90 89>p90"},
    {{12, 4}, {12, 8}, "- = = = = 87>p87 = = 89>p90 89>p90 89>p90 89>p90 89>p90 89>p90"},
    // 12.8 knows 100, 101 (Tegra) and 120.
    {{12, 8}, {12, 4}, "- = = = = 86>86 = = = 89>100 - = 89>120 -"},
    {{12, 8}, {12, 8}, "- = = = = 87>p87 = = = 89>100 89>p101 = 89>120 89>p120"},
    {{12, 8}, {13, 0}, "- = = = = 87>p87 = = = 89>100 89>p101 = 89>120 89>p120"},
    // 12.9 knows 103 and 121 too.
    {{12, 9}, {12, 8}, "- = = = = 86>86 = = = = - = = -"},
    {{12, 9}, {12, 9}, "- = = = = 87>p87 = = = = 89>p103 = = 89>p121"},
    {{12, 9}, {13, 1}, "- = = = = 87>p87 = = = = 89>p103 = = 89>p121"},
    // 13.0 knows 88 and 110; a driver of 12 loads nothing of it.
    {{13, 0}, {12, 9}, "- - - - - - - - - - - - - -"},
    {{13, 0}, {13, 0}, "- = = = = 87>88 = = = = 89>110 = = 89>p121"},
    {{13, 0}, {13, 1}, "- = = = = 87>88 = = = = 89>110 = = 89>p121"},
    {{13, 1}, {13, 0}, "- = = = = 87>88 = = = = 89>110 = = -"},
};

TEST_CASE("200 chips, drivers and versions of NVRTC have the right kernel or a named fallback") {
  const std::map<std::string, std::string> own = {
      {"90", "90a"}, {"100", "100a"}, {"103", "103a"}, {"120", "120a"}, {"121", "121a"}};
  int triples = 0;
  for (const Row& row : kRows) {
    const Toolchain toolchain{row.nvrtc, architectures(row.nvrtc), row.driver};
    std::istringstream chips(kChips), choices(row.choices);
    for (std::string chip, choice; chips >> chip; ++triples) {
      const bool read = static_cast<bool>(choices >> choice);
      REQUIRE(read);
      CAPTURE(text_of(row.nvrtc));
      CAPTURE(text_of(row.driver));
      CAPTURE(chip);
      std::string expected = "cpu";
      if (choice == "=") {
        const std::string name = own.contains(chip) ? own.at(chip) : chip;
        expected = name + ":sm_" + name;
      } else if (const auto arrow = choice.find('>'); arrow != std::string::npos) {
        const std::string made = choice.substr(arrow + 1);
        expected = choice.substr(0, arrow) +
                   (made[0] == 'p' ? ":compute_" + made.substr(1) : ":sm_" + made);
      }
      CHECK(choice_of("sm_" + chip, kTen, &toolchain) == expected);
    }
  }
  CHECK(triples >= 200);
}

TEST_CASE("of other targets the first way that toolchain and chip can go is gone") {
  struct Case {
    CudaVersion nvrtc, driver;
    const char* chip;
    std::vector<std::string> targets;
    const char* choice;
  };
  const Case cases[] = {
      // Families need NVRTC 12.9; the latest known member of the family is compiled for.
      {{12, 8}, {12, 8}, "sm_103", {"sm_100f"}, "cpu"},
      {{12, 8}, {12, 8}, "sm_103", {"sm_100f", "sm_80"}, "80:sm_100"},
      {{12, 9}, {12, 9}, "sm_103", {"sm_100f", "sm_80"}, "100f:sm_103f"},
      {{13, 0}, {13, 0}, "sm_122", {"sm_120f", "sm_80"}, "120f:sm_121f"},
      // Family code is never PTX for another major.
      {{13, 0}, {13, 0}, "sm_130", {"sm_120f"}, "cpu"},
      // The 'a' of a chip that NVRTC does not know gives way to what is older.
      {{13, 0}, {13, 0}, "sm_130", {"sm_130a", "sm_75"}, "75:compute_121"},
      {{12, 0}, {12, 0}, "sm_100", {"sm_100a"}, "cpu"},
      // A cubin for 86 runs on 89, but not one for 87, nor does 87 run one for 86.
      {{12, 0}, {12, 0}, "sm_89", {"sm_80"}, "80:sm_89"},
      {{12, 0}, {12, 0}, "sm_82", {"sm_80"}, "80:sm_80"},
      {{12, 4}, {12, 0}, "sm_72", {"sm_70"}, "70:sm_72"},
      {{13, 0}, {13, 0}, "sm_75", {"sm_70"}, "70:sm_75"},
      {{13, 0}, {13, 0}, "sm_72", {"sm_70"}, "cpu"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.chip);
    const Toolchain toolchain{c.nvrtc, architectures(c.nvrtc), c.driver};
    CHECK(choice_of(c.chip, c.targets, &toolchain) == c.choice);
  }
}

TEST_CASE("a target whose kernels want tensor maps is passed over where the driver encodes none") {
  const std::vector<std::string> targets = {"sm_80", "sm_90a"}, with_maps = {"sm_90a"};
  const std::string reason =
      "sm_90a: its kernels want tensor maps, which the driver does not encode "
      "(cuTensorMapEncodeTiled); install one for CUDA 12 or later";
  const std::vector<halftone::AheadOfTime> cubins = {{"sm_80", {13, 0}}, {"sm_90a", {13, 0}}};
  halftone::DriverProperties device;
  device.chip = "sm_90";
  for (const auto& ahead : {std::vector<halftone::AheadOfTime>{}, cubins}) {
    CAPTURE(ahead.size());
    std::string why;
    const auto choose = [&](bool encodes, const std::vector<std::string>& offered) {
      device.encodes_maps = encodes;
      return halftone::choose_for(device, {}, offered, ahead, with_maps, why);
    };
    CHECK(targets[choose(true, targets)->target] == "sm_90a");
    const auto without = choose(false, targets);
    REQUIRE(without);
    CHECK(targets[without->target] == "sm_80");
    CHECK(without->passed_over.back() == reason);
    CHECK_FALSE(choose(false, with_maps));
    CHECK(why == reason);
  }
  device.chip = "sm_80";
  std::string none;
  const auto elsewhere = halftone::choose_for(device, {}, targets, cubins, with_maps, none);
  REQUIRE(elsewhere);
  CHECK(std::ranges::find(elsewhere->passed_over, reason) == elsewhere->passed_over.end());
  CHECK_FALSE(halftone::choose_for(device, {}, with_maps, cubins, with_maps, none));
  CHECK(none.find("cuTensorMapEncodeTiled") == none.npos);
  device.chip = "sm_90";
  std::string why;
  device.encodes_maps = false;
  CHECK(targets[halftone::choose_for(device, {}, targets, {}, {}, why)->target] == "sm_90a");
}

TEST_CASE("what was compiled ahead of time runs where its cubins or its PTX do") {
  using halftone::AheadOfTime;
  const std::vector<AheadOfTime> all = {
      {"compute_80", {13, 0}}, {"sm_80", {13, 0}}, {"sm_87", {13, 0}}, {"sm_90a", {13, 0}}};
  const std::vector<AheadOfTime> cubins(all.begin() + 1, all.end()),
      ptx(all.begin(), all.begin() + 1), newer_ptx = {{"compute_86", {13, 0}}, {"sm_80", {13, 0}}};
  struct Case {
    const char* chip;
    std::vector<AheadOfTime> ahead;
    CudaVersion driver;
    bool takes_ptx;
    const char* architecture;
    std::vector<std::string> passed_over = {};  ///< the targets alone
  };
  const Case cases[] = {
      {"sm_80", all, {13, 0}, false, "sm_80"},
      {"sm_86", all, {13, 0}, false, "sm_80", {"sm_86"}},  // of its major, and not Tegra
      {"sm_87", all, {13, 0}, false, "sm_87"},
      {"sm_88", cubins, {13, 0}, false, "sm_80", {"sm_87", "sm_86"}},  // not those of Tegra
      {"sm_90", all, {13, 0}, false, "sm_90a"},
      {"sm_100",
       all,
       {13, 0},
       false,
       "compute_80",  // another major
       {"sm_100a", "sm_89", "sm_87", "sm_86"}},
      {"sm_90", ptx, {13, 0}, false, "compute_80", {"sm_90a", "sm_89", "sm_87", "sm_86"}},
      {"sm_86", newer_ptx, {13, 0}, false, "sm_80", {"sm_86"}},  // cubins go first
      {"sm_100", cubins, {13, 0}, false, ""},
      {"sm_75", all, {13, 0}, false, ""},
      {"sm_80", cubins, {13, 1}, false, "sm_80"},
      {"sm_80", cubins, {12, 9}, false, ""},  // an older major of the driver
      {"sm_80", ptx, {13, 0}, false, "compute_80"},
      {"sm_80", ptx, {12, 9}, false, ""},
      {"sm_80", all, {0, 0}, true, "compute_80"},  // the simulator
      {"sm_80", cubins, {0, 0}, true, ""},
      {"sm_80", {}, {13, 0}, false, ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.chip);
    CAPTURE(c.architecture);
    const auto choice = halftone::choose_ahead(c.chip, kTen, c.ahead, c.driver, c.takes_ptx);
    CHECK((choice ? choice->architecture : "") == c.architecture);
    if (!choice) continue;
    CHECK(choice->ahead);
    CHECK(kTen[choice->target] == halftone::target_of(c.architecture));
    std::vector<std::string> passed_over;
    for (const std::string& each : choice->passed_over) {
      passed_over.push_back(each.substr(0, each.find(':')));
    }
    CHECK(passed_over == c.passed_over);
  }
}

TEST_CASE("every step of a fallback is named") {
  const Toolchain old{{12, 4}, architectures({12, 4}), {12, 4}};
  std::string why;
  const auto choice = choose_kernel("sm_100", kTen, &old, why);
  REQUIRE(choice);
  CHECK(choice->passed_over == std::vector<std::string>{"sm_100a: NVRTC 12.4 does not know the "
                                                        "chip"});
  const Toolchain older{{12, 4}, architectures({12, 4}), {12, 0}};
  CHECK_FALSE(choose_kernel("sm_100", std::vector<std::string>{"sm_100a", "sm_89"}, &older, why));
  CHECK(why ==
        "sm_100a: NVRTC 12.4 does not know the chip; sm_89: NVRTC 12.4 has PTX alone for the chip, "
        "which is too new for the driver, for CUDA 12.0");
  const Toolchain mixed{{13, 0}, architectures({13, 0}), {12, 9}};
  CHECK_FALSE(choose_kernel("sm_80", std::vector<std::string>{"sm_80"}, &mixed, why));
  CHECK(why == "sm_80: the driver, for CUDA 12.9, is older than NVRTC 13.0");
  CHECK_FALSE(choose_kernel("sm_70", kTen, &mixed, why));
  CHECK(why == "none of them is for it");

  const auto ahead_of = [](const char* chip, std::vector<halftone::AheadOfTime> ahead) {
    const std::vector<std::string> targets = {"sm_80", "sm_86", "sm_90a"};
    return halftone::choose_ahead(chip, targets, ahead, {13, 0}, false)->passed_over;
  };
  CHECK(ahead_of("sm_90", {{"compute_86", {13, 0}}}) ==
        std::vector<std::string>{"sm_90a: nothing that the driver loads was compiled of it ahead "
                                 "of time, so that it needs HALFTONE_JIT=first"});
  CHECK(ahead_of("sm_86", {{"compute_86", {13, 0}}, {"sm_80", {13, 0}}}) ==
        std::vector<std::string>{"sm_86: what was compiled of it ahead of time is PTX, and cubins "
                                 "go first, so that it needs HALFTONE_JIT=first"});
}
