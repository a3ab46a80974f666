// SPDX-License-Identifier: Apache-2.0
// What the runtime reads, copies and clears by the sizes of other buffers than the one at hand, and
// what kernels are told to find there: laws without which it would go past the end of one.
#include <algorithm>
#include <span>

#include "halftone/encoding/traits.hpp"
#include "halftone/manifest/plan.hpp"
#include "halftone/manifest/spelling.hpp"
#include "verify.hpp"

namespace halftone::manifest {
namespace {

std::string name_of(const Manifest& manifest, const Launch& launch) {
  return quoted("kernel", manifest.kernels[static_cast<std::size_t>(launch.kernel)].name);
}

const Buffer& buffer_of(const Program& program, const Argument& argument) {
  return program.buffers[static_cast<std::size_t>(argument.buffer)];
}

/// Whether the offset lies in the buffer when every symbol is 1, the least that it may be.
bool begins_inside(const Buffer& buffer, std::int64_t offset) {
  std::int64_t least = 1;
  for (const Dimension& dimension : buffer.shape) {
    if (least > offset / dimension.extent) return true;
    least *= dimension.extent;
  }
  return offset < least;
}

/// Whether two launches of one kernel give it as many arguments, of elements that are as wide.
bool fit_one_kernel(const Program& a, const Launch& left, const Program& b, const Launch& right) {
  return std::ranges::equal(
      left.arguments, right.arguments, {},
      [&](const Argument& argument) {
        const Encoding& encoding = buffer_of(a, argument).encoding;
        return encoding::traits(encoding.element).bits;
      },
      [&](const Argument& argument) {
        const Encoding& encoding = buffer_of(b, argument).encoding;
        return encoding::traits(encoding.element).bits;
      });
}

/// A buffer of a section has the rows of a chunk, or a part's elements: other launches find more
/// there than it holds.
std::string verify_arguments(const Manifest& manifest, const Program& program) {
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    for (std::size_t i = 0; i < program.phases[phase].size(); ++i) {
      const Launch& launch = program.phases[phase][i];
      for (const Argument& argument : launch.arguments) {
        const Buffer& buffer = buffer_of(program, argument);
        if (!begins_inside(buffer, argument.offset)) {
          return name_of(manifest, launch) + " is given what lies behind the end of " +
                 quoted("buffer", buffer.name);
        }
        if (buffer.section != -1 &&
            section_of(program, phase, i) !=
                &program.sections[static_cast<std::size_t>(buffer.section)]) {
          return name_of(manifest, launch) + " is given " + quoted("buffer", buffer.name) +
                 " outside of the section that it is of";
        }
      }
    }
  }
  return {};
}

bool is_flat(const Buffer& buffer, Element element, std::int64_t elements) {
  return buffer.encoding.element == element &&
         buffer.shape == std::vector<Dimension>{Dimension{elements, -1}};
}

/// What is found by its name and then read as parameters, gradients and states are laid out.
std::string verify_layouts(const Manifest& manifest, const Program& program) {
  for (const Buffer& buffer : program.buffers) {
    const std::string who = quoted("buffer", buffer.name);
    if (buffer.role == Role::gradients &&
        !is_flat(buffer, Element::f32, manifest.trained_elements)) {
      return who + " is not laid out as the trained parameters";
    }
    if (buffer.name == "averaged.parameters" && buffer.encoding.element == Element::f32 &&
        !is_flat(buffer, Element::f32, manifest.trained_elements)) {
      return who + " is not laid out as the trained parameters";
    }
    if (!buffer.name.starts_with(kBeforeStep)) continue;
    const Buffer* state = find(program, buffer.name.substr(kBeforeStep.size()));
    if (!state || state->role != Role::state) continue;
    if (state->shape != buffer.shape || state->encoding != buffer.encoding) {
      return who + " is not laid out as the state that it was";
    }
  }
  return {};
}

/// Caches are rows of tokens of sequences, which a generator moves when it makes room, and outputs
/// are rows of sequences (G9, G11).
std::string verify_rows(const Manifest& manifest, const Program& program) {
  const auto tokens = std::ranges::find_if(program.buffers, [](const Buffer& buffer) {
    return buffer.role == Role::input && buffer.name != kStart && buffer.name != kCount;
  });
  const Dimension sequences = tokens->shape[0];
  const Dimension rows{1, static_cast<std::int32_t>(manifest.symbols.size()) - 1};
  for (const Buffer& buffer : program.buffers) {
    const std::string who = quoted("buffer", buffer.name);
    if (buffer.role == Role::cache &&
        (buffer.shape.size() < 2 || buffer.shape[0] != sequences || buffer.shape[1] != rows)) {
      return who + " is no cache of sequences and their rows";
    }
    if (buffer.role == Role::output && (buffer.shape.size() < 2 || buffer.shape[0] != sequences)) {
      return who + " has no row for every sequence";
    }
  }
  return {};
}

/// What every launch of a replay looks up, and what it copies from training.
std::string verify_replay(const Manifest& manifest, const Program& diagnosis) {
  if (!diagnosis.sections.empty()) return "it runs launches together, which a replay tells apart";
  const auto training = std::ranges::find(manifest.programs, "training", &Program::name);
  for (const Role role : {Role::parameters, Role::remainders}) {
    const auto mine = std::ranges::find(diagnosis.buffers, role, &Buffer::role);
    if (mine == diagnosis.buffers.end()) continue;
    const auto theirs = std::ranges::find(training->buffers, role, &Buffer::role);
    const bool is_same = theirs != training->buffers.end() && theirs->encoding == mine->encoding &&
                         theirs->shape == mine->shape &&
                         (role == Role::parameters || theirs->name == mine->name);
    if (!is_same) return quoted("buffer", mine->name) + " is not laid out as training's";
  }
  for (const Probe& probe : diagnosis.probes) {
    if (probe.first_launch == -1) continue;
    const Launch& first =
        launches(diagnosis, probe.phase)[static_cast<std::size_t>(probe.first_launch)];
    if (first.arguments.empty()) {
      return "a probe of " + quoted("layer", probe.layer) + " has a first launch without operands";
    }
  }
  return {};
}

}  // namespace

std::string verify_memory(const Manifest& manifest, const Program& program) {
  std::string why = verify_arguments(manifest, program);
  if (why.empty()) why = verify_layouts(manifest, program);
  if (why.empty() && program.name == kDecode) why = verify_rows(manifest, program);
  if (why.empty() && program.name == "diagnosis") why = verify_replay(manifest, program);
  return why;
}

std::string verify_arguments_of_kernels(const Manifest& manifest) {
  std::vector<std::pair<const Program*, const Launch*>> first(manifest.kernels.size());
  for (const Program& program : manifest.programs) {
    for (const auto& phase : program.phases) {
      for (const Launch& launch : phase) {
        auto& [of, known] = first[static_cast<std::size_t>(launch.kernel)];
        if (!known) {
          of = &program;
          known = &launch;
        } else if (!fit_one_kernel(*of, *known, program, launch)) {
          return name_of(manifest, launch) + " is given other arguments by one launch than another";
        }
      }
    }
  }
  return {};
}

}  // namespace halftone::manifest
