// SPDX-License-Identifier: Apache-2.0
// Products of blocks with scales on simulated chips: which are, and why others are not; whole steps
// beside the CPU's, one of them skipped; and faults that a kernel's text is given.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "training.hpp"

namespace halftone::tests {
namespace {

constexpr std::string_view kRun = "block_scaled_contraction::run<";

std::map<std::string, Product> products_of_training(std::string_view chip) {
  std::map<std::string, Product> products = products_of("blocks", chip);
  std::erase_if(products, [](const auto& each) { return each.first.starts_with("inference_"); });
  return products;
}

constexpr Mutant kMutants[] = {
    {"rows of a lane change places", "lane % 2 * 8", "(1 - lane % 2) * 8"},
    {"every part of a stage has the scales of its first", "kIndex * Its::kExtent + kLine", "kLine"},
    {"columns past the first eight have scales of the first", "first_line_of<Codes>(kTile, 1)",
     "first_line_of<Codes>(kTile, 0)"},
    {"lines of scales are those of codes", "? lines * pitch + places", "? places * pitch + lines"},
    {"and the other way round", ": places * pitch + lines", ": lines * pitch + places"},
    {"scales of every stage are the first one's", "place_ += Layout::kDepth;", ""},
    {"words of turned lines take scales in memory's order",
     "return tile / 2 * 32 + tile % 2 * 2 + half;", "return 16 * tile + 8 * half;"},
    {"squares are as wide as blocks", "kRhsScaleLines = 64", "kRhsScaleLines = 32"},
    {"an operand has the other's scales", "rhs{body.rhs, body.rhs_scales",
     "rhs{body.rhs, body.lhs_scales"},
};

}  // namespace

TEST_CASE("products of blocks are multiplied with their scales where chips do, others say why") {
  std::set<std::string> found;
  for (const auto& [name, product] : products_of_training("sm_120a")) {
    CAPTURE(name);
    CHECK(product.is_of_blocks == product.reason.empty());
    if (product.is_of_blocks)
      found.insert(without_number(name));
    else
      CHECK(product.reason == kNoRowsOf4);
  }
  CHECK(found == std::set<std::string>{"one", "one_weight_gradient", "two", "two_input_gradient",
                                       "two_weight_gradient", "three"});
  const auto others = products_of_training("sm_89");
  CHECK(others.size() >= found.size() + 2);
  for (const auto& [name, product] : others) {
    CAPTURE(name);
    CHECK(!product.is_of_blocks);
    if (!name.starts_with("three"))
      CHECK(product.reason ==
            "an operand is scaled in blocks, so that its products share no scale");
  }
}

TEST_CASE("training with products of blocks goes as the CPU's, and steps are skipped alike") {
  check_training("blocks", kRun, 6, 0.15);
}

TEST_CASE("faults of products of blocks are seen") { check_faults("blocks", kRun, kMutants); }

}  // namespace halftone::tests
