// SPDX-License-Identifier: Apache-2.0
#include "halftone/manifest/manifest.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "halftone/manifest/checksum.hpp"
#include "halftone/manifest/plan.hpp"
#include "line_artifact.hpp"
#include "manifest_failure.hpp"

using namespace halftone::manifest;
using Kind = DecodeError::Kind;

namespace {

/// Under f32, which no other member says (P97).
Encoding two_levels() {
  Encoding to(Element::f4e2m1, halftone::encoding::Rounding::stochastic);
  to.scaling = {.kind = halftone::encoding::Scaling::Kind::block,
                .size = 1,
                .rows = 16,
                .scale = Element::f8e4m3,
                .of_all = Element::f32};
  to.saturate = true;
  return to;
}

/// A line manifest in which no field has its default value.
Manifest full_manifest() {
  Manifest manifest = hand_made::manifest();
  Program& training = manifest.programs[0];
  training.loss_without_output = "error";
  training.buffers[7].initial = -1.5;
  manifest.symbols.push_back("time");
  manifest.limits = {{1, 24, "places", "places.weight"}};
  manifest.parameters[1].trained = false;
  manifest.trained_elements = 32;
  training.buffers[3].shape = training.buffers[12].shape = {{32, -1}};
  manifest.programs[2].buffers[3].shape = {{32, -1}};
  for (Program* program : {&training, &manifest.programs[2]})  // a frozen one has no gradient
    program->phases[static_cast<std::size_t>(Phase::backward)][0].arguments[3].offset = 0;
  manifest.parameters[1].initializer = {Initializer::Kind::normal, 0.5, 0.125};
  manifest.rules.push_back("everywhere : store bf16");
  manifest.loss_scale = {LossScale::Kind::dynamic, 4.0, 3.0, 0.25, 7, 2.0, 8.0, 5, 6};
  manifest.decisions = {{"accumulate", "fc", "role", "forward", "ordered", 1, {0}}};
  training.values = {{"fc.weight",
                      "fc",
                      "parameter",
                      ValueRole::weight,
                      Pass::none,
                      Element::bf16,
                      0,
                      {1},
                      {{2, 0}, {3, -1}},
                      2}};
  training.casts = {{0, Element::f32, Element::bf16, "line_update", true, 1}};
  training.casts.push_back(training.casts[0]);
  training.casts[1].to = two_levels();
  training.casts[1].to.scaling.rotated = true;
  manifest.programs[2].probes.back() = {
      Phase::backward, 0, 2, 1, "fc", "linear", Pass::weight_gradient, ValueRole::saved, 1};
  manifest.programs[2].probes[1].first_launch = 0;
  manifest.assumed = {256, 8};
  manifest.targets = {"cpu", "sm_80"};
  manifest.text_count = 3;
  manifest.cuda = {{"sm_80", std::vector<CudaKernel>(manifest.kernels.size())}};
  for (CudaKernel& kernel : manifest.cuda[0].kernels) {
    kernel = {2,
              "halftone_k",
              128,
              {{{{1, 0}, {2, -1}}, 64}},
              1,
              4096,
              {},
              {{{3, 1}}, 512, 8},
              {{4, {{{{1, 0}}, 64}}, true, true}},
              {{"simt", {1.5, 2.5, 3.5, 4.5}}},
              "f32 operands",
              "a batch",
              "bf16"};
  }
  for (Program& program : manifest.programs) {  // argument 2 of line_loss
    for (Buffer& buffer : program.buffers) {
      if (buffer.name == "row_errors") buffer.encoding = Element::f16;
    }
  }
  manifest.cuda[0].kernels[1].maps = {
      {2, Element::f16, {{{{1, 0}}, 1}, {{{1, 0}, {3, -1}}, 128}, {{{8, -1}}, 64}}}};
  return manifest;
}

}  // namespace

TEST_CASE("a manifest with every field set decodes to itself") {
  const Manifest manifest = full_manifest();
  Manifest copy;
  DecodeError error;
  REQUIRE_MESSAGE(decode(encode(manifest), copy, error), error.message);
  CHECK(copy == manifest);
}

TEST_CASE("encoding the same manifest twice gives the same bytes") {
  CHECK(encode(hand_made::manifest()) == encode(hand_made::manifest()));
}

TEST_CASE("a manifest cut off at any length is reported as truncated") {
  const std::vector<std::byte> bytes = encode(hand_made::manifest());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    // A buffer of exactly this length, so that a sanitizer sees any read behind it.
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<long>(length));
    Kind kind{};
    REQUIRE(failure(cut, kind).find("truncated") != std::string::npos);
    REQUIRE(kind == Kind::truncated);
  }
}

