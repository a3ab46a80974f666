// SPDX-License-Identifier: Apache-2.0
#include "halftone/npy.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "../files/replace_file.hpp"
#include "../floating_point.hpp"
#include "../formats.hpp"
#include "../text.hpp"
#include "header.hpp"

namespace halftone {
namespace {

using npy::Type;

[[noreturn]] void refuse(const char* operation, const std::filesystem::path& file,
                         std::string cause, std::string hint) {
  throw Error({.operation = operation,
               .object = named("file", file.string()),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

template <class Value>
void save(const std::filesystem::path& file, Type type, std::span<const Value> values,
          std::span<const std::int64_t> shape) {
  constexpr std::size_t kMostDimensions = 64;
  bool fits = shape.size() <= kMostDimensions;
  unsigned __int128 count = 1;
  std::vector<std::string> extents;
  for (const std::int64_t extent : shape) {
    extents.push_back(std::to_string(extent));
    fits = fits && extent >= 0;
    // What exceeds the values may stay there, unless a later extent is 0.
    if (fits && (count <= values.size() || extent == 0))
      count *= static_cast<std::uint64_t>(extent);
  }
  if (!fits || count != values.size())
    refuse("save_npy", file,
           "was given " + std::to_string(values.size()) + " values for the shape (" +
               joined(extents, ", ") + ")",
           "give at most 64 extents whose product is the number of values");
  const std::string header = npy::print(type, shape);
  const std::span<const std::byte> bytes = std::as_bytes(values);
  const std::array<std::string_view, 2> parts = {
      header, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
  replace_file(system_file_calls(), "save_npy", file, parts, 0);
}

/// Reads elements one after another, as they lie.
class Reader {
 public:
  Reader(const std::filesystem::path& file, std::span<const std::byte> elements,
         const npy::Header& header)
      : file_(file), elements_(elements), header_(header) {}

  [[nodiscard]] std::vector<float> floats() const {
    switch (header_.type) {
      case Type::f2:
        return all<float, std::uint16_t>([](std::uint16_t code, float& value) {
          value = element_of(reinterpret_cast<const std::byte*>(&code), encoding::Element::f16, 0);
          return true;
        });
      case Type::f8:
        return all<float, double>([](double given, float& value) {
          value = static_cast<float>(given);
          return std::isnan(given) || static_cast<double>(value) == given;
        });
      default:
        return all<float, float>([](float given, float& value) {
          value = given;
          return true;
        });
    }
  }

  [[nodiscard]] std::vector<std::int32_t> integers() const {
    switch (header_.type) {
      case Type::i1:
        return integers_of<std::int8_t>();
      case Type::i2:
        return integers_of<std::int16_t>();
      case Type::u2:
        return integers_of<std::uint16_t>();
      case Type::i4:
        return integers_of<std::int32_t>();
      case Type::u4:
        return integers_of<std::uint32_t>();
      case Type::i8:
        return integers_of<std::int64_t>();
      case Type::u8:
        return integers_of<std::uint64_t>();
      default:
        return integers_of<std::uint8_t>();  // also bool
    }
  }

 private:
  template <class Stored>
  [[nodiscard]] std::vector<std::int32_t> integers_of() const {
    return all<std::int32_t, Stored>([](Stored given, std::int32_t& value) {
      value = static_cast<std::int32_t>(given);
      return std::in_range<std::int32_t>(given);
    });
  }

  /// convert(given, value) is false where there is no such value.
  template <class Value, class Stored, class Convert>
  [[nodiscard]] std::vector<Value> all(Convert convert) const {
    std::vector<Value> values(elements_.size() / sizeof(Stored));
    for (std::size_t i = 0; i < values.size(); ++i) {
      Stored given{};
      std::memcpy(&given, elements_.data() + i * sizeof given, sizeof given);
      if (!convert(given, values[i])) refuse_element(i, text_of(given));
    }
    return values;
  }

  static std::string text_of(std::floating_point auto value) { return number_text(value); }
  static std::string text_of(std::integral auto value) { return std::to_string(value); }

  [[noreturn]] void refuse_element(std::size_t index, const std::string& text) const {
    const bool is_float = header_.type == Type::f8;
    refuse("load_npy", file_,
           "has " + text + " at element " + std::to_string(index) + ", which no " +
               (is_float ? "f32" : "i32") + " is",
           std::string("save the array as ") + (is_float ? "float32" : "int32 where it fits"));
  }

  const std::filesystem::path& file_;
  std::span<const std::byte> elements_;
  const npy::Header& header_;
};

/// From an order in which the first dimension runs fastest to the one in which the last one does.
template <class Value>
std::vector<Value> turned(const std::vector<Value>& values,
                          const std::vector<std::int64_t>& shape) {
  std::vector<std::size_t> strides, index(shape.size());
  std::size_t stride = 1;
  for (const std::int64_t extent : shape) {
    strides.push_back(stride);
    stride *= static_cast<std::size_t>(extent);
  }
  std::vector<Value> result(values.size());
  std::size_t from = 0;
  for (Value& value : result) {
    value = values[from];
    for (std::size_t d = shape.size(); d-- > 0;) {
      from += strides[d];
      if (++index[d] < static_cast<std::size_t>(shape[d])) break;
      from -= strides[d] * index[d];
      index[d] = 0;
    }
  }
  return result;
}

template <class Value>
std::span<const Value> held(const NpyArray& array, const char* operation, const char* has,
                            const char* ask) {
  if (const auto* values = std::get_if<std::vector<Value>>(&array.values)) return *values;
  throw Error({.operation = operation, .object = "the array", .cause = has, .hint = ask});
}

}  // namespace

std::span<const float> NpyArray::floats() const {
  return held<float>(*this, "floats", "holds integers", "ask for integers()");
}

std::span<const std::int32_t> NpyArray::integers() const {
  return held<std::int32_t>(*this, "integers", "holds floats", "ask for floats()");
}

void save_npy(const std::filesystem::path& file, std::span<const float> values,
              std::span<const std::int64_t> shape) {
  save(file, Type::f4, values, shape);
}

void save_npy(const std::filesystem::path& file, std::span<const std::int32_t> values,
              std::span<const std::int64_t> shape) {
  save(file, Type::i4, values, shape);
}

NpyArray load_npy(const std::filesystem::path& file) {
  const StandardFloatingPoint mode;
  const std::vector<std::byte> bytes = read_file(system_file_calls(), "load_npy", file);
  npy::Header header;
  std::string why;
  if (!npy::parse(bytes, header, why))
    refuse("load_npy", file, why, "give an array of numbers that numpy.save wrote");
  const Reader reader(file, std::span(bytes).subspan(header.data_at), header);
  NpyArray array{.shape = header.shape, .values = {}};
  if (npy::form(header.type).word.starts_with('f')) {
    array.values = reader.floats();
  } else {
    array.values = reader.integers();
  }
  if (header.fortran_order && header.elements > 0)
    std::visit([&](auto& values) { values = turned(values, header.shape); }, array.values);
  return array;
}

}  // namespace halftone
