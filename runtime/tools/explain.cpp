// SPDX-License-Identifier: Apache-2.0
#include "explain.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "halftone/encoding/text.hpp"
#include "halftone/manifest/plan.hpp"
#include "halftone/manifest/spelling.hpp"

namespace halftone::tools {
namespace {

using manifest::Manifest;
using manifest::Program;
using manifest::spelled;

constexpr int kSchema = 1;

/// What a person counts as part of a step; refresh runs when parameters are given values,
/// accumulate and external only for callers that ask for them.
bool is_of_every_step(std::size_t phase) {
  return manifest::form_of(static_cast<manifest::Phase>(phase)).run_by == manifest::RunBy::step;
}

/// Whether its exponents are fewer than f32's.
bool has_short_range(manifest::Element format) {
  return encoding::traits(format).exponent_bits <
         encoding::traits(manifest::Element::f32).exponent_bits;
}

/// "f16 and f8e5m2"
std::string listed(const std::set<manifest::Element>& formats) {
  std::string text;
  for (auto at = formats.begin(); at != formats.end(); ++at) {
    if (at != formats.begin()) text += std::next(at) == formats.end() ? " and " : ", ";
    text += encoding::word(*at);
  }
  return text;
}

/// "f16", "f8e4m3 saturate"
std::string to_of(const manifest::Cast& cast) {
  return std::string(encoding::word(cast.to.element)) + (cast.to.saturate ? " saturate" : "");
}

class Explainer {
 public:
  Explainer(const Manifest& manifest, const Binding& binding)
      : manifest_(manifest), binding_(binding) {}

  Json whole() const {
    Json json{{"schema", kSchema},
              {"model", manifest_.model},
              {"halftone_version", manifest_.halftone_version},
              {"targets", manifest_.targets},
              {"symbols", symbols()},
              {"inputs", inputs()},
              {"parameters", parameters()},
              {"rules", manifest_.rules},
              {"loss_scale", loss_scale()},
              {"decisions", decisions()},
              {"notes", notes()},
              {"programs", Json::array()}};
    if (!manifest_.limits.empty()) json["bounds"] = bounds();
    if (!manifest_.stages.empty()) {
      json["stages"] = manifest_.stages;
      json["during"] = manifest_.during;
    }
    for (const Program& program : manifest_.programs) json["programs"].push_back(explain(program));
    return json;
  }

 private:
  Json symbols() const {
    Json json = Json::object();
    for (std::size_t i = 0; i < binding_.size(); ++i) {
      json[manifest_.symbols[i]] = binding_[i] ? Json(*binding_[i]) : Json();
    }
    return json;
  }

  /// Of symbols that layers bound: the least and the most, null where that is open.
  Json bounds() const {
    constexpr std::int64_t kOpen = std::int64_t{1} << 62;
    Json json = Json::object();
    for (std::size_t i = 0; i < manifest_.symbols.size(); ++i) {
      std::int64_t least = 1, most = kOpen;
      for (const manifest::Limit& limit : manifest_.limits) {
        if (static_cast<std::size_t>(limit.symbol) != i) continue;
        least = std::max(least, limit.least);
        most = std::min(most, limit.most);
      }
      if (least > 1 || most < kOpen)
        json[manifest_.symbols[i]] = Json::array({least, most < kOpen ? Json(most) : Json()});
    }
    return json;
  }

  /// As the text form spells them.
  Json inputs() const {
    constexpr std::string_view kStatement = "input %";
    Json json = Json::array();
    const std::string_view text = manifest_.description;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = text.substr(at, end - at);
      if (line.starts_with(kStatement)) json.push_back(std::string(line.substr(kStatement.size())));
      at = end + 1;
    }
    return json;
  }

  Json parameters() const {
    std::int64_t elements = 0, trained = 0;
    for (const manifest::Parameter& parameter : manifest_.parameters) {
      std::int64_t count = 1;
      for (const std::int64_t extent : parameter.shape) count *= extent;  // verified by decode
      elements += count;
      if (parameter.trained) trained += count;
    }
    return {{"tensors", manifest_.parameters.size()}, {"elements", elements}, {"trained", trained}};
  }

