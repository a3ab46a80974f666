// SPDX-License-Identifier: Apache-2.0
#include "ptx_quality.hpp"

#include <bit>
#include <cstdlib>
#include <map>
#include <vector>

namespace halftone::tests {

namespace {

struct Line {
  std::string_view opcode, rest;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool has(std::string_view opcode, std::string_view word) {
  return opcode.find(word) != opcode.npos;
}

/// Instructions in order, and where labels stand among them.
struct Body {
  std::vector<Line> lines;
  std::map<std::string_view, std::size_t> labels;
};

Body parse(std::string_view ptx) {
  Body body;
  while (!ptx.empty()) {
    const std::size_t end = ptx.find('\n');
    std::string_view line = trimmed(ptx.substr(0, end));
    ptx.remove_prefix(end == ptx.npos ? ptx.size() : end + 1);
    if (line.starts_with('@')) line = trimmed(line.substr(line.find_first_of(" \t")));
    if (line.starts_with('$') && line.ends_with(':')) {
      body.labels[line.substr(0, line.size() - 1)] = body.lines.size();
    } else if (!line.empty() && line[0] >= 'a' && line[0] <= 'z') {
      const std::size_t space = line.find_first_of(" \t;");
      body.lines.push_back({line.substr(0, space), trimmed(line.substr(space))});
    }
  }
  return body;
}

int bytes_of(std::string_view opcode, std::string_view rest) {
  if (opcode.starts_with("cp.async")) {
    const std::size_t at = rest.rfind("], ");
    return at == rest.npos ? 0 : std::atoi(std::string(rest.substr(at + 3)).c_str());
  }
  const std::string_view type = opcode.substr(opcode.rfind('.') + 1);
  const int bits = std::atoi(std::string(type.substr(type.find_first_of("0123456789"))).c_str());
  return bits / 8 * (has(opcode, ".v4") ? 4 : has(opcode, ".v2") ? 2 : 1);
}

void count(const Line& line, PtxQuality& quality) {
  const std::string_view opcode = line.opcode;
  ++quality.instructions;
  quality.doubles += has(opcode, ".f64");
  quality.local += has(opcode, ".local");
  quality.approximate += has(opcode, ".approx") || has(opcode, ".ftz");
  const bool access = (opcode.starts_with("ld.") || opcode.starts_with("st.") ||
                       opcode.starts_with("cp.async.c")) &&
                      has(opcode, "global") && !has(opcode, "commit");
  if (!access) return;
  const auto bytes = static_cast<unsigned>(bytes_of(opcode, line.rest));
  if (bytes >= 1 && bytes <= 16)
    ++quality.global[static_cast<std::size_t>(std::bit_width(bytes)) - 1];
}

}  // namespace

PtxQuality quality_of(std::string_view ptx) {
  const Body body = parse(ptx);
  PtxQuality quality;
  for (std::size_t i = 0; i < body.lines.size(); ++i) {
    count(body.lines[i], quality);
    if (!body.lines[i].opcode.starts_with("bra")) continue;
    const std::string_view target = body.lines[i].rest.substr(0, body.lines[i].rest.find(';'));
    const auto label = body.labels.find(trimmed(target));
    if (label == body.labels.end() || label->second > i) continue;
    int mma = 0;
    for (std::size_t k = label->second; k <= i; ++k)
      mma += body.lines[k].opcode.starts_with("mma.");
    // Of loops with as many, the innermost.
    const int size = static_cast<int>(i - label->second + 1);
    if (mma > quality.loop_mma ||
        (mma == quality.loop_mma && mma > 0 && size < quality.loop_instructions)) {
      quality.loop_mma = mma;
      quality.loop_instructions = size;
    }
  }
  return quality;
}

std::string accesses_text(const PtxQuality& quality) {
  std::string text;
  for (std::size_t i = quality.global.size(); i-- > 0;)
    if (quality.global[i] > 0)
      text += (text.empty() ? "" : " ") + std::to_string(quality.global[i]) + "x" +
              std::to_string(1 << i);
  return text.empty() ? "-" : text;
}

}  // namespace halftone::tests
