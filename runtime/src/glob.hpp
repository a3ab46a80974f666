// SPDX-License-Identifier: Apache-2.0
// The globs by which rules name layers (P3), for what names them while a program runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halftone {

/// Of a glob without braces: `*` is any characters but '/', `**` any characters, `?` one but '/'.
[[nodiscard]] inline bool plain_glob_matches(std::string_view glob, std::string_view name) {
  // at[i]: whether the first i characters of the name are what was read of the glob.
  std::vector<bool> at(name.size() + 1, false);
  at[0] = true;
  for (std::size_t read = 0; read < glob.size(); ++read) {
    const char token = glob[read];
    const bool crosses = token == '*' && read + 1 < glob.size() && glob[read + 1] == '*';
    std::vector<bool> next(at.size(), false);
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (token == '*') {
        next[i] = at[i] || (i > 0 && next[i - 1] && (crosses || name[i - 1] != '/'));
      } else if (i > 0 && at[i - 1]) {
        next[i] = token == '?' ? name[i - 1] != '/' : name[i - 1] == token;
      }
    }
    at = std::move(next);
    read += crosses ? 1 : 0;
  }
  return at.back();
}

/// Whether it matches the whole of `name`. A brace without its end stands for itself.
[[nodiscard]] inline bool glob_matches(std::string_view glob, std::string_view name) {
  const std::size_t open = glob.find('{'), close = glob.find('}', open);
  if (open == std::string_view::npos || close == std::string_view::npos)
    return plain_glob_matches(glob, name);
  const std::string before(glob.substr(0, open)), behind(glob.substr(close + 1));
  std::string_view left = glob.substr(open + 1, close - open - 1);
  for (bool is_last = false; !is_last;) {
    const std::size_t comma = left.find(',');
    is_last = comma == std::string_view::npos;
    if (glob_matches(before + std::string(left.substr(0, comma)) + behind, name)) return true;
    if (!is_last) left.remove_prefix(comma + 1);
  }
  return false;
}

/// Whether it matches the name of a layer, or of a parameter ("fc1.weight"), or a parameter's layer
/// (P5).
[[nodiscard]] inline bool layer_matches(std::string_view glob, std::string_view name) {
  return glob_matches(glob, name) || glob_matches(glob, name.substr(0, name.rfind('.')));
}

}  // namespace halftone
