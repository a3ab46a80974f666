// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "data/csv_reader.hpp"
#include "data/csv_values.hpp"
#include "files/scratch_folder.hpp"
#include "halftone/dataset.hpp"
#include "message_of.hpp"
#include "read_rows.hpp"

using namespace halftone;
using namespace halftone::tests;

namespace {

const ScratchFolder& folder() {
  static const ScratchFolder folder;
  return folder;
}

Dataset csv(const std::string& text, std::vector<CsvInput> inputs, const CsvOptions& options = {}) {
  write_file(folder() / "x.csv", text);
  return Dataset::csv(folder() / "x.csv", std::move(inputs), options);
}

/// The sentence, with F for the file.
std::string fault_of(const std::string& text, std::vector<CsvInput> inputs,
                     const CsvOptions& options = {}) {
  std::string message = message_of([&] { (void)csv(text, std::move(inputs), options); });
  const std::string path = folder() / "x.csv";
  for (std::size_t at = message.find(path); at != message.npos; at = message.find(path))
    message.replace(at, path.size(), "F");
  return message;
}

const CsvInput kX{.input = "x", .columns = {"a", "b"}};
constexpr Conversion kI32{.to = InputElement::i32};

}  // namespace

TEST_CASE("columns by name and by number make inputs, and classes numbers") {
  const std::string text = "a,b,kind,count\n1,2.5,dog,7\n-3e2, +4 ,\"a \"\"cat\"\"\",-8\n";
  const Dataset data =
      csv(text, {{.input = "x", .columns = {"b", "a"}},
                 {.input = "kind", .columns = {"kind"}, .classes = {"a \"cat\"", "dog"}},
                 {.input = "count", .columns = {3}, .convert = kI32},
                 {.input = "both", .columns = {{0, 1}}, .convert = {.scale = 2.0f}},
                 {.input = "named", .columns = {{"a", "b"}, "count"}}});
  CHECK(data.rows() == 2);
  CHECK(data.shape("x") == std::vector<std::int64_t>{2});
  CHECK(data.shape("kind").empty());
  CHECK(floats_of(data, "x") == std::vector<float>{2.5f, 1, 4, -300});
  CHECK(integers_of(data, "kind") == std::vector<std::int32_t>{1, 0});
  CHECK(integers_of(data, "count") == std::vector<std::int32_t>{7, -8});
  CHECK(floats_of(data, "both") == std::vector<float>{2, 5, -600, 8});
  CHECK(floats_of(data, "named") == std::vector<float>{1, 2.5f, 7, -300, 4, -8});
}

TEST_CASE("lines end in LF, CR LF or CR, and the last one need not") {
  for (const char* end : {"\n", "\r\n", "\r"}) {
    for (const int behind : {0, 1, 3}) {
      std::string text = std::string("\xef\xbb\xbf") + "a,b" + end + "1,2" + end + "3,\"4\"";
      for (int i = 0; i < behind; ++i) text += end;
      CHECK(floats_of(csv(text, {kX}), "x") == std::vector<float>{1, 2, 3, 4});
    }
  }
  CHECK(floats_of(
            csv("1;2\n3;4", {{.input = "x", .columns = {1}}}, {.header = false, .separator = ';'}),
            "x") == std::vector<float>{2, 4});
}

