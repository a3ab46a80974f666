// SPDX-License-Identifier: Apache-2.0
#include "ranges_command.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "files/file_calls.hpp"
#include "files/mapped_file.hpp"
#include "formats.hpp"
#include "safetensors/header.hpp"
#include "text.hpp"

namespace halftone::tools {
namespace {

using encoding::Element;

/// How a tensor's numbers are read; null for a type that no parameter has.
using Reader = double (*)(const std::byte* bytes, std::int64_t index);

template <Element element>
double read(const std::byte* bytes, std::int64_t index) {
  return element_of(bytes, element, index);
}

double read_double(const std::byte* bytes, std::int64_t index) {
  double value = 0;
  std::memcpy(&value, bytes + index * static_cast<std::int64_t>(sizeof value), sizeof value);
  return value;
}

Reader reader_of(std::string_view type) {
  constexpr std::pair<std::string_view, Reader> kReaders[] = {{"F32", read<Element::f32>},
                                                              {"F16", read<Element::f16>},
                                                              {"BF16", read<Element::bf16>},
                                                              {"F64", read_double}};
  const auto* const found =
      std::ranges::find(kReaders, type, &std::pair<std::string_view, Reader>::first);
  return found == std::end(kReaders) ? nullptr : found->second;
}

/// More than the roundings of all additions of doubles here.
double above(double sum) { return sum * (1 + 0x1p-20); }

struct Sums {
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  double of_last = 0, behind_first = 0, before_last = 0;

  Sums(const std::string& file, const safetensors::Tensor& tensor, std::span<const std::byte> bytes,
       Reader read) {
    std::int64_t count = 1;
    for (const std::int64_t extent : tensor.shape) count *= extent;
    const std::int64_t columns = tensor.shape.empty() ? 1 : tensor.shape.back();
    const std::int64_t behind = tensor.shape.empty() ? 1 : count / tensor.shape.front();
    std::vector<double> of_column(static_cast<std::size_t>(columns));
    double of_row = 0, of_first = 0;
    for (std::int64_t e = 0; e < count; ++e) {
      const double value = read(bytes.data(), e), size = std::fabs(value);
      if (!std::isfinite(value)) {
        throw std::runtime_error("'" + file + "' has numbers in tensor '" + tensor.name +
                                 "' that are not finite; train from sounder weights");
      }
      least = std::min(least, value);
      largest = std::max(largest, value);
      of_row = e % columns == 0 ? size : of_row + size;
      of_first = e % behind == 0 ? size : of_first + size;
      of_last = std::max(of_last, of_row);
      behind_first = std::max(behind_first, of_first);
      double& sum = of_column[static_cast<std::size_t>(e % columns)];
      before_last = std::max(before_last, sum += size);
    }
  }
};

std::string spelled(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, std::end(digits), value).ptr};
}

bool is_empty(const safetensors::Tensor& tensor) {
  return std::ranges::find(tensor.shape, 0) != tensor.shape.end();
}

/// Letters, digits, `_`, `.`, `/` and `-`: of other names a file of ranges has no line.
bool is_name_of_parameter(const std::string& name) {
  const auto is_of_names = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./-").find(c) != std::string_view::npos;
  };
  return !name.empty() && std::ranges::all_of(name, is_of_names);
}

}  // namespace

std::string ranges_of(const std::string& file) {
  const auto mapped = MappedFile::open(system_file_calls(), "reading ranges of a file", file);
  safetensors::Header header;
  std::uint64_t tensors_at = 0;
  std::string why;
  if (!safetensors::parse(mapped->bytes(), header, tensors_at, why)) {
    throw std::runtime_error("'" + file + "' " + why);
  }
  std::string text;
  for (const safetensors::Tensor& tensor : header.tensors) {
    const Reader read = reader_of(tensor.type);
    if (read == nullptr || tensor.name.starts_with("halftone/") || is_empty(tensor)) continue;
    if (!is_name_of_parameter(tensor.name)) {
      text += "# left out: tensor " + shown(tensor.name) + ", as which no parameter is named\n";
      continue;
    }
    const Sums sums(file, tensor, mapped->bytes().subspan(tensors_at + tensor.begin), read);
    text += tensor.name;
    for (const double number : {sums.least, sums.largest, above(sums.of_last),
                                above(sums.behind_first), above(sums.before_last)}) {
      text += " " + spelled(number);
    }
    text += "\n";
  }
  if (text.empty()) {
    throw std::runtime_error("'" + file +
                             "' has no tensor of floats; name a file of weights or a checkpoint");
  }
  return text;
}

}  // namespace halftone::tools
