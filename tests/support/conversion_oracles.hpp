// SPDX-License-Identifier: Apache-2.0
// Judges conversions from f32 to narrower floats (F2, F3) and back (F4) by everybody on this
// machine who defines them: CUDA's host headers, the F16C instructions, LLVM's APFloat, and, of
// tf32 and floats of at most 8 bits, tables of the definition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "halftone/description/description.hpp"

namespace halftone::tests {

/// Converts n floats. Codes are std::uint16_t for floats of at most 16 bits; for tf32 they are the
/// std::uint32_t bits of the rounded f32.
template <class Code>
using Encode = std::function<void(const float* in, Code* out, std::size_t n)>;

/// Reads n codes of a float of at most 16 bits.
using Decode = std::function<void(const std::uint16_t* in, float* out, std::size_t n)>;

/// A format and a way to round to it.
struct Mode {
  description::Element format;
  description::Rounding rounding;
  const char* name;
  bool saturate = false;
};

inline constexpr Mode kCodeModes[] = {
    {description::Element::f16, description::Rounding::nearest_even, "f16 nearest_even"},
    {description::Element::f16, description::Rounding::toward_zero, "f16 toward_zero"},
    {description::Element::bf16, description::Rounding::nearest_even, "bf16 nearest_even"},
    {description::Element::bf16, description::Rounding::toward_zero, "bf16 toward_zero"},
};

/// Those that rules state, then those of "OCP Microscaling Formats (MX)" 1.0, which have no
/// infinity and saturate whatever is said, but for the scale.
inline constexpr Mode kByteModes[] = {
    {description::Element::f8e4m3, description::Rounding::nearest_even, "f8e4m3 nearest_even"},
    {description::Element::f8e4m3, description::Rounding::toward_zero, "f8e4m3 toward_zero"},
    {description::Element::f8e4m3, description::Rounding::nearest_even,
     "f8e4m3 nearest_even saturate", true},
    {description::Element::f8e4m3, description::Rounding::toward_zero,
     "f8e4m3 toward_zero saturate", true},
    {description::Element::f8e5m2, description::Rounding::nearest_even, "f8e5m2 nearest_even"},
    {description::Element::f8e5m2, description::Rounding::toward_zero, "f8e5m2 toward_zero"},
    {description::Element::f8e5m2, description::Rounding::nearest_even,
     "f8e5m2 nearest_even saturate", true},
    {description::Element::f8e5m2, description::Rounding::toward_zero,
     "f8e5m2 toward_zero saturate", true},
    {description::Element::f6e3m2, description::Rounding::nearest_even, "f6e3m2 nearest_even"},
    {description::Element::f6e3m2, description::Rounding::toward_zero, "f6e3m2 toward_zero"},
    {description::Element::f6e2m3, description::Rounding::nearest_even, "f6e2m3 nearest_even"},
    {description::Element::f6e2m3, description::Rounding::toward_zero, "f6e2m3 toward_zero"},
    {description::Element::f4e2m1, description::Rounding::nearest_even, "f4e2m1 nearest_even"},
    {description::Element::f4e2m1, description::Rounding::toward_zero, "f4e2m1 toward_zero"},
    {description::Element::f8e8m0, description::Rounding::nearest_even, "f8e8m0 nearest_even"},
    {description::Element::f8e8m0, description::Rounding::toward_zero, "f8e8m0 toward_zero"},
    {description::Element::f8e8m0, description::Rounding::nearest_even,
     "f8e8m0 nearest_even saturate", true},
    {description::Element::f8e8m0, description::Rounding::toward_zero,
     "f8e8m0 toward_zero saturate", true},
};

inline constexpr Mode kTf32Modes[] = {
    {description::Element::tf32, description::Rounding::nearest_even, "tf32 nearest_even"},
    {description::Element::tf32, description::Rounding::toward_zero, "tf32 toward_zero"},
};

template <class Code>
struct Oracle {
  std::string name;
  Encode<Code> encode;
};

struct DecodeOracle {
  std::string name;
  Decode decode;
};

/// Those that define the mode, at least two where none is missing. Their NaN are not looked at.
[[nodiscard]] std::vector<Oracle<std::uint16_t>> code_oracles(const Mode& mode);
[[nodiscard]] std::vector<Oracle<std::uint32_t>> tf32_oracles(const Mode& mode);
[[nodiscard]] std::vector<DecodeOracle> decode_oracles(description::Element format);

/// One sentence for each oracle that this build or machine lacks.
[[nodiscard]] std::vector<std::string> missing_oracles();

/// quick: every code's value, the middle to the next one, two f32 on either side of both, and a
/// stride over all f32. all: all 2^32.
enum class Inputs { quick, all };

struct Verdict {
  std::uint64_t inputs = 0;
  std::uint64_t mismatches = 0;       ///< among finite and infinite inputs
  std::uint64_t not_canonical = 0;    ///< NaN inputs whose code is not F3's
  std::uint32_t culprit = 0;          ///< bits of one input that was judged wrong
  std::uint32_t got = 0, wanted = 0;  ///< its codes

  [[nodiscard]] bool holds() const { return mismatches == 0 && not_canonical == 0; }
};

/// Compares `encode` with the oracle. With more than one thread, both are called from all of them.
[[nodiscard]] Verdict judge(const Mode& mode, const Encode<std::uint16_t>& encode,
                            const Oracle<std::uint16_t>& oracle, Inputs inputs, int threads = 1);
[[nodiscard]] Verdict judge(const Mode& mode, const Encode<std::uint32_t>& encode,
                            const Oracle<std::uint32_t>& oracle, Inputs inputs, int threads = 1);

/// Likewise with several, in their order: `encode` is called once for all.
[[nodiscard]] std::vector<Verdict> judge(const Mode& mode, const Encode<std::uint16_t>& encode,
                                         const std::vector<Oracle<std::uint16_t>>& oracles,
                                         Inputs inputs, int threads);
[[nodiscard]] std::vector<Verdict> judge(const Mode& mode, const Encode<std::uint32_t>& encode,
                                         const std::vector<Oracle<std::uint32_t>>& oracles,
                                         Inputs inputs, int threads);

/// Compares values of the first `codes` codes; a NaN must be a NaN of any bits. `culprit` is a
/// code.
[[nodiscard]] Verdict judge(const Decode& decode, const DecodeOracle& oracle,
                            std::size_t codes = 0x10000);

/// How many codes a float of at most 16 bits has.
[[nodiscard]] std::size_t codes_of(description::Element format);

}  // namespace halftone::tests
