// SPDX-License-Identifier: Apache-2.0
// What a manifest says about chips, and the texts beside it.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <stdexcept>

#include "halftone/manifest/manifest.hpp"
#include "halftone/manifest/plan.hpp"
#include "halftone/manifest/texts.hpp"
#include "line_artifact.hpp"

using namespace halftone::manifest;

namespace {

/// Of rows of the symbol, and of 2 * 8 of it columns, where nothing else is said.
struct MapForm {
  std::int32_t argument = 0;
  Element element = Element::bf16;
  std::vector<Dimension> rows = {{1, 0}}, columns = {{2, -1}, {8, 0}};
  std::int32_t box_rows = 128, box_columns = 64;
  std::size_t rank = 2;  ///< more have further dimensions in front, as the rows
};
TensorMap map(const MapForm& form) {
  TensorMap map{form.argument, form.element, {}};
  if (form.rank > 1) map.dimensions.assign(form.rank - 1, {form.rows, form.box_rows});
  map.dimensions.push_back({form.columns, form.box_columns});
  return map;
}

/// The line model for two chips.
Manifest for_chips() {
  Manifest manifest = hand_made::manifest();
  manifest.targets = {"cpu", "sm_80", "sm_90a"};
  manifest.text_count = 1;
  for (const char* chip : {"sm_80", "sm_90a"}) {
    CudaTarget target{chip, {}};
    for (const Kernel& kernel : manifest.kernels) {
      CudaKernel on_chip;
      on_chip.entry = "halftone_" + kernel.name;
      target.kernels.push_back(on_chip);
    }
    manifest.cuda.push_back(target);
  }
  return manifest;
}

}  // namespace

