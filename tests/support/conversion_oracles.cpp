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

// F1, from the specifications, in numbers.
struct Form {
  Element element;
  int bits, mantissa_bits, bias;
  std::uint32_t largest, nan;  // codes; what exceeds the largest but is no NaN is infinity
};
constexpr Form kForms[] = {
    {Element::f16, 16, 10, 15, 0x7bff, 0x7fff}, {Element::bf16, 16, 7, 127, 0x7f7f, 0x7fff},
    {Element::f8e4m3, 8, 3, 7, 0x7e, 0x7f},     {Element::f8e5m2, 8, 2, 15, 0x7b, 0x7f},
    {Element::f6e3m2, 6, 2, 3, 0x1f, 0x1f},     {Element::f6e2m3, 6, 3, 1, 0x1f, 0x1f},
    {Element::f4e2m1, 4, 1, 1, 0x7, 0x7},
};
constexpr std::uint32_t kNaNOfTf32 = 0x7fffffff, kNaNOfScale = 0xff;

const Form* form_of(Element format) {
  const auto* const found = std::ranges::find(kForms, format, &Form::element);
  return found == std::end(kForms) ? nullptr : found;
}

// F3: what a NaN becomes, where there is none the largest number.
std::uint32_t canonical_nan(Element format) {
  if (format == Element::tf32) return kNaNOfTf32;
  return format == Element::f8e8m0 ? kNaNOfScale : form_of(format)->nan;
}

// A code that an oracle gives, a NaN of f8e4m3 without the sign that overflow leaves it.
std::uint32_t plain(Element format, std::uint32_t code) {
  return format == Element::f8e4m3 && (code & 0x7f) == 0x7f ? 0x7f : code;
}

// The value of a finite code, by the definition of the formats; the code behind the largest one's
// stands for the number that would follow.
double value_of(const Form& form, std::uint32_t code) {
  const std::uint32_t sign = 1u << (form.bits - 1), leading = 1u << form.mantissa_bits;
  const std::uint32_t magnitude = code & (sign - 1);
  const int exponent = static_cast<int>(magnitude / leading);
  const int places = 1 - form.bias - form.mantissa_bits;
  const double value = exponent == 0
                           ? std::ldexp(magnitude, places)
                           : std::ldexp(leading + magnitude % leading, exponent - 1 + places);
  return (code & sign) != 0 ? -value : value;
}

void append_with_neighbours(std::vector<std::uint32_t>& patterns, std::uint32_t centre) {
  for (std::uint32_t offset = 0; offset < 5; ++offset) patterns.push_back(centre + offset - 2);
}

std::vector<std::uint32_t> quick_inputs(Element format) {
  std::vector<std::uint32_t> patterns;
  const Form* const form = form_of(format);
  if (form != nullptr && format != Element::bf16) {
    for (std::uint32_t code = 0; code <= form->largest; ++code) {
      const double value = value_of(*form, code);
      // The code behind the largest may have a sign's place.
      const double next =
          code == form->largest ? 2 * value - value_of(*form, code - 1) : value_of(*form, code + 1);
      for (const double centre : {value, (value + next) / 2, next}) {
        for (const double either : {centre, -centre}) {
          append_with_neighbours(patterns,
                                 std::bit_cast<std::uint32_t>(static_cast<float>(either)));
        }
      }
    }
  } else if (format == Element::f8e8m0) {  // powers of two, their middles, and f32's first and last
    for (std::uint32_t at = 0; at < 0x80000000u; at += 1u << 22) {
      append_with_neighbours(patterns, at);
      append_with_neighbours(patterns, at | 0x80000000u);
    }
    append_with_neighbours(patterns, 0x00200000u);
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
void compare(Element format, const std::vector<float>& in, const std::vector<Code>& got,
             const std::vector<Code>& wanted, Verdict& verdict) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool is_nan = std::isnan(in[i]);
    const std::uint32_t expected = is_nan ? canonical_nan(format) : plain(format, wanted[i]);
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
std::vector<Verdict> judge_codes(const Mode& mode, const Encode<Code>& encode,
                                 const std::vector<Oracle<Code>>& oracles, Inputs inputs,
                                 int threads) {
  const std::vector<std::uint32_t> listed =
      inputs == Inputs::quick ? quick_inputs(mode.format) : std::vector<std::uint32_t>();
  const std::uint64_t count = inputs == Inputs::quick ? listed.size() : kAllInputs;
  std::vector<Verdict> totals(oracles.size());
  std::mutex mutex;
  const auto work = [&](int thread) {
    std::vector<Verdict> mine(oracles.size());
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
      for (std::size_t o = 0; o < oracles.size(); ++o) {
        oracles[o].encode(in.data(), wanted.data(), size);
        compare(mode.format, in, got, wanted, mine[o]);
      }
    }
    const std::lock_guard lock(mutex);
    for (std::size_t o = 0; o < oracles.size(); ++o) merge(totals[o], mine[o]);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(0);
  for (std::thread& other : others) other.join();
  return totals;
}

}  // namespace

std::vector<Oracle<std::uint16_t>> code_oracles(const Mode& mode) {
  std::vector<Oracle<std::uint16_t>> all = {{"CUDA's host headers", cuda_encode(mode)},
                                            {"F16C", f16c_encode(mode)},
                                            {"APFloat", apfloat_encode(mode)},
                                            {"tables", tables_encode(mode)}};
  std::erase_if(all, [](const auto& oracle) { return !oracle.encode; });
  return all;
}

std::vector<Oracle<std::uint32_t>> tf32_oracles(const Mode& mode) {
  std::vector<Oracle<std::uint32_t>> all = {{"APFloat", apfloat_encode_tf32(mode)},
                                            {"tables", tables_encode_tf32(mode)}};
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

std::vector<Verdict> judge(const Mode& mode, const Encode<std::uint16_t>& encode,
                           const std::vector<Oracle<std::uint16_t>>& oracles, Inputs inputs,
                           int threads) {
  return judge_codes(mode, encode, oracles, inputs, threads);
}

Verdict judge(const Mode& mode, const Encode<std::uint16_t>& encode,
              const Oracle<std::uint16_t>& oracle, Inputs inputs, int threads) {
  return judge_codes(mode, encode, std::vector{oracle}, inputs, threads).front();
}

std::vector<Verdict> judge(const Mode& mode, const Encode<std::uint32_t>& encode,
                           const std::vector<Oracle<std::uint32_t>>& oracles, Inputs inputs,
                           int threads) {
  return judge_codes(mode, encode, oracles, inputs, threads);
}

Verdict judge(const Mode& mode, const Encode<std::uint32_t>& encode,
              const Oracle<std::uint32_t>& oracle, Inputs inputs, int threads) {
  return judge_codes(mode, encode, std::vector{oracle}, inputs, threads).front();
}

std::size_t codes_of(Element format) {
  const Form* const form = form_of(format);
  return std::size_t{1} << (form != nullptr ? form->bits : 8);
}

Verdict judge(const Decode& decode, const DecodeOracle& oracle, std::size_t count) {
  std::vector<std::uint16_t> codes(count);
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
