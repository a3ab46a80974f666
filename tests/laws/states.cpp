// SPDX-License-Identifier: Apache-2.0
// P68, P69, P86, P91: states of 16 bits and in blocks, masters with a remainder, and updates in
// parts. Generated code keeps the reference's bits, in memory and in checkpoints; masters with a
// remainder train as f32 masters do.
#include <doctest/doctest.h>
#include <unistd.h>

#include <bit>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "checkpoint/file_checksum.hpp"
#include "held_states.hpp"
#include "own_pair.hpp"
#include "safetensors/header.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

constexpr std::int64_t kBatch = 5;

const LinkedArtifact& other_artifact(std::string_view name) {
  return *std::ranges::find(kOtherArtifacts, name, &LinkedArtifact::name);
}

std::string scratch_file() {
  return std::filesystem::temp_directory_path() / ("halftone_states_" + std::to_string(getpid()));
}

struct Saved {
  std::string type;
  std::string bytes;

  bool operator==(const Saved&) const = default;
};

std::string bytes_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Its tensors begin at `at`.
safetensors::Header header_of(const std::string& bytes, std::uint64_t& at) {
  safetensors::Header header;
  std::string why;
  REQUIRE(safetensors::parse(std::as_bytes(std::span(bytes)), header, at, why));
  return header;
}

safetensors::Tensor& tensor_of(safetensors::Header& header, const std::string& name) {
  const auto found = std::ranges::find(header.tensors, name, &safetensors::Tensor::name);
  REQUIRE(found != header.tensors.end());
  return *found;
}

/// Changes a checkpoint, and its checksum: `change` is given its header and where its tensors are.
template <class Change>
void rewrite(const std::string& file, Change change) {
  std::string bytes = bytes_of(file);
  std::uint64_t at = 0;
  safetensors::Header header = header_of(bytes, at);
  change(header, bytes.data() + at);
  for (auto& [key, text] : header.metadata)
    if (key == kChecksumKey) text = no_checksum();
  Snapshot snapshot;
  snapshot.header = safetensors::print(header);
  const auto tensors = std::as_bytes(std::span(bytes)).subspan(at);
  snapshot.tensors.assign(tensors.begin(), tensors.end());
  set_checksum(snapshot);
  std::ofstream stream(file, std::ios::binary);
  stream << snapshot.header;
  stream.write(reinterpret_cast<const char*>(snapshot.tensors.data()),
               static_cast<std::streamsize>(snapshot.tensors.size()));
}

