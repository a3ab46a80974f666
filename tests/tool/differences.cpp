// SPDX-License-Identifier: Apache-2.0
// `halftone diff` of artifacts that differ in known ways, and choosing among several models.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "run_tool.hpp"

namespace halftone::tests {
namespace {

std::string artifact(const std::string& name) {
  return std::string(TOOL_ARTIFACTS) + "/" + name + ".o";
}

const nlohmann::json* find(const nlohmann::json& entries, const std::string& key,
                           const std::string& name) {
  const auto found =
      std::ranges::find_if(entries, [&](const auto& entry) { return entry[key] == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("an artifact does not differ from itself") {
  const std::string file = artifact("digits.own");
  CHECK(run_tool("diff " + file + " " + file).status == 0);
  const nlohmann::json json = json_of("diff " + file + " " + file);
  CHECK(json["equal"] == true);
  CHECK(json["differences"].empty());
}

TEST_CASE("f32 and bf16 rules of one model differ in formats, bytes, casts and fusion") {
  const std::string files = artifact("digits.own") + " " + artifact("digits_bf16.own");
  CHECK(run_tool("diff " + files).status == 1);
  const nlohmann::json json = json_of("diff " + files + " --symbols batch=32");
  CHECK(json["equal"] == false);
  const nlohmann::json& all = json["differences"];
  CHECK(all["model"] == nlohmann::json{{"a", "digits"}, {"b", "digits_bf16"}});
  CHECK(all["rules"]["a"].size() == 1);
  CHECK(all["rules"]["b"].size() == 2);
  CHECK(!all.contains("parameters"));
  CHECK(!all.contains("loss_scale"));

  const nlohmann::json& training = all["programs"]["training"];
  CHECK(training["casts_per_step"]["a"] == 0);
  CHECK(training["casts_per_step"]["b"].get<int>() > 0);
  CHECK(training["arena_bytes"]["a"].get<std::int64_t>() > 0);
  // fc1: 32 rows of 128. The norm's own parameters are read in f32 by both, so they do not differ.
  const nlohmann::json& formats = training["formats"];
  REQUIRE(find(formats, "name", "fc1") != nullptr);
  CHECK((*find(formats, "name", "fc1"))["a"] == nlohmann::json::array({"f32"}));
  CHECK((*find(formats, "name", "fc1"))["b"] == nlohmann::json::array({"bf16"}));
  CHECK(find(formats, "name", "norm.weight") == nullptr);
  // Values 64, 128, 128, 128, 64, 64, 10 of bf16, of f32 all but the input's copy.
  const nlohmann::json* activations = find(training["value_bytes"], "role", "activation");
  REQUIRE(activations != nullptr);
  CHECK((*activations)["a"] == nlohmann::json{{"f32", 4 * 32 * (3 * 128 + 2 * 64 + 10)}});
  CHECK((*activations)["b"] == nlohmann::json{{"bf16", 2 * 32 * (64 + 3 * 128 + 2 * 64 + 10)}});
  const nlohmann::json* added = find(training["kernels"], "kernel", "pixels");
  REQUIRE(added != nullptr);
  CHECK((*added)["a"].is_null());
  CHECK((*added)["b"] == nlohmann::json::array({"pixels:cast"}));
}

TEST_CASE("a loss scale is a difference") {
  const nlohmann::json json =
      json_of("diff " + artifact("every_layer.own") + " " + artifact("digits.own"));
  CHECK(json["differences"]["loss_scale"]["a"]["kind"] == "dynamic");
  CHECK(json["differences"]["loss_scale"]["a"]["interval"] == 20);
  CHECK(json["differences"]["loss_scale"]["b"] == nlohmann::json{{"kind", "none"}});
}

TEST_CASE("of several artifacts in one file a model is chosen by name") {
  const std::string file = TWO_MODELS;
  const Outcome unclear = run_tool("explain " + file);
  CHECK(unclear.status == 2);
  CHECK(unclear.errors ==
        "halftone: '" + file +
            "' holds several artifacts; choose one with --model: digits, digits_bf16\n");
  CHECK(json_of("explain " + file + " --model digits_bf16")["model"] == "digits_bf16");
  CHECK(json_of("explain " + file + " --model digits") ==
        json_of("explain " + artifact("digits.own")));
  const Outcome unknown = run_tool("explain " + file + " --model letters");
  CHECK(unknown.status == 2);
  CHECK(unknown.errors ==
        "halftone: '" + file +
            "' holds no artifact of model 'letters'; choose of digits, digits_bf16\n");
}

TEST_CASE("the text says what the object says") {
  for (const char* name : {"digits_bf16.own", "every_layer.own", "rank3.bf16"}) {
    CAPTURE(name);
    const Outcome outcome = run_tool("explain --all --diagnosis " + artifact(name));
    REQUIRE(outcome.status == 0);
    const nlohmann::json json = json_of("explain " + artifact(name));
    for (const auto& rule : json["rules"]) {
      std::string start = rule;
      CHECK(outcome.output.find(start.substr(0, 60)) != std::string::npos);
    }
    for (const auto& program : json["programs"]) {
      CHECK(outcome.output.find("== " + program["name"].get<std::string>() + ": ") !=
            std::string::npos);
      if (!program.contains("casts_per_step")) continue;
      CHECK(outcome.output.find("casts: " + program["casts_per_step"].dump() + " each step, ") !=
            std::string::npos);
    }
  }
}

}  // namespace halftone::tests
