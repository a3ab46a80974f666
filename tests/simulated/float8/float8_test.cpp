// SPDX-License-Identifier: Apache-2.0
// Products of 8-bit floats on simulated chips, by warps and by warp groups: which are, and why
// others are not; their sums, exact where they are and inside N13 and N14 elsewhere; whole steps
// beside the CPU's, one of them skipped; and faults that a kernel's text is given.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "halftone/error.hpp"
#include "laws/own_pair.hpp"
#include "products.hpp"
#include "replay.hpp"
#include "simulation.hpp"

namespace halftone::tests {
namespace {

constexpr std::string_view kRun = "float8_contraction::run<",
                           kRunOfGroups = "float8_warpgroup_contraction::run<",
                           kTurn = "transposed_codes::run<";
constexpr const char* kCopiesTakeLonger =
    "an operand lies across the sum, and a copy along it, as wgmma of 8 bits wants, would take "
    "longer than 8 bits save";

using Run = ProductsRun;

Run run(const char* model, std::int64_t batch, const simulator::LaunchOptions& options,
        const Mutant& mutant = {}, const char* chip = "sm_89", std::string_view run = kRun) {
  return run_products(model, batch, options, chip, run, mutant);
}

const std::set<std::string> kOfTraining = {
    "one", "one_weight_gradient", "two", "two_input_gradient", "two_weight_gradient", "three"};

constexpr Mutant kMutants[] = {
    {"bytes of two lines change places", "0x5140", "0x4150"},
    {"columns change places", "0x5410", "0x7632"},
    {"halves of the depth change places", "(kIndex * 32 + kHalf * 16)",
     "(kIndex * 32 + 16 - kHalf * 16)"},
    {"rows are named in memory's order", "tile / 2 * 32 + index % 8 * 4 + tile % 2 * 2 + index / 8",
     "16 * tile + index"},
    {"words are read from another chunk", "32 * pair + lane / 4 * kRun",
     "32 * pair + (lane / 4 * kRun ^ 16)"},
    {"the last part is not added", "if (!is_empty_) promote(part, sums);", ""},
    {"parts are added twice", "part[i][j][place] = 0.0f;", ";"},
    {"an operand is read as the other format", "mma_m16n8k32_e5m2_e4m3(sums",
     "mma_m16n8k32_e4m3(sums"},
};

}  // namespace

TEST_CASE("scaled products are of 8 bits on chips that multiply them as such, and others say why") {
  for (const char* chip : {"sm_89", "sm_120a"}) {
    CAPTURE(std::string(chip));
    std::set<std::string> found;
    for (const auto& [name, product] : products_of("products", chip)) {
      CAPTURE(name);
      CHECK(product.is_of_8_bits == product.reason.empty());
      if (!product.is_of_8_bits) {
        CHECK(product.reason == kNoRowsOf4);
      } else {
        CHECK(product.promotes == (name.find("two") == name.npos));
        if (!name.starts_with("inference_")) found.insert(name);
      }
    }
    CHECK(found == kOfTraining);
  }
  const auto others = products_of("products", "sm_80");
  CHECK(others.size() >= kOfTraining.size() + 2);
  for (const auto& [name, product] : others) {
    CAPTURE(name);
    CHECK(!product.is_of_8_bits);
    CHECK(product.reason == "sm_80 multiplies no floats of 8 bits as such");
  }
  for (const char* chip : {"sm_90a", "sm_100a"}) {
    const auto by_copies = products_of("products", chip);
    CHECK(!by_copies.at("one").is_of_8_bits);
    for (const char* name : {"one", "two"}) CHECK(by_copies.at(name).reason == kNoRowsOf16);
  }
}

TEST_CASE("products of codes that lie in memory as such need no native instruction") {
  std::set<std::string> found;
  for (const auto& [name, product] : products_of("products_plain", "sm_90a"))
    if (product.is_of_8_bits && !name.starts_with("inference_")) found.insert(name);
  CHECK(found == kOfTraining);
}

TEST_CASE("sums of 8-bit products are exact where they are, and inside N13 and N14 elsewhere") {
  for (const char* model : {"products_alike", "products_plain"}) {
    CAPTURE(std::string(model));
    for (const auto& options : {simulator::LaunchOptions{}, kTruncating}) {
      for (const std::int64_t batch : {36, 140}) {
        CAPTURE(batch);
        const Run result = run(model, batch, options);
        CAPTURE(result.tally.first);
        CHECK(result.tally.clean());
        CHECK(result.findings == 0);
        CHECK(result.tally.kernels == kOfTraining);
        CHECK(result.tally.exact_sums == static_cast<std::int64_t>(kOfTraining.size()));
        // Scaled ones store no sum as it is.
        CHECK((result.tally.bounded > 0) == (std::string(model) == "products_plain"));
      }
    }
  }
}

TEST_CASE("warp groups multiply 8 bits that lie along the sum, inside N13 and N14") {
  for (const char* model : {"along", "along_plain"}) {
    CAPTURE(std::string(model));
    const bool is_plain = std::string(model) == "along_plain";
    const std::set<std::string> kernels = {"one", "two"};
    for (const auto& options : {simulator::LaunchOptions{}, kTruncating}) {
      const Run result = run(model, 140, options, {}, "sm_90a", kRunOfGroups);
      CAPTURE(result.tally.first);
      CHECK(result.tally.clean());
      CHECK(result.findings == 0);
      CHECK(result.tally.kernels == kernels);
      CHECK(result.tally.exact_sums == 2);
      CHECK((result.tally.bounded > 0) == is_plain);
    }
  }
  for (const auto& [name, product] : products_of("along", "sm_90a")) {
    CAPTURE(name);
    CHECK(product.promotes == (name == "one" || name == "inference_one"));
    if (!product.is_of_8_bits) CHECK(product.reason == kCopiesTakeLonger);
  }
}

TEST_CASE("gradients are multiplied by warp groups, of codes that a kernel turns") {
  const std::set<std::string> products = {"one", "two", "one_weight_gradient",
                                          "two_input_gradient"};
  for (const char* model : {"turned", "turned_apart"}) {
    std::set<std::string> found;
    for (const auto& [name, product] : products_of(model, "sm_90a")) {
      CAPTURE(name);
      if (product.is_of_8_bits && !name.starts_with("inference_")) found.insert(name);
      CHECK(product.reason == (product.is_of_8_bits ? "" : kCopiesTakeLonger));
      CHECK((!product.is_of_8_bits || product.promotes == (name.find("one") != name.npos)));
    }
    CHECK(found == products);
  }
  for (const std::int64_t batch : {16, 140}) {
    CAPTURE(batch);
    const Run turning = run("turned", batch, {}, {}, "sm_90a", kTurn);
    CAPTURE(turning.tally.first);
    CHECK(turning.tally.clean());
    CHECK(turning.findings == 0);
    CHECK(turning.tally.launches == 3);  // one's gradient, x and two's weight, once each
  }
  const Run result = run("turned", 140, kTruncating, {}, "sm_90a", kRunOfGroups);
  CAPTURE(result.tally.first);
  CHECK(result.tally.clean());
  CHECK(result.findings == 0);
  CHECK(result.tally.kernels == products);
  CHECK(result.tally.exact_sums == static_cast<std::int64_t>(products.size()));
}

TEST_CASE("faults of products by warp groups are seen") {
  struct Fault {
    const char* model;
    std::string_view run;
    Mutant mutant;
  };
  const Fault faults[] = {
      {"along", kRunOfGroups, {"copies fetch the lines' first half", "2 * x, y", "x, y"}},
      {"along",
       kRunOfGroups,
       {"half of the depth is multiplied", "pairs.depth = body.depth / 2",
        "pairs.depth = body.depth / 4"}},
      {"along",
       kRunOfGroups,
       {"an operand is read as the other format", "HALFTONE_SIZES(e4m3_e5m2, \"e4m3.e5m2\")",
        "HALFTONE_SIZES(e4m3_e5m2, \"e4m3.e4m3\")"}},
      {"along",
       kRunOfGroups,
       {"parts go on", "rhs + (step * 32 >> 4), step);", "rhs + (step * 32 >> 4), 1);"}},
      {"along",
       kRunOfGroups,
       {"the last part alone is left", "sums[i][j] += part[j]", "sums[i][j] = part[j]"}},
      {"along",
       kRunOfGroups,
       {"parts are added while they are under way",
        "ptx::wgmma_wait_group<0>();\n      ptx::wgmma_take", "ptx::wgmma_take"}},
      {"turned", kTurn, {"bytes of two lines change places", "0x5140", "0x4150"}},
      {"turned", kTurn, {"chunks are read from where they are not", "chunk ^ at / 4 % 8", "chunk"}},
      {"turned", kTurn, {"rows are read past the last", "line + i < lines", "line + i <= lines"}},
      {"turned", kTurn, {"the block is not waited for", "__syncthreads();", ""}},
  };
  for (const Fault& fault : faults) {
    CAPTURE(std::string(fault.mutant.fault));
    try {
      const Run result = run(fault.model, 140, {}, fault.mutant, "sm_90a", fault.run);
      CHECK(result.changed > 0);
      CHECK((!result.tally.clean() || result.findings > 0));
    } catch (const Error& error) {  // of what ends a launch
      CHECK(std::string(error.what()).find("failed on 'simulated:sm_90a'") != std::string::npos);
    }
  }
}

TEST_CASE("faults that a kernel's text is given are seen") {
  for (const Mutant& mutant : kMutants) {
    CAPTURE(std::string(mutant.fault));
    const Run result = run("products_alike", 140, {}, mutant);
    CHECK(result.changed > 0);
    CHECK((!result.tally.clean() || result.findings > 0));
  }
}

TEST_CASE("training with 8-bit products goes as the CPU's, and steps are skipped alike") {
  struct Case {
    const char *model, *chip;
    simulator::LaunchOptions options;
    double share;  // of what parameters moved, that they may be off by
  };
  // Where all digits are kept few numbers of 8 bits are rounded otherwise.
  const Case cases[] = {{"products", "sm_89", {}, 0.03},
                        {"products", "sm_120a", kTruncating, 0.15},
                        {"turned_apart", "sm_90a", kTruncating, 0.15},
                        {"in_memory_apart", "sm_100a", kTruncating, 0.15}};
  for (const auto& [model, chip, options, share] : cases) {
    CAPTURE(std::string(model));
    CAPTURE(std::string(chip));
    Pair pair = make_pair(find_artifact(model), "x86-64-v3", 24);
    Trainer trainer(pair.artifact, simulated(chip, options), pair.setup(1));
    const Parameters before = parameters_of(trainer);
    for (int step = 0; step < 4; ++step) {
      CAPTURE(step);
      pair.draw();
      if (step == 2) pair.spoil(INFINITY);
      for (Trainer* each : {&pair.trainer, &trainer}) {
        each->step(pair.named_inputs());
        REQUIRE(each->updated() == (step != 2));
      }
    }
    const Parameters wanted = parameters_of(pair.trainer), got = parameters_of(trainer);
    for (const auto& [name, first] : before) {
      CAPTURE(name);
      const Course course = course_of(first, wanted.at(name), got.at(name));
      std::printf("%s, %s: off by %.3f of what it moved\n", chip, name.c_str(),
                  course.off / course.moved);
      CHECK(course.moved > 0);
      CHECK(course.off < share * course.moved);
    }
  }
}

}  // namespace halftone::tests
