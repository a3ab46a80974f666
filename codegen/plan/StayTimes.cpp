// SPDX-License-Identifier: Apache-2.0
#include "codegen/plan/StayTimes.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace halftone::ir {
namespace {

class BusTimeline {
public:
  BusTimeline(llvm::ArrayRef<Stayable> activations, llvm::ArrayRef<double> meanwhile)
      : activations(activations), begins(1, 0.0) {
    for (double each : meanwhile)
      begins.push_back(begins.back() + each);
    times.resize(activations.size());
  }

  /// Whether all of them find a way out and back, with a kernel in between.
  bool fit(llvm::ArrayRef<size_t> chosen) {
    llvm::SmallVector<size_t> order(chosen);
    auto sortBy = [&](int64_t Stayable::*use) {
      llvm::sort(order, [&](size_t a, size_t b) {
        return std::pair(activations[a].*use, a) < std::pair(activations[b].*use, b);
      });
    };
    sortBy(&Stayable::lastUse);
    double isOut = 0;
    for (size_t i : order) {
      const Stayable &one = activations[i];
      isOut = std::max(isOut, begins[one.lastUse + 1]) + static_cast<double>(one.bytes);
      times[i].until = std::max(one.lastUse, lastBegunBefore(isOut));
    }
    sortBy(&Stayable::nextUse);
    double comes = begins.back();
    for (size_t i : llvm::reverse(order)) {
      const Stayable &one = activations[i];
      comes = std::min(comes, begins[one.nextUse]) - static_cast<double>(one.bytes);
      times[i].from = comes < 0 ? 0 : std::min(one.nextUse, runningAt(comes));
    }
    return llvm::all_of(order, [&](size_t i) { return times[i].from - times[i].until > 1; });
  }

  const StayTimes &of(size_t i) const { return times[i]; }

private:
  int64_t lastBegunBefore(double time) const {
    return std::lower_bound(begins.begin(), begins.end(), time) - begins.begin() - 1;
  }
  /// Of several that take no time the last.
  int64_t runningAt(double time) const {
    return std::upper_bound(begins.begin(), begins.end(), time) - begins.begin() - 1;
  }

  llvm::ArrayRef<Stayable> activations;
  llvm::SmallVector<double> begins; ///< of each kernel, and where the last one ends
  llvm::SmallVector<StayTimes> times;
};

} // namespace

llvm::SmallVector<StayTimes> findStayTimes(llvm::ArrayRef<Stayable> activations,
                                           llvm::ArrayRef<double> meanwhile, int64_t leastBytes) {
  BusTimeline bus(activations, meanwhile);
  llvm::SmallVector<StayTimes> found(activations.size());
  llvm::SmallVector<size_t> chosen, waiting;
  for (size_t i = 0; i < activations.size(); ++i)
    if (activations[i].bytes < leastBytes)
      found[i].verdict = StayVerdict::isSmall;
    else
      waiting.push_back(i);
  llvm::sort(waiting, [&](size_t a, size_t b) {
    return std::pair(activations[a].lastUse, a) < std::pair(activations[b].lastUse, b);
  });
  for (size_t i : waiting) {
    chosen.push_back(i);
    if (!bus.fit(chosen))
      chosen.pop_back();
  }
  bus.fit(chosen);
  for (size_t i : chosen) {
    found[i] = bus.of(i);
    found[i].verdict = StayVerdict::stays;
  }
  return found;
}

} // namespace halftone::ir
