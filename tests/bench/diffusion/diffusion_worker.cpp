// SPDX-License-Identifier: Apache-2.0
// diffusion_worker RULES CLIPS FOLDER: answers lines, for compare.py; HALFTONE_THREADS says how
// many threads.
//   weights        writes its first weights to FOLDER/weights.safetensors, "ok" and how many
//                  numbers they are
//   batches COUNT  writes the first batches of the file CLIPS, noised, to FOLDER, a .npy file for
//                  each input; steps take them in turn, again and again
//   losses STEPS   the losses of so many further steps
//   speed SECONDS  clips a second of further steps
//   bytes          of memory that the trainer takes
//   memory         the most bytes that this process had at once
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <halftone/npy.hpp>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "noise.hpp"
#include "training.hpp"

namespace {

constexpr std::int64_t kBatch = 4;

class Worker {
 public:
  Worker(const std::string& rules, std::string clips, std::filesystem::path folder)
      : trainer_(trainer_of(rule_set(rules), halftone::Device::best(rule_set(rules).artifact),
                            kBatch, 1)),
        clips_(std::move(clips)),
        folder_(std::move(folder)) {}

  void answer(const std::string& what, double amount) {
    const auto count = static_cast<std::int64_t>(amount);
    if (what == "weights") {
      trainer_.save_weights(folder_ / "weights.safetensors");
      std::size_t numbers = 0;
      for (const std::string& name : trainer_.parameter_names())
        numbers += trainer_.parameter(name).size();
      std::printf("ok %zu\n", numbers);
    } else if (what == "batches") {
      write_batches(count);
      std::printf("ok\n");
    } else if (what == "losses") {
      std::printf("ok");
      for (std::int64_t i = 0; i < count; ++i) {
        step();
        std::printf(" %.7g", static_cast<double>(trainer_.loss("loss")));
      }
      std::printf("\n");
    } else if (what == "speed") {
      std::printf("ok %.9g\n", clips_per_second(amount));
    } else if (what == "memory") {
      std::printf("ok %lld\n", peak_bytes());
    } else {
      std::printf("ok %lld\n", static_cast<long long>(trainer_.stats().peak_bytes_measured));
    }
  }

 private:
  void write_batches(std::int64_t count) const {
    halftone::Loader loader(
        clips_of(clips_),
        {.batch = count * kBatch, .seed = 1, .threads = 0, .transform = [](const auto& batch) {
           draw_levels(batch, Draws::once);
         }});
    const auto batch = loader.next();
    for (const halftone::NamedValues& input : batch->inputs) {
      const auto file = folder_ / (std::string(input.name) + ".npy");
      const auto write = [&](const auto& values) {
        const std::int64_t rows = count * kBatch, columns = std::ssize(values) / rows;
        if (columns == kClip)
          halftone::save_npy(file, values,
                             std::array<std::int64_t, 5>{rows, kFrames, kSide, kSide, kColours});
        else
          halftone::save_npy(file, values, std::array{rows, columns});
      };
      if (const auto* levels = std::get_if<std::span<const std::int32_t>>(&input.values))
        write(*levels);
      else
        write(std::get<std::span<const float>>(input.values));
    }
  }

  [[nodiscard]] halftone::Dataset inputs() const {
    std::vector<halftone::NpyInput> files;
    for (const char* name : {"noised", "level", "clip_share", "noise_share", "noise"})
      files.push_back({name, folder_ / (std::string(name) + ".npy")});
    return halftone::Dataset::npy(files);
  }

  void step() {
    if (!batches_)
      batches_.emplace(inputs(), halftone::LoaderOptions{.batch = kBatch, .shuffle = false});
    auto batch = batches_->next();
    if (!batch) batch = batches_->next();
    trainer_.step(batch->inputs);
    trainer_.wait();
  }

  static long long peak_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return 1024 * std::atoll(line.c_str() + 6);
    return 0;
  }

  double clips_per_second(double most) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    double steps = 0;
    std::chrono::duration<double> passed{};
    do {
      step();
      ++steps;
      passed = Clock::now() - start;
    } while (passed.count() < most);
    return steps * kBatch / passed.count();
  }

  halftone::Trainer trainer_;
  std::filesystem::path clips_, folder_;
  std::optional<halftone::Loader> batches_;
};

}  // namespace

int main(int count, char** words) try {
  if (count != 4) return 2;
  Worker worker(words[1], words[2], words[3]);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string what;
    double amount = 0;
    in >> what >> amount;
    worker.answer(what, amount);
    std::fflush(stdout);
  }
} catch (const std::exception& error) {
  std::printf("error %s\n", error.what());
  return 1;
}
