// SPDX-License-Identifier: Apache-2.0
// Small PTX kernels with one input and one output buffer, run on a simulated chip.
#pragma once

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "halftone/simulator/device.hpp"
#include "halftone/simulator/error.hpp"
#include "syntax.hpp"

namespace halftone::tests {

struct PtxRun {
  std::vector<std::uint32_t> out;
  simulator::LaunchReport report;

  [[nodiscard]] bool found(simulator::Kind kind) const {
    for (const simulator::Finding& finding : report.findings)
      if (finding.kind == kind) return true;
    return false;
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const simulator::Finding& finding : report.findings) all += finding.text() + "\n";
    return all;
  }
};

struct PtxKernel {
  std::string before;  ///< functions and variables of the module
  std::string body;    ///< between the braces; %in and %out hold the addresses of the buffers
  std::string chip = "sm_90a";
  std::uint32_t blocks = 1, threads = 32, shared_bytes = 0, cluster = 1;
  std::size_t out_words = 64;
  std::vector<std::byte> in;
  std::vector<std::byte> third;  ///< a third parameter of 128 bytes, %third: a tensor map
  simulator::Accumulation accumulation = simulator::Accumulation::exact;
  std::uint64_t seed = 0;
  bool check = true;
};

inline std::string ptx_of(const PtxKernel& kernel) {
  std::string text = ".version 8.8\n.target " + kernel.chip + "\n.address_size 64\n";
  text += ".extern .shared .align 1024 .b8 smem[];\n";
  text += kernel.before;
  text += ".visible .entry k(.param .u64 p0, .param .u64 p1";
  if (!kernel.third.empty()) text += ", .param .align 64 .b8 p2[128]";
  text +=
      ")\n{\n.reg .b64 %in, %out, %third;\n.reg .b64 %rd<64>;\n.reg .b32 %r<320>;\n.reg .b32 %tid, "
      "%rank, %smem;\n.reg .b16 %h<8>;\n.reg .pred %p<8>;\n";
  text += "ld.param.u64 %in, [p0];\nld.param.u64 %out, [p1];\n";
  if (!kernel.third.empty()) text += "mov.b64 %third, p2;\n";
  text += "mov.u32 %tid, %tid.x;\nmov.u32 %rank, %ctaid.x;\nmov.u32 %smem, smem;\n";
  return text + kernel.body + "\nret;\n}\n";
}

/// Every opcode of every text that was launched, in the order of the alphabet.
inline std::set<std::string>& launched_opcodes() {
  static std::set<std::string> all;
  return all;
}

/// The first text that was launched with an opcode.
inline std::map<std::string, std::string>& launched_texts() {
  static std::map<std::string, std::string> all;
  return all;
}

inline void note_opcodes(const std::string& ptx) {
  for (const auto& function : simulator::syntax::parse(ptx).functions)
    for (const auto& statement : function.statements)
      if (!statement.opcode.starts_with('.') && launched_opcodes().emplace(statement.opcode).second)
        launched_texts()[std::string(statement.opcode)] = ptx;
}

/// `in_address` may be asked for first: see PtxDevice.
class PtxDevice {
 public:
  explicit PtxDevice(const PtxKernel& kernel) : device_(kernel.chip) {
    in_ = device_.allocate(std::max<std::size_t>(kernel.in.size(), 16), "in");
    out_ = device_.allocate(kernel.out_words * 4, "out");
    device_.copy_in(in_, kernel.in);
    device_.fill(out_, kernel.out_words * 4, std::byte{0});
  }
  [[nodiscard]] std::uint64_t in() const { return in_; }
  [[nodiscard]] std::uint64_t out() const { return out_; }

  PtxRun run(const PtxKernel& kernel) {
    const std::string ptx = ptx_of(kernel);
    const simulator::Module module = simulator::Module::parse(ptx, "test");
    std::vector<const void*> parameters = {&in_, &out_};
    if (!kernel.third.empty()) parameters.push_back(kernel.third.data());
    simulator::LaunchOptions options;
    options.cluster = {kernel.cluster, 1, 1};
    options.accumulation = kernel.accumulation;
    options.seed = kernel.seed;
    options.check = kernel.check;
    PtxRun run;
    run.report = device_.launch(module, "k", {kernel.blocks, 1, 1}, {kernel.threads, 1, 1},
                                kernel.shared_bytes, parameters, options);
    note_opcodes(ptx);
    run.out.resize(kernel.out_words);
    device_.copy_out(std::as_writable_bytes(std::span(run.out)), out_);
    return run;
  }

 private:
  simulator::Device device_;
  std::uint64_t in_ = 0, out_ = 0;
};

inline PtxRun run_ptx(const PtxKernel& kernel) { return PtxDevice(kernel).run(kernel); }

/// Why a text is refused; empty when it is not.
inline std::string refusal_of_text(const std::string& ptx) {
  try {
    (void)simulator::Module::parse(ptx, "test");
  } catch (const simulator::Error& error) {
    return error.what();
  }
  return "";
}
inline std::string refusal_of(const PtxKernel& kernel) { return refusal_of_text(ptx_of(kernel)); }

template <class T>
std::vector<std::byte> bytes_of_values(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace halftone::tests
