// SPDX-License-Identifier: Apache-2.0
// The laws of one program: what its buffers are, where they lie and who uses them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "halftone/encoding/text.hpp"
#include "halftone/manifest/plan.hpp"
#include "halftone/manifest/spelling.hpp"
#include "sizes.hpp"
#include "verify.hpp"

namespace halftone::manifest {
namespace {

/// What else there is keeps its contents from one step to the next, or is the host's to read or
/// write at any time.
bool may_share_a_slot(Role role) { return role == Role::activation; }

bool may_hold(Role role, Element element) {
  const encoding::ElementTraits& traits = encoding::traits(element);
  switch (role) {
    case Role::activation:
      return traits.computed || traits.integer;
    case Role::cache:
      return traits.computed;
    case Role::input:
      return encoding::is_delivered(element);
    case Role::working_copies:
      return traits.computed && encoding::is_narrow(element);
    case Role::state:
      return element == Element::f32 || element == Element::i32;
    case Role::counters:
      return element == Element::i32;
    case Role::optimizer_state:  // P68, P86
      return element == Element::f32 || element == Element::f16 || element == Element::bf16 ||
             element == Element::f8e4m3 || element == Element::f8e5m2;
    case Role::parameters:  // P69
      return element == Element::f32 || element == Element::bf16;
    case Role::remainders:
      return element == Element::i16;
    case Role::codes:  // P81
      return element == Element::i8 || element == Element::f8e4m3;
    default:
      return element == Element::f32;
  }
}

std::string verify_slots(const Program& program) {
  std::vector<int> owners(program.buffers.size(), 0);
  for (std::size_t slot = 0; slot < program.slots.size(); ++slot) {
    const std::vector<std::int32_t>& tenants = program.slots[slot].tenants;
    for (std::int32_t tenant : tenants) {
      if (!in_range(tenant, program.buffers)) return "a slot has an unknown tenant";
      const Buffer& buffer = program.buffers[static_cast<std::size_t>(tenant)];
      if (static_cast<std::size_t>(buffer.slot) != slot ||
          ++owners[static_cast<std::size_t>(tenant)] > 1) {
        return quoted("buffer", buffer.name) + " and its slot disagree";
      }
      if (tenants.size() > 1 && !may_share_a_slot(buffer.role)) {
        return quoted("buffer", buffer.name) + " may not share its slot";
      }
    }
  }
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i] == 0) return quoted("buffer", program.buffers[i].name) + " has no slot";
  }
  return {};
}

/// Every buffer of that role is a flat one of `elements`; counts them, or returns -1.
std::int64_t count_flat_buffers(const Program& program, Role role, std::int64_t elements) {
  std::int64_t buffers = 0;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.role != role) continue;
    ++buffers;
    if (buffer.shape.size() != 1 || buffer.shape[0] != Dimension{elements, -1}) return -1;
  }
  return buffers;
}

/// `elements` in one buffer of that role, or none when there are no elements.
bool has_flat_buffer(const Program& program, Role role, std::int64_t elements) {
  return count_flat_buffers(program, role, elements) == (elements > 0 ? 1 : 0);
}

/// Of the flat buffers of masters: all parameters' or, beside quantized weights, those of the
/// others (P84).
std::int64_t elements_of_masters(const Manifest& manifest, const Program& program) {
  if (program.quantized.empty()) return manifest.parameter_elements;
  const auto buffer = std::ranges::find(program.buffers, Role::parameters, &Buffer::role);
  return buffer == program.buffers.end() || buffer->shape.empty() ? 0 : buffer->shape[0].extent;
}

/// The buffer for micro-batches and the phase that alone may use it.
std::string verify_accumulation(const Manifest& manifest, const Program& program) {
  const std::int64_t buffers =
      count_flat_buffers(program, Role::accumulated, manifest.trained_elements);
  if (buffers < 0 || buffers > 1) return "the accumulated gradients are not one flat buffer";
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    if (static_cast<Phase>(phase) == Phase::accumulate) continue;
    for (const Launch& launch : program.phases[phase]) {
      for (const Argument& argument : launch.arguments) {
        const Buffer& buffer = program.buffers[static_cast<std::size_t>(argument.buffer)];
        if (buffer.role == Role::accumulated) {
          return quoted("buffer", buffer.name) + " is used outside of the phase accumulate";
        }
      }
    }
  }
  return {};
}

bool holds_first_value(const Buffer& buffer) {
  const double value = buffer.initial;
  if (value == 0.0) return true;
  const bool may_have_one = buffer.role == Role::optimizer_state || buffer.role == Role::state ||
                            buffer.role == Role::hyperparameter || buffer.role == Role::statistic;
  if (!may_have_one) return false;
  const bool is_integer = encoding::traits(buffer.encoding.element).integer;
  if (!is_integer) return std::abs(value) < 0x1.ffffffp127;  // finite in f32
  return std::abs(value) <= std::numeric_limits<std::int32_t>::max() && value == std::trunc(value);
}

