// SPDX-License-Identifier: Apache-2.0
// Checks a caller's values against the model and copies them in.
#include "inputs.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "floating_point.hpp"
#include "formats.hpp"
#include "halftone/encoding/traits.hpp"
#include "halftone/error.hpp"
#include "text.hpp"

namespace halftone {
namespace {

using Values = decltype(NamedValues::values);

std::size_t size_of(const Values& values) {
  return std::visit([](const auto& elements) { return elements.size(); }, values);
}

bool is_nowhere(const Values& values) {
  return std::visit([](const auto& elements) { return elements.data() == nullptr; }, values);
}

bool is_i32(const Values& values) { return values.index() == 1; }

std::string names_of(std::span<const Place> places) {
  std::vector<std::string_view> names;
  for (const Place& place : places) names.push_back(place.name);
  return listed(names);
}

/// What is wrong with values for that buffer, with the remedy; no cause when nothing is.
Error::Parts judge(const BoundProgram& program, std::size_t buffer, const Values& values) {
  const bool wants_i32 = encoding::traits(program.plan().buffer(buffer).encoding.element).integer;
  if (wants_i32 != is_i32(values)) {
    return {.operation = "",
            .object = "",
            .cause = std::string("takes ") + (wants_i32 ? "i32" : "f32") +
                     " values, but was given " + (wants_i32 ? "f32" : "i32"),
            .hint = std::string("give it a span of ") + (wants_i32 ? "std::int32_t" : "float")};
  }
  const auto needed = static_cast<std::size_t>(program.plan().elements(buffer));
  if (size_of(values) != needed) {
    return {.operation = "",
            .object = "",
            .cause = "has " + std::to_string(size_of(values)) + " values, but " +
                     program.plan().shape_text(buffer) + " needs " + std::to_string(needed),
            .hint = "give the whole tensor, row-major"};
  }
  if (is_nowhere(values)) {
    return {.operation = "", .object = "", .cause = kNullValues, .hint = kNullValuesHint};
  }
  return {};
}

/// Into a buffer of the values' element, or rounded to the narrower one that it has.
void copy_into(const BoundProgram& program, std::size_t buffer, const Values& values) {
  const encoding::Element element = program.plan().buffer(buffer).encoding.element;
  const std::span<std::byte> to = program.execution().staged(buffer);
  if (!encoding::is_narrow(element)) {
    const auto bytes =
        std::visit([](const auto& elements) { return std::as_bytes(elements); }, values);
    if (!bytes.empty()) std::memcpy(to.data(), bytes.data(), bytes.size());
    return;
  }
  const StandardFloatingPoint mode;
  const auto bytes = static_cast<std::size_t>(encoding::storage_bytes(element, 1));
  std::byte* at = to.data();
  for (float value : std::get<std::span<const float>>(values)) {
    const std::uint32_t code = narrowed(element, value);
    std::memcpy(at, &code, bytes);
    at += bytes;
  }
}

}  // namespace

void copy_in(const BoundProgram& program, const char* operation, const char* kind,
             std::span<const Place> places, std::span<const NamedValues> values) {
  const auto refuse = [&](std::string_view name, std::string cause, std::string hint) {
    throw Error({.operation = operation,
                 .object = named(kind, name),
                 .cause = std::move(cause),
                 .hint = std::move(hint)});
  };
  for (const NamedValues& given : values) {
    const auto place = std::ranges::find(places, given.name, &Place::name);
    if (place == places.end()) {
      refuse(given.name, "is unknown", std::string("it takes ") + names_of(places));
    }
    if (std::ranges::count(values, given.name, &NamedValues::name) > 1) {
      refuse(given.name, "is given twice", "give it once");
    }
    Error::Parts wrong = judge(program, place->buffer, given.values);
    if (!wrong.cause.empty()) refuse(given.name, std::move(wrong.cause), std::move(wrong.hint));
  }
  for (const Place& place : places) {
    if (std::ranges::find(values, place.name, &NamedValues::name) == values.end()) {
      refuse(place.name, "is missing", std::string("it takes ") + names_of(places));
    }
  }
  for (const NamedValues& given : values) {
    const auto place = std::ranges::find(places, given.name, &Place::name);
    copy_into(program, place->buffer, given.values);
  }
}

}  // namespace halftone
