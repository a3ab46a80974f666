// SPDX-License-Identifier: Apache-2.0
// NVIDIA's rules of compatibility ("CUDA C++ Programming Guide", Compute Capabilities; "CUDA
// Compatibility", Minor Version Compatibility), each at its place.
#include "dispatch.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include "text.hpp"

namespace halftone {
namespace {

constexpr CudaVersion kFirstFamilies{12, 9};  // of NVRTC, where 'f' can be compiled for

/// Cubins go from a chip to later ones of its major, but not from or to Tegra.
bool is_tegra(int number) {
  constexpr int kTegra[] = {53, 62, 72, 87, 101, 110};
  return std::ranges::find(kTegra, number) != std::end(kTegra);
}

/// Whether cubins for one run on the other, a later chip of its major.
bool shares_cubins(int number, int chip) {
  return number / 10 == chip / 10 && number <= chip && !is_tegra(number) && !is_tegra(chip);
}

/// How well the target suits; larger is better, 0 not at all.
int suits(const Chip& chip, const Chip& target) {
  constexpr int kOwn = 1 << 20, kFamily = 1 << 10;
  if (target.number == chip.number) {
    if (chip.suffix && target.suffix && target.suffix != chip.suffix) return 0;
    return kOwn + (target.suffix == 'a' ? 2 : target.suffix == 'f' ? 1 : 0);
  }
  if (target.number > chip.number || target.suffix == 'a') return 0;
  if (target.suffix == 'f') return target.major() == chip.major() ? kFamily + target.number : 0;
  return target.number;
}

std::string cubin(int number, char suffix) {
  return "sm_" + std::to_string(number) + (suffix ? std::string(1, suffix) : "");
}

/// What to compile a target's text for; or nothing, and why.
struct Way {
  std::string architecture;
  std::string obstacle;
};

class Ways {
 public:
  Ways(const Chip& chip, const Toolchain* tools) : chip_(chip), tools_(tools) {}

  [[nodiscard]] Way to(const Chip& target) const {
    if (!tools_) return {cubin(chip_.number, target.suffix), ""};
    const std::string compiler = "NVRTC " + text_of(tools_->compiler);
    // The driver loads cubins of its own major version of CUDA and of those before.
    const bool loads_cubins = tools_->driver.major >= tools_->compiler.major;
    if (!loads_cubins) {
      return {"",
              "the driver, for CUDA " + text_of(tools_->driver) + ", is older than " + compiler};
    }
    if (target.suffix == 'a') {
      return knows(chip_.number) ? Way{cubin(chip_.number, 'a'), ""}
                                 : Way{"", compiler + " does not know the chip"};
    }
    if (target.suffix == 'f' && tools_->compiler < kFirstFamilies) {
      return {"", compiler + " knows no families of chips"};
    }
    if (const int number = latest(target, true)) return {cubin(number, target.suffix), ""};
    const int number = latest(target, false);
    if (number == 0 || target.suffix == 'f') {
      return {"", compiler + " knows no architecture from it to the chip"};
    }
    // A driver compiles the PTX of its own version of CUDA and of those before.
    if (tools_->driver < tools_->compiler) {
      return {"", compiler +
                      " has PTX alone for the chip, which is too new for the driver, for "
                      "CUDA " +
                      text_of(tools_->driver)};
    }
    return {"compute_" + std::to_string(number), ""};
  }

 private:
  [[nodiscard]] bool knows(int number) const {
    return std::ranges::find(tools_->architectures, number) != tools_->architectures.end();
  }

  /// The latest architecture from the target's to the chip's; of those whose cubins it runs, or of
  /// all. 0: none.
  [[nodiscard]] int latest(const Chip& target, bool cubins) const {
    int best = 0;
    for (const int number : tools_->architectures) {
      if (number < target.number || number > chip_.number) continue;
      const bool runs = number == chip_.number || shares_cubins(number, chip_.number);
      if (runs || !cubins) best = std::max(best, number);
    }
    return best;
  }

