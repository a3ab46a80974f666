// SPDX-License-Identifier: Apache-2.0
// The laws of a manifest, beyond what its types say: the runtime indexes by them without further
// checks. Every function returns nothing, or what is wrong, naming the culprit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "halftone/manifest/manifest.hpp"

namespace halftone::manifest {

[[nodiscard]] std::string verify(const Manifest& manifest);

/// Buffers, slots, launches and the names that the runtime looks up.
[[nodiscard]] std::string verify_program(const Manifest& manifest, const Program& program);

/// Sections, and the parts of buffers that their launches see.
[[nodiscard]] std::string verify_sections(const Manifest& manifest, const Program& program);

/// That nothing is read or written past the end of a buffer. Everything else holds already.
[[nodiscard]] std::string verify_memory(const Manifest& manifest, const Program& program);

/// That all launches of a kernel give it what it can be compiled for.
[[nodiscard]] std::string verify_arguments_of_kernels(const Manifest& manifest);

/// P81, P84: what is held as codes, and where the masters of all else lie.
[[nodiscard]] std::string verify_quantized(const Manifest& manifest, const Program& program);

/// P98: what stays in the host's memory between the passes.
[[nodiscard]] std::string verify_stays(const Manifest& manifest, const Program& program);

/// Values, casts and probes, and that the program for diagnosis fits the one for training.
[[nodiscard]] std::string verify_precision(const Manifest& manifest, const Program& program);

/// Targets, and how kernels run on those that are chips.
[[nodiscard]] std::string verify_targets(const Manifest& manifest);

/// Rules that won fields other than formats.
[[nodiscard]] std::string verify_decisions(const Manifest& manifest);

/// P43, and that training has the scalars.
[[nodiscard]] std::string verify_loss_scale(const Manifest& manifest);

template <class Items>
[[nodiscard]] bool in_range(std::int64_t index, const Items& items) {
  return index >= 0 && static_cast<std::uint64_t>(index) < items.size();
}

[[nodiscard]] inline std::string quoted(std::string_view kind, std::string_view name) {
  return std::string(kind) + " '" + std::string(name) + "'";
}

[[nodiscard]] inline bool sound(const Manifest& manifest, const std::vector<Dimension>& shape) {
  return std::ranges::all_of(shape, [&](const Dimension& dimension) {
    return dimension.extent > 0 && dimension.divisor > 0 &&
           (dimension.symbol == -1 ? dimension.divisor == 1 && dimension.added == 0
                                   : in_range(dimension.symbol, manifest.symbols));
  });
}

/// A number of elements: a factor, and symbols with their divisors, factors and what is added,
/// which no number divides, in order. Nothing where the factor is past 2^62.
using Term = std::tuple<std::int32_t, std::int32_t, std::int64_t, std::int64_t>;
using Product = std::pair<std::int64_t, std::vector<Term>>;
[[nodiscard]] std::optional<Product> product_of(std::span<const Dimension> shape);

/// What memory holds: elements alone, rounded before they came there.
[[nodiscard]] inline bool is_plain(const Encoding& encoding) {
  return encoding == Encoding(encoding.element);
}

/// Null when there is none.
[[nodiscard]] inline const Buffer* find(const Program& program, std::string_view name) {
  const auto found = std::ranges::find(program.buffers, name, &Buffer::name);
  return found == program.buffers.end() ? nullptr : &*found;
}

[[nodiscard]] inline const std::vector<Launch>& launches(const Program& program, Phase phase) {
  return program.phases[static_cast<std::size_t>(phase)];
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

}  // namespace halftone::manifest
