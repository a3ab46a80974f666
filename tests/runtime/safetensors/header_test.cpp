// SPDX-License-Identifier: Apache-2.0
// The rules of the format, each broken once, after the tests of safetensors/src/tensor.rs and
// RFC 8259.
#include "safetensors/header.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace halftone::safetensors;

namespace {

std::string with_length(const std::string& json, std::uint64_t length) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(length >> (8 * i) & 0xff);
  return file + json;
}
std::string file_of(const std::string& json, std::size_t data_bytes = 0) {
  return with_length(json, json.size()) + std::string(data_bytes, '\0');
}

/// What is wrong, or "sound".
std::string verdict(const std::string& file, Header* header = nullptr) {
  Header own;
  std::uint64_t at = 0;
  std::string why;
  const bool sound = parse(std::as_bytes(std::span(file)), header ? *header : own, at, why);
  return sound ? "sound" : why;
}

const std::string kTensor = R"("t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";

}  // namespace

TEST_CASE("sound headers") {
  Header header;
  CHECK(verdict(file_of("{}")) == "sound");
  CHECK(verdict(file_of("{}   \n\t\r ")) == "sound");
  CHECK(verdict(file_of("{" + kTensor + "}", 8), &header) == "sound");
  REQUIRE(header.tensors.size() == 1);
  CHECK(header.tensors[0].name == "t");
  CHECK(header.tensors[0].type == "F32");
  CHECK(header.tensors[0].shape == std::vector<std::int64_t>{2});
  CHECK(header.tensors[0].end == 8);
  // In any order, with space anywhere, and tensors without elements.
  CHECK(verdict(file_of(R"( {"b":{"shape":[],"data_offsets":[4,12],"dtype":"I64"}, )"
                        R"("__metadata__": {"k" : "v"},)"
                        "\n\t"
                        R"("a":{"dtype":"F16","data_offsets":[0,4],"shape":[1,2]},)"
                        R"("e":{"dtype":"U8","data_offsets":[4,4],"shape":[3,0,5]}})",
                        12),
                &header)
            .starts_with("has a header that does not begin with '{'"));
  CHECK(verdict(file_of(R"({"b":{"shape":[],"data_offsets":[4,12],"dtype":"I64"}, )"
                        R"("__metadata__": {"k" : "v"},)"
                        "\n\t"
                        R"("a":{"dtype":"F16","data_offsets":[0,4],"shape":[1,2]},)"
                        R"("e":{"dtype":"U8","data_offsets":[4,4],"shape":[3,0,5]}})",
                        12),
                &header) == "sound");
  REQUIRE(header.tensors.size() == 3);
  CHECK(header.tensors[0].name == "a");
  CHECK(header.tensors[1].name == "e");
  CHECK(header.tensors[2].name == "b");
  CHECK(header.metadata == Metadata{{"k", "v"}});
  // Two elements of 4 bits fill a byte.
  CHECK(verdict(file_of(R"({"t":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}})", 1)) == "sound");
}

TEST_CASE("text: escapes and UTF-8") {
  const auto name = [](const std::string& text) {
    Header header;
    const std::string found =
        verdict(file_of("{\"__metadata__\":{\"k\":\"" + text + "\"}}"), &header);
    return found == "sound" ? header.metadata.at(0).second : found;
  };
  CHECK(name(R"(a\"\\\/\b\f\n\r\tz)") == "a\"\\/\b\f\n\r\tz");
  CHECK(name(R"(\u0041\u00e9\u20ac\ud83d\ude00)") == "A\u00e9\u20ac\U0001F600");
  CHECK(name("\u00e9\u20ac\U0001F600") == "\u00e9\u20ac\U0001F600");
  for (const char* bad : {"\xff", "\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82"}) {
    CAPTURE(bad);
    CHECK(name(bad).find("is not UTF-8") != std::string::npos);
  }
  CHECK(name(R"(\x)").find("has an escape that JSON does not know") != std::string::npos);
  CHECK(name(R"(\u12g4)").find("four hexadecimal digits") != std::string::npos);
  CHECK(name(R"(\u-123)").find("four hexadecimal digits") != std::string::npos);
  for (const char* bad : {R"(\ud800)", R"(\udc00)", R"(\ud800\ud800)", R"(\ud800x)"})
    CHECK(name(bad).find("half of a surrogate pair") != std::string::npos);
  CHECK(name("a\nb").find("has a control character") != std::string::npos);
  CHECK(verdict(file_of("{\"a")).find("lacks '\"'") != std::string::npos);
}

