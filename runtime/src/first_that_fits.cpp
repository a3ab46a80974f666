// SPDX-License-Identifier: Apache-2.0
// Knows plans, the public device, and what the host has left.
#include "halftone/first_that_fits.hpp"

#include <algorithm>
#include <optional>

#include "free_host_bytes.hpp"
#include "halftone/error.hpp"
#include "halftone/manifest/manifest.hpp"
#include "halftone/stages.hpp"
#include "text.hpp"

namespace halftone {
namespace {

constexpr const char* kOperation = "choose a model by memory";

[[noreturn]] void refuse(std::string object, std::string cause, std::string hint) {
  throw Error({.operation = kOperation,
               .object = std::move(object),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

std::string taken_by(const Artifact& artifact, const Fit& fit) {
  std::string text =
      named("model", artifact.manifest().model) + " takes " + std::to_string(fit.bytes) + " bytes";
  if (fit.host_bytes > 0) text += " and " + std::to_string(fit.host_bytes) + " of the host's";
  return text;
}

std::int64_t left_of_host() {
  const std::optional<std::int64_t> bytes = free_host_bytes();
  if (bytes) return *bytes;
  refuse("what the host has free", "is not told by the system, since /proc/meminfo cannot be read",
         "mount /proc");
}

/// What training takes, whatever the stage.
Fit plan(const Artifact& artifact, const Device& device, const Setup& setup) {
  Fit fit;
  for (const StageMemory& stage : plan_stages(artifact, device, setup)) {
    fit.bytes = std::max(fit.bytes, stage.bytes());
    fit.host_bytes = std::max(fit.host_bytes, stage.host);
  }
  return fit;
}

}  // namespace

Fit first_that_fits(std::span<const Artifact> artifacts, const Device& device, const Setup& setup,
                    double most_of_free) {
  if (artifacts.empty())
    refuse("the list of artifacts", "is empty", "give one or more, the best first");
  if (!(most_of_free > 0 && most_of_free <= 1))
    refuse("the share of free memory", "is " + number_text(most_of_free),
           "give a number above 0, and 1 at most");
  const std::int64_t free = device.free_bytes();
  std::optional<std::int64_t> of_host;  // where a model takes some of it
  const auto allowed = [&](std::int64_t bytes) {
    return static_cast<std::int64_t>(static_cast<double>(bytes) * most_of_free);
  };
  const auto of_free = [&] {
    std::string text = percent_text(most_of_free) + " of the " + std::to_string(free) +
                       " bytes that " + device.name() + " has free";
    if (of_host) text += " and the " + std::to_string(*of_host) + " that the host has";
    return text;
  };
  std::vector<std::string> passed_over;
  bool lacks_host_alone = false;
  for (std::size_t i = 0; i < artifacts.size(); ++i) {
    Fit fit = plan(artifacts[i], device, setup);
    if (fit.host_bytes > 0 && !of_host) of_host = left_of_host();
    const std::string taken = taken_by(artifacts[i], fit);
    const bool fits_device = fit.bytes <= allowed(free);
    if (!fits_device || fit.host_bytes > allowed(of_host.value_or(0))) {
      lacks_host_alone = lacks_host_alone || fits_device;
      passed_over.push_back(taken);
      continue;
    }
    fit.index = i;
    fit.free_bytes = free;
    fit.why = taken + ", which fits " + of_free();
    if (!passed_over.empty()) fit.why += "; " + joined(passed_over, ", ") + ", which does not";
    return fit;
  }
  const std::string all = joined(passed_over, ", ");
  if (lacks_host_alone)
    refuse("the memory of the host", "is too small, since " + all + ", more than " + of_free(),
           "free some of it, or give smaller sizes");
  refuse(named("device", device.name()), "is too small, since " + all + ", more than " + of_free(),
         "give smaller sizes, or rules that place the optimizer's states in the host's memory");
}

}  // namespace halftone
