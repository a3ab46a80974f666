// SPDX-License-Identifier: Apache-2.0
// From the start of a process to the end of its first step: the quickstart's model, batch 64, on
// the CPU. Prints medians of processes of its own, in milliseconds; fails above `--at-most`.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "halftone/device.hpp"
#include "halftone/trainer.hpp"

extern "C" const halftone::manifest::ArtifactImage halftone_artifact_digits;
extern char** environ;

namespace {

constexpr std::int64_t kBatch = 64;
constexpr int kProcesses = 51;

/// In milliseconds, on a clock that all processes have.
double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

/// When a process came where.
struct Times {
  double main = 0, device = 0, trainer = 0, step = 0;
};

int train(const std::string& device_name) {
  Times times{.main = now()};
  const auto artifact = halftone::Artifact::linked(halftone_artifact_digits);
  const auto device =
      device_name == "best" ? halftone::Device::best(artifact) : halftone::Device::cpu();
  times.device = now();
  const std::array bindings = {halftone::Binding{"batch", kBatch}};
  halftone::Trainer trainer(artifact, device, {.model = "", .bindings = bindings, .seed = 1});
  times.trainer = now();
  const std::vector<float> pixels(64 * kBatch, 0.5f);
  const std::vector<std::int32_t> digits(kBatch, 3);
  trainer.step(std::array{halftone::NamedValues{"pixels", std::span<const float>(pixels)},
                          halftone::NamedValues{"digit", std::span<const std::int32_t>(digits)}});
  if (!trainer.updated()) return 1;
  times.step = now();
  return write(STDOUT_FILENO, &times, sizeof times) == sizeof times ? 0 : 1;
}

/// Of a process of this program.
Times run(const char* program, const char* device) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) std::abort();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::string words[] = {program, "--in-process", device};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = 0;
  const double start = now();
  if (posix_spawn(&child, program, &actions, nullptr, arguments, environ) != 0) std::abort();
  close(ends[1]);
  Times times;
  const bool told = read(ends[0], &times, sizeof times) == sizeof times;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  posix_spawn_file_actions_destroy(&actions);
  if (!told || status != 0) {
    std::fprintf(stderr, "first_step: the process on '%s' failed\n", device);
    std::exit(1);
  }
  for (double* time : {&times.main, &times.device, &times.trainer, &times.step}) *time -= start;
  return times;
}

double median(const std::vector<Times>& all, double Times::* member) {
  std::vector<double> values;
  for (const Times& times : all) values.push_back(times.*member);
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

}  // namespace

int main(int count, char** values) {
  if (count == 3 && std::strcmp(values[1], "--in-process") == 0) return train(values[2]);
  const double at_most = count == 3 && std::strcmp(values[1], "--at-most") == 0
                             ? std::strtod(values[2], nullptr)
                             : 1e9;
  std::printf("milliseconds from the start of a process, medians of %d\n", kProcesses);
  std::printf("device   main   device  trainer  first step   fastest\n");
  bool good = true;
  for (const char* device : {"cpu", "best"}) {
    std::vector<Times> all;
    for (int i = 0; i < kProcesses; ++i) all.push_back(run("/proc/self/exe", device));
    const double step = median(all, &Times::step);
    std::printf("%-6s %6.2f %8.2f %8.2f %11.2f %9.2f\n", device, median(all, &Times::main),
                median(all, &Times::device), median(all, &Times::trainer), step,
                std::ranges::min(all, {}, &Times::step).step);
    good = good && step <= at_most;
  }
  return good ? 0 : 1;
}
