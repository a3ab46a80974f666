// SPDX-License-Identifier: Apache-2.0
// A driver in use: every call's result is checked here, and here alone; after an error that the
// device does not survive, every further call says so. Keeps what was compiled.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "driver.hpp"
#include "halftone/manifest/checksum.hpp"

namespace halftone {

/// Makes what a driver loads from a kernel's text, for an architecture such as "sm_80". Throws
/// Error with the compiler's log. Called from any thread.
using CompileKernel = std::function<std::string(const std::string& text, const std::string& name,
                                                const std::string& architecture)>;

/// May be used from any thread.
class DriverContext {
 public:
  /// `device` is its name in errors: "cuda:0". `checks_launches`: every kernel is waited for, and
  /// nothing is captured, so that an error is the kernel's own.
  DriverContext(std::string device, std::unique_ptr<Driver> driver, CompileKernel compile,
                bool checks_launches = false)
      : device_(std::move(device)),
        driver_(std::move(driver)),
        compile_(std::move(compile)),
        checks_launches_(checks_launches) {}

  [[nodiscard]] const std::string& device() const noexcept { return device_; }
  [[nodiscard]] const DriverProperties& properties() const noexcept {
    return driver_->properties();
  }

  [[nodiscard]] bool checks_launches() const noexcept { return checks_launches_; }

  /// The driver itself, for what gives things back and cannot fail usefully.
  [[nodiscard]] Driver& driver() noexcept { return *driver_; }

  /// call(driver); throws Error when it failed, or when the device failed before. `operation` and
  /// `object` open the sentence.
  template <class Call>
  void run(const char* operation, const std::string& object, Call call) {
    check(operation, object, attempt(operation, call));
  }

  /// The same for callers who look at the status before they check it.
  template <class Call>
  DriverStatus attempt(const char* operation, Call call) {
    require_usable(operation);
    return call(*driver_);
  }
  void check(const char* operation, const std::string& object, const DriverStatus& status);

  /// The text compiled, or as it was compiled before.
  [[nodiscard]] std::shared_ptr<const std::string> image(const std::string& text,
                                                         const std::string& name,
                                                         const std::string& architecture);

 private:
  void require_usable(const char* operation);

  std::string device_;
  std::unique_ptr<Driver> driver_;
  CompileKernel compile_;
  bool checks_launches_;
  std::mutex mutex_;
  std::string fault_;  ///< what the device did not survive
  std::map<std::pair<manifest::Checksum, std::string>, std::shared_ptr<const std::string>> images_;
};

/// Something that a driver made; given back when it goes.
template <class Handle, DriverStatus (Driver::*kRelease)(Handle)>
class DriverOwned {
 public:
  DriverOwned() = default;
  DriverOwned(Driver& driver, Handle handle) : driver_(&driver), handle_(handle) {}
  DriverOwned(DriverOwned&& other) noexcept
      : driver_(std::exchange(other.driver_, nullptr)), handle_(other.handle_) {}
  DriverOwned& operator=(DriverOwned&& other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~DriverOwned() {
    if (driver_) (void)(driver_->*kRelease)(handle_);
  }

  [[nodiscard]] Handle get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return driver_ != nullptr; }

 private:
  Driver* driver_ = nullptr;
  Handle handle_{};
};

using OwnedMemory = DriverOwned<DeviceAddress, &Driver::free>;
using OwnedModule = DriverOwned<DriverModule, &Driver::unload>;
using OwnedStream = DriverOwned<DriverStream, &Driver::destroy_stream>;
using OwnedGraph = DriverOwned<DriverGraph, &Driver::destroy_graph>;

}  // namespace halftone