TEST_CASE("what a manifest says about chips is refused with the culprit's name") {
  struct Case {
    const char* culprit;
    std::function<void(Manifest&)> break_it;
  };
  const auto kernel = [](Manifest& m) -> CudaKernel& { return m.cuda[1].kernels[1]; };
  const std::string who = "kernel 'line_loss' of target 'sm_90a' has an ";
  const Case cases[] = {
      {"it holds for no target",
       [](Manifest& m) {
         m.targets.clear();
         m.cuda.clear();
       }},
      {"target 'sm_80' occurs twice",
       [](Manifest& m) {
         m.targets = {"cpu", "sm_80", "sm_80"};
       }},
      {"target 'sm_80' has no kernels in its place",
       [](Manifest& m) { std::swap(m.cuda[0], m.cuda[1]); }},
      {"target 'sm_90a' has no kernels in its place", [](Manifest& m) { m.cuda.pop_back(); }},
      {"target 'sm_90a' has kernels but is none of the targets",
       [](Manifest& m) { m.targets.pop_back(); }},
      {"kernel 'line_loss' of target 'sm_90a' has zeroed parts of its workspace behind others",
       [&](Manifest& m) {
         kernel(m).workspace = {{4, {}, false, false}, {4, {}, false, true}};
       }},
      {"target 'sm_80' has not one entry for every kernel",
       [](Manifest& m) { m.cuda[0].kernels.pop_back(); }},
      {"the assumed sizes are not one positive number for every symbol",
       [](Manifest& m) { m.assumed.clear(); }},
      {"the assumed sizes are not one positive number for every symbol",
       [](Manifest& m) { m.assumed = {0}; }},
      {"the number of texts is impossible", [](Manifest& m) { m.text_count = -1; }},
      {"unknown text", [&](Manifest& m) { kernel(m).text = 1; }},
      {"unknown text", [&](Manifest& m) { kernel(m).text = -1; }},
      {"entry without a name", [&](Manifest& m) { kernel(m).entry.clear(); }},
      {"impossible number of threads", [&](Manifest& m) { kernel(m).threads = 0; }},
      {"impossible number of threads", [&](Manifest& m) { kernel(m).threads = 33; }},
      {"impossible number of threads", [&](Manifest& m) { kernel(m).threads = 2048; }},
      {"impossible grid",
       [&](Manifest& m) {
         kernel(m).blocks = {{{{1, 0}}, 0}};
       }},
      {"impossible grid",
       [&](Manifest& m) {
         kernel(m).blocks = {{{{1, 1}}, 1}};
       }},
      {"impossible amount of shared memory", [&](Manifest& m) { kernel(m).shared_bytes = -1; }},
      {"impossible amount of shared memory",
       [&](Manifest& m) { kernel(m).shared_bytes = 1 << 21; }},
      {"impossible grid", [&](Manifest& m) { kernel(m).resident = -1; }},
      {"impossible grid", [&](Manifest& m) { kernel(m).resident = 65; }},
      {"impossible tensor map", [&](Manifest& m) { kernel(m).maps = {map({.argument = -1})}; }},
      {"impossible tensor map", [&](Manifest& m) { kernel(m).maps = {map({.rows = {}})}; }},
      {"impossible tensor map",
       [&](Manifest& m) {
         kernel(m).maps = {map({.rows = {{0, -1}}})};
       }},
      {"impossible tensor map",
       [&](Manifest& m) {
         kernel(m).maps = {map({.rows = {{1, 1}}})};
       }},
      {"impossible tensor map", [&](Manifest& m) { kernel(m).maps = {map({.columns = {}})}; }},
      {"impossible tensor map",
       [&](Manifest& m) {
         kernel(m).maps = {map({.columns = {{4, -1}}})};
       }},
      {"impossible tensor map",
       [&](Manifest& m) {
         kernel(m).maps = {map({.columns = {{1, 0}}})};
       }},
      {"impossible tensor map",
       [&](Manifest& m) { kernel(m).maps = {map({.element = Element::f32})}; }},
      {"impossible tensor map", [&](Manifest& m) { kernel(m).maps = {map({.box_rows = 0})}; }},
      {"impossible tensor map", [&](Manifest& m) { kernel(m).maps = {map({.box_rows = 257})}; }},
      {"impossible tensor map", [&](Manifest& m) { kernel(m).maps = {map({.box_columns = 72})}; }},
      {"impossible tensor map", [&](Manifest& m) { kernel(m).maps = {map({.box_columns = 4})}; }},
      {"impossible tensor map", [&](Manifest& m) { kernel(m).maps = {map({.rank = 1})}; }},
      {"impossible tensor map", [&](Manifest& m) { kernel(m).maps = {map({.rank = 5})}; }},
      {"impossible tensor map",
       [&](Manifest& m) {
         kernel(m).maps = {map({.rank = 4})};
         kernel(m).maps[0].dimensions[1].box = 0;
       }},
      {"kernel 'line_loss' has a tensor map of no argument of its launch",
       [&](Manifest& m) { kernel(m).maps = {map({.argument = 99})}; }},
      {"kernel 'line_loss' has a tensor map of no argument of its launch",
       [&](Manifest& m) { kernel(m).maps = {map({})}; }},  // of f32
      {"kernel 'line_loss' has a tensor map of no argument of its launch",
       [&](Manifest& m) {  // eight times what the argument holds
         for (Program& program : m.programs)
           for (Buffer& buffer : program.buffers)
             if (buffer.name == "row_errors") buffer.encoding = Element::bf16;
         kernel(m).maps = {map({.argument = 2, .columns = {{8, -1}}})};
       }},
      {"impossible split",
       [&](Manifest& m) {
         kernel(m).split = {{{1, 0}}, 0, 4};
       }},
      {"impossible split",
       [&](Manifest& m) {
         kernel(m).split = {{{1, 0}}, 64, 0};
       }},
      {"impossible split",
       [&](Manifest& m) {
         kernel(m).split = {{{1, 0}}, 64, 1 << 20};
       }},
      {"impossible split",
       [&](Manifest& m) {
         kernel(m).split = {{{1, 7}}, 64, 4};
       }},
      {"impossible split",
       [&](Manifest& m) {
         kernel(m).split = {{}, 64, 4};
       }},
      {"impossible workspace",
       [&](Manifest& m) {
         kernel(m).workspace = {{0, {}, false, false}};
       }},
      {"impossible workspace",
       [&](Manifest& m) {
         kernel(m).workspace = {{4, {{{{-1, -1}}, 1}}, false, false}};
       }},
      {"impossible plan",
       [&](Manifest& m) {
         kernel(m).plans = {{"", {}}};
       }},
      {"impossible plan",
       [&](Manifest& m) {
         kernel(m).plans = {{"simt", {0, 0, 0, std::nan("")}}};
       }},
      {"impossible plan",
       [&](Manifest& m) {
         kernel(m).plans = {{"simt", {0, -1, 0, 0}}};
       }},
  };
  {
    Manifest copy;
    DecodeError error;
    REQUIRE_MESSAGE(decode(encode(for_chips()), copy, error), error.message);
    CHECK(copy == for_chips());
  }
  for (const Case& c : cases) {
    CAPTURE(c.culprit);
    Manifest manifest = for_chips(), copy;
    c.break_it(manifest);
    DecodeError error;
    CHECK_FALSE(decode(encode(manifest), copy, error));
    CAPTURE(error.message);
    CHECK(error.message.find(c.culprit) != std::string::npos);
    if (std::string_view(c.culprit).starts_with("impossible ")) {
      CHECK(error.message.find(who + c.culprit) != std::string::npos);
    }
  }
}

