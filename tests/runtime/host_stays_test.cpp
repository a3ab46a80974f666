// SPDX-License-Identifier: Apache-2.0
// P98: what stays in the host's memory between the passes comes back as launches left it, whatever
// order streams are free to take; each wait is needed for that, and slots serve others meanwhile.
#include "host_stays.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "fake_driver.hpp"

using namespace halftone;

namespace {

constexpr std::int64_t kBytes = 48;

/// Launches that use buffers, which lie in slots: each notes what it finds in them and, but for
/// what came back, leaves something else.
struct Work {
  std::vector<std::int32_t> slots;  ///< by buffer
  std::vector<std::pair<std::size_t, std::size_t>> stays;
  std::vector<std::vector<std::size_t>> launches;
  std::size_t forward = 0;  ///< so many launches are of the forward pass
};

/// Runs of it: all in one, or one for each pass.
class Runs {
 public:
  Runs(const Work& work, const fake::Options& options)
      : work_(work),
        bytes_(work.stays.size(), kBytes),
        log_(std::make_shared<fake::Log>()),
        device_(fake::device(log_, options)),
        context_(*device_.driver()),
        driver_(context_.driver()) {
    require(driver_.create_stream(stream_));
    std::vector<DeviceAddress> slots;
    for (std::int32_t slot : work.slots) {
      while (slots.size() <= static_cast<std::size_t>(slot)) slots.push_back(allocate());
    }
    for (std::int32_t slot : work.slots) buffers_.push_back(slots[static_cast<std::size_t>(slot)]);
    std::vector<HostStay> stays;
    for (const auto& [buffer, back] : work.stays) {
      HostStay& stay = stays.emplace_back();
      stay = {.buffer = buffer, .back = back, .from = buffers_[buffer], .to = buffers_[back]};
      require(driver_.allocate_host(kBytes, stay.host));
      host_.push_back(stay.host);
    }
    for (const auto& launch : work.launches) {
      for (std::size_t i = 0; i < launch.size(); ++i) {
        seen_.push_back(allocate());
        left_.push_back(allocate());
      }
    }
    stays_ = std::make_unique<HostStays>("test", context_, stream_, std::move(stays), work.slots);
  }
  ~Runs() {
    stays_.reset();
    for (std::byte* host : host_) (void)driver_.free_host(host);
    for (DeviceAddress address : allocated_) (void)driver_.free(address);
    (void)driver_.destroy_stream(stream_);
  }
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  /// Whether every launch finds what it is to find, where a graph is of one run.
  bool hold_in_one() {
    return hold_in_graph([&] { put_on_stream(0, work_.launches.size()); });
  }
  /// Or of a run for each pass.
  bool hold_in_two() {
    return hold_in_graph([&] {
      put_on_stream(0, work_.forward);
      put_on_stream(work_.forward, work_.launches.size());
    });
  }
  bool hold_without_graph() {
    return holds(3, [&] { put_on_stream(0, work_.launches.size()); }) && holds(101, [&] {
             put_on_stream(0, work_.forward);
             put_on_stream(work_.forward, work_.launches.size());
           });
  }
  /// One at a time, each a run of its own.
  bool hold_apart() {
    return holds(3, [&] {
      for (std::size_t i = 0; i < work_.launches.size(); ++i) put_on_stream(i, i + 1);
    });
  }
  /// A graph of all launches, then one of those before `cut` and one of the others, all captured
  /// before any runs.
  bool hold_in_graphs(std::size_t cut) {
    const std::size_t end = work_.launches.size();
    const DriverGraph all = captured([&] { put_on_stream(0, end); }),
                      first = captured([&] { put_on_stream(0, cut); }),
                      second = captured([&] { put_on_stream(cut, end); });
    const auto run = [&](DriverGraph graph) { require(driver_.launch(graph, stream_)); };
    bool hold = holds(3, [&] { run(all); });
    hold &= holds(101, [&] { run(first), run(second); });
    hold &= holds(3, [&] { run(all); });
    for (const DriverGraph graph : {all, first, second}) (void)driver_.destroy_graph(graph);
    return hold;
  }
  /// Of a run of these launches some are put on the stream, and nothing waits for any of them but
  /// the end of the stays.
  void break_off(std::size_t begin, std::size_t end, std::size_t after) {
    begin_run(begin, end);
    for (std::size_t i = begin; i < begin + after; ++i) launch(i);
    stays_.reset();
  }
  std::vector<std::byte> in_host(std::size_t stay) const {
    return {host_[stay], host_[stay] + kBytes};
  }
  std::vector<std::byte> on_device(std::size_t buffer) const {
    const auto* bytes = static_cast<const std::byte*>(memory(buffers_[buffer]));
    return {bytes, bytes + kBytes};
  }
  void fill_host(std::size_t stay, int value) { std::memset(host_[stay], value, kBytes); }
  void fill_device(std::size_t buffer, int value) {
    std::memset(memory(buffers_[buffer]), value, kBytes);
  }
  void fill_left(int value) {
    for (const DeviceAddress address : left_) std::memset(memory(address), value, kBytes);
  }
  /// Of all launches, with so many bytes of each stay.
  void run_with(const std::vector<std::int64_t>& bytes) {
    bytes_ = bytes;
    put_on_stream(0, work_.launches.size());
    require(driver_.synchronise(stream_));
  }
  const std::vector<std::string>& calls() const { return log_->calls; }
  std::size_t waits() const {
    return static_cast<std::size_t>(std::ranges::count(log_->graph, "wait"));
  }

