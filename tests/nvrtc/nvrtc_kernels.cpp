// SPDX-License-Identifier: Apache-2.0
// nvrtc_kernels [--limits FILE] [--known FILE] [--regenerate | --extend | --sample] [--fetched DIR]
// [--processes N] [--chip C]... MODEL_FOLDER...: compiles every text that halftonec --cuda-text
// wrote there for every chip that runs it, texts that differ in the kernel's name alone once, or
// with --sample those that kernel_sample.hpp chooses; prints what each takes and what its PTX is
// like, and compares with the recorded limits of its shape, or records them and the texts; with
// --extend it compiles the texts that are not recorded alone, and widens the limits by what they
// take; with --extend and --sample the largest and the narrowest body of each shape on all chips
// and all of shapes without limits, which are widened alone: no text is recorded. Exit 0: all
// accepted, without faults and inside the limits; 1: not so; 77: no NVRTC.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "chips.hpp"
#include "digest.hpp"
#include "kernel_jobs.hpp"
#include "kernel_sample.hpp"
#include "sampled_chips.hpp"

namespace {

using namespace halftone::tests;

constexpr int kSkipped = 77;
constexpr std::size_t kOthers = 2;         // chips of a sample beside those of every commit
constexpr std::size_t kMostUnknown = 300;  // texts that a commit tries on all their chips

struct Arguments {
  std::string limits, known, fetched;
  bool regenerate = false, extend = false, sample = false;
  std::size_t processes = 1;
  std::vector<std::string> folders;
  std::set<std::string> chips = {};  ///< empty: all
};

Arguments parse(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string value = values[i];
    const bool has_next = i + 1 < count;
    if (value == "--limits" && has_next)
      arguments.limits = values[++i];
    else if (value == "--known" && has_next)
      arguments.known = values[++i];
    else if (value == "--fetched" && has_next)
      arguments.fetched = values[++i];
    else if (value == "--processes" && has_next)
      arguments.processes = static_cast<std::size_t>(std::max(1, std::atoi(values[++i])));
    else if (value == "--chip" && has_next)
      arguments.chips.insert(values[++i]);
    else if (value == "--regenerate")
      arguments.regenerate = true;
    else if (value == "--extend")
      arguments.extend = true;
    else if (value == "--sample")
      arguments.sample = true;
    else
      arguments.folders.push_back(value);
  }
  return arguments;
}

std::string read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error(path + " cannot be read");
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string read_or_nothing(const std::string& path) {
  return std::ifstream(path) ? read(path) : "";
}

/// Whose word the list of known texts is. The rules are what quality and limits are read by, and
/// the recorded limits.
std::string judge_of(const NvrtcLibrary& nvrtc, const std::string& limits) {
  std::string judge = "NVRTC " + nvrtc.version();
  for (const std::string& option : options_for("*", {"-Xptxas=-v"})) judge += " " + option;
  return judge + ", rules " HALFTONE_JUDGING_RULES ", limits " + digest_of(read_or_nothing(limits));
}

/// Prints the job's row; the number of its faults.
int report(const KernelJob& job) {
  const std::string who = job.kernel + " on " + job.chip;
  if (!job.error.empty()) {
    std::printf("%s %s\n", who.c_str(), job.error.c_str());
    return 1;
  }
  std::string share = "-";
  if (job.use.mma_percent > 0) share = std::to_string(job.use.mma_percent) + "%";
  std::printf("%-46s %-8s %7d %5d %7d %9d%% %6d %4s %s\n", job.kernel.c_str(), job.chip.c_str(),
              job.threads, job.use.registers, job.use.shared_bytes,
              occupancy_percent(job.chip, job.use, job.threads), job.use.spill_bytes, share.c_str(),
              accesses_text(job.quality).c_str());
  for (const std::string& fault : job.faults) std::printf("%s %s\n", who.c_str(), fault.c_str());
  return static_cast<int>(job.faults.size());
}

/// Of every shape what its texts take at most, and what `table` allows it.
KernelTable measured(const std::vector<KernelJob>& jobs, KernelTable table = {}) {
  for (const KernelJob& job : jobs) {
    KernelUse& limit = table[{shape_of(*job.text), job.chip}];
    limit = limit_of(limit, job.use);
  }
  return table;
}

/// What the first lines of the file say stays, and the reasons of spills.
void record_limits(const std::string& path, const KernelTable& table) {
  std::string head;
  const std::string old = read_or_nothing(path);
  std::istringstream lines(old);
  for (std::string line; std::getline(lines, line) && line.starts_with('#');) head += line + "\n";
  std::ofstream(path) << head << text_of_limits(table, parse_reasons(old));
  std::printf("%zu limits recorded in %s\n", table.size(), path.c_str());
}

void record_known(const std::string& path, const std::string& judge,
                  const std::vector<KernelJob>& jobs) {
  const std::string text = text_of_known(read_or_nothing(path), judge, digests_of(jobs));
  std::ofstream(path) << text;
  std::printf("%zu texts recorded in %s\n", digests_of(jobs).size(), path.c_str());
}

/// The recorded limits of shapes that `jobs` have.
KernelTable limits_in_use(const std::string& path, const std::vector<KernelJob>& jobs) {
  std::set<std::pair<std::string, std::string>> shapes;
  for (const KernelJob& job : jobs) shapes.insert({shape_of(*job.text), job.chip});
  KernelTable limits = parse_limits(read(path));
  std::erase_if(limits, [&](const auto& limit) { return !shapes.contains(limit.first); });
  return limits;
}

