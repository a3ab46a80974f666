// SPDX-License-Identifier: Apache-2.0
#include "csv_reader.hpp"

#include <algorithm>

namespace halftone::data {

std::string_view csv_body(std::string_view file) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (file.starts_with(kMark)) file.remove_prefix(kMark.size());
  return file.substr(0, file.find_last_not_of("\r\n") + 1);
}

std::string unquoted(const CsvField& field) {
  std::string text(field.text);
  if (!field.doubles) return text;
  for (std::size_t i = text.find('"'); i != text.npos; i = text.find('"', i + 1)) text.erase(i, 1);
  return text;
}

CsvReader::CsvReader(std::string_view text, char separator) : text_(text), separator_(separator) {
  for (const char stop : {'\n', '\r', '"', separator})
    stops_[static_cast<unsigned char>(stop)] = true;
}

bool CsvReader::fail(const char* fault, std::size_t at) {
  fault_ = fault;
  begin_ = at;
  at_ = text_.size();
  return false;
}

bool CsvReader::ends_line() const {
  return at_ == text_.size() || text_[at_] == '\n' || text_[at_] == '\r';
}

void CsvReader::skip_line_end() {
  if (at_ < text_.size() && text_[at_] == '\r') ++at_;
  if (at_ < text_.size() && text_[at_] == '\n') ++at_;
}

bool CsvReader::next(std::vector<CsvField>& fields) {
  fields.clear();
  if (fault_ != nullptr || at_ == text_.size()) return false;
  begin_ = at_;
  if (ends_line()) return fail("is empty", at_);
  while (true) {
    CsvField& field = fields.emplace_back();
    const bool has_quotes = at_ < text_.size() && text_[at_] == '"';
    if (!(has_quotes ? quoted(field) : plain(field))) return false;
    if (ends_line()) break;
    ++at_;  // the separator
  }
  skip_line_end();
  return true;
}

bool CsvReader::quoted(CsvField& field) {
  const std::size_t opened = at_;
  while (true) {
    const std::size_t quote = text_.find('"', at_ + 1);
    if (quote == text_.npos) return fail("has a quote that nothing closes", opened);
    at_ = quote + 1;
    if (at_ == text_.size() || text_[at_] != '"') break;
    field.doubles = true;
  }
  field.text = text_.substr(opened + 1, at_ - opened - 2);
  if (ends_line() || text_[at_] == separator_) return true;
  return fail("has text behind a closing quote", at_);
}

bool CsvReader::plain(CsvField& field) {
  const std::size_t begin = at_;
  while (at_ < text_.size() && !stops_[static_cast<unsigned char>(text_[at_])]) ++at_;
  if (at_ < text_.size() && text_[at_] == '"')
    return fail("has a quote inside of a field that does not begin with one", at_);
  field.text = text_.substr(begin, at_ - begin);
  return true;
}

std::vector<std::string_view> csv_parts(std::string_view text, std::size_t count) {
  if (count < 2) return {text};
  std::vector<std::string_view> parts;
  const std::size_t length = text.size() / count + 1;
  std::size_t begin = 0, seen = 0;
  bool inside = false;  // of quotes, at `seen`
  while (begin < text.size()) {
    std::size_t end = std::min(text.size(), begin + length);
    inside ^= std::count(text.begin() + static_cast<std::ptrdiff_t>(seen),
                         text.begin() + static_cast<std::ptrdiff_t>(end), '"') %
                  2 !=
              0;
    for (; end < text.size() && (inside || text[end - 1] != '\n'); ++end)
      inside ^= text[end] == '"';
    parts.push_back(text.substr(begin, end - begin));
    begin = seen = end;
  }
  return parts;
}

std::size_t line_of(std::string_view text, std::size_t at) {
  std::size_t line = 1;
  for (std::size_t i = 0; i < std::min(at, text.size()); ++i)
    line += text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
  return line;
}

}  // namespace halftone::data