std::string refusal_of(Trainer& trainer, const std::string& file, const ResumeOptions& options) {
  try {
    trainer.resume(file, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Writes a number over the first of a tensor of f32.
void overwrite(const std::string& file, const std::string& name, float number) {
  rewrite(file, [&](safetensors::Header& header, char* tensors) {
    std::memcpy(tensors + tensor_of(header, name).begin, &number, sizeof number);
  });
}

/// The tensors of the trainer's checkpoint.
std::map<std::string, Saved> saved(Trainer& trainer) {
  const std::string file = scratch_file() + "_saved";
  trainer.save(file);
  const std::string bytes = bytes_of(file);
  std::remove(file.c_str());
  std::uint64_t at = 0;
  const safetensors::Header header = header_of(bytes, at);
  std::map<std::string, Saved> tensors;
  for (const auto& tensor : header.tensors)
    tensors[tensor.name] = {tensor.type,
                            bytes.substr(at + tensor.begin, tensor.end - tensor.begin)};
  return tensors;
}

/// As a state in that format lies in a file.
std::string held(const std::vector<float>& values, description::Element format) {
  std::string bytes;
  for (const float value : values) {
    const std::uint16_t code = reference::encode({format}, value);
    bytes.append(reinterpret_cast<const char*>(&code), sizeof code);
  }
  return bytes;
}

std::vector<float> read_back(const std::string& bytes, description::Element format) {
  std::vector<float> values;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint16_t)) {
    std::uint16_t code = 0;
    std::memcpy(&code, bytes.data() + at, sizeof code);
    values.push_back(reference::decode(format, code));
  }
  return values;
}

/// The first of several f32.
float f32_at(const std::string& bytes, std::size_t index) {
  float value = 0;
  REQUIRE(bytes.size() >= (index + 1) * sizeof value);
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

/// Codes of a parameter's state, times the scales of their blocks, are its values; and some code of
/// each block is the largest.
void check_blocks(const Saved& codes, const Saved& scales, std::size_t block,
                  description::Element format, const std::vector<float>& values) {
  const bool is_e4m3 = format == description::Element::f8e4m3;
  CHECK(codes.type == (is_e4m3 ? "F8_E4M3" : "F8_E5M2"));
  CHECK(scales.type == "F32");
  REQUIRE(codes.bytes.size() == values.size());
  REQUIRE(scales.bytes.size() == (values.size() + block - 1) / block * sizeof(float));
  for (std::size_t begin = 0; begin < values.size(); begin += block) {
    const float scale = f32_at(scales.bytes, begin / block);
    float most = 0;
    for (std::size_t e = begin; e < std::min(begin + block, values.size()); ++e) {
      const float code = reference::decode(format, static_cast<unsigned char>(codes.bytes[e]));
      REQUIRE(bits(code * scale) == bits(values[e]));
      most = std::max(most, std::abs(code));
    }
    if (scale > 1e-12f) CHECK(most == (is_e4m3 ? 448 : 57344));
  }
}

/// How many elements of the artifact's states share a scale; 0 without scales.
std::size_t block_of(std::string_view name) {
  return name == "held_states_blocks" ? 32 : name == "lamb_blocks" ? 256 : 0;
}

/// Every state of the optimizer, to the bit.
void check_states(Pair& pair, description::Element format, std::size_t block = 0) {
  const auto tensors = saved(pair.trainer);
  int compared = 0;
  for (const auto& [state, parameters] :
       reference::flat_states(pair.description.optimizer, pair.state))
    for (const auto& [parameter, values] : *parameters) {
      const std::string name = "halftone/" + state + "/" + parameter;
      CAPTURE(name);
      const auto found = tensors.find(name);
      REQUIRE(found != tensors.end());
      ++compared;
      if (block > 0) {
        const auto& scales = tensors.at("halftone/" + state + ".scale/" + parameter);
        check_blocks(found->second, scales, block, format, values);
        continue;
      }
      if (format == description::Element::f32) {
        CHECK(found->second.type == "F32");
        CHECK(found->second.bytes.size() == values.size() * sizeof(float));
        CHECK(std::memcmp(found->second.bytes.data(), values.data(), found->second.bytes.size()) ==
              0);
        continue;
      }
      CHECK(found->second.type == (format == description::Element::f16 ? "F16" : "BF16"));
      CHECK(found->second.bytes == held(values, format));
    }
  CHECK(compared > 0);
}

description::Element format_of(const LinkedArtifact& artifact) {
  const std::string_view name = artifact.name;
  if (name == "held_states_blocks") return description::Element::f8e4m3;
  if (name == "lamb_blocks") return description::Element::f8e5m2;
  if (name == "clip_groups_parts") return description::Element::f32;
  const bool is_f16 =
      name == "f16_drawn" || name == "held_states_f16" || name == "held_states_parts";
  return is_f16 ? description::Element::f16 : description::Element::bf16;
}

std::int64_t bytes_of_role(const Artifact& artifact, manifest::Role role) {
  std::int64_t bytes = 0;
  for (const auto& program : artifact.manifest().programs) {
    if (program.name != "training") continue;
    for (const auto& buffer : program.buffers)
      if (buffer.role == role && !buffer.shape.empty())
        bytes += encoding::storage_bytes(buffer.encoding.element, buffer.shape[0].extent);
  }
  return bytes;
}

}  // namespace

TEST_CASE("updates with narrow states equal the declared reference to the last bit") {
  for (const LinkedArtifact& artifact : kArtifacts)
    for (const std::string& variant : tested_variants()) {
      const std::string_view name = artifact.name;
      if (variant != tested_variant && name != "held_states_both" && name != "held_states_blocks")
        continue;
      CAPTURE(std::string(artifact.name));
      CAPTURE(variant);
      Pair pair = make_pair(artifact, variant, kBatch);
      check_states(pair, format_of(artifact), block_of(name));
      for (int step = 0; step < 12; ++step) {
        CAPTURE(step);
        pair.draw();
        if (step == 3) pair.spoil(INFINITY);
        check_step(pair);
        CHECK(pair.trainer.updated() == (step != 3));
        check_states(pair, format_of(artifact), block_of(name));
      }
    }
}

TEST_CASE("several micro-batches draw what the reference draws for the last of them") {
  Pair pair = make_pair(find_artifact("held_states_both"), tested_variant, kBatch);
  for (int step = 0; step < 3; ++step) {
    CAPTURE(step);
    std::vector<reference::Inputs<float>> micro_batches;
    for (int i = 0; i < 3; ++i) {
      pair.draw();
      micro_batches.push_back(pair.inputs);
      if (i < 2) pair.trainer.accumulate(pair.named_inputs());
    }
    pair.trainer.step(pair.named_inputs());
    pair.state = pair.reference.step(pair.state, micro_batches).state;
    check_parameters(pair);
    check_states(pair, description::Element::bf16);
  }
}

TEST_CASE("a skipped step leaves every bit of states and masters") {
  for (const char* name : {"held_states_both", "held_states_blocks", "lamb_blocks"}) {
    CAPTURE(std::string(name));
    Pair pair = make_pair(find_artifact(name), tested_variant, kBatch);
    for (const bool spoiled : {false, true, false, true}) {
      pair.draw();
      if (spoiled) pair.spoil(NAN);
      auto before = saved(pair.trainer);
      pair.trainer.step(pair.named_inputs());
      auto after = saved(pair.trainer);
      for (auto* tensors : {&before, &after}) tensors->erase("halftone/counters");
      CHECK((before == after) == spoiled);
    }
  }
}

TEST_CASE("unfused kernels give the bits of fused ones") {
  for (const auto& [fused_name, unfused_name] :
       {std::pair("held_states_both", "unfused"),
        std::pair("held_states_blocks", "blocks_unfused")}) {
    CAPTURE(std::string(fused_name));
    Pair pair = make_pair(find_artifact(fused_name), tested_variant, kBatch);
    Trainer other(Artifact::linked(*other_artifact(unfused_name).image), pair.device,
                  pair.setup(1));
    CHECK(launches(other) > launches(pair.trainer));
    check_equal_steps(pair, other);
    auto fused = saved(pair.trainer), unfused = saved(other);
    CHECK(fused == unfused);
  }
}

TEST_CASE("masters with a remainder are the f32 masters, but for the middles that M5 moves") {
  Pair split = make_pair(other_artifact("split"), tested_variant, kBatch);
  Pair whole = make_pair(other_artifact("whole"), tested_variant, kBatch);
  const auto follow = [&] {
    for (const auto& name : whole.trainer.parameter_names())
      whole.trainer.set_parameter(name, split.trainer.parameter(name));
  };
  follow();
  int moved = 0, compared = 0;
  for (int step = 0; step < 200; ++step) {
    CAPTURE(step);
    split.draw();
    whole.trainer.step(split.named_inputs());
    split.trainer.step(split.named_inputs());
    REQUIRE(bits(whole.trainer.loss("error")) == bits(split.trainer.loss("error")));
    REQUIRE(first_difference(whole.trainer.output("y"), split.trainer.output("y")) == -1);
    bool has_moved = false;
    for (const std::string& name : whole.trainer.parameter_names()) {
      CAPTURE(name);
      const auto ours = split.trainer.parameter(name), theirs = whole.trainer.parameter(name);
      for (std::size_t i = 0; i < ours.size(); ++i) {
        const std::uint32_t code = bits(theirs[i]);
        const bool is_middle = (code & 0x1ffff) == 0x08000;
        REQUIRE(bits(ours[i]) == code - (is_middle ? 1 : 0));
        moved += is_middle;
        has_moved = has_moved || is_middle;
        ++compared;
      }
    }
    if (has_moved) follow();
  }
  MESSAGE("moved " << moved << " of " << compared << " masters by a place of f32");
  CHECK(moved < compared / 30000);
}

TEST_CASE("what a host gives as a parameter is split, and read back") {
  Pair pair = make_pair(other_artifact("split"), tested_variant, kBatch);
  const std::pair<std::uint32_t, std::uint32_t> given_and_read[] = {
      {0x3f800000, 0x3f800000}, {0x3f807fff, 0x3f807fff}, {0x3f808000, 0x3f807fff},
      {0x3f808001, 0x3f808001}, {0x3f818000, 0x3f818000}, {0xbf808000, 0xbf807fff},
      {0x00000001, 0x00000001}, {0x80000000, 0x80000000}, {0x7f7fffff, 0x7f7fffff},
      {0x7f800000, 0x7f800000}, {0xff800000, 0xff800000}, {0x00008000, 0x00007fff},
      {0x3f80ffff, 0x3f80ffff}};
  std::vector<float> values;
  for (const auto& [given, read] : given_and_read) values.push_back(std::bit_cast<float>(given));
  REQUIRE(values.size() == pair.trainer.parameter("fc.bias").size());
  pair.trainer.set_parameter("fc.bias", values);
  const auto found = pair.trainer.parameter("fc.bias");
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(i);
    CHECK(bits(found[i]) == given_and_read[i].second);
  }
}

