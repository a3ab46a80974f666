// SPDX-License-Identifier: Apache-2.0
#include "explain.hpp"
#include "table.hpp"

namespace halftone::tools {
namespace {

constexpr const char* kRoles[] = {"activation",      "saved",  "gradient",       "weight",
                                  "weight_gradient", "master", "optimizer_state"};

std::string titled(const std::string& title, const std::string& body) {
  return "\n" + title + "\n" + body;
}

/// Those that are neither plain f32 nor plain i32: what they are delivered in, how they are
/// converted, and whether they want a gradient.
std::string inputs(const Json& json) {
  std::string text;
  for (const Json& input : json["inputs"]) {
    const std::string spelled = plain(input);
    const std::size_t colon = spelled.find(" : "), end = spelled.find(']');
    const std::string element = colon < end ? spelled.substr(colon + 3, 4) : "";
    const bool is_plain = end + 1 == spelled.size() && (element == "f32[" || element == "i32[");
    if (!is_plain) text += wrapped("input " + printable(spelled), 2);
  }
  return text;
}

/// " (from 3 to 7)" of a symbol that layers bound.
std::string bounds(const Json& json, const std::string& symbol) {
  if (!json.contains("bounds") || !json["bounds"].contains(symbol)) return {};
  const Json& range = json["bounds"][symbol];
  return " (from " + plain(range[0]) + (range[1].is_null() ? "" : " to " + plain(range[1])) + ")";
}

std::string heading(const Json& json) {
  std::string text = "model " + plain(json["model"]) + ", made by halftone " +
                     plain(json["halftone_version"]) + " for " + joined(json["targets"], ", ") +
                     "\n";
  const Json& parameters = json["parameters"];
  text += plain(parameters["elements"]) + " parameters in " + plain(parameters["tensors"]) +
          " tensors, " + plain(parameters["trained"]) + " of them trained\n";
  text += inputs(json);
  if (json.contains("stages")) {
    text += wrapped("stages: " + joined(json["stages"], ", ") + "; what follows holds during " +
                        joined(json["during"], ", ") + ", of others --stage tells",
                    2);
  }
  std::string symbols;
  for (const auto& [name, value] : json["symbols"].items()) {
    symbols += (symbols.empty() ? "" : ", ") + printable(name) +
               (value.is_null() ? " is not bound" + bounds(json, name) : " = " + plain(value));
  }
  return symbols.empty() ? text : text + "symbols: " + symbols + "\n";
}

std::string rules(const Json& json) {
  std::string text;
  int number = 0;
  for (const Json& rule : json["rules"]) {
    const std::string label = std::to_string(++number);
    text += wrapped(std::string(label.size() < 2 ? 2 : 1, ' ') + label + "  " + plain(rule), 5);
  }
  return titled("rules, of which the last that matches and states a field wins",
                text.empty() ? "  none: all is f32\n" : text);
}

std::string loss_scale(const Json& json) {
  std::string text = "loss scale:";
  for (const auto& [name, value] : json["loss_scale"].items()) {
    text += name == "kind" ? " " + plain(value) : " " + name + " " + value.dump();
  }
  return "\n" + wrapped(text, 2);
}

std::string totals(const Json& totals) {
  Table values({"values", "format", "count", "bytes", "of these in memory"});
  for (const Json& total : totals["values"]) {
    values.add({plain(total["role"]), plain(total["format"]), plain(total["count"]),
                plain(total["bytes"]), plain(total["stored_bytes"])});
  }
  Table buffers({"memory", "format", "count", "bytes"});
  for (const Json& total : totals["buffers"]) {
    buffers.add({plain(total["role"]), plain(total["format"]), plain(total["count"]),
                 plain(total["bytes"])});
  }
  return values.text() + "\n" + buffers.text();
}

/// "pixels for fc1": the copy that fc1 reads; "fc1 from act1": what act1 contributes to the
/// gradient of fc1; else the name alone.
std::string whose(const Json& value) {
  const std::string name = plain(value["name"]), layer = plain(value["layer"]);
  if (name == layer || name.starts_with(layer + ".")) return name;
  return name + (value["role"] == "gradient" ? " from " : " for ") + layer;
}

/// By role, in the order of the artifact within a role.
std::string values(const Json& values) {
  Table table({"value", "format", "bytes", "lies in", "rule", "beaten"});
  for (const std::string role : kRoles) {
    bool is_first = true;
    for (const Json& value : values) {
      if (value["role"] != role) continue;
      const std::string pass = plain(value["pass"]);
      if (is_first) table.add({role + (pass == "none" ? ", of no pass" : ", pass " + pass)});
      is_first = false;
      table.add({"  " + whose(value), plain(value["format"]), plain(value["bytes"]),
                 value["stored"].get<bool>() ? plain(value["buffer"]) : "registers",
                 word_of_rule(value["rule"]), joined(value["beaten"], ",")});
    }
  }
  return table.text();
}

std::string phases(const Json& phases) {
  std::string text;
  for (const Json& phase : phases) {
    text += "  " + plain(phase["phase"]) +
            (phase["every_step"].get<bool>() ? "\n" : " (not in every step)\n");
    for (const Json& kernel : phase["kernels"]) {
      const Json &class_b = kernel["class_b"], &rows = kernel["chunk_rows"];
      text += wrapped("    " + plain(kernel["kernel"]) + " (" + plain(kernel["skeleton"]) +
                          (class_b.empty() ? "" : ", of class B on " + joined(class_b, ", ")) +
                          (rows.is_null() ? "" : ", by chunk_rows " + plain(rows)) +
                          (kernel["in_parts"].get<bool>() ? ", in parts" : "") +
                          "): " + plain(kernel["fused"]),
                      8);
    }
  }
  return text;
}

std::string casts(const Json& program) {
  Table table({"value", "role", "from", "to", "kernel", "launch", "rule"});
  for (const Json& cast : program["casts"]) {
    table.add({plain(cast["value"]), plain(cast["role"]), plain(cast["from"]), plain(cast["to"]),
               plain(cast["kernel"]), cast["own_launch"].get<bool>() ? "own" : "fused",
               word_of_rule(cast["rule"])});
  }
  const std::string title = "casts: " + plain(program["casts_per_step"]) + " each step, " +
                            plain(program["casts_with_own_launch"]) +
                            " of them in launches of their own";
  return titled(title, program["casts"].empty() ? "" : table.text());
}

std::string stays(const Json& stays) {
  if (stays.empty()) return {};
  Table table({"buffer", "bytes", "leaves behind", "is back for"});
  for (const Json& stay : stays) {
    table.add(
        {plain(stay["buffer"]), plain(stay["bytes"]), plain(stay["behind"]), plain(stay["for"])});
  }
  return titled("activations in the host's memory between the passes", table.text());
}

std::string memory(const Json& program) {
  const Json &arena = program["arena_bytes"], &accumulated = program["accumulated_bytes"],
             &part = program["part_bytes"], &host = program["host_bytes"],
             &stay = program["stay_bytes"];
  if (arena.is_null()) return "  arena: bind every symbol with --symbols to know its bytes\n";
  return "  arena: " + plain(arena) + " bytes" +
         (host == 0 ? "" : ", of which on chips " + plain(host) + " lie in the host's memory") +
         (stay == 0 ? "" : ", and " + plain(stay) + " of activations in the host's memory") +
         (part == 0 ? "" : ", and for each thread " + plain(part)) +
         (accumulated == 0 ? "" : ", and " + plain(accumulated) + " where micro-batches are used") +
         "\n";
}

std::string program(const Json& json) {
  std::string text = "\n== " + plain(json["name"]) + ": " + plain(json["launches_per_step"]) +
                     " launches each step ==\n" + memory(json);
  if (!json.contains("values")) return text;
  text += titled("totals", totals(json["totals"]));
  text += titled("values", values(json["values"]));
  text += titled("kernels and what each fused", phases(json["phases"]));
  text += stays(json["stays"]);
  return text + casts(json);
}

}  // namespace

std::string text_of(const Json& explanation, const Extent& extent) {
  std::string text = heading(explanation) + rules(explanation) + loss_scale(explanation);
  for (const Json& note : explanation["notes"]) {
    text += wrapped("note: " + plain(note["text"]) + " (" + plain(note["label"]) + ")", 6);
  }
  text += text_of_summary(explanation, extent);
  if (extent.part != Extent::Part::summary) text += text_of_decisions(explanation);
  if (extent.part != Extent::Part::all) {
    return text + "\n--all prints every value, kernel, cast and plan; --json all as one object\n";
  }
  for (const Json& item : explanation["programs"]) {
    if (extent.diagnosis || item["name"] != "diagnosis") text += program(item);
  }
  return text + text_of_chips(explanation["chips"], extent);
}

}  // namespace halftone::tools