/// `tried` against the recorded limits; of `jobs`, all that there are, whether each has one and
/// each limit a kernel. The number of differences, printed.
int compare(const Arguments& arguments, const std::vector<KernelJob>& tried,
            const std::vector<KernelJob>& jobs) {
  const KernelTable limits = parse_limits(read(arguments.limits));
  std::set<std::pair<std::string, std::string>> shapes;
  std::vector<std::string> found;
  for (const KernelJob& job : jobs) {
    const std::string shape = shape_of(*job.text);
    shapes.insert({shape, job.chip});
    if (!limits.contains({shape, job.chip}))
      found.push_back(job.kernel + " on " + job.chip + " has no recorded limit for its shape, " +
                      shape);
  }
  for (const KernelJob& job : tried) {
    const auto limit = limits.find({shape_of(*job.text), job.chip});
    if (limit != limits.end())
      std::ranges::move(excesses(job.kernel + " on " + job.chip, job.use, limit->second),
                        std::back_inserter(found));
  }
  for (const auto& [key, use] : limits)
    if ((arguments.chips.empty() || arguments.chips.contains(key.second)) && !shapes.contains(key))
      found.push_back(key.first + " on " + key.second + " is recorded and no kernel has it");
  for (const std::string& sentence : found) std::printf("%s\n", sentence.c_str());
  if (!found.empty()) std::printf("where that is right, record it: ninja nvrtc_limits\n");
  return static_cast<int>(found.size());
}

/// What of `jobs` is tried, with what is left out and where that runs on standard output.
std::vector<KernelJob> sample(const Arguments& arguments, const std::string& judge,
                              const std::vector<KernelJob>& jobs) {
  std::vector<std::string> chips;
  for (const char* chip : kChips) chips.push_back("sm_" + std::string(chip));
  const std::string folder = std::filesystem::path(arguments.known).parent_path();
  const unsigned long commit = commit_number(folder);
  KernelSample chosen = sample_of(jobs, parse_known(read_or_nothing(arguments.known), judge),
                                  sampled_chips(chips, commit, kOthers), kMostUnknown);
  std::string names;
  for (const std::string& chip : chosen.chips) names += " " + chip;
  std::printf(
      "commit %lu tries on%s the largest and the narrowest body of each shape; %zu texts "
      "are not in %s and %s (ninja nvrtc_limits records them)\n"
      "left out: %zu of %zu kernels on chips; tests/run --exhaustive -R nvrtc_accepts "
      "tries them\n",
      commit, names.c_str(), chosen.unknown, arguments.known.c_str(),
      chosen.stands_for_all ? "too many to try each on all its chips" : "tried on all their chips",
      chosen.left_out, jobs.size());
  return std::move(chosen.tried);
}

/// Of each shape the largest and the narrowest body, and all of shapes without limits.
std::vector<KernelJob> sample_for_limits(const Arguments& arguments,
                                         const std::vector<KernelJob>& jobs) {
  const KernelTable limits = parse_limits(read(arguments.limits));
  std::set<std::string> chips;
  std::vector<KernelJob> with_limits, tried;
  for (const KernelJob& job : jobs) {
    chips.insert(job.chip);
    const bool has_limits = limits.contains({shape_of(*job.text), job.chip});
    (has_limits ? with_limits : tried).push_back(job);
  }
  KernelSample chosen = sample_of(with_limits, {}, chips, 0);
  std::ranges::move(chosen.tried, std::back_inserter(tried));
  return tried;
}

int run(const Arguments& arguments) {
  std::string reason;
  const auto nvrtc = NvrtcLibrary::open(arguments.fetched, reason);
  if (!nvrtc) {
    std::printf("Skipped: %s\n", reason.c_str());
    return kSkipped;
  }
  KernelJobs jobs(arguments.chips);
  for (const std::string& folder : arguments.folders) jobs.add(folder);
  if (jobs.all().empty()) throw std::runtime_error("no kernels were given");
  const std::string judge = judge_of(*nvrtc, arguments.limits);
  std::vector<KernelJob> tried = jobs.all();
  if (arguments.sample && !arguments.extend) tried = sample(arguments, judge, jobs.all());
  if (arguments.sample && arguments.extend) tried = sample_for_limits(arguments, jobs.all());
  if (arguments.extend && !arguments.sample)
    tried = sample_of(jobs.all(), parse_known(read(arguments.known), judge), {}).tried;
  const auto begin = std::chrono::steady_clock::now();
  compile_jobs(*nvrtc, arguments.processes, tried);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%-46s %-8s %7s %5s %7s %10s %6s %4s %s\n", "kernel", "chip", "threads", "regs",
              "shared", "occupancy", "spills", "mma", "accesses to global memory");
  int faults = 0;
  for (const KernelJob& job : tried) faults += report(job);
  std::printf(
      "NVRTC %s of %s: %zu kernels on chips, %zu of them different, %zu texts; %zu tried, %td "
      "compiled, %d faults, %.0f s\n",
      nvrtc->version().c_str(), nvrtc->home().c_str(), jobs.launched(), jobs.all().size(),
      jobs.texts(), tried.size(), std::ranges::count(tried, false, &KernelJob::was_kept), faults,
      seconds.count());
  if (faults > 0) return 1;
  if (arguments.regenerate || arguments.extend) {
    KernelTable limits;
    if (arguments.extend) limits = limits_in_use(arguments.limits, jobs.all());
    record_limits(arguments.limits, measured(tried, std::move(limits)));
    if (arguments.sample) return 0;
    record_known(arguments.known, judge_of(*nvrtc, arguments.limits), jobs.all());
    return 0;
  }
  return arguments.limits.empty() || compare(arguments, tried, jobs.all()) == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** values) {
  try {
    return run(parse(count, values));
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