TEST_CASE("diagnose() tells a master from its half in bf16, which may be infinite by itself") {
  Pair pair = make_pair(find_artifact("held_states_both"), tested_variant, kBatch);
  pair.draw();
  const auto found_with = [&](const std::string& name, float value) {
    std::vector<float> values = pair.state.parameters.at(name);
    values[17] = value;
    pair.trainer.set_parameter(name, values);
    pair.trainer.step(pair.named_inputs());
    CHECK_FALSE(pair.trainer.updated());
    auto found = pair.trainer.diagnose();
    pair.trainer.set_parameter(name, pair.state.parameters.at(name));
    return found;
  };
  const float largest = std::numeric_limits<float>::max();  // the nearest bf16 is infinite
  auto found = found_with("fc.weight", -largest);
  REQUIRE(found);
  CHECK(found->text() ==
        "parameter 'fc.weight': element 17 was -3.4028235e+38 and became -inf in bf16 (format by "
        "the rule 'everywhere : store bf16 compute bf16')");
  CHECK(found->before == -largest);
  found = found_with("fc.weight", -INFINITY);
  REQUIRE(found);
  CHECK(found->text() == "parameter 'fc.weight': element 17 is -inf");
  // Read as both halves alone, so that its half in bf16 is no working copy.
  found = found_with("head.weight", largest);
  REQUIRE(found);
  CHECK(found->op != "parameter");
}

