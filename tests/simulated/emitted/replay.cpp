// SPDX-License-Identifier: Apache-2.0
#include "replay.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>

#include "halftone/manifest/texts.hpp"
#include "halftone/reference/rounding.hpp"

namespace halftone::tests {

using manifest::Format, manifest::Phase, manifest::Role;

namespace {

constexpr Phase kStep[] = {Phase::refresh,  Phase::forward, Phase::loss,  Phase::loss_backward,
                           Phase::backward, Phase::check,   Phase::update};

/// The bits as the specification compares them: every NaN is one (N7).
std::uint32_t canonical(Format format, const std::byte* at) {
  if (manifest::bytes_of(format) == 2) {
    std::uint16_t code;
    std::memcpy(&code, at, sizeof code);
    return code;
  }
  std::uint32_t bits;
  std::memcpy(&bits, at, sizeof bits);
  const bool is_nan = format != Format::i32 && (bits & 0x7fffffff) > 0x7f800000;
  return is_nan ? 0x7fffffff : bits;
}

void put(Format format, float value, std::byte* at) {
  if (manifest::bytes_of(format) == 2) {
    const auto to = format == Format::f16 ? description::Format::f16 : description::Format::bf16;
    const std::uint16_t code = reference::encode({to}, value);
    std::memcpy(at, &code, sizeof code);
  } else {
    std::memcpy(at, &value, sizeof value);
  }
}

}  // namespace

Replay::Replay(const Artifact& artifact, const Device& chip, const Setup& setup, Filter filter)
    : cpu_("replay", artifact, Device::cpu(), "training", setup),
      chip_("replay", artifact, chip, "training", setup),
      compared_(cpu_.manifest().kernels.size(), true) {
  if (!filter) return;
  std::vector<std::string> texts;
  manifest::DecodeError error;
  const manifest::ArtifactImage& image = artifact.image();
  if (!manifest::unpack_texts({image.texts, image.text_bytes}, texts, error))
    throw std::runtime_error(error.message);
  for (std::size_t i = 0; i < compared_.size(); ++i)
    compared_[i] = filter(texts[static_cast<std::size_t>(chip_.plan().target()->kernels[i].text)]);
}

std::vector<std::byte> Replay::bytes_of(BoundProgram& program, std::size_t buffer) const {
  const std::byte* begin = program.execution().read(buffer);
  return {begin, begin + program.plan().bytes(buffer)};
}

void Replay::draw_inputs(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const manifest::Program& program = cpu_.program();
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (program.buffers[i].role != Role::input) continue;
    const Format format = program.buffers[i].format;
    std::vector<std::byte> bytes(static_cast<std::size_t>(cpu_.plan().bytes(i)));
    const auto each = static_cast<std::size_t>(manifest::bytes_of(format));
    for (std::size_t at = 0; at < bytes.size(); at += each) {
      if (format == Format::i32) {
        const auto label = static_cast<std::int32_t>(random() % 2);
        std::memcpy(&bytes[at], &label, sizeof label);
      } else {
        put(format, std::uniform_real_distribution<float>(-1, 1)(random), &bytes[at]);
      }
    }
    cpu_.execution().write(i, 0, bytes);
  }
}

void Replay::step(std::uint64_t seed, Tally& tally) {
  draw_inputs(seed);
  for (const Phase phase : kStep)
    for (std::size_t launch = 0; launch < cpu_.plan().launches(phase).size(); ++launch)
      replay(phase, launch, tally);
}

bool Replay::is_class_b(const manifest::Launch& launch) const {
  const auto& kernel = chip_.plan().target()->kernels[static_cast<std::size_t>(launch.kernel)];
  return !kernel.plans.empty() && kernel.plans.front().name.starts_with("tensor");
}

void Replay::hand_over(const manifest::Launch& launch) {
  for (const manifest::Argument& argument : launch.arguments) {
    const auto buffer = static_cast<std::size_t>(argument.buffer);
    chip_.execution().write(buffer, 0, bytes_of(cpu_, buffer));
  }
}

void Replay::replay(Phase phase, std::size_t index, Tally& tally) {
  const manifest::Launch& launch = cpu_.plan().launches(phase)[index];
  if (!compared_[static_cast<std::size_t>(launch.kernel)]) return cpu_.run(phase, index);
  tally.kernels.insert(cpu_.plan().kernel(launch).name);
  const bool class_b = is_class_b(launch);
  if (class_b) {
    std::map<std::size_t, std::vector<std::byte>> recorded;
    for (const manifest::Argument& argument : launch.arguments) {
      const auto buffer = static_cast<std::size_t>(argument.buffer);
      recorded[buffer] = bytes_of(cpu_, buffer);
    }
    fill_exactly(launch);
    hand_over(launch);
    cpu_.run(phase, index);
    chip_.run(phase, index);
    compare(launch, true, tally);
    for (const auto& [buffer, bytes] : recorded) cpu_.execution().write(buffer, 0, bytes);
    cpu_.run(phase, index);
    return;
  }
  hand_over(launch);
  cpu_.run(phase, index);
  chip_.run(phase, index);
  compare(launch, false, tally);
}

void Replay::fill_exactly(const manifest::Launch& launch) {
  std::mt19937_64 random(++drawn_);
  for (const manifest::Argument& argument : launch.arguments) {
    const auto buffer = static_cast<std::size_t>(argument.buffer);
    const Format format = cpu_.plan().buffer(buffer).format;
    if (format == Format::i32) continue;
    std::vector<std::byte> bytes = bytes_of(cpu_, buffer);
    const auto each = static_cast<std::size_t>(manifest::bytes_of(format));
    for (std::size_t at = 0; at < bytes.size(); at += each)
      put(format, static_cast<float>(static_cast<int>(random() % 9) - 4) / 4, &bytes[at]);
    cpu_.execution().write(buffer, 0, bytes);
  }
}

void Replay::compare(const manifest::Launch& launch, bool exact_sums, Tally& tally) {
  ++(exact_sums ? tally.exact_sums : tally.launches);
  for (const manifest::Argument& argument : launch.arguments) {
    const auto buffer = static_cast<std::size_t>(argument.buffer);
    const Format format = cpu_.plan().buffer(buffer).format;
    const auto each = static_cast<std::size_t>(manifest::bytes_of(format));
    const std::vector<std::byte> wanted = bytes_of(cpu_, buffer), got = bytes_of(chip_, buffer);
    for (std::size_t at = 0; at < wanted.size(); at += each) {
      if (canonical(format, &wanted[at]) == canonical(format, &got[at])) continue;
      ++tally.differing;
      if (tally.first.empty())
        tally.first = "kernel '" + cpu_.plan().kernel(launch).name + "', buffer '" +
                      cpu_.plan().buffer(buffer).name + "', element " + std::to_string(at / each) +
                      (exact_sums ? ", exact sums" : "");
      return;
    }
  }
}

}  // namespace halftone::tests
