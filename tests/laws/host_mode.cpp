// SPDX-License-Identifier: Apache-2.0
// host_mode [flush|down|up]: trains every model on inputs that are subnormal at every other step,
// and prints a hash of all bits that training left. The program must print the same whether its
// host flushes subnormals or not, and wherever it rounds to: `flush`, `down` and `up` set such a
// mode, and linking with -ffast-math flushes, when HALFTONE_EXPECT_FLUSH is defined. Only integers
// are computed here, since -ffast-math is about this file's floats. 77, with a line about it: the
// processor lacks a variant.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "delivered.hpp"
#include "halftone/device.hpp"
#include "halftone/manifest/plan.hpp"
#include "halftone/trainer.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

#if defined(__aarch64__)
constexpr std::uint64_t kFlush = 1 << 24;  // FPCR: flush to zero
// FPCR: f16 flushes too, NaNs become the default NaN, and f16 has no infinity
constexpr std::uint64_t kOther = 1 << 19 | 1 << 25 | 1 << 26;
constexpr std::uint64_t kDown = 2 << 22, kUp = 1 << 22;  // FPCR: rounding mode

std::uint64_t mode_of_host() {
  std::uint64_t bits = 0;
  asm volatile("mrs %0, fpcr" : "=r"(bits));
  return bits;
}
void set_mode_of_host(std::uint64_t bits) { asm volatile("msr fpcr, %0" : : "r"(bits)); }
#else
constexpr std::uint64_t kFlush = 0x8040;  // MXCSR: flush to zero, denormals are zero
constexpr std::uint64_t kOther = 0;
constexpr std::uint64_t kDown = 0x2000, kUp = 0x4000;  // MXCSR: rounding control

std::uint64_t mode_of_host() { return _mm_getcsr(); }
void set_mode_of_host(std::uint64_t bits) { _mm_setcsr(static_cast<unsigned>(bits)); }
#endif

/// The bits of MXCSR or FPCR that the mode of this name sets.
std::uint64_t bits_of(const std::string& mode) {
  if (mode == "flush") return kFlush | kOther;
  if (mode == "down") return kDown;
  if (mode == "up") return kUp;
  throw std::runtime_error("no mode " + mode);
}

class Hash {
 public:
  void add(std::span<const float> values) {
    for (const float& value : values) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof(bits));
      state_ = (state_ ^ bits) * 0x100000001b3ull;  // FNV-1a
    }
  }
  [[nodiscard]] unsigned long long value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325ull;
};

/// Values below 1, or subnormal ones, of both signs.
std::vector<float> draw(std::mt19937& random, std::size_t count, bool subnormal) {
  std::vector<float> values(count);
  for (float& value : values) {
    const std::uint32_t bits = random();
    const std::uint32_t exponent = subnormal ? 0 : 120 + bits % 7;
    const std::uint32_t code = (bits & 0x80000000u) | exponent << 23 | (bits >> 3 & 0x7fffff);
    std::memcpy(&value, &code, sizeof(value));
  }
  return values;
}

class Run {
 public:
  Run(const manifest::ArtifactImage& image, const std::string& variant)
      : artifact_(Artifact::linked(image)),
        sizes_(sizes_of(artifact_.manifest())),
        trainer_(artifact_, Device::cpu(variant).with_threads(2), setup()) {}

  unsigned long long hash() {
    Hash hash;
    for (int step = 0; step < 4; ++step) {
      train(step % 2 == 1);
      for (const auto& output : artifact_.manifest().outputs)
        hash.add(trainer_.output(output.name));
      for (const std::string& loss : artifact_.manifest().losses) {
        const float value = trainer_.loss(loss);
        hash.add({&value, 1});
      }
      for (const auto& parameter : artifact_.manifest().parameters) {
        if (parameter.trained) hash.add(trainer_.gradient(parameter.name));
        hash.add(trainer_.parameter(parameter.name));
      }
    }
    return hash.value();
  }

 private:
  /// Six of each, or as many as a layer allows.
  static std::vector<std::int64_t> sizes_of(const manifest::Manifest& manifest) {
    std::vector<std::int64_t> sizes(manifest.symbols.size(), 6);
    for (const manifest::Limit& limit : manifest.limits) {
      std::int64_t& size = sizes[static_cast<std::size_t>(limit.symbol)];
      size = std::clamp(size, limit.least, limit.most);
    }
    return sizes;
  }

  Setup setup() {
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      bindings_.push_back({artifact_.manifest().symbols[i], sizes_[i]});
    return {.model = "", .bindings = bindings_, .seed = 1};
  }

  [[nodiscard]] const manifest::Buffer& buffer(const std::string& name) const {
    for (const auto& program : artifact_.manifest().programs)
      for (const auto& buffer : program.buffers)
        if (program.name == "training" && buffer.name == name) return buffer;
    throw std::runtime_error("no buffer " + name);
  }

  void train(bool subnormal) {
    std::map<std::string, std::vector<float>> values;
    std::map<std::string, OfElements<VectorOf>> labels;
    std::vector<NamedValues> inputs;
    for (const std::string& name : artifact_.manifest().inputs) {
      const manifest::Buffer& input = buffer(name);
      const auto count = static_cast<std::size_t>(elements(input.shape, sizes_));
      if (encoding::traits(input.encoding.element).integer) {
        std::vector<std::int32_t> numbers(count);
        for (std::size_t i = 0; i < count; ++i) numbers[i] = i % 2;
        labels[name] = tests::delivered(input.encoding.element, numbers);
        inputs.push_back(tests::named(name, labels[name]));
      } else {
        values[name] = draw(random_, count, subnormal);
        inputs.push_back({name, std::span<const float>(values[name])});
      }
    }
    trainer_.step(inputs);
  }

  Artifact artifact_;
  std::vector<std::int64_t> sizes_;
  std::vector<Binding> bindings_;
  Trainer trainer_;
  std::mt19937 random_;
};

}  // namespace

}  // namespace halftone::tests

int main(int count, char** arguments) {
  using namespace halftone::tests;
  if (count > 1) set_mode_of_host(mode_of_host() | bits_of(arguments[1]));
#ifdef HALFTONE_EXPECT_FLUSH
  if ((mode_of_host() & kFlush) != kFlush) {
    std::puts("linking with -ffast-math did not set this host's mode, so nothing is tested");
    return 1;
  }
#endif
  try {
    (void)halftone::Device::cpu(tested_variant);
  } catch (const halftone::Error& error) {
    std::printf("Skipped: %s\n", error.what());
    return 77;
  }
  for (const LinkedArtifact& artifact : kArtifacts)
    for (const std::string& variant : tested_variants())
      std::printf("%s %s %016llx\n", artifact.name, variant.c_str(),
                  Run(*artifact.image, variant).hash());
}
