// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "halftone/error.hpp"
#include "laws/own_pair.hpp"

namespace halftone::tests {
namespace {

struct Steps : Watched {
  double off = 0;  ///< the largest share, over parameters, of what each moved that it is off by
};

Steps train_beside_cpu(const char* artifact, const Trained& trained, const Asked& asked,
                       const simulator::LaunchOptions& options, int steps) {
  Steps result;
  Pair pair = make_pair(find_artifact(artifact), "x86-64-v3", trained.batch);
  Trainer trainer(pair.artifact, watched_device(trained.chip, options, asked, result),
                  pair.setup(1));
  // Rows and blocks of 32 differ by powers of two, so that scales do.
  const auto vary = [](std::vector<float>& values, std::size_t columns) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t row = i / columns, block = i % columns / 32;
      values[i] = std::ldexp(values[i], static_cast<int>((row * 5 + block * 3) % 7) - 5);
    }
  };
  for (const auto& [name, columns] : std::map<std::string, std::size_t>{
           {"one.weight", trained.of_one}, {"two.weight", trained.of_two}}) {
    std::vector<float> values = parameters_of(trainer).at(name);
    vary(values, columns);
    pair.trainer.set_parameter(name, values);
    trainer.set_parameter(name, values);
  }
  const Parameters before = parameters_of(trainer);
  for (int step = 0; step < steps; ++step) {
    CAPTURE(step);
    pair.draw();
    vary(pair.inputs.values.at("x"), trained.of_one);
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

/// Where all digits are kept few numbers are rounded otherwise than the CPU's.
constexpr double kShareOfAllDigits = 0.03;

}  // namespace

void check_training(const char* artifact, std::string_view run, int kernels, double share,
                    const Trained& trained) {
  struct Case {
    simulator::LaunchOptions options;
    double share;
  };
  for (const Case& of : {Case{{}, kShareOfAllDigits}, Case{kTruncating, share}}) {
    const Steps steps = train_beside_cpu(artifact, trained, {run}, of.options, 3);
    std::printf("off by %.4f of what it moved\n", steps.off);
    CHECK(steps.kernels == kernels);
    CHECK(steps.findings == 0);
    CHECK(steps.off < of.share);
  }
}

void check_faults(const char* artifact, std::string_view run, std::span<const Mutant> mutants,
                  const Trained& trained) {
  const double sound = train_beside_cpu(artifact, trained, {run}, {}, 1).off;
  for (const Mutant& mutant : mutants) {
    CAPTURE(std::string(mutant.fault));
    Steps steps;
    try {
      steps = train_beside_cpu(artifact, trained, {run, mutant}, {}, 1);
    } catch (const Error& error) {  // it reads what is none of its operands, or not there yet
      const std::string what = error.what();
      CAPTURE(what);
      CHECK((what.find("out of bounds") != what.npos ||
             what.find("uninitialised read") != what.npos ||
             what.find("operation in flight") != what.npos || what.find("race") != what.npos));
      continue;
    }
    std::printf("%s: off by %.4f\n", mutant.fault, steps.off);
    CHECK(steps.changed > 0);
    CHECK((steps.off > kShareOfAllDigits + 4 * sound || steps.findings > 0));
  }
}

}  // namespace halftone::tests
