// SPDX-License-Identifier: Apache-2.0
// What can be wrong with a record, and the sentence that says so in the form in which each compiler
// prints it. Part of halftone/records.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "halftone/signature.hpp"

namespace halftone::records {

/// What an operation looks for among a record's members.
struct Field {
  const char* name;
  bool required;
  const char* remedy;  ///< what a member of another type should be
};

inline constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

/// Where a name stands; `list` has names or what has one.
constexpr std::size_t position(const auto& list, std::string_view name) {
  const auto name_of = [](const auto& item) -> std::string_view {
    if constexpr (requires { item.name; })
      return item.name;
    else
      return item;
  };
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (name_of(list[i]) == name) return i;
  }
  return kNowhere;
}

struct Fault {
  enum class Kind : unsigned char { none, extra, missing, type } kind = Kind::none;
  std::size_t index = 0;  ///< of the member that is too many, otherwise of the field
};

/// The first fault; fits[i] tells whether member i has the type of the field of its name.
consteval Fault find_fault(const auto& fields, const auto& names, const auto& fits) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (position(fields, names[i]) == kNowhere) return {Fault::Kind::extra, i};
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t member = position(names, fields[i].name);
    if (member == kNowhere) {
      if (fields[i].required) return {Fault::Kind::missing, i};
    } else if (!fits[member]) {
      return {Fault::Kind::type, i};
    }
  }
  return {};
}

struct Sentence {
  static constexpr std::size_t kCapacity = 1000;
  char text[kCapacity]{};
  std::size_t size = 0;

  constexpr void put(std::string_view words) {
    for (const char c : words) {
      if (size < kCapacity) text[size++] = c;
    }
  }
  constexpr void put_list(const auto& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      put(i == 0 ? "'" : ", '");
      put(fields[i].name);
      put("'");
    }
  }
};

/// Operation::name is the call's, Operation::noun what its fields are.
template <class Operation>
consteval Sentence sentence(const char* model, const auto& fields, const auto& names, Fault fault) {
  Sentence said;
  const auto put = [&said](auto... parts) { (said.put(parts), ...); };
  put(Operation::name, ": the record");
  switch (fault.kind) {
    case Fault::Kind::none:
      break;
    case Fault::Kind::extra:
      put("'s member '", names[fault.index], "' is no ", Operation::noun, " of model '", model,
          "' (");
      said.put_list(fields);
      put("); rename or remove it");
      break;
    case Fault::Kind::missing:
      put(" has no member for the ", Operation::noun, " '", fields[fault.index].name,
          "' of model '", model, "'; add it");
      break;
    case Fault::Kind::type:
      put("'s member '", fields[fault.index].name, "' has the wrong type for that ",
          Operation::noun, " of model '", model, "'; make it ", fields[fault.index].remedy);
  }
  return said;
}

/// Part of a sentence.
template <std::size_t Size>
struct line {
  char text[Size]{};
};
/// Never defined. The lines are the sentence.
template <line... Sentence>
struct record_error;

/// clang cuts a string in the name of a type off at 36 characters, an escaped quote being two.
#ifdef __clang__
inline constexpr std::size_t kLineWidth = 36;
#else
inline constexpr std::size_t kLineWidth = Sentence::kCapacity * 2;
#endif

/// Where the line that starts at `start` ends: behind a space where it can.
consteval std::size_t end_of_line(const Sentence& sentence, std::size_t start) {
  std::size_t width = 0, space = start;
  for (std::size_t i = start; i < sentence.size; ++i) {
    width += sentence.text[i] == '\'' ? 2 : 1;
    if (width > kLineWidth) return space > start ? space : i;
    if (sentence.text[i] == ' ') space = i + 1;
  }
  return sentence.size;
}

/// Starts of the lines, and the end of the last one.
struct Lines {
  std::array<std::size_t, Sentence::kCapacity / 8> starts{};
  std::size_t count = 0;
};
consteval Lines lines_of(const Sentence& sentence) {
  Lines lines;
  for (std::size_t at = 0; at < sentence.size; at = lines.starts[lines.count]) {
    lines.starts[++lines.count] = end_of_line(sentence, at);
  }
  return lines;
}

/// Of the sentence Call::sentence().
template <class Call, std::size_t Index>
consteval auto line_of() {
  constexpr Sentence sentence = Call::sentence();
  constexpr Lines lines = lines_of(sentence);
  constexpr std::size_t start = lines.starts[Index];
  line<lines.starts[Index + 1] - start + 1> result;
  for (std::size_t i = 0; i + 1 < sizeof(result.text); ++i) {
    result.text[i] = sentence.text[start + i];
  }
  result.text[sizeof(result.text) - 1] = 0;  // written, or clang takes it for no string
  return result;
}

template <class Call, class Lines = std::make_index_sequence<lines_of(Call::sentence()).count>>
struct Said;
template <class Call, std::size_t... Index>
struct Said<Call, std::index_sequence<Index...>> {
  static record_error<line_of<Call, Index>()...> of();
};

template <class Call, class Next>
struct Refusal : Said<Call> {};
template <class Call, class Next>
  requires(Call::fits && !Next::fits)
struct Refusal<Call, Next> : Refusal<Next> {};
template <class Call, class Next>
  requires(Call::fits && Next::fits)
struct Refusal<Call, Next> {
  static void of();
};

}  // namespace halftone::records
