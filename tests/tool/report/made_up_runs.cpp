// SPDX-License-Identifier: Apache-2.0
// made_up_runs FOLDER: two logs whose picture is known. The loss of `high` is 1 and that of `low`
// 0.01 in every step; steps 500 to 600 of `low` were skipped and lowered its loss scale from 2^16
// to 2^15. The gradients of the two layers of `high` are 1 and 1e-4, from step 500 on the other
// way. `high` has a picture, 60 x 20 pixels of the colour 12ab34.
#include <array>
#include <fstream>
#include <utility>

#include "run_files.hpp"

namespace {

/// Written by Python's zlib.
constexpr std::array<unsigned char, 102> kPicture = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44,
    0x52, 0x00, 0x00, 0x00, 0x3c, 0x00, 0x00, 0x00, 0x14, 0x08, 0x02, 0x00, 0x00, 0x00, 0x5e,
    0x61, 0xc9, 0x7e, 0x00, 0x00, 0x00, 0x2d, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0xed, 0xce,
    0x41, 0x09, 0x00, 0x00, 0x08, 0x04, 0xb0, 0xcb, 0x60, 0x16, 0x5b, 0x5b, 0xd2, 0x14, 0x3e,
    0x84, 0xc1, 0x02, 0x2c, 0x35, 0xfd, 0x4e, 0xa4, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5,
    0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0x2f, 0x2c, 0x81, 0x30, 0x69, 0xed, 0x38, 0x43, 0xd4, 0x4f,
    0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};

}  // namespace

int main(int count, char** values) {
  using namespace halftone::tests;
  if (count != 2) return 2;
  MadeUpRun high, low;
  high.facts.name = "high";
  low.facts.name = "low";
  high.facts.gradient_layers = {"front", "back"};
  high.change = [](halftone::LogEntry& entry) {
    entry.layer_gradients = {1.0, 1e-4};
    if (entry.step >= 500) std::swap(entry.layer_gradients[0], entry.layer_gradients[1]);
  };
  low.loss = [](std::int64_t) { return 0.01f; };
  low.change = [](halftone::LogEntry& entry) {
    entry.loss_scale = entry.step < 500 ? 65536.0f : 32768.0f;
    if (entry.step >= 500 && entry.step <= 600) entry.skipped = 1;
  };
  const std::string folder = values[1], picture = folder + "/picture.png";
  std::ofstream(picture, std::ios::binary)
      .write(reinterpret_cast<const char*>(kPicture.data()), kPicture.size());
  write_run(folder + "/high.jsonl", high);
  halftone::json_lines(folder + "/high.jsonl", halftone::IfExists::append)
      ->picture({.step = 500, .name = "seen", .file = picture});
  write_run(folder + "/low.jsonl", low);
}
