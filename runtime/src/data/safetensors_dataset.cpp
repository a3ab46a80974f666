// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "../files/mapped_file.hpp"
#include "../safetensors/header.hpp"
#include "../text.hpp"
#include "halftone/dataset.hpp"
#include "halftone/error.hpp"
#include "table.hpp"

namespace halftone {
namespace {

using data::Stored;

constexpr std::pair<std::string_view, Stored> kStored[] = {
    {"BOOL", Stored::u8}, {"U8", Stored::u8},   {"I8", Stored::i8},     {"U16", Stored::u16},
    {"I16", Stored::i16}, {"U32", Stored::u32}, {"I32", Stored::i32},   {"U64", Stored::u64},
    {"I64", Stored::i64}, {"F16", Stored::f16}, {"BF16", Stored::bf16}, {"F32", Stored::f32},
    {"F64", Stored::f64}};

}  // namespace

Dataset Dataset::safetensors(const std::filesystem::path& file, std::vector<TensorInput> inputs) {
  const std::string object = named("file", file.string());
  const auto refuse = [&](std::string cause, std::string hint) {
    throw Error({.operation = data::kOperation,
                 .object = object,
                 .cause = std::move(cause),
                 .hint = std::move(hint)});
  };
  const auto mapped = MappedFile::open(system_file_calls(), data::kOperation, file);
  halftone::safetensors::Header header;
  std::uint64_t tensors_at = 0;
  std::string why;
  if (!halftone::safetensors::parse(mapped->bytes(), header, tensors_at, why))
    refuse(why, "give a safetensors file");
  Table table{.columns = {}, .rows = -1};
  for (TensorInput& each : inputs) {
    const std::string name = each.tensor.empty() ? each.input : each.tensor;
    const auto tensor =
        std::ranges::find(header.tensors, name, &halftone::safetensors::Tensor::name);
    if (tensor == header.tensors.end()) {
      std::vector<std::string_view> names;
      for (const auto& have : header.tensors) names.push_back(have.name);
      names.resize(std::min<std::size_t>(names.size(), 20));
      refuse("has no tensor '" + name + "'", "it has " + listed(names));
    }
    const auto* const stored =
        std::ranges::find(kStored, tensor->type, &std::pair<std::string_view, Stored>::first);
    if (stored == std::end(kStored))
      refuse("has '" + name + "' as " + tensor->type + ", which no input is made of",
             "store integers, F16, BF16, F32 or F64");
    data::Column column =
        data::make_array_column(std::move(each.input), "tensor '" + name + "' of " + object,
                                tensor->shape, stored->second, each.convert, table.rows);
    column.begin = mapped->bytes().data() + tensors_at + tensor->begin;
    column.memory = mapped;
    table.columns.push_back(std::move(column));
  }
  return Dataset(std::move(table));
}

}  // namespace halftone
