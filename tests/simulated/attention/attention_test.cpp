// SPDX-License-Identifier: Apache-2.0
// Attention as one kernel, and its gradient as two (decisions/0027), on simulated chips: the bits
// of their compositions, whose products they add in the same order, and errors no larger against
// the exact reference.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "attention_runs.hpp"

namespace halftone::tests {

namespace {

constexpr std::size_t kFirstMutants = 4;  ///< so many are for the quick list
constexpr Mutant kMutants[] = {
    {"the last block of keys is left out", "d", "while (own.number() < tiles) {",
     "while (own.number() < tiles - 1) {"},
    {"lanes of a row are not folded", "d", "int distance = 2; distance > 0; distance /= 2",
     "int distance = 1; distance > 0; distance /= 2"},
    {"weights of two rows are exchanged", "a", "weights[2 * kStep][0], weights[2 * kStep][1],",
     "weights[2 * kStep][1], weights[2 * kStep][0],"},
    {"what is kept in part counts as kept whole", "a", "return {number, found == Kept::all};",
     "return {number, true};"},
    {"half of the partial results are dropped", "d",
     "combine(reduction_, partial_[level][0][i], partial_[level][2][i])", "partial_[level][0][i]"},
    {"terms past the last key are added", "d",
     "if (!kAll && column + i >= body_.columns()) continue;", ""},
    {"the stage that is read is filled", "d", "place<kAsync>(kStageBytes - stage, next.number(),",
     "place<kAsync>(stage, next.number(),"},
    {"copies are not waited for", "d", "ptx::cp_async_wait_group<0>();", ""},
    {"values are those of another head", "a",
     "element * static_cast<long long>(body.columns()) * Tile::kValueColumns)", "0)"},
    {"a chunk of N2 goes on past its end", "mix", "if (from / kChunk == to / kChunk) return;",
     "return;"},
    {"the last row is not stored", "a", "row < product_.end_row;", "row < product_.end_row - 1;"},
    {"what is kept in part is left out", "b", "if (found != Kept::none)",
     "if (found == Kept::all)"},
};

constexpr const char* kByRows = "mix_input_gradient";
constexpr const char* kByColumns = "mix_input_gradient_2";

constexpr std::size_t kFirstGradientMutants = 5;
constexpr Mutant kGradientMutants[] = {
    {"the last block of queries is left out", kByColumns, "while (own.number() < tiles) {",
     "while (own.number() < tiles - 1) {"},
    {"a row reads what another reduced", kByColumns, "visit(stage, known_ + turn,",
     "visit(stage, known_,"},
    {"forward keeps sums as maxima", "mix", "result0[row] = reduced[0];",
     "result0[row] = reduced[1];"},
    {"rows are not transposed", kByColumns, "ptx::ldmatrix_x4_trans<kIndex",
     "ptx::ldmatrix_x4<kIndex"},
    {"a reduction goes without the second product", kByRows,
     "if constexpr (kTwo && Body::reads_sum2(kStage))", "if constexpr (false)"},
    {"the second product takes one step", kByRows, "second_queries_.template load<kStep>(0, rows)",
     "second_queries_.template load<0>(0, rows)"},
    {"score gradients are multiplied by values", kByRows, "shared + (kTwo ? 0 : kKeyBytes)",
     "shared + kKeyBytes"},
    {"what was reduced is not stored", kByRows, "if (column_of_lane() == 0)", "if (false)"},
    {"a lane's rows are one", kByColumns, "8 * eight + column_of_lane() + i;",
     "8 * eight + column_of_lane();"},
    {"weights and score gradients are exchanged", kByColumns, "exists ? terms[0] : T{}",
     "exists ? terms[1] : T{}"},
    {"columns past the last are stored", kByColumns, "if (column >= body_.columns()) continue;",
     ""},
    {"the stage that is read is filled", kByColumns,
     "place<kAsync>(kStageBytes - stage, next.number(),", "place<kAsync>(stage, next.number(),"},
    {"rows are known a block late", kByColumns, "know_rows(next.number(), kRows - turn);",
     "know_rows(own.number(), kRows - turn);"},
    {"keys are those of another head", kByColumns, "body.rhs2 + column_ * Tile::kValueColumns",
     "body.rhs2"},
};

}  // namespace

TEST_CASE("each chip joins what its tensor cores multiply, and the CPU nothing") {
  const Artifact joined = artifact_of("joined"), apart = artifact_of("joined_apart");
  for (const char* chip : {"sm_80", "sm_90a"}) CHECK(count_joined(joined, chip) == 5);
  CHECK(count_joined(joined, "sm_75") == 1);  // f16 alone
  CHECK(count_joined(joined, "cpu") == 0);
  for (const char* skeleton : {"attention", "attention_columns"}) {
    for (const char* chip : {"sm_80", "sm_90a"})
      CHECK(count_joined(joined, chip, Phase::backward, skeleton) == 5);
    CHECK(count_joined(joined, "sm_75", Phase::backward, skeleton) == 1);
    CHECK(count_joined(joined, "cpu", Phase::backward, skeleton) == 0);
  }
  for (const char* chip : {"sm_75", "sm_80", "sm_90a", "cpu"}) {
    CHECK(count_joined(apart, chip) == 0);
    CHECK(count_joined(apart, chip, Phase::backward) == 0);
    CHECK(count_joined(apart, chip, Phase::backward, "attention_columns") == 0);
  }
}

TEST_CASE("a step has the bits of its composition, for rows of any length") {
  struct Run {
    const char* chip;
    std::vector<std::int64_t> times;
  };
  const std::vector<std::int64_t> all = {1, 37, 64, 130};
  std::vector<Run> runs = {{"sm_75", {37}}, {"sm_80", {37, 130}}};
  if (is_whole())
    runs = {{"sm_75", all}, {"sm_80", all}, {"sm_90a", all}};
  else
    std::printf(
        "left out: sm_90a and most lengths; tests/run --exhaustive -R simulated_attention\n");
  for (const auto& [chip, times] : runs) {
    CAPTURE(std::string(chip));
    for (const std::int64_t time : times) {
      CAPTURE(time);
      const Given given(time);
      const auto joined = trained("joined", simulated(chip), given),
                 apart = trained("joined_apart", simulated(chip), given);
      REQUIRE(joined.size() == apart.size());
      for (std::size_t i = 0; i < joined.size(); ++i) {
        CAPTURE(i);
        CHECK(first_difference(joined[i], apart[i]) == -1);
      }
    }
  }
}

TEST_CASE("predictions are as near the exact ones as the declared reference's") {
  check_near_exact("sm_80", 70);
}

TEST_CASE("a step is as near the exact one as the declared reference's") {
  check_step_near_exact("sm_80");
}

TEST_CASE("rows of more keys than a chunk of N2 have the composition's bits") {
  const Given given = long_rows();
  const Device device = simulated("sm_80", {.traffic = false});
  CHECK(count_joined(artifact_of("long_rows"), "sm_80") == 1);
  CHECK(first_difference(predicted("long_rows", device, given, "mix"),
                         predicted("long_rows_apart", device, given, "mix")) == -1);
}

TEST_CASE("faults that a kernel's text is given are seen") {
  for (const Mutant& mutant : tried_of(kMutants, kFirstMutants)) {
    CAPTURE(std::string(mutant.fault));
    const bool is_long = mutant.output == "mix";
    const char* const model = is_long ? "long_rows" : "joined";
    const Given given = is_long ? long_rows() : Given(70);
    const auto run = [&](const Device& device) {
      return std::vector<std::vector<float>>{predicted(model, device, given, mutant.output)};
    };
    check_seen(mutant, "sm_80", run(simulated("sm_80")), run);
  }
}

TEST_CASE("faults that the kernels of a gradient are given are seen") {
  const Given given = gradients();
  const char* const outputs[] = {"mix"};
  const auto run = [&](const Device& device) {
    return trained("gradients", device, given, outputs);
  };
  const auto sound = run(simulated("sm_80"));
  CHECK(sound == trained("gradients_apart", simulated("sm_80"), given, outputs));
  for (const Mutant& mutant : tried_of(kGradientMutants, kFirstGradientMutants)) {
    CAPTURE(std::string(mutant.fault));
    check_seen(mutant, "sm_80", sound, run);
  }
}

}  // namespace halftone::tests
