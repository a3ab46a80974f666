// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "markup.hpp"

namespace halftone::tools {
namespace {

constexpr int kLeastHeight = 38, kGap = 8, kBoxLeft = 300, kBoxWidth = 330, kWidth = 930;
constexpr int kChip = 108, kChipRow = 18, kColumns = 2;  // of chips on each side
constexpr std::size_t kFusedMost = 58, kNameMost = 15;   // characters

struct Box {
  const RunFacts::Kernel* kernel;
  int top, height;
};

std::vector<Box> boxes_of(const RunFacts& facts) {
  std::vector<Box> boxes;
  int top = kGap / 2;
  for (const RunFacts::Kernel& kernel : facts.kernels) {
    const auto chips = static_cast<int>(std::max(kernel.reads.size(), kernel.writes.size()));
    const int height = std::max(kLeastHeight, (chips + kColumns - 1) / kColumns * kChipRow + 2);
    boxes.push_back({&kernel, top, height});
    top += height + kGap;
  }
  return boxes;
}

/// Of UTF-8, cut between characters.
std::string cut(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string number(int value) { return std::to_string(value); }

std::string chip(int x, int y, const RunFacts::Buffer& buffer, const char* how) {
  return "<g class=\"chip " + class_of(buffer.format) + "\"><title>" + escaped(buffer.name) + ": " +
         escaped(buffer.format) + ", " + how + "</title><rect x=\"" + number(x) + "\" y=\"" +
         number(y) + "\" width=\"" + number(kChip - 4) + "\" height=\"15\" rx=\"4\"/><text x=\"" +
         number(x + 5) + "\" y=\"" + number(y + 12) + "\">" + escaped(cut(buffer.name, kNameMost)) +
         "</text></g>";
}

std::string arc(const Box& writer, const Box& reader, const RunFacts::Buffer& buffer) {
  const int from = writer.top + 26, to = reader.top + 10;
  const std::string bulge = number(kBoxLeft + kBoxWidth + 236 + std::min(56, (to - from) / 8));
  return "<path class=\"arc " + class_of(buffer.format) + "\" d=\"M" +
         number(kBoxLeft + kBoxWidth + 222) + " " + number(from) + " C" + bulge + " " +
         number(from) + " " + bulge + " " + number(to) + " " + number(kBoxLeft + kBoxWidth + 2) +
         " " + number(to) + "\"><title>" + escaped(buffer.name) + "</title></path>";
}

std::string arcs(const std::vector<Box>& boxes, const RunFacts& facts) {
  std::string svg;
  std::map<std::int32_t, const Box*> writer;
  for (const Box& box : boxes) {
    for (const std::int32_t buffer : box.kernel->reads) {
      const auto found = writer.find(buffer);
      if (found != writer.end())
        svg += arc(*found->second, box, facts.buffers[static_cast<std::size_t>(buffer)]);
    }
    for (const std::int32_t buffer : box.kernel->writes) writer[buffer] = &box;
  }
  return svg;
}

std::string drawn(const Box& box, const RunFacts& facts) {
  const RunFacts::Kernel& kernel = *box.kernel;
  std::string svg =
      "<g class=\"kernel\"><title>" + escaped(kernel.fused) + "</title><rect x=\"" +
      number(kBoxLeft) + "\" y=\"" + number(box.top) + "\" width=\"" + number(kBoxWidth) +
      "\" height=\"" + number(box.height) + "\" rx=\"6\"/><text class=\"name\" x=\"" +
      number(kBoxLeft + 8) + "\" y=\"" + number(box.top + 15) + "\">" + escaped(kernel.name) +
      "</text><text class=\"fused\" x=\"" + number(kBoxLeft + 8) + "\" y=\"" +
      number(box.top + 30) + "\">" + escaped(cut(kernel.fused, kFusedMost)) + "</text></g>";
  const auto chips = [&](const std::vector<std::int32_t>& buffers, int left, int step,
                         const char* how) {
    for (int i = 0; i < static_cast<int>(buffers.size()); ++i) {
      const auto at = static_cast<std::size_t>(buffers[static_cast<std::size_t>(i)]);
      svg += chip(left + step * (i % kColumns), box.top + 2 + kChipRow * (i / kColumns),
                  facts.buffers[at], how);
    }
  };
  chips(kernel.writes, kBoxLeft + kBoxWidth + 8, kChip, "written");
  chips(kernel.reads, kBoxLeft - kChip, -kChip, "read");
  return svg;
}

std::string spaced(std::string words) {
  std::ranges::replace(words, '_', ' ');
  return words;
}

}  // namespace

std::string class_of(const std::string& format) {
  return escaped(format.substr(0, format.find(' ')));
}

std::string kernel_graph(const RunFacts& facts) {
  const std::vector<Box> boxes = boxes_of(facts);
  const int height = boxes.empty() ? 0 : boxes.back().top + boxes.back().height + kGap / 2;
  std::string svg = "<svg class=\"graph\" viewBox=\"0 0 " + number(kWidth) + " " + number(height) +
                    "\">" + arcs(boxes, facts);
  const Box* before = nullptr;
  for (const Box& box : boxes) {
    svg += drawn(box, facts);
    if (!before || box.kernel->phase != before->kernel->phase) {
      svg += "<text class=\"phase\" x=\"0\" y=\"" + number(box.top + 23) + "\">" +
             escaped(spaced(box.kernel->phase)) + "</text>";
    }
    before = &box;
  }
  return svg + "</svg>";
}

std::string cast_table(const RunFacts& facts) {
  if (facts.casts.empty()) return "<p>No value is cast.</p>";
  std::string html =
      "<table class=\"casts\"><thead><tr><th>value</th><th>role</th><th>from</th><th>to</th>"
      "<th>kernel</th><th>launch of its own</th><th>rule</th></tr></thead><tbody>";
  for (const RunFacts::Cast& cast : facts.casts) {
    const auto cell = [&](const std::string& text) { html += "<td>" + escaped(text) + "</td>"; };
    html += "<tr>";
    cell(cast.value);
    cell(spaced(cast.role));
    cell(cast.from);
    html += "<td class=\"" + class_of(cast.to) + "\">" + escaped(cast.to) + "</td>";
    cell(cast.kernel);
    cell(cast.own_launch ? "yes" : "no");
    cell(cast.rule);
    html += "</tr>";
  }
  return html + "</tbody></table>";
}

}  // namespace halftone::tools
