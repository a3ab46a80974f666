// SPDX-License-Identifier: Apache-2.0
#include "halftone/diagnosis.hpp"

#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>

#include "text.hpp"

namespace halftone {
namespace {

/// Without the sign of a NaN.
std::string number(float value) { return std::isnan(value) ? "nan" : number_text(value); }

}  // namespace

std::string NonFinite::text() const {
  std::string text;
  const auto add = [&](std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) text += part;
  };
  const bool given = pass == "none", is_label = op == "label";
  if (micro_batches != 0) {
    add({"micro-batch ", std::to_string(micro_batch), " of ", std::to_string(micro_batches), ", "});
  }
  add({op, " '", layer, "'"});
  if (!given) add({" in ", pass});
  add({": element ", std::to_string(element)});
  if (!given) add({" of its ", role});
  if (!reader.empty()) {
    add({" is ", std::to_string(integer), ", but the ", is_label ? "loss '" : "embedding '", reader,
         "' has ", std::to_string(bound), is_label ? " classes" : " rows"});
    return text;
  }
  if (format.empty()) {
    add({" is ", number(value)});
    if (given) return text;
  } else {
    add({" was ", number(before), " and became ", number(value), " in ", format});
  }
  add({" (format by ", rule, ")"});
  return text;
}

}  // namespace halftone