TEST_CASE("what is wrong with a CSV file is one sentence with line and column") {
  const std::string mend =
      "; mend the line; a field with quotes, separators or line ends stands in quotes, and quotes "
      "in it are doubled";
  const struct {
    const char* text;
    std::string message;
  } kFaults[] = {
      {"a,b\n1,\n", "has no value in line 2, column 'b'; give a value, or leave the line out"},
      {"a,b\n1,2\n1, \t\n",
       "has no value in line 3, column 'b'; give a value, or leave the line out"},
      {"a,b\nnan,2\n", "has no value in line 2, column 'a'; give a value, or leave the line out"},
      {"a,b\r\n\"1\r\n\",2\r\nx,1\r\n",
       "has '1\r\n' in line 2, column 'a', which is no number; mend it, or leave the line out"},
      {"a,b\r\n\"1\",2\r\n3,1x\r\n",
       "has '1x' in line 3, column 'b', which is no number; mend it, or leave the line out"},
      {"a,b\n1,1e39\n",
       "has '1e39' in line 2, column 'b', which is out of the range of f32; mend it, or leave the "
       "line out"},
      {"a,b\n1,-inf\n",
       "has '-inf' in line 2, column 'b', which is out of the range of f32; mend it, or leave the "
       "line out"},
      {"a,b\n1,+-2\n",
       "has '+-2' in line 2, column 'b', which is no number; mend it, or leave the line out"},
      {"a,b\n1,2\n1,2,3\n",
       "has 3 fields in line 3, but its first line 2; give every line as many"},
      {"a,b\n1,2\n\n3,4\n", "is empty in line 3" + mend},
      {"a,b\n1,\"2\n3,4\n", "has a quote that nothing closes in line 2" + mend},
      {"a,b\n1,\"2\"3\n", "has text behind a closing quote in line 2" + mend},
      {"a,b\n1,2\"3\"\n",
       "has a quote inside of a field that does not begin with one in line 2" + mend},
      {"", "is empty; give it rows"},
      {"\n\n", "is empty; give it rows"},
      {"a,b\n", "has a header and no rows; give it rows"},
  };
  for (const auto& [text, message] : kFaults) {
    CAPTURE(text);
    CHECK(fault_of(text, {kX}) == "dataset: file 'F' " + message);
  }
}

TEST_CASE("what is wrong with the inputs of a CSV file is one sentence") {
  const std::string text = "length,width,width\n1,2,x\n";
  const auto of = [&](CsvInput input) { return fault_of(text, {std::move(input)}); };
  CHECK(of({.input = "x", .columns = {"lenght"}}) ==
        "dataset: input 'x' wants column 'lenght', which file 'F' does not have; the nearest is "
        "'length'");
  CHECK(of({.input = "x", .columns = {"width"}}) ==
        "dataset: input 'x' wants column 'width' of file 'F', which has it twice; number the "
        "columns from 0");
  CHECK(of({.input = "x", .columns = {3}}) ==
        "dataset: input 'x' wants column 3 of file 'F'; there are 0 to 2");
  CHECK(of({.input = "x", .columns = {-1}}) ==
        "dataset: input 'x' wants column -1 of file 'F'; there are 0 to 2");
  CHECK(of({.input = "x", .columns = {{1, 0}}}) ==
        "dataset: input 'x' wants columns whose last one comes before the first; exchange them");
  CHECK(of({.input = "x", .columns = {}}) ==
        "dataset: input 'x' names no columns; name at least one");
  CHECK(of({.input = "x", .columns = {2}, .classes = {"y", "z", "y"}}) ==
        "dataset: input 'x' has the class 'y' twice; list it once");
  CHECK(
      of({.input = "x", .columns = {2}, .classes = {"red", "xx"}}) ==
      "dataset: file 'F' has 'x' in line 2, column 'width', which is no class that is listed; list "
      "it; the nearest is 'xx'");
  CHECK(of({.input = "x", .columns = {0}, .convert = {.to = InputElement::i32, .offset = 1.0f}}) ==
        "dataset: input 'x' is i32 and has a scale or an offset; let it be f32");
  CHECK(fault_of("1,2\n", {{.input = "x", .columns = {"a"}}}, {.header = false}) ==
        "dataset: input 'x' wants column 'a' of file 'F', which has no header; number the columns "
        "from 0");
  CHECK(fault_of("1,2\n1.5,2\n", {{.input = "x", .columns = {0}, .convert = kI32}},
                 {.header = false}) ==
        "dataset: file 'F' has '1.5' in line 2, column 0, which is no whole number; mend it, or "
        "leave the line out");
  CHECK(fault_of("1\n", {kX}, {.separator = '"'}) ==
        "dataset: the separator is a quote or the end of a line; give a comma, say");
  CHECK(fault_of("1\n", {}) == "dataset: it has no input; name at least one");
}

