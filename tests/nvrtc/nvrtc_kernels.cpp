// SPDX-License-Identifier: Apache-2.0
// nvrtc_kernels --limits FILE [--regenerate] [--fetched DIR] [--processes N] MODEL_FOLDER...:
// compiles every text that halftonec --cuda-text wrote there for every chip that runs it, texts
// that differ in the kernel's name alone once; prints what each takes and compares it with the
// recorded limits, or records them. Exit 0: all accepted and inside the limits; 1: not so; 77: no
// NVRTC.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>

#include "kernel_table.hpp"
#include "nvrtc_library.hpp"
#include "ptxas_log.hpp"

namespace {

using namespace halftone::tests;
namespace fs = std::filesystem;

constexpr int kSkipped = 77;

struct Arguments {
  std::string limits, fetched;
  bool regenerate = false;
  std::size_t processes = 2;
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
    else if (value == "--fetched" && has_next)
      arguments.fetched = values[++i];
    else if (value == "--processes" && has_next)
      arguments.processes = static_cast<std::size_t>(std::max(1, std::atoi(values[++i])));
    else if (value == "--chip" && has_next)
      arguments.chips.insert(values[++i]);
    else if (value == "--regenerate")
      arguments.regenerate = true;
    else
      arguments.folders.push_back(value);
  }
  return arguments;
}

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error(path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The text without its first line and with another name for its entry: what the kernel's name, its
/// model's and the version cannot change.
std::string anonymous(std::string text, const std::string& entry) {
  text.erase(0, text.find('\n') + 1);
  const std::size_t at = text.rfind(entry + "(");
  if (at != text.npos) text.replace(at, entry.size(), "kernel");
  return text;
}

struct Job {
  std::string kernel, chip;  ///< the first kernel that has this text
  int threads = 0, dynamic_shared = 0;
  const std::string* text = nullptr;
  Compilation result = {};
};

/// The jobs of one folder whose (text, chip) is not among `seen`.
void add_jobs(const fs::path& folder, const std::set<std::string>& chips,
              std::set<std::string>& texts,
              std::set<std::pair<const std::string*, std::string>>& seen, std::vector<Job>& jobs,
              std::size_t& pairs) {
  std::istringstream lines(read(folder / "launches.txt"));
  std::string file, chip, entry;
  for (int threads = 0, shared = 0; lines >> file >> chip >> entry >> threads >> shared; ++pairs) {
    if (!chips.empty() && !chips.contains(chip)) continue;
    const std::string& text = *texts.insert(anonymous(read(folder / file), entry)).first;
    if (!seen.insert({&text, chip}).second) continue;
    const std::string kernel =
        folder.filename().string() + "/" + entry.substr(std::string("halftone_").size());
    jobs.push_back({kernel, chip, threads, shared, &text, {}});
  }
}

using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Every `step`-th job from the `first` on, one record each: accepted, bytes of the log, the log.
void compile_share(const NvrtcLibrary& nvrtc, const std::vector<Job>& jobs, std::size_t first,
                   std::size_t step, std::FILE* results) {
  for (std::size_t i = first; i < jobs.size(); i += step) {
    const std::vector<std::string> options = {"--gpu-architecture=" + jobs[i].chip, "--std=c++17",
                                              "--fmad=false", "-Xptxas=-v"};
    const Compilation result = nvrtc.compile(*jobs[i].text, jobs[i].kernel, options);
    std::fprintf(results, "%d %zu\n", result.accepted ? 1 : 0, result.log.size());
    std::fwrite(result.log.data(), 1, result.log.size(), results);
  }
  std::fflush(results);
}

void read_share(std::vector<Job>& jobs, std::size_t first, std::size_t step, std::FILE* results) {
  std::rewind(results);
  for (std::size_t i = first; i < jobs.size(); i += step) {
    int accepted = 0;
    std::size_t size = 0;
    if (std::fscanf(results, "%d %zu", &accepted, &size) != 2 || std::fgetc(results) != '\n') {
      throw std::runtime_error("a process that compiled " + jobs[i].kernel + " did not end well");
    }
    jobs[i].result.accepted = accepted != 0;
    jobs[i].result.log.resize(size);
    if (std::fread(jobs[i].result.log.data(), 1, size, results) != size) {
      throw std::runtime_error("a process's log of " + jobs[i].kernel + " is cut off");
    }
  }
}

/// In processes, since NVRTC compiles one text at a time in each.
void compile_all(const NvrtcLibrary& nvrtc, std::size_t processes, std::vector<Job>& jobs) {
  std::vector<Stream> results;
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < processes; ++i) {
    results.emplace_back(std::tmpfile(), &std::fclose);
    if (!results.back()) throw std::runtime_error("no temporary file can be made");
    children.push_back(fork());
    if (children.back() < 0) throw std::runtime_error("no process can be started");
    if (children.back() == 0) {
      compile_share(nvrtc, jobs, i, processes, results.back().get());
      _exit(0);
    }
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  for (std::size_t i = 0; i < processes; ++i) read_share(jobs, i, processes, results[i].get());
}

/// Adds the job's row and prints it; false when NVRTC refused the text.
bool report(const Job& job, KernelTable& table) {
  const std::vector<EntryUsage> entries = parse_ptxas_log(job.result.log);
  if (!job.result.accepted || entries.size() != 1) {
    std::printf("%s on %s: %s\n%s\n", job.kernel.c_str(), job.chip.c_str(),
                job.result.accepted ? "has not one entry" : "NVRTC refuses it",
                job.result.log.c_str());
    return false;
  }
  const KernelUse use = {entries[0].registers, entries[0].shared_bytes + job.dynamic_shared,
                         entries[0].spill_bytes};
  table[{job.kernel, job.chip}] = use;
  std::printf("%-44s %-8s %7d %5d %7d %9d%% %6d\n", job.kernel.c_str(), job.chip.c_str(),
              job.threads, use.registers, use.shared_bytes,
              occupancy_percent(job.chip, use, job.threads), use.spill_bytes);
  return true;
}

/// What the first lines of the file say stays.
void record(const std::string& path, const KernelTable& table) {
  KernelTable recorded;
  for (const auto& [key, use] : table) recorded[key] = recorded_of(use);
  std::string head;
  if (fs::exists(path)) {
    std::istringstream lines(read(path));
    for (std::string line; std::getline(lines, line) && line.starts_with('#');) head += line + "\n";
  }
  std::ofstream(path) << head << text_of_limits(recorded);
}

bool is_within_limits(const Arguments& arguments, const KernelTable& table) {
  if (arguments.regenerate) {
    record(arguments.limits, table);
    std::printf("%zu limits recorded in %s\n", table.size(), arguments.limits.c_str());
    return true;
  }
  KernelTable limits = parse_limits(read(arguments.limits));
  std::erase_if(limits, [&](const auto& row) {
    return !arguments.chips.empty() && !arguments.chips.contains(row.first.second);
  });
  const auto found = excesses(table, limits);
  for (const std::string& sentence : found) std::printf("%s\n", sentence.c_str());
  if (!found.empty()) std::printf("where that is right, record it: compile_models --regenerate\n");
  return found.empty();
}

int run(const Arguments& arguments) {
  std::string reason;
  const auto nvrtc = NvrtcLibrary::open(arguments.fetched, reason);
  if (!nvrtc) {
    std::printf("Skipped: %s\n", reason.c_str());
    return kSkipped;
  }
  std::set<std::string> texts;
  std::set<std::pair<const std::string*, std::string>> seen;
  std::vector<Job> jobs;
  std::size_t pairs = 0;
  for (const std::string& folder : arguments.folders)
    add_jobs(folder, arguments.chips, texts, seen, jobs, pairs);
  if (jobs.empty()) throw std::runtime_error("no kernels were given");
  const auto begin = std::chrono::steady_clock::now();
  compile_all(*nvrtc, arguments.processes, jobs);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%-44s %-8s %7s %5s %7s %10s %6s\n", "kernel", "chip", "threads", "regs", "shared",
              "occupancy", "spills");
  KernelTable table;
  const auto refused =
      std::count_if(jobs.begin(), jobs.end(), [&](const Job& job) { return !report(job, table); });
  std::printf(
      "NVRTC %s of %s: %zu kernels on chips, %zu of them different, %zu texts, %td refused, "
      "%.0f s\n",
      nvrtc->version().c_str(), nvrtc->home().c_str(), pairs, jobs.size(), texts.size(), refused,
      seconds.count());
  return refused == 0 && is_within_limits(arguments, table) ? 0 : 1;
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
