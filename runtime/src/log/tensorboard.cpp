// SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files: records of TFRecord (tensorflow/core/lib/io/record_writer.cc), each an
// Event of protocol buffers (tensorflow/core/util/event.proto, framework/summary.proto).
#include <bit>
#include <chrono>
#include <system_error>

#include "../text.hpp"
#include "appended_file.hpp"
#include "crc32c.hpp"
#include "halftone/error.hpp"
#include "worst_values.hpp"

namespace halftone {
namespace {

/// The part of protocol buffers' encoding that events need.
class Message {
 public:
  Message& varint(int field, std::uint64_t value) {
    key(field, 0);
    raw_varint(value);
    return *this;
  }
  Message& fixed64(int field, double value) {
    key(field, 1);
    little_endian(std::bit_cast<std::uint64_t>(value), 8);
    return *this;
  }
  Message& fixed32(int field, float value) {
    key(field, 5);
    little_endian(std::bit_cast<std::uint32_t>(value), 4);
    return *this;
  }
  Message& bytes(int field, std::string_view bytes) {
    key(field, 2);
    raw_varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  void little_endian(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
  }
  [[nodiscard]] const std::string& text() const { return bytes_; }

 private:
  void key(int field, unsigned wire_type) {
    raw_varint(static_cast<unsigned>(field) << 3 | wire_type);
  }
  void raw_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

namespace event {
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5;
}
namespace summary {
constexpr int kValue = 1, kTag = 1, kSimpleValue = 2;
}

std::string framed(std::string_view data) {
  const auto masked = [](std::string_view bytes) {
    const std::uint32_t crc = crc32c(bytes);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
  };
  Message length, frame;
  length.little_endian(data.size(), 8);
  frame.little_endian(masked(length.text()), 4);
  Message tail;
  tail.little_endian(masked(data), 4);
  return length.text() + frame.text() + std::string(data) + tail.text();
}

void add(Message& values, std::string_view tag, double value) {
  Message scalar;
  scalar.bytes(summary::kTag, tag).fixed32(summary::kSimpleValue, static_cast<float>(value));
  values.bytes(summary::kValue, scalar.text());
}

std::string framed_event(double time, std::int64_t step, const Message& values) {
  Message event;
  event.fixed64(event::kWallTime, time);
  event.varint(event::kStep, static_cast<std::uint64_t>(step));
  return framed(event.bytes(event::kSummary, values.text()).text());
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string event_of(const LogEntry& entry, const std::vector<std::string>& layers) {
  Message values;
  for (const Statistics::Loss& loss : entry.losses) add(values, "loss/" + loss.name, loss.value);
  for (const Metric& metric : entry.metrics) add(values, metric.name, metric.value);
  add(values, "step/gradient_norm", entry.grad_norm);
  add(values, "step/learning_rate", entry.learning_rate);
  add(values, "step/loss_scale", entry.loss_scale);
  add(values, "step/skipped_steps", static_cast<double>(entry.skipped_steps));
  if (entry.ms_per_step) add(values, "speed/ms_per_step", *entry.ms_per_step);
  if (entry.rows_per_second) add(values, "speed/rows_per_second", *entry.rows_per_second);
  for (std::size_t i = 0; i < entry.layer_gradients.size(); ++i) {
    if (const auto& norm = entry.layer_gradients[i])
      add(values, "gradient_norm/" + layers[i], *norm);
  }
  return framed_event(entry.time, entry.step, values);
}

std::string event_of(const ValueSample& sample) {
  const WorstValues worst = worst_of(sample);
  Message values;
  add(values, "roundings/most_overflowed", worst.overflowed.figure);
  add(values, "roundings/most_became_0", worst.flushed.figure);
  add(values, "roundings/greatest_error", worst.error.figure);
  return framed_event(seconds_since_1970(), sample.step, values);
}

std::filesystem::path new_file_in(const std::filesystem::path& folder, double time) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    throw Error({.operation = "log",
                 .object = named("folder", folder.string()),
                 .cause = "cannot be made: " + failure.message(),
                 .hint = "check the path and its permissions"});
  }
  // TensorBoard reads a folder's files in the order of their names.
  const std::string name =
      "events.out.tfevents." + std::to_string(static_cast<std::int64_t>(time)) + ".halftone.";
  int number = 0;
  while (std::filesystem::exists(folder / (name + std::to_string(number)), failure)) ++number;
  return folder / (name + std::to_string(number));
}

class Events final : public RunSink {
 public:
  explicit Events(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void begin(const RunFacts& facts) override {
    layers_ = facts.gradient_layers;
    file_.emplace(system_file_calls(), new_file_in(folder_, facts.started), IfExists::refuse);
    Message version;
    version.fixed64(event::kWallTime, facts.started).bytes(event::kFileVersion, "brain.Event:2");
    file_->append(framed(version.text()));
  }
  void write(const LogEntry& entry) override { file_->append(event_of(entry, layers_)); }
  void values(const ValueSample& sample) override { file_->append(event_of(sample)); }

 private:
  std::filesystem::path folder_;
  std::optional<AppendedFile> file_;
  std::vector<std::string> layers_;
};

}  // namespace

std::unique_ptr<RunSink> tensorboard_events(const std::filesystem::path& folder) {
  return std::make_unique<Events>(folder);
}

}  // namespace halftone
