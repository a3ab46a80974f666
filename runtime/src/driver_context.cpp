// SPDX-License-Identifier: Apache-2.0
#include "driver_context.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "halftone/error.hpp"
#include "text.hpp"

namespace halftone {

void DriverContext::check(const char* operation, const std::string& object,
                          const DriverStatus& status) {
  if (status.ok()) return;
  const bool sticky = status.kind == DriverStatus::Kind::sticky;
  const std::string who = status.kernel.empty() ? object : kernel_text(status.kernel);
  const char* what = status.kernel.empty() ? operation : "launch";
  if (sticky) {
    const std::lock_guard lock(mutex_);
    if (fault_.empty()) fault_ = who + ": " + status.text;
  }
  std::string hint;
  if (status.kind == DriverStatus::Kind::out_of_memory) hint = "free memory of " + device_;
  if (sticky) {
    hint = "the device '" + device_ + "' cannot be used any more; start the process again";
    if (status.kernel.empty()) hint += ", with HALFTONE_CHECK_LAUNCHES=1 to learn which kernel";
  }
  throw Error({.operation = what,
               .object = who,
               .cause = "failed on '" + device_ + "': " + status.text,
               .hint = std::move(hint)});
}

namespace {

std::optional<KernelChoice> choose_among(const DriverProperties& device,
                                         const DriverOptions& options,
                                         std::span<const std::string> targets,
                                         std::span<const AheadOfTime> ahead, std::string& why) {
  if (options.jit != Jit::first) {
    const CudaVersion driver = cuda_version_of(device.cuda_version);
    if (auto choice = choose_ahead(device.chip, targets, ahead, driver, device.takes_ptx)) {
      return choice;
    }
  }
  if (options.jit == Jit::never) {
    why = "the artifact holds nothing compiled for it, and HALFTONE_JIT is never";
    return std::nullopt;
  }
  if (!options.toolchain) return choose_kernel(device.chip, targets, nullptr, why);
  const Toolchain toolchain = options.toolchain();
  return choose_kernel(device.chip, targets, &toolchain, why);
}

}  // namespace

std::optional<KernelChoice> choose_for(const DriverProperties& device, const DriverOptions& options,
                                       std::span<const std::string> targets,
                                       std::span<const AheadOfTime> ahead,
                                       std::span<const std::string> with_maps, std::string& why) {
  if (device.encodes_maps || with_maps.empty()) {
    return choose_among(device, options, targets, ahead, why);
  }
  std::vector<std::string> rest(targets.begin(), targets.end()), passed_over;
  for (std::string& target : rest) {
    // Such a target is of one chip: "sm_90a" of sm_90.
    if (std::ranges::find(with_maps, target) == with_maps.end() || !target.starts_with(device.chip))
      continue;
    passed_over.push_back(target +
                          ": its kernels want tensor maps, which the driver does not encode "
                          "(cuTensorMapEncodeTiled); install one for CUDA 12 or later");
    target.clear();  // which is no chip
  }
  auto choice = choose_among(device, options, rest, ahead, why);
  if (!choice) {
    const bool others = passed_over.size() < targets.size();
    if (!passed_over.empty()) why = joined(passed_over, "; ") + (others ? "; " + why : "");
  } else {
    std::ranges::move(passed_over, std::back_inserter(choice->passed_over));
  }
  return choice;
}

void DriverContext::explain_kernel(const std::string& entry, const std::string& layers) {
  const std::lock_guard lock(mutex_);
  layers_[entry] = layers;
}

std::string DriverContext::kernel_text(const std::string& entry) {
  const std::lock_guard lock(mutex_);
  const auto found = layers_.find(entry);
  const bool known = found != layers_.end() && !found->second.empty();
  return named("kernel", entry) + (known ? " (" + found->second + ")" : "");
}

void DriverContext::require_usable(const char* operation) {
  const std::lock_guard lock(mutex_);
  if (fault_.empty()) return;
  throw Error({.operation = operation,
               .object = named("device", device_),
               .cause = "failed before and cannot be used any more (" + fault_ + ")",
               .hint = "start the process again"});
}

std::shared_ptr<const std::string> DriverContext::image(const std::string& text,
                                                        const std::string& name,
                                                        const std::string& architecture) {
  const std::pair key{manifest::checksum_of(std::as_bytes(std::span(text))), architecture};
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = images_.find(key); found != images_.end()) return found->second;
  }
  auto image = compile(text, name, architecture);
  const std::lock_guard lock(mutex_);
  return images_.try_emplace(key, std::move(image)).first->second;
}

OwnedStream make_stream(const char* who, DriverContext& context) {
  DriverStream stream{};
  context.run(who, "a stream", [&](Driver& driver) { return driver.create_stream(stream); });
  return {context.driver(), stream};
}

OwnedEvent make_event(const char* who, DriverContext& context) {
  DriverEvent event{};
  context.run(who, "an event", [&](Driver& driver) { return driver.create_event(event); });
  return {context.driver(), event};
}

void record(DriverContext& context, const OwnedEvent& event, DriverStream stream) {
  context.run("record", "an event",
              [&](Driver& driver) { return driver.record(event.get(), stream); });
}

void wait(DriverContext& context, DriverStream stream, const OwnedEvent& event) {
  context.run("wait", "an event", [&](Driver& driver) { return driver.wait(stream, event.get()); });
}

}  // namespace halftone
