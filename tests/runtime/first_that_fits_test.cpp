// SPDX-License-Identifier: Apache-2.0
// Which artifact is chosen where a device has so much memory left, and what the host says of its
// own.
#include "halftone/first_that_fits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "changed_artifact.hpp"
#include "fake_driver.hpp"
#include "files/scratch_folder.hpp"
#include "free_host_bytes.hpp"
#include "halftone/stages.hpp"
#include "message_of.hpp"
#include "worked_example.hpp"

using namespace halftone;

namespace {

constexpr std::int64_t kMoreBytes = 1 << 20;

/// The worked example, whose activations, or states in the host's memory, take so many bytes more.
ChangedArtifact larger(std::int64_t bytes, bool in_host = false) {
  return ChangedArtifact([&](manifest::Manifest& manifest) {
    for (manifest::Program& program : manifest.programs) {
      const auto slot = static_cast<std::int32_t>(program.slots.size());
      const auto index = static_cast<std::int32_t>(program.buffers.size());
      program.buffers.push_back(
          {"more",
           in_host ? manifest::Role::optimizer_state : manifest::Role::activation,
           manifest::Element::f32,
           {{bytes / 4, -1}},
           slot,
           0.0});
      program.buffers.back().in_host = in_host;
      program.slots.push_back({{index}});
    }
  });
}

const Binding kRows[] = {{"batch", 5}};
const Setup kSetup{.model = {}, .bindings = kRows};

Device with_free(std::int64_t bytes) {
  return fake::device(std::make_shared<fake::Log>(), {.free_bytes = bytes});
}

void write(const std::filesystem::path& file, std::string_view text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

}  // namespace

TEST_CASE("the first of several artifacts that fits is chosen, and the line says why") {
  const ChangedArtifact large = larger(kMoreBytes), small = larger(256);
  const std::vector<Artifact> all = {large.artifact(), small.artifact()};
  const std::int64_t most = plan_stages(all[0], with_free(1), kSetup).front().bytes(),
                     least = plan_stages(all[1], with_free(1), kSetup).front().bytes();
  REQUIRE(most > least + kMoreBytes / 2);
  const auto at = [&](std::int64_t free, double share = 1.0) {
    return first_that_fits(all, with_free(free), kSetup, share);
  };
  CHECK(at(most).index == 0);
  CHECK(at(most).bytes == most);
  CHECK(at(most).free_bytes == most);
  CHECK(at(most).why == "model 'line' takes " + std::to_string(most) +
                            " bytes, which fits 100 % of the " + std::to_string(most) +
                            " bytes that fake:0 has free");
  CHECK(at(most - 1).index == 1);
  CHECK(at(most - 1).bytes == least);
  CHECK(at(most, 0.5).index == 1);
  CHECK(at(2 * most, 0.5).index == 0);
  CHECK(at(least).why.ends_with("; model 'line' takes " + std::to_string(most) +
                                " bytes, which does not"));
  CHECK(message_of([&] { (void)at(least - 1); }) ==
        "choose a model by memory: device 'fake:0' is too small, since model 'line' takes " +
            std::to_string(most) + " bytes, model 'line' takes " + std::to_string(least) +
            " bytes, more than 100 % of the " + std::to_string(least - 1) +
            " bytes that fake:0 has free; give smaller sizes, or rules that place the optimizer's "
            "states in the host's memory");
  CHECK(message_of([&] { (void)at(1, 0.0); }) ==
        "choose a model by memory: the share of free memory is 0; give a number above 0, and 1 at "
        "most");
  CHECK(
      message_of([&] { (void)first_that_fits({}, with_free(1), kSetup); }) ==
      "choose a model by memory: the list of artifacts is empty; give one or more, the best first");
  CHECK(first_that_fits(all, Device::cpu(), kSetup).index == 0);
}

TEST_CASE("what the host has not is said of the host, and none is told to use more of it") {
  constexpr std::int64_t kNoHost = std::int64_t{1} << 50;
  const ChangedArtifact of_host = larger(kNoHost, true), large = larger(kMoreBytes);
  const std::vector<Artifact> all = {of_host.artifact(), large.artifact()};
  const std::int64_t least = plan_stages(all[0], with_free(1), kSetup).front().bytes();
  const std::string takes = "model 'line' takes " + std::to_string(least) + " bytes and " +
                            std::to_string(kNoHost) + " of the host's";
  const auto without_host = [](std::string text) {  // whose memory changes as others run
    const std::size_t begin = text.find(" and the ");
    REQUIRE(begin != std::string::npos);
    return text.erase(begin, text.find(" that the host has") - begin);
  };
  CHECK(without_host(message_of([&] {
          (void)first_that_fits(std::span(all).first(1), with_free(least), kSetup, 1.0);
        })) == "choose a model by memory: the memory of the host is too small, since " + takes +
                   ", more than 100 % of the " + std::to_string(least) +
                   " bytes that fake:0 has free that the host has; free some of it, or give "
                   "smaller sizes");
  const Fit fit = first_that_fits(all, with_free(least + 2 * kMoreBytes), kSetup, 1.0);
  CHECK(fit.index == 1);
  CHECK(without_host(fit.why).ends_with(" has free that the host has; " + takes +
                                        ", which does not"));
}

TEST_CASE("a device that does not say what is free is an error, not a choice") {
  const auto log = std::make_shared<fake::Log>();
  const Device device = fake::device(log);
  log->fail_at = 1;
  CHECK(message_of([&] { (void)device.free_bytes(); }) ==
        "ask for free memory: device 'fake:0' failed on 'fake:0': the fake says no");
}

TEST_CASE("the host's free memory is the system's, or what the tightest control group leaves") {
  const halftone::tests::ScratchFolder folder;
  const std::filesystem::path root(folder / "");
  CHECK(free_host_bytes(root) == std::nullopt);
  write(root / "proc/meminfo", "MemTotal:       100 kB\nMemFree:  7 kB\nMemAvailable:   50 kB\n");
  CHECK(free_host_bytes(root) == 50 * 1024);
  write(root / "proc/self/cgroup", "1:name=systemd:/\n0::/outer/inner\n");
  const std::filesystem::path outer = root / "sys/fs/cgroup/outer", inner = outer / "inner";
  write(inner / "memory.max", "max\n");
  write(inner / "memory.current", "1000\n");
  CHECK(free_host_bytes(root) == 50 * 1024);
  write(outer / "memory.max", "30000\n");
  write(outer / "memory.current", "20000\n");
  CHECK(free_host_bytes(root) == 10000);
  write(outer / "memory.stat", "anon 5\nactive_file 77\ninactive_file 500\n");
  CHECK(free_host_bytes(root) == 10500);
  write(inner / "memory.max", "900\n");
  CHECK(free_host_bytes(root) == 0);
  const std::int64_t here = Device::cpu().free_bytes();
  CHECK(here > 0);
}
