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
#include "halftone/manifest/plan.hpp"
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

encoding::Element element_of(const Values& values) { return kElementsOfValues[values.index()]; }

/// What a caller has a span of: "std::uint8_t".
std::string type_of(encoding::Element element) {
  const encoding::ElementTraits& traits = encoding::traits(element);
  if (encoding::is_narrow(element)) return element == encoding::Element::f16 ? "F16" : "Bf16";
  if (!traits.integer) return "float";
  return std::string("std::") + (traits.has_sign ? "int" : "uint") + std::to_string(traits.bits) +
         "_t";
}

/// Nothing where values of the element that is given are those that the buffer takes.
Error::Parts judge_element(encoding::Element wanted, encoding::Element given) {
  const bool is_rounded = encoding::is_narrow(wanted);
  if (given == wanted || (is_rounded && given == encoding::Element::f32)) return {};
  const std::string word = encoding::word(wanted);
  return {.operation = "",
          .object = "",
          .cause = "takes " + (is_rounded ? "f32 or " + word : word) + " values, but was given " +
                   encoding::word(given),
          .hint = "give it a span of " + std::string(is_rounded ? "float or halftone::" : "") +
                  type_of(wanted)};
}

std::string names_of(std::span<const Place> places) {
  std::vector<std::string_view> names;
  for (const Place& place : places) names.push_back(place.name);
  return listed(names);
}

