// SPDX-License-Identifier: Apache-2.0
// Products of packed codes of 4 bits on a simulated chip: which are, whole steps beside the CPU's,
// one of them skipped, and faults that kernels' texts are given.
#include <doctest/doctest.h>

#include <cstdio>
#include <set>
#include <string>

#include "halftone/error.hpp"
#include "training.hpp"

namespace halftone::tests {
namespace {

constexpr std::string_view kRun = "float4_contraction::run<";
constexpr simulator::LaunchOptions kTruncating = {
    .traffic = false, .accumulation = simulator::Accumulation::truncating};

constexpr Mutant kFaults[] = {
    {"rows of a lane change places", "lane % 2 * 8", "(1 - lane % 2) * 8"},
    {"every part of a stage has the scales of its first", "kIndex * Its::kExtent + kLine", "kLine"},
    {"columns past the first eight have scales of the first", "first_of(kTile, 1)",
     "first_of(kTile, 0)"},
    {"scales of every stage are the first one's", "from_ += 4 * kParts;", ""},
    {"scales are those of another kind", "if constexpr (kPlaces == 16)",
     "if constexpr (kPlaces == 32)"},
    {"sums end after half of their words", "depth(4 * body.depth)", "depth(2 * body.depth)"},
    {"an operand has the other's scales", "rhs(matrix(body.rhs, body.rhs_scales",
     "rhs(matrix(body.rhs, body.lhs_scales"},
    {"lines of scales are as long as those of words", "body.rhs_scales, body.depth / 8",
     "body.rhs_scales, body.depth"},
};

}  // namespace

TEST_CASE("products of two operands of 4 bits are multiplied packed where chips do") {
  std::set<std::string> found;
  for (const auto& [name, product] : products_of("four_bits", "sm_120a")) {
    if (name.starts_with("inference_")) continue;
    CAPTURE(name);
    CHECK(product.is_of_4_bits);
    CHECK(product.reason == "");
    CHECK(product.promotes == !name.starts_with("one"));
    found.insert(name.substr(0, name.find_last_not_of("_0123456789") + 1));
  }
  CHECK(found == std::set<std::string>{"one", "one_weight_gradient", "two", "two_input_gradient",
                                       "two_weight_gradient", "three", "three_input_gradient",
                                       "three_weight_gradient"});
  for (const auto& [name, product] : products_of("four_bits", "sm_89")) {
    CAPTURE(name);
    CHECK(!product.is_of_4_bits);
    CHECK(product.reason == "an operand is scaled in blocks, so that its products share no scale");
  }
}

TEST_CASE("training with products of 4 bits goes as the CPU's, and steps are skipped alike") {
  struct Case {
    simulator::LaunchOptions options;
    double share;  // of what parameters moved, that they may be off by
  };
  // Where all digits are kept few numbers of 4 bits are rounded otherwise, but each by more.
  const Case cases[] = {{{}, 0.03}, {kTruncating, 0.2}};
  for (const auto& [options, share] : cases) {
    const Steps steps = train_beside_cpu("four_bits", kRun, options, {}, 3);
    std::printf("off by %.4f of what it moved\n", steps.off);
    CHECK(steps.kernels == 8);
    CHECK(steps.findings == 0);
    CHECK(steps.off < share);
  }
}

TEST_CASE("faults of products of 4 bits are seen") {
  const double sound = train_beside_cpu("four_bits", kRun, {}, {}, 1).off;
  for (const Mutant& mutant : kFaults) {
    CAPTURE(std::string(mutant.fault));
    Steps steps;
    try {
      steps = train_beside_cpu("four_bits", kRun, {}, mutant, 1);
    } catch (const Error& error) {  // it reads what is none of its operands
      const std::string what = error.what();
      CAPTURE(what);
      CHECK((what.find("out of bounds") != what.npos ||
             what.find("uninitialised read") != what.npos));
      continue;
    }
    std::printf("%s: off by %.4f\n", mutant.fault, steps.off);
    CHECK(steps.changed > 0);
    CHECK((steps.off > 0.03 + 4 * sound || steps.findings > 0));
  }
}

}  // namespace halftone::tests
