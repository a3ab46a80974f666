// SPDX-License-Identifier: Apache-2.0
#include "halftone/plateau.hpp"

#include <charconv>
#include <cmath>
#include <optional>

#include "halftone/error.hpp"
#include "text.hpp"

namespace halftone {
namespace {

constexpr char kBetween = ' ';

/// "BEST WAITED", the digits that read back to the same numbers.
template <class Number>
bool read(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Plateau::Plateau(const PlateauOptions& options) : options_(options) {
  const auto refuse = [](const char* object, std::string is, const char* hint) {
    throw Error({.operation = "make a plateau",
                 .object = object,
                 .cause = "is " + std::move(is),
                 .hint = hint});
  };
  if (options.patience < 0)
    refuse("the patience", std::to_string(options.patience), "give 0 or more updates");
  if (!std::isfinite(options.least_progress) || options.least_progress < 0)
    refuse("the least progress", number_text(options.least_progress),
           "give a finite number that is not negative");
  if (options.higher_is_better) best_ = -best_;
}

bool Plateau::update(double value) {
  is_best_ = options_.higher_is_better ? value > best_ + options_.least_progress
                                       : value < best_ - options_.least_progress;
  if (is_best_) best_ = value;
  waited_ = is_best_ ? 0 : waited_ + 1;
  if (waited_ <= options_.patience) return false;
  waited_ = 0;
  return true;
}

std::string Plateau::state() const {
  char best[32];
  const auto written = std::to_chars(best, best + sizeof best, best_);
  return std::string(best, written.ptr) + kBetween + std::to_string(waited_);
}

void Plateau::restore(std::string_view state) {
  const std::size_t between = state.find(kBetween);
  double best = 0;
  int waited = 0;
  if (between == std::string_view::npos || !read(state.substr(0, between), best) ||
      !read(state.substr(between + 1), waited) || waited < 0) {
    throw Error({.operation = "restore a plateau",
                 .object = named("state", state),
                 .cause = "is none that state() gave",
                 .hint = "give the text as it was saved"});
  }
  best_ = best;
  waited_ = waited;
  is_best_ = false;
}

}  // namespace halftone
