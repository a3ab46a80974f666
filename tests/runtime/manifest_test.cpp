// SPDX-License-Identifier: Apache-2.0
#include "halftone/manifest/manifest.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>

#include "halftone/description/rule_faults.hpp"
#include "halftone/manifest/checksum.hpp"
#include "halftone/manifest/seal.hpp"
#include "line_artifact.hpp"

using namespace halftone::manifest;
using Kind = DecodeError::Kind;

namespace {

/// Decodes, and says how it failed; nothing when it did not.
std::string failure(std::span<const std::byte> bytes, Kind& kind) {
  Manifest manifest;
  DecodeError error;
  if (decode(bytes, manifest, error)) return {};
  CHECK(manifest == Manifest{});
  CHECK_FALSE(error.message.empty());
  kind = error.kind;
  return error.message;
}

/// A line manifest in which no field has its default value.
Manifest full_manifest() {
  Manifest manifest = hand_made::manifest();
  Program& training = manifest.programs[0];
  training.loss_without_output = "error";
  training.buffers[7].initial = -1.5;
  training.buffers[5].format = Format::bf16;
  manifest.symbols.push_back("time");
  manifest.parameters[1].trained = false;
  manifest.trained_elements = 32;
  training.buffers[3].shape = training.buffers[12].shape = {{32, -1}};
  manifest.programs[2].buffers[3].shape = {{32, -1}};
  manifest.parameters[1].initializer = {Initializer::Kind::normal, 0.5, 0.125};
  manifest.rules.push_back("everywhere : store bf16");
  manifest.loss_scale = {LossScale::Kind::dynamic, 4.0, 3.0, 0.25, 7, 2.0, 8.0, 5, 6};
  manifest.decisions = {{"accumulate", "fc", "role", "forward", "ordered", 1, {0}}};
  training.values = {{"fc.weight",
                      "fc",
                      "parameter",
                      ValueRole::weight,
                      Pass::none,
                      Format::bf16,
                      0,
                      {1},
                      {{2, 0}, {3, -1}},
                      2}};
  training.casts = {{0, Format::f32, Format::bf16, "line_update", true, 1}};
  manifest.programs[2].probes.back() = {
      Phase::backward, 0, 2, 1, "fc", "linear", Pass::weight_gradient, ValueRole::saved, 1};
  manifest.assumed = {256, 8};
  manifest.targets = {"cpu", "sm_80"};
  manifest.text_count = 3;
  manifest.cuda = {{"sm_80", std::vector<CudaKernel>(manifest.kernels.size())}};
  for (CudaKernel& kernel : manifest.cuda[0].kernels) {
    kernel = {2,
              "halftone_k",
              128,
              {{{{1, 0}, {2, -1}}, 64}},
              4096,
              {{{3, 1}}, 512, 8},
              {{4, {{{{1, 0}}, 64}}, true, true}},
              {{"simt", {1.5, 2.5, 3.5, 4.5}}},
              "f32 operands"};
  }
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
  bytes[8] = std::byte{7};
  Kind kind{};
  CHECK(failure(bytes, kind) == "the manifest is of version 7, but version 4 is needed");
  CHECK(kind == Kind::version);
}

TEST_CASE("bytes without the magic are no manifest") {
  std::vector<std::byte> bytes(200, std::byte{'x'});
  Kind kind{};
  CHECK(failure(bytes, kind) == "the bytes are no Halftone manifest");
  CHECK(kind == Kind::malformed);
}

TEST_CASE("a manifest that breaks a law is refused with the culprit's name") {
  struct Case {
    const char* culprit;
    std::function<void(Manifest&)> break_it;
  };
  const auto training = [](Manifest& m) -> Program& { return m.programs[0]; };
  const Case cases[] = {
      {"has no name", [](Manifest& m) { m.model.clear(); }},
      {"symbol 'batch' occurs twice", [](Manifest& m) { m.symbols = {"batch", "batch"}; }},
      {"input 'features' occurs twice",
       [](Manifest& m) { m.inputs = {"features", "target", "features"}; }},
      {"kernel 'line_loss' occurs twice", [](Manifest& m) { m.kernels[0].name = "line_loss"; }},
      {"buffer 'target' occurs twice",
       [&](Manifest& m) { training(m).buffers[0].name = "target"; }},
      {"parameter 'fc.weight' has an impossible shape",
       [](Manifest& m) { m.parameters[0].shape = {-1, 3}; }},
      {"parameter 'fc.weight' has an impossible shape",
       [](Manifest& m) { m.parameters[0].shape = {1LL << 40, 1LL << 40}; }},
      {"parameter 'fc.bias' has an impossible offset",
       [](Manifest& m) { m.parameters[1].offset = 33; }},
      {"parameter 'fc.bias' has an impossible offset",
       [](Manifest& m) { m.parameters[1].offset = 0; }},
      {"parameter 'fc.bias' has an impossible offset",
       [](Manifest& m) { m.parameters[1].offset = 64; }},
      {"parameter 'fc.bias' has an impossible offset",
       [](Manifest& m) {
         m.parameters[1].offset = std::numeric_limits<std::int64_t>::max() / 32 * 32;
       }},
      {"parameter 'fc.bias' lies on the wrong side",
       [](Manifest& m) { m.parameters[1].trained = false; }},
      {"parameter 'fc.bias' lies on the wrong side", [](Manifest& m) { m.trained_elements = 32; }},
      {"numbers of parameter elements", [](Manifest& m) { m.trained_elements = 65; }},
      {"kernel 'line_loss' has an impossible task axis",
       [](Manifest& m) { m.kernels[1].tasks[0].tile = 0; }},
      {"kernel 'line_loss' has an impossible task axis",
       [](Manifest& m) { m.kernels[1].tasks[0].extent[0].symbol = 1; }},
      {"kernel 'line_loss' has an impossible entry",
       [](Manifest& m) { m.kernels[1].cpu_entry = -1; }},
      {"kernel 'line_loss' has an impossible entry",
       [](Manifest& m) { m.kernels[1].cpu_finish = -2; }},
      {"buffer 'features' has an impossible shape",
       [&](Manifest& m) { training(m).buffers[0].shape[0].symbol = -2; }},
      {"buffer 'features' has an impossible shape",
       [&](Manifest& m) { training(m).buffers[0].shape[1].extent = 0; }},
      {"buffer 'features' and its slot disagree",
       [&](Manifest& m) { training(m).buffers[0].slot = 1; }},
      {"buffer 'features' and its slot disagree",
       [&](Manifest& m) { training(m).buffers[0].slot = 1000000; }},
      {"buffer 'row_errors' and its slot disagree",
       [&](Manifest& m) { training(m).slots[5].tenants = {5, 5}; }},
      {"buffer 'features' has no slot", [&](Manifest& m) { training(m).slots[0].tenants.clear(); }},
      {"a slot has an unknown tenant", [&](Manifest& m) { training(m).slots[0].tenants = {20}; }},
      {"buffer 'parameters' may not share its slot",
       [&](Manifest& m) {
         training(m).slots[0].tenants.clear();
         training(m).slots[2].tenants = {2, 0};
         training(m).buffers[0].slot = 2;
       }},
      {"buffer 'error' is not a scalar",
       [&](Manifest& m) { training(m).buffers[6].shape = {{2, -1}}; }},
      {"buffer 'learning_rate' has a first value that it cannot hold",
       [&](Manifest& m) { training(m).buffers[7].initial = std::nan(""); }},
      {"buffer 'learning_rate' has a first value that it cannot hold",
       [&](Manifest& m) { training(m).buffers[7].initial = 1e300; }},
      {"buffer 'row_errors' has a first value that it cannot hold",
       [&](Manifest& m) {
         training(m).buffers[5].format = Format::i32;
         training(m).buffers[5].initial = 0.5;
       }},
      {"buffer 'row_errors' has a first value that it cannot hold",
       [&](Manifest& m) {
         training(m).buffers[5].format = Format::f16;
         training(m).buffers[5].initial = 1.0;
       }},
      {"buffer 'pixels' is no input", [&](Manifest& m) { training(m).buffers[0].name = "pixels"; }},
      {"the parameters are not one flat buffer",
       [&](Manifest& m) { training(m).buffers[2].shape = {{32, -1}}; }},
      {"buffer 'gradients' has the role gradients, which bf16 does not fit",
       [&](Manifest& m) { training(m).buffers[3].format = Format::bf16; }},
      {"a launch has an unknown kernel",
       [&](Manifest& m) { training(m).phases[0][0].kernel = 10; }},
      {"kernel 'line_forward' has an impossible argument",
       [&](Manifest& m) { training(m).phases[0][0].arguments[0].buffer = 20; }},
      {"kernel 'line_forward' has an impossible argument",
       [&](Manifest& m) { training(m).phases[0][0].arguments[0].offset = -1; }},
      {"output 'prediction' has no buffer",
       [](Manifest& m) { m.outputs[0].buffer = "row_errors"; }},
      {"output 'prediction' has no gradient buffer",
       [](Manifest& m) { m.outputs[0].gradient = "prediction"; }},
      {"input 'features' has no buffer",
       [&](Manifest& m) { training(m).buffers[0].role = Role::activation; }},
      {"loss 'other' has no buffer", [](Manifest& m) { m.losses = {"other"}; }},
      {"training has no scalar buffer 'grad_norm'",
       [&](Manifest& m) { training(m).buffers[8].name = "norm"; }},
      {"training has no scalar buffer 'finite'",
       [&](Manifest& m) { training(m).buffers[9].role = Role::hyperparameter; }},
      {"training has no scalar buffer 'micro_batches'",
       [&](Manifest& m) { training(m).buffers[13].name = "n"; }},
      {"training has no scalar buffer 'first_micro_batch'",
       [&](Manifest& m) { training(m).buffers[14].role = Role::statistic; }},
      {"training has no scalar buffer 'loss_scale'",
       [&](Manifest& m) {
         m.loss_scale.kind = LossScale::Kind::fixed;
         training(m).buffers[15].name = "scale";
       }},
      {"training has no scalar buffer 'loss_scale'",
       [&](Manifest& m) { training(m).buffers[15].role = Role::activation; }},
      {"training has no scalar buffer 'loss_scale.floored'",
       [&](Manifest& m) { training(m).buffers[16].name = "floored"; }},
      {"training has no scalar buffer 'loss_scale.clean'",
       [&](Manifest& m) { training(m).buffers[17].shape = {{2, -1}}; }},
      {"training has no scalar buffer 'loss_scale.wait'",
       [&](Manifest& m) { training(m).buffers[18].name = "wait"; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.initial = 0.0; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.initial = 1e39; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.floor = 2.0; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.ceiling = 0.5; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.growth = 1.0; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.backoff = 1.0; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.backoff = std::nan(""); }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.interval = 0; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.hysteresis = -1; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.patience = 1 << 25; }},
      {"buffer 'prediction.gradient' has the role output_gradient, which f16 does not fit",
       [&](Manifest& m) { training(m).buffers[11].format = Format::f16; }},
      {"buffer 'learning_rate' has the role hyperparameter, which i32 does not fit",
       [&](Manifest& m) { training(m).buffers[7].format = Format::i32; }},
      {"buffer 'parameters' has the role parameters, which bf16 does not fit",
       [&](Manifest& m) { training(m).buffers[2].format = Format::bf16; }},
      {"buffer 'features' has the role input, which tf32 does not fit",
       [&](Manifest& m) { training(m).buffers[0].format = Format::tf32; }},
      {"buffer '%inverse' has the role working_copies, which f32 does not fit",
       [&](Manifest& m) { training(m).buffers[19].role = Role::working_copies; }},
      {"working copies are not laid out as the parameters",
       [&](Manifest& m) {
         training(m).buffers[19].role = Role::working_copies;
         training(m).buffers[19].format = Format::bf16;
       }},
      {"buffer '%prediction.gradient' may not share its slot",
       [&](Manifest& m) { training(m).buffers[10].role = Role::output_gradient; }},
      {"the accumulated gradients are not one flat buffer",
       [&](Manifest& m) { training(m).buffers[12].shape = {{32, -1}}; }},
      {"buffer 'accumulated' is used outside of the phase accumulate",
       [&](Manifest& m) { training(m).phases[3][0].arguments[2].buffer = 12; }},
      {"value 'fc' has an impossible shape",
       [&](Manifest& m) { training(m).values[0].shape[0].symbol = 4; }},
      {"value 'fc' has an unknown buffer", [&](Manifest& m) { training(m).values[0].buffer = 20; }},
      {"value 'fc' has an unknown buffer", [&](Manifest& m) { training(m).values[0].buffer = -2; }},
      {"value 'fc' has an unknown rule", [&](Manifest& m) { training(m).values[0].rule = 1; }},
      {"value 'fc' has an unknown rule", [&](Manifest& m) { training(m).values[0].beaten = {-1}; }},
      {"what rules said of rounding in layer 'fc' has an unknown rule",
       [&](Manifest& m) { m.decisions = {{"rounding", "fc", "", "", "toward_zero", 1, {}}}; }},
      {"what rules said of rounding in layer 'fc' has an unknown rule",
       [&](Manifest& m) { m.decisions = {{"rounding", "fc", "", "", "toward_zero", 0, {-1}}}; }},
      {"a cast has an unknown value", [&](Manifest& m) { training(m).casts[0].value = 1; }},
      {"the cast of value 'fc' has impossible formats",
       [&](Manifest& m) { training(m).casts[0].to = Format::f32; }},
      {"the cast of value 'fc' has impossible formats",
       [&](Manifest& m) { training(m).casts[0].from = Format::i32; }},
      {"the cast of value 'fc' has an unknown rule",
       [&](Manifest& m) { training(m).casts[0].rule = -2; }},
      {"the cast of value 'fc' has an unknown kernel",
       [&](Manifest& m) { training(m).casts[0].kernel = "fc"; }},
      {"it has probes", [&](Manifest& m) { training(m).probes = m.programs[2].probes; }},
      {"a probe of layer 'fc' belongs to no phase that is replayed",
       [](Manifest& m) { m.programs[2].probes[0].phase = Phase::update; }},
      {"a probe of layer 'fc' has an unknown launch",
       [](Manifest& m) { m.programs[2].probes[0].launch = 3; }},
      {"a probe of layer 'fc' has an unknown argument",
       [](Manifest& m) { m.programs[2].probes[0].argument = 4; }},
      {"a probe of layer 'fc' has an unknown argument",
       [](Manifest& m) { m.programs[2].probes[1].before = 2; }},
      {"a probe of layer 'fc' has an unknown rule",
       [](Manifest& m) { m.programs[2].probes[1].rule = 1; }},
      {"there is no program for training beside it",
       [](Manifest& m) { m.programs.erase(m.programs.begin()); }},
      {"two buffers share a slot",
       [](Manifest& m) {
         m.programs[2].slots[5].tenants = {5, 7};
         m.programs[2].slots[7].tenants = {11};
         m.programs[2].slots.pop_back();
         m.programs[2].buffers[7].slot = 5;
         m.programs[2].buffers[11].slot = 7;
       }},
      {"buffer 'target' is not what training has under that name",
       [](Manifest& m) { m.programs[2].buffers[1].shape = {{3, -1}}; }},
      {"buffer 'loss_scale' is not what training has under that name",
       [](Manifest& m) { m.programs[2].buffers[9].shape = {{2, -1}}; }},
  };
  for (const Case& c : cases) {
    Manifest manifest = hand_made::manifest();
    c.break_it(manifest);
    Kind kind{};
    const std::string message = failure(encode(manifest), kind);
    CAPTURE(c.culprit);
    CAPTURE(message);
    CHECK(message.find(c.culprit) != std::string::npos);
    CHECK(kind == Kind::malformed);
  }
}

