// SPDX-License-Identifier: Apache-2.0
// The rules of .npy files, each broken once, after numpy/lib/_format_impl.py; NumPy's own bytes.
#include "npy/header.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace halftone::npy;

namespace {

std::string file_of(const std::string& dictionary, std::size_t data_bytes, char major = 1) {
  std::string file = "\x93NUMPY";
  file += {major, '\0'};
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  for (std::size_t i = 0; i < length_bytes; ++i)
    file += static_cast<char>(dictionary.size() >> (8 * i) & 0xff);
  return file + dictionary + std::string(data_bytes, '\0');
}

/// What is wrong, or "sound".
std::string verdict(const std::string& file, Header* header = nullptr) {
  Header own;
  std::string why;
  return parse(std::as_bytes(std::span(file)), header ? *header : own, why) ? "sound" : why;
}

/// Of a dictionary with this type, order and shape.
std::string file_with(const std::string& type, const std::string& order, const std::string& shape,
                      std::size_t data_bytes) {
  return file_of("{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + "}",
                 data_bytes);
}

}  // namespace

TEST_CASE("the bytes that NumPy 2.3 wrote") {
  // numpy.save of numpy.zeros((2, 3), "float32"), numpy.zeros(5, "int32"), numpy.float32(0)
  const struct {
    Type type;
    std::vector<std::int64_t> shape;
    std::string dictionary;
    int spaces;
  } cases[] = {
      {Type::f4, {2, 3}, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 58},
      {Type::i4, {5}, "{'descr': '<i4', 'fortran_order': False, 'shape': (5,), }", 60},
      {Type::f4, {}, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 62},
      {Type::u1, {0, 7}, "{'descr': '|u1', 'fortran_order': False, 'shape': (0, 7), }", 58}};
  for (const auto& c : cases) {
    const std::string text = print(c.type, c.shape);
    CHECK(text ==
          file_of(c.dictionary + std::string(static_cast<std::size_t>(c.spaces), ' ') + "\n", 0));
    CHECK(text.size() == 128);
    Header header;
    std::uint64_t elements = 1;
    for (const std::int64_t extent : c.shape) elements *= static_cast<std::uint64_t>(extent);
    const auto bytes = static_cast<std::size_t>(form(c.type).bytes);
    CHECK(verdict(text + std::string(elements * bytes, '\0'), &header) == "sound");
    CHECK(header.type == c.type);
    CHECK(header.shape == c.shape);
    CHECK(header.elements == elements);
    CHECK(header.data_at == 128);
    CHECK_FALSE(header.fortran_order);
  }
}

TEST_CASE("sound headers of every version, type and spelling") {
  for (const char version : {'\1', '\2', '\3'}) {
    Header header;
    CHECK(verdict(file_of("{\"shape\":(3,2),'descr':'<f8','fortran_order':True}\n", 48, version),
                  &header) == "sound");
    CHECK(header.type == Type::f8);
    CHECK(header.fortran_order);
    CHECK(header.shape == std::vector<std::int64_t>{3, 2});
  }
  for (std::size_t i = 0; i < std::size(kTypes); ++i) {
    for (const char* order : {"<", "|", "="}) {
      Header header;
      const std::string type = "'" + (order + std::string(kTypes[i].word)) + "'";
      CAPTURE(type);
      CHECK(verdict(file_with(type, "False", "(3,)", 3 * static_cast<std::size_t>(kTypes[i].bytes)),
                    &header) == "sound");
      CHECK(header.type == static_cast<Type>(i));
    }
  }
  CHECK(verdict(file_with("'>u1'", "False", "(3L,)", 3)) == "sound");  // Python 2
  CHECK(verdict(file_with("'<f4'", "False", "( 1 , 2, )", 8)) == "sound");
  CHECK(verdict(file_with("'<f4'", "False", "(0, 9223372036854775807, 9)", 0)) == "sound");
}

