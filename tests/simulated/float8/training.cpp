// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "laws/own_pair.hpp"
#include "simulation.hpp"

namespace halftone::tests {

Steps train_beside_cpu(const char* artifact, std::string_view run,
                       const simulator::LaunchOptions& options, const Mutant& mutant, int steps) {
  Steps result;
  const auto compile = [&](std::string text, const std::string& entry,
                           const std::string& architecture) {
    result.kernels += text.find(run) != text.npos;
    const bool is_mutant = mutate(text, run, mutant);
    auto compiled = compile_with_nvrtc(text, entry, architecture);
    result.changed += is_mutant;  // of a text that does not compile nothing is seen
    return compiled;
  };
  const auto observe = [&](const std::string&, const simulator::LaunchReport& report) {
    result.findings += report.findings.size();
  };
  Pair pair = make_pair(find_artifact(artifact), "x86-64-v3", 36);
  Trainer trainer(pair.artifact, simulated("sm_120a", options, compile, observe), pair.setup(1));
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

}  // namespace halftone::tests
