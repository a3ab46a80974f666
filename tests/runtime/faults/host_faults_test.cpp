// SPDX-License-Identifier: Apache-2.0
// Every allocation, every start of a thread and every call of the system fails once in the life of
// a trainer, its files, logs and data: each time one sentence, std::bad_alloc, or nothing that
// shows; nothing is left behind, no checkpoint is lost, and what goes on computes the same bits.
#include <doctest/doctest.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "../artifact_files.hpp"
#include "../cache/kernels.hpp"
#include "faults.hpp"
#include "halftone/artifact.hpp"
#include "halftone/executor.hpp"
#include "life.hpp"
#include "message_of.hpp"
#include "thread_pool.hpp"

namespace halftone::tests {
namespace {

Device two_threads() { return Device::cpu().with_threads(2); }

/// Runs a job at once, inside of submit().
class AtOnce final : public Executor {
 public:
  [[nodiscard]] int threads() const noexcept override { return 3; }
  void submit(std::function<void()> job) noexcept override { job(); }
};
Device with_executor() { return Device::cpu().with_executor(std::make_shared<AtOnce>()); }

Injector injector_of(Fault fault, int failure = 0) {
  return {.arm = [=](int at) { arm(fault, at, failure); },
          .disarm = [] { return disarm(); },
          .call = [] { return std::string(failed_call()); }};
}

std::ptrdiff_t open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

/// The outcomes; what they leave is compared with a life in which nothing failed.
Outcomes survive(Device (*device)(), const Injector& injector) {
  std::map<std::string, Life::Floats> expected, said;
  {
    Life life(device);
    (void)life.run(nullptr);
    expected = life.said();
  }
  const std::ptrdiff_t files_before = open_files();
  const std::int64_t before = live_allocations();
  Outcomes outcomes;
  {
    Life life(device);
    outcomes = life.run(&injector);
    said = life.said();
  }
  const std::string other = difference(said, expected);
  said.clear();
  const std::int64_t left = live_allocations() - before;
  CHECK(other == "");
  CHECK(open_files() == files_before);
  for (const std::string& wrong : outcomes.wrong) MESSAGE(wrong);
  CHECK(outcomes.wrong.empty());
  if (outcomes.wrong.empty()) CHECK(left == 0);
  CHECK(outcomes.torn == 0);  // a CPU's step is done or not begun
  return outcomes;
}

}  // namespace

TEST_CASE("every allocation fails once, and no step is lost, doubled or half done") {
  for (const auto device : {two_threads, with_executor}) {
    const Outcomes outcomes = survive(device, injector_of(Fault::allocation));
    MESSAGE("allocations refused " << outcomes.refused << ", done without " << outcomes.harmless);
    CHECK(outcomes.refused > 500);
  }
}

TEST_CASE("every start of a thread fails once, in a sentence that names what wants it") {
  const Outcomes outcomes = survive(two_threads, injector_of(Fault::thread));
  // The pool's one worker, a thread that saves, three that gather rows.
  CHECK(outcomes.refused == 5);
  CHECK(outcomes.harmless == 0);
  Life::Floats bias(2);
  models::line::Trainer trainer(two_threads(), {.batch = 1});
  const ScratchFolder scratch;
  arm(Fault::thread, 1);
  CHECK(message_of([&] { trainer.save(scratch / "a", {.background = true}); }) ==
        "save: a thread for the background cannot be started: Resource temporarily unavailable; "
        "say .background = false, or end other threads");
  CHECK(disarm());
}

TEST_CASE("every call of the system fails once, and no checkpoint is lost") {
  int refused = 0;
  for (const int failure : {EIO, ENOSPC, EACCES, EINTR, EMFILE, EROFS}) {
    CAPTURE(failure);
    const Outcomes outcomes = survive(two_threads, injector_of(Fault::system_call, failure));
    MESSAGE("errno " << failure << ": refused " << outcomes.refused << ", done without "
                     << outcomes.harmless);
    CHECK(outcomes.refused > 10);
    refused += outcomes.refused;
  }
  CHECK(refused > 100);
}

TEST_CASE("a pool that could not start has no worker, and as many as it should when it can") {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                         std::filesystem::directory_iterator());
  };
  // One that was joined may be listed for a moment still.
  const auto become = [&](std::ptrdiff_t count) {
    for (int i = 0; i < 2000 && threads() != count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return threads() == count;
  };
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::ptrdiff_t before = threads();
  for (const Fault fault : {Fault::allocation, Fault::thread}) {
    int refused = 0;
    for (bool failed = true; failed;) {
      ThreadPool pool(4);
      CHECK(become(before));
      arm(fault, refused + 1);
      try {
        pool.start();
      } catch (const std::exception&) {
      }
      failed = disarm();
      refused += failed;
      CHECK(become(before + (failed ? 0 : 3)));
      pool.start();
      CHECK(become(before + 3));
    }
    CHECK(refused >= 3);
  }
}

