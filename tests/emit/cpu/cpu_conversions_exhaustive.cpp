// SPDX-License-Identifier: Apache-2.0
// All 2^32 inputs of every emitted rounding, on every variant that runs here, against the
// reference, which conversions_exhaustive holds to every oracle.
#include <algorithm>
#include <thread>

#include "../../reference/reference_conversions.hpp"
#include "conversions.hpp"
#include "halftone/encoding/traits.hpp"

using namespace halftone::tests;
using halftone::description::Rounding;

namespace {

/// The emitted kernel of a variant in the shape that conversion_oracles.hpp judges.
template <class Code>
Encode<Code> emitted(std::size_t variant, const formats::Format& format, const Mode& mode) {
  return [&format, variant, mode](const float* in, Code* out, std::size_t n) {
    conversions::Rounded rounded;
    conversions::round(variant, "round", format, {in, in + n}, rounded);
    const bool nearest = mode.rounding == Rounding::nearest_even;
    const std::vector<char>& codes = nearest ? rounded.nearest : rounded.toward_zero;
    for (std::size_t i = 0; i < n; ++i)
      out[i] = static_cast<Code>(conversions::stored_code(format, codes.data(), i));
  };
}

/// As the emitted kernels are called.
std::string name_of(const Mode& mode) {
  using halftone::description::Element;
  return mode.format == Element::f8e4m3   ? formats::f8e4m3().name
         : mode.format == Element::f8e5m2 ? formats::f8e5m2().name
                                          : mode.name;
}

template <class Code>
void check_modes(std::span<const Mode> modes, Encode<Code> (*reference)(const Mode&)) {
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (std::size_t variant = 0; variant < native::manifest().variants.size(); ++variant) {
    if (!native::runs(native::manifest().variants[variant])) continue;
    CAPTURE(native::manifest().variants[variant]);
    for (const Mode& mode : modes) {
      CAPTURE(std::string(mode.name));
      const auto* const format = *std::ranges::find_if(
          conversions::kFormats,
          [&](const auto* each) { return name_of(mode).starts_with(each->name); });
      const Verdict verdict = judge(mode, emitted<Code>(variant, *format, mode),
                                    {"the reference", reference(mode)}, Inputs::all, threads);
      CAPTURE(verdict.culprit);
      CAPTURE(verdict.got);
      CAPTURE(verdict.wanted);
      CHECK(verdict.mismatches == 0);
      CHECK(verdict.not_canonical == 0);
      CHECK(verdict.inputs == std::uint64_t{1} << 32);
    }
  }
}

}  // namespace

TEST_CASE("emitted code rounds all 2^32 inputs as the reference does") {
  check_modes<std::uint16_t>(kCodeModes, codes_by_reference);
  std::vector<Mode> bytes;  // kernels saturate before they round, and round to what rules state
  for (const Mode& mode : kByteModes)
    if (!mode.saturate && halftone::encoding::traits(mode.format).computed) bytes.push_back(mode);
  check_modes<std::uint16_t>(bytes, codes_by_reference);
  check_modes<std::uint32_t>(kTf32Modes, tf32_by_reference);
}