 private:
  DriverGraph captured(const std::function<void()>& put) {
    require(driver_.begin_capture(stream_));
    put();
    DriverGraph graph{};
    require(driver_.end_capture(stream_, graph));
    return graph;
  }

  bool hold_in_graph(const std::function<void()>& put) {
    const DriverGraph graph = captured(put);
    const auto run = [&] { require(driver_.launch(graph, stream_)); };
    const bool first = holds(3, run), second = holds(101, run);
    (void)driver_.destroy_graph(graph);
    return first && second;
  }

  void put_on_stream(std::size_t begin, std::size_t end) {
    begin_run(begin, end);
    for (std::size_t i = begin; i < end; ++i) launch(i);
    stays_->end();
  }

  void begin_run(std::size_t begin, std::size_t end) {
    std::vector<std::span<const std::size_t>> launches;
    for (std::size_t i = begin; i < end; ++i) launches.emplace_back(work_.launches[i]);
    stays_->begin(launches, bytes_);
  }

  void launch(std::size_t i) {
    std::size_t use = 0;
    for (std::size_t before = 0; before < i; ++before) use += work_.launches[before].size();
    stays_->before_launch();
    for (const std::size_t buffer : work_.launches[i]) {
      require(driver_.copy(seen_[use], buffers_[buffer], kBytes, stream_));
      if (!came_back(buffer)) require(driver_.copy(buffers_[buffer], left_[use], kBytes, stream_));
      ++use;
    }
    stays_->after_launch();
  }

  bool came_back(std::size_t buffer) const {
    return std::ranges::find(work_.stays, buffer, [](auto& stay) { return stay.second; }) !=
           work_.stays.end();
  }

  bool holds(std::uint8_t salt, const std::function<void()>& run) {
    for (std::size_t use = 0; use < left_.size(); ++use) {
      std::memset(memory(left_[use]), static_cast<int>((salt + use) & 0xff), kBytes);
      std::memset(memory(seen_[use]), 0, kBytes);
    }
    run();
    require(driver_.synchronise(stream_));
    std::vector<int> last(work_.slots.size(), -1);  // what launches left, by buffer
    std::size_t use = 0;
    bool all = true;
    for (const auto& launch : work_.launches) {
      for (const std::size_t buffer : launch) {
        int expected = last[buffer];
        for (const auto& [from, back] : work_.stays) {
          if (back == buffer) expected = last[from];
        }
        const std::vector<std::uint8_t> bytes(kBytes, static_cast<std::uint8_t>(expected));
        if (expected >= 0) all &= std::memcmp(memory(seen_[use]), bytes.data(), kBytes) == 0;
        last[buffer] = static_cast<int>((salt + use) & 0xff);
        ++use;
      }
    }
    return all;
  }

  static void require(const DriverStatus& status) {
    if (!status.ok()) throw std::runtime_error(status.text);
  }
  static void* memory(DeviceAddress address) { return reinterpret_cast<void*>(address); }
  DeviceAddress allocate() {
    DeviceAddress address = 0;
    require(driver_.allocate(kBytes, "test", address));
    return allocated_.emplace_back(address);
  }