  Json loss_scale() const {
    const manifest::LossScale& scale = manifest_.loss_scale;
    Json json{{"kind", spelled(scale.kind)}};
    if (scale.kind == manifest::LossScale::Kind::none) return json;
    json["initial"] = scale.initial;
    if (scale.kind == manifest::LossScale::Kind::fixed) return json;
    json.update({{"growth", scale.growth},
                 {"backoff", scale.backoff},
                 {"interval", scale.interval},
                 {"floor", scale.floor},
                 {"ceiling", scale.ceiling},
                 {"hysteresis", scale.hysteresis},
                 {"patience", scale.patience}});
    return json;
  }

  Json decisions() const {
    Json json = Json::array();
    for (const manifest::Decision& decision : manifest_.decisions) {
      json.push_back({{"field", decision.field},
                      {"layer", decision.layer},
                      {"role", decision.role},
                      {"pass", decision.pass},
                      {"setting", decision.setting},
                      {"rule", rule(decision.rule)},
                      {"beaten", beaten(decision.beaten)}});
    }
    return json;
  }

  Json notes() const {
    std::size_t gradients = 0;
    std::set<manifest::Element> formats;
    for (const Program& program : manifest_.programs) {
      if (program.name != "training") continue;
      for (const manifest::Value& value : program.values) {
        const manifest::Element format = value.encoding.element;
        if (value.role != manifest::ValueRole::gradient || !has_short_range(format)) continue;
        if (!numbers(value, program).is_null()) continue;  // the scale brings them into the range
        ++gradients;
        formats.insert(format);
      }
    }
    Json json = Json::array();
    if (gradients > 0 && manifest_.loss_scale.kind == manifest::LossScale::Kind::none) {
      json.push_back({{"label", "P44"},
                      {"text", std::to_string(gradients) +
                                   (gradients == 1 ? " gradient is" : " gradients are") +
                                   " held in " + listed(formats) +
                                   " without a loss scale: small ones vanish; add loss_scale "
                                   "dynamic to a rule everywhere"}});
    }
    const bool is_of_cpu = std::ranges::count(manifest_.targets, "cpu") > 0;
    for (const bool of_states : {true, false}) {
      const bool is_placed = std::ranges::any_of(manifest_.decisions, [&](const auto& decision) {
        return decision.field == "place" && decision.setting == "host" &&
               (decision.role == "optimizer_state") == of_states;
      });
      if (!is_of_cpu || !is_placed) continue;
      json.push_back({{"label", of_states ? "P91" : "P99"},
                      {"text", "on the CPU place host changes nothing: its memory is the host's"}});
    }
    return json;
  }

  Json explain(const Program& program) const {
    const auto arena = plan_of(program, binding_), on_chips = plan_of(program, binding_, true);
    Json json{{"name", program.name},
              {"arena_bytes", arena ? Json(arena->bytes) : Json()},
              {"host_bytes", on_chips ? Json(on_chips->host_bytes - on_chips->stay_bytes) : Json()},
              {"stay_bytes", on_chips ? Json(on_chips->stay_bytes) : Json()},
              {"accumulated_bytes", arena ? Json(arena->accumulated_bytes) : Json()},
              {"part_bytes", arena ? Json(arena->part_bytes) : Json()}};
    const bool is_in_full = program.name != "diagnosis";
    std::size_t launches = 0;
    for (std::size_t phase = 0; phase < manifest::kPhases; ++phase) {
      if (is_of_every_step(phase)) launches += program.phases[phase].size();
    }
    json["launches_per_step"] = launches;
    if (!is_in_full) return json;
    json["totals"] = {{"values", totals_of_values(program)},
                      {"buffers", totals_of_buffers(program)}};
    json["values"] = Json::array();
    for (const manifest::Value& value : program.values) {
      json["values"].push_back(explain(value, program));
    }
    json["phases"] = phases(program);
    json["stays"] = stays(program);
    add_casts(program, json);
    return json;
  }

  Json rule(std::int32_t index) const { return index < 0 ? Json() : Json(index + 1); }

  static Json beaten(std::span<const std::int32_t> rules) {
    Json json = Json::array();
    for (const std::int32_t index : rules) json.push_back(index + 1);
    return json;
  }

  Json bytes(const Size& size) const {
    const auto value = size.value();
    return value ? Json(*value) : Json(size.text(manifest_.symbols));
  }

