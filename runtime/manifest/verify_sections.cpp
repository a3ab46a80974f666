// SPDX-License-Identifier: Apache-2.0
// The laws of launches that run together, chunk by chunk or part by part.
#include <algorithm>
#include <numeric>
#include <span>

#include "halftone/manifest/plan.hpp"
#include "sizes.hpp"
#include "verify.hpp"

namespace halftone::manifest {

std::optional<Product> product_of(std::span<const Dimension> shape) {
  Product product{1, {}};
  for (const Dimension& dimension : shape) {
    const std::int64_t known =
        std::gcd(dimension.extent, dimension.added % dimension.extent);  // divides all of it
    if (known > kLargest / product.first) return std::nullopt;
    product.first *= known;
    if (dimension.symbol >= 0) {
      product.second.push_back(
          {dimension.symbol, dimension.divisor, dimension.extent / known, dimension.added / known});
    }
  }
  std::ranges::sort(product.second);
  return product;
}

namespace {

/// Whether the buffer is so many parts of one size as the argument says.
bool sees_a_part(const Program& program, const Argument& argument, const Section* section) {
  if (argument.parts == 0) return true;
  const auto parts = static_cast<std::size_t>(argument.parts);
  if (!section || argument.parts < 0 || parts > section->parts.size()) return false;
  const auto all = product_of(program.buffers[static_cast<std::size_t>(argument.buffer)].shape);
  const auto count = product_of(std::span(section->parts).first(parts));
  return all && count && all->first % count->first == 0 &&
         std::ranges::includes(all->second, count->second);
}

/// What a kernel sees a part of is cut as its section is, and what threads have each for themselves
/// lies apart from all else.
std::string verify_parts(const Manifest& manifest, const Program& program) {
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    for (std::size_t i = 0; i < program.phases[phase].size(); ++i) {
      const Launch& launch = program.phases[phase][i];
      for (const Argument& argument : launch.arguments) {
        if (!sees_a_part(program, argument, section_of(program, phase, i))) {
          const Kernel& kernel = manifest.kernels[static_cast<std::size_t>(launch.kernel)];
          return quoted("kernel", kernel.name) + " has an argument of impossible parts";
        }
      }
    }
  }
  for (const Slot& slot : program.slots) {
    const auto of_part = [&](std::int32_t tenant) {
      return is_of_part(program, program.buffers[static_cast<std::size_t>(tenant)]);
    };
    const bool any = std::ranges::any_of(slot.tenants, of_part);
    if (any && !std::ranges::all_of(slot.tenants, of_part)) {
      return "a slot is of parts and of others";
    }
  }
  return {};
}

/// Sections lie apart, in their phase, and are known to every buffer that says it is of one.
std::string verify_ranges(const Manifest& manifest, const Program& program) {
  std::int32_t end[kPhases] = {};
  for (const Section& section : program.sections) {
    const auto phase = static_cast<std::size_t>(section.phase);
    const auto launches = static_cast<std::int64_t>(program.phases[phase].size());
    if (section.first < end[phase] || section.count < 1 ||
        std::int64_t{section.first} + section.count > launches) {
      return "a section is no part of its phase, or of another section";
    }
    end[phase] = section.first + section.count;
    if (!section.parts.empty()) {
      if (!sound(manifest, section.parts)) return "a section has impossible parts";
      continue;
    }
    if (section.rows < 1 || section.multiple < 1 || !in_range(section.symbol, manifest.symbols) ||
        !sound(manifest, section.inner)) {
      return "a section has impossible chunks";
    }
  }
  for (const Buffer& buffer : program.buffers) {
    if (buffer.section == -1) continue;
    const std::string who = quoted("buffer", buffer.name);
    if (!in_range(buffer.section, program.sections)) return who + " is of an unknown section";
    const std::int32_t symbol = program.sections[static_cast<std::size_t>(buffer.section)].symbol;
    if (is_of_part(program, buffer) && buffer.role == Role::activation) continue;
    if (buffer.role != Role::activation || buffer.shape.empty() ||
        buffer.shape[0].symbol != symbol || buffer.shape[0].divisor != 1 ||
        buffer.shape[0].added != 0) {
      return who + " holds no rows of its section";
    }
  }
  return {};
}

}  // namespace

std::string verify_sections(const Manifest& manifest, const Program& program) {
  const std::string why = verify_ranges(manifest, program);
  return why.empty() ? verify_parts(manifest, program) : why;
}

}  // namespace halftone::manifest
