// SPDX-License-Identifier: Apache-2.0
// What the tool says of artifacts for chips, with manifests written by hand.
#include <doctest/doctest.h>

#include "file_of_bytes.hpp"
#include "halftone/manifest/texts.hpp"
#include "line_artifact.hpp"
#include "run_tool.hpp"

namespace halftone::tests {
namespace {

using manifest::CudaKernel;
using manifest::Manifest;

/// line_forward as a tensor plan that beat two, all others without a choice.
manifest::CudaTarget target(const Manifest& manifest, const char* chip) {
  manifest::CudaTarget target{chip, {}};
  for (const manifest::Kernel& kernel : manifest.kernels) {
    CudaKernel on_chip;
    on_chip.entry = "halftone_" + kernel.name;
    on_chip.blocks = {{{{1, 0}}, 100}};
    on_chip.plans = {{"256 threads", {10, 20, 0.25, 2.5}}};
    target.kernels.push_back(on_chip);
  }
  CudaKernel& forward = target.kernels.front();
  forward.threads = 128;
  forward.shared_bytes = 65536;
  forward.split = {{{1, 0}}, 128, 4};  // two of 256
  forward.workspace = {{1000, {}, true, false}};
  forward.plans = {{"tensor 64x64x32", {1e6, 2e6, 0.5, 12.5}},
                   {"tensor 32x32x64", {1e6, 2e6, 0.125, 13.0}},
                   {"tensor 16x64x64", {1e6, 2e6, 0.0625, 100.0}}};
  return target;
}

/// Two manifests: one for the CPU and sm_80, one for sm_75, where rules are others.
Bytes artifact_for_chips() {
  Manifest first = hand_made::manifest(), second = first;
  first.text_count = second.text_count = 1;
  first.targets = {"cpu", "sm_80"};
  first.cuda = {target(first, "sm_80")};
  second.targets = {"sm_75"};
  second.cuda = {target(second, "sm_75")};
  second.cuda[0].kernels[0].reason = "sm_75 has no tensor cores for bf16";
  first.cuda[0].kernels[0].no_warpgroups = "a batch";
  second.loss_scale.initial = 2.0;
  return manifest::encode(second) + manifest::encode(first);  // a linker may turn them round
}

}  // namespace

TEST_CASE("explain says on which variants of the CPU a contraction is of class B") {
  Manifest made = hand_made::manifest();
  made.variants = {"x86-64-v4-amx", "x86-64-v4-bf16", "x86-64-v4"};
  manifest::Kernel& kernel = made.kernels.front();
  kernel.tasks = {{{{1, 0}}, 1}, {{{4, -1}}, 1}};
  kernel.blocking = {{{32, 32, 32, 32}, {14, 32, 16, 2}, {14, 32, 16, 1}}, {{64, -1}}, 0, false};
  const auto class_b = [&] {
    const File file(manifest::encode(made));
    const auto json = json_of("explain " + file.path());
    for (const auto& each : json["programs"][0]["phases"][0]["kernels"])
      if (each["kernel"] == kernel.name) return each["class_b"];
    return nlohmann::json("no such kernel");
  };
  CHECK(class_b() == nlohmann::json{"x86-64-v4-amx", "x86-64-v4-bf16"});
  const File file(manifest::encode(made));
  CHECK(run_tool("explain --all " + file.path()).output.find("class B on") != std::string::npos);
  for (const std::size_t variant : {0, 1}) kernel.blocking.tiles[variant].depth = 1;
  CHECK(class_b() == nlohmann::json::array());
}

TEST_CASE("explain says for every chip which plan was chosen, what it beat, and by how much") {
  const File file(artifact_for_chips());
  const nlohmann::json json = json_of("explain " + file.path());
  CHECK(json["targets"] == nlohmann::json{"cpu", "sm_80"});
  CHECK(json["loss_scale"]["initial"] == 1.0);
  REQUIRE(json["chips"].size() == 2);
  const nlohmann::json &first = json["chips"][0], &second = json["chips"][1];
  CHECK(first["chip"] == "sm_80");
  CHECK(first["assumed"] == nlohmann::json{{"batch", 256}});
  CHECK(first["kernels"].size() == hand_made::manifest().kernels.size());
  CHECK(first["kernels"][0]["programs"] == nlohmann::json{"training", "inference"});
  CHECK(first["kernels"][9]["programs"] == nlohmann::json{"diagnosis"});
  const nlohmann::json& kernel = first["kernels"][0];
  CHECK(kernel["kernel"] == "line_forward");
  CHECK(kernel["splits"] == 2);
  CHECK(kernel["blocks"] == 3 * 2);  // ceil(256 / 100), twice
  CHECK(kernel["threads"] == 128);
  CHECK(kernel["dynamic_shared_bytes"] == 65536);
  CHECK(kernel["workspace_bytes"] == 2048);
  CHECK(kernel["no_tensor_cores"].is_null());
  CHECK(kernel["no_warpgroups"] == "a batch");
  REQUIRE(kernel["plans"].size() == 3);
  CHECK(kernel["plans"][0] == nlohmann::json{{"plan", "tensor 64x64x32"},
                                             {"operations", 1e6},
                                             {"bytes", 2e6},
                                             {"waves", 0.5},
                                             {"microseconds", 12.5}});
  CHECK(kernel["plans"][2]["microseconds"] == 100.0);
  CHECK(second["chip"] == "sm_75");
  CHECK(second["kernels"][0]["no_warpgroups"].is_null());
  CHECK(second["kernels"][0]["no_tensor_cores"] == "sm_75 has no tensor cores for bf16");

  const std::string text = run_tool("explain --all " + file.path()).output;
  for (const char* line :
       {"\n== sm_80, planned for batch = 256 ==\n", "tensor 64x64x32", "not tensor 32x32x64",
        "not tensor 16x64x64", "12.5\n", "100\n", "\n  line_forward uses no warp groups: a batch\n",
        "\n  line_forward uses no tensor cores: sm_75 has no tensor cores for "
        "bf16\n"}) {
    CAPTURE(line);
    CHECK(text.find(line) != std::string::npos);
  }
  CHECK(text.find("== sm_80") < text.find("== sm_75"));
  CHECK(text.find("line_cast") == std::string::npos);  // of diagnosis alone
  CHECK(run_tool("explain --all --diagnosis " + file.path()).output.find("\n  line_cast ") !=
        std::string::npos);
  const std::string summary = run_tool("explain --summary " + file.path()).output;
  CHECK(summary.find("\n  sm_80, planned for batch = 256: 9 kernels\n") != std::string::npos);
  CHECK(
      summary.find("\n  sm_75, planned for batch = 256: 9 kernels, 1 of them contractions without "
                   "tensor cores\n") != std::string::npos);
}

TEST_CASE("explain says what holds for the one chip that is asked for") {
  const File file(artifact_for_chips());
  const nlohmann::json json = json_of("explain " + file.path() + " --chip sm_75");
  REQUIRE(json["chips"].size() == 1);
  CHECK(json["chips"][0]["chip"] == "sm_75");
  CHECK(json["targets"] == nlohmann::json{"sm_75"});
  CHECK(json["loss_scale"]["initial"] == 2.0);
  const Outcome unknown = run_tool("explain " + file.path() + " --chip sm_90");
  CHECK(unknown.status == 2);
  CHECK(unknown.errors ==
        "halftone: the artifact of model 'line' was not made for chip 'sm_90'; it has sm_80, "
        "sm_75\n");
  const File line(manifest::encode(hand_made::manifest()));
  CHECK(run_tool("explain " + line.path() + " --chip sm_80").errors ==
        "halftone: the artifact of model 'line' was not made for chip 'sm_80'; it has none\n");
  CHECK(json_of("explain " + line.path())["chips"].empty());
}

TEST_CASE("devices refuses an artifact whose kernels were compiled by no version of a compiler") {
  struct {
    const char* compiler;
    bool sound;
  } cases[] = {{"13.0", true}, {"x", false}};
  for (const auto& c : cases) {
    CAPTURE(c.compiler);
    const std::string texts[] = {
        "// " + hand_made::manifest().model + ": a text",
        manifest::entry_of({0, "sm_80", c.compiler, "cubin"}),
    };
    const File file(artifact_for_chips() + manifest::pack_texts(texts));
    const Outcome outcome = run_tool("devices " + file.path());
    CHECK(outcome.status == (c.sound ? 0 : 2));
    CHECK((outcome.errors.find("the kernel texts of model 'line' are damaged") ==
           std::string::npos) == c.sound);
  }
}

TEST_CASE("diff says which kernels of which chips run in another way") {
  const File file(artifact_for_chips());
  Manifest other = hand_made::manifest();
  other.text_count = 1;
  other.targets = {"cpu", "sm_80"};
  other.cuda = {target(other, "sm_80")};
  other.cuda[0].kernels[0].plans[0].name = "simt 64x64x16";
  const File changed(manifest::encode(other));
  const nlohmann::json json = json_of("diff " + file.path() + " " + changed.path());
  const nlohmann::json expected = {
      {{"chip", "sm_75"}, {"kernel", "*"}, {"a", "all"}, {"b", nullptr}},
      {{"chip", "sm_80"},
       {"kernel", "line_forward"},
       {"a", "tensor 64x64x32"},
       {"b", "simt 64x64x16"}}};
  CHECK(json["differences"]["plans"] == expected);
  const std::string text = run_tool("diff " + file.path() + " " + changed.path()).output;
  CHECK(text.find("  sm_80 line_forward: tensor 64x64x32 -> simt 64x64x16\n") != std::string::npos);
  CHECK(text.find("  sm_75 *: all -> none\n") != std::string::npos);
  CHECK(run_tool("diff " + file.path() + " " + file.path()).status == 0);
}

}  // namespace halftone::tests
