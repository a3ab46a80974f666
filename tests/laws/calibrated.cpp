// SPDX-License-Identifier: Apache-2.0
// Calibrations (P103, P104): the squares of what products multiply weights by are those of the
// reference's values, and predictors hold the codes that the reference finds by them.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "artifacts.hpp"
#include "halftone/calibration.hpp"
#include "message_of.hpp"
#include "own_pair.hpp"
#include "quantization.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {
namespace {

using description::Quantization;

/// quantized.halftone under f32 with weights in i8, under bf16 with weights in f8e4m3, with
/// masters in halves under f16 and under f32.
const LinkedArtifact& i8() { return kPredictedArtifacts[0]; }
const LinkedArtifact& f8() { return kPredictedArtifacts[2]; }
const LinkedArtifact& some() { return kPredictedArtifacts[3]; }
const LinkedArtifact& decoder() { return kPredictedArtifacts[5]; }
const LinkedArtifact& halves() { return kPredictedArtifacts[8]; }

/// Of quantized.halftone, from what its layers read, in any order of the sums.
class Squares {
 public:
  Squares(const Pair& pair, encoding::Element operands)
      : pair_(pair),
        operands_(operands),
        forward_(pair.reference.forward(pair.state, pair.inputs)) {}

  std::map<std::string, std::vector<double>> all() const {
    return {{"turned.weight", of_lines("embed", 10, 24, true)},
            {"down.weight", of_lines("act", 24, 10, false)},
            {"embed.weight", of_lines("down", 10, 21, false)},  // by the logits alone
            {"stem.weight", of_windows()},
            {"up.weight", of_lines("bent", 6, 30, false)},
            {"head.weight", of_lines("pooled", 4, 7, false)}};
  }

 private:
  std::span<const float> values(const std::string& node) const {
    const auto found = pair_.inputs.values.find(node);
    if (found != pair_.inputs.values.end()) return found->second;
    return forward_.values[static_cast<std::size_t>(pair_.reference.find(node))];
  }

  std::vector<double> of_lines(const std::string& node, std::size_t depth, std::size_t columns,
                               bool is_turned) const {
    std::vector<double> sums(depth), squares(depth * columns);
    const auto x = values(node);
    for (std::size_t i = 0; i < x.size(); ++i)
      sums[i % depth] += std::pow(double{reference::round({operands_}, x[i])}, 2);
    for (std::size_t e = 0; e < squares.size(); ++e)
      squares[e] = sums[is_turned ? e / columns : e % depth];
    return squares;
  }

  /// Of [6, 3, 3, 3], over an image of 5 by 4 by 3 with a border of zeros.
  std::vector<double> of_windows() const {
    const auto image = values("image");
    std::vector<double> squares(6 * 27);
    for (std::size_t e = 0; e < squares.size(); ++e) {
      const int ky = static_cast<int>(e / 9 % 3), kx = static_cast<int>(e / 3 % 3);
      for (std::size_t i = 0; i < image.size(); ++i) {
        // Element i is seen through tap (ky, kx) from the place that is one to its lower right.
        const int y = static_cast<int>(i / 12 % 5) - ky + 1,
                  x = static_cast<int>(i / 3 % 4) - kx + 1;
        if (i % 3 == e % 3 && y >= 0 && y < 5 && x >= 0 && x < 4) {
          const float seen = reference::round({operands_}, image[i]);
          squares[e] += double{seen} * seen;
        }
      }
    }
    return squares;
  }