  const Work& work_;
  std::vector<std::int64_t> bytes_;  ///< of each stay
  std::shared_ptr<fake::Log> log_;
  Device device_;
  DriverContext& context_;
  Driver& driver_;
  DriverStream stream_{};
  std::vector<DeviceAddress> buffers_, seen_, left_, allocated_;
  std::vector<std::byte*> host_;
  std::unique_ptr<HostStays> stays_;
};

bool holds(const Work& work, bool early, std::size_t forgotten_wait,
           const std::function<bool(Runs&)>& how) {
  try {
    Runs runs(work, {.others_early = early, .forgotten_wait = forgotten_wait});
    return how(runs);
  } catch (const std::exception&) {
    return false;
  }
}

std::vector<std::byte> all_of(int value) {
  return std::vector<std::byte>(kBytes, static_cast<std::byte>(value));
}

/// Buffers 0 to 2 stay and come back as 3 to 5, 6 to 8 are others. 0 leaves its slot to 6 and comes
/// to that of 1, which left it; 1 comes to that of 7, which is used to the end of the forward pass;
/// 2 comes to where it lay, in the backward pass, where 8 was.
const Work kWork = {
    .slots = {0, 1, 2, 1, 3, 2, 0, 3, 2},
    .stays = {{0, 3}, {1, 4}, {2, 5}},
    .launches = {{0}, {0, 1}, {1, 6}, {6, 2}, {2, 7}, {7, 8}, {8, 6}, {4}, {4, 3}, {3, 5}, {5}},
    .forward = 7};

/// Passes of random launches, as PlanMemory would place them: buffers whose spans meet have slots
/// of their own.
Work random_work(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t end) { return random() % end; };
  Work work;
  const std::size_t launches = 8 + below(12), kept = 1 + below(5), others = below(6);
  work.forward = 4 + below(launches - 6);
  work.launches.resize(launches);
  std::vector<std::pair<std::size_t, std::size_t>> spans;
  const auto add = [&](std::size_t begin, std::size_t end) {
    std::size_t first = begin + below(end - begin), last = begin + below(end - begin);
    if (first > last) std::swap(first, last);
    const std::size_t buffer = spans.size();
    spans.emplace_back(first, last);
    for (std::size_t i = first; i <= last; ++i) {
      if (i == first || i == last || below(2) == 0) work.launches[i].push_back(buffer);
    }
    return buffer;
  };
  for (std::size_t i = 0; i < kept; ++i) {
    const std::size_t buffer = add(0, work.forward);
    work.stays.emplace_back(buffer, add(work.forward, launches));
  }
  for (std::size_t i = 0; i < others; ++i) add(0, launches);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    std::vector<bool> taken(spans.size());
    for (std::size_t j = 0; j < i; ++j) {
      if (spans[i].first <= spans[j].second && spans[j].first <= spans[i].second)
        taken[static_cast<std::size_t>(work.slots[j])] = true;
    }
    const auto free = std::ranges::find(taken, false) - taken.begin();
    work.slots.push_back(static_cast<std::int32_t>(free));
  }
  return work;
}

}  // namespace

TEST_CASE("P98: activations leave and come back as launches want, as early and as late as may be") {
  for (const auto how : {&Runs::hold_in_one, &Runs::hold_in_two}) {
    CHECK(holds(kWork, false, 0, how));
    CHECK(holds(kWork, true, 0, how));
  }
}

TEST_CASE("P98: every wait between the streams is needed") {
  const auto check = [](const Work& work) {
    for (const auto how : {&Runs::hold_in_one, &Runs::hold_in_two}) {
      Runs whole(work, {});
      REQUIRE((whole.*how)());
      const std::size_t waits = whole.waits();
      CHECK(waits > 7);
      for (std::size_t k = 1; k <= waits; ++k) {
        CAPTURE(k);
        CHECK_FALSE((holds(work, false, k, how) && holds(work, true, k, how)));
      }
      CHECK(holds(work, true, waits + 1, how));  // there is none further
    }
  };
  check(kWork);
  // Other plans, none of whose waits is spare, though streams know of some by others.
  for (const unsigned seed : {0u, 1u, 26u, 28u, 72u, 80u, 94u, 202u, 212u, 256u, 276u, 280u}) {
    CAPTURE(seed);
    check(random_work(seed));
  }
}

