// SPDX-License-Identifier: Apache-2.0
#include "halftone/manifest/texts.hpp"

#include <zstd.h>

#include <charconv>

namespace halftone::manifest {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;  // of all texts; far above any model's

bool fail(DecodeError& error, DecodeError::Kind kind, std::string message) {
  error = {kind, std::move(message)};
  return false;
}

/// What the frame holds.
bool decompress(std::span<const std::byte> packed, std::string& whole, DecodeError& error) {
  using Kind = DecodeError::Kind;
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kLargest) {
    return fail(error, Kind::malformed, "the kernel texts are no zstd frame of a possible size");
  }
  whole.resize(size);
  const std::size_t got = ZSTD_decompress(whole.data(), whole.size(), packed.data(), packed.size());
  if (ZSTD_isError(got)) {
    return fail(error, Kind::altered,
                std::string("the kernel texts were altered: ") + ZSTD_getErrorName(got));
  }
  return got == size || fail(error, Kind::truncated, "the kernel texts are truncated");
}

/// Whether the text is a number that is not negative, and nothing else.
bool is_number(std::string_view text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc{} && stop == end && number >= 0;
}

}  // namespace

bool is_version(std::string_view text) {
  const std::size_t dot = text.find('.');
  return dot != text.npos && is_number(text.substr(0, dot)) && is_number(text.substr(dot + 1));
}

std::string entry_of(const AheadImage& image) {
  return std::to_string(image.text) + " " + image.architecture + " " + image.compiler + "\n" +
         image.bytes;
}

bool parse_entry(const std::string& entry, AheadImage& image) {
  const std::size_t end = entry.find('\n'), first = entry.find(' ');
  const std::size_t second = entry.find(' ', first + 1);
  if (first > end || second > end || end == std::string::npos) return false;
  const char* stop = entry.data() + first;
  const auto read = std::from_chars(entry.data(), stop, image.text);
  if (read.ec != std::errc{} || read.ptr != stop || image.text < 0) return false;
  image.architecture = entry.substr(first + 1, second - first - 1);
  image.compiler = entry.substr(second + 1, end - second - 1);
  image.bytes = entry.substr(end + 1);
  return is_version(image.compiler) && !image.bytes.empty();
}

bool split_ahead(std::vector<std::string>& texts, std::size_t count,
                 std::vector<AheadImage>& ahead) {
  if (texts.size() < count) return false;
  for (std::size_t i = count; i < texts.size(); ++i) {
    AheadImage& image = ahead.emplace_back();
    if (!parse_entry(texts[i], image) || static_cast<std::size_t>(image.text) >= count) {
      return false;
    }
  }
  texts.resize(count);
  return true;
}

bool unpack_texts(std::span<const std::byte> packed, std::vector<std::string>& texts,
                  DecodeError& error) {
  texts.clear();
  if (packed.empty()) return true;
  std::string whole;
  if (!decompress(packed, whole, error)) return false;
  std::vector<std::string> result;
  for (std::size_t at = 0; at < whole.size();) {
    std::uint64_t length = 0;
    if (whole.size() - at >= kLengthBytes) {
      for (std::size_t i = 0; i < kLengthBytes; ++i) {
        length |= std::uint64_t{static_cast<unsigned char>(whole[at + i])} << (8 * i);
      }
      at += kLengthBytes;
    } else {
      length = kLargest;  // more than there is
    }
    if (length > whole.size() - at) {
      return fail(error, DecodeError::Kind::malformed,
                  "the lengths of the kernel texts do not fit");
    }
    result.push_back(whole.substr(at, length));
    at += length;
  }
  texts = std::move(result);
  return true;
}

}  // namespace halftone::manifest