  const Pair& pair_;
  encoding::Element operands_;
  reference::Forward<float> forward_;
};

/// Behind a run of 6 rows.
Pair pair_after_run(const LinkedArtifact& artifact) {
  Pair pair = make_pair(artifact, tested_variant, 6);
  pair.draw();
  pair.trainer.forward(pair.named_inputs());
  return pair;
}

Calibration calibration_of(const Pair& pair) {
  Calibration calibration;
  calibration.add(pair.trainer);
  return calibration;
}

/// What the reference's codes stand for.
std::vector<float> expected(const Pair& pair, const std::string& parameter, Quantization how,
                            const Calibration& calibration) {
  const auto node = pair.reference.find(parameter);
  std::vector<std::int64_t> extents;
  for (const auto& dim : pair.description.nodes[static_cast<std::size_t>(node)].shape)
    extents.push_back(dim.extent);
  const int dimension = reference::channel_dimension(pair.description, node);
  const auto held = reference::quantized(
      how, dimension, extents, std::span<const float>(pair.state.parameters.at(parameter)),
      calibration.squares(parameter));
  std::vector<float> values;
  for (std::size_t e = 0; e < held.codes.size(); ++e)
    values.push_back(held.codes[e] * held.scales[reference::channel_of(e, dimension, extents)]);
  return values;
}

}  // namespace

TEST_CASE("a calibration sums the squares of all that products multiply a weight by") {
  using encoding::Element;
  const std::pair<const LinkedArtifact&, Element> cases[] = {{i8(), Element::f32},
                                                             {f8(), Element::bf16},
                                                             {some(), Element::f16},
                                                             {halves(), Element::f32}};
  for (const auto& [artifact, operands] : cases) {
    CAPTURE(std::string(artifact.name));
    Pair pair = make_pair(artifact, tested_variant, 6);
    std::map<std::string, std::vector<double>> sums;
    Calibration calibration;
    for (int batch = 0; batch < 2; ++batch) {
      pair.draw();
      pair.trainer.forward(pair.named_inputs());
      calibration.add(pair.trainer);
      for (const auto& [name, squares] : Squares(pair, operands).all()) {
        sums[name].resize(squares.size());
        for (std::size_t e = 0; e < squares.size(); ++e) sums[name][e] += squares[e];
      }
    }
    CHECK(calibration.parameter_names().size() == sums.size());
    for (const auto& [name, squares] : sums) {
      CAPTURE(name);
      const std::vector<double> found = calibration.squares(name);
      REQUIRE(found.size() == squares.size());
      for (std::size_t e = 0; e < squares.size(); ++e) {
        CAPTURE(e);
        CHECK(found[e] > 0);
        CHECK(std::fabs(found[e] - squares[e]) <= squares[e] * 1e-12);
      }
    }
    CHECK(calibration.squares("depth.weight").empty());  // products of groups
    CHECK(calibration.squares("down.bias").empty());
  }
}

TEST_CASE("a calibrated predictor holds the reference's codes, where rules seek the least error") {
  Pair pair = pair_after_run(i8());
  const Calibration calibration = calibration_of(pair), none;
  const Quantization i8_least{encoding::Element::i8, Quantization::Scale::least_error},
      f8_least{encoding::Element::f8e4m3, Quantization::Scale::least_error},
      i8_most{encoding::Element::i8, Quantization::Scale::maximum};
  struct Case {
    const LinkedArtifact& artifact;
    std::map<std::string, Quantization> weights;
  };
  const Case cases[] = {
      {i8(), {{"turned.weight", i8_most}, {"down.weight", i8_most}}},
      {f8(),
       {{"turned.weight", f8_least},
        {"down.weight", f8_least},
        {"embed.weight", f8_least},
        {"stem.weight", f8_least},
        {"up.weight", f8_least},
        {"pair.weight", f8_least},
        {"head.weight", f8_least}}},
      {some(), {{"turned.weight", i8_least}, {"down.weight", i8_least}, {"up.weight", i8_least}}}};
  int moved = 0;
  for (const Case& each : cases) {
    CAPTURE(std::string(each.artifact.name));
    const Artifact artifact = Artifact::linked(*each.artifact.image);
    Predictor predictor(artifact, pair.device, pair.setup(1));
    predictor.calibrate(calibration);
    predictor.copy_parameters(pair.trainer);
    for (const auto& [name, how] : each.weights) {
      CAPTURE(name);
      const bool is_sought = how.scale == Quantization::Scale::least_error;
      const auto by = expected(pair, name, how, calibration),
                 plain = expected(pair, name, how, none);
      CHECK(first_difference(predictor.parameter(name), is_sought ? by : plain) == -1);
      moved += is_sought && first_difference(by, plain) != -1;
    }
    predictor.calibrate(none);
    predictor.copy_parameters(pair.trainer);
    for (const auto& [name, how] : each.weights)
      CHECK(first_difference(predictor.parameter(name), expected(pair, name, how, none)) == -1);
  }
  CHECK(moved > 4);
}

