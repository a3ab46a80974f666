// SPDX-License-Identifier: Apache-2.0
// nvrtc_compile [--fetched DIR] [--arch sm_80|every|sampled]... [--threads N] FILE.cu...: compiles
// every text that differs for every arch, each of chips.hpp or a sample of them, and prints what
// ptxas says. Exit 0: all accepted without spills; 1: not so; 77: no NVRTC on this machine.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "chips.hpp"
#include "nvrtc_library.hpp"
#include "ptxas_log.hpp"
#include "sampled_chips.hpp"

namespace {

using halftone::tests::Compilation;
using halftone::tests::EntryUsage;
using halftone::tests::NvrtcLibrary;
using halftone::tests::options_for;

constexpr int kSkipped = 77;

struct Arguments {
  std::string fetched;
  std::vector<std::string> archs;
  std::vector<std::string> files;
  int threads = 2;
};

struct Job {
  const std::string* file;
  const std::string* source;
  const std::string* arch;
  Compilation result;
};

std::vector<std::string> every_chip() {
  std::vector<std::string> chips;
  for (const char* chip : halftone::tests::kChips) chips.push_back("sm_" + std::string(chip));
  return chips;
}

/// sm_75, sm_90a and another one.
std::set<std::string> sample() {
  const unsigned long commit = halftone::tests::commit_number(HALFTONE_SOURCES);
  const auto chips = halftone::tests::sampled_chips(every_chip(), commit, 1);
  std::printf("commit %lu tries", commit);
  for (const std::string& chip : chips) std::printf(" %s", chip.c_str());
  std::printf("; tests/run --exhaustive tries every chip\n");
  return chips;
}

void add_archs(const std::string& name, std::vector<std::string>& archs) {
  if (name == "every")
    std::ranges::copy(every_chip(), std::back_inserter(archs));
  else if (name == "sampled")
    std::ranges::copy(sample(), std::back_inserter(archs));
  else
    archs.push_back(name);
}

Arguments parse(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string value = values[i];
    const bool has_next = i + 1 < count;
    if (value == "--fetched" && has_next)
      arguments.fetched = values[++i];
    else if (value == "--arch" && has_next)
      add_archs(values[++i], arguments.archs);
    else if (value == "--threads" && has_next)
      arguments.threads = std::max(1, std::atoi(values[++i]));
    else
      arguments.files.push_back(value);
  }
  if (arguments.archs.empty()) arguments.archs = {"sm_80", "sm_90a"};
  return arguments;
}

/// Runs every job.
void compile_all(const NvrtcLibrary& nvrtc, int threads, std::vector<Job>& jobs) {
  std::atomic<std::size_t> next = 0;
  auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      jobs[i].result =
          nvrtc.compile(*jobs[i].source, *jobs[i].file, options_for(*jobs[i].arch, {"-Xptxas=-v"}));
    }
  };
  std::vector<std::jthread> pool;
  for (int i = 0; i < threads; ++i) pool.emplace_back(work);
}

/// Prints the job's rows; false when it was refused, has no kernel, or spills.
bool report(const Job& job) {
  const std::vector<EntryUsage> entries = halftone::tests::parse_ptxas_log(job.result.log);
  if (!job.result.accepted || entries.empty()) {
    std::printf("%s for %s: %s\n%s\n", job.file->c_str(), job.arch->c_str(),
                job.result.accepted ? "has no kernel" : "NVRTC refuses it", job.result.log.c_str());
    return false;
  }
  bool clean = true;
  for (const EntryUsage& entry : entries) {
    std::printf("%-48s %-8s %5d %8d %6d %6d%s\n", entry.entry.c_str(), job.arch->c_str(),
                entry.registers, entry.shared_bytes, entry.stack_bytes, entry.spill_bytes,
                entry.spill_bytes ? "  SPILLS" : "");
    clean = clean && entry.spill_bytes == 0;
  }
  return clean;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments = parse(count, values);
  std::string reason;
  const auto nvrtc = NvrtcLibrary::open(arguments.fetched, reason);
  if (!nvrtc) {
    std::printf("Skipped: %s\n", reason.c_str());
    return kSkipped;
  }
  std::set<std::string> sources;
  std::vector<Job> jobs;
  for (const std::string& file : arguments.files) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
      std::printf("%s cannot be read\n", file.c_str());
      return 1;
    }
    const auto [source, is_new] =
        sources.emplace(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    if (!is_new) continue;
    for (const std::string& arch : arguments.archs) jobs.push_back({&file, &*source, &arch, {}});
  }
  if (jobs.empty()) {
    std::printf("no CUDA text was given\n");
    return 1;
  }
  compile_all(*nvrtc, arguments.threads, jobs);
  std::printf("NVRTC %s of %s, %zu different texts of %zu\n", nvrtc->version().c_str(),
              nvrtc->home().c_str(), sources.size(), arguments.files.size());
  std::printf("%-48s %-8s %5s %8s %6s %6s\n", "kernel", "arch", "regs", "shared", "stack",
              "spills");
  const auto failures =
      std::count_if(jobs.begin(), jobs.end(), [](const Job& job) { return !report(job); });
  std::printf("%zu compilations, %td failed\n", jobs.size(), failures);
  return failures == 0 ? 0 : 1;
}