[[noreturn]] void refuse(const char* operation, const char* kind, std::string_view name,
                         std::string cause, std::string hint) {
  throw Error({.operation = operation,
               .object = named(kind, name),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

const Place* find(std::span<const Place> places, std::string_view name) {
  const auto place = std::ranges::find(places, name, &Place::name);
  return place == places.end() ? nullptr : &*place;
}

/// The first of the values that says how many rows there are, with its place; or null.
struct Rows {
  const NamedValues* given = nullptr;
  const Place* place = nullptr;
};
Rows first_rows(std::span<const Place> inputs, std::span<const NamedValues> values) {
  for (const NamedValues& given : values) {
    const Place* place = find(inputs, given.name);
    if (place && place->row > 0) return {&given, place};
  }
  return {};
}

std::string rows_text(std::int64_t rows) {
  return std::to_string(rows) + (rows == 1 ? " row" : " rows");
}

/// How many rows a run has (D14).
std::int64_t rows_of(const BoundProgram& program, const char* operation, const Rows& first) {
  const auto [given, place] = first;
  if (!given) return program.plan().planned().rows;
  const auto count = static_cast<std::int64_t>(size_of(given->values));
  if (count == program.rows() * place->row) return program.rows();
  const ProgramPlan& plan = program.plan();
  const std::int64_t rows = count / place->row, most = plan.planned().rows;
  const std::string planned =
      plan.manifest().symbols[*plan.leading_symbol()] + " " + std::to_string(most);
  if (count == 0 || count % place->row != 0) {
    refuse(
        operation, "input", given->name,
        "has " + std::to_string(count) + " values, but a row of it has " +
            std::to_string(place->row),
        "give " + std::string(most == 1 ? "one row" : "1 to " + rows_text(most)) + ", row-major");
  }
  if (rows > most) {
    refuse(operation, "input", given->name,
           "has " + rows_text(rows) + ", but the " + plan.who() + " was made for " + planned,
           "give fewer rows at a time, or make it for the most that come");
  }
  if (const auto state = plan.state_of_rows(); state && rows != most) {
    refuse(operation, "input", given->name,
           "has " + rows_text(rows) + ", but " + named("state", plan.buffer(*state).name) + " is " +
               plan.shape_text(*state) + " and takes part with all of its rows",
           "give " + rows_text(most) + ", or make a " + plan.who() + " for fewer");
  }
  return rows;
}

/// ", of lengths 4 * side": of what has several places for each of what a symbol is bound to
/// (D112), or some more (D116); empty otherwise.
std::string multiples_of(const ProgramPlan& plan, std::size_t buffer) {
  std::vector<std::string> lengths;
  for (const manifest::Dimension& dimension : plan.buffer(buffer).shape) {
    if (dimension.symbol < 0 || (dimension.extent == 1 && dimension.added == 0)) continue;
    const std::string length =
        (dimension.extent == 1 ? "" : std::to_string(dimension.extent) + " * ") +
        plan.manifest().symbols[static_cast<std::size_t>(dimension.symbol)] +
        manifest::added_text(dimension);
    if (std::ranges::find(lengths, length) == lengths.end()) lengths.push_back(length);
  }
  std::string text;
  for (const std::string& length : lengths)
    text += (text.empty() ? ", of lengths " : " and ") + length;
  return text;
}

/// What is wrong with values for that place, with the remedy; no cause when nothing is.
Error::Parts judge(const ProgramPlan& plan, const Sizes& sizes, const Place& place,
                   const Values& values, const Rows& rows) {
  Error::Parts wrong =
      judge_element(plan.buffer(place.buffer).encoding.element, element_of(values));
  if (!wrong.cause.empty()) return wrong;
  const auto needed = static_cast<std::size_t>(sizes.elements[place.buffer]);
  if (size_of(values) != needed) {
    return {.operation = "",
            .object = "",
            .cause = "has " + std::to_string(size_of(values)) + " values, but " +
                     plan.shape_text(place.buffer, sizes) + " needs " + std::to_string(needed),
            .hint = "give the whole tensor, row-major" + multiples_of(plan, place.buffer) +
                    (place.row == 0
                         ? ""
                         : ", of as many rows as " + named("input", rows.place->name) + " has")};
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
  if (element_of(values) == element) {
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

/// Throws Error unless every place is given one value, of these sizes, which `rows` has said.
void check(const ProgramPlan& plan, const Sizes& sizes, const Rows& rows, const char* operation,
           const char* kind, std::span<const Place> places, std::span<const NamedValues> values) {
  for (const NamedValues& given : values) {
    const Place* place = find(places, given.name);
    if (!place) {
      refuse(operation, kind, given.name, "is unknown", "it takes " + names_of(places));
    }
    if (std::ranges::count(values, given.name, &NamedValues::name) > 1) {
      refuse(operation, kind, given.name, "is given twice", "give it once");
    }
    Error::Parts wrong = judge(plan, sizes, *place, given.values, rows);
    if (wrong.cause.empty()) continue;
    refuse(operation, kind, given.name, std::move(wrong.cause), std::move(wrong.hint));
  }
  for (const Place& place : places) {
    if (std::ranges::find(values, place.name, &NamedValues::name) == values.end()) {
      refuse(operation, kind, place.name, "is missing", "it takes " + names_of(places));
    }
  }
}

void copy(const BoundProgram& program, std::span<const Place> places,
          std::span<const NamedValues> values) {
  for (const NamedValues& given : values) {
    copy_into(program, find(places, given.name)->buffer, given.values);
  }
}

}  // namespace

Place input_place(const ProgramPlan& plan, std::size_t buffer) {
  return {plan.buffer(buffer).name, buffer, plan.row_elements(buffer)};
}

void copy_in(const BoundProgram& program, const char* operation, const char* kind,
             std::span<const Place> places, std::span<const NamedValues> values) {
  check(program.plan(), program.sizes(), {}, operation, kind, places, values);
  copy(program, places, values);
}

void copy_in_rows(BoundProgram& program, const char* operation, std::span<const Place> inputs,
                  std::span<const NamedValues> values) {
  const ProgramPlan& plan = program.plan();
  const Rows first = first_rows(inputs, values);
  const std::int64_t rows = rows_of(program, operation, first);
  if (rows == program.rows()) {
    check(plan, program.sizes(), first, operation, "input", inputs, values);
  } else {
    check(plan, plan.with_rows(rows), first, operation, "input", inputs, values);
    program.use_rows(rows);
  }
  copy(program, inputs, values);
}

}  // namespace halftone
