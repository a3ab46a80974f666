// SPDX-License-Identifier: Apache-2.0
// The test program's own operator new, posix_memalign and pthread_create.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <utility>

#include "faults.hpp"

namespace halftone::tests {
namespace {

std::atomic<int> armed_kind{-1}, calls_left{0}, armed_failure{0};
std::atomic<bool> fired{false};
std::atomic<const char*> failed{""};
std::atomic<std::int64_t> live{0};
thread_local bool is_spared = false;

void* allocated(std::size_t bytes, std::size_t alignment) noexcept {
  if (fails_now(Fault::allocation, "operator new")) return nullptr;
  if (bytes == 0) bytes = 1;
  void* address =
      alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__
          ? std::malloc(bytes)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (address) live.fetch_add(1, std::memory_order_relaxed);
  return address;
}

void* required(std::size_t bytes, std::size_t alignment) {
  if (void* address = allocated(bytes, alignment)) return address;
  throw std::bad_alloc();
}

void released(void* address) noexcept {
  if (!address) return;
  live.fetch_sub(1, std::memory_order_relaxed);
  std::free(address);
}

}  // namespace

void arm(Fault fault, int at, int failure) {
  fired = false;
  armed_failure = failure;
  calls_left = at;
  armed_kind = static_cast<int>(fault);
}

Spared::Spared() : before_(std::exchange(is_spared, true)) {}
Spared::~Spared() { is_spared = before_; }

bool disarm() {
  armed_kind = -1;
  return fired;
}

const char* failed_call() { return failed; }
std::int64_t live_allocations() { return live; }
int failure_now() { return armed_failure; }

bool fails_now(Fault fault, const char* call) {
  if (is_spared) return false;
  if (armed_kind.load(std::memory_order_relaxed) != static_cast<int>(fault)) return false;
  if (calls_left.fetch_sub(1) != 1) return false;
  failed = call;
  fired = true;
  return true;
}

}  // namespace halftone::tests

using halftone::tests::allocated, halftone::tests::required, halftone::tests::released;
constexpr std::size_t kPlain = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

void* operator new(std::size_t bytes) { return required(bytes, kPlain); }
void* operator new[](std::size_t bytes) { return required(bytes, kPlain); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocated(bytes, kPlain);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocated(bytes, kPlain);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return required(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return required(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* address) noexcept { released(address); }
void operator delete[](void* address) noexcept { released(address); }
void operator delete(void* address, std::size_t) noexcept { released(address); }
void operator delete[](void* address, std::size_t) noexcept { released(address); }
void operator delete(void* address, const std::nothrow_t&) noexcept { released(address); }
void operator delete[](void* address, const std::nothrow_t&) noexcept { released(address); }
void operator delete(void* address, std::align_val_t) noexcept { released(address); }
void operator delete[](void* address, std::align_val_t) noexcept { released(address); }
void operator delete(void* address, std::size_t, std::align_val_t) noexcept { released(address); }
void operator delete[](void* address, std::size_t, std::align_val_t) noexcept { released(address); }

extern "C" {

int posix_memalign(void** address, std::size_t alignment, std::size_t bytes) noexcept {
  if (halftone::tests::fails_now(halftone::tests::Fault::allocation, "posix_memalign"))
    return ENOMEM;
  *address = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  return *address ? 0 : ENOMEM;
}

/// What the constructors of an opened library do is not the runtime's to survive.
void* dlopen(const char* file, int mode) noexcept {
  static auto* const real =
      reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
  const halftone::tests::Spared spared;
  return real(file, mode);
}

using CreateThread = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
/// AddressSanitizer's own, which keeps count of threads; null in other builds.
__attribute__((weak)) CreateThread __interceptor_pthread_create;

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  static CreateThread* const real =
      __interceptor_pthread_create
          ? __interceptor_pthread_create
          : reinterpret_cast<CreateThread*>(dlsym(RTLD_NEXT, "pthread_create"));
  if (halftone::tests::fails_now(halftone::tests::Fault::thread, "pthread_create")) return EAGAIN;
  return real(thread, attributes, start, argument);
}

}  // extern "C"
