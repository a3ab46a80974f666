// SPDX-License-Identifier: Apache-2.0
// One model tried in a process of its own, so that what crashes or hangs is a result as any other.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "agreement.hpp"

namespace halftone::tests {

struct Verdict {
  enum class Kind {
    agrees,
    invalid,   // validate() refuses the model
    refused,   // codegen does, which is told as a fault
    differs,   // generated code and reference
    fails,     // something throws
    dies,      // by a signal
    times_out  // longer than kLimit
  };
  Kind kind = Kind::agrees;
  std::string during;    ///< what was going on
  std::string sentence;  ///< what was said
  double seconds = 0;

  [[nodiscard]] bool is_fault() const { return kind != Kind::agrees && kind != Kind::invalid; }
  /// Kind and sentence without names and numbers: what stays the same while a model shrinks.
  [[nodiscard]] std::string summary() const;
};

/// Compiles, runs and compares in this process.
Verdict try_model(const description::Description& model, const Run& run,
                  const std::function<void(const std::string&)>& at);

/// Tries models, several at once, each in a process of its own.
class Trials {
 public:
  explicit Trials(std::size_t at_once) : at_once_(at_once) {}

  struct Trial {
    std::size_t number = 0;  ///< the caller's
    description::Description model;
    Run run;
  };

  [[nodiscard]] bool has_room() const { return running_.size() < at_once_; }
  [[nodiscard]] bool is_idle() const { return running_.empty(); }
  void start(Trial trial);
  /// Waits for one of them.
  std::pair<Trial, Verdict> finish();

  static constexpr std::chrono::seconds kLimit{120};  ///< of the processor's time

 private:
  struct Running {
    Trial trial;
    pid_t process = 0;
    int pipe = -1;
    std::string said;
    std::chrono::steady_clock::time_point begun;
  };

  std::size_t at_once_;
  std::vector<Running> running_;
};

/// One, waited for.
Verdict try_alone(const description::Description& model, const Run& run);

}  // namespace halftone::tests
