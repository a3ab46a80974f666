// SPDX-License-Identifier: Apache-2.0
#include "../files/mapped_file.hpp"
#include "../text.hpp"
#include "halftone/dataset.hpp"
#include "halftone/error.hpp"
#include "table.hpp"

namespace halftone {

Dataset Dataset::tokens(const std::filesystem::path& file, const TokenOptions& options) {
  const std::string object = named("file", file.string());
  const auto refuse = [&](std::string of, std::string cause, std::string hint) {
    throw Error({.operation = data::kOperation,
                 .object = std::move(of),
                 .cause = std::move(cause),
                 .hint = std::move(hint)});
  };
  const std::int64_t bytes = options.token_bytes, length = options.length;
  const std::int64_t stride = options.stride == 0 ? length : std::int64_t{options.stride};
  const auto require_positive = [&](const char* what, std::int64_t value) {
    if (value < 1) refuse(what, "is " + std::to_string(value), "give 1 token or more");
  };
  require_positive("the length of a window", length);
  require_positive("the stride", stride);
  if (bytes != 2 && bytes != 4)
    refuse("a token", "of " + std::to_string(bytes) + " bytes is none", "give 2 or 4");
  const auto mapped = MappedFile::open(system_file_calls(), data::kOperation, file);
  const auto size = static_cast<std::int64_t>(mapped->bytes().size());
  const std::int64_t header = options.header_bytes;
  if (header < 0 || header > size || (size - header) % bytes != 0) {
    refuse(object,
           "has " + std::to_string(size) + " bytes, which are no header of " +
               std::to_string(header) + " and tokens of " + std::to_string(bytes),
           "give the header's bytes and those of a token");
  }
  const std::int64_t tokens = (size - header) / bytes, behind = options.targets.empty() ? 0 : 1;
  if (tokens - behind < length) {
    refuse(object,
           "has " + std::to_string(tokens) + " tokens, which make no window of " +
               std::to_string(length) + (behind ? " and the targets behind it" : ""),
           "give a shorter length, or more tokens");
  }
  Table table{.columns = {}, .rows = (tokens - behind - length) / stride + 1};
  const auto add = [&](const std::string& input, std::int64_t first) {
    data::Column column =
        data::make_column(input, object, {length},
                          bytes == 2 ? data::Stored::u16 : data::Stored::u32, options.convert);
    column.begin = mapped->bytes().data() + header + first * bytes;
    column.row_bytes = stride * bytes;
    column.memory = mapped;
    table.columns.push_back(std::move(column));
  };
  add(options.input, 0);
  if (behind) add(options.targets, 1);
  return Dataset(std::move(table));
}

}  // namespace halftone
