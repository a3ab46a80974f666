// SPDX-License-Identifier: Apache-2.0
// Products of blocks with scales on simulated chips: which are, and why others are not; whole steps
// beside the CPU's, one of them skipped; and faults that a kernel's text is given.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "halftone/error.hpp"
#include "laws/own_pair.hpp"
#include "products.hpp"
#include "simulation.hpp"

namespace halftone::tests {
namespace {

constexpr std::string_view kRun = "block_scaled_contraction::run<";
constexpr simulator::LaunchOptions kTruncating = {
    .traffic = false, .accumulation = simulator::Accumulation::truncating};

std::map<std::string, Product> products_of_training(std::string_view chip) {
  std::map<std::string, Product> products = products_of("blocks", chip);
  std::erase_if(products, [](const auto& each) { return each.first.starts_with("inference_"); });
  return products;
}

struct Steps {
  double off = 0;  ///< the largest share, over parameters, of what each moved that it is off by
  std::size_t findings = 0;
  int kernels = 0, changed = 0;  ///< of blocks that were compiled
};

/// Steps of a trainer on the chip beside the CPU's, with inputs whose blocks differ in size.
Steps train(const char* chip, const simulator::LaunchOptions& options, const Mutant& mutant = {},
            int steps = 3) {
  Steps result;
  const auto compile = [&](std::string text, const std::string& entry,
                           const std::string& architecture) {
    result.kernels += text.find(kRun) != text.npos;
    const bool is_mutant = mutate(text, kRun, mutant);
    auto compiled = compile_with_nvrtc(text, entry, architecture);
    result.changed += is_mutant;  // of a text that does not compile nothing is seen
    return compiled;
  };
  const auto observe = [&](const std::string&, const simulator::LaunchReport& report) {
    result.findings += report.findings.size();
  };
  Pair pair = make_pair(find_artifact("blocks"), "x86-64-v3", 36);
  Trainer trainer(pair.artifact, simulated(chip, options, compile, observe), pair.setup(1));
  // Rows and blocks of 32 differ by powers of two, so that scales do.
  const auto vary = [](std::vector<float>& values, std::size_t columns) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t row = i / columns, block = i % columns / 32;
      values[i] = std::ldexp(values[i], static_cast<int>((row * 5 + block * 3) % 7) - 5);
    }
  };
  for (const auto& [name, columns] :
       std::map<std::string, std::size_t>{{"one.weight", 112}, {"two.weight", 200}}) {
    std::vector<float> values = parameters_of(trainer).at(name);
    vary(values, columns);
    pair.trainer.set_parameter(name, values);
    trainer.set_parameter(name, values);
  }
  const Parameters before = parameters_of(trainer);
  for (int step = 0; step < steps; ++step) {
    CAPTURE(step);
    pair.draw();
    vary(pair.inputs.values.at("x"), 112);
    if (step == 1) pair.inputs.values.at("x")[5] = INFINITY;
    for (Trainer* each : {&pair.trainer, &trainer}) {
      each->step(pair.named_inputs());
      REQUIRE(each->updated() == (step != 1));
    }
  }
  const Parameters wanted = parameters_of(pair.trainer), got = parameters_of(trainer);
  for (const auto& [name, first] : before) {
    const Course course = course_of(first, wanted.at(name), got.at(name));
    CHECK(course.moved > 0);
    const double share = course.off / course.moved;
    result.off = std::isfinite(share) ? std::max(result.off, share)
                                      : std::numeric_limits<double>::infinity();
  }
  return result;
}

constexpr Mutant kMutants[] = {
    {"rows of a lane change places", "lane % 2 * 8", "(1 - lane % 2) * 8"},
    {"every part of a stage has the scales of its first",
     "constexpr int kPart = 4 * kIndex * kExtent", "constexpr int kPart = 0"},
    {"columns past the first eight have scales of the first", "first_of(kTile, 1)",
     "first_of(kTile, 0)"},
    {"lines of scales are those of codes", "line / kLines * pitch_ + place / kPlaces",
     "place / kPlaces * pitch_ + line / kLines"},
    {"and the other way round", ": place / kPlaces * pitch_ + line / kLines",
     ": line / kLines * pitch_ + place / kPlaces"},
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
      found.insert(name.substr(0, name.find_last_not_of("_0123456789") + 1));
    else
      CHECK(product.reason ==
            "rows of codes do not begin at multiples of 4 bytes, the least that is copied");
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
  struct Case {
    simulator::LaunchOptions options;
    double share;  // of what parameters moved, that they may be off by
  };
  // Where all digits are kept few numbers of 8 bits are rounded otherwise.
  const Case cases[] = {{{}, 0.03}, {kTruncating, 0.15}};
  for (const auto& [options, share] : cases) {
    const Steps steps = train("sm_120a", options);
    std::printf("off by %.4f of what it moved\n", steps.off);
    CHECK(steps.kernels == 6);
    CHECK(steps.findings == 0);
    CHECK(steps.off < share);
  }
}

TEST_CASE("faults of products of blocks are seen") {
  const double sound = train("sm_120a", {}, {}, 1).off;
  for (const Mutant& mutant : kMutants) {
    CAPTURE(std::string(mutant.fault));
    Steps steps;
    try {
      steps = train("sm_120a", {}, mutant, 1);
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
