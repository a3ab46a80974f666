// SPDX-License-Identifier: Apache-2.0
// Event files, to the byte as PyPI's tensorboard writes them (record_events).
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "../files/scratch_folder.hpp"
#include "halftone/run_sinks.hpp"
#include "halftone/value_statistics.hpp"
#include "log/crc32c.hpp"
#include "message_of.hpp"
#include "recorded_run.hpp"

using halftone::tensorboard_events;
using halftone::tests::bytes_of_file, halftone::tests::ScratchFolder, halftone::tests::write_file;

namespace {

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path().filename().string());
  std::ranges::sort(files);
  return files;
}

void write_run(const std::string& folder) {
  made_up::write_recorded_run(*tensorboard_events(folder));
}

}  // namespace

TEST_CASE("CRC-32C of RFC 3720, B.4") {
  std::string rising(32, '\0');
  for (int i = 0; i < 32; ++i) rising[static_cast<std::size_t>(i)] = static_cast<char>(i);
  CHECK(halftone::crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(halftone::crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(halftone::crc32c(rising) == 0x46dd794e);
  CHECK(halftone::crc32c(std::string(rising.rbegin(), rising.rend())) == 0x113fdb5c);
}

TEST_CASE("an event file is to the byte what TensorBoard's own writer makes") {
  const ScratchFolder scratch;
  write_run(scratch / "runs/1");
  const std::vector<std::string> files = files_of(scratch / "runs/1");
  REQUIRE(files.size() == 1);
  CHECK(files[0] == "events.out.tfevents.1750000000.halftone.0");
  const std::string recorded = bytes_of_file(RECORDED_EVENTS);
  REQUIRE(recorded.size() > 300);
  CHECK(bytes_of_file(scratch / "runs/1/" + files[0]) == recorded);
}

TEST_CASE("the gradient of every layer is a scalar, where it is known") {
  const ScratchFolder scratch;
  halftone::RunFacts facts = made_up::facts();
  facts.gradient_layers = {"h/0/fc", "head"};
  halftone::LogEntry entry = made_up::entry(10, 1.0f);
  entry.layer_gradients = {std::nullopt, 0.5};
  const auto sink = halftone::tensorboard_events(scratch / "run");
  sink->begin(facts);
  sink->write(entry);
  const std::string text = bytes_of_file(scratch / "run/" + files_of(scratch / "run").at(0));
  // Field 1 of the value is its tag, field 2 the number, 0.5 in f32.
  CHECK(text.find(std::string("\x0a\x12gradient_norm/head\x15\0\0\0\x3f", 25)) != text.npos);
  CHECK(text.find("gradient_norm/h/0/fc") == text.npos);
}

TEST_CASE("the worst of a sample's roundings are scalars") {
  const ScratchFolder scratch;
  halftone::ValueStatistics value{.layer = "fc", .role = "gradient", .elements = 8};
  value.format = "f16";
  value.saturated = 4;
  const auto sink = halftone::tensorboard_events(scratch / "run");
  sink->begin(made_up::facts());
  sink->values({.step = 300, .values = {value}});
  const std::string text = bytes_of_file(scratch / "run/" + files_of(scratch / "run").at(0));
  CHECK(text.find(std::string("\x0a\x19roundings/most_overflowed\x15\0\0\0\x3f", 32)) != text.npos);
  CHECK(text.find(std::string("\x0a\x17roundings/most_became_0\x15\0\0\0\0", 30)) != text.npos);
  CHECK(text.find(std::string("\x10\xac\x02", 3)) != text.npos);  // field 2, step 300
}

TEST_CASE("a run that goes on adds a file") {
  const ScratchFolder scratch;
  write_run(scratch / "run");
  write_run(scratch / "run");
  CHECK(files_of(scratch / "run") ==
        std::vector<std::string>{"events.out.tfevents.1750000000.halftone.0",
                                 "events.out.tfevents.1750000000.halftone.1"});
}

TEST_CASE("a folder that cannot be is refused") {
  const ScratchFolder scratch;
  write_file(scratch / "file", "x");
  CHECK(message_of([&] { write_run(scratch / "file/run"); }) ==
        "log: folder '" + scratch.path() +
            "/file/run' cannot be made: Not a directory; check the path and its permissions");
}
