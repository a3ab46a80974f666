// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>

#include "devices_command.hpp"

namespace halftone::tools {
namespace {

std::string line(std::string name, const std::string& text) {
  name.resize(std::max<std::size_t>(name.size() + 1, 10), ' ');
  return name + text + "\n";
}

std::string hardware_of(const Json& gpu) {
  std::array<char, 32> memory{};
  std::snprintf(memory.data(), memory.size(), "%.1f GiB",
                gpu["memory_bytes"].get<double>() / (1024.0 * 1024.0 * 1024.0));
  return plain(gpu["name"]) + " (" + plain(gpu["chip"]) + "), " + memory.data() +
         ", driver for CUDA " + plain(gpu["driver_cuda"]);
}

std::string compiler(const Json& compiler) {
  if (!compiler["why_none"].is_null()) return "none: " + plain(compiler["why_none"]);
  return plain(compiler["description"]) + ", for " + joined(compiler["chips"], ", ");
}

std::string cache(const Json& cache) {
  if (!cache["why_none"].is_null()) return "none: " + plain(cache["why_none"]);
  const Json &mode = cache["mode"], &full = cache["why_not_stored"];
  return plain(cache["folder"]) +
         (mode == "ro"        ? ", read only"
          : mode == "refresh" ? ", refreshed"
                              : "") +
         (full.is_null() ? "" : ", takes no kernel: " + plain(full)) + ", limit " +
         plain(cache["limit_bytes"]) + " bytes";
}

/// What HALFTONE_DEVICE says that this machine has not.
std::string wish(const Json& wish) {
  if (wish.is_null() || wish["why_not"].is_null()) return {};
  return "HALFTONE_DEVICE=" + plain(wish["device"]) +
         " names no device here: " + plain(wish["why_not"]) + "\n";
}

std::string judgement(const Json& runs) {
  if (runs["runs"].is_null()) return "no: " + plain(runs["why_not"]);
  if (runs["compiled_for"].is_null()) return "runs " + plain(runs["runs"]);
  std::string text =
      "runs those for " + plain(runs["runs"]) + ", compiled for " + plain(runs["compiled_for"]);
  for (const Json& passed : runs["passed_over"]) text += "; not " + plain(passed);
  return text;
}

std::string chosen(const Json& chosen) {
  const std::string device = plain(chosen["device"]);
  if (chosen.contains("runs")) return device + ", as HALFTONE_DEVICE says: " + judgement(chosen);
  return device + (device == "cpu" ? ", since " : ", ") + plain(chosen["why"]);
}

std::string artifact(const Json& artifact) {
  const Json& chips = artifact["chips"];
  std::string text = "\nfor model '" + plain(artifact["model"]) + "', which has kernels for " +
                     (chips.empty() ? "no GPU" : joined(chips, ", ")) + "\n";
  for (const Json& device : artifact["devices"]) {
    text += line(plain(device["device"]), judgement(device));
  }
  return text + line("chosen", chosen(artifact["chosen"]));
}

}  // namespace

std::string text_of_devices(const Json& devices) {
  const Json& cpu = devices["cpu"];
  std::string text =
      line("cpu", plain(cpu["name"]) + ", code for " + joined(cpu["variants"], ", "));
  for (const Json& gpu : devices["gpus"]) text += line(plain(gpu["device"]), hardware_of(gpu));
  if (!devices["no_gpu"].is_null()) text += "no GPU, since " + plain(devices["no_gpu"]) + "\n";
  text += line("compiler", compiler(devices["compiler"])) + line("cache", cache(devices["cache"])) +
          wish(devices["wish"]);
  return devices["artifact"].is_null() ? text : text + artifact(devices["artifact"]);
}

}  // namespace halftone::tools
