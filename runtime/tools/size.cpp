// SPDX-License-Identifier: Apache-2.0
#include "size.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

#include "halftone/encoding/traits.hpp"

namespace halftone::tools {
namespace {

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    throw std::runtime_error("a size exceeds 2^63 bytes; bind smaller symbols");
  }
  return result;
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) {
    throw std::runtime_error("a size exceeds 2^63 bytes; bind smaller symbols");
  }
  return result;
}

std::string all_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

std::int64_t positive_number(const std::string& text, const std::string& symbol) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size() || number <= 0) {
    throw std::runtime_error("--symbols: '" + text + "' is no size for " + symbol +
                             "; write a whole number above 0");
  }
  return number;
}

/// As encoding::storage_bytes, checked.
std::int64_t bytes_of(encoding::Element element, std::int64_t count) {
  return plus(times(count / 8, encoding::traits(element).bits),
              encoding::storage_bytes(element, count % 8));
}

bool is_countable(const manifest::Buffer& buffer, std::span<const std::int64_t> symbols) {
  try {
    return manifest::bytes_of(buffer.encoding, manifest::elements(buffer.shape, symbols)) >= 0;
  } catch (const std::overflow_error&) {
    return false;
  }
}

void check_limits(const manifest::Manifest& manifest, const Binding& binding) {
  std::vector<std::int64_t> symbols;
  for (const auto& bound : binding) symbols.push_back(bound.value_or(0));
  const manifest::Limit* limit = manifest::find_exceeded(manifest, symbols);
  if (!limit) return;
  const auto symbol = static_cast<std::size_t>(limit->symbol);
  const bool is_less = symbols[symbol] < limit->least;
  throw std::runtime_error("--symbols: " + manifest.symbols[symbol] + " is " +
                           std::to_string(symbols[symbol]) + ", but " + reason_of(*limit) +
                           "; bind " + std::to_string(is_less ? limit->least : limit->most) +
                           (is_less ? " or more" : " or less"));
}

/// What of a program is too large, when its arena is.
std::string culprit_of(const manifest::Program& program, std::span<const std::int64_t> symbols) {
  for (const manifest::Buffer& buffer : program.buffers) {
    if (!is_countable(buffer, symbols)) return "buffer '" + buffer.name + "' of " + program.name;
  }
  return "the memory of " + program.name;
}

}  // namespace

Binding bind_symbols(const manifest::Manifest& manifest, const std::string& text,
                     const std::vector<std::string>& elsewhere) {
  Binding binding(manifest.symbols.size());
  std::istringstream entries(text.empty() ? text : text + ",");  // getline drops a last empty one
  for (std::string entry; std::getline(entries, entry, ',');) {
    const auto equals = entry.find('=');
    const std::string symbol = entry.substr(0, equals);
    const auto found = std::ranges::find(manifest.symbols, symbol);
    const bool is_unknown = found == manifest.symbols.end();
    if (equals != entry.npos && is_unknown && std::ranges::count(elsewhere, symbol) > 0) continue;
    if (equals == entry.npos || is_unknown) {
      throw std::runtime_error("--symbols: '" + entry + "' binds no symbol of model '" +
                               manifest.model + "'; write NAME=NUMBER with a symbol of " +
                               all_of(manifest.symbols));
    }
    auto& bound = binding[static_cast<std::size_t>(found - manifest.symbols.begin())];
    if (bound) throw std::runtime_error("--symbols: " + symbol + " is bound twice; bind it once");
    bound = positive_number(entry.substr(equals + 1), symbol);
  }
  check_limits(manifest, binding);
  return binding;
}

std::int64_t parts_of(std::int64_t bound, std::int32_t divisor) {
  return (bound - 1) / divisor + 1;
}

std::string symbol_text(const std::string& symbol, std::int32_t divisor) {
  return divisor == 1 ? symbol : "ceil(" + symbol + "/" + std::to_string(divisor) + ")";
}

Size::Size(std::span<const manifest::Dimension> shape, const manifest::Encoding& encoding,
           const Binding& binding) {
  std::map<std::vector<Factor>, std::int64_t> elements{{{}, 1}};
  for (const manifest::Dimension& dimension : shape) {
    const bool is_open =
        dimension.symbol >= 0 && !binding[static_cast<std::size_t>(dimension.symbol)];
    std::int64_t length = dimension.extent;
    if (dimension.symbol >= 0 && !is_open) {
      const auto bound = *binding[static_cast<std::size_t>(dimension.symbol)];
      length = plus(times(length, parts_of(bound, dimension.divisor)), dimension.added);
    }
    std::map<std::vector<Factor>, std::int64_t> longer;
    for (const auto& [before, coefficient] : elements) {
      std::vector<Factor> symbols = before;
      if (is_open && dimension.added != 0) {
        longer[symbols] = plus(longer[symbols], times(coefficient, dimension.added));
      }
      if (is_open) symbols.emplace_back(dimension.symbol, dimension.divisor);
      std::ranges::sort(symbols);
      longer[symbols] = plus(longer[symbols], times(coefficient, length));
    }
    elements = std::move(longer);
  }
  for (const auto& [symbols, coefficient] : elements) {
    terms_[symbols] = coefficient < 0 ? -bytes_of(encoding.element, -coefficient)
                                      : bytes_of(encoding.element, coefficient);
  }
}

Size& Size::operator+=(const Size& other) {
  for (const auto& [symbols, coefficient] : other.terms_) {
    terms_[symbols] = plus(terms_[symbols], coefficient);
  }
  return *this;
}

std::optional<std::int64_t> Size::value() const {
  std::int64_t sum = 0;
  for (const auto& [symbols, coefficient] : terms_) {
    if (!symbols.empty()) return std::nullopt;
    sum = coefficient;
  }
  return sum;
}

std::string Size::text(const std::vector<std::string>& symbols) const {
  std::string text;
  for (auto term = terms_.rbegin(); term != terms_.rend(); ++term) {
    const bool is_less = term->second < 0;
    text += text.empty() ? (is_less ? "-" : "") : (is_less ? " - " : " + ");
    text += std::to_string(is_less ? -term->second : term->second);
    for (const auto& [symbol, divisor] : term->first) {
      text += "*" + symbol_text(symbols[static_cast<std::size_t>(symbol)], divisor);
    }
  }
  return text.empty() ? "0" : text;
}

std::optional<manifest::ArenaPlan> plan_of(const manifest::Program& program, const Binding& binding,
                                           bool has_own_memory) {
  std::vector<std::int64_t> symbols;
  for (const auto& bound : binding) symbols.push_back(bound.value_or(0));
  for (const manifest::Buffer& buffer : program.buffers) {
    for (const manifest::Dimension& dimension : buffer.shape) {
      if (dimension.symbol >= 0 && !binding[static_cast<std::size_t>(dimension.symbol)]) {
        return std::nullopt;
      }
    }
  }
  try {
    return manifest::plan_arena(program, symbols, has_own_memory);
  } catch (const std::overflow_error&) {
    throw std::runtime_error("--symbols: " + culprit_of(program, symbols) +
                             " exceeds 2^62 bytes; bind smaller sizes");
  }
}

}  // namespace halftone::tools
