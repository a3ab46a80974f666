// SPDX-License-Identifier: Apache-2.0
// A driver in use: every call's result is checked here, and here alone; after an error that the
// device does not survive, every further call says so. Keeps what was compiled.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "dispatch.hpp"
#include "driver.hpp"
#include "halftone/manifest/checksum.hpp"

namespace halftone {

/// Makes what a driver loads from a kernel's text, for an architecture such as "sm_80". Throws
/// Error with the compiler's log. Called from any thread.
using CompileKernel = std::function<std::string(const std::string& text, const std::string& name,
                                                const std::string& architecture)>;

/// How a driver is used.
struct DriverOptions {
  /// Every kernel is waited for, and nothing is captured, so that an error is the kernel's own.
  bool checks_launches = false;
  /// So many steps of a program may be on their way before the host waits for the oldest.
  int steps_in_flight = 4;
  /// On so many SMs blocks that go on with further tiles are launched; 0: on all that there are.
  std::int64_t multiprocessors = 0;
  Jit jit = Jit::missing;
  /// Asked when kernels are chosen; may throw Error. Null: whatever a chip needs can be compiled.
  std::function<Toolchain()> toolchain = {};
};

/// What of these targets a device with that chip and driver runs: choose_ahead(), then
/// choose_kernel(), as options.jit says. Those among `with_maps` want a driver that encodes maps.
[[nodiscard]] std::optional<KernelChoice> choose_for(const DriverProperties& device,
                                                     const DriverOptions& options,
                                                     std::span<const std::string> targets,
                                                     std::span<const AheadOfTime> ahead,
                                                     std::span<const std::string> with_maps,
                                                     std::string& why);

/// May be used from any thread.
class DriverContext {
 public:
  /// `device` is its name in errors: "cuda:0".
  DriverContext(std::string device, std::unique_ptr<Driver> driver, CompileKernel compile,
                const DriverOptions& options = {})
      : device_(std::move(device)),
        driver_(std::move(driver)),
        compile_(std::move(compile)),
        options_(options) {}

  [[nodiscard]] const std::string& device() const noexcept { return device_; }
  [[nodiscard]] const DriverProperties& properties() const noexcept {
    return driver_->properties();
  }

  [[nodiscard]] const DriverOptions& options() const noexcept { return options_; }
  [[nodiscard]] std::int64_t multiprocessors() const noexcept {
    return options_.multiprocessors > 0 ? options_.multiprocessors : properties().multiprocessors;
  }

  /// choose_for() this device.
  [[nodiscard]] std::optional<KernelChoice> choose(std::span<const std::string> targets,
                                                   std::span<const AheadOfTime> ahead,
                                                   std::span<const std::string> with_maps,
                                                   std::string& why) const {
    return choose_for(properties(), options_, targets, ahead, with_maps, why);
  }

  /// What a kernel's entry computes, in the model's words, for the errors that name it.
  void explain_kernel(const std::string& entry, const std::string& layers);
  /// "kernel 'digits_fc1_bias_gelu' (fc1, gelu)"
  [[nodiscard]] std::string kernel_text(const std::string& entry);

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

  /// The text compiled.
  [[nodiscard]] std::shared_ptr<const std::string> compile(const std::string& text,
                                                           const std::string& name,
                                                           const std::string& architecture) const {
    return std::make_shared<const std::string>(compile_(text, name, architecture));
  }

  /// The same, or as it was compiled before; kept as long as the context.
  [[nodiscard]] std::shared_ptr<const std::string> image(const std::string& text,
                                                         const std::string& name,
                                                         const std::string& architecture);

 private:
  void require_usable(const char* operation);

  std::string device_;
  std::unique_ptr<Driver> driver_;
  CompileKernel compile_;
  DriverOptions options_;
  std::mutex mutex_;
  std::string fault_;                          ///< what the device did not survive
  std::map<std::string, std::string> layers_;  ///< by entry
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
using OwnedHostMemory = DriverOwned<std::byte*, &Driver::free_host>;
using OwnedModule = DriverOwned<DriverModule, &Driver::unload>;
using OwnedStream = DriverOwned<DriverStream, &Driver::destroy_stream>;
using OwnedEvent = DriverOwned<DriverEvent, &Driver::destroy_event>;
using OwnedGraph = DriverOwned<DriverGraph, &Driver::destroy_graph>;

/// Streams beside that of the kernels, and what orders them. `who` opens the errors.
[[nodiscard]] OwnedStream make_stream(const char* who, DriverContext& context);
[[nodiscard]] OwnedEvent make_event(const char* who, DriverContext& context);
void record(DriverContext& context, const OwnedEvent& event, DriverStream stream);
/// The stream goes on behind what was recorded last.
void wait(DriverContext& context, DriverStream stream, const OwnedEvent& event);

}  // namespace halftone