TEST_CASE("every flip of a single bit of a manifest is detected") {
  std::vector<std::byte> bytes = encode(hand_made::manifest());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const std::byte mask{static_cast<unsigned char>(1u << (bit % 8))};
    bytes[bit / 8] ^= mask;
    Manifest manifest;
    DecodeError error;
    const bool decoded = decode(bytes, manifest, error);
    bytes[bit / 8] ^= mask;
    CAPTURE(bit);
    REQUIRE_FALSE(decoded);
  }
  Kind kind{};
  CHECK(failure(bytes, kind).empty());
}

TEST_CASE("bytes behind a manifest count as an alteration") {
  std::vector<std::byte> bytes = encode(hand_made::manifest());
  bytes.push_back(std::byte{0});
  Kind kind{};
  CHECK(failure(bytes, kind) == "the manifest was altered: its checksum does not match");
  CHECK(kind == Kind::altered);
}

TEST_CASE("a manifest of another version names both versions") {
  std::vector<std::byte> bytes = encode(hand_made::manifest());
  bytes[8] = std::byte{kVersion + 1};
  Kind kind{};
  CHECK(failure(bytes, kind) == "the manifest is of version 24, but version 23 is needed");
  CHECK(kind == Kind::version);
}

TEST_CASE("bytes without the magic are no manifest") {
  std::vector<std::byte> bytes(200, std::byte{'x'});
  Kind kind{};
  CHECK(failure(bytes, kind) == "the bytes are no Halftone manifest");
  CHECK(kind == Kind::malformed);
}

namespace {

/// The header that fits the payload, written out from the layout: magic[8], version u32, length u64
/// at 12, checksum at 20.
void repair_header(std::vector<std::byte>& bytes) {
  const std::uint64_t length = bytes.size() - 36;
  for (std::size_t i = 0; i < 8; ++i) bytes[12 + i] = static_cast<std::byte>(length >> (8 * i));
  const std::span<const std::byte> all = bytes;
  const Checksum checksum = checksum_of(all.subspan(36), hash_of(all.first(20)));
  std::ranges::copy(checksum, bytes.begin() + 20);
}

}  // namespace

TEST_CASE("bytes under a valid checksum that are no manifest are refused, however wild") {
  const std::vector<std::byte> whole = encode(full_manifest());
  std::vector<std::byte> bytes = whole;
  repair_header(bytes);
  REQUIRE(bytes == whole);
  std::uint32_t state = 1;
  const auto random = [&](std::size_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
  };
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    bytes = whole;
    if (random(4) == 0) bytes.resize(36 + random(whole.size() - 36));
    for (std::size_t changes = 1 + random(3); changes > 0 && bytes.size() > 36; --changes) {
      const std::size_t at = 36 + random(bytes.size() - 36);
      bytes[at] = random(3) == 0 ? std::byte{0xff} : static_cast<std::byte>(random(256));
    }
    repair_header(bytes);
    Manifest manifest;
    DecodeError error;
    if (!decode(bytes, manifest, error)) {
      ++refused;
      CHECK(error.kind == Kind::malformed);
      continue;
    }
    // What is accepted can be planned, or is too large.
    const std::vector<std::int64_t> symbols(manifest.symbols.size(), 4);
    try {
      for (const Program& program : manifest.programs) (void)plan_arena(program, symbols);
      for (const Kernel& kernel : manifest.kernels) (void)task_count(kernel, symbols);
      for (const CudaTarget& target : manifest.cuda) {
        for (const CudaKernel& kernel : target.kernels) {
          (void)grid_size(kernel, symbols, 132);
          for (const TensorMap& map : kernel.maps)
            for (const MapDimension& dimension : map.dimensions)
              (void)elements(dimension.extent, symbols);
          (void)plan_workspace(kernel, symbols);
        }
      }
    } catch (const std::overflow_error&) {
    }
  }
  CHECK(refused > 10000);
}

TEST_CASE("a length that promises more than there is is refused") {
  // The model's name comes first: its length is the payload's first field.
  std::vector<std::byte> bytes = encode(hand_made::manifest());
  for (std::size_t i = 36; i < 44; ++i) bytes[i] = std::byte{0xff};
  repair_header(bytes);
  Kind kind{};
  CHECK(failure(bytes, kind) == "the manifest's fields do not parse");
  CHECK(kind == Kind::malformed);
}