std::string verify_buffers(const Manifest& manifest, const Program& program) {
  for (const Buffer& buffer : program.buffers) {
    const std::string who = quoted("buffer", buffer.name);
    if (!sound(manifest, buffer.shape)) return who + " has an impossible shape";
    if (!is_plain(buffer.encoding)) return who + " has an impossible encoding";
    const bool is_carried = buffer.role == Role::optimizer_state && buffer.shape.empty();
    if (!may_hold(buffer.role, buffer.encoding.element) ||
        (is_carried && buffer.encoding.element != Element::f32)) {
      return who + " has the role " + std::string(spelled(buffer.role)) + ", which " +
             spelled(buffer.encoding) + " does not fit";
    }
    if (!holds_first_value(buffer)) return who + " has a first value that it cannot hold";
    const bool scalar = buffer.role == Role::loss || buffer.role == Role::hyperparameter ||
                        buffer.role == Role::statistic;
    if (scalar && !buffer.shape.empty()) return who + " is not a scalar";
    if (buffer.role == Role::input &&
        std::ranges::find(manifest.inputs, buffer.name) == manifest.inputs.end()) {
      return who + " is no input of the model";
    }
  }
  const std::int64_t masters = elements_of_masters(manifest, program);
  if (!has_flat_buffer(program, Role::parameters, masters)) {
    return "the parameters are not one flat buffer";
  }
  const bool is_split = std::ranges::any_of(program.buffers, [](const Buffer& buffer) {
    return buffer.role == Role::parameters && buffer.encoding.element == Element::bf16;
  });
  if (!has_flat_buffer(program, Role::remainders, is_split ? masters : 0)) {
    return "the remainders are not one flat buffer beside parameters in bf16";
  }
  if (count_flat_buffers(program, Role::working_copies, masters) < 0) {
    return "working copies are not laid out as the parameters";
  }
  const std::int64_t counters = count_flat_buffers(program, Role::counters, kCounters);
  if (counters < 0 || counters > 1) {
    return "the counters are not one buffer of " + std::to_string(kCounters) + " words";
  }
  const bool backward = !launches(program, Phase::backward).empty();
  if (backward && !has_flat_buffer(program, Role::gradients, manifest.trained_elements)) {
    return "the gradients are not one flat buffer";
  }
  return {};
}

/// Whether a map reads no more than the buffer has, as far as their sizes can be compared.
bool may_lie_in(const TensorMap& map, const Buffer& buffer) {
  std::vector<Dimension> shape;
  for (const MapDimension& dimension : map.dimensions)
    shape.insert(shape.end(), dimension.extent.begin(), dimension.extent.end());
  const auto read = product_of(shape), held = product_of(buffer.shape);
  if (!read || !held) return true;  // what is too large, whoever plans the arena says
  return read->second != held->second || read->first <= held->first;
}

/// Whether kernels that are given maps of arguments have those, with the maps' elements.
bool fits_maps(const Manifest& manifest, const Program& program, const Launch& launch) {
  const auto fits = [&](const TensorMap& map) {
    if (!in_range(map.argument, launch.arguments)) return false;
    const Argument& argument = launch.arguments[static_cast<std::size_t>(map.argument)];
    const Buffer& buffer = program.buffers[static_cast<std::size_t>(argument.buffer)];
    return buffer.encoding.element == map.element && may_lie_in(map, buffer);
  };
  return std::ranges::all_of(manifest.cuda, [&](const CudaTarget& target) {
    return std::ranges::all_of(target.kernels[static_cast<std::size_t>(launch.kernel)].maps, fits);
  });
}

std::string verify_launches(const Manifest& manifest, const Program& program) {
  for (const auto& phase : program.phases) {
    for (const Launch& launch : phase) {
      if (!in_range(launch.kernel, manifest.kernels)) return "a launch has an unknown kernel";
      const Kernel& kernel = manifest.kernels[static_cast<std::size_t>(launch.kernel)];
      for (const Argument& argument : launch.arguments) {
        if (!in_range(argument.buffer, program.buffers) || argument.offset < 0) {
          return quoted("kernel", kernel.name) + " has an impossible argument";
        }
      }
      if (kernel.blocking.rhs >= 0 && !in_range(kernel.blocking.rhs, launch.arguments)) {
        return quoted("kernel", kernel.name) + " packs no argument of its launch";
      }
      if (!fits_maps(manifest, program, launch)) {
        return quoted("kernel", kernel.name) + " has a tensor map of no argument of its launch";
      }
    }
  }
  return {};
}

/// Whether two arguments of a launch that stand for one buffer in the host's memory are one part.
bool see_alike(const Argument& a, const Argument& b) {
  return a.buffer != b.buffer || a.seen == 0 || (a.offset == b.offset && a.seen == b.seen);
}