TEST_CASE("every rule of the format has its sentence") {
  const auto tensor = [](const char* rest, std::size_t bytes) {
    return file_of("{\"t\":{" + std::string(rest) + "}}", bytes);
  };
  const struct {
    std::string file, why;
  } faults[] = {
      {"", "is shorter than the 8 bytes of a length"},
      {"1234567", "is shorter than the 8 bytes of a length"},
      {with_length("{}", 3), "ends inside its header of 3 bytes"},
      {with_length("{}", 100'000'001),
       "says that its header has 100000001 bytes; at most 100000000 are allowed"},
      {with_length("{}", ~std::uint64_t{0}),
       "says that its header has 18446744073709551615 bytes; at most 100000000 are allowed"},
      {with_length("", 0), "has a header that does not begin with '{'"},
      {file_of(" {}"), "has a header that does not begin with '{'"},
      {file_of("[]"), "has a header that does not begin with '{'"},
      {file_of("{"), "has a header that lacks '\"' at byte 1"},
      {file_of("{}}"), "has a header that goes on behind its end at byte 2"},
      {file_of("{\"t\"}"), "has a header that lacks ':' at byte 4"},
      {file_of("{" + kTensor + ",}", 8), "has a header that lacks '\"' at byte 54"},
      {file_of("{" + kTensor + "," + kTensor + "}", 8),
       "has a header that has 't' twice at byte 58"},
      {file_of(R"({"__metadata__":{},"__metadata__":{}})"),
       "has a header that has '__metadata__' twice at byte 34"},
      {file_of(R"({"__metadata__":{"k":"1","k":"2"}})"),
       "has a header that has 'k' twice at byte 29"},
      {file_of(R"({"__metadata__":{"k":1}})"), "has a header that lacks '\"' at byte 21"},
      {tensor(R"("dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8])", 8),
       "has a header that has 'dtype' twice at byte 28"},
      {tensor(R"("dtype":"F32","shape":[2])", 8),
       "has a header that has a tensor without dtype, shape or data_offsets at byte 32"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1)", 8),
       "has a header that has 'more', which is none of dtype, shape, data_offsets at byte 60"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])", 8),
       "has a header that has data_offsets that are not two numbers at byte 54"},
      {tensor(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])", 8),
       "has a header that lacks a whole number below 2^64 at byte 29"},
      {tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])", 8),
       "has a header that lacks a whole number below 2^64 at byte 29"},
      {tensor(R"("dtype":"F32","shape":[02],"data_offsets":[0,8])", 8),
       "has a header that lacks a whole number below 2^64 at byte 29"},
      {tensor(R"("dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,8])", 8),
       "has a header that lacks a whole number below 2^64 at byte 29"},
      {tensor(R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8])", 8),
       "has a header that has an extent past 2^63 - 1 at byte 48"},
      {tensor(R"("dtype":"F31","shape":[2],"data_offsets":[0,8])", 8),
       "has a tensor 't' of the unknown type 'F31'"},
      {tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])", 8),
       "has a tensor 't' whose shape and type do not make the bytes that it takes"},
      {tensor(R"("dtype":"F4","shape":[1],"data_offsets":[0,1])", 1),
       "has a tensor 't' whose shape and type do not make the bytes that it takes"},
      {tensor(R"("dtype":"F32","shape":[4611686018427387905,4],"data_offsets":[0,16])", 16),
       "has a tensor 't' whose shape and type do not make the bytes that it takes"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])", 8),
       "has a tensor 't' that does not begin where the one before it ends"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[4,12])", 12),
       "has a tensor 't' that does not begin where the one before it ends"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])", 7),
       "has 7 bytes behind its header, but its tensors take 8"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])", 9),
       "has 9 bytes behind its header, but its tensors take 8"},
      {file_of("{" + kTensor + R"(,"u":{"dtype":"U8","shape":[2],"data_offsets":[7,9]}})", 9),
       "has a tensor 'u' that does not begin where the one before it ends"},
      {file_of("{}", 1), "has 1 bytes behind its header, but its tensors take 0"},
  };
  for (const auto& fault : faults) {
    CAPTURE(fault.file);
    CHECK(verdict(fault.file) == fault.why);
  }
}

TEST_CASE("what is printed reads back") {
  Header header;
  header.metadata = {{"quote\"\\", "line\nend\x01"}, {"\u20ac", ""}};
  header.tensors = {{"a.weight", "F32", {2, 3}, 0, 24}, {"scalar", "I64", {}, 24, 32}};
  for (int i = 0; i < 9; ++i) {
    header.metadata[1].second += 'x';  // every padding
    const std::string text = print(header);
    CHECK(text.size() % 8 == 0);
    Header back;
    CHECK(verdict(text + std::string(32, '\0'), &back) == "sound");
    CHECK(back.metadata == header.metadata);
    REQUIRE(back.tensors.size() == 2);
    CHECK(back.tensors[0].shape == header.tensors[0].shape);
    CHECK(back.tensors[1].name == "scalar");
    CHECK(back.tensors[1].begin == 24);
  }
}