TEST_CASE("sizes are products of extents and bound symbols") {
  const std::int64_t symbols[] = {32, 5};
  const std::vector<Dimension> shape = {{3, 0}, {7, -1}, {1, 1}};
  CHECK(elements(shape, symbols) == 3 * 32 * 7 * 5);
  CHECK(elements({}, symbols) == 1);
  for (const auto& [bound, parts] : {std::pair{1, 1}, {4, 1}, {5, 2}, {8, 2}, {9, 3}}) {
    const std::int64_t divided[] = {bound};
    CHECK(elements(std::vector<Dimension>{{3, 0, 4}}, divided) == 3 * parts);
  }
  // ceil(32 * 3 / 10) * ceil(7 / 7)
  const Kernel kernel{"k", "row", {{{{1, 0}, {3, -1}}, 10}, {{{7, -1}}, 7}}, 0, -1};
  CHECK(task_count(kernel, symbols) == 10);
  CHECK(task_count(Kernel{}, symbols) == 1);
}

TEST_CASE("the first limit that sizes exceed is found, which symbols that are not bound never do") {
  Manifest manifest = full_manifest();
  manifest.limits.push_back({0, 8, "rows", "rows.weight"});
  using Symbols = std::array<std::int64_t, 2>;
  CHECK(find_exceeded(manifest, Symbols{8, 24}) == nullptr);
  CHECK(find_exceeded(manifest, Symbols{0, 0}) == nullptr);
  CHECK(find_exceeded(manifest, Symbols{9, 25}) == &manifest.limits[0]);
  CHECK(find_exceeded(manifest, Symbols{9, 24}) == &manifest.limits[1]);
  CHECK(reason_of(manifest.limits[0]) ==
        "layer 'places' has 24 times, the rows of parameter 'places.weight'");
  manifest.limits.push_back({0, 8, "frame", "", 3, "has a padding of 2"});
  CHECK(find_exceeded(manifest, Symbols{3, 24}) == nullptr);
  CHECK(find_exceeded(manifest, Symbols{0, 24}) == nullptr);
  CHECK(find_exceeded(manifest, Symbols{2, 24}) == &manifest.limits[2]);
  CHECK(reason_of(manifest.limits[2]) == "layer 'frame' has a padding of 2");
}

TEST_CASE("a dimension may have a number more than its symbol's part, or less") {
  const std::int64_t bound[] = {5};
  const Dimension more{4, 0, 1, 2}, less{1, 0, 2, -2}, none{1, 0, 1, -7};
  CHECK(elements(std::vector<Dimension>{more}, bound) == 22);
  CHECK(elements(std::vector<Dimension>{more, less, {3, -1}}, bound) == 22 * 1 * 3);
  CHECK(elements(std::vector<Dimension>{none}, bound) == 0);
  CHECK(added_text(more) == " + 2");
  CHECK(added_text(less) == " - 2");
  CHECK(added_text({4, 0}) == "");
}

TEST_CASE("a size past 2^62 is an overflow and not a wrong number") {
  const std::int64_t large[] = {std::int64_t{1} << 61};
  CHECK(elements(std::vector<Dimension>{{2, 0}}, large) == std::int64_t{1} << 62);
  CHECK_THROWS_AS((void)elements(std::vector<Dimension>{{3, 0}}, large), std::overflow_error);
  CHECK_THROWS_AS((void)elements(std::vector<Dimension>{{1, 0}, {1, 0}}, large),
                  std::overflow_error);
  CHECK_THROWS_AS((void)plan_arena(hand_made::manifest().programs[0], large), std::overflow_error);
}

TEST_CASE("the arena is the sum of its slots, each as large as its largest tenant") {
  // Batch 20: features 20*3, target 20*2, parameters 64, gradients 64, prediction 20*2, {row_errors
  // 20, gradient 20*2}, four scalars, the caller's gradient 20*2, accumulated 64 in a piece of its
  // own, seven scalars; in bytes 240, 160, 256, 256, 160, 160, 4 each, 160, 256 and 4 each, rounded
  // up to multiples of 64.
  const std::int64_t symbols[] = {20};
  const ArenaPlan plan = plan_arena(hand_made::manifest().programs[0], symbols);
  CHECK(plan.slot_offsets == std::vector<std::int64_t>{0, 256, 448, 704, 960, 1152, 1344, 1408,
                                                       1472, 1536, 1600, 0, 1792, 1856, 1920, 1984,
                                                       2048, 2112, 2176});
  CHECK(plan.bytes == 2240);
  CHECK(plan.accumulated_bytes == 256);

  Program reordered = hand_made::manifest().programs[0];
  std::ranges::reverse(reordered.slots[5].tenants);
  CHECK(plan_arena(reordered, symbols).slot_offsets == plan.slot_offsets);
}