TEST_CASE("what a calibrated predictor gives back has the same codes by the maximum") {
  Pair pair = pair_after_run(i8());
  const Artifact sought = Artifact::linked(*some().image);
  Predictor calibrated(sought, pair.device, pair.setup(1)),
      plain(pair.artifact, pair.device, pair.setup(1));
  calibrated.calibrate(calibration_of(pair));
  calibrated.copy_parameters(pair.trainer);
  for (const char* name : {"turned.weight", "down.weight", "up.weight"}) {
    CAPTURE(std::string(name));
    const auto held = calibrated.parameter(name);
    plain.set_parameter(name, std::vector<float>(held.begin(), held.end()));
    const auto again = plain.parameter(name);
    REQUIRE(again.size() == held.size());
    for (std::size_t e = 0; e < held.size(); ++e)
      CHECK(std::fabs(again[e] - held[e]) <= std::fabs(held[e]) * 0x1p-22f);
  }
}

TEST_CASE("a predictor hands its calibrated codes on") {
  Pair pair = pair_after_run(i8());
  const Artifact artifact = Artifact::linked(*f8().image);
  Predictor first(artifact, pair.device, pair.setup(1)),
      second(artifact, pair.device, pair.setup(1));
  first.calibrate(calibration_of(pair));
  first.copy_parameters(pair.trainer);
  second.copy_parameters(first);
  for (const std::string& name : first.parameter_names())
    CHECK(first_difference(first.parameter(name), second.parameter(name)) == -1);
}

TEST_CASE("what is no calibration of the model, or of no numbers, is refused and changes nothing") {
  Pair pair = make_pair(i8(), tested_variant, 6);
  Calibration calibration;
  CHECK(message_of([&] { calibration.add(pair.trainer); }).find("has run nothing") !=
        std::string::npos);
  pair.draw();
  pair.inputs.values["image"][7] = std::numeric_limits<float>::infinity();
  pair.trainer.forward(pair.named_inputs());
  CHECK(message_of([&] { calibration.add(pair.trainer); }) ==
        "calibrate: parameter 'stem.weight' is multiplied by inf, which is not finite; call the "
        "trainer's diagnose(), which says where it comes from");
  CHECK(calibration == Calibration());

  pair.draw();
  pair.trainer.forward(pair.named_inputs());
  calibration.add(pair.trainer);
  Pair others = pair_after_run(decoder());
  const Calibration before = calibration;
  CHECK(message_of([&] { calibration.add(others.trainer); }) ==
        "calibrate: parameter 'embed.weight' is 29 x 16 in the trainer, but 21 x 10 in the "
        "calibration; add runs of one model");
  CHECK(calibration == before);
  Calibration of_others;
  of_others.add(others.trainer);
  Predictor mine(pair.artifact, pair.device, pair.setup(1));
  CHECK(message_of([&] { mine.calibrate(of_others); }) ==
        "calibrate: parameter 'embed.weight' is 21 x 10 in the predictor, but 29 x 16 in the "
        "calibration; calibrate by a trainer of the same model");
  Predictor other(others.artifact, others.device, others.setup(1));
  CHECK(
      message_of([&] {
        other.calibrate(calibration);
      }).starts_with("calibrate: parameter 'down.weight' is unknown; the model's parameters are"));
}

}  // namespace halftone::tests
