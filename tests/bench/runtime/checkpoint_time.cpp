// SPDX-License-Identifier: Apache-2.0
// Seconds of saving and resuming 768 MiB of training state on the CPU, and how long a step waits
// for a save in the background. Beside them what the machine does in the same round: a copy in
// memory, and a plain file that is written and made durable.
//   checkpoint_time [FOLDER]
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "halftone/checkpoint.hpp"
#include "halftone/trainer.hpp"

extern "C" const halftone::manifest::ArtifactImage halftone_artifact_wide;

namespace {

constexpr std::int64_t kBatch = 64;
constexpr int kRounds = 5;

template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Least, middle and most of some.
struct Times {
  std::vector<double> seconds;

  void print(const char* what, double gigabytes) {
    std::ranges::sort(seconds);
    std::printf("%-44s %6.2f  (%.2f to %.2f)\n", what, seconds[seconds.size() / 2] / gigabytes,
                seconds.front() / gigabytes, seconds.back() / gigabytes);
  }
};

void write_plainly(const std::filesystem::path& file, const std::vector<char>& bytes) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  for (std::size_t done = 0; descriptor >= 0 && done < bytes.size();) {
    const ssize_t count = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  if (descriptor < 0 || fsync(descriptor) != 0 ||
      std::filesystem::file_size(file) != bytes.size()) {
    std::fprintf(stderr, "checkpoint_time: cannot write %s; name a folder with 3 GB of room\n",
                 file.c_str());
    std::exit(1);
  }
  close(descriptor);
}

}  // namespace

int main(int count, char** values) try {
  namespace fs = std::filesystem;
  const fs::path folder = count > 1 ? values[1] : ".";
  const fs::path file = folder / "checkpoint_time.safetensors", plain = folder / "checkpoint_time";
  const auto artifact = halftone::Artifact::linked(halftone_artifact_wide);
  const std::array bindings = {halftone::Binding{"batch", kBatch}};
  halftone::Trainer trainer(artifact, halftone::Device::cpu(),
                            {.model = "", .bindings = bindings, .seed = 1});
  const std::vector<std::int32_t> tokens(kBatch, 7), labels(kBatch, 3);
  const auto step = [&] {
    trainer.step(std::array{halftone::NamedValues{"token", std::span<const std::int32_t>(tokens)},
                            halftone::NamedValues{"label", std::span<const std::int32_t>(labels)}});
    if (!trainer.updated()) std::abort();
  };
  step();
  trainer.save(file);
  const auto bytes = fs::file_size(file);
  const double gigabytes = 1e-9 * static_cast<double>(bytes);
  std::vector<char> memory(bytes, 1), copy(bytes, 2);
  Times copied, written, saved, resumed, handed, finished;
  Times alone, beside;
  for (int round = 0; round < kRounds; ++round) {
    copied.seconds.push_back(seconds_of([&] { std::memcpy(copy.data(), memory.data(), bytes); }));
    written.seconds.push_back(seconds_of([&] { write_plainly(plain, memory); }));
    saved.seconds.push_back(seconds_of([&] { trainer.save(file); }));
    resumed.seconds.push_back(seconds_of([&] { trainer.resume(file); }));
    alone.seconds.push_back(seconds_of(step));
    const double call = seconds_of([&] { trainer.save(file, {.background = true}); });
    handed.seconds.push_back(call);
    beside.seconds.push_back(seconds_of(step));
    finished.seconds.push_back(call + beside.seconds.back() +
                               seconds_of([&] { trainer.finish_saving(); }));
    std::fprintf(stderr, "\rround %d of %d", round + 1, kRounds);
  }
  std::fprintf(stderr, "\n");
  std::printf("%.2f GB; seconds a GB, median of %d rounds (least to most)\n", gigabytes, kRounds);
  copied.print("a copy in memory (memcpy)", gigabytes);
  written.print("a plain file, written and fsynced", gigabytes);
  saved.print("save", gigabytes);
  resumed.print("resume", gigabytes);
  handed.print("save in the background: the call", gigabytes);
  finished.print("save in the background: until it is durable", gigabytes);
  std::printf("and seconds of a step\n");
  alone.print("a step", 1);
  beside.print("a step while a save is written", 1);
  fs::remove(file);
  fs::remove(plain);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
