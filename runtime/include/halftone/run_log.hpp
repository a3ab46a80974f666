// SPDX-License-Identifier: Apache-2.0
// What a run comes to, step by step, for files, tools and people, in any loop (docs/run-logs.md):
//
//   RunLog log(trainer, {.every = 10});
//   log.add(json_lines("run.jsonl")).add(progress(stderr, {.steps = 1000}));
//   for (...) {
//     trainer.step(features, target);
//     log.step(trainer);
//   }
//   log.finish(trainer, {{"validation/error", 0.1}});
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "halftone/trainer.hpp"

namespace halftone {

struct StageSwitch;
struct ValueSample;

/// What does not change while a run goes on.
struct RunFacts {
  /// Of the training program. Tensors that share memory count where the largest of them does.
  struct Memory {
    std::string role;    ///< "parameters", "activation", ...; "workspace": what kernels work in
    std::string format;  ///< empty for the workspace
    std::int64_t tensors = 0, bytes = 0;
  };
  struct Buffer {
    std::string name;  ///< of the value that lies in it; a gradient's begins with "d "
    std::string format;
    std::int64_t bytes = 0;
  };
  struct Kernel {
    std::string phase, name, skeleton;
    std::string fused;                        ///< the layers and operations inside
    std::vector<std::int32_t> reads, writes;  ///< indices into RunFacts::buffers
  };
  struct Cast {
    std::string value, role, from, to, kernel;
    std::string rule;  ///< empty: the default
    bool own_launch = false;
  };

  std::string name;  ///< of the run
  std::string halftone_version, model;
  std::vector<std::string> rules, losses;
  std::string loss_scale;        ///< "none", "fixed" or "dynamic"
  std::string device, hardware;  ///< "cpu"; Device::description()
  std::string variant;           ///< Statistics::variant
  std::int64_t threads = 0;
  std::vector<std::pair<std::string, std::int64_t>> sizes;  ///< {"batch", 32}
  std::uint64_t seed = 0;
  double started = 0.0;                                  ///< seconds since 1970, UTC
  std::int64_t first_step = 0, first_skipped_steps = 0;  ///< done before: of a run that resumed
  std::int64_t parameter_tensors = 0, parameters = 0, trained_parameters = 0;
  std::vector<std::string> trained;  ///< names of the trained ones, in the order of the model
  std::vector<Memory> memory;
  std::vector<Buffer> buffers;
  std::vector<Kernel> kernels;  ///< of a step, in their order
  std::vector<Cast> casts;
  /// Of RunLogOptions::layer_gradients, else empty: layers with trained parameters, and parameters
  /// of none, in the order of the model.
  std::vector<std::string> gradient_layers;
};

/// What a trainer is, for logs. Throws Error as its methods do.
[[nodiscard]] RunFacts facts_of(const Trainer& trainer);

/// A number of the caller's: {"validation/error", 0.1}.
struct Metric {
  std::string name;  ///< UTF-8
  double value = 0.0;
};
using Metrics = std::vector<Metric>;

/// The last step, and what the steps since the entry before it came to.
struct LogEntry {
  std::int64_t step = 0;           ///< Statistics::steps
  std::int64_t steps = 0;          ///< since the entry before
  std::int64_t skipped = 0;        ///< of those
  std::int64_t skipped_steps = 0;  ///< Statistics::skipped_steps
  std::vector<Statistics::Loss> losses;
  float grad_norm = 0.0f, loss_scale = 1.0f, learning_rate = 0.0f;
  std::int64_t peak_bytes = 0;  ///< Statistics::peak_bytes_measured
  double seconds = 0.0;         ///< since the log began
  double time = 0.0;            ///< seconds since 1970, UTC
  /// From one entry to the next, whatever else the program does between; nothing where there was
  /// no step. Rows are those of RunLogOptions::rows_per_step.
  std::optional<double> ms_per_step, rows_per_second;
  Metrics metrics;
  std::string stage = {};  ///< Statistics::stage
  /// For each of RunFacts::gradient_layers the norm of the gradient of all its parameters, without
  /// the loss scale and before clipping. Of a step that was skipped a layer whose gradient is
  /// finite has none: its scale is not known any more.
  std::vector<std::optional<double>> layer_gradients = {};
};

/// A picture that the caller made of what the model does: samples, say.
struct LogPicture {
  std::int64_t step = 0;       ///< Statistics::steps as it was made
  std::string name;            ///< UTF-8; pictures of one name are of one thing, step by step
  std::filesystem::path file;  ///< PNG or JPEG
};

/// Where entries go: run_sinks.hpp has some.
class RunSink {
 public:
  virtual ~RunSink() = default;
  virtual void begin(const RunFacts& facts) = 0;  ///< before all else, once
  virtual void write(const LogEntry& entry) = 0;
  virtual void values(const ValueSample&) {}    ///< value_statistics.hpp
  virtual void switched(const StageSwitch&) {}  ///< stages.hpp
  virtual void picture(const LogPicture&) {}
  virtual void end() {}  ///< the run is done; does not come when the program fails
};

struct RunLogOptions {
  /// An entry is of the first step and of every so many. It reads the trainer's statistics, so it
  /// waits for a GPU; steps between cost nothing.
  std::int64_t every = 10;
  std::string name = {};           ///< of the run; the model's where it is empty
  std::int64_t rows_per_step = 0;  ///< 0: the size of the symbol "batch", where the model has one
  /// Whether entries have the norm of every layer's gradient. Each then reads all gradients, on a
  /// GPU by a copy.
  bool layer_gradients = false;
};

/// Throws Error where the options are none or the trainer or a sink does. One thread at a time may
/// use it.
class RunLog {
 public:
  explicit RunLog(const Trainer& trainer, const RunLogOptions& options = {});

  /// Null is none.
  RunLog& add(std::unique_ptr<RunSink> sink);

  /// After every step. The first one in another stage (P66), and metrics where there are some,
  /// make an entry of it, whatever `every` says.
  void step(const Trainer& trainer, const Metrics& metrics = {});

  /// What roundings did in the last step (value_statistics.hpp), and a stage that was entered since
  /// (stages.hpp).
  void values(const ValueSample& sample);
  void switched(const StageSwitch& taken);

  /// Sinks are told the file's name, whose bytes `halftone report` reads: it stays where it is.
  /// Throws Error where there is no such file.
  void picture(const LogPicture& picture);

  /// After the last one: an entry of what was not logged yet, and the end of all sinks.
  void finish(const Trainer& trainer, const Metrics& metrics = {});

  [[nodiscard]] const RunFacts& facts() const noexcept { return facts_; }

 private:
  using Clock = std::chrono::steady_clock;
  void log_entry(const Trainer& trainer, const Metrics& metrics);

  RunFacts facts_;
  std::int64_t every_ = 1, rows_per_step_ = 0;
  std::vector<std::unique_ptr<RunSink>> sinks_;
  Clock::time_point began_, last_entry_;
  std::int64_t calls_ = 0, logged_ = 0;  ///< of step()
  std::int64_t skipped_steps_ = 0;       ///< at the last entry
  std::string stage_;                    ///< of the last step
  bool is_finished_ = false;
};

}  // namespace halftone
