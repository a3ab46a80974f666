// SPDX-License-Identifier: Apache-2.0
#include "../files/mapped_file.hpp"
#include "../npy/header.hpp"
#include "../text.hpp"
#include "halftone/dataset.hpp"
#include "halftone/error.hpp"
#include "table.hpp"

namespace halftone {
namespace {

data::Stored stored_as(npy::Type type) {
  using data::Stored, npy::Type;
  switch (type) {
    case Type::b1:
    case Type::u1:
      return Stored::u8;
    case Type::i1:
      return Stored::i8;
    case Type::u2:
      return Stored::u16;
    case Type::i2:
      return Stored::i16;
    case Type::u4:
      return Stored::u32;
    case Type::i4:
      return Stored::i32;
    case Type::u8:
      return Stored::u64;
    case Type::i8:
      return Stored::i64;
    case Type::f2:
      return Stored::f16;
    case Type::f4:
      return Stored::f32;
    case Type::f8:
      break;
  }
  return Stored::f64;
}

}  // namespace

Dataset Dataset::npy(std::vector<NpyInput> inputs) {
  Table table{.columns = {}, .rows = -1};
  for (NpyInput& each : inputs) {
    const std::string object = named("file", each.file.string());
    const auto refuse = [&](std::string cause, std::string hint) {
      throw Error({.operation = data::kOperation,
                   .object = object,
                   .cause = std::move(cause),
                   .hint = std::move(hint)});
    };
    const auto mapped = MappedFile::open(system_file_calls(), data::kOperation, each.file);
    npy::Header header;
    std::string why;
    if (!npy::parse(mapped->bytes(), header, why)) refuse(why, "save it with numpy.save");
    if (header.fortran_order && header.shape.size() > 1)
      refuse("has its rows across memory (fortran_order)", "save numpy.ascontiguousarray of it");
    data::Column column = data::make_array_column(std::move(each.input), object, header.shape,
                                                  stored_as(header.type), each.convert, table.rows);
    column.begin = mapped->bytes().data() + header.data_at;
    column.memory = mapped;
    table.columns.push_back(std::move(column));
  }
  return Dataset(std::move(table));
}

}  // namespace halftone