TEST_CASE("a signal that interrupts a call is no fault") {
  const ScratchFolder scratch;
  models::line::Trainer trainer(two_threads(), {.batch = 1});
  for (const bool again : {false, true}) {
    CAPTURE(again);  // over a file that is there
    int interrupted = 0;
    for (int at = 1;; ++at) {
      arm(Fault::system_call, at, EINTR);
      const std::string message = message_of([&] { trainer.save(scratch / "a"); });
      if (!disarm()) break;
      const std::string_view call = failed_call();
      if (call == "open" || call == "openat" || call == "write" || call == "fsync") {
        CAPTURE(call);
        CHECK(message == "no error");
        ++interrupted;
      }
    }
    CHECK(interrupted >= 5);
  }
}

TEST_CASE("an artifact is loaded, or refused in a sentence and not held, whatever fails") {
  const artifact_files::Folder folder;
  const std::filesystem::path plugin = folder.sealed(LINE_PLUGIN, "line.so");
  { const Artifact once = Artifact::load(plugin); }
  for (const auto& [fault, failure] : {std::pair(Fault::allocation, 0),
                                       {Fault::system_call, EACCES},
                                       {Fault::system_call, EMFILE},
                                       {Fault::system_call, EIO}}) {
    const std::int64_t before = live_allocations();
    int refused = 0, no_sentence = 0;
    bool failed = true;
    for (int at = 1; failed; ++at) {
      arm(fault, at, failure);
      try {
        const Artifact artifact = Artifact::load(plugin);
      } catch (const Error& error) {
        (void)disarm();
        ++refused;
        no_sentence += !is_sentence(error.what());
      } catch (const std::bad_alloc&) {
        ++refused;
        no_sentence += fault != Fault::allocation;
      }
      failed = disarm();
    }
    const std::int64_t left = live_allocations() - before;
    CAPTURE(failure);
    CHECK(refused > 0);
    CHECK(no_sentence == 0);
    CHECK(left == 0);
  }
  CHECK(Artifact::load(plugin).manifest().model == "line");
}

TEST_CASE("a cache of kernels gives the right one or none, whatever fails") {
  const ScratchFolder scratch;
  int made = 0;
  {
    KernelCache cache(settings_for(scratch / "kernels"));
    CHECK(ask(cache, 1, made) == image_of(1));
  }
  const std::ptrdiff_t files_before = open_files();
  for (const int number : {1, 2}) {  // one that is there, and one that is not
    for (int at = 1;; ++at) {
      std::string image;
      arm(Fault::allocation, at);
      try {
        KernelCache cache(settings_for(scratch / "kernels"));
        image = ask(cache, number, made);
      } catch (const std::bad_alloc&) {
      }
      if (!disarm()) break;
      CAPTURE(at);
      CHECK((image.empty() || image == image_of(number)));
      if (number == 2) std::filesystem::remove(scratch / ("kernels/" + name_of(2)));
    }
    KernelCache cache(settings_for(scratch / "kernels"));
    CHECK(ask(cache, number) == image_of(number));
  }
  CHECK(open_files() == files_before);
}

}  // namespace halftone::tests
