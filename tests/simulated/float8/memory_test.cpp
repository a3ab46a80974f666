// SPDX-License-Identifier: Apache-2.0
// Products of 8 bits, of blocks by powers of two, and of packed codes of 4 bits, whose sums lie in
// tensor memory, on simulated chips: which are; their sums, exact where they are and inside N13 and
// N14 elsewhere; whole steps of blocks beside the CPU's, one of them skipped; and faults that a
// kernel's text is given.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "halftone/error.hpp"
#include "training.hpp"

namespace halftone::tests {
namespace {

constexpr std::string_view kRun = "tensor_memory_contraction::run<";
constexpr const char* kChips[] = {"sm_100a", "sm_103a", "sm_110a"};
constexpr Trained kBlocks = {"sm_100a", 140, 144, 208};

constexpr Mutant kFaultsOfNumbers[] = {
    {"an operand is read as the other format", "inline constexpr unsigned int kFormat<f8e5m2> = 1",
     "inline constexpr unsigned int kFormat<f8e5m2> = 0"},
    {"the way that rhs lies is turned", "(Body::kTransposeRhs ? 0u : 1u) << 16",
     "(Body::kTransposeRhs ? 1u : 0u) << 16"},
    {"steps go on in the wrong direction",
     "kLhsStep = Body::kTransposeLhs ? kStep * kLineBytes : kStep",
     "kLhsStep = Body::kTransposeLhs ? kStep : kStep"},
    {"parts go on", "const int goes_on = Body::kPromotes ? !kBegins : kIndex == 0 ? i : 1;",
     "const int goes_on = 1;"},
    {"sums of the next part go where those of the last are not taken yet",
     "storage_.wait(storage_.taken(buffer_.stage), buffer_.parity ^ 1);", ""},
    {"the last part alone is left", "return sum + part;", "return part;"},
    {"sums are taken before they are whole",
     "storage.wait(storage.whole(buffer.stage), buffer.parity);", ""},
    {"stages are filled before they are empty",
     "storage.wait(storage.empty(turn.stage), turn.parity ^ 1);\n      "
     "ptx::mbarrier_arrive_expect_tx",
     "ptx::mbarrier_arrive_expect_tx"},
    {"both warp groups finish the first columns", "const int column = group * Tile::kOwnColumns;",
     "const int column = 0;"},
    {"splits are read from another word", "shared + kAddress + 4) : 1", "shared + kAddress) : 1"},
};

constexpr Mutant kFaultsOfBlocks[] = {
    {"every step has the scales of the first", "kInstruct | kIndex << 4 | kIndex << 29",
     "kInstruct"},
    {"squares are as wide as blocks", "kRhsScaleLines = 64", "kRhsScaleLines = 32"},
    {"words of scales change places", "line % 128 / 32 * 4", "(line % 128 / 32 ^ 1) * 4"},
    {"lines of scales are those of codes", "? lines * pitch + places", "? places * pitch + lines"},
    {"and the other way round", ": places * pitch + lines", ": lines * pitch + places"},
    {"scales of every stage are the first one's",
     "rhs.load(place.column + i * kThreads + thread, k,",
     "rhs.load(place.column + i * kThreads + thread, 0,"},
};

constexpr Trained kPairs = {"sm_100a", 272};  // of two stages in sums over the batch

constexpr Mutant kFaultsOfPairs[] = {
    {"every step has the scales of the first",
     "scales += kIndex * (1 + Tile::kBlocks) * kScaleColumns;", ""},
    {"words of a stage's scales change places", "j * (1 + Tile::kBlocks)",
     "(j ^ 1) * (1 + Tile::kBlocks)"},
    {"scales of every stage are the first one's", "const int part = place / kStep + i;",
     "const int part = i;"},
    {"an operand has the other's scales", "PackedScales{body.rhs_scales",
     "PackedScales{body.lhs_scales"},
    {"lines of scales are as long as those of codes", "body.rhs_scales, body.depth / kStep",
     "body.rhs_scales, body.depth"},
    {"sums end after half of their words", "depth(sizeof(int) * body.depth)",
     "depth(2 * body.depth)"},
    {"the second part of a stage goes on from the first", "Body::kPromotes ? !kBegins",
     "Body::kPromotes ? kIndex > 0"},
    {"columns are counted in bytes", "rhs, full, k / kElementBytes", "rhs, full, k"},
};

}  // namespace

TEST_CASE("chips with tensor memory multiply codes that lie either way, of which none are turned") {
  for (const char* model : {"in_memory", "in_memory_apart"}) {
    CAPTURE(std::string(model));
    std::set<std::string> found;
    for (const auto& [name, product] : products_of(model, "sm_100a")) {
      CAPTURE(name);
      CHECK(product.is_in_memory !=
            product.is_of_8_bits);  // by warps, as f16, where that is faster
      CHECK(product.reason.empty());
      CHECK(product.promotes == (name.find("one") != name.npos));
      if (product.is_in_memory && !name.starts_with("inference_")) found.insert(name);
    }
    CHECK(found == std::set<std::string>{"one", "one_weight_gradient", "two", "two_input_gradient",
                                         "two_weight_gradient"});
  }
}

TEST_CASE("blocks by powers of two are multiplied there, and those without rows of 16 bytes not") {
  for (const char* chip : kChips) {
    CAPTURE(std::string(chip));
    std::set<std::string> found;
    for (const auto& [name, product] : products_of("blocks_in_memory", chip)) {
      CAPTURE(name);
      const std::string kind = without_number(name);
      if (product.is_in_memory && !name.starts_with("inference_")) found.insert(kind);
      if (!product.is_in_memory) CHECK(product.reason == kNoRowsOf4);
      CHECK(!product.is_of_blocks);
    }
    CHECK(found == std::set<std::string>{"one", "one_weight_gradient", "two", "two_input_gradient",
                                         "two_weight_gradient", "three"});
  }
}

TEST_CASE("products of two operands of 4 bits are multiplied packed there") {
  for (const char* chip : kChips) {
    CAPTURE(std::string(chip));
    std::set<std::string> found;
    for (const auto& [name, product] : products_of("four_bits", chip)) {
      if (name.starts_with("inference_")) continue;
      CAPTURE(name);
      CHECK(product.is_of_4_bits);
      CHECK(product.is_in_memory);
      CHECK(product.reason == "");
      CHECK(product.promotes == !name.starts_with("one"));
      found.insert(without_number(name));
    }
    CHECK(found == products_of_4_bits());
  }
}

TEST_CASE("sums in tensor memory are exact where they are, and inside N13 and N14 elsewhere") {
  for (const auto& options : {simulator::LaunchOptions{}, kTruncating}) {
    const ProductsRun result = run_products("in_memory", 140, options, "sm_100a", kRun);
    CAPTURE(result.tally.first);
    CHECK(result.tally.clean());
    CHECK(result.findings == 0);
    CHECK(result.tally.exact_sums == 5);
  }
}

TEST_CASE("faults of sums in tensor memory are seen") {
  for (const Mutant& mutant : kFaultsOfNumbers) {
    CAPTURE(std::string(mutant.fault));
    try {
      const ProductsRun result = run_products("in_memory", 140, {}, "sm_100a", kRun, mutant);
      CHECK(result.changed > 0);
      CHECK((!result.tally.clean() || result.findings > 0));
    } catch (const Error& error) {  // of what ends a launch
      CHECK(std::string(error.what()).find("failed on 'simulated:sm_100a'") != std::string::npos);
    }
  }
}

TEST_CASE("training with blocks in tensor memory goes as the CPU's, and steps are skipped alike") {
  check_training("blocks_in_memory", kRun, 6, 0.15, kBlocks);
}

TEST_CASE("faults of blocks in tensor memory are seen") {
  check_faults("blocks_in_memory", kRun, kFaultsOfBlocks, kBlocks);
}

TEST_CASE("training with 4 bits in tensor memory goes as the CPU's, and steps are skipped alike") {
  // A number of 4 bits that is rounded otherwise than the CPU's is off by more than one of 8.
  check_training("four_bits", kRun, 8, 0.2, kPairs);
}

TEST_CASE("faults of 4 bits in tensor memory are seen") {
  check_faults("four_bits", kRun, kFaultsOfPairs, kPairs);
}

}  // namespace halftone::tests
