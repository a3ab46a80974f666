// SPDX-License-Identifier: Apache-2.0
// A program's kernels compiled once more, for its sizes alone, by a thread of their own while those
// for all sizes run (docs/decisions/0014).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "driver_modules.hpp"

namespace halftone {

/// Failures are told by text(), never thrown. Its methods are called by one thread.
class Specialisation {
 public:
  /// Starts. The plan must live longer; it has symbols.
  Specialisation(const ProgramPlan& plan, std::shared_ptr<DriverContext> context,
                 std::span<const std::size_t> kernels);

  /// Gives up what is being compiled, and waits until the compiler has noticed. So does exit(),
  /// for those that nobody destroyed, before NVRTC's own objects go.
  ~Specialisation();
  Specialisation(const Specialisation&) = delete;
  Specialisation& operator=(const Specialisation&) = delete;

  /// All of the images, once.
  [[nodiscard]] std::optional<KernelImages> take();

  /// What take() returned could not be used.
  void fail(std::string_view why) noexcept;

  /// "being specialised for batch 32", "specialised for batch 32 from the next step on",
  /// "specialised for batch 32", "not specialised for batch 32: " and the reason.
  [[nodiscard]] std::string text() const;

 private:
  enum class State { compiling, ready, taken, failed };

  static void stop_all();
  void compile(const std::stop_token& stop, const ProgramPlan& plan);

  std::shared_ptr<DriverContext> context_;
  std::string sizes_;  ///< "batch 32"
  KernelImages images_;
  mutable std::mutex mutex_;  ///< of what follows, and of the images once they are ready
  State state_ = State::compiling;
  std::string failure_;
  std::jthread thread_;  // ends before what it uses
};

}  // namespace halftone