TEST_CASE("every rule has its sentence") {
  const std::string sound = file_with("'<f4'", "False", "(2,)", 8);
  REQUIRE(verdict(sound) == "sound");
  std::string later = sound;
  later[6] = 4;
  std::string minor = sound;
  minor[7] = 1;
  const struct {
    std::string file, why;
  } faults[] = {
      {"", "does not begin as a .npy file does"},
      {"\x93NUMPX\1", "does not begin as a .npy file does"},
      {"PK\3\4 an archive", "does not begin as a .npy file does"},
      {later, "is of version 4.0 of the format; 1.0, 2.0 and 3.0 are known"},
      {minor, "is of version 1.1 of the format; 1.0, 2.0 and 3.0 are known"},
      {sound.substr(0, 7), "ends inside its header"},
      {sound.substr(0, 9), "ends inside its header"},
      {sound.substr(0, 40), "ends inside its header"},
      {file_of("", 0), "has a header that lacks '{' at byte 0"},
      {file_of("{}", 0),
       "has a header that lacks one of 'descr', 'fortran_order' and 'shape' at byte 2"},
      {file_of("{'descr': '<f4', 'shape': (2,)}", 8),
       "has a header that lacks one of 'descr', 'fortran_order' and 'shape' at byte 31"},
      {file_of("{'shape': (2,), 'shape': (2,)}", 8),
       "has a header that has 'shape' twice at byte 24"},
      {file_of("{'more': 1}", 8),
       "has a header that has 'more', which is none of descr, fortran_order, shape at byte 8"},
      {file_of("{descr: '<f4'}", 8), "has a header that lacks a string at byte 1"},
      {file_of("{'descr", 8), "has a header that has a string without an end at byte 1"},
      {file_of("{'de\\x73cr': '<f4'}", 8),
       "has a header that has a string without an end at byte 1"},
      {file_of("{'descr' '<f4'}", 8), "has a header that lacks ':' at byte 9"},
      {file_of("{'descr': '<f4' 'shape': (2,)}", 8), "has a header that lacks ',' at byte 16"},
      {file_with("'<f4'", "False", "(2,)}", 8),
       "has a header that goes on behind its end at byte "
       "55"},
      {file_with("'<f4'", "0", "(2,)", 8), "has a header that lacks True or False at byte 34"},
      {file_with("'<f4'", "False", "2", 8), "has a header that lacks '(' at byte 50"},
      {file_with("'<f4'", "False", "(2)", 8),
       "has a header that has a shape that is no tuple at "
       "byte 52"},
      {file_with("'<f4'", "False", "(1 2)", 8), "has a header that lacks ',' at byte 53"},
      {file_with("'<f4'", "False", "(,)", 8),
       "has a header that lacks a whole number from 0 to 2^63 - 1 at byte 51"},
      {file_with("'<f4'", "False", "(-2,)", 8),
       "has a header that lacks a whole number from 0 to 2^63 - 1 at byte 51"},
      {file_with("'<f4'", "False", "(02,)", 8),
       "has a header that lacks a whole number from 0 to 2^63 - 1 at byte 51"},
      {file_with("'<f4'", "False", "(9223372036854775808,)", 8),
       "has a header that lacks a whole number from 0 to 2^63 - 1 at byte 51"},
      {file_with("[('a', '<f4')]", "False", "(2,)", 8),
       "has a header that describes records, not numbers at byte 10"},
      {file_with("'<c8'", "False", "(1,)", 8),
       "has elements of type '<c8', which are none of bool, int8 to int64, uint8 to uint64 and "
       "float16 to float64"},
      {file_with("'|V2'", "False", "(4,)", 8),
       "has elements of type '|V2', which are none of bool, int8 to int64, uint8 to uint64 and "
       "float16 to float64"},
      {file_with("''", "False", "(2,)", 8),
       "has elements of type '', which are none of bool, int8 to int64, uint8 to uint64 and "
       "float16 to float64"},
      {file_with("'>f4'", "False", "(2,)", 8), "has elements in big-endian order, '>f4'"},
      {file_with("'<f4'", "False", "(2,)", 7),
       "has 7 bytes behind its header, but its array takes 8"},
      {file_with("'<f4'", "False", "(2,)", 12),
       "has 12 bytes behind its header, but its array takes 8"},
      {file_with("'<f4'", "False", "(4611686018427387904,)", 0),
       "has a shape of more than 2^64 bytes"},
      {file_with("'<u1'", "False", "(9223372036854775807, 9223372036854775807, 9)", 0),
       "has a shape of more than 2^64 bytes"},
  };
  for (const auto& fault : faults) {
    CAPTURE(fault.file);
    CHECK(verdict(fault.file) == fault.why);
  }
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1,";
  CHECK(verdict(file_with("'<f4'", "False", many + ")", 4)) ==
        "has a header that has more than 64 dimensions at byte 179");
}