TEST_CASE("P43: manifest and description judge a loss scale alike, in f32") {
  namespace hd = halftone::description;
  struct Case {
    bool possible;
    double floor, initial, ceiling;
    double growth = 2.0, backoff = 0.5;
  };
  const double largest = 3.4028235e38;  // above the largest f32, and rounds to it
  const double third = 1.0 / 3.0;
  const double third_in_f32 = 0x1.555556p-2;  // above a third
  const Case cases[] = {
      {true, 1, 65536, largest},
      {true, largest, largest, largest},
      {false, 1, 1, 0x1.ffffffp127},  // infinity in f32
      {false, 0x1.8p-150, 1, 1},      // 2^-149 in f32, whose reciprocal is infinite
      {false, 0x1p-128, 1, 1},        // so is this one's
      {true, 0x1.00001p-128, 1, 1},
      {false, 0x1p-150, 1, 1},             // 0 in f32
      {true, third_in_f32, third, third},  // equal in f32
      {true, third, third_in_f32, third},
      {false, 0x1.555558p-2, third, 1},  // the next f32
      {false, third, 0x1.555558p-2, third},
      {true, 1, 1, 1, 0x1.000002p0},
      {false, 1, 1, 1, 1 + 0x1p-24},  // 1 in f32
      {true, 1, 1, 1, largest},
      {false, 1, 1, 1, 0x1.ffffffp127},
      {true, 1, 1, 1, 2, 0x1.fffffep-1},
      {false, 1, 1, 1, 2, 1 - 0x1p-26},  // 1 in f32
      {false, 1, 1, 1, 2, 0x1p-150},
  };
  for (const Case& c : cases) {
    CAPTURE(c.floor);
    CAPTURE(c.initial);
    CAPTURE(c.ceiling);
    CAPTURE(c.growth);
    CAPTURE(c.backoff);
    Manifest manifest = hand_made::manifest();
    manifest.loss_scale = {
        LossScale::Kind::dynamic, c.initial, c.growth, c.backoff, 1, c.floor, c.ceiling};
    manifest.loss_scale.patience = 1;
    for (Program& program : manifest.programs) {
      for (Buffer& buffer : program.buffers) {
        if (buffer.name == "loss_scale") buffer.initial = c.initial;
      }
    }
    Kind kind{};
    const std::string message = failure(encode(manifest), kind);
    CHECK(message ==
          (c.possible ? "" : "the manifest is inconsistent: the loss scale is impossible"));
    const hd::LossScale same{.kind = hd::LossScale::Kind::dynamic,
                             .initial = c.initial,
                             .growth = c.growth,
                             .backoff = c.backoff,
                             .floor = c.floor,
                             .ceiling = c.ceiling};
    CHECK((hd::rules::loss_scale_fault(same).trouble == hd::rules::Trouble::none) == c.possible);
  }
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
          (void)block_count(kernel, symbols);
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
  // ceil(32 * 3 / 10) * ceil(7 / 7)
  const Kernel kernel{"k", "row", {{{{1, 0}, {3, -1}}, 10}, {{{7, -1}}, 7}}, 0, -1};
  CHECK(task_count(kernel, symbols) == 10);
  CHECK(task_count(Kernel{}, symbols) == 1);
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

namespace {

std::vector<std::byte> sealed(std::vector<std::byte> content) {
  const std::vector<std::byte> seal = seal_of(content);
  content.insert(content.end(), seal.begin(), seal.end());
  return content;
}

std::vector<std::byte> some_content() {
  std::vector<std::byte> content;
  for (int i = 0; i < 100; ++i) content.push_back(static_cast<std::byte>(i));
  return content;
}

}  // namespace

TEST_CASE("a seal fits the file that it was made for and no other") {
  std::vector<std::byte> file = sealed(some_content());
  DecodeError error;
  CHECK(file.size() == 100 + kSealBytes);
  CHECK(check_seal(file, error));
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    const std::byte mask{static_cast<unsigned char>(1u << (bit % 8))};
    file[bit / 8] ^= mask;
    CAPTURE(bit);
    REQUIRE_FALSE(check_seal(file, error));
    file[bit / 8] ^= mask;
  }
  for (std::size_t length = 0; length < file.size(); ++length) {
    CAPTURE(length);
    REQUIRE_FALSE(check_seal(std::span(file).first(length), error));
  }
}

TEST_CASE("a seal of another version names both versions") {
  std::vector<std::byte> file = sealed(some_content());
  file[100 + 8] = std::byte{9};
  DecodeError error;
  CHECK_FALSE(check_seal(file, error));
  CHECK(error.kind == Kind::version);
  CHECK(error.message == "the artifact is of version 9, but version 4 is needed");
}
