// SPDX-License-Identifier: Apache-2.0
#include "thread_pool.hpp"

#include <pthread.h>

#include <chrono>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "halftone/error.hpp"

namespace halftone {
namespace {

// What two threads save of a shorter launch is what it costs them to share it.
constexpr std::int64_t kShortNanoseconds = 6000;

/// Of a thread that is one of a pool's users, or helps them.
thread_local bool is_counted = false;

/// Of a thread that is inside of an executor's submit().
thread_local bool submits = false;

/// What the process has of pools. Never destroyed, since devices in static storage may outlive it.
struct Process {
  static Process& instance() {
    static Process& process = *new Process;
    static const int registered =
        pthread_atfork([] { process.mutex.lock(); }, [] { process.mutex.unlock(); }, after_fork);
    (void)registered;
    return process;
  }

  static void after_fork() {
    for (ThreadPool* pool : instance().pools) pool->forget_threads();
    instance().mutex.unlock();
  }

  std::mutex mutex;  ///< while pools are looked up, started and ended
  std::set<ThreadPool*> pools;
  std::map<int, std::weak_ptr<ThreadPool>> shared;  ///< by their threads
  std::vector<std::vector<std::thread>> lost;  ///< of the process that this one was forked from
};

}  // namespace

ThreadPool::Shared::Shared(int threads)
    : jobs(threads <= static_cast<int>(std::thread::hardware_concurrency())),
      seats(static_cast<std::size_t>(threads)) {}

/// Who a submitted job is when it helps. It lasts as long as the job.
struct ThreadPool::Seat {
  Seat(std::shared_ptr<Shared> shared_with, int number)
      : shared(std::move(shared_with)), slot(number) {}
  ~Seat() { leave(); }
  void leave() noexcept {
    if (!left.exchange(true)) shared->seats[static_cast<std::size_t>(slot)].store(false);
  }

  const std::shared_ptr<Shared> shared;
  const int slot;
  std::atomic<bool> left{false};
};

ThreadPool::Use::Use(ThreadPool& pool) noexcept
    : users_(std::exchange(is_counted, true) ? nullptr : &pool.shared_->users) {
  if (users_) users_->fetch_add(1);
}

ThreadPool::Use::~Use() {
  if (!users_) return;
  users_->fetch_sub(1);
  is_counted = false;
}

ThreadPool::ThreadPool(int threads) : ThreadPool(threads, nullptr) {}

ThreadPool::ThreadPool(int threads, std::shared_ptr<Executor> executor)
    : executor_(std::move(executor)),
      threads_(threads),
      shared_(std::make_shared<Shared>(threads)) {
  Process& process = Process::instance();
  const std::lock_guard lock(process.mutex);
  process.pools.insert(this);
}

ThreadPool::~ThreadPool() {
  Process& process = Process::instance();
  const std::lock_guard lock(process.mutex);
  process.pools.erase(this);
  stop();
}

std::shared_ptr<ThreadPool> ThreadPool::shared(int threads) {
  auto made = std::make_shared<ThreadPool>(threads);
  Process& process = Process::instance();
  const std::lock_guard lock(process.mutex);
  std::weak_ptr<ThreadPool>& known = process.shared[threads];
  if (auto pool = known.lock()) return pool;
  known = made;
  return made;
}

void ThreadPool::start() {
  if (executor_ || started_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(Process::instance().mutex);
  if (started_.load()) return;
  start_workers();
  started_.store(true, std::memory_order_release);
}

void ThreadPool::start_workers() {
  workers_.reserve(static_cast<std::size_t>(threads_ - 1));
  try {
    for (int slot = 1; slot < threads_; ++slot) {
      workers_.emplace_back([this, slot] { work(slot); });
    }
  } catch (const std::system_error& refused) {
    stop();
    throw Error({.operation = "device",
                 .object = "a pool of " + std::to_string(threads_) + " threads",
                 .cause = std::string("cannot be started: ") + refused.what(),
                 .hint = "ask for fewer with HALFTONE_THREADS or with_threads"});
  } catch (...) {  // std::bad_alloc: those that are there would share slots with the next ones
    stop();
    throw;
  }
}

void ThreadPool::stop() noexcept {
  shared_->stopping.store(true);
  shared_->jobs.wake();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
  shared_->stopping.store(false);
}

void ThreadPool::forget_threads() {
  Process::instance().lost.push_back(std::move(workers_));
  workers_.clear();
  shared_->jobs.forget();
  shared_->users.store(0);
  started_.store(false);
}

bool ThreadPool::is_worth_sharing(std::int64_t count, const Work* work) const noexcept {
  if (count == 1 || threads_ == 1) return false;
  if (work && work->nanoseconds >= 0 && work->nanoseconds < kShortNanoseconds) return false;
  return executor_ || shared_->users.load() < threads_;
}

void ThreadPool::run(std::int64_t count, Work* work, SharedJobs::Body body) {
  if (count <= 0) return;
  const Use use(*this);
  body.timed = work && threads_ > 1;
  if (is_worth_sharing(count, work)) {
    start();
    if (const auto job = shared_->jobs.publish(body, count, threads_)) {
      if (executor_) invite(count - 1);
      const std::int64_t nanoseconds = shared_->jobs.finish(*job);
      if (work) work->nanoseconds = nanoseconds;
      return;
    }
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = body.timed ? Clock::now() : Clock::time_point();
  body.call(body.context, 0, count, 0);
  if (body.timed) work->nanoseconds = std::chrono::nanoseconds(Clock::now() - start).count();
}

/// The job is published already. Nothing depends on helpers, so that where there is no memory to
/// invite one, fewer come.
void ThreadPool::invite(std::int64_t helpers) noexcept {
  const bool former = std::exchange(submits, true);
  for (int slot = 1; slot < threads_ && slot <= helpers; ++slot) {
    std::atomic<bool>& taken = shared_->seats[static_cast<std::size_t>(slot)];
    if (taken.exchange(true)) continue;
    bool has_seat = false;
    try {
      const auto seat = std::make_shared<Seat>(shared_, slot);
      has_seat = true;
      executor_->submit([seat] { help_for_a_moment(*seat); });
    } catch (const std::bad_alloc&) {
      if (!has_seat) taken.store(false);  // which the seat does itself where there is one
      break;
    }
  }
  submits = former;
}

void ThreadPool::help_for_a_moment(Seat& seat) noexcept {
  const bool former = std::exchange(is_counted, true);
  std::uint32_t seen = 0;
  do {
    seen = seat.shared->jobs.news();
    while (seat.shared->jobs.help(seat.slot)) {
    }
  } while (!submits && seat.shared->jobs.look_out(seen));
  is_counted = former;
  seat.leave();
}

void ThreadPool::work(int slot) noexcept {
  is_counted = true;
  SharedJobs& jobs = shared_->jobs;
  const auto is_wanted = [&] { return slot + shared_->users.load() <= threads_; };
  for (;;) {
    const std::uint32_t seen = jobs.news();
    if (shared_->stopping.load()) return;
    while (is_wanted() && jobs.help(slot)) {
    }
    if (!is_wanted() || !jobs.look_out(seen)) jobs.sleep(seen);
  }
}

}  // namespace halftone