  Json shape(std::span<const manifest::Dimension> dimensions) const {
    Json json = Json::array();
    for (const manifest::Dimension& dimension : dimensions) {
      const auto symbol = static_cast<std::size_t>(dimension.symbol);
      if (dimension.symbol < 0) {
        json.push_back(dimension.extent);
      } else if (binding_[symbol]) {
        json.push_back(dimension.extent * parts_of(*binding_[symbol], dimension.divisor) +
                       dimension.added);
      } else {
        const std::string factor =
            dimension.extent == 1 ? "" : std::to_string(dimension.extent) + "*";
        json.push_back(factor + symbol_text(manifest_.symbols[symbol], dimension.divisor) +
                       manifest::added_text(dimension));
      }
    }
    return json;
  }

  Size size(const manifest::Value& value) const { return {value.shape, value.encoding, binding_}; }

  Json explain(const manifest::Value& value, const Program& program) const {
    const bool stored = value.buffer >= 0;
    return {{"name", value.name},
            {"layer", value.layer},
            {"op", value.op},
            {"role", spelled(value.role)},
            {"pass", spelled(value.pass)},
            {"format", spelled(value.encoding)},
            {"numbers", numbers(value, program)},
            {"shape", shape(value.shape)},
            {"bytes", bytes(size(value))},
            {"stored", stored},
            {"buffer",
             stored ? Json(program.buffers[static_cast<std::size_t>(value.buffer)].name) : Json()},
            {"rule", rule(value.rule)},
            {"beaten", beaten(value.beaten)}};
  }

  /// The scaled format whose numbers lie there as wider ones (P52), or none.
  static Json numbers(const manifest::Value& value, const Program& program) {
    const auto index = static_cast<std::int32_t>(&value - program.values.data());
    for (const manifest::Cast& cast : program.casts)
      if (cast.value == index && encoding::is_scaled(cast.to)) return spelled(cast.to);
    return {};
  }

  struct Total {
    std::int64_t count = 0;
    Size bytes, stored;
  };

  Json totals_of_values(const Program& program) const {
    std::map<std::pair<manifest::ValueRole, manifest::Element>, Total> totals;
    for (const manifest::Value& value : program.values) {
      Total& total = totals[{value.role, value.encoding.element}];
      ++total.count;
      total.bytes += size(value);
      if (value.buffer >= 0) total.stored += size(value);
    }
    Json json = Json::array();
    for (const auto& [key, total] : totals) {
      json.push_back({{"role", spelled(key.first)},
                      {"format", encoding::word(key.second)},
                      {"count", total.count},
                      {"bytes", bytes(total.bytes)},
                      {"stored_bytes", bytes(total.stored)}});
    }
    return json;
  }

  Json totals_of_buffers(const Program& program) const {
    std::map<std::pair<manifest::Role, manifest::Element>, Total> totals;
    for (const manifest::Buffer& buffer : program.buffers) {
      Total& total = totals[{buffer.role, buffer.encoding.element}];
      ++total.count;
      total.bytes += Size(buffer.shape, buffer.encoding, binding_);
    }
    Json json = Json::array();
    for (const auto& [key, total] : totals) {
      json.push_back({{"role", spelled(key.first)},
                      {"format", encoding::word(key.second)},
                      {"count", total.count},
                      {"bytes", bytes(total.bytes)}});
    }
    return json;
  }

  Json phases(const Program& program) const {
    Json json = Json::array();
    for (std::size_t phase = 0; phase < manifest::kPhases; ++phase) {
      if (program.phases[phase].empty()) continue;
      Json kernels = Json::array();
      for (std::size_t i = 0; i < program.phases[phase].size(); ++i) {
        const manifest::Launch& launch = program.phases[phase][i];
        const auto& kernel = manifest_.kernels[static_cast<std::size_t>(launch.kernel)];
        const manifest::Section* section = manifest::section_of(program, phase, i);
        kernels.push_back({{"kernel", kernel.name},
                           {"skeleton", kernel.skeleton},
                           {"fused", launch.fused},
                           {"chunk_rows", chunk_rows(section)},
                           {"in_parts", section && !section->parts.empty()},
                           {"class_b", class_b(kernel)}});
      }
      json.push_back({{"phase", spelled(static_cast<manifest::Phase>(phase))},
                      {"every_step", is_of_every_step(phase)},
                      {"kernels", std::move(kernels)}});
    }
    return json;
  }

