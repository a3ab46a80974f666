// SPDX-License-Identifier: Apache-2.0
// Which of an artifact's targets a chip runs, and what its text is compiled for.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone {

/// When kernels are compiled while the program runs.
enum class Jit : std::uint8_t {
  missing,     ///< where the artifact has nothing that the device loads
  never,       ///< not at all; what the artifact lacks is an error
  first,       ///< all of them, before the first step
  background,  ///< as `missing`, and then all of them for the program's sizes, while it runs
};

/// "sm_90a": number 90, suffix 'a'.
struct Chip {
  int number = 0;   ///< 10 * major + minor of the compute capability
  char suffix = 0;  ///< 'a' runs on this chip alone, 'f' on later ones of the same major, 0 on all
                    ///< later ones

  [[nodiscard]] int major() const { return number / 10; }
  bool operator==(const Chip&) const = default;
};

/// Nothing when the text names no chip.
[[nodiscard]] std::optional<Chip> parse_chip(std::string_view name);

/// Of CUDA: {13, 0}.
struct CudaVersion {
  int major = 0, minor = 0;
  auto operator<=>(const CudaVersion&) const = default;
};
/// Of a number as the driver tells its version: 13000.
[[nodiscard]] CudaVersion cuda_version_of(int number);
/// "13.0"
[[nodiscard]] std::string text_of(CudaVersion version);

/// What stands between a kernel's text and a chip.
struct Toolchain {
  CudaVersion compiler;            ///< NVRTC's
  std::vector<int> architectures;  ///< that NVRTC knows, without suffixes: 75, 80, ...
  CudaVersion driver;              ///< the latest CUDA that the driver speaks
};

/// What was compiled of a target's texts when the artifact was made.
struct AheadOfTime {
  std::string architecture;  ///< "sm_90a": cubins of that target; "compute_90": PTX of sm_90
  CudaVersion compiler;
};
/// The target: "sm_90a" of "compute_90a" and "sm_90a"
[[nodiscard]] std::string target_of(const std::string& architecture);

/// A target and the way to a chip.
struct KernelChoice {
  std::size_t target = 0;
  /// "sm_90a": a cubin for that architecture; "compute_90": PTX, which the driver compiles.
  std::string architecture;
  bool ahead = false;  ///< the artifact holds it
  /// The targets that suit better, and why each was passed over: "sm_110a: NVRTC 12.9 does not know
  /// the chip".
  std::vector<std::string> passed_over;
};

/// The first of these that toolchain and chip can go: the chip's own target with 'a', with 'f', its
/// own; one of its family ('f'); the latest before it. A target's text is compiled to a cubin for
/// the chip, otherwise for the latest architecture before it whose cubins it runs, otherwise to the
/// latest PTX. Without a toolchain nothing stands in the way. Nothing when none can be run; `why`
/// says in half a sentence what was missing. A device says "sm_90" whether or not it has the
/// features of sm_90a, which every such chip has.
[[nodiscard]] std::optional<KernelChoice> choose_kernel(std::string_view chip,
                                                        std::span<const std::string> targets,
                                                        const Toolchain* toolchain,
                                                        std::string& why);

/// What a driver loads of that without a compiler: cubins for the chip, for the latest one before
/// it whose cubins it runs, then the latest PTX. `takes_ptx`: PTX alone. A driver {0, 0} takes all.
[[nodiscard]] std::optional<KernelChoice> choose_ahead(std::string_view chip,
                                                       std::span<const std::string> targets,
                                                       std::span<const AheadOfTime> ahead,
                                                       CudaVersion driver, bool takes_ptx);

}  // namespace halftone
