// SPDX-License-Identifier: Apache-2.0
#include "halftone/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../text.hpp"
#include "halftone/encoding/traits.hpp"
#include "halftone/error.hpp"
#include "order.hpp"
#include "table.hpp"

namespace halftone {

using data::Column, data::kOperation, data::Stored;

namespace {

[[noreturn]] void refuse(std::string object, std::string cause, std::string hint) {
  throw Error({.operation = kOperation,
               .object = std::move(object),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

constexpr data::StoredForm form_of(encoding::Element element) {
  const encoding::ElementTraits& traits = encoding::traits(element);
  return {traits.word, traits.bits / 8, traits.integer};
}

using encoding::Element;
constexpr data::StoredForm kForms[] = {
    form_of(Element::u8),  form_of(Element::i8),   form_of(Element::u16), form_of(Element::i16),
    {"u32", 4, true},      form_of(Element::i32),  {"u64", 8, true},      form_of(Element::i64),
    form_of(Element::f16), form_of(Element::bf16), form_of(Element::f32), {"f64", 8, false}};

/// In the order of OfElements.
constexpr Stored kStoredBy[] = {Stored::f32, Stored::i32, Stored::u8,  Stored::i8,  Stored::u16,
                                Stored::i16, Stored::i64, Stored::f16, Stored::bf16};
static_assert(std::size(kStoredBy) == std::size(kElementsOfValues));

/// In the order of InputElement, of those that a source may be handed over as.
constexpr Stored kStoredAs[] = {Stored::f32, Stored::f32, Stored::i32, Stored::u8,  Stored::i8,
                                Stored::u16, Stored::i16, Stored::i64, Stored::f16, Stored::bf16};

/// What values in memory are handed over as: as they are.
InputElement as_is(Stored stored) {
  return static_cast<InputElement>(std::find(kStoredAs + 1, std::end(kStoredAs), stored) -
                                   kStoredAs);
}

/// Of values in memory; its shape is one row's part of `size` values.
Column memory_column(std::string_view name, std::size_t size, std::int64_t rows, Stored stored,
                     const void* begin) {
  const std::string object = named("input", name);
  if (rows < 1) refuse("the number of rows", "is " + std::to_string(rows), "give 1 or more");
  if (static_cast<std::int64_t>(size) % rows != 0 || size == 0) {
    refuse(
        object,
        "has " + std::to_string(size) + " values, which are no " + std::to_string(rows) + " rows",
        "give whole rows, row-major");
  }
  if (begin == nullptr)
    refuse(object, "was given a null pointer", "give the address of its values");
  const std::int64_t count = static_cast<std::int64_t>(size) / rows;
  Column column =
      data::make_column(std::string(name), object,
                        count == 1 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{count},
                        stored, {.to = as_is(stored)});
  column.begin = static_cast<const std::byte*>(begin);
  return column;
}

}  // namespace

namespace data {

const StoredForm& form_of(Stored stored) { return kForms[static_cast<int>(stored)]; }

const char* word_of(InputElement element) {
  return form_of(kStoredAs[static_cast<int>(element)]).word;
}

bool is_converted(InputElement element) {
  return element == InputElement::f32 || element == InputElement::i32;
}

Column make_column(std::string input, std::string source, std::vector<std::int64_t> shape,
                   Stored stored, const Conversion& convert) {
  const bool integer = form_of(stored).integer;
  const bool declared = convert.scale != 1.0f || convert.offset != 0.0f;
  const std::string object = named("input", input);
  Column column{.input = std::move(input),
                .source = std::move(source),
                .shape = std::move(shape),
                .stored = stored,
                .convert = convert};
  for (const std::int64_t extent : column.shape) column.count *= extent;
  column.row_bytes = column.count * form_of(stored).bytes;
  InputElement& to = column.convert.to;
  if (to == InputElement::by_source)
    to = integer && !declared ? InputElement::i32 : InputElement::f32;
  if (to == InputElement::f32) return column;
  const std::string word = word_of(to);
  if (to == InputElement::i32 && !integer) {
    refuse(object, "is to be " + word + ", but its source has " + form_of(stored).word,
           "let it be f32, or store whole numbers");
  }
  if (!is_converted(to) && kStoredAs[static_cast<int>(to)] != stored) {
    refuse(object, "is to be " + word + ", but its source has " + form_of(stored).word,
           "let it be f32 or i32, or store " + word);
  }
  if (declared) {
    refuse(object, "is " + word + " and has a scale or an offset",
           is_converted(to) ? "let it be f32" : "let it be f32, or declare them in the model");
  }
  return column;
}

Column make_array_column(std::string input, std::string source,
                         const std::vector<std::int64_t>& extents, Stored stored,
                         const Conversion& convert, std::int64_t& rows) {
  const std::string object = named("input", input);
  if (extents.empty()) refuse(object, "is a single number in " + source, "store it as [rows, ...]");
  if (std::ranges::count(extents, 0) > 0) refuse(object, "is empty in " + source, "give it rows");
  if (rows != -1 && extents[0] != rows) {
    refuse(object,
           "has " + std::to_string(extents[0]) + " rows in " + source + ", but inputs before it " +
               std::to_string(rows),
           "give all inputs as many rows");
  }
  rows = extents[0];
  return make_column(std::move(input), std::move(source), {extents.begin() + 1, extents.end()},
                     stored, convert);
}

std::string form_text(const Column& column) {
  std::string text = word_of(column.convert.to);
  for (const std::int64_t& extent : column.shape)
    text += (&extent == column.shape.data() ? "[" : ", ") + std::to_string(extent);
  return column.shape.empty() ? text : text + "]";
}

}  // namespace data

std::string Dataset::Table::form() const {
  std::string text;
  for (const Column& column : columns)
    text += named("input", column.input) + " " + data::form_text(column) + "; ";
  return text + std::to_string(rows) + " rows" + selection;
}

Dataset::Dataset(Table table) : table_(std::make_shared<const Table>(std::move(table))) {
  if (table_->columns.empty()) refuse("it", "has no input", "name at least one");
  for (const Column& column : table_->columns) {
    if (column.input.empty()) refuse("an input", "has no name", "call it as the model does");
    if (std::ranges::count(table_->columns, column.input, &Column::input) > 1)
      refuse(named("input", column.input), "is given twice", "give it once");
  }
}

Dataset Dataset::view(std::initializer_list<NamedValues> values, Size rows) {
  return view(std::span(values.begin(), values.size()), rows);
}

Dataset Dataset::view(std::span<const NamedValues> values, Size rows) {
  Table table{.columns = {}, .rows = rows};
  for (const NamedValues& each : values) {
    table.columns.push_back(std::visit(
        [&](const auto& span) {
          return memory_column(each.name, span.size(), rows, kStoredBy[each.values.index()],
                               span.data());
        },
        each.values));
  }
  return Dataset(std::move(table));
}

Dataset Dataset::own(std::vector<OwnedValues> values, Size rows) {
  const auto owner = std::make_shared<const std::vector<OwnedValues>>(std::move(values));
  std::vector<NamedValues> views;
  for (const OwnedValues& each : *owner) {
    std::visit([&](const auto& vector) { views.push_back({each.name, std::span(vector)}); },
               each.values);
  }
  Table table = view(views, rows).table();
  for (Column& column : table.columns) column.memory = owner;
  return Dataset(std::move(table));
}

Dataset Dataset::joined(const Dataset& other) const {
  if (!table_->selection.empty() || !other.table_->selection.empty())
    refuse("a part of a dataset", "cannot be joined", "join before slice() and split()");
  if (rows() != other.rows()) {
    refuse("datasets",
           "of " + std::to_string(rows()) + " and " + std::to_string(other.rows()) +
               " rows cannot be joined",
           "give both as many rows");
  }
  Table table = *table_;
  table.columns.insert(table.columns.end(), other.table_->columns.begin(),
                       other.table_->columns.end());
  return Dataset(std::move(table));
}

Dataset Dataset::slice(Size first, Size count) const {
  if (first < 0 || count < 1 || count > rows() || first > rows() - count) {
    refuse("a slice of " + std::to_string(count) + " rows from row " + std::to_string(first),
           "is not inside of " + std::to_string(rows()) + " rows",
           "give one row or more of those that there are");
  }
  Table table = *table_;
  table.first += first;
  table.rows = count;
  table.selection += ", from row " + std::to_string(first) + " of " + std::to_string(rows());
  return Dataset(std::move(table));
}

Dataset::Split Dataset::split(double held_out_share, std::uint64_t seed) const {
  const double held_out = std::floor(held_out_share * static_cast<double>(rows()) + 0.5);
  if (!(held_out >= 1.0 && held_out < static_cast<double>(rows()))) {
    refuse("a split",
           "that holds out a share of " + number_text(held_out_share) + " of " +
               std::to_string(rows()) + " rows leaves one part without rows",
           "give a share between 0 and 1 that is at least half a row");
  }
  const std::vector<bool> is_held_out =
      data::drawn_rows(rows(), static_cast<std::int64_t>(held_out), seed);
  const auto part = [&](bool of_held_out) {
    std::vector<std::int64_t> picked;
    for (std::int64_t i = 0; i < rows(); ++i)
      if (is_held_out[static_cast<std::size_t>(i)] == of_held_out)
        picked.push_back(table_->source_row(i));
    Table table = *table_;
    table.rows = static_cast<std::int64_t>(picked.size());
    table.first = 0;
    table.picked = std::make_shared<const std::vector<std::int64_t>>(std::move(picked));
    table.selection += std::string(of_held_out ? ", held out" : ", not held out") + " of " +
                       std::to_string(rows()) + " by seed " + std::to_string(seed);
    return Dataset(std::move(table));
  };
  return {.training = part(false), .held_out = part(true)};
}

std::int64_t Dataset::rows() const noexcept { return table_->rows; }

std::vector<std::string> Dataset::inputs() const {
  std::vector<std::string> names;
  for (const Column& column : table_->columns) names.push_back(column.input);
  return names;
}

std::vector<std::int64_t> Dataset::shape(std::string_view input) const {
  const auto found = std::ranges::find(table_->columns, input, &Column::input);
  if (found == table_->columns.end())
    refuse(named("input", input), "is unknown", "it has " + listed(inputs()));
  return found->shape;
}

}  // namespace halftone
