// SPDX-License-Identifier: Apache-2.0
// The laws of activations that stay in the host's memory between the passes (P98): who may use
// either buffer, and when.
#include "verify.hpp"

namespace halftone::manifest {
namespace {

/// In which phases a buffer is used, a bit each.
std::uint32_t phases_of(const Program& program, std::int32_t buffer) {
  std::uint32_t phases = 0;
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    for (const Launch& launch : program.phases[phase]) {
      if (std::ranges::find(launch.arguments, buffer, &Argument::buffer) != launch.arguments.end())
        phases |= 1u << phase;
    }
  }
  return phases;
}

constexpr std::uint32_t bit(Phase phase) { return 1u << static_cast<unsigned>(phase); }
constexpr std::uint32_t kBefore = bit(Phase::forward) | bit(Phase::loss);
constexpr std::uint32_t kBehind =
    bit(Phase::loss_backward) | bit(Phase::external) | bit(Phase::backward);

/// Whether some phases use it, and no others than these.
bool is_used_in(std::uint32_t phases, std::uint32_t allowed) {
  return phases != 0 && (phases & ~allowed) == 0;
}

bool may_stay(const Buffer& buffer) {
  return buffer.role == Role::activation && buffer.section == -1 && !buffer.in_host;
}

}  // namespace

std::string verify_stays(const Manifest& manifest, const Program& program) {
  if (program.stays.empty()) return {};
  if (program.name != "training") return "activations of no training stay in the host's memory";
  if (std::ranges::count(manifest.targets, "cpu") > 0) {
    return "activations stay in the host's memory of a program for the CPU, which has one memory";
  }
  std::set<std::int32_t> known;
  for (const Stay& stay : program.stays) {
    if (!in_range(stay.buffer, program.buffers) || !in_range(stay.back, program.buffers)) {
      return "an unknown buffer stays in the host's memory";
    }
    const Buffer& buffer = program.buffers[static_cast<std::size_t>(stay.buffer)];
    const Buffer& back = program.buffers[static_cast<std::size_t>(stay.back)];
    const std::string who = quoted("buffer", buffer.name);
    if (!known.insert(stay.buffer).second || !known.insert(stay.back).second) {
      return who + " stays in the host's memory twice, or comes back to what stays there";
    }
    if (!may_stay(buffer) || !may_stay(back) || buffer.encoding != back.encoding ||
        buffer.shape != back.shape) {
      return who + " stays in the host's memory, where it may not, or comes back as another";
    }
    if (!is_used_in(phases_of(program, stay.buffer), kBefore) ||
        !is_used_in(phases_of(program, stay.back), kBehind)) {
      return who + " is in the host's memory while launches use it";
    }
  }
  return {};
}

}  // namespace halftone::manifest
