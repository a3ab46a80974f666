// SPDX-License-Identifier: Apache-2.0
#include "pictures.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "markup.hpp"
#include "whole_file.hpp"

namespace halftone::tools {
namespace {

constexpr std::size_t kMostShown = 12;              ///< of a name
constexpr std::uintmax_t kMostBytes = 16ull << 20;  ///< of a file

/// RFC 4648, section 4.
std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j)
      text += j <= count ? kDigits[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

/// By a file's first bytes; empty where it is neither.
std::string type_of(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
  if (bytes.starts_with("\xff\xd8\xff")) return "image/jpeg";
  return {};
}

/// What an <img> shows of a file; or `fault`, which keeps it from being shown.
std::string source_of(const std::filesystem::path& file, std::string& fault) {
  std::error_code unknown;
  const bool has_zero = file.native().find('\0') != std::string::npos;  // the system stops at it
  if (has_zero || !std::filesystem::is_regular_file(file, unknown)) {
    fault = "is no file";
    return {};
  }
  if (std::filesystem::file_size(file, unknown) > kMostBytes) {
    fault = "is larger than " + bytes_text(static_cast<double>(kMostBytes));
    return {};
  }
  std::string why;
  const std::vector<std::byte> read = read_whole(file, why);
  if (!why.empty()) {
    fault = "cannot be read: " + why;
    return {};
  }
  const std::string_view bytes(reinterpret_cast<const char*>(read.data()), read.size());
  const std::string type = type_of(bytes);
  if (type.empty()) fault = "is neither PNG nor JPEG";
  return type.empty() ? type : "data:" + type + ";base64," + base64(bytes);
}

/// Those of one name that are shown.
std::vector<const LogPicture*> chosen(const std::vector<const LogPicture*>& logged) {
  if (logged.size() <= kMostShown) return logged;
  std::vector<const LogPicture*> some;
  for (std::size_t i = 0; i < kMostShown; ++i)
    some.push_back(logged[i * (logged.size() - 1) / (kMostShown - 1)]);
  return some;
}

std::string figure_of(const PictureRow& row, const PictureRow::Shown& shown) {
  const std::string caption = escaped(row.name) + ", step " + std::to_string(shown.step);
  return "<figure class=\"picture\"><figcaption>" + caption + "</figcaption><img alt=\"" + caption +
         "\" src=\"" + shown.source + "\"></figure>";
}

}  // namespace

std::vector<PictureRow> picture_rows(std::span<const LogPicture> logged,
                                     std::vector<std::string>& notes) {
  std::vector<PictureRow> rows;
  std::vector<std::vector<const LogPicture*>> of_row;
  for (const LogPicture& picture : logged) {
    const auto found = std::ranges::find(rows, picture.name, &PictureRow::name);
    const auto at = static_cast<std::size_t>(found - rows.begin());
    if (found == rows.end()) {
      rows.emplace_back().name = picture.name;
      of_row.emplace_back();
    }
    ++rows[at].logged;
    of_row[at].push_back(&picture);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const LogPicture* picture : chosen(of_row[i])) {
      std::string fault;
      std::string source = source_of(picture->file, fault);
      if (fault.empty()) {
        rows[i].shown.push_back({picture->step, std::move(source)});
        continue;
      }
      notes.push_back("picture '" + picture->name + "' of step " + std::to_string(picture->step) +
                      " is left out, since '" + picture->file.string() + "' " + fault);
    }
  }
  return rows;
}

std::string pictures_of(std::span<const PictureRow> rows) {
  std::string html;
  for (const PictureRow& row : rows) {
    if (row.shown.empty()) continue;
    if (row.logged > kMostShown) {
      html += "<p>" + std::to_string(row.shown.size()) + " of " + std::to_string(row.logged) +
              " pictures, the first and the last among them.</p>";
    }
    for (const PictureRow::Shown& shown : row.shown) html += figure_of(row, shown);
  }
  return html;
}

}  // namespace halftone::tools
