// SPDX-License-Identifier: Apache-2.0
// Emitted conversions against tables, where they are most likely to err: at every code's value, at
// the middles between codes, and just beside both. cpu_conversions_exhaustive.cpp takes all inputs.
#include "conversions.hpp"

using namespace conversions;
using formats::bits_of;
using formats::float_of;

namespace {

void add_with_neighbours(std::vector<float>& inputs, float value) {
  const std::uint32_t bits = bits_of(value);
  for (const std::uint32_t beside : {bits - 1, bits, bits + 1})
    if (bits != 0 || beside <= 1)
      for (const std::uint32_t sign : {0u, 0x80000000u}) inputs.push_back(float_of(beside | sign));
}

std::vector<float> telling_inputs(const formats::Format& format) {
  std::vector<float> inputs{NAN, -NAN, float_of(0x7f800001), float_of(0xffc12345)};
  const std::vector<double>& magnitudes = format.magnitudes();
  for (std::size_t code = 0; code < magnitudes.size(); ++code) {
    add_with_neighbours(inputs, static_cast<float>(magnitudes[code]));
    if (code + 1 < magnitudes.size())
      add_with_neighbours(inputs,
                          static_cast<float>((magnitudes[code] + magnitudes[code + 1]) / 2));
  }
  constexpr std::uint32_t kStride = 10007;
  for (std::uint64_t bits = 0; bits <= 0xffffffff; bits += kStride)
    inputs.push_back(float_of(static_cast<std::uint32_t>(bits)));
  return inputs;
}

void check_rounding(std::size_t variant, const std::string& kernel, const formats::Format& format) {
  const std::vector<float> inputs = telling_inputs(format);
  Rounded got;
  round(variant, kernel, format, inputs, got);
  for (const bool toward_zero : {false, true})
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::uint32_t expected = stored_of(format, format.round(inputs[i], toward_zero)),
                          stored = stored_code(
                              format, (toward_zero ? got.toward_zero : got.nearest).data(), i);
      if (stored == expected) continue;
      CAPTURE(bits_of(inputs[i]));
      CAPTURE(toward_zero);
      CHECK(stored == expected);
      return;
    }
}

/// All 2^16 codes of f16 and bf16, all 2^19 of tf32, all 2^8 of the floats of 8 bits.
void check_widening(std::size_t variant, const std::string& kernel, const formats::Format& format) {
  const std::size_t count = 2 * static_cast<std::size_t>(format.sign_code());
  std::vector<char> codes(count * bytes_of(format));
  for (std::uint32_t code = 0; code < count; ++code) {
    const std::uint32_t stored = stored_of(format, code);
    std::memcpy(&codes[code * bytes_of(format)], &stored, bytes_of(format));
  }
  std::vector<float> got(count);
  native::run(variant, kernel + "_" + format.name, {codes.data(), got.data()},
              static_cast<std::int64_t>(count));
  for (std::uint32_t code = 0; code < count; ++code)
    if (native::bits(got[code]) != native::bits(format.widen(code))) {
      CAPTURE(code);
      CHECK(native::bits(got[code]) == native::bits(format.widen(code)));
      return;
    }
}

template <class Check>
void each_variant_and_format(Check check) {
  for (std::size_t variant = 0; variant < native::manifest().variants.size(); ++variant) {
    if (!native::runs(native::manifest().variants[variant])) continue;
    CAPTURE(native::manifest().variants[variant]);
    for (const formats::Format* format : kFormats) {
      CAPTURE(format->name);
      check(variant, *format);
    }
  }
}

}  // namespace

TEST_CASE("the tables hold the formats' limits") {
  CHECK(formats::f16().widen(0x7bff) == 65504.0f);
  CHECK(formats::f16().widen(0x0001) == 0x1p-24f);
  CHECK(formats::f16().widen(0xbc00) == -1.0f);
  CHECK(formats::bf16().widen(0x7f7f) == 0x1.fep127f);
  CHECK(formats::bf16().widen(0x0001) == 0x1p-133f);
  CHECK(formats::tf32().widen(0x1fc01) == 1.0f + 0x1p-10f);
  CHECK(formats::f16().round(65519.996f, false) == 0x7bff);
  CHECK(formats::f16().round(65520.0f, false) == 0x7c00);
  CHECK(formats::f16().round(1e30f, true) == 0x7bff);
  CHECK(formats::f8e4m3().widen(0x7e) == 448.0f);
  CHECK(formats::f8e4m3().round(464.0f, false) == 0x7e);
  CHECK(formats::f8e4m3().round(-464.1f, false) == 0x7f);
  CHECK(formats::f8e4m3().round(-1e30f, true) == 0xfe);
  CHECK(formats::f8e5m2().widen(0x7b) == 57344.0f);
  CHECK(formats::f8e5m2().round(-61440.0f, false) == 0xfc);
}

TEST_CASE("emitted code rounds vectors to every format by F2 and F3") {
  each_variant_and_format([](std::size_t variant, const formats::Format& format) {
    check_rounding(variant, "round", format);
  });
}

TEST_CASE("emitted code rounds scalars to every format by F2 and F3") {
  each_variant_and_format([](std::size_t variant, const formats::Format& format) {
    check_rounding(variant, "round_scalars", format);
  });
}

TEST_CASE("emitted code widens every code exactly") {
  each_variant_and_format([](std::size_t variant, const formats::Format& format) {
    check_widening(variant, "widen", format);
    check_widening(variant, "widen_scalars", format);
  });
}