TEST_CASE(
    "what lies in the host's memory is a piece there where the device has memory of its own") {
  Program program = hand_made::manifest().programs[0];
  const std::array<std::int64_t, 1> symbols = {20};
  program.buffers[15].in_host = true;  // any; whether it may, verification says
  program.buffers[16].in_host = true;
  const ArenaPlan one = plan_arena(program, symbols), apart = plan_arena(program, symbols, true);
  CHECK(one.host_bytes == 0);
  CHECK(one.bytes == 2240);
  CHECK(apart.host_bytes == 2 * 64);
  CHECK(apart.bytes == 2240 - 2 * 64);
  const auto offset = [&](std::size_t buffer) {
    return apart.slot_offsets[static_cast<std::size_t>(program.buffers[buffer].slot)];
  };
  CHECK(offset(15) == 0);
  CHECK(offset(16) == 64);
}

TEST_CASE("activations that stay in the host's memory lie behind what lies there for good") {
  Program program = hand_made::manifest().programs[0];
  const std::array<std::int64_t, 1> symbols = {20};
  const ArenaPlan before = plan_arena(program, symbols, true);
  CHECK(before.stay_bytes == 0);
  program.buffers[15].in_host = true;
  program.stays = {{5, 10}, {10, 5}};  // any; whether they may, verification says
  const ArenaPlan plan = plan_arena(program, symbols, true);
  CHECK(program.buffers[5].name == "row_errors");  // of 20 rows, and 20 rows of 2
  CHECK(program.buffers[10].name == "%prediction.gradient");
  CHECK(plan.stay_offsets == std::vector<std::int64_t>{64, 64 + 128});
  CHECK(plan.stay_bytes == 128 + 192);
  CHECK(plan.host_bytes == 64 + 128 + 192);
  CHECK(plan.bytes == before.bytes - 64);
}

TEST_CASE("a buffer of a section is as large as a chunk, of at least one element of the symbol") {
  Program program = hand_made::manifest().programs[0];
  program.sections = {
      {Phase::loss, 0, 1, 7, 0, {{2, -1}}}};  // 7 rows, 2 for every one of the batch
  CHECK(chunk_of(program.sections[0], std::array<std::int64_t, 1>{20}) == 3);
  CHECK(chunk_of(program.sections[0], std::array<std::int64_t, 1>{2}) == 2);
  program.sections[0].rows = 1;
  CHECK(chunk_of(program.sections[0], std::array<std::int64_t, 1>{20}) == 1);
  // Multiples of 12 rows are multiples of 6 of the batch.
  program.sections[0].multiple = 12;
  for (const auto& [rows, batch, chunk] : {std::array<std::int64_t, 3>{27, 20, 12},
                                           {23, 20, 6},
                                           {1, 20, 6},
                                           {1, 5, 5},
                                           {1 << 20, 20, 20}}) {
    program.sections[0].rows = rows;
    CHECK(chunk_of(program.sections[0], std::array<std::int64_t, 1>{batch}) == chunk);
  }
  program.sections[0].multiple = 1;
  program.sections[0].rows = 7;
  for (const std::int32_t tenant : program.slots[5].tenants) {
    program.buffers[static_cast<std::size_t>(tenant)].section = 0;
  }
  // 3*2 floats in place of 20*2: one multiple of 64 bytes and not three.
  CHECK(plan_arena(program, std::array<std::int64_t, 1>{20}).bytes == 2240 - 128);
}

TEST_CASE("what a section in parts alone uses lies in a piece that each thread has") {
  Program program = hand_made::manifest().programs[0];
  const std::int64_t whole = plan_arena(program, std::array<std::int64_t, 1>{20}).bytes;
  program.sections = {{.phase = Phase::loss, .first = 0, .count = 1, .parts = {{1, 0}}}};
  for (const std::int32_t tenant : program.slots[5].tenants) {
    program.buffers[static_cast<std::size_t>(tenant)].section = 0;
  }
  const ArenaPlan plan = plan_arena(program, std::array<std::int64_t, 1>{20});
  CHECK(plan.slot_offsets[5] == 0);
  CHECK(plan.slot_offsets[6] == 1152);
  CHECK(plan.part_bytes == 192);  // 20 * 2 floats, rounded up
  CHECK(plan.bytes == whole - 192);
}