TEST_CASE("kernels are found by chip") {
  const Manifest manifest = for_chips();
  REQUIRE(find_cuda(manifest, "sm_90a"));
  CHECK(find_cuda(manifest, "sm_90a")->chip == "sm_90a");
  CHECK(find_cuda(manifest, "sm_90") == nullptr);
  CHECK(find_cuda(manifest, "cpu") == nullptr);
}

TEST_CASE("a grid of blocks that go on with what is left is as many as run at once") {
  CudaKernel kernel;
  kernel.blocks = {{{{1, 0}}, 256}, {{{1000, -1}}, 256}};
  struct {
    std::int64_t rows, multiprocessors, resident, blocks, grid;
  } cases[] = {{1, 132, 1, 4, 4},        {256, 132, 0, 4, 4},    {8192, 132, 1, 128, 128},
               {9000, 132, 1, 144, 132}, {9000, 0, 1, 144, 144}, {9000, 132, 0, 144, 144},
               {9000, 50, 2, 144, 100},  {9000, 1, 1, 144, 1}};
  for (const auto& c : cases) {
    CAPTURE(c.rows);
    CAPTURE(c.multiprocessors);
    kernel.resident = static_cast<std::int32_t>(c.resident);
    const std::int64_t symbols[] = {c.rows};
    CHECK(block_count(kernel, symbols) == c.blocks);
    CHECK(grid_size(kernel, symbols, c.multiprocessors) == c.grid);
  }
}

TEST_CASE("a grid is tiles times splits, and a workspace the sum of its rounded parts") {
  CudaKernel kernel;
  kernel.blocks = {{{{1, 0}}, 64}, {{{100, -1}}, 32}};
  kernel.split = {{{2, 1}}, 500, 4};
  kernel.workspace = {{4, {{{{1, 0}}, 64}, {{{100, -1}}, 32}}, false, true},
                      {1000, {{{{1, 0}}, 64}, {{{100, -1}}, 32}}, true, false},
                      {64, {}, false, false}};
  struct {
    std::int64_t batch, time, splits, blocks;
    std::vector<std::int64_t> offsets;
    std::int64_t bytes;
  } cases[] = {
      // ceil(batch / 64) * 4 tiles; ceil(2 * time / 500) splits within 1 and 4
      {1, 1, 1, 4, {0, 256, 256 + 4096}, 256 + 4096 + 256},
      {64, 250, 1, 4, {0, 256, 256 + 4096}, 256 + 4096 + 256},
      {65, 251, 2, 16, {0, 256, 256 + 16128}, 256 + 16128 + 256},
      {1024, 10000, 4, 256, {0, 256, 256 + 256000}, 256 + 256000 + 256},
  };
  for (const auto& c : cases) {
    CAPTURE(c.batch);
    const std::int64_t symbols[] = {c.batch, c.time};
    CHECK(split_count(kernel.split, symbols) == c.splits);
    CHECK(block_count(kernel, symbols) == c.blocks);
    CHECK(plan_workspace(kernel, symbols).offsets == c.offsets);
    CHECK(plan_workspace(kernel, symbols).bytes == c.bytes);
  }
  const std::int64_t huge[] = {std::int64_t{1} << 61, 1};
  CHECK_THROWS_AS((void)plan_workspace(kernel, huge), std::overflow_error);
}

