// SPDX-License-Identifier: Apache-2.0
// What the tool says of a model under the rules of several stages (P66): of one of them, and of
// what two make different.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "run_tool.hpp"

using halftone::tests::json_of, halftone::tests::run_tool;
using Json = nlohmann::json;

namespace {

const std::string kStaged = "'" TOOL_ARTIFACTS "/stages.o'";
const std::string kPlain = "'" TOOL_ARTIFACTS "/digits.own.o'";

Json explained(const std::string& stage) {
  return json_of("explain " + kStaged + (stage.empty() ? "" : " --stage " + stage));
}

}  // namespace

TEST_CASE("explain is of one stage, the first unless it is told") {
  const Json all = {"warmup", "full", "predict", "correct"};
  for (const std::string stage : {"", "warmup", "full", "predict", "correct"}) {
    CAPTURE(stage);
    const Json json = explained(stage);
    CHECK(json["stages"] == all);
    const bool is_first = stage != "full" && stage != "predict";
    CHECK(json["during"] == (is_first ? Json::array({"warmup", "correct"}) : Json::array({stage})));
    CHECK(json["loss_scale"]["kind"] == (stage == "full" ? "dynamic" : "none"));
    const auto& training = json["programs"][0];
    CHECK(training["name"] == "training");
    CHECK((training["casts_per_step"] == 0) == is_first);
  }
  CHECK_FALSE(json_of("explain " + kPlain).contains("stages"));
  const std::string text = run_tool("explain " + kStaged + " --stage full --summary").output;
  CHECK(text.find("stages: warmup, full, predict, correct; what follows holds during full") !=
        std::string::npos);
}

TEST_CASE("diff compares two stages of one artifact") {
  const std::string both = "diff " + kStaged + " " + kStaged;
  CHECK(run_tool(both + " --stage warmup,correct").status == 0);
  CHECK(run_tool(both + " --stage predict").status == 0);
  CHECK(run_tool(both + " --stage warmup,full").status == 1);
  const Json json = json_of(both + " --stage warmup,full");
  CHECK(json["differences"]["during"]["b"] == Json::array({"full"}));
  CHECK(json["differences"].contains("loss_scale"));
  CHECK_FALSE(json["differences"].contains("stages"));
}

TEST_CASE("a stage that there is none of is refused in a sentence") {
  CHECK(run_tool("explain " + kStaged + " --stage predct").errors ==
        "halftone: model 'stages' has no stage 'predct'; choose of warmup, full, predict, "
        "correct\n");
  CHECK(run_tool("explain " + kPlain + " --stage full").errors ==
        "halftone: model 'digits' has no stage 'full'; it declares none: leave --stage out\n");
  CHECK(run_tool("diff " + kStaged + " " + kStaged + " --stage ,full").errors ==
        "halftone: --stage: ',full' names no two stages; write A's,B's\n");
}
