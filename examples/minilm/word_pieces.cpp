// SPDX-License-Identifier: Apache-2.0
#include "word_pieces.hpp"

#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace {

/// Characters of Chinese, each of which is a word of its own.
bool is_ideograph(UChar32 c) {
  constexpr std::pair<UChar32, UChar32> kBlocks[] = {
      {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},   {0x20000, 0x2a6df},
      {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b820, 0x2ceaf}, {0x2f800, 0x2fa1f}};
  return std::ranges::any_of(
      kBlocks, [c](const auto& block) { return c >= block.first && c <= block.second; });
}

bool is_mark(UChar32 c) { return c < 0x80 ? c > 0x20 && !u_isalnum(c) : u_ispunct(c); }

bool is_left_out(UChar32 c) {
  const bool is_control = (U_GET_GC_MASK(c) & U_GC_C_MASK) != 0;
  return c == 0xfffd || (is_control && c != '\t' && c != '\n' && c != '\r') ||
         u_charType(c) == U_NON_SPACING_MARK;
}

/// The words of a text without capitals and accents.
std::vector<std::string> words_of(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const auto* form = icu::Normalizer2::getNFDInstance(status);
  const icu::UnicodeString given =
      icu::UnicodeString::fromUTF8({text.data(), static_cast<std::int32_t>(text.size())});
  const icu::UnicodeString apart = form->normalize(given, status);
  if (U_FAILURE(status)) throw std::runtime_error("ICU cannot take a text's accents apart");
  std::vector<std::string> words;
  bool inside = false;
  for (std::int32_t i = 0; i < apart.length(); i = apart.moveIndex32(i, 1)) {
    const UChar32 c = apart.char32At(i);
    if (is_left_out(c)) continue;
    if (u_isUWhiteSpace(c)) {
      inside = false;
    } else {
      const bool alone = is_mark(c) || is_ideograph(c);
      if (!inside || alone) words.emplace_back();
      inside = !alone;
      icu::UnicodeString(c).toLower(icu::Locale::getRoot()).toUTF8String(words.back());
    }
  }
  return words;
}

/// Where the character ends that begins there.
std::size_t next_character(const std::string& word, std::size_t at) {
  do ++at;
  while (at < word.size() && (word[at] & 0xc0) == 0x80);
  return at;
}

}  // namespace

WordPieces::WordPieces(const std::string& file) {
  std::ifstream lines(file);
  std::int32_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) numbers_.emplace(line, number);
  if (numbers_.empty()) throw std::runtime_error(file + " cannot be read, or has no word pieces");
  begin_ = special("[CLS]");
  end_ = special("[SEP]");
  unknown_ = special("[UNK]");
}

std::int32_t WordPieces::special(const std::string& name) const {
  const auto found = numbers_.find(name);
  if (found == numbers_.end()) throw std::runtime_error("the vocabulary has no " + name);
  return found->second;
}

std::vector<std::int32_t> WordPieces::encode(std::string_view text, std::size_t most) const {
  std::vector<std::int32_t> pieces{begin_};
  for (const std::string& word : words_of(text)) put_word(word, pieces);
  pieces.resize(std::min(pieces.size(), most - 1));
  pieces.push_back(end_);
  return pieces;
}

void WordPieces::put_word(const std::string& word, std::vector<std::int32_t>& pieces) const {
  constexpr std::size_t kMostCharacters = 100;  // BERT's; longer ones are unknown
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; at < word.size();) ends.push_back(at = next_character(word, at));
  const std::size_t before = pieces.size();
  for (std::size_t begin = 0; begin < word.size() && ends.size() <= kMostCharacters;) {
    const auto fits = std::find_if(ends.rbegin(), ends.rend(), [&](std::size_t end) {
      return end > begin &&
             numbers_.contains((begin > 0 ? "##" : "") + word.substr(begin, end - begin));
    });
    if (fits == ends.rend()) break;
    pieces.push_back(numbers_.at((begin > 0 ? "##" : "") + word.substr(begin, *fits - begin)));
    begin = *fits;
    if (begin == word.size()) return;
  }
  pieces.resize(before);
  pieces.push_back(unknown_);
}