TEST_CASE("texts unpack as they were packed, and nothing else unpacks") {
  std::string large;  // does not fit one block of the compressor
  for (std::int64_t i = 0; i < 300000; ++i) large += static_cast<char>('a' + i * i % 23);
  const std::vector<std::string> all = {"first", "", large, std::string("\0zero", 5)};
  for (std::size_t count : {0, 1, 4}) {
    const std::vector<std::string> texts(all.begin(), all.begin() + static_cast<long>(count));
    std::vector<std::string> copy = {"left over"};
    DecodeError error;
    const std::vector<std::byte> packed = pack_texts(texts);
    CHECK(packed == pack_texts(texts));
    REQUIRE_MESSAGE(unpack_texts(packed, copy, error), error.message);
    CHECK(copy == texts);
  }
  const std::vector<std::string> whole = {"a text", "another"};
  const std::vector<std::byte> packed = pack_texts(whole);
  for (std::size_t at = 0; at < packed.size(); ++at) {
    CAPTURE(at);
    DecodeError error;
    std::vector<std::string> texts;
    CHECK_FALSE((at > 0 && unpack_texts(std::span(packed).first(at), texts, error)));
    CHECK(texts.empty());
    std::vector<std::byte> altered = packed;
    altered[at] ^= std::byte{1};
    if (unpack_texts(altered, texts, error)) {  // a bit of the frame that means nothing
      CHECK(texts == whole);
      continue;
    }
    CHECK(texts.empty());
    CHECK(error.message.find("kernel texts") != std::string::npos);
  }
}

TEST_CASE("what was compiled ahead of time comes back, and nothing else is taken for it") {
  const std::string bytes("\0\n 1\xff", 5);
  const AheadImage image{7, "sm_90a", "13.0", bytes};
  AheadImage back;
  REQUIRE(parse_entry(entry_of(image), back));
  CHECK(back == image);
  for (const std::string entry :
       {"", "7", "7 sm_90a", "7 sm_90a 13.0", "7 sm_90a 13.0\n", "x a 13.0\nc", "-1 a 13.0\nc",
        "7x a 13.0\nc", "7\na 13.0 c", " a 13.0\nc", "7 a x\nc", "7 a 13\nc", "7 a 13.0x\nc",
        "7 a 13.-1\nc", "7 a .0\nc", "7 a 99999999999.0\nc"}) {
    CAPTURE(entry);
    CHECK_FALSE(parse_entry(entry, back));
  }
  const std::string entry = entry_of({1, "sm_90a", "13.0", "cubin"});
  struct {
    std::vector<std::string> texts;
    std::size_t count;
    bool splits;
  } cases[] = {{{"a", "b", entry, entry}, 2, true},
               {{"a", "b"}, 2, true},
               {{"a"}, 2, false},
               {{"a", entry}, 1, false},  // of a text that is not there
               {{"a", "b", "c", entry}, 2, false}};
  for (auto& c : cases) {
    CAPTURE(c.texts.size());
    const std::size_t behind = c.texts.size() - c.count;
    std::vector<AheadImage> ahead;
    CHECK(split_ahead(c.texts, c.count, ahead) == c.splits);
    if (!c.splits) continue;
    CHECK(c.texts == std::vector<std::string>{"a", "b"});
    CHECK(ahead == std::vector<AheadImage>(behind, {1, "sm_90a", "13.0", "cubin"}));
  }
}
