// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include <algorithm>
#include <array>
#include <halftone/encoding/text.hpp>
#include <map>
#include <vector>

using halftone::manifest::Buffer;
using halftone::manifest::Cast;
using halftone::manifest::Kernel;
using halftone::manifest::Launch;
using halftone::manifest::Manifest;
using halftone::manifest::Phase;
using halftone::manifest::Program;
using halftone::manifest::Role;

namespace {

constexpr std::array kPhases = {Phase::forward,  Phase::loss,  Phase::loss_backward,
                                Phase::backward, Phase::check, Phase::update};
constexpr std::array kPhaseNames = {"forward",  "loss",  "loss gradient",
                                    "backward", "check", "update"};
constexpr int kLeastHeight = 38, kGap = 8, kBoxLeft = 300, kBoxWidth = 330, kWidth = 930;
constexpr int kChip = 108, kChipRow = 18, kColumns = 2;  // of chips on each side

const Program& training(const Manifest& manifest) {
  return *std::ranges::find(manifest.programs, "training", &Program::name);
}

/// Buffers of the program that some value of the model lies in, by the name people know it by.
std::vector<std::string> names_of_buffers(const Program& program) {
  std::vector<std::string> names;
  for (const Buffer& buffer : program.buffers) names.push_back(buffer.name);
  for (const auto& value : program.values) {
    if (value.buffer < 0) continue;
    std::string& name = names[static_cast<std::size_t>(value.buffer)];
    if (!name.starts_with('%')) continue;
    const bool gradient = value.role == halftone::manifest::ValueRole::gradient;
    name = (gradient ? "d " : "") + value.name;
  }
  return names;
}

struct Box {
  const Kernel* kernel;
  const Launch* launch;
  Phase phase;
  std::vector<std::int32_t> reads, writes;  // buffers
  int top = 0, height = kLeastHeight;
};

/// Whether a launch writes an argument, from what the manifest says of its buffer. `again`: the
/// launch has it for the second time, and inputs come before results. What one step makes and later
/// launches of the step read is written where it first occurs.
bool is_written(Role role, Phase phase, bool again, bool made) {
  switch (role) {
    case Role::activation:
    case Role::output:
    case Role::loss:
    case Role::statistic:
      return !made;
    case Role::gradients:
      return phase == Phase::backward;
    case Role::working_copies:
    case Role::state:
      return phase == Phase::update;
    default:
      return again;
  }
}

void add(std::vector<std::int32_t>& buffers, std::int32_t buffer) {
  if (std::ranges::find(buffers, buffer) == buffers.end()) buffers.push_back(buffer);
}

Box box_of(const Manifest& manifest, const Launch& launch, Phase phase, std::vector<bool>& made) {
  Box box{&manifest.kernels[static_cast<std::size_t>(launch.kernel)], &launch, phase, {}, {}};
  for (auto at = launch.arguments.begin(); at != launch.arguments.end(); ++at) {
    const auto buffer = static_cast<std::size_t>(at->buffer);
    const Role role = training(manifest).buffers[buffer].role;
    const bool again = std::find(launch.arguments.begin(), at, *at) != at;
    add(is_written(role, phase, again, made[buffer]) ? box.writes : box.reads, at->buffer);
  }
  for (const std::int32_t buffer : box.writes) made[static_cast<std::size_t>(buffer)] = true;
  const auto chips = static_cast<int>(std::max(box.reads.size(), box.writes.size()));
  box.height = std::max(kLeastHeight, (chips + kColumns - 1) / kColumns * kChipRow + 2);
  return box;
}

std::vector<Box> boxes_of(const Manifest& manifest) {
  const Program& program = training(manifest);
  std::vector<Box> boxes;
  std::vector<bool> made(program.buffers.size(), false);
  int top = kGap / 2;
  for (const Phase phase : kPhases) {
    for (const Launch& launch : program.phases[static_cast<std::size_t>(phase)]) {
      boxes.push_back(box_of(manifest, launch, phase, made));
      boxes.back().top = top;
      top += boxes.back().height + kGap;
    }
  }
  return boxes;
}

std::string chip(int x, int y, const Buffer& buffer, const std::string& name, const char* how) {
  const std::string format = spelled(buffer.encoding);
  std::string shown = name.size() > 15 ? name.substr(0, 14) + "…" : name;
  return "<g class=\"chip " + format + "\"><title>" + escaped(name) + ": " + format + ", " + how +
         "</title><rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" +
         std::to_string(kChip - 4) + "\" height=\"15\" rx=\"4\"/><text x=\"" +
         std::to_string(x + 5) + "\" y=\"" + std::to_string(y + 12) + "\">" + escaped(shown) +
         "</text></g>";
}

std::string arcs(const std::vector<Box>& boxes, const Program& program,
                 const std::vector<std::string>& names) {
  std::string svg;
  std::map<std::int32_t, const Box*> writer;
  for (const Box& box : boxes) {
    for (const std::int32_t buffer : box.reads) {
      const auto found = writer.find(buffer);
      if (found == writer.end()) continue;
      const int from = found->second->top + 26, to = box.top + 10;
      const int bulge = kBoxLeft + kBoxWidth + 236 + std::min(56, (to - from) / 8);
      const Buffer& held = program.buffers[static_cast<std::size_t>(buffer)];
      svg += "<path class=\"arc " + spelled(held.encoding) + "\" d=\"M" +
             std::to_string(kBoxLeft + kBoxWidth + 222) + " " + std::to_string(from) + " C" +
             std::to_string(bulge) + " " + std::to_string(from) + " " + std::to_string(bulge) +
             " " + std::to_string(to) + " " + std::to_string(kBoxLeft + kBoxWidth + 2) + " " +
             std::to_string(to) + "\"><title>" + escaped(names[static_cast<std::size_t>(buffer)]) +
             "</title></path>";
    }
    for (const std::int32_t buffer : box.writes) writer[buffer] = &box;
  }
  return svg;
}

std::string drawn(const Box& box, const Program& program, const std::vector<std::string>& names) {
  std::string fused = box.launch->fused;
  if (fused.size() > 58) fused = fused.substr(0, 57) + "…";
  std::string svg = "<g class=\"kernel\"><title>" + escaped(box.launch->fused) +
                    "</title><rect x=\"" + std::to_string(kBoxLeft) + "\" y=\"" +
                    std::to_string(box.top) + "\" width=\"" + std::to_string(kBoxWidth) +
                    "\" height=\"" + std::to_string(box.height) +
                    "\" rx=\"6\"/><text class=\"name\" x=\"" + std::to_string(kBoxLeft + 8) +
                    "\" y=\"" + std::to_string(box.top + 15) + "\">" + escaped(box.kernel->name) +
                    "</text><text class=\"fused\" x=\"" + std::to_string(kBoxLeft + 8) + "\" y=\"" +
                    std::to_string(box.top + 30) + "\">" + escaped(fused) + "</text></g>";
  const auto chips = [&](const std::vector<std::int32_t>& buffers, int left, int step,
                         const char* how) {
    for (int i = 0; i < static_cast<int>(buffers.size()); ++i) {
      const auto at = static_cast<std::size_t>(buffers[static_cast<std::size_t>(i)]);
      svg += chip(left + step * (i % kColumns), box.top + 2 + kChipRow * (i / kColumns),
                  program.buffers[at], names[at], how);
    }
  };
  chips(box.writes, kBoxLeft + kBoxWidth + 8, kChip, "written");
  chips(box.reads, kBoxLeft - kChip, -kChip, "read");
  return svg;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::string kernel_graph(const Manifest& manifest) {
  const Program& program = training(manifest);
  const std::vector<std::string> names = names_of_buffers(program);
  const std::vector<Box> boxes = boxes_of(manifest);
  const int height = boxes.empty() ? 0 : boxes.back().top + boxes.back().height + kGap / 2;
  std::string svg = "<svg class=\"graph\" viewBox=\"0 0 " + std::to_string(kWidth) + " " +
                    std::to_string(height) + "\">" + arcs(boxes, program, names);
  for (std::size_t row = 0; row < boxes.size(); ++row) {
    const Box& box = boxes[row];
    svg += drawn(box, program, names);
    if (row == 0 || box.phase != boxes[row - 1].phase) {
      const auto phase = std::ranges::find(kPhases, box.phase) - kPhases.begin();
      svg += "<text class=\"phase\" x=\"0\" y=\"" + std::to_string(box.top + 23) + "\">" +
             kPhaseNames[static_cast<std::size_t>(phase)] + "</text>";
    }
  }
  return svg + "</svg>";
}

std::string cast_table(const Manifest& manifest) {
  const Program& program = training(manifest);
  if (program.casts.empty()) return "<p>No value is cast.</p>";
  std::string html =
      "<table><tr><th>value</th><th>role</th><th>from</th><th>to</th><th>kernel</th><th>launch of "
      "its own</th><th>rule</th></tr>";
  constexpr std::array kRoles = {"activation",      "saved",  "gradient",       "weight",
                                 "weight gradient", "master", "optimizer state"};
  for (const Cast& cast : program.casts) {
    const auto& value = program.values[static_cast<std::size_t>(cast.value)];
    const auto row = [&](std::string_view text) { html += "<td>" + escaped(text) + "</td>"; };
    html += "<tr>";
    row(value.name);
    row(kRoles[static_cast<std::size_t>(value.role)]);
    row(word(cast.from.element));
    html += "<td class=\"" + std::string(word(cast.to.element)) + "\">" +
            std::string(word(cast.to.element)) + "</td>";
    row(cast.kernel);
    row(cast.own_launch ? "yes" : "no");
    row(cast.rule < 0 ? "" : manifest.rules[static_cast<std::size_t>(cast.rule)]);
    html += "</tr>";
  }
  return html + "</table>";
}
