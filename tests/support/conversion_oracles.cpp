// SPDX-License-Identifier: Apache-2.0
// Walks over inputs in blocks and compares codes.
#include "conversion_oracles.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <thread>

#include "oracles.hpp"

namespace halftone::tests {
namespace {

using description::Element;

constexpr std::size_t kBlock = 1 << 16;
constexpr std::uint64_t kAllInputs = std::uint64_t{1} << 32;
constexpr std::uint64_t kStride = 1009;  // a prime, so that all low bits occur

template <class Code>
struct CanonicalNaN;
template <>
struct CanonicalNaN<std::uint16_t> {
  static constexpr std::uint16_t code = 0x7fff;
};
template <>
struct CanonicalNaN<std::uint32_t> {
  static constexpr std::uint32_t code = 0x7fffffff;
};

// The value of a finite f16 code, by the definition of the format.
double f16_value(std::uint32_t code) {
  const int exponent = static_cast<int>(code >> 10 & 0x1f), mantissa = code & 0x3ff;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return code >> 15 ? -magnitude : magnitude;
}

void append_with_neighbours(std::vector<std::uint32_t>& patterns, std::uint32_t centre) {
  for (std::uint32_t offset = 0; offset < 5; ++offset) patterns.push_back(centre + offset - 2);
}

std::vector<std::uint32_t> quick_inputs(Element format) {
  std::vector<std::uint32_t> patterns;
  if (format == Element::f16) {
    for (std::uint32_t code = 0; code < 0x10000; ++code) {
      const bool is_last = (code & 0x7fff) == 0x7bff;
      if ((code & 0x7c00) == 0x7c00) continue;
      const double value = f16_value(code);
      const double next = is_last ? std::copysign(65536.0, value) : f16_value(code + 1);
      for (const double centre : {value, (value + next) / 2, next}) {
        append_with_neighbours(patterns, std::bit_cast<std::uint32_t>(static_cast<float>(centre)));
      }
    }
  } else {
    const std::uint32_t step = format == Element::bf16 ? 1u << 16 : 1u << 13;
    for (std::uint64_t pattern = 0; pattern < kAllInputs; pattern += step / 2) {
      append_with_neighbours(patterns, static_cast<std::uint32_t>(pattern));
    }
  }
  for (std::uint64_t pattern = 0; pattern < kAllInputs; pattern += kStride) {
    patterns.push_back(static_cast<std::uint32_t>(pattern));
  }
  return patterns;
}

template <class Code>
void compare(const std::vector<float>& in, const std::vector<Code>& got,
             const std::vector<Code>& wanted, Verdict& verdict) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool is_nan = std::isnan(in[i]);
    const Code expected = is_nan ? CanonicalNaN<Code>::code : wanted[i];
    if (got[i] == expected) continue;
    ++(is_nan ? verdict.not_canonical : verdict.mismatches);
    verdict.culprit = std::bit_cast<std::uint32_t>(in[i]);
    verdict.got = got[i];
    verdict.wanted = expected;
  }
  verdict.inputs += in.size();
}

void merge(Verdict& total, const Verdict& part) {
  const Verdict before = total;
  total = part.holds() ? before : part;
  total.inputs = before.inputs + part.inputs;
  total.mismatches = before.mismatches + part.mismatches;
  total.not_canonical = before.not_canonical + part.not_canonical;
}

template <class Code>
Verdict judge_codes(const Mode& mode, const Encode<Code>& encode, const Oracle<Code>& oracle,
                    Inputs inputs, int threads) {
  const std::vector<std::uint32_t> listed =
      inputs == Inputs::quick ? quick_inputs(mode.format) : std::vector<std::uint32_t>();
  const std::uint64_t count = inputs == Inputs::quick ? listed.size() : kAllInputs;
  Verdict total;
  std::mutex mutex;
  const auto work = [&](int thread) {
    Verdict mine;
    std::vector<float> in;
    std::vector<Code> got, wanted;
    for (std::uint64_t begin = thread * kBlock; begin < count; begin += threads * kBlock) {
      const std::size_t size = std::min<std::uint64_t>(kBlock, count - begin);
      in.resize(size), got.resize(size), wanted.resize(size);
      for (std::size_t i = 0; i < size; ++i) {
        in[i] = std::bit_cast<float>(listed.empty() ? static_cast<std::uint32_t>(begin + i)
                                                    : listed[begin + i]);
      }
      encode(in.data(), got.data(), size);
      oracle.encode(in.data(), wanted.data(), size);
      compare(in, got, wanted, mine);
    }
    const std::lock_guard lock(mutex);
    merge(total, mine);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(0);
  for (std::thread& other : others) other.join();
  return total;
}

}  // namespace

std::vector<Oracle<std::uint16_t>> code_oracles(const Mode& mode) {
  std::vector<Oracle<std::uint16_t>> all = {{"CUDA's host headers", cuda_encode(mode)},
                                            {"F16C", f16c_encode(mode)},
                                            {"APFloat", apfloat_encode(mode)}};
  std::erase_if(all, [](const auto& oracle) { return !oracle.encode; });
  return all;
}

std::vector<Oracle<std::uint32_t>> tf32_oracles(const Mode& mode) {
  std::vector<Oracle<std::uint32_t>> all = {{"APFloat", apfloat_encode_tf32(mode)}};
  std::erase_if(all, [](const auto& oracle) { return !oracle.encode; });
  return all;
}

std::vector<DecodeOracle> decode_oracles(Element format) {
  std::vector<DecodeOracle> all = {{"CUDA's host headers", cuda_decode(format)},
                                   {"F16C", f16c_decode(format)},
                                   {"APFloat", apfloat_decode(format)}};
  std::erase_if(all, [](const auto& oracle) { return !oracle.decode; });
  return all;
}

std::vector<std::string> missing_oracles() {
  std::vector<std::string> reasons = {cuda_missing(), f16c_missing(), apfloat_missing()};
  std::erase(reasons, "");
  return reasons;
}

Verdict judge(const Mode& mode, const Encode<std::uint16_t>& encode,
              const Oracle<std::uint16_t>& oracle, Inputs inputs, int threads) {
  return judge_codes(mode, encode, oracle, inputs, threads);
}

Verdict judge(const Mode& mode, const Encode<std::uint32_t>& encode,
              const Oracle<std::uint32_t>& oracle, Inputs inputs, int threads) {
  return judge_codes(mode, encode, oracle, inputs, threads);
}

Verdict judge(const Decode& decode, const DecodeOracle& oracle) {
  std::vector<std::uint16_t> codes(0x10000);
  for (std::size_t code = 0; code < codes.size(); ++code) {
    codes[code] = static_cast<std::uint16_t>(code);
  }
  std::vector<float> got(codes.size()), wanted(codes.size());
  decode(codes.data(), got.data(), codes.size());
  oracle.decode(codes.data(), wanted.data(), codes.size());
  Verdict verdict;
  for (std::size_t code = 0; code < codes.size(); ++code) {
    ++verdict.inputs;
    if (std::isnan(got[code]) && std::isnan(wanted[code])) continue;
    const auto bits = std::bit_cast<std::uint32_t>(got[code]);
    const auto expected = std::bit_cast<std::uint32_t>(wanted[code]);
    if (bits == expected) continue;
    ++verdict.mismatches;
    verdict.culprit = static_cast<std::uint32_t>(code);
    verdict.got = bits;
    verdict.wanted = expected;
  }
  return verdict;
}

}  // namespace halftone::tests