/// What lies in the host's memory is state of the optimizer that the update alone uses, and every
/// kernel sees one part of it.
std::string verify_places(const Manifest& manifest, const Program& program) {
  for (const Buffer& buffer : program.buffers) {
    const bool is_flat = buffer.shape.size() == 1 && buffer.shape[0].symbol < 0;
    if (buffer.in_host && (buffer.role != Role::optimizer_state || !is_flat)) {
      return quoted("buffer", buffer.name) + " lies in the host's memory, where it may not";
    }
  }
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    for (const Launch& launch : program.phases[phase]) {
      const auto is_sound = [&](const Argument& argument) {
        const Buffer& buffer = program.buffers[static_cast<std::size_t>(argument.buffer)];
        if (!buffer.in_host) return argument.seen == 0;
        return static_cast<Phase>(phase) == Phase::update && argument.seen > 0 &&
               argument.seen <= buffer.shape[0].extent - argument.offset &&
               std::ranges::all_of(launch.arguments,
                                   [&](auto& other) { return see_alike(argument, other); });
      };
      if (!std::ranges::all_of(launch.arguments, is_sound)) {
        const Kernel& kernel = manifest.kernels[static_cast<std::size_t>(launch.kernel)];
        return quoted("kernel", kernel.name) + " sees an impossible part of the host's memory";
      }
    }
  }
  return {};
}

/// One input of integers by sequences and times, and two integers for every sequence (G8).
std::string verify_decode(const Program& program) {
  const Buffer* tokens = nullptr;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.role != Role::input || buffer.name == kStart || buffer.name == kCount) continue;
    if (tokens) return quoted("input", buffer.name) + " is one beside the tokens";
    tokens = &buffer;
  }
  if (!tokens || tokens->shape.size() != 2 || tokens->shape[0].symbol < 0 ||
      tokens->shape[1].symbol < 0 || !encoding::traits(tokens->encoding.element).integer) {
    return "there are no tokens of sequences and times";
  }
  for (const char* name : {kStart, kCount}) {
    const Buffer* buffer = find(program, name);
    if (!buffer || buffer->role != Role::input || buffer->encoding != Element::i32 ||
        buffer->shape != std::vector<Dimension>{tokens->shape[0]}) {
      return quoted("input", name) + " is no integer for every sequence";
    }
  }
  return {};
}

/// The names that the runtime looks up: outputs with their gradients, losses, and what a training
/// program must offer.
std::string verify_names(const Manifest& manifest, const Program& program) {
  for (const Output& output : manifest.outputs) {
    const Buffer* buffer = find(program, output.buffer);
    if (!buffer || buffer->role != Role::output) {
      return quoted("output", output.name) + " has no buffer";
    }
    const bool backward = !launches(program, Phase::backward).empty();
    if (output.gradient.empty() || (!backward && program.name != "training")) continue;
    const Buffer* gradient = find(program, output.gradient);
    if (!gradient || gradient->role != Role::output_gradient || gradient->shape != buffer->shape) {
      return quoted("output", output.name) + " has no gradient buffer of its shape";
    }
  }
  if (program.name == kDecode) return verify_decode(program);
  const bool is_training = program.name == "training";
  for (const std::string& loss : manifest.losses) {
    const bool evaluates = program.name == "inference" && !launches(program, Phase::loss).empty();
    if (!is_training && !evaluates) break;  // a replay has no metrics
    const Buffer* buffer = find(program, loss);
    if (!buffer || buffer->role != Role::loss) return quoted("loss", loss) + " has no buffer";
  }
  if (!is_training) return {};
  for (const InputGradient& wanted : manifest.input_gradients) {
    const Buffer *input = find(program, wanted.input), *gradient = find(program, wanted.buffer);
    const bool fits = input && input->role == Role::input && gradient &&
                      gradient->role == Role::input_gradient && gradient->shape == input->shape;
    if (!fits) return quoted("input", wanted.input) + " has no gradient buffer of its shape";
  }
  for (const std::string& input : manifest.inputs) {
    const Buffer* buffer = find(program, input);
    if (!buffer || buffer->role != Role::input) return quoted("input", input) + " has no buffer";
  }
  for (const std::string& kept : manifest.kept_states) {
    const Buffer* buffer = find(program, kept);
    if (!buffer || buffer->role != Role::state)
      return quoted("kept state", kept) + " has no buffer";
  }
  for (const auto& [name, role] :
       {std::pair{"learning_rate", Role::hyperparameter},
        std::pair{"micro_batches", Role::hyperparameter},
        std::pair{"first_micro_batch", Role::hyperparameter},
        std::pair{"grad_norm", Role::statistic}, std::pair{"finite", Role::statistic}}) {
    const Buffer* buffer = find(program, name);
    if (!buffer || buffer->role != role) return "training has no scalar " + quoted("buffer", name);
  }
  return {};
}

}  // namespace

std::string verify_program(const Manifest& manifest, const Program& program) {
  std::string why = unique(
      "buffer", program.buffers, [](auto& b) -> auto& { return b.name; });
  if (why.empty()) why = verify_slots(program);
  if (why.empty()) why = verify_buffers(manifest, program);
  if (why.empty()) why = verify_quantized(manifest, program);
  if (why.empty()) why = verify_launches(manifest, program);
  if (why.empty()) why = verify_places(manifest, program);
  if (why.empty()) why = verify_stays(manifest, program);
  if (why.empty()) why = verify_sections(manifest, program);
  if (why.empty()) why = verify_accumulation(manifest, program);
  if (why.empty()) why = verify_names(manifest, program);
  return why;
}

}  // namespace halftone::manifest
