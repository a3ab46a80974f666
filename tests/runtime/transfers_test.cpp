// SPDX-License-Identifier: Apache-2.0
// P91: parts of the host's memory come before their launch and go back behind it, whatever order
// streams are free to take; and each wait is needed for that.
#include "transfers.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "fake_driver.hpp"
#include "halftone/error.hpp"

using namespace halftone;

namespace {

constexpr std::size_t kParts = 8, kRuns = 2;
constexpr std::array<std::int64_t, 2> kBytes = {64, 32};  // of the two buffers that a part is of

/// Two runs with so many parts each, in one graph. The launch of a part notes what it sees of it
/// and leaves something else there.
class TwoRuns {
 public:
  explicit TwoRuns(const fake::Options& options)
      : device_(fake::device(std::make_shared<fake::Log>(), options)),
        context_(*device_.driver()),
        driver_(context_.driver()) {
    require(driver_.create_stream(stream_));
    for (std::size_t i = 0; i < kParts; ++i) {
      for (std::size_t b = 0; b < kBytes.size(); ++b) {
        HostPart& part = parts_[i].emplace_back();
        require(driver_.allocate_host(kBytes[b], part.host));
        part.bytes = kBytes[b];
        part.device =
            i < Transfers::kPlaces ? allocate(kBytes[b]) : parts_[i - Transfers::kPlaces][b].device;
        for (std::size_t run = 0; run < kRuns; ++run) {
          seen_[run][i].push_back(allocate(kBytes[b]));
          left_[run][i].push_back(allocate(kBytes[b]));
        }
      }
    }
    transfers_ = std::make_unique<Transfers>("test", context_, stream_);
  }
  ~TwoRuns() {
    transfers_.reset();
    for (auto& parts : parts_)
      for (HostPart& part : parts) (void)driver_.free_host(part.host);
    for (DeviceAddress address : allocated_) (void)driver_.free(address);
    (void)driver_.destroy_stream(stream_);
  }
  TwoRuns(const TwoRuns&) = delete;
  TwoRuns& operator=(const TwoRuns&) = delete;

  void put_on_stream() {
    for (std::size_t run = 0; run < kRuns; ++run) {
      std::vector<const std::vector<HostPart>*> launches;
      for (const auto& parts : parts_) launches.push_back(&parts);
      transfers_->begin(std::move(launches));
      for (std::size_t i = 0; i < kParts; ++i) {
        transfers_->before_launch();
        for (std::size_t b = 0; b < kBytes.size(); ++b) {
          const DeviceAddress at = parts_[i][b].device;
          require(driver_.copy(seen_[run][i][b], at, kBytes[b], stream_));
          require(driver_.copy(at, left_[run][i][b], kBytes[b], stream_));
        }
        transfers_->after_launch();
      }
      transfers_->end();
    }
  }

  /// Whether launches see what was there, and it then holds what they left; `salt` makes values of
  /// its own.
  bool holds(std::uint8_t salt, const std::function<void()>& run_both) {
    for_each_value([&](std::size_t i, std::size_t b) {
      std::memset(parts_[i][b].host, value(salt, 0, i, b), bytes(b));
      for (std::size_t run = 0; run < kRuns; ++run) {
        std::memset(memory(left_[run][i][b]), value(salt, run + 1, i, b), bytes(b));
      }
    });
    run_both();
    require(driver_.synchronise(stream_));
    bool all = true;
    for_each_value([&](std::size_t i, std::size_t b) {
      const auto is = [&](const void* at, std::size_t number) {
        const std::vector<std::uint8_t> expected(bytes(b), value(salt, number, i, b));
        return std::memcmp(at, expected.data(), bytes(b)) == 0;
      };
      for (std::size_t run = 0; run < kRuns; ++run) all &= is(memory(seen_[run][i][b]), run);
      all &= is(parts_[i][b].host, kRuns);
    });
    return all;
  }

  bool graph_holds() {
    require(driver_.begin_capture(stream_));
    put_on_stream();
    DriverGraph graph{};
    require(driver_.end_capture(stream_, graph));
    const auto run = [&] { require(driver_.launch(graph, stream_)); };
    const bool first = holds(1, run), second = holds(97, run);
    (void)driver_.destroy_graph(graph);
    return first && second;
  }

 private:
  static void require(const DriverStatus& status) {
    if (!status.ok()) throw std::runtime_error(status.text);
  }
  static std::size_t bytes(std::size_t buffer) { return static_cast<std::size_t>(kBytes[buffer]); }
  static std::uint8_t value(std::size_t salt, std::size_t number, std::size_t i, std::size_t b) {
    return static_cast<std::uint8_t>(salt + (number * kParts + i) * kBytes.size() + b);
  }
  static void* memory(DeviceAddress address) { return reinterpret_cast<void*>(address); }
  template <class Visit>
  static void for_each_value(Visit visit) {
    for (std::size_t i = 0; i < kParts; ++i)
      for (std::size_t b = 0; b < kBytes.size(); ++b) visit(i, b);
  }
  DeviceAddress allocate(std::int64_t bytes) {
    DeviceAddress address = 0;
    require(driver_.allocate(bytes, "test", address));
    return allocated_.emplace_back(address);
  }

  Device device_;
  DriverContext& context_;
  Driver& driver_;
  DriverStream stream_{};
  std::vector<HostPart> parts_[kParts];
  std::vector<DeviceAddress> seen_[kRuns][kParts], left_[kRuns][kParts], allocated_;
  std::unique_ptr<Transfers> transfers_;
};

/// Of a graph, other streams as early or as late as they may.
bool holds_in_graphs(bool early, std::size_t forgotten_wait = 0) {
  try {
    return TwoRuns({.others_early = early, .forgotten_wait = forgotten_wait}).graph_holds();
  } catch (const std::exception&) {
    return false;
  }
}

/// Of each run: one to begin, one before and one behind each launch, one for each place that is
/// used again, one to end.
constexpr std::size_t kWaits = kRuns * (1 + 2 * kParts + (kParts - Transfers::kPlaces) + 1);

}  // namespace

TEST_CASE("parts come and go as launches want, as early and as late as events let them") {
  CHECK(holds_in_graphs(false));
  CHECK(holds_in_graphs(true));
}

TEST_CASE("every wait between the streams is needed") {
  for (std::size_t k = 1; k <= kWaits; ++k) {
    CAPTURE(k);
    CHECK_FALSE((holds_in_graphs(false, k) && holds_in_graphs(true, k)));
  }
  CHECK(holds_in_graphs(true, kWaits + 1));  // there is none further
}

TEST_CASE("parts come and go likewise without a graph, done at once or when somebody waits") {
  for (bool late : {false, true}) {
    TwoRuns runs({.late = late});
    CHECK(runs.holds(1, [&] { runs.put_on_stream(); }));
    CHECK(runs.holds(97, [&] { runs.put_on_stream(); }));
  }
}
