// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

using halftone::manifest::Buffer;
using halftone::manifest::Cast;
using halftone::manifest::Format;
using halftone::manifest::Kernel;
using halftone::manifest::Launch;
using halftone::manifest::Manifest;
using halftone::manifest::Phase;
using halftone::manifest::Program;

namespace {

constexpr std::array kPhases = {Phase::forward,  Phase::loss,  Phase::loss_backward,
                                Phase::backward, Phase::check, Phase::update};
constexpr std::array kPhaseNames = {"forward",  "loss",  "loss gradient",
                                    "backward", "check", "update"};
constexpr int kRow = 46, kBoxLeft = 300, kBoxWidth = 330, kChip = 108, kWidth = 930;

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
};

/// A launch's arguments are its inputs, then its results, then perhaps a workspace; a buffer that
/// was written before, or that nobody in the program writes, is an input.
std::vector<Box> boxes_of(const Manifest& manifest) {
  const Program& program = training(manifest);
  std::vector<Box> boxes;
  std::vector<bool> written(program.buffers.size(), false);
  using halftone::manifest::Role;
  for (const Phase phase : kPhases) {
    for (const Launch& launch : program.phases[static_cast<std::size_t>(phase)]) {
      Box box{&manifest.kernels[static_cast<std::size_t>(launch.kernel)], &launch, phase, {}, {}};
      for (const auto& argument : launch.arguments) {
        const auto at = static_cast<std::size_t>(argument.buffer);
        const Role role = program.buffers[at].role;
        const bool result = role == Role::activation || role == Role::output ||
                            role == Role::loss || role == Role::gradients ||
                            role == Role::statistic;
        auto& list =
            result && (!written[at] || (phase == Phase::backward && role == Role::gradients))
                ? box.writes
                : box.reads;
        if (std::ranges::find(list, argument.buffer) == list.end()) list.push_back(argument.buffer);
      }
      for (const std::int32_t buffer : box.writes) written[static_cast<std::size_t>(buffer)] = true;
      boxes.push_back(std::move(box));
    }
  }
  return boxes;
}

std::string chip(double x, double y, const Buffer& buffer, const std::string& name) {
  const std::string format(name_of(buffer.format));
  std::string shown = name.size() > 15 ? name.substr(0, 14) + "…" : name;
  return "<g class=\"chip " + format + "\"><title>" + escaped(name) + ": " + format +
         "</title><rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" +
         std::to_string(kChip - 4) + "\" height=\"15\" rx=\"4\"/><text x=\"" +
         std::to_string(x + 5) + "\" y=\"" + std::to_string(y + 11.5) + "\">" + escaped(shown) +
         "</text></g>";
}

std::string arcs(const std::vector<Box>& boxes, const Program& program,
                 const std::vector<std::string>& names) {
  std::string svg;
  std::map<std::int32_t, std::size_t> writer;
  for (std::size_t row = 0; row < boxes.size(); ++row) {
    for (const std::int32_t buffer : boxes[row].reads) {
      const auto found = writer.find(buffer);
      if (found == writer.end()) continue;
      const auto from = static_cast<double>(found->second) * kRow + 30;
      const auto to = static_cast<double>(row) * kRow + 14;
      const double bulge = kBoxLeft + kBoxWidth + 236 + std::min(56.0, (to - from) / 8);
      const Buffer& held = program.buffers[static_cast<std::size_t>(buffer)];
      svg += "<path class=\"arc " + std::string(name_of(held.format)) + "\" d=\"M" +
             std::to_string(kBoxLeft + kBoxWidth + 222) + " " + std::to_string(from) + " C" +
             std::to_string(bulge) + " " + std::to_string(from) + " " + std::to_string(bulge) +
             " " + std::to_string(to) + " " + std::to_string(kBoxLeft + kBoxWidth + 2) + " " +
             std::to_string(to) + "\"><title>" + escaped(names[static_cast<std::size_t>(buffer)]) +
             "</title></path>";
    }
    for (const std::int32_t buffer : boxes[row].writes) writer[buffer] = row;
  }
  return svg;
}

std::string box(const Box& box, double y, const Program& program,
                const std::vector<std::string>& names) {
  const std::string top = std::to_string(y);
  std::string fused = box.launch->fused;
  if (fused.size() > 58) fused = fused.substr(0, 57) + "…";
  std::string svg =
      "<g class=\"kernel\"><title>" + escaped(box.launch->fused) + "</title><rect x=\"" +
      std::to_string(kBoxLeft) + "\" y=\"" + top + "\" width=\"" + std::to_string(kBoxWidth) +
      "\" height=\"38\" rx=\"6\"/><text class=\"name\" x=\"" + std::to_string(kBoxLeft + 8) +
      "\" y=\"" + std::to_string(y + 15) + "\">" + escaped(box.kernel->name) +
      "</text><text class=\"fused\" x=\"" + std::to_string(kBoxLeft + 8) + "\" y=\"" +
      std::to_string(y + 30) + "\">" + escaped(fused) + "</text></g>";
  const auto chips = [&](const std::vector<std::int32_t>& buffers, double left, int direction,
                         std::size_t columns) {
    for (std::size_t i = 0; i < std::min<std::size_t>(buffers.size(), 2 * columns); ++i) {
      const auto at = static_cast<std::size_t>(buffers[i]);
      svg += chip(left + direction * kChip * static_cast<double>(i % columns),
                  y + 2 + 18 * static_cast<double>(i / columns), program.buffers[at], names[at]);
    }
  };
  chips(box.writes, kBoxLeft + kBoxWidth + 8, 1, 2);
  chips(box.reads, kBoxLeft - kChip, -1, 2);
  return svg;
}

}  // namespace

std::string_view name_of(Format format) {
  constexpr std::array<std::string_view, 5> kNames = {"f32", "tf32", "f16", "bf16", "i32"};
  return kNames[static_cast<std::size_t>(format)];
}

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
  std::string svg = "<svg class=\"graph\" viewBox=\"0 0 " + std::to_string(kWidth) + " " +
                    std::to_string(boxes.size() * kRow) + "\">" + arcs(boxes, program, names);
  for (std::size_t row = 0; row < boxes.size(); ++row) {
    const auto y = static_cast<double>(row) * kRow + 4;
    svg += box(boxes[row], y, program, names);
    if (row == 0 || boxes[row].phase != boxes[row - 1].phase) {
      const auto phase = std::ranges::find(kPhases, boxes[row].phase) - kPhases.begin();
      svg += "<text class=\"phase\" x=\"0\" y=\"" + std::to_string(y + 23) + "\">" +
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
    row(name_of(cast.from));
    html += "<td class=\"" + std::string(name_of(cast.to)) + "\">" + std::string(name_of(cast.to)) +
            "</td>";
    row(cast.kernel);
    row(cast.own_launch ? "yes" : "no");
    row(cast.rule < 0 ? "" : manifest.rules[static_cast<std::size_t>(cast.rule)]);
    html += "</tr>";
  }
  return html + "</table>";
}
