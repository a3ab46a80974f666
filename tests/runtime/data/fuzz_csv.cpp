// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes are refused with a reason or are CSV whose fields, written with
// quotes, are read as the same; in parts they are the same; numbers are numbers or are refused.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "data/csv_reader.hpp"
#include "data/csv_values.hpp"

using namespace halftone::data;

namespace {

using Records = std::vector<std::vector<std::string>>;

void require(bool holds) {
  if (!holds) std::abort();
}

/// Appends what the text has; whether all of it is sound.
bool read(std::string_view text, Records& records) {
  CsvReader reader(text, ',');
  std::vector<CsvField> fields;
  while (reader.next(fields)) {
    require(!fields.empty());
    records.emplace_back();
    for (const CsvField& field : fields) records.back().push_back(unquoted(field));
  }
  require(reader.at() <= text.size());
  require(line_of(text, reader.at()) >= 1);
  return reader.fault() == nullptr;
}

std::string printed(const Records& records) {
  std::string text;
  for (const auto& record : records) {
    for (const std::string& field : record) {
      text += &field == record.data() ? "\"" : ",\"";
      for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
      text += '"';
    }
    text += "\r\n";
  }
  return text;
}

void try_numbers(const std::string& text) {
  float real = 0.0f;
  if (read_number(text, real) == nullptr) require(std::isfinite(real));
  std::int32_t whole = 0;
  if (read_number(text, whole) == nullptr) require(read_number(text, real) == nullptr);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string file(reinterpret_cast<const char*>(bytes), size);
  const std::string_view body = csv_body(file);
  Records records;
  const bool is_sound = read(body, records);
  for (const auto& record : records) std::ranges::for_each(record, try_numbers);
  for (const std::size_t count : {1, 2, 7}) {
    std::string whole;
    Records parts;
    bool are_sound = true;
    for (const std::string_view part : csv_parts(body, count)) {
      are_sound = are_sound && read(part, parts);
      whole += part;
    }
    require(whole == body);
    require(are_sound == is_sound);
    if (is_sound) require(parts == records);
  }
  if (!is_sound) return 0;
  Records again;
  const std::string print = printed(records);
  require(read(csv_body(print), again) && again == records);
  return 0;
}