TEST_CASE("P98: activations leave and come back likewise without a graph and launch by launch") {
  for (bool late : {false, true}) {
    Runs runs(kWork, {.late = late});
    CHECK(runs.hold_without_graph());
    CHECK(runs.hold_apart());
  }
}

TEST_CASE("P98: no run knows what another did: of one object each graph holds by itself") {
  const auto check = [](const Work& work, std::size_t cut) {
    CAPTURE(cut);
    for (const bool early : {false, true})
      CHECK(holds(work, early, 0, [=](Runs& runs) { return runs.hold_in_graphs(cut); }));
  };
  for (std::size_t cut = 1; cut < kWork.launches.size(); ++cut) check(kWork, cut);
  for (unsigned seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    const Work work = random_work(seed);
    check(work, 1 + seed % (work.launches.size() - 1));
  }
}

TEST_CASE("P98: copies under way are done when the object that began them is gone") {
  {
    Runs runs(kWork, {.late = true});
    for (std::size_t stay = 0; stay < kWork.stays.size(); ++stay) runs.fill_host(stay, 7);
    runs.fill_left(9);
    runs.break_off(0, kWork.forward, 3);  // 0 and 1 leave
    CHECK(runs.in_host(0) == all_of(9));
    CHECK(runs.in_host(1) == all_of(9));
    CHECK(runs.in_host(2) == all_of(7));
  }
  Runs runs(kWork, {.late = true});
  for (std::size_t stay = 0; stay < kWork.stays.size(); ++stay) {
    runs.fill_host(stay, static_cast<int>(20 + stay));
    runs.fill_device(kWork.stays[stay].second, 7);
  }
  runs.break_off(kWork.forward, kWork.launches.size(), 0);  // all come
  for (std::size_t stay = 0; stay < kWork.stays.size(); ++stay)
    CHECK(runs.on_device(kWork.stays[stay].second) == all_of(static_cast<int>(20 + stay)));
}

TEST_CASE("P98: of each activation as many bytes go as the run has, in the order of the launches") {
  Runs runs(kWork, {});
  const auto ways = [&] {
    std::vector<std::string> found;
    for (const std::string& call : runs.calls()) {
      if (call.starts_with("copy_out") || call.starts_with("copy_in_staged")) found.push_back(call);
    }
    return found;
  };
  std::vector<std::string> expected = {"copy_out 16",       "copy_out 32",
                                       "copy_out 48",       "copy_in_staged 32",
                                       "copy_in_staged 16", "copy_in_staged 48"};
  runs.run_with({16, 32, 48});
  CHECK(ways() == expected);
  for (const char* call : {"copy_out 8", "copy_out 24", "copy_out 40", "copy_in_staged 24",
                           "copy_in_staged 8", "copy_in_staged 40"})
    expected.emplace_back(call);
  runs.run_with({8, 24, 40});  // of fewer rows
  CHECK(ways() == expected);
}

TEST_CASE("P98: whatever slots serve, what comes back is what left") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const Work work = random_work(seed);
    for (const bool early : {false, true}) {
      CHECK(holds(work, early, 0, &Runs::hold_in_one));
      CHECK(holds(work, early, 0, &Runs::hold_in_two));
    }
  }
}

TEST_CASE("P98: what comes back begins to come as soon as its slot is free, in order of need") {
  std::vector<HostStay> stays;
  for (const auto& [buffer, back] : kWork.stays) stays.push_back({.buffer = buffer, .back = back});
  std::vector<std::span<const std::size_t>> launches;
  for (const auto& launch : kWork.launches) launches.emplace_back(launch);
  const StaySchedule schedule = schedule_stays(stays, launches, kWork.slots);
  using Lists = std::vector<std::vector<std::size_t>>;
  CHECK(schedule.leaving == Lists{{}, {0}, {1}, {}, {2}, {}, {}, {}, {}, {}, {}});
  // 1 is needed first, and its slot is free behind launch 5; 0's was before.
  CHECK(schedule.coming == Lists{{}, {}, {}, {}, {}, {}, {1, 0}, {2}, {}, {}, {}, {}});
  CHECK(schedule.arrived == std::vector<std::size_t>{0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0});
  CHECK(schedule.gone == std::vector<std::size_t>{0, 0, 1, 1, 0, 3, 3, 0, 2, 3, 3});
}
