// SPDX-License-Identifier: Apache-2.0
// The ledger of opcode families against what the decoder knows, what the tables of this folder
// test, and what NVRTC emits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "decode.hpp"
#include "opcode_families.hpp"
#include "opcode_table.hpp"
#include "run_ptx.hpp"

using namespace halftone::simulator;
using namespace halftone::tests;

namespace {

PtxKernel kernel_of(const std::string& statement) {
  PtxKernel kernel;
  kernel.body = statement + ";";
  return kernel;
}

std::set<std::string> first_words() {
  std::set<std::string> words = {"call"};
  for (const auto& family :
       {arithmetic_opcodes(), bit_opcodes(), compare_opcodes(), move_opcodes(),
        conversion_opcodes(), memory_opcodes(), atomic_opcodes(), control_opcodes(), warp_opcodes(),
        matrix_opcodes(), async_opcodes(), mbarrier_opcodes(), cluster_opcodes(),
        warpgroup_opcodes(), tensor_memory_opcodes()})
    for (const Opcode& opcode : family) words.emplace(opcode.name);
  return words;
}

}  // namespace

TEST_CASE("every family of the ledger has a decoder, and every decoder a family") {
  const std::set<std::string> decoded = first_words();
  std::set<std::string> listed;
  for (const OpcodeFamily& family : opcode_families())
    listed.emplace(family.words.substr(0, family.words.find('.')));
  CHECK(listed == decoded);
}

// Behind all tables (opcodes_main.cpp).
TEST_SUITE_BEGIN("ledger");

TEST_CASE("every opcode that a file says to launch was launched") {
  for (const std::string& opcode : Tested::all()) {
    CAPTURE(opcode);
    CHECK(launched_opcodes().contains(opcode));
  }
}

TEST_CASE("every family has a table test against an independent source") {
  std::set<const OpcodeFamily*> tested;
  for (const std::string& opcode : tested_opcodes()) {
    CAPTURE(opcode);
    const OpcodeFamily* const family = family_of(opcode);
    CHECK(family != nullptr);
    tested.insert(family);
  }
  for (const OpcodeFamily& family : opcode_families()) {
    CAPTURE(std::string(family.words));
    CHECK(tested.contains(&family));
  }
  std::printf("opcode families: %zu implemented, %zu tested\n", opcode_families().size(),
              tested.size());
}

TEST_CASE("what NVRTC emits for kernels is launched, of a tested family, and nowhere approximate") {
  std::ifstream file(HALFTONE_GOLDEN "/opcodes.txt");
  REQUIRE(file);
  std::set<const OpcodeFamily*> tested;
  for (const std::string& opcode : tested_opcodes()) tested.insert(family_of(opcode));
  std::size_t opcodes = 0;
  for (std::string opcode; file >> opcode; ++opcodes) {
    CAPTURE(opcode);
    CHECK(tested.contains(family_of(opcode)));
    CHECK(launched_opcodes().contains(opcode));  // to the letter
    // The simulator rounds these as IEEE would; no chip does.
    CHECK(opcode.find(".approx") == opcode.npos);
    CHECK(opcode.find(".ftz") == opcode.npos);
  }
  std::printf("opcodes of kernels, all launched by tests: %zu\n", opcodes);
  CHECK(opcodes > 100);
}

TEST_SUITE_END();

TEST_CASE("an unknown opcode or modifier is named with its line and kernel") {
  constexpr const char* kUnknown[] = {
      "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r2}",
      "add.rn.fast.f32 %r1, %r2, %r3",
      "red.async.relaxed.cluster.shared::cluster.add.u32 [%r1], %r2, [%r3]",
      "ld.global.invented.u32 %r1, [%in]",
      "vadd4.u32.u32.u32 %r1, %r2, %r3, %r4",
      "cvt.rs.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2",
      "mbarrier.arrive.noComplete.shared.b64 %rd1, [%r1], 1",
      "cvt.rn.f32.e4m3 %r1, %h1"};
  for (const std::string statement : kUnknown) {
    CAPTURE(statement);
    const std::string opcode = statement.substr(0, statement.find(' '));
    const std::string message = refusal_of(kernel_of(statement));
    const std::string text = ptx_of(kernel_of(statement));
    const auto line =
        1 + std::count(text.begin(),
                       text.begin() + static_cast<std::ptrdiff_t>(text.find(statement)), '\n');
    CHECK(message.find("the instruction " + opcode + " cannot be simulated") != message.npos);
    CHECK(message.find("PTX line " + std::to_string(line) + " of kernel 'k'") != message.npos);
  }
}
