// SPDX-License-Identifier: Apache-2.0
// Everything that must hold in a manifest before the runtime trusts it.
#include "verify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

namespace halftone::manifest {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 62;
constexpr std::int64_t kParameterAlignment =
    32;  // elements; the flat tree N4 needs whole groups of 32

template <class Items>
bool in_range(std::int64_t index, const Items& items) {
  return index >= 0 && static_cast<std::uint64_t>(index) < items.size();
}

std::string quoted(std::string_view kind, std::string_view name) {
  return std::string(kind) + " '" + std::string(name) + "'";
}

/// The first name that is empty or occurs twice, as a complaint.
template <class Items, class Name>
std::string unique(std::string_view kind, const Items& items, Name name_of) {
  std::set<std::string_view> seen;
  for (const auto& item : items) {
    const std::string& name = name_of(item);
    if (name.empty()) return "a " + std::string(kind) + " has no name";
    if (!seen.insert(name).second) return quoted(kind, name) + " occurs twice";
  }
  return {};
}

const Buffer* find(const Program& program, std::string_view name) {
  auto found = std::ranges::find(program.buffers, name, &Buffer::name);
  return found == program.buffers.end() ? nullptr : &*found;
}

bool sound(const Manifest& manifest, const std::vector<Dimension>& shape) {
  return std::ranges::all_of(shape, [&](const Dimension& dimension) {
    return dimension.extent > 0 &&
           (dimension.symbol == -1 || in_range(dimension.symbol, manifest.symbols));
  });
}

std::string verify_parameters(const Manifest& manifest) {
  std::int64_t end = 0;  // of the parameters so far
  for (const Parameter& parameter : manifest.parameters) {
    const std::string who = quoted("parameter", parameter.name);
    std::int64_t count = 1;
    for (std::int64_t extent : parameter.shape) {
      if (extent <= 0 || __builtin_mul_overflow(count, extent, &count) || count > kLargest) {
        return who + " has an impossible shape";
      }
    }
    if (parameter.offset < end || parameter.offset % kParameterAlignment != 0 ||
        parameter.offset > manifest.parameter_elements ||
        count > manifest.parameter_elements - parameter.offset) {
      return who + " has an impossible offset";
    }
    end = parameter.offset + count;
    if (parameter.trained ? end > manifest.trained_elements
                          : parameter.offset < manifest.trained_elements) {
      return who + " lies on the wrong side of the trained elements";
    }
  }
  return {};
}

std::string verify_kernels(const Manifest& manifest) {
  for (const Kernel& kernel : manifest.kernels) {
    for (const TaskAxis& axis : kernel.tasks) {
      if (axis.tile <= 0 || axis.tile > kLargest || !sound(manifest, axis.extent)) {
        return quoted("kernel", kernel.name) + " has an impossible task axis";
      }
    }
    if (kernel.cpu_entry < 0 || kernel.cpu_finish < -1) {
      return quoted("kernel", kernel.name) + " has an impossible entry";
    }
  }
  return {};
}

/// Others keep their contents from one step to the next, or are read by the host at any time.
bool may_share_a_slot(Role role) {
  return role == Role::input || role == Role::activation || role == Role::output_gradient;
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

/// `elements` in one buffer of that role, or none when there are no elements.
bool has_flat_buffer(const Program& program, Role role, std::int64_t elements) {
  std::int64_t buffers = 0;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.role != role) continue;
    ++buffers;
    if (buffer.format != Format::f32 || buffer.shape.size() != 1 || buffer.shape[0].symbol != -1 ||
        buffer.shape[0].extent != elements) {
      return false;
    }
  }
  return buffers == (elements > 0 ? 1 : 0);
}

bool holds_first_value(const Buffer& buffer) {
  const double value = buffer.initial;
  if (buffer.format == Format::f32) return std::abs(value) <= std::numeric_limits<float>::max();
  if (buffer.format != Format::i32) return value == 0.0;
  return std::abs(value) <= std::numeric_limits<std::int32_t>::max() && value == std::trunc(value);
}

