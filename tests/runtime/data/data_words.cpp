// SPDX-License-Identifier: Apache-2.0
// What the library makes of files and seeds, in words, for compare_with_python:
//   fields FILE SEPARATOR   a record in each line, of its fields in hexadecimal
//   numbers FILE            the bits of a column of f32, in hexadecimal
//   order ROWS SEED EPOCH; drawn ROWS COUNT SEED
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "data/csv_reader.hpp"
#include "data/order.hpp"
#include "halftone/dataset.hpp"
#include "halftone/loader.hpp"

using namespace halftone;

namespace {

int print_fields(const std::string& path, char separator) {
  std::ifstream in(path, std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  const std::string_view body = data::csv_body(file);
  data::CsvReader reader(body, separator);
  std::vector<data::CsvField> fields;
  while (reader.next(fields)) {
    for (const data::CsvField& field : fields) {
      std::printf("'");
      for (const char c : data::unquoted(field)) std::printf("%02x", static_cast<unsigned char>(c));
      std::printf(" ");
    }
    std::printf("\n");
  }
  if (reader.fault() == nullptr) return 0;
  std::printf("it %s\n", reader.fault());
  return 1;
}

void print_numbers(const std::string& path) {
  const Dataset data =
      Dataset::csv(path, {{.input = "x", .columns = {0}}}, {.header = false, .threads = 1});
  Loader loader(data, {.batch = data.rows(), .shuffle = false, .threads = 0});
  for (const float value : std::get<0>(loader.next()->inputs[0].values)) std::printf("%a\n", value);
}

}  // namespace

int main(int count, char** words) try {
  const std::string what = count > 1 ? words[1] : "";
  const auto number = [&](int i) { return std::stoll(words[i]); };
  if (what == "fields" && count == 4) return print_fields(words[2], words[3][0]);
  if (what == "numbers" && count == 3) {
    print_numbers(words[2]);
  } else if (what == "order" && count == 5) {
    const data::Order order(number(2), std::stoull(words[3]), number(4));
    for (std::int64_t i = 0; i < number(2); ++i)
      std::printf("%lld\n", static_cast<long long>(order[i]));
  } else if (what == "drawn" && count == 5) {
    for (const bool is_drawn : data::drawn_rows(number(2), number(3), std::stoull(words[4])))
      std::printf("%d\n", is_drawn);
  } else {
    return 2;
  }
  return 0;
} catch (const std::exception& error) {
  std::printf("%s\n", error.what());
  return 1;
}
