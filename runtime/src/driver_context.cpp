// SPDX-License-Identifier: Apache-2.0
#include "driver_context.hpp"

#include <span>

#include "halftone/error.hpp"
#include "text.hpp"

namespace halftone {

void DriverContext::check(const char* operation, const std::string& object,
                          const DriverStatus& status) {
  if (status.ok()) return;
  const bool sticky = status.kind == DriverStatus::Kind::sticky;
  const std::string who = status.kernel.empty() ? object : named("kernel", status.kernel);
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
  auto image = std::make_shared<const std::string>(compile_(text, name, architecture));
  const std::lock_guard lock(mutex_);
  return images_.try_emplace(key, std::move(image)).first->second;
}

}  // namespace halftone
