// SPDX-License-Identifier: Apache-2.0
#include "ptx_quality.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <utility>
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

/// Where accesses of so many bytes are counted; none for other sizes.
int* slot(AccessCounts& counts, int bytes) {
  const auto wide = static_cast<unsigned>(bytes);
  if (!std::has_single_bit(wide) || wide > 16) return nullptr;
  return &counts[static_cast<std::size_t>(std::bit_width(wide)) - 1];
}

void count(const Line& line, PtxQuality& quality) {
  const std::string_view opcode = line.opcode;
  ++quality.instructions;
  quality.doubles += has(opcode, ".f64");
  quality.local += has(opcode, ".local");
  quality.approximate += has(opcode, ".approx") || has(opcode, ".ftz");
  if (!has(opcode, "global")) return;
  AccessCounts* const counts = opcode.starts_with("ld.")          ? &quality.loads
                               : opcode.starts_with("st.")        ? &quality.stores
                               : opcode.starts_with("cp.async.c") ? &quality.copies
                                                                  : nullptr;
  if (!counts) return;
  if (int* const accesses = slot(*counts, bytes_of(opcode, line.rest))) ++*accesses;
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

namespace {

/// The text between `begin` and the next `end` after it; empty where there is none.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  if (from == text.npos) return {};
  text.remove_prefix(from + begin.size());
  return text.substr(0, text.find(end));
}

int number_in(std::string_view text, std::string_view begin, std::string_view end, int otherwise) {
  const std::string_view found = between(text, begin, end);
  return found.empty() ? otherwise : std::atoi(std::string(found).c_str());
}

/// The call of the skeleton and its template arguments.
std::string_view call_of(std::string_view text) {
  const std::size_t at = text.rfind("::run<Body");
  return at == text.npos ? std::string_view() : text.substr(at);
}

/// Which sizes the elements of a struct of the Body have, kWidth of them together. Operands that
/// the Body does not compute with are not loaded, and those whose neighbours lie apart one by one.
void expect(std::string_view fields, std::string_view body, int width, bool loads,
            const AccessCounts& has, std::vector<std::string>& faults) {
  while (!fields.empty()) {
    const std::size_t end = std::min(fields.size(), fields.find('\n'));
    const std::string_view line = trimmed(fields.substr(0, end));
    fields.remove_prefix(std::min(fields.size(), end + 1));
    const std::size_t space = line.find(' '), bracket = line.find("[kWidth];");
    if (space == line.npos || bracket == line.npos) continue;
    const std::string name(line.substr(space + 1, bracket - space - 1));
    if (loads && body.find("inputs." + name + "[i]") == body.npos) continue;
    if (loads && body.find("inputs." + name + "[i] = read") != body.npos) continue;  // one by one
    const std::string_view type = line.substr(0, space);
    const bool is_code = type.find("::f8") != type.npos || type.find("::f6") != type.npos ||
                         type.find("::f4") != type.npos || type.ends_with("8");
    const int size = is_code ? 1 : type.ends_with("16") ? 2 : 4;
    const int bytes = std::min(16, width * size);
    AccessCounts counts = has;
    const std::string fault = std::string("has no ") + (loads ? "load" : "store") + " of " +
                              std::to_string(bytes) + " bytes, which " + std::to_string(width) +
                              " of its elements are";
    if (*slot(counts, bytes) == 0 && std::ranges::find(faults, fault) == faults.end())
      faults.push_back(fault);
  }
}

void check_elements(const PtxQuality& quality, std::string_view body, std::string_view call,
                    std::vector<std::string>& faults) {
  const std::string_view arguments = between(call, "::run<Body, ", ">");
  const std::size_t second = arguments.find(", ");
  int width = number_in(body, "static constexpr int kWidth = ", ";", 4);
  if (call.find("Tile<") == call.npos && second != arguments.npos)
    width = std::atoi(std::string(arguments.substr(second + 2)).c_str());
  const int columns = number_in(body, "columns() { return ", ";", 0);  // 0: all elements
  if (columns % width != 0) return;
  const std::string_view inputs = between(body, "struct Inputs {", "};");
  const std::string_view outputs = between(body, "struct Outputs {", "};");
  expect(inputs, body, width, true, quality.loads, faults);
  expect(outputs, body, width, false, quality.stores, faults);
}

void check_staging(const PtxQuality& quality, std::string_view body, std::string_view call,
                   std::vector<std::string>& faults) {
  // Of two formats the narrow ones are widened on their way, by eight bytes.
  if (between(body, "using Lhs = ", ";") != between(body, "using Rhs = ", ";")) return;
  std::array<int, 8> tile{};
  std::string_view arguments = between(call, "Tile<", ">");
  for (int& number : tile) {
    number = std::atoi(std::string(arguments).c_str());
    arguments.remove_prefix(std::min(arguments.size(), arguments.find(", ") + 2));
  }
  if (tile[6] != 16 && tile[7] != 16) return;
  const AccessCounts& copies = quality.copies;
  if (copies[4] == 0 && quality.loads[4] == 0)
    faults.emplace_back("does not take operands 16 bytes at a time");
  if (tile[6] == 16 && tile[7] == 16 && copies[2] + copies[3] > 0)
    faults.emplace_back("has copies of operands of less than 16 bytes");
}

}  // namespace

std::vector<std::string> faults_of(const PtxQuality& quality, std::string_view text) {
  std::vector<std::string> faults;
  const auto none = [&](int count, const char* what) {
    if (count > 0) faults.push_back("has " + std::to_string(count) + " instructions " + what);
  };
  none(quality.doubles, "on f64");
  none(quality.local, "that name local memory");
  none(quality.approximate, "with .approx or .ftz");
  const std::size_t at = text.rfind("struct Body {");
  if (at == text.npos) return faults;
  const std::string_view body = text.substr(at), call = call_of(text);
  const std::string_view skeleton = text.substr(0, text.size() - call.size());
  // Column and segment kernels have a thread for every column, passes of transforms one for every
  // channel, contractions without tensor cores several.
  const bool is_by_element = skeleton.ends_with("::column") ||
                             skeleton.ends_with("::batched_column") ||
                             skeleton.ends_with("::segment") || skeleton.ends_with("_pass") ||
                             skeleton.ends_with("::contraction");
  const bool is_tensor = skeleton.ends_with("::tensor_contraction");
  if (is_tensor) check_staging(quality, body, call, faults);
  // Rows that are kept have four; what stands behind their threads says where they are kept.
  const bool is_kept = skeleton.ends_with("::kept_row");
  if (!is_by_element) check_elements(quality, body, is_kept ? "" : call, faults);
  return faults;
}

std::string accesses_text(const PtxQuality& quality) {
  std::string text;
  for (std::size_t i = quality.loads.size(); i-- > 0;) {
    const int count = quality.loads[i] + quality.stores[i] + quality.copies[i];
    if (count > 0)
      text += (text.empty() ? "" : " ") + std::to_string(count) + "x" + std::to_string(1 << i);
  }
  return text.empty() ? "-" : text;
}

}  // namespace halftone::tests
