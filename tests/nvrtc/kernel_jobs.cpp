// SPDX-License-Identifier: Apache-2.0
#include "kernel_jobs.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "anonymous_text.hpp"
#include "digest.hpp"
#include "ptxas_log.hpp"

namespace halftone::tests {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error(path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(stream), {}};
}

void compile_job(const NvrtcLibrary& nvrtc, KernelJob& job) {
  const Compilation made =
      nvrtc.compile(*job.text, "kernel", options_for(job.chip, {"-Xptxas=-v"}));
  job.was_kept = made.was_kept;
  const std::vector<EntryUsage> entries = parse_ptxas_log(made.log);
  if (!made.accepted || entries.size() != 1 || made.ptx.empty()) {
    job.error = (made.accepted ? "has not one entry, or no PTX\n" : "is refused\n") + made.log;
    return;
  }
  job.quality = quality_of(made.ptx);
  if (entries[0].stack_bytes == 0) job.quality.local = 0;  // in PTX alone: ptxas found registers
  job.faults = faults_of(job.quality, *job.text);
  job.use = {.registers = entries[0].registers,
             .shared_bytes = entries[0].shared_bytes + job.dynamic_shared,
             .spill_bytes = entries[0].spill_bytes,
             .mma_percent = job.quality.mma_percent()};
}

using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

void write_text(const std::string& text, std::FILE* to) {
  std::fprintf(to, "%zu\n", text.size());
  std::fwrite(text.data(), 1, text.size(), to);
}

std::string read_text(std::FILE* from) {
  std::size_t size = 0;
  if (std::fscanf(from, "%zu", &size) != 1 || std::fgetc(from) != '\n')
    throw std::runtime_error("a process that compiled kernels did not end well");
  std::string text(size, '\0');
  if (std::fread(text.data(), 1, size, from) != size)
    throw std::runtime_error("what a process said of its kernels is cut off");
  return text;
}

void write_result(const KernelJob& job, std::FILE* to) {
  std::string faults;
  for (const std::string& fault : job.faults) faults += fault + "\n";
  write_text(job.error, to);
  write_text(faults, to);
  static_assert(std::is_trivially_copyable_v<KernelUse> &&
                std::is_trivially_copyable_v<PtxQuality>);
  std::fputc(job.was_kept ? 'k' : 'c', to);
  std::fwrite(&job.use, sizeof job.use, 1, to);
  std::fwrite(&job.quality, sizeof job.quality, 1, to);
}

void read_result(KernelJob& job, std::FILE* from) {
  job.error = read_text(from);
  std::istringstream faults(read_text(from));
  for (std::string fault; std::getline(faults, fault);) job.faults.push_back(fault);
  job.was_kept = std::fgetc(from) == 'k';
  if (std::fread(&job.use, sizeof job.use, 1, from) != 1 ||
      std::fread(&job.quality, sizeof job.quality, 1, from) != 1)
    throw std::runtime_error("what a process said of " + job.kernel + " is cut off");
}

/// "bf16"; tf32 where the operands' formats differ, as in tensor_contraction.cuh.
std::string multiplied_format(const std::string& text) {
  const auto format_of = [&](const std::string& operand) {
    const std::size_t at = text.rfind(operand) + operand.size();
    return text.substr(at, text.find(';', at) - at);
  };
  const std::string lhs = format_of("using Lhs = ");
  if (lhs == "float" || lhs != format_of("using Rhs = ")) return "tf32";
  return lhs.substr(lhs.rfind(':') + 1);
}

}  // namespace

void KernelJobs::add(const std::string& folder) {
  const fs::path path(folder);
  std::istringstream lines(read(path / "launches.txt"));
  std::string file, chip, entry;
  for (int threads = 0, shared = 0; lines >> file >> chip >> entry >> threads >> shared;) {
    if (!chips_.empty() && !chips_.contains(chip)) continue;
    ++launched_;
    const std::string& text = *texts_.insert(anonymous(read(path / file))).first;
    if (!seen_.insert({&text, chip}).second) continue;
    const std::string name = entry.substr(std::string("halftone_").size());
    jobs_.push_back({.kernel = path.filename().string() + "/" + name,
                     .chip = chip,
                     .threads = threads,
                     .dynamic_shared = shared,
                     .text = &text});
  }
}

void compile_jobs(const NvrtcLibrary& nvrtc, std::size_t processes, std::vector<KernelJob>& jobs) {
  std::vector<Stream> results;
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < processes; ++i) {
    results.emplace_back(std::tmpfile(), &std::fclose);
    if (!results.back()) throw std::runtime_error("no temporary file can be made");
    children.push_back(fork());
    if (children.back() < 0) throw std::runtime_error("no process can be started");
    if (children.back() != 0) continue;
    for (std::size_t k = i; k < jobs.size(); k += processes) {
      compile_job(nvrtc, jobs[k]);
      write_result(jobs[k], results.back().get());
    }
    std::fflush(results.back().get());
    _exit(0);
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  for (std::size_t i = 0; i < processes; ++i) {
    std::rewind(results[i].get());
    for (std::size_t k = i; k < jobs.size(); k += processes) read_result(jobs[k], results[i].get());
  }
}

std::string shape_of(const std::string& text) {
  const std::size_t run = text.rfind("::run<Body");
  if (run == text.npos) throw std::runtime_error("a text calls no skeleton");
  const std::size_t name = text.rfind("::", run - 1) + 2;
  std::string shape = text.substr(name, run - name);
  std::string arguments = text.substr(run + 10, text.find('>', run) - run - 10);
  const std::size_t tile = arguments.find("Tile<");
  arguments.erase(0, tile == arguments.npos ? 0 : tile + 5);
  for (char& c : arguments) c = c == ',' ? ' ' : c;
  std::istringstream numbers(arguments);
  std::vector<std::string> n;
  for (std::string number; numbers >> number;) n.push_back(number);
  const auto joined = [&](std::size_t first, std::size_t end) {
    std::string all;
    for (std::size_t i = first; i < std::min(end, n.size()); ++i)
      all += (i == first ? "" : "x") + n[i];
    return all;
  };
  const bool is_tile = n.size() > 3;
  shape += " " + (is_tile ? joined(0, 3) + "/" + joined(3, 5) : joined(0, n.size()));
  if (shape.starts_with("tensor_")) shape += " " + multiplied_format(text);
  return shape;
}

}  // namespace halftone::tests
