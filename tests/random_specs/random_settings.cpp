// SPDX-License-Identifier: Apache-2.0
#include "random_settings.hpp"

#include <string>
#include <utility>
#include <vector>

namespace halftone::tests {

using namespace halftone::description;

namespace {

class SettingsWriter {
 public:
  SettingsWriter(Choices& choices, const Shape& x) : choices_(choices), x_(x) {}

  decltype(Setting::value) value(const SettingForm& form) {
    switch (form.type) {
      case SettingType::flag:
        return form.optional || choices_.happens(50);
      case SettingType::choice:
        return std::string(form.words[static_cast<int>(
            choices_.below(static_cast<std::size_t>(form.words.size)))]);
      case SettingType::integer:
        return integer(form);
      case SettingType::integers:
        return form.accepts ? numbers_of_windows(form) : any_order();
      case SettingType::dimensions:
        return any_shape();
      case SettingType::number:
        break;
    }
    return number(form);
  }

 private:
  double number(const SettingForm& form) {
    const double written = form.example ? std::stod(form.example) : form.standard;
    const double usual = form.optional ? written : form.standard;
    const double tried[] = {usual, usual, written, 0.5, 0.125, 1e-3, 2.0};
    const double value = choices_.one_of(tried);
    return !form.accepts || form.accepts(value) ? value : usual;
  }

  /// Numbers of heads and of groups divide columns: mostly one of them.
  std::int64_t integer(const SettingForm& form) {
    std::int64_t value = choices_.one_of(std::vector<std::int64_t>{1, 1, 2, 3, 4, 5, 6, 8});
    if (choices_.happens(20)) value = choices_.between(0, 24);
    return form.accepts(static_cast<double>(value)) ? value : 1;
  }

  /// One for every spatial dimension, or one for every side of it.
  std::vector<std::int64_t> numbers_of_windows(const SettingForm& form) {
    std::size_t spatial = x_.size() > 2 ? x_.size() - 2 : 1;
    if (spatial > 1 && choices_.happens(20)) --spatial;
    const bool sides = form.accepts(0) && choices_.happens(80);
    std::vector<std::int64_t> numbers(sides ? 2 * spatial : spatial);
    for (std::int64_t& number : numbers) {
      number = choices_.one_of(std::vector<std::int64_t>{0, 1, 1, 2, 2, 3});
      if (!form.accepts(static_cast<double>(number))) number = 1;
    }
    return numbers;
  }

  /// The dimensions of x by number, mostly with the first and the last in place.
  std::vector<std::int64_t> any_order() {
    std::vector<std::int64_t> order(x_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    const std::size_t first = choices_.happens(80) ? 1 : 0;
    for (std::size_t i = first; i < order.size(); ++i) {
      std::swap(order[i], order[i + choices_.below(order.size() - i)]);
    }
    return order;
  }

  /// That of x in another order, with dimensions split, merged or added.
  Shape any_shape() {
    const auto is_fixed = [](const Dimension& dimension) { return dimension.symbol.empty(); };
    Shape result = x_;
    switch (choices_.below(4)) {
      case 0:
        for (std::size_t i = 0; const std::int64_t from : any_order()) {
          result[i++] = x_[static_cast<std::size_t>(from)];
        }
        return result;
      case 1:
        result.insert(result.end() - 1, Dimension{choices_.between(1, 3), {}});
        return result;
      case 2:
        if (result.size() < 2 || !is_fixed(result.back()) || !is_fixed(result.end()[-2])) break;
        result.end()[-2].extent *= result.back().extent;
        result.pop_back();
        return result;
      default:
        if (!is_fixed(result.back()) || result.back().extent % 2 != 0) break;
        result.back().extent /= 2;
        result.push_back({2, {}});
        if (choices_.happens(50)) std::swap(result.back(), result.end()[-2]);
    }
    return result;
  }

  Choices& choices_;
  const Shape& x_;
};

}  // namespace

Attributes random_attributes(Choices& choices, Kind kind, const Shape& x) {
  const KindForm& form = form_of(kind);
  if (form.settings.size == 0 && !form.function) return {};
  SettingsWriter writer(choices, x);
  LayerAttributes result;
  for (const SettingForm& setting : form.settings) {
    if (setting.optional && choices.happens(65)) continue;
    result.settings.push_back({setting.name, writer.value(setting)});
  }
  return result;
}

}  // namespace halftone::tests
