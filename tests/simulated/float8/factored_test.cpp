// SPDX-License-Identifier: Apache-2.0
// Products of blocks with scales of f32 on simulated chips: which are of codes, and why others are
// not; whole steps beside the CPU's, one of them skipped; and faults that a kernel's text is given.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "training.hpp"

namespace halftone::tests {
namespace {

constexpr std::string_view kRun = "factored_contraction::run<",
                           kRunOfGroups = "factored_warpgroup_contraction::run<",
                           kRunInMemory = "tensor_memory_contraction::run<";
constexpr Trained kSizes = {.chip = "sm_89", .batch = 140, .of_one = 144, .of_two = 272},
                  kOfGroups = {.chip = "sm_90a", .batch = 140, .of_one = 144, .of_two = 272},
                  kInMemory = {.chip = "sm_100a", .batch = 140, .of_one = 144, .of_two = 272};

constexpr Mutant kFaults[] = {
    {"rows 8 to 15 have factors of the first", "lhs_.template of<2 * kI + 1>",
     "lhs_.template of<2 * kI>"},
    {"a lane's columns have one factor", "rhs_.template of<kJ, 1>", "rhs_.template of<kJ>"},
    {"eights of lines have factors of the first", "(kEight / 2, kEight % 2)", "(kEight / 2, 0)"},
    {"columns of turned words are those of memory", "kByWords ? 4 : 1", "kByWords ? 1 : 1"},
    {"rhs has no factors", "{low * left, low * right,", "{low, low,"},
    {"factors of every part are the first one's", "from_ += step_;", ";"},
    {"factors are those of the part behind",
     "if (tile != 0 && tile % kTilesPerPart == 0) promote(part, sums);\n      "
     "addition_.begin(stage);",
     "addition_.begin(stage);\n      "
     "if (tile != 0 && tile % kTilesPerPart == 0) promote(part, sums);"},
    {"parts are not added before the last",
     "if (tile != 0 && tile % kTilesPerPart == 0) promote(part, sums);", ""},
    {"squares are as high as half of them", "kRhsScaleLines = 128", "kRhsScaleLines = 64"},
    {"lines of scales are those of codes", "? lines * pitch + places", "? places * pitch + lines"},
    {"and the other way round", ": places * pitch + lines", ": lines * pitch + places"},
    {"an operand has the other's factors", "rhs{body.rhs, body.rhs_scales",
     "rhs{body.rhs, body.lhs_scales"},
};

constexpr Mutant kFaultsOfGroups[] = {
    {"rows 8 to 15 have factors of the first", "ptx::ld_shared<32>(rows)",
     "ptx::ld_shared<0>(rows)"},
    {"a lane's columns have one factor", "of_columns[place % 2]", "of_columns[0]"},
    {"all warps have factors of the first", "const int row = own_row + thread / 32 * 16",
     "const int row = own_row"},
    {"rhs has lhs' factors", "Whole::kRows + own_column +", "own_column +"},
    {"factors of every part are the first one's", "2 * k / Body", "0 * k / Body"},
    {"squares are as high as half of them", "kRhsScaleLines = 128", "kRhsScaleLines = 64"},
    {"a stage is as long as one of 16 bits", "2 * k / Body", "k / Body"},
    {"lines past the ends have factors", "lines[i].is_inside ? 4 : 0", "4"},
    {"a stage is full without factors", "kArrivals = Copies::kArrivals + kThreads",
     "kArrivals = Copies::kArrivals"},
};

constexpr Mutant kFaultsInMemory[] = {
    {"rows 8 to 15 have factors of the first", "ptx::ld_shared<32>(rows)",
     "ptx::ld_shared<0>(rows)"},
    {"a lane's columns have one factor", "columns_[place % 2]", "columns_[0]"},
    {"the second sixteen rows have factors of the first", "+ row_ + 64 * i", "+ row_"},
    {"all warps have factors of the first", "row_(4 * (row + static_cast<int>",
     "row_(4 * (static_cast<int>"},
    {"rhs has lhs' factors", "(Tile::kRows + column + (kAreAlike", "(column + (kAreAlike"},
    {"factors of every part are the first one's", "lhs.at(line, k)", "lhs.at(line, 0)"},
    {"lines of scales are those of codes", "? lines * pitch + places", "? places * pitch + lines"},
    {"and the other way round", ": places * pitch + lines", ": lines * pitch + places"},
    {"squares are as high as half of them", "kRhsScaleLines = 128", "kRhsScaleLines = 64"},
    {"lines past the ends have factors", "is_inside ? 4 : 0", "4"},
    {"factors are read before they are there",
     "storage_.wait(storage_.factors_full(turn_.stage), turn_.parity);", ";"},
};

/// Of training, those that are what `is` says; the reason of all others is how rows of codes lie.
std::set<std::string> where_rows_fit(const char* artifact, const char* chip, bool Product::*is) {
  std::set<std::string> found;
  for (const auto& [name, product] : products_of(artifact, chip)) {
    if (name.starts_with("inference_") || name.starts_with("four")) continue;
    CAPTURE(name);
    CHECK(product.*is == product.reason.empty());
    if (product.*is)
      found.insert(without_number(name));
    else
      CHECK((product.reason == kNoRowsOf16 || product.reason == kNoRowsOf4));
  }
  return found;
}

}  // namespace

TEST_CASE("products of blocks are of codes where their parts have factors, others say why") {
  for (const char* chip : {"sm_89", "sm_120a"}) {
    CAPTURE(chip);
    std::set<std::string> found;
    for (const auto& [name, product] : products_of("factored", chip)) {
      if (name.starts_with("inference_")) continue;
      CAPTURE(name);
      CHECK(product.is_by_factors == product.reason.empty());
      CHECK(!product.is_of_blocks);
      if (product.is_by_factors)
        found.insert(without_number(name));
      else if (name.starts_with("four"))
        CHECK(product.reason ==
              "blocks have scales of f32, which multiply sums of 128 products, as accumulate "
              "promoted alone has them");
      else
        CHECK(product.reason == kNoRowsOf4);
    }
    CHECK(found == std::set<std::string>{"one", "one_input_gradient", "one_weight_gradient", "two",
                                         "two_input_gradient", "two_weight_gradient", "three"});
  }
  for (const auto& [name, product] : products_of("factored", "sm_80")) {
    CAPTURE(name);
    CHECK(!product.is_by_factors);
    CHECK(product.reason == "sm_80 multiplies no floats of 8 bits as such");
  }
}

TEST_CASE("warp groups multiply codes of blocks along the sum, or turned, others say why") {
  CHECK(where_rows_fit("factored_by_groups", "sm_90a", &Product::is_by_factors) ==
        std::set<std::string>{"one", "one_input_gradient", "one_weight_gradient", "two",
                              "two_weight_gradient"});
}

TEST_CASE("products of blocks are of codes in tensor memory where rows have 16 bytes") {
  for (const char* chip : {"sm_100a", "sm_103a", "sm_110a"}) {
    CAPTURE(std::string(chip));
    CHECK(where_rows_fit("factored", chip, &Product::is_in_memory) ==
          std::set<std::string>{"one", "one_input_gradient", "one_weight_gradient", "two"});
  }
}

TEST_CASE("training with products by factors goes as the CPU's, and steps are skipped alike") {
  check_training("factored", kRun, 7, 0.15, kSizes);
  check_training("factored", kRun, 5, 0.15, kOfGroups);  // small products, of codes along the sum
  check_training("factored_by_groups", kRunOfGroups, 4, 0.15, kOfGroups);
  check_training("factored", kRunInMemory, 4, 0.15, kInMemory);
}

TEST_CASE("faults of products by factors are seen") {
  check_faults("factored", kRun, kFaults, kSizes);
  check_faults("factored_by_groups", kRunOfGroups, kFaultsOfGroups, kOfGroups);
  check_faults("factored", kRunInMemory, kFaultsInMemory, kInMemory);
}

}  // namespace halftone::tests