TEST_CASE("masters with a remainder take 4 bytes with their copies in bf16, states of bf16 two") {
  const Artifact whole = Artifact::linked(*other_artifact("whole").image);
  const Artifact both = Artifact::linked(*find_artifact("held_states_both").image);
  using enum manifest::Role;
  const std::int64_t f32 = bytes_of_role(whole, parameters);
  CHECK(bytes_of_role(whole, working_copies) == f32 / 2 * 2);  // of bf16 and of f16
  CHECK(bytes_of_role(both, parameters) == f32 / 2);
  CHECK(bytes_of_role(both, remainders) == f32 / 2);
  CHECK(bytes_of_role(both, working_copies) == f32 / 2);  // of f16
  const std::int64_t flat = bytes_of_role(whole, gradients);
  CHECK(bytes_of_role(whole, optimizer_state) == 4 * flat);  // three moments and the averages
  CHECK(bytes_of_role(both, optimizer_state) == 3 * flat / 2 + flat);
}

TEST_CASE("states in blocks of 32 take 9 bits a number, and their scales one launch") {
  const Artifact whole = Artifact::linked(*other_artifact("whole").image);
  const Artifact blocks = Artifact::linked(*find_artifact("held_states_blocks").image);
  using enum manifest::Role;
  const std::int64_t flat = bytes_of_role(whole, gradients);
  CHECK(bytes_of_role(blocks, gradients) == flat);
  CHECK(bytes_of_role(blocks, optimizer_state) == 3 * (flat / 4 + flat / 32) + flat);
  Pair narrow = make_pair(find_artifact("held_states_blocks"), tested_variant, kBatch);
  Pair wide = make_pair(other_artifact("split"), tested_variant, kBatch);
  CHECK(launches(narrow.trainer) == launches(wide.trainer) + 1);
}

TEST_CASE("P86: states in blocks are resumed to the bit, and under other rules converted") {
  const std::string file = scratch_file();
  Pair blocks = make_pair(find_artifact("held_states_blocks"), tested_variant, kBatch);
  Pair whole = make_pair(other_artifact("whole"), tested_variant, kBatch);
  for (int step = 0; step < 3; ++step) {
    blocks.draw();
    for (Trainer* each : {&blocks.trainer, &whole.trainer}) each->step(blocks.named_inputs());
  }
  blocks.trainer.save(file);
  Trainer again(blocks.artifact, blocks.device, blocks.setup(2));
  CHECK(again.resume(file).converted.empty());
  CHECK(saved(again) == saved(blocks.trainer));
  check_equal_steps(blocks, again);
  blocks.trainer.save(file);
  const auto narrow = saved(blocks.trainer);
  const Resumed resumed = whole.trainer.resume(file, {.other_rules = true});
  CHECK(resumed.converted.size() == 3 * (blocks.trainer.parameter_names().size() - 1));
  CHECK(resumed.kept.empty());
  CHECK(resumed.left_out.empty());
  const auto wide = saved(whole.trainer);
  for (const auto& [state, parameters] :
       reference::flat_states(blocks.description.optimizer, blocks.state))
    for (const auto& [parameter, values] : *parameters) {
      const std::string name = "halftone/" + state + "/" + parameter;
      CAPTURE(name);
      const auto& codes = narrow.at(name).bytes;
      const auto& scales = narrow.at("halftone/" + state + ".scale/" + parameter).bytes;
      REQUIRE(wide.at(name).type == "F32");
      for (std::size_t e = 0; e < codes.size(); ++e) {
        const float code =
            reference::decode(description::Element::f8e4m3, static_cast<unsigned char>(codes[e]));
        REQUIRE(bits(f32_at(wide.at(name).bytes, e)) == bits(code * f32_at(scales, e / 32)));
      }
    }
  // Back into blocks: all codes are found again, scales but for a last place.
  whole.trainer.save(file);
  CHECK(again.resume(file, {.other_rules = true}).converted == resumed.converted);
  const auto back = saved(again);
  for (const std::string& name : resumed.converted) {
    CAPTURE(name);
    CHECK(back.at(name) == narrow.at(name));
  }
  std::remove(file.c_str());
}

