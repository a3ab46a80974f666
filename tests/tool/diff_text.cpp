// SPDX-License-Identifier: Apache-2.0
// `halftone diff` for people: every line has its field and both sides, none of them empty.
#include <doctest/doctest.h>

#include <regex>
#include <sstream>
#include <string>

#include "file_of_bytes.hpp"
#include "line_artifact.hpp"
#include "run_tool.hpp"

namespace halftone::tests {
namespace {

using manifest::Manifest;

std::string difference(const Manifest& a, const Manifest& b) {
  const File first(manifest::encode(a)), second(manifest::encode(b));
  const Outcome outcome = run_tool("diff " + first.path() + " " + second.path());
  CHECK(outcome.status == 1);
  CHECK(outcome.errors.empty());
  return outcome.output;
}

void check_holds(const std::string& text, const std::string& line) {
  CAPTURE(text);
  CAPTURE(line);
  CHECK(("\n" + text).find("\n" + line + "\n") != std::string::npos);
}

/// "a: -> b", "a: b ->", "role , pass": a side or a field without a word.
void check_nothing_empty(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK_FALSE(std::regex_search(line, std::regex(":\\s+->|->\\s*$|\\s,|, ,|:\\s*$")));
  }
}

}  // namespace

TEST_CASE("what a side does not have is called none") {
  const Manifest a = hand_made::manifest();
  Manifest b = a;
  b.loss_scale = {};
  b.loss_scale.kind = manifest::LossScale::Kind::none;
  b.rules.emplace_back("where layer \"fc\" : accumulate ordered");
  b.decisions = {{"accumulate", "fc", "", "forward", "ordered", 1, {0}},
                 {"loss_scale", "", "", "", "fixed", 0, {}},
                 {"rounding", "fc", "saved", "weight_gradient", "toward_zero", 0, {}}};
  b.programs[0].values[0].encoding = manifest::Element::bf16;
  b.programs[0].casts.clear();
  const std::string text = difference(a, b);
  check_nothing_empty(text);
  check_holds(text, "loss_scale.kind: dynamic -> none");
  check_holds(text, "loss_scale.interval: 16777216 -> none");
  check_holds(text, "  accumulate of fc, forward: none -> ordered by rule 2 over 1");
  check_holds(text, "  loss_scale: none -> fixed by rule 1");
  check_holds(text, "  rounding of fc, saved, weight_gradient: none -> toward_zero by rule 1");
  check_holds(text, "  + where layer \"fc\" : accumulate ordered");
  const std::string back = difference(b, a);
  check_nothing_empty(back);
  check_holds(back, "  loss_scale: fixed by rule 1 -> none");
  check_holds(back, "loss_scale.kind: none -> dynamic");
}

TEST_CASE("of what both sides decided only what differs is printed") {
  Manifest a = hand_made::manifest(), b = a;
  a.decisions = {{"accumulate", "fc", "", "forward", "f32", 0, {}},
                 {"accumulate", "fc", "", "weight_gradient", "f32", 0, {}}};
  b.decisions = a.decisions;
  b.decisions[1].setting = "ordered";
  const std::string text = difference(a, b);
  CHECK(text ==
        "decisions\n  accumulate of fc, weight_gradient: f32 by rule 1 -> ordered by rule 1\n");
  std::swap(b.decisions[0], b.decisions[1]);
  b.decisions[0].setting = "f32";
  CHECK(difference(a, b) == "decisions\n  their order differs\n");
}

TEST_CASE("a symbol that is not bound differs from one that is not there") {
  const Manifest a = hand_made::manifest();
  Manifest b = a;
  b.symbols.emplace_back("time");
  b.assumed.push_back(256);
  const std::string text = difference(a, b);
  check_nothing_empty(text);
  check_holds(text, "symbols.time: none -> not bound");
}

TEST_CASE("symbols of either side may be bound, and models of one file compared") {
  const Manifest a = hand_made::manifest();
  Manifest b = a;
  b.model = "other";
  b.symbols.emplace_back("time");
  b.assumed.push_back(256);
  const File first(manifest::encode(a)), second(manifest::encode(b));
  const File both(manifest::encode(a) + manifest::encode(b));
  const std::string apart = "diff " + first.path() + " " + second.path();
  const std::string together = "diff " + both.path() + " " + both.path();
  const std::string text = run_tool(apart + " --symbols batch=2,time=3").output;
  check_holds(text, "model: line -> other");
  check_holds(text, "symbols.time: none -> 3");
  CHECK(run_tool(together + " --model line,other --symbols time=3,batch=2").output == text);
  CHECK(run_tool(together + " --model other").status == 0);
  const struct {
    std::string arguments, says;
  } wrong[] = {
      {apart + " --symbols depth=3", "--symbols: 'depth=3' binds no symbol of model 'line'"},
      {apart + " --symbols time", "--symbols: 'time' binds no symbol of model 'line'"},
      {together, "holds several artifacts; choose one with --model: line, other"},
      {together + " --model line,", "--model: 'line,' names no two models"},
      {together + " --model line,otter", "holds no artifact of model 'otter'"}};
  for (const auto& each : wrong) {
    CAPTURE(each.arguments);
    const Outcome outcome = run_tool(each.arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.errors.find(each.says) != std::string::npos);
  }
}

TEST_CASE("kernels show the launches that one side has alone") {
  Manifest a = hand_made::manifest();
  auto& forward = a.programs[0].phases[0];
  forward.front().fused = "fc:linear";
  forward.push_back(forward.front());
  forward.back().fused = "fc:linear + fc:cast";
  Manifest b = a;
  b.programs[0].phases[0].back().fused = "fc:linear + fc:relu";
  const std::string text = difference(a, b);
  CHECK(text ==
        "\ntraining\n  kernels\n    forward line_forward\n      - fc:linear + fc:cast\n      + "
        "fc:linear + fc:relu\n");
  std::swap(b.programs[0].phases[0][0].fused, b.programs[0].phases[0][1].fused);
  b.programs[0].phases[0][0].fused = "fc:linear + fc:cast";
  check_holds(difference(a, b), "      its launches' order or number differs");
}

TEST_CASE("blocks of a repeat that differ alike are one line") {
  Manifest a = hand_made::manifest();
  for (int block = 0; block < 8; ++block) {
    manifest::Value value = a.programs[0].values[0];
    value.name = value.layer = "h/" + std::to_string(block) + "/fc";
    a.programs[0].values.push_back(value);
  }
  Manifest b = a;
  for (auto& value : b.programs[0].values) {
    const bool is_kept = value.name == "fc" || value.name == "h/5/fc";
    if (!is_kept) value.encoding = manifest::Element::bf16;
  }
  const std::string text = difference(a, b);
  check_holds(text, "    h/{0..4,6,7}/fc (activation)  tf32  bf16");
  CHECK(text.find("h/5") == std::string::npos);
}

}  // namespace halftone::tests
