// SPDX-License-Identifier: Apache-2.0
// The text form of an encoding: `bf16`, `f16 toward_zero`, `f8e4m3 scaled block 32 f32 saturate`.
//
//   encoding := ELEMENT [scaled SCALES] [toward_zero | stochastic] [saturate]
//   SCALES := GROUPS ELEMENT [under ELEMENT] [rotated]
//   GROUPS := tensor | row | column | block [ROWS by] SIZE | delayed STEPS [margin M]
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "halftone/encoding/encoding.hpp"
#include "halftone/encoding/traits.hpp"

namespace halftone::encoding {

inline std::string spelled(const Encoding& encoding) {
  const Scaling& scaling = encoding.scaling;
  std::string text = word(encoding.element);
  if (scaling.kind == Scaling::Kind::tensor) text += " scaled tensor";
  if (scaling.kind == Scaling::Kind::row) text += " scaled row";
  if (scaling.kind == Scaling::Kind::column) text += " scaled column";
  if (scaling.kind == Scaling::Kind::block) {
    text += " scaled block ";
    if (scaling.rows != 1) text += std::to_string(scaling.rows) + " by ";
    text += std::to_string(scaling.size);
  }
  if (scaling.kind == Scaling::Kind::delayed) {
    text += " scaled delayed " + std::to_string(scaling.history);
    if (scaling.margin != 0) text += " margin " + std::to_string(scaling.margin);
  }
  if (scaling.kind != Scaling::Kind::none) text.append(" ").append(word(scaling.scale));
  if (scaling.of_all != Element::f8e8m0) text.append(" under ").append(word(scaling.of_all));
  if (scaling.rotated) text += " rotated";
  if (encoding.rounding != Rounding::nearest_even) {
    text.append(" ").append(kRoundingWords[static_cast<int>(encoding.rounding)]);
  }
  return encoding.saturate ? text + " saturate" : text;
}

/// "f32, tf32, f16, ... and f4e2m1"
inline std::string element_list() {
  std::string text;
  for (int i = 0; i < kElements; ++i) {
    text += i == 0 ? "" : i + 1 < kElements ? ", " : " and ";
    text += kElementTraits[i].word;
  }
  return text;
}

namespace detail {

/// Words of a text, one blank apart.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::string_view peek() const { return rest_.substr(0, rest_.find(' ')); }

  std::string_view next() {
    const std::string_view word = peek();
    rest_.remove_prefix(word.size() < rest_.size() ? word.size() + 1 : word.size());
    return word;
  }

  bool take(std::string_view word) {
    const bool found = !at_end() && peek() == word;
    if (found) next();
    return found;
  }

 private:
  std::string_view rest_;
};

inline std::optional<Element> element_of(std::string_view spelling) {
  for (int i = 0; i < kElements; ++i) {
    if (spelling == kElementTraits[i].word) return static_cast<Element>(i);
  }
  return std::nullopt;
}

inline bool read_number(std::string_view digits, std::int32_t& number) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size();
}

inline std::string no_element(std::string_view spelling) {
  return "no element is called '" + std::string(spelling) + "'; there are " + element_list();
}

}  // namespace detail

/// What `text` says, or one sentence that tells what is wrong with it. What it says may have a
/// fault.
inline std::variant<Encoding, std::string> parse(std::string_view text) {
  detail::Words words(text);
  Encoding encoding;
  std::string wrong;
  const auto read_element = [&](Element& element) {
    const std::string_view spelling = words.next();
    const auto known = detail::element_of(spelling);
    if (known) element = *known;
    if (!known && wrong.empty()) wrong = detail::no_element(spelling);
  };
  const auto read_number = [&](std::int32_t& number, const char* what) {
    const std::string_view digits = words.next();
    if (detail::read_number(digits, number) && number > 0) return;
    if (wrong.empty()) {
      wrong = "'" + std::string(digits) + "' is no " + what + "; write a positive number";
    }
  };
  const auto read_size = [&](std::int32_t& number) { read_number(number, "size of a block"); };
  read_element(encoding.element);
  if (words.take("scaled")) {
    Scaling& scaling = encoding.scaling;
    scaling.kind = words.take("block")     ? Scaling::Kind::block
                   : words.take("delayed") ? Scaling::Kind::delayed
                   : words.take("row")     ? Scaling::Kind::row
                   : words.take("column")  ? Scaling::Kind::column
                                           : Scaling::Kind::tensor;
    if (scaling.kind == Scaling::Kind::delayed) {
      read_number(scaling.history, "number of steps");
      if (words.take("margin")) read_number(scaling.margin, "margin");
    } else if (scaling.kind == Scaling::Kind::block) {
      read_size(scaling.size);
      if (words.take("by")) {
        scaling.rows = scaling.size;
        read_size(scaling.size);
      }
    } else if (!is_of_vectors(scaling) && !words.take("tensor") && wrong.empty()) {
      wrong = "'" + std::string(words.peek()) +
              "' is no scaling; write scaled tensor, row, column, block or delayed";
    }
    read_element(scaling.scale);
    if (words.take("under")) {
      read_element(scaling.of_all);
      if (scaling.of_all == Element::f8e8m0 && wrong.empty()) {
        wrong = "a tensor's scale is in f8e8m0 where no under is said; leave under out";
      }
    }
    scaling.rotated = words.take("rotated");
  }
  for (const Rounding rounding : {Rounding::toward_zero, Rounding::stochastic}) {
    const bool is_nearest = encoding.rounding == Rounding::nearest_even;
    if (is_nearest && words.take(kRoundingWords[static_cast<int>(rounding)])) {
      encoding.rounding = rounding;
    }
  }
  encoding.saturate = words.take("saturate");
  if (wrong.empty() && !words.at_end()) {
    wrong = "'" + std::string(words.peek()) +
            "' does not continue an encoding; after the element write scaled, toward_zero or "
            "stochastic, or saturate, in this order";
  }
  if (!wrong.empty()) return wrong;
  return encoding;
}

}  // namespace halftone::encoding
