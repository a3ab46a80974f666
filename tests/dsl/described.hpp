// SPDX-License-Identifier: Apache-2.0
// What a Description says, as its text says it.
#pragma once

#include <halftone/describe.hpp>
#include <halftone/description/text.hpp>
#include <string>
#include <vector>

namespace specs {
using namespace halftone::dsl;

/// Without precision rules and optimizer: for models without losses.
template <int N>
halftone::description::Description described(const Model<N>& model) {
  return describe(model,
                  precision(everywhere(store(f32), compute(f32), accumulate(f32), master(f32))));
}

/// A model with the layer "f" of a lambda of x and, when it takes two values, y.
template <class F>
halftone::description::Description described_layer(F function) {
  if constexpr (requires(Scalar s) { function(s); }) {
    return described(model("net", inputs(tensor("x", batch, 2)),
                           from("x") | pointwise("f", function) | output("out")));
  } else {
    return described(model("net", inputs(tensor("x", batch, 2), tensor("y", batch, 2)),
                           from("x") | pointwise("f", function, "y") | output("out")));
  }
}

/// The lines of the text that start with `start`.
inline std::vector<std::string> lines(const halftone::description::Description& description,
                                      const std::string& start) {
  const std::string text = halftone::description::print(description);
  std::vector<std::string> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (line.starts_with(start)) found.push_back(line);
    at = end + 1;
  }
  return found;
}

}  // namespace specs
