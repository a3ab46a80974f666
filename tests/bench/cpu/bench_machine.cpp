// SPDX-License-Identifier: Apache-2.0
// What this machine could do at most, as a contender (worker.hpp) on BENCH_THREADS threads:
// - fma 256, fma 512: fused multiply-adds on registers alone; probed: operations of a run
// - pairs bf16, amx bf16: products of pairs of bf16 and of tiles of bf16, likewise
// - copy BYTES, triad BYTES, axpy BYTES: memcpy, a = b + s c and a = a + s b over arrays of BYTES
//   each; probed: bytes that a run reads and writes. What is written elsewhere than it was read may
//   be fetched first, which these bytes leave out; axpy fetches nothing in vain
// - past_copy BYTES, past_triad BYTES: the same, written past the caches, so that nothing is
//   fetched in vain
// `bench_machine draw FILE COUNT LOW HIGH SEED` writes f32 drawn uniformly, `bench_machine labels
// FILE COUNT CLASSES SEED` i32 below CLASSES.
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "fma_peak.hpp"
#include "worker.hpp"

using namespace halftone::tests;

namespace {

int threads() {
  const char* text = std::getenv("BENCH_THREADS");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

/// work(thread) on every thread at once; returns when all are done.
void on_all(const std::function<void(int)>& work) {
  std::vector<std::thread> others;
  for (int i = 1; i < threads(); ++i) others.emplace_back(work, i);
  work(0);
  for (std::thread& other : others) other.join();
}

class Fma : public Contender {
 public:
  explicit Fma(int bits) : wide_(bits == 512) {
    if (!(wide_ ? __builtin_cpu_supports("avx512f") : __builtin_cpu_supports("avx2")) ||
        !__builtin_cpu_supports("fma"))
      throw std::runtime_error("this processor has no FMA of " + std::to_string(bits) + " bits");
  }
  std::vector<double> probe() override {
    return {kFmaRounds * (wide_ ? kFmaOperations512 : kFmaOperations256) * threads()};
  }
  void run(std::int64_t count) override {
    on_all([&](int) {
      if (wide_) {
        fma_512(kFmaRounds * count);
      } else {
        fma_256(kFmaRounds * count);
      }
    });
  }

 private:
  static constexpr std::int64_t kFmaRounds = 1 << 17;
  bool wide_;
};

class Pairs : public Contender {
 public:
  Pairs() {
    if (!__builtin_cpu_supports("avx512bf16"))
      throw std::runtime_error("this processor has no products of pairs of bf16");
  }
  std::vector<double> probe() override { return {kPairRounds * kPairOperations * threads()}; }
  void run(std::int64_t count) override {
    on_all([&](int) { pair_products(kPairRounds * count); });
  }

 private:
  static constexpr std::int64_t kPairRounds = 1 << 17;
};

class Tiles : public Contender {
 public:
  Tiles() {
#if defined(__linux__) && defined(__x86_64__)
    constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
    if (__builtin_cpu_supports("amx-bf16") != 0 &&
        syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0)
      return;
#endif
    throw std::runtime_error("this processor has no tiles of bf16, or Linux does not give them");
  }
  std::vector<double> probe() override { return {kTileRounds * kTileOperations * threads()}; }
  void run(std::int64_t count) override {
    on_all([&](int) { tile_products(kTileRounds * count); });
  }

 private:
  static constexpr std::int64_t kTileRounds = 1 << 12;
};

/// work(first, last) over `count` values, in equal parts on all threads.
template <class Work>
void on_parts(std::size_t count, const Work& work) {
  const auto all = static_cast<std::size_t>(threads());
  on_all([&](int thread) {
    const auto index = static_cast<std::size_t>(thread);
    work(count * index / all, count * (index + 1) / all);
  });
}

class Stream : public Contender {
 public:
  using Part = void (*)(float* a, const float* b, const float* c, std::size_t count);

  Stream(Part part, int moved, std::int64_t bytes)
      : part_(part), moved_(moved), count_(static_cast<std::size_t>(bytes) / sizeof(float)) {
    for (std::vector<float>& array : arrays_) array.assign(count_, 0.25f);
  }
  std::vector<double> probe() override {
    return {static_cast<double>(count_ * sizeof(float)) * moved_};
  }
  void run(std::int64_t runs) override {
    on_parts(count_, [&](std::size_t first, std::size_t last) {
      for (std::int64_t i = 0; i < runs; ++i)
        part_(&arrays_[0][first], &arrays_[1][first], &arrays_[2][first], last - first);
    });
  }

 private:
  Part part_;
  int moved_;  ///< arrays' worth of bytes
  std::size_t count_;
  std::vector<float> arrays_[3];
};

void copy(float* a, const float* b, const float*, std::size_t count) {
  std::memcpy(a, b, count * sizeof(float));
}
void triad(float* __restrict a, const float* __restrict b, const float* __restrict c,
           std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) a[i] = b[i] + 0.5f * c[i];
}
void axpy(float* __restrict a, const float* __restrict b, const float*, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) a[i] += 0x1p-30f * b[i];
}

