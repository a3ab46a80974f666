// SPDX-License-Identifier: Apache-2.0
// Every text that halftonec --cuda-text wrote, for every chip that runs it, through NVRTC.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel_table.hpp"
#include "nvrtc_library.hpp"
#include "ptx_quality.hpp"

namespace halftone::tests {

struct KernelJob {
  std::string kernel;      ///< the first that has this text: "digits/fc1"
  std::string chip;        ///< "sm_80"
  int threads = 0;         ///< of a block
  int dynamic_shared = 0;  ///< bytes of a block
  const std::string* text = nullptr;
  // what the compiler made of it
  bool was_kept = false;   ///< it said so in an earlier run
  std::string error = {};  ///< why it is refused; empty when accepted
  KernelUse use = {};
  PtxQuality quality = {};
  std::vector<std::string> faults = {};
};

/// The texts of several models, those that differ in the names of model and kernel alone once.
class KernelJobs {
 public:
  /// `chips`: those to compile for, all that the launches name when empty.
  explicit KernelJobs(std::set<std::string> chips) : chips_(std::move(chips)) {}

  /// A folder of KERNEL.cu and launches.txt. Throws std::runtime_error with the file that cannot be
  /// read.
  void add(const std::string& folder);

  [[nodiscard]] const std::vector<KernelJob>& all() const noexcept { return jobs_; }
  [[nodiscard]] std::size_t launched() const noexcept { return launched_; }
  [[nodiscard]] std::size_t texts() const noexcept { return texts_.size(); }

 private:
  std::set<std::string> chips_, texts_;
  std::set<std::pair<const std::string*, std::string>> seen_;
  std::vector<KernelJob> jobs_;
  std::size_t launched_ = 0;  ///< kernels on chips, repeated texts included
};

/// In so many processes, since NVRTC compiles one text at a time in each.
void compile_jobs(const NvrtcLibrary& nvrtc, std::size_t processes, std::vector<KernelJob>& jobs);

/// A text's skeleton, tile and, for tensor cores, the format that they multiply, which is tf32 for
/// two different ones: "tensor_contraction 64x64x64/32x32 bf16", "row 128".
[[nodiscard]] std::string shape_of(const std::string& text);

}  // namespace halftone::tests
