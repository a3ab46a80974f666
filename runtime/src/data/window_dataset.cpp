// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "../text.hpp"
#include "halftone/dataset.hpp"
#include "halftone/error.hpp"
#include "table.hpp"

namespace halftone {
namespace {

[[noreturn]] void refuse(std::string object, std::string cause, std::string hint) {
  throw Error({.operation = data::kOperation,
               .object = std::move(object),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

void require_positive(const char* what, std::int64_t value) {
  if (value < 1) refuse(what, "is " + std::to_string(value), "give 1 value or more");
}

}  // namespace

Dataset Dataset::windows(const WindowOptions& options) const {
  const std::vector<data::Column>& columns = table().columns;
  const auto series = std::ranges::find(columns, options.series, &data::Column::input);
  if (series == columns.end()) {
    refuse(named("series", options.series), "is unknown",
           "the dataset's inputs are " + listed(inputs()));
  }
  const std::string object = named("series", options.series);
  if (table().picked) {
    refuse(object, "has rows that a split picked, which do not follow each other",
           "make windows first, and split those");
  }
  const std::int64_t length = options.length, stride = options.stride;
  const std::int64_t ahead = options.targets.empty() ? 0 : std::int64_t{options.ahead};
  require_positive("the length of a window", length);
  require_positive("the stride", stride);
  if (!options.targets.empty()) require_positive("the number of values ahead", ahead);
  if (rows() - ahead < length) {
    refuse(object,
           "has " + std::to_string(rows()) + " rows, which make no window of " +
               std::to_string(length) +
               (ahead > 0 ? " and the " + std::to_string(ahead) + " behind it" : ""),
           "give a shorter length, or more rows");
  }
  Table windows{.columns = {}, .rows = (rows() - ahead - length) / stride + 1};
  const auto add = [&](const std::string& input, std::int64_t first, std::int64_t values) {
    data::Column column = *series;
    column.input = input;
    column.shape.insert(column.shape.begin(), values);
    column.count *= values;
    column.begin += (table().first + first) * series->row_bytes;
    column.row_bytes = stride * series->row_bytes;
    windows.columns.push_back(std::move(column));
  };
  if (series->row_bytes != series->count * data::form_of(series->stored).bytes)
    refuse(object, "is made of windows itself", "give the dataset that they were made of");
  add(options.input, 0, length);
  if (ahead > 0) add(options.targets, length, ahead);
  return Dataset(std::move(windows));
}

}  // namespace halftone
