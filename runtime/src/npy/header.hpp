// SPDX-License-Identifier: Apache-2.0
// Headers of NumPy's .npy files, versions 1.0 to 3.0: 6 bytes of magic, 2 of version, a length,
// little-endian, that much of a Python dictionary, then the elements. The format and its rules:
// NumPy, numpy/lib/_format_impl.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::npy {

/// As NumPy spells them; b1 is bool. Elements are little-endian.
enum class Type : std::uint8_t { b1, i1, u1, i2, u2, i4, u4, i8, u8, f2, f4, f8 };

struct TypeForm {
  std::string_view word;  ///< in a file, behind the order of bytes
  std::string_view name;  ///< in NumPy
  int bytes;
};

/// In the order of Type.
inline constexpr TypeForm kTypes[] = {
    {"b1", "bool", 1},   {"i1", "int8", 1},    {"u1", "uint8", 1},   {"i2", "int16", 2},
    {"u2", "uint16", 2}, {"i4", "int32", 4},   {"u4", "uint32", 4},  {"i8", "int64", 8},
    {"u8", "uint64", 8}, {"f2", "float16", 2}, {"f4", "float32", 4}, {"f8", "float64", 8}};

[[nodiscard]] constexpr const TypeForm& form(Type type) { return kTypes[static_cast<int>(type)]; }

struct Header {
  Type type = Type::f4;
  std::vector<std::int64_t> shape;  ///< empty is a scalar
  bool fortran_order = false;       ///< the first dimension runs fastest, not the last one
  std::uint64_t elements = 1;
  std::uint64_t data_at = 0;  ///< in the file; a multiple of 64 where NumPy or print() wrote it
};

/// A whole file's header; of what lies behind that it looks at the number of bytes alone. False
/// where a rule of the format is broken, or elements are of another type than those above: `why`
/// says which, as the rest of a sentence that the file begins.
[[nodiscard]] bool parse(std::span<const std::byte> file, Header& header, std::string& why);

/// What a file begins with, row-major, to the byte as NumPy 2 writes it. At most 64 dimensions.
[[nodiscard]] std::string print(Type type, std::span<const std::int64_t> shape);

}  // namespace halftone::npy
