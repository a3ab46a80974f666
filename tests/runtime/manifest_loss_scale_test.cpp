// SPDX-License-Identifier: Apache-2.0
// Manifests under a valid checksum whose loss scale cannot be.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "halftone/description/rule_faults.hpp"
#include "line_artifact.hpp"
#include "manifest_failure.hpp"

using namespace halftone::manifest;
using Kind = DecodeError::Kind;

TEST_CASE("a loss scale that breaks a law is refused") {
  const auto training = [](Manifest& m) -> Program& { return m.programs[0]; };
  const BrokenManifest cases[] = {
      {"training has no scalar buffer 'loss_scale'",
       [&](Manifest& m) {
         m.loss_scale.kind = LossScale::Kind::fixed;
         training(m).buffers[15].name = "scale";
       }},
      {"training has no scalar buffer 'loss_scale'",
       [&](Manifest& m) { training(m).buffers[15].role = Role::activation; }},
      {"training has no scalar buffer 'loss_scale.floored'",
       [&](Manifest& m) { training(m).buffers[16].name = "floored"; }},
      {"training has no scalar buffer 'loss_scale.clean'",
       [&](Manifest& m) {
         training(m).buffers[17].shape = {{2, -1}};
       }},
      {"training has no scalar buffer 'loss_scale.wait'",
       [&](Manifest& m) { training(m).buffers[18].name = "wait"; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.initial = 0.0; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.initial = 1e39; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.floor = 2.0; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.ceiling = 0.5; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.growth = 1.0; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.backoff = 1.0; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.backoff = std::nan(""); }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.interval = 0; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.hysteresis = -1; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.patience = 1 << 25; }},
  };
  check_refused(cases);
}

TEST_CASE("P43: manifest and description judge a loss scale alike, in f32") {
  namespace hd = halftone::description;
  struct Case {
    bool possible;
    double floor, initial, ceiling;
    double growth = 2.0, backoff = 0.5;
  };
  const double largest = 3.4028235e38;  // above the largest f32, and rounds to it
  const double third = 1.0 / 3.0;
  const double third_in_f32 = 0x1.555556p-2;  // above a third
  const Case cases[] = {
      {true, 1, 65536, largest},
      {true, largest, largest, largest},
      {false, 1, 1, 0x1.ffffffp127},  // infinity in f32
      {false, 0x1.8p-150, 1, 1},      // 2^-149 in f32, whose reciprocal is infinite
      {false, 0x1p-128, 1, 1},        // so is this one's
      {true, 0x1.00001p-128, 1, 1},
      {false, 0x1p-150, 1, 1},             // 0 in f32
      {true, third_in_f32, third, third},  // equal in f32
      {true, third, third_in_f32, third},
      {false, 0x1.555558p-2, third, 1},  // the next f32
      {false, third, 0x1.555558p-2, third},
      {true, 1, 1, 1, 0x1.000002p0},
      {false, 1, 1, 1, 1 + 0x1p-24},  // 1 in f32
      {true, 1, 1, 1, largest},
      {false, 1, 1, 1, 0x1.ffffffp127},
      {true, 1, 1, 1, 2, 0x1.fffffep-1},
      {false, 1, 1, 1, 2, 1 - 0x1p-26},  // 1 in f32
      {false, 1, 1, 1, 2, 0x1p-150},
  };
  for (const Case& c : cases) {
    CAPTURE(c.floor);
    CAPTURE(c.initial);
    CAPTURE(c.ceiling);
    CAPTURE(c.growth);
    CAPTURE(c.backoff);
    Manifest manifest = hand_made::manifest();
    manifest.loss_scale = {
        LossScale::Kind::dynamic, c.initial, c.growth, c.backoff, 1, c.floor, c.ceiling};
    manifest.loss_scale.patience = 1;
    for (Program& program : manifest.programs) {
      for (Buffer& buffer : program.buffers) {
        if (buffer.name == "loss_scale") buffer.initial = c.initial;
      }
    }
    Kind kind{};
    const std::string message = failure(encode(manifest), kind);
    CHECK(message ==
          (c.possible ? "" : "the manifest is inconsistent: the loss scale is impossible"));
    const hd::LossScale same{.kind = hd::LossScale::Kind::dynamic,
                             .initial = c.initial,
                             .growth = c.growth,
                             .backoff = c.backoff,
                             .floor = c.floor,
                             .ceiling = c.ceiling};
    CHECK((hd::rules::loss_scale_fault(same).trouble == hd::rules::Trouble::none) == c.possible);
  }
}
