// SPDX-License-Identifier: Apache-2.0
// Elements of fewer than 8 bits (P53), which generated code rounds by f32 arithmetic, against
// LLVM's APFloat and tables of the definition: to the nearest and toward zero.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "conversion_oracles.hpp"
#include "halftone/device.hpp"
#include "halftone/encoding/traits.hpp"
#include "halftone/trainer.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {
namespace {

constexpr std::int64_t kRows = 1 << 16;  // of a run

/// Layers of the model: each output is the input rounded, since scales of earlier steps are 1
/// before the first (P72).
class Rounder {
 public:
  explicit Rounder(const std::string& variant)
      : device_(Device::cpu(variant)),
        trainer_(Artifact::linked(*find_artifact("short_elements").image), device_,
                 {.model = "", .bindings = {&kBatch, 1}, .seed = 1}) {}

  void run(const std::vector<float>& in) {
    const NamedValues inputs[] = {{"x", std::span<const float>(in)},
                                  {"wanted", std::span<const float>(wanted_)}};
    trainer_.forward(inputs);
  }
  [[nodiscard]] std::span<const float> output(const std::string& name) const {
    return trainer_.output(name);
  }

 private:
  static constexpr Binding kBatch{"batch", kRows};
  Device device_;
  Trainer trainer_;
  std::vector<float> wanted_ = std::vector<float>(kRows);
};

/// A way to round, and the numbers of all codes by what an oracle reads them as.
struct Rounding {
  std::string element, word;
  std::vector<Oracle<std::uint16_t>> oracles;
  std::vector<float> numbers;
};

std::vector<Rounding> short_roundings() {
  std::vector<Rounding> all;
  for (const Mode& mode : kByteModes) {
    if (encoding::traits(mode.format).bits >= 8) continue;
    const std::string name = mode.name;  // "f4e2m1 toward_zero"
    Rounding& rounding = all.emplace_back();
    rounding.element = name.substr(0, name.find(' '));
    rounding.word = name.substr(name.find(' ') + 1);
    rounding.oracles = code_oracles(mode);
    std::vector<std::uint16_t> codes(codes_of(mode.format));
    std::iota(codes.begin(), codes.end(), std::uint16_t{0});
    rounding.numbers.resize(codes.size());
    decode_oracles(mode.format).front().decode(codes.data(), rounding.numbers.data(), codes.size());
  }
  return all;
}

/// Whether each output is what the oracle's code stands for. A sum begins with +0, so that zeros
/// have no sign; what is not finite becomes NaN (P52, P72), which these elements have none of.
bool agrees(std::span<const float> found, const std::vector<float>& in,
            const std::vector<std::uint16_t>& codes, const std::vector<float>& numbers) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool is_right =
        std::isfinite(in[i]) ? found[i] == numbers[codes[i]] : std::isnan(found[i]);
    if (is_right) continue;
    MESSAGE("of ", in[i], " came ", found[i], ", not ", numbers[codes[i]]);
    return false;
  }
  return true;
}

/// All f32 whose lower 12 bits are among `lower`: these elements have 4 digits or fewer.
void check_roundings(const std::vector<std::uint32_t>& lower, std::size_t most_oracles) {
  Rounder rounder(tested_variant);
  const std::vector<Rounding> roundings = short_roundings();
  REQUIRE(roundings.size() == 6);
  std::vector<float> in(kRows);
  std::vector<std::uint16_t> codes(kRows);
  const std::uint64_t count = lower.size() << 20;
  for (std::uint64_t begin = 0; begin < count; begin += kRows) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto upper = static_cast<std::uint32_t>((begin + i) / lower.size());
      in[i] = std::bit_cast<float>(upper << 12 | lower[(begin + i) % lower.size()]);
    }
    rounder.run(in);
    for (const Rounding& rounding : roundings) {
      CHECK(rounding.oracles.size() >= 2);
      for (std::size_t i = rounding.oracles.size(), left = most_oracles; i-- > 0 && left > 0;
           --left) {
        rounding.oracles[i].encode(in.data(), codes.data(), in.size());
        for (const char* scale : {"_f8e8m0_", "_f32_"}) {
          const std::string name = rounding.element + scale + rounding.word;
          CAPTURE(name);
          CAPTURE(rounding.oracles[i].name);
          REQUIRE(agrees(rounder.output(name), in, codes, rounding.numbers));
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("elements of fewer than 8 bits are rounded as every oracle rounds them") {
  check_roundings({0, 1, 0x800, 0xfff}, 4);
}

TEST_CASE("elements of fewer than 8 bits are rounded so of all 2^32 inputs" * doctest::skip()) {
  std::vector<std::uint32_t> all(1 << 12);
  std::iota(all.begin(), all.end(), 0u);
  check_roundings(all, 1);
}

}  // namespace halftone::tests
