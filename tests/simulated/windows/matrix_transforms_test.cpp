// SPDX-License-Identifier: Apache-2.0
// Long convolutions by products of matrices (docs/decisions/0059) on simulated chips whose products
// run on tensor cores: results and gradients are within N15 of exact ones, and no fault's are.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "halftone/trainer.hpp"
#include "laws/own_pair.hpp"
#include "simulation.hpp"

namespace halftone::tests {

namespace {

constexpr double kF16 = 0x1p-11, kBf16 = 0x1p-8;

/// Values by what they are of: outputs, and the gradients of filters and of inputs.
using Values = std::map<std::string, std::vector<double>>;

/// Of a value: by two sides of which roundoff, and through how many convolutions.
struct Bound {
  double roundoff;
  int convolutions;
};
const std::map<std::string, Bound> kBounds = {
    {"a", {kF16, 1}},         {"b", {kBf16, 1}},       {"c", {kF16, 1}},  {"a_filter", {kF16, 2}},
    {"b_filter", {kBf16, 2}}, {"c_filter", {kF16, 2}}, {"x", {kBf16, 2}}, {"z", {kF16, 2}}};

/// Compiles texts with `from`, if their entry's name has `of`, with `to` in each of its places.
struct Fault {
  const char *name, *of, *from, *to;
  bool changed = false;

  auto compile() {
    return [this](std::string text, const std::string& entry, const std::string& architecture) {
      const std::string before = from, after = to;
      if (entry.find(of) != entry.npos)
        for (std::size_t at = text.find(before); at != text.npos;
             at = text.find(before, at + after.size())) {
          text.replace(at, before.size(), after);
          changed = true;
        }
      return compile_with_nvrtc(text, entry, architecture);
    };
  }
};

Values stepped(Pair& pair, const Device& device) {
  Trainer trainer(pair.artifact, device, pair.setup(1));
  trainer.step(pair.named_inputs());
  CHECK(trainer.updated());
  Values values;
  const auto put = [&](const std::string& name, std::span<const float> found) {
    values[name] = {found.begin(), found.end()};
  };
  for (const char* output : {"a", "b", "c"}) put(output, trainer.output(output));
  for (const char* input : {"x", "z"}) put(input, trainer.input_gradient(input));
  for (const std::string& filter : trainer.parameter_names()) put(filter, trainer.gradient(filter));
  return values;
}

reference::Tensors<double> in_double(const reference::Tensors<float>& tensors) {
  reference::Tensors<double> exact;
  for (const auto& [name, values] : tensors) exact[name] = {values.begin(), values.end()};
  return exact;
}

Values exact_values(const Pair& pair) {
  const reference::Exact exact(pair.description, pair.symbols);
  const auto forward = exact.forward(exact.initial_state(in_double(pair.state.parameters)),
                                     {in_double(pair.inputs.values), {}});
  const auto gradients = exact.backward(forward);
  Values values;
  for (const auto& [name, bound] : kBounds) {
    const auto node = static_cast<std::size_t>(exact.find(name));
    values[name] = name.size() == 1 && name < "d" ? forward.values[node] : gradients[node];
  }
  return values;
}

/// The largest error, as a share of what N15 allows: of two sides, for a result that holds half of
/// the square of what it is a part of, at least.
double share_of_bound(const Values& values, const Values& exact) {
  double largest = 0;
  for (const auto& [name, bound] : kBounds) {
    const std::vector<double>&found = values.at(name), &wanted = exact.at(name);
    REQUIRE(found.size() == wanted.size());
    double error = 0, all = 0;
    for (std::size_t e = 0; e < found.size(); ++e) {
      error += (found[e] - wanted[e]) * (found[e] - wanted[e]);
      all += wanted[e] * wanted[e];
    }
    const double share = std::sqrt(error / all) / (bound.convolutions * std::sqrt(2.0) *
                                                   std::sqrt(12.0) / 2 * bound.roundoff);
    CAPTURE(name);
    CHECK(!std::isnan(share));
    largest = std::max(largest, share);
  }
  return largest;
}

Pair drawn() {
  Pair pair = make_pair(find_artifact("matrix_transforms"), "x86-64-v3", 2);
  pair.draw();
  return pair;
}

}  // namespace

TEST_CASE("N15: on tensor cores results and gradients are within the bound, as on the CPU") {
  Pair pair = drawn();
  const Values exact = exact_values(pair);
  const double on_cpu = share_of_bound(stepped(pair, pair.device), exact);
  CHECK(on_cpu < 1);
  for (const char* chip : {"sm_80", "sm_90a"}) {
    CAPTURE(std::string(chip));
    std::size_t by_tensor_cores = 0, findings = 0;
    const auto compile = [&](const std::string& text, const std::string& entry,
                             const std::string& architecture) {
      by_tensor_cores += text.find("tensor_contraction::run<Body") != text.npos;
      return compile_with_nvrtc(text, entry, architecture);
    };
    const auto observe = [&](const std::string&, const simulator::LaunchReport& report) {
      findings += report.findings.size();
    };
    const double share =
        share_of_bound(stepped(pair, simulated(chip, {}, compile, observe)), exact);
    CHECK(share < 1);
    CHECK(share > on_cpu / 4);
    CHECK(findings == 0);
    CHECK(by_tensor_cores >= 12);  // products, of each layer there and back
    MESSAGE(std::string(chip) << ": " << share << " of the bound, the CPU " << on_cpu << "; "
                              << by_tensor_cores << " kernels use tensor cores");
  }
}

TEST_CASE("N15: faults of what lies between products, and of products, leave the bound") {
  Pair pair = drawn();
  const Values exact = exact_values(pair);
  for (Fault fault : {
           Fault{"factors of the other sign", "transform_factors", "-inputs.input3[i]",
                 "inputs.input3[i]"},
           Fault{"no imaginary parts", "a_2", "body.depth = 64LL", "body.depth = 32LL"},
           Fault{"another scale", "a_7", "0x1p-4f", "0x1.1p-4f"},
           Fault{"places of the wrong side", "transform_places", "axis4 * 32LL", "axis4 * 16LL"},
       }) {
    CAPTURE(std::string(fault.name));
    const Device device = simulated("sm_80", {}, fault.compile());
    bool is_seen = false;
    try {
      is_seen = !(share_of_bound(stepped(pair, device), exact) < 1);
    } catch (const std::exception& error) {  // findings end a launch
      CHECK(std::string(error.what()).find("NVRTC") == std::string::npos);
      is_seen = true;
    }
    CHECK(fault.changed);
    CHECK(is_seen);
  }
}

}  // namespace halftone::tests