TEST_CASE("any number of threads parses the same, quoted line ends among the lines or not") {
  std::string text = "a,b,text\n";
  std::vector<float> expected;
  for (int i = 0; i < 200000; ++i) {
    text += std::to_string(i) + "," + std::to_string(-i) +
            (i % 3 == 0 ? ",\"a\n\"\"b\"\",\r\n\"\r\n" : ",plain\n");
    expected.push_back(static_cast<float>(i));
    expected.push_back(static_cast<float>(-i));
  }
  for (const int threads : {1, 2, 3, 8}) {
    CAPTURE(threads);
    CHECK(floats_of(csv(text, {kX}, {.threads = threads}), "x") == expected);
  }
  const std::size_t at = text.find("\n150001,");
  text.replace(at + 1, 6, "15000x");
  const std::string line = std::to_string(data::line_of(text, at + 1));
  for (const int threads : {1, 4}) {
    CHECK(fault_of(text, {kX}, {.threads = threads}) ==
          "dataset: file 'F' has '15000x' in line " + line +
              ", column 'a', which is no number; mend it, or leave the line out");
  }
}

TEST_CASE("parts end where records do") {
  const std::string text = "1,\"\n\n\"\n22,\"\"\"\n\"\n333,4\n5,6";
  for (std::size_t count = 0; count < 30; ++count) {
    std::string whole;
    std::size_t records = 0;
    for (const std::string_view part : data::csv_parts(text, count)) {
      data::CsvReader reader(part, ',');
      std::vector<data::CsvField> fields;
      while (reader.next(fields)) records += fields.size() == 2;
      CHECK(reader.fault() == nullptr);
      whole += part;
    }
    CHECK(whole == text);
    CHECK(records == 4);
  }
}

TEST_CASE("numbers are the nearest f32, subnormal ones too") {
  const struct {
    const char* text;
    float value;
  } kNumbers[] = {{"0.1", 0.1f},   {"1e-45", 0x1p-149f},      {"1e-39", 1e-39f},
                  {"1e-60", 0.0f}, {"-1e-60", -0.0f},         {"3.4028235e38", 3.4028235e38f},
                  {".5", 0.5f},    {"16777217", 16777216.0f}, {"5.", 5.0f}};
  for (const auto& [text, expected] : kNumbers) {
    float value = 7.0f;
    CAPTURE(text);
    CHECK(data::read_number(text, value) == nullptr);
    CHECK(value == expected);
    CHECK(std::signbit(value) == std::signbit(expected));
  }
  for (int i = 0; i < 20000; ++i) {  // as the C library has it
    const std::string digits = std::to_string(i * 811 % 20000000);
    for (const std::size_t point : {std::size_t{0}, digits.size() / 2, digits.size()}) {
      const std::string text = "-" + digits.substr(0, point) + "." + digits.substr(point);
      float value = 0.0f;
      REQUIRE(data::read_number(text, value) == nullptr);
      REQUIRE(value == std::strtof(text.c_str(), nullptr));
    }
  }
  float value = 0.0f;
  for (const char* text : {"1,5", "0x10", "1e", "--1", "1 2", "1e5e", "NA", "+"}) {
    CAPTURE(text);
    CHECK(data::read_number(text, value) == std::string_view("is no number"));
  }
  std::int32_t whole = 0;
  CHECK(data::read_number("2147483648", whole) == std::string_view("is out of the range of i32"));
  CHECK(data::read_number("1e3", whole) == std::string_view("is no whole number"));
  CHECK(data::read_number(" +2147483647", whole) == nullptr);
  CHECK(whole == 2147483647);
}
