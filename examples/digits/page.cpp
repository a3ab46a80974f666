// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "graph.hpp"

namespace {

constexpr const char* kStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1d2430; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-size: .85rem; } th, td { text-align: left; padding: .2rem .7rem .2rem 0; border-bottom: 1px solid #e3e7ee; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
svg text { font: 10px system-ui, sans-serif; fill: #1d2430; } svg.graph { width: 100%; }
.kernel rect { fill: #fff; stroke: #9aa4b5; } .kernel .name { font-size: 11px; font-weight: 600; } .kernel .fused { fill: #5b6677; font-size: 9px; }
.phase { font-weight: 600; fill: #5b6677; } .arc { fill: none; stroke-width: 1.3; opacity: .55; }
.chip rect { stroke: none; } .chip text { font-size: 9px; }
.chip.f32 rect, td.f32, .key.f32 { fill: #cfe3ff; background: #cfe3ff; } .arc.f32 { stroke: #3b7dd8; }
.chip.bf16 rect, td.bf16, .key.bf16 { fill: #ffdcb8; background: #ffdcb8; } .arc.bf16 { stroke: #d97a1a; }
.chip.f16 rect, td.f16, .key.f16 { fill: #d6f0cf; background: #d6f0cf; } .arc.f16 { stroke: #3d9a2b; }
.chip.tf32 rect, td.tf32, .key.tf32 { fill: #e8d8fb; background: #e8d8fb; } .arc.tf32 { stroke: #7c46c2; }
.chip.i32 rect, .key.i32 { fill: #e3e7ee; background: #e3e7ee; } .arc.i32 { stroke: #7a8597; }
.key { padding: .05rem .5rem; border-radius: .3rem; margin-right: .4rem; }
.line { fill: none; stroke-width: 1.4; } .axis { stroke: #c5ccd8; } details { margin: .6rem 0; } summary { cursor: pointer; font-weight: 600; }
)";
constexpr std::array kColours = {"#3b7dd8", "#d97a1a", "#3d9a2b", "#7c46c2"};
constexpr double kWide = 860, kHigh = 220, kLeft = 52;

/// Every value the mean of up to `points` equal parts, so that a curve stays readable.
std::vector<double> thinned(const std::vector<float>& values, std::size_t points) {
  std::vector<double> means;
  const std::size_t width = std::max<std::size_t>(1, values.size() / points);
  for (std::size_t i = 0; i + width <= values.size(); i += width) {
    double sum = 0;
    for (std::size_t k = i; k < i + width; ++k) sum += values[k];
    means.push_back(sum / static_cast<double>(width));
  }
  return means;
}

struct Curve {
  std::string name;
  const char* colour;
  std::vector<double> values;  // all positive
};

/// Curves over the steps, the vertical axis logarithmic.
std::string chart(const std::vector<Curve>& curves, const std::string& what) {
  double lowest = INFINITY, highest = -INFINITY;
  for (const Curve& curve : curves) {
    for (const double value : curve.values) {
      if (!(value > 0) || !std::isfinite(value)) continue;
      lowest = std::min(lowest, std::log10(value));
      highest = std::max(highest, std::log10(value));
    }
  }
  if (!(highest > lowest)) highest = lowest + 1;
  std::ostringstream svg;
  svg << std::setprecision(5) << "<svg viewBox=\"0 0 " << kWide + 70 << " " << kHigh + 30 << "\">";
  for (double tick = std::floor(lowest); tick <= highest; tick += 1) {
    const double y = kHigh - (tick - lowest) / (highest - lowest) * kHigh;
    if (y > kHigh) continue;
    svg << "<line class=\"axis\" x1=\"" << kLeft << "\" x2=\"" << kWide << "\" y1=\"" << y
        << "\" y2=\"" << y << "\"/><text x=\"4\" y=\"" << y + 4 << "\">" << std::pow(10.0, tick)
        << "</text>";
  }
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const auto& values = curves[i].values;
    svg << "<polyline class=\"line\" stroke=\"" << curves[i].colour << "\" points=\"";
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!(values[k] > 0) || !std::isfinite(values[k])) continue;
      svg << kLeft + (kWide - kLeft) * static_cast<double>(k) / static_cast<double>(values.size())
          << "," << kHigh - (std::log10(values[k]) - lowest) / (highest - lowest) * kHigh << " ";
    }
    svg << "\"/><text x=\"" << kWide + 8 << "\" y=\"" << 20 + 16 * i
        << "\" style=\"fill:" << curves[i].colour << ";font-weight:600\">"
        << escaped(curves[i].name) << "</text>";
  }
  svg << "<text x=\"" << kLeft << "\" y=\"" << kHigh + 22 << "\">" << escaped(what)
      << "</text></svg>";
  return svg.str();
}

void put_table(std::ostream& out, const std::vector<Section>& sections) {
  out << "<table><tr><th>rules</th><th>held-out accuracy</th><th>spread</th><th>ms per step</th>"
         "<th>kernels per step</th><th>casts per step</th><th>skipped steps</th><th>last loss "
         "scale</th><th>peak bytes</th></tr>";
  for (const Section& section : sections) {
    const Summary& s = section.summary;
    const auto cell = [&](const auto& value) {
      out << "<td class=\"number\">" << value << "</td>";
    };
    out << "<tr><td>" << escaped(s.rules) << "</td>" << std::setprecision(4);
    cell(std::to_string(100 * s.accuracy).substr(0, 5) + " %");
    cell(std::to_string(100 * s.accuracy_spread).substr(0, 4));
    cell(std::to_string(s.ms_per_step).substr(0, 5));
    cell(s.forward_kernels + s.backward_kernels + s.update_kernels);
    cell(s.casts_per_step);
    cell(s.skipped_steps);
    cell(s.loss_scale);
    cell(s.peak_bytes_measured);
    out << "</tr>";
  }
  out << "</table>";
}

}  // namespace

void write_page(std::ostream& out, const std::vector<Section>& sections) {
  out << "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Halftone: handwritten "
         "digits under "
      << sections.size() << " rule sets</title><style>" << kStyle
      << "</style><h1>Handwritten digits under " << sections.size() << " rule sets</h1><p>"
      << escaped(sections.front().summary.device) << "; means of " << sections.front().summary.runs
      << " seeds with equal initial weights.</p>";
  put_table(out, sections);
  std::vector<Curve> losses, scales;
  for (const Section& section : sections) {
    const char* colour = kColours[losses.size() % kColours.size()];
    losses.push_back({section.summary.rules, colour, thinned(section.run.losses, 220)});
    if (section.artifact.manifest().loss_scale.kind != halftone::manifest::LossScale::Kind::none)
      scales.push_back({section.summary.rules, colour, thinned(section.run.loss_scales, 880)});
  }
  out << "<h2>Loss, first seed</h2>"
      << chart(losses,
               "training steps, 0 to " + std::to_string(sections.front().run.losses.size()));
  if (!scales.empty()) out << "<h2>Loss scale, first seed</h2>" << chart(scales, "training steps");
  out << "<h2>Kernels and formats</h2><p>Left of a kernel what it reads, right what it writes: ";
  for (const char* format : {"f32", "tf32", "bf16", "f16", "i32"})
    out << "<span class=\"key " << format << "\">" << format << "</span>";
  out << "</p>";
  for (const Section& section : sections) {
    out << "<details"
        << (&section == &sections[std::min<std::size_t>(1, sections.size() - 1)] ? " open" : "")
        << "><summary>" << escaped(section.summary.rules) << "</summary><ul>";
    for (const std::string& rule : section.artifact.manifest().rules)
      out << "<li><code>" << escaped(rule) << "</code></li>";
    out << "</ul>" << kernel_graph(section.artifact.manifest()) << "<h2>Casts</h2>"
        << cast_table(section.artifact.manifest()) << "</details>";
  }
  out << "</html>\n";
}