std::string verify_buffers(const Manifest& manifest, const Program& program) {
  for (const Buffer& buffer : program.buffers) {
    const std::string who = quoted("buffer", buffer.name);
    if (!sound(manifest, buffer.shape)) return who + " has an impossible shape";
    if (!holds_first_value(buffer)) return who + " has a first value that it cannot hold";
    const bool scalar = buffer.role == Role::loss || buffer.role == Role::hyperparameter ||
                        buffer.role == Role::statistic;
    if (scalar && !buffer.shape.empty()) return who + " is not a scalar";
    if (buffer.role == Role::input &&
        std::ranges::find(manifest.inputs, buffer.name) == manifest.inputs.end()) {
      return who + " is no input of the model";
    }
  }
  if (!has_flat_buffer(program, Role::parameters, manifest.parameter_elements)) {
    return "the parameters are not one flat f32 buffer";
  }
  const bool backward = !program.phases[static_cast<std::size_t>(Phase::backward)].empty();
  if (backward && !has_flat_buffer(program, Role::gradients, manifest.trained_elements)) {
    return "the gradients are not one flat f32 buffer";
  }
  return {};
}

std::string verify_launches(const Manifest& manifest, const Program& program) {
  for (const auto& phase : program.phases) {
    for (const Launch& launch : phase) {
      if (!in_range(launch.kernel, manifest.kernels)) return "a launch has an unknown kernel";
      for (const Argument& argument : launch.arguments) {
        if (!in_range(argument.buffer, program.buffers) || argument.offset < 0) {
          const Kernel& kernel = manifest.kernels[static_cast<std::size_t>(launch.kernel)];
          return quoted("kernel", kernel.name) + " has an impossible argument";
        }
      }
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
    const bool backward = !program.phases[static_cast<std::size_t>(Phase::backward)].empty();
    if (output.gradient.empty() || !backward) continue;
    const Buffer* gradient = find(program, output.gradient);
    if (!gradient || gradient->role != Role::output_gradient || gradient->shape != buffer->shape) {
      return quoted("output", output.name) + " has no gradient buffer of its shape";
    }
  }
  if (program.name != "training") return {};
  for (const std::string& input : manifest.inputs) {
    const Buffer* buffer = find(program, input);
    if (!buffer || buffer->role != Role::input) return quoted("input", input) + " has no buffer";
  }
  for (const std::string& loss : manifest.losses) {
    const Buffer* buffer = find(program, loss);
    if (!buffer || buffer->role != Role::loss) return quoted("loss", loss) + " has no buffer";
  }
  for (const auto& [name, role] :
       {std::pair{"learning_rate", Role::hyperparameter}, std::pair{"grad_norm", Role::statistic},
        std::pair{"finite", Role::statistic}}) {
    const Buffer* buffer = find(program, name);
    if (!buffer || buffer->role != role) return "training has no scalar " + quoted("buffer", name);
  }
  return {};
}

std::string verify_program(const Manifest& manifest, const Program& program) {
  std::string why = unique("buffer", program.buffers, [](auto& b) -> auto& { return b.name; });
  if (why.empty()) why = verify_slots(program);
  if (why.empty()) why = verify_buffers(manifest, program);
  if (why.empty()) why = verify_launches(manifest, program);
  if (why.empty()) why = verify_names(manifest, program);
  return why;
}

}  // namespace

std::string verify(const Manifest& manifest) {
  if (manifest.model.empty()) return "the model has no name";
  if (manifest.trained_elements < 0 || manifest.trained_elements > manifest.parameter_elements ||
      manifest.parameter_elements > kLargest) {
    return "the numbers of parameter elements are impossible";
  }
  const auto itself = [](const std::string& name) -> const std::string& { return name; };
  const auto name_of = [](const auto& item) -> const std::string& { return item.name; };
  std::string why = unique("symbol", manifest.symbols, itself);
  if (why.empty()) why = unique("variant", manifest.variants, itself);
  if (why.empty()) why = unique("parameter", manifest.parameters, name_of);
  if (why.empty()) why = unique("input", manifest.inputs, itself);
  if (why.empty()) why = unique("output", manifest.outputs, name_of);
  if (why.empty()) why = unique("loss", manifest.losses, itself);
  if (why.empty()) why = unique("kernel", manifest.kernels, name_of);
  if (why.empty()) why = unique("program", manifest.programs, name_of);
  if (why.empty()) why = verify_parameters(manifest);
  if (why.empty()) why = verify_kernels(manifest);
  for (const Program& program : manifest.programs) {
    if (!why.empty()) break;
    why = verify_program(manifest, program);
    if (!why.empty()) why = quoted("program", program.name) + ": " + why;
  }
  return why;
}

}  // namespace halftone::manifest