TEST_CASE("codes whose scales are another parameter's refuse a checkpoint") {
  const std::string file = scratch_file(), of = "halftone/adamw.second_moment.scale/";
  Pair blocks = make_pair(find_artifact("held_states_blocks"), tested_variant, kBatch);
  Pair whole = make_pair(other_artifact("whole"), tested_variant, kBatch);
  blocks.trainer.save(file);
  rewrite(file, [&](safetensors::Header& header, char*) {
    std::swap(tensor_of(header, of + "table").name, tensor_of(header, of + "fc.bias").name);
  });
  const auto before = saved(whole.trainer);
  CHECK(refusal_of(whole.trainer, file, {.other_rules = true}) ==
        "resume: file '" + file + "' has 4 scales in tensor '" + of +
            "fc.bias' for 13 codes; take an earlier file");
  CHECK(saved(whole.trainer) == before);
  std::remove(file.c_str());
}

TEST_CASE("a checkpoint is resumed to the bit, and under other rules converted by name") {
  const std::string file = scratch_file();
  Pair pair = make_pair(find_artifact("held_states_both"), tested_variant, kBatch);
  Pair whole = make_pair(other_artifact("whole"), tested_variant, kBatch);
  for (int step = 0; step < 3; ++step) {
    pair.draw();
    for (Trainer* each : {&pair.trainer, &whole.trainer}) each->step(pair.named_inputs());
  }
  pair.trainer.save(file);
  Trainer again(pair.artifact, pair.device, pair.setup(2));
  CHECK(again.resume(file).converted.empty());
  CHECK(saved(again) == saved(pair.trainer));
  check_equal_steps(pair, again);

  const auto narrow = saved(pair.trainer);
  pair.trainer.save(file);
  CHECK(refusal_of(whole.trainer, file, {}).find("is of model 'held_states_both'") !=
        std::string::npos);
  const Resumed resumed = whole.trainer.resume(file, {.other_rules = true});
  CHECK(resumed.converted.size() ==
        3 * (pair.trainer.parameter_names().size() - 1));  // a frozen one
  const auto wide = saved(whole.trainer);
  for (const std::string& name : resumed.converted) {
    CAPTURE(name);
    const std::vector<float> values = read_back(narrow.at(name).bytes, description::Element::bf16);
    CHECK(wide.at(name).type == "F32");
    CHECK(wide.at(name).bytes ==
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
  }
  for (const std::string& name : whole.trainer.parameter_names()) {
    CAPTURE(name);
    CHECK(wide.at(name) == narrow.at(name));  // masters are f32 in every checkpoint
  }
  whole.trainer.save(file);
  CHECK(again.resume(file, {.other_rules = true}).converted == resumed.converted);
  const auto back = saved(again);
  for (const std::string& name : resumed.converted) CHECK(back.at(name) == narrow.at(name));
  std::remove(file.c_str());
}

TEST_CASE("a state that a narrower format does not have refuses a checkpoint by name") {
  const std::string file = scratch_file(), name = "halftone/adamw.second_moment/fc.bias";
  Pair narrow = make_pair(find_artifact("held_states_f16"), tested_variant, kBatch);
  Pair whole = make_pair(other_artifact("whole"), tested_variant, kBatch);
  whole.draw();
  whole.trainer.step(whole.named_inputs());
  for (const float number : {65519.0f, 65520.0f}) {
    const auto before = saved(narrow.trainer);
    whole.trainer.save(file);
    overwrite(file, name, number);
    const bool fits = number < 65520;
    CHECK(refusal_of(narrow.trainer, file, {.other_rules = true}) ==
          (fits ? ""
                : "resume: file '" + file + "' has 65520 at element 0 of tensor '" + name +
                      "', which is infinite in F16; store optimizer_states in f32 or bf16"));
    CHECK((saved(narrow.trainer) == before) == !fits);
  }
  std::remove(file.c_str());
}

}  // namespace halftone::tests
