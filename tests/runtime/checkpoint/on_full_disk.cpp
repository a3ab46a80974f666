// SPDX-License-Identifier: Apache-2.0
// Fills the file system of a folder, a small one of its own, and saves and logs there:
//   on_full_disk FOLDER
// Whatever does not fit is said in one sentence, what was there stays whole, and once there is room
// again everything goes on.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../generated_example.hpp"
#include "halftone/checkpoint.hpp"
#include "halftone/run_sinks.hpp"

namespace {

namespace fs = std::filesystem;

int failures = 0;

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "on_full_disk: not so: %s\n", what);
  ++failures;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Takes all the room but `left` bytes, to a page.
void fill(const fs::path& file, std::uintmax_t left) {
  std::ofstream stream(file, std::ios::binary);
  const std::string page(4096, 'x');
  while (fs::space(file).free > left && stream.write(page.data(), 4096).flush()) continue;
}

template <class Work>
std::string message_of(const Work& work) {
  try {
    work();
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

void test_checkpoints(const fs::path& folder) {
  models::line::Trainer trainer(halftone::Device::cpu(), {.batch = 1, .seed = 1});
  const std::vector<float> features = {1, 2, 3}, target = {1, 0};
  const fs::path file = folder / "run.safetensors", filler = folder / "filler";
  trainer.step(features, target);
  trainer.save(file);
  const std::string before = bytes_of(file);
  trainer.step(features, target);
  for (const std::uintmax_t left : {0, 4096}) {
    for (const bool background : {false, true}) {
      fill(filler, left);
      const std::string words = message_of([&] {
        trainer.save(
            file,
            {.keep = 1, .background = background, .notes = {{"long", std::string(8192, 'n')}}});
        trainer.finish_saving();
      });
      check(words.find("make room for it") != words.npos, "a save names the remedy");
      check(bytes_of(file) == before, "the checkpoint before is whole");
      check(files_in(folder) == 2, "nothing is left behind");
      fs::remove(filler);
    }
  }
  trainer.save(file);
  models::line::Trainer resumed(halftone::Device::cpu(), {.batch = 1, .seed = 7});
  check(resumed.resume(file).steps == 2, "a save after that is good");
  fs::remove(file);
}

void test_logs(const fs::path& folder) {
  models::line::Trainer trainer(halftone::Device::cpu(), {.batch = 1, .seed = 1});
  const std::vector<float> features = {1, 2, 3}, target = {1, 0};
  const fs::path file = folder / "run.jsonl", filler = folder / "filler";
  halftone::RunLog log(trainer, {.every = 1});
  log.add(halftone::json_lines(file));
  trainer.step(features, target);
  log.step(trainer);
  fill(filler, 0);
  std::string words;
  for (int i = 0; i < 100 && words.empty(); ++i) {
    trainer.step(features, target);
    words = message_of([&] { log.step(trainer); });
  }
  check(words.find("make room for it") != words.npos, "a log names the remedy");
  check(trainer.updated(), "the step that could not be logged is done");
  fs::remove(filler);
  trainer.step(features, target);
  check(message_of([&] { log.step(trainer); }).empty(), "a log goes on where there is room again");
  const std::string text = bytes_of(file);
  check(text.ends_with("}\n"), "its last line is whole");
  fs::remove(file);
}

}  // namespace

int main(int count, char** values) try {
  if (count != 2 || fs::space(values[1]).capacity > 16 << 20) {
    std::fprintf(stderr,
                 "on_full_disk: give a folder with a file system of its own, of 16 MiB at most\n");
    return 2;
  }
  test_checkpoints(values[1]);
  test_logs(values[1]);
  return failures == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