#if defined(__SSE__)
/// vector_of(i) to a[i] and the three behind it; values before the first whole vector and behind
/// the last are left as they are.
template <class VectorOf>
void write_past_caches(float* a, std::size_t count, VectorOf vector_of) {
  constexpr std::size_t kVector = 4;
  std::size_t i = 0;
  while (reinterpret_cast<std::uintptr_t>(a + i) % sizeof(__m128) != 0) ++i;
  for (; i + kVector <= count; i += kVector) _mm_stream_ps(a + i, vector_of(i));
  _mm_sfence();
}
void past_copy(float* a, const float* b, const float*, std::size_t count) {
  write_past_caches(a, count, [&](std::size_t i) { return _mm_loadu_ps(b + i); });
}
void past_triad(float* a, const float* b, const float* c, std::size_t count) {
  write_past_caches(a, count, [&](std::size_t i) {
    return _mm_add_ps(_mm_loadu_ps(b + i), _mm_mul_ps(_mm_set1_ps(0.5f), _mm_loadu_ps(c + i)));
  });
}
#endif

std::unique_ptr<Contender> make(std::istringstream& words) {
  std::string kind;
  std::int64_t size = 0;
  words >> kind >> size;
  if (kind == "fma") return std::make_unique<Fma>(static_cast<int>(size));
  if (kind == "pairs") return std::make_unique<Pairs>();
  if (kind == "amx") return std::make_unique<Tiles>();
  if (kind == "copy") return std::make_unique<Stream>(copy, 2, size);
  if (kind == "triad") return std::make_unique<Stream>(triad, 3, size);
  if (kind == "axpy") return std::make_unique<Stream>(axpy, 3, size);
#if defined(__SSE__)
  if (kind == "past_copy") return std::make_unique<Stream>(past_copy, 2, size);
  if (kind == "past_triad") return std::make_unique<Stream>(past_triad, 3, size);
#endif
  throw std::runtime_error(
      "the machine knows fma, pairs, amx, copy, triad, axpy and, on x86, past_copy and past_triad, "
      "not '" +
      kind + "'");
}

template <class Value, class Draw>
int write_values(const std::string& path, std::int64_t count, Draw draw) {
  std::vector<Value> values(static_cast<std::size_t>(count));
  for (Value& value : values) value = draw();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(Value)));
  if (file.flush()) return 0;
  std::cerr << "bench_machine: " << path << " cannot be written\n";
  return 1;
}

int draw(const std::vector<std::string>& words) {
  const std::int64_t count = std::stoll(words[2]);
  std::mt19937 random(static_cast<std::mt19937::result_type>(std::stoul(words.back())));
  if (words[0] == "labels") {
    const auto classes = static_cast<std::uint32_t>(std::stoul(words[3]));
    return write_values<std::int32_t>(
        words[1], count, [&] { return static_cast<std::int32_t>(random() % classes); });
  }
  const float low = std::stof(words[3]), high = std::stof(words[4]);
  return write_values<float>(words[1], count, [&] {
    return low + (high - low) * (static_cast<float>(random() >> 8) * 0x1p-24f);
  });
}

}  // namespace

int main(int count, char** values) try {
  const std::vector<std::string> words(values + 1, values + count);
  if (words.empty()) {
    Server(make).serve();
    return 0;
  }
  if ((words.size() == 6 && words[0] == "draw") || (words.size() == 5 && words[0] == "labels"))
    return draw(words);
  std::cerr << "bench_machine: takes no arguments, or: draw FILE COUNT LOW HIGH SEED, or: labels "
               "FILE COUNT "
               "CLASSES SEED\n";
  return 1;
} catch (const std::exception& error) {
  std::cerr << "bench_machine: " << error.what() << "\n";
  return 1;
}