  /// Activations that are in the host's memory between the passes (P98): of each the buffer, behind
  /// which kernel it leaves and for which it comes back.
  Json stays(const Program& program) const {
    Json json = Json::array();
    for (const manifest::Stay& stay : program.stays) {
      const auto& buffer = program.buffers[static_cast<std::size_t>(stay.buffer)];
      const std::vector<std::int32_t> before = users_of(program, stay.buffer),
                                      behind = users_of(program, stay.back);
      const auto name_of = [&](std::int32_t kernel) {
        return manifest_.kernels[static_cast<std::size_t>(kernel)].name;
      };
      json.push_back({{"buffer", buffer.name},
                      {"bytes", bytes(Size(buffer.shape, buffer.encoding, binding_))},
                      {"behind", name_of(before.back())},
                      {"for", name_of(behind.front())}});
    }
    return json;
  }

  /// The kernels that are launched with a buffer, in the order of execution.
  static std::vector<std::int32_t> users_of(const Program& program, std::int32_t buffer) {
    std::vector<std::int32_t> kernels;
    for (const manifest::PhaseForm& form : manifest::kPhaseForms) {
      for (const manifest::Launch& launch : program.phases[static_cast<std::size_t>(form.phase)]) {
        const auto& arguments = launch.arguments;
        if (std::ranges::find(arguments, buffer, &manifest::Argument::buffer) != arguments.end())
          kernels.push_back(launch.kernel);
      }
    }
    return kernels;
  }

  /// For how many rows a launch runs at a time.
  static Json chunk_rows(const manifest::Section* section) {
    return section && section->parts.empty() ? Json(section->rows) : Json();
  }

  /// The CPU's variants whose products of bf16 (AMX, AVX512-BF16) are of class B (N8).
  Json class_b(const manifest::Kernel& kernel) const {
    Json variants = Json::array();
    if (std::ranges::find(manifest_.targets, "cpu") == manifest_.targets.end()) return variants;
    for (std::size_t i = 0; i < kernel.blocking.tiles.size(); ++i) {
      if (kernel.blocking.tiles[i].depth > 1) variants.push_back(manifest_.variants[i]);
    }
    return variants;
  }

  /// The first phase that launches a kernel of this name.
  std::size_t phase_of(const std::string& kernel, const Program& program) const {
    for (std::size_t phase = 0; phase < manifest::kPhases; ++phase) {
      for (const manifest::Launch& launch : program.phases[phase]) {
        if (manifest_.kernels[static_cast<std::size_t>(launch.kernel)].name == kernel) return phase;
      }
    }
    return static_cast<std::size_t>(manifest::Phase::forward);
  }

  void add_casts(const Program& program, Json& json) const {
    std::int64_t in_a_step = 0, with_launch = 0;
    Json casts = Json::array();
    for (const manifest::Cast& cast : program.casts) {
      const manifest::Value& value = program.values[static_cast<std::size_t>(cast.value)];
      const std::size_t phase = phase_of(cast.kernel, program);
      if (is_of_every_step(phase)) {
        ++in_a_step;
        if (cast.own_launch) ++with_launch;
      }
      casts.push_back({{"value", value.name},
                       {"role", spelled(value.role)},
                       {"layer", value.layer},
                       {"from", encoding::word(cast.from.element)},
                       {"to", to_of(cast)},
                       {"phase", spelled(static_cast<manifest::Phase>(phase))},
                       {"kernel", cast.kernel},
                       {"own_launch", cast.own_launch},
                       {"rule", rule(cast.rule)}});
    }
    json["casts_per_step"] = in_a_step;
    json["casts_with_own_launch"] = with_launch;
    json["casts"] = std::move(casts);
  }

  const Manifest& manifest_;
  const Binding& binding_;
};

}  // namespace

Json explanation_of(std::span<const Manifest> manifests, const Binding& binding,
                    const std::string& chip) {
  Json chips = chips_of(manifests, chip);
  const auto holds = [&](const Manifest& manifest) { return manifest::find_cuda(manifest, chip); };
  const Manifest& manifest =
      chip.empty() ? manifests.front() : *std::ranges::find_if(manifests, holds);
  Json json = Explainer(manifest, binding).whole();
  json["chips"] = std::move(chips);
  return json;
}

}  // namespace halftone::tools