  Chip chip_;
  const Toolchain* tools_;
};

/// A target that suits a chip.
struct Candidate {
  int suit;
  std::size_t target;
  Chip chip;
};

/// The best first.
std::vector<Candidate> candidates_of(const Chip& chip, std::span<const std::string> targets) {
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto target = parse_chip(targets[i]);
    const int suit = target ? suits(chip, *target) : 0;
    if (suit > 0) candidates.push_back({suit, i, *target});
  }
  std::ranges::sort(candidates, std::greater{},
                    [](auto& each) { return std::pair(each.suit, ~each.target); });
  return candidates;
}

bool is_ptx(const AheadOfTime& offer) { return offer.architecture.starts_with("compute_"); }

}  // namespace

std::string target_of(const std::string& architecture) {
  return "sm_" + architecture.substr(architecture.find('_') + 1);
}

std::optional<KernelChoice> choose_ahead(std::string_view chip,
                                         std::span<const std::string> targets,
                                         std::span<const AheadOfTime> ahead, CudaVersion driver,
                                         bool takes_ptx) {
  const auto mine = parse_chip(chip);
  if (!mine) return std::nullopt;
  const auto loads = [&](const AheadOfTime& offer, const Chip& target) {
    const bool any_driver = driver == CudaVersion{};
    if (is_ptx(offer)) return any_driver || driver >= offer.compiler;
    const bool runs = target.number == mine->number || shares_cubins(target.number, mine->number);
    return runs && !takes_ptx && (any_driver || driver.major >= offer.compiler.major);
  };
  const auto offered = [&](const Candidate& candidate, bool ptx) {
    return std::ranges::find_if(ahead, [&](const AheadOfTime& offer) {
      return is_ptx(offer) == ptx && target_of(offer.architecture) == targets[candidate.target] &&
             loads(offer, candidate.chip);
    });
  };
  for (const bool ptx : {false, true}) {
    KernelChoice choice;
    for (const Candidate& candidate : candidates_of(*mine, targets)) {
      if (const auto offer = offered(candidate, ptx); offer != ahead.end()) {
        choice.target = candidate.target;
        choice.architecture = offer->architecture;
        choice.ahead = true;
        return choice;
      }
      choice.passed_over.push_back(
          targets[candidate.target] +
          (offered(candidate, true) == ahead.end()
               ? ": nothing that the driver loads was compiled of it ahead of time"
               : ": what was compiled of it ahead of time is PTX, and cubins go first") +
          ", so that it needs HALFTONE_JIT=first");
    }
  }
  return std::nullopt;
}

CudaVersion cuda_version_of(int number) { return {number / 1000, number % 1000 / 10}; }

std::string text_of(CudaVersion version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

std::optional<Chip> parse_chip(std::string_view name) {
  constexpr std::string_view kPrefix = "sm_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  Chip chip;
  const char* end = name.data() + name.size();
  const auto [stop, failure] = std::from_chars(name.data() + kPrefix.size(), end, chip.number);
  if (failure != std::errc{} || chip.number <= 0 || end - stop > 1) return std::nullopt;
  if (stop != end) chip.suffix = *stop;
  if (chip.suffix != 0 && chip.suffix != 'a' && chip.suffix != 'f') return std::nullopt;
  return chip;
}

std::optional<KernelChoice> choose_kernel(std::string_view chip,
                                          std::span<const std::string> targets,
                                          const Toolchain* toolchain, std::string& why) {
  std::vector<Candidate> candidates;
  const auto mine = parse_chip(chip);
  if (mine) candidates = candidates_of(*mine, targets);
  KernelChoice choice;
  for (const Candidate& candidate : candidates) {
    Way way = Ways(*mine, toolchain).to(candidate.chip);
    if (!way.architecture.empty()) {
      choice.target = candidate.target;
      choice.architecture = std::move(way.architecture);
      return choice;
    }
    choice.passed_over.push_back(targets[candidate.target] + ": " + way.obstacle);
  }
  why = candidates.empty() ? "none of them is for it" : joined(choice.passed_over, "; ");
  return std::nullopt;
}

}  // namespace halftone
