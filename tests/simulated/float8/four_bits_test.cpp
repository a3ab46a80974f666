// SPDX-License-Identifier: Apache-2.0
// Products of packed codes of 4 bits on a simulated chip: which are, whole steps beside the CPU's,
// one of them skipped, and faults that kernels' texts are given.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "training.hpp"

namespace halftone::tests {
namespace {

constexpr std::string_view kRun = "float4_contraction::run<";

constexpr Mutant kFaults[] = {
    {"rows of a lane change places", "lane % 2 * 8", "(1 - lane % 2) * 8"},
    {"every part of a stage has the scales of its first", "kIndex * Its::kExtent + kLine", "kLine"},
    {"columns past the first eight have scales of the first", "first_line_of<Codes>(kTile, 1)",
     "first_line_of<Codes>(kTile, 0)"},
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
    found.insert(without_number(name));
  }
  CHECK(found == products_of_4_bits());
  for (const auto& [name, product] : products_of("four_bits", "sm_89")) {
    CAPTURE(name);
    CHECK(!product.is_of_4_bits);
    CHECK(product.reason == "an operand is scaled in blocks, so that its products share no scale");
  }
}

TEST_CASE("training with products of 4 bits goes as the CPU's, and steps are skipped alike") {
  // A number of 4 bits that is rounded otherwise than the CPU's is off by more than one of 8.
  check_training("four_bits", kRun, 8, 0.2);
}

TEST_CASE("faults of products of 4 bits are seen") { check_faults("four_bits", kRun, kFaults); }

}  // namespace halftone::tests
