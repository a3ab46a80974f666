// SPDX-License-Identifier: Apache-2.0
// Texts whose single instructions an assembler would take, but not what stands around them: sizes,
// nesting, names and their scopes, targets and sizes that only a register knows.
#include <doctest/doctest.h>

#include "run_ptx.hpp"

using namespace halftone::tests;

TEST_CASE("parameters that no launch can give are named with their sizes") {
  // PTX ISA 9.0, 11.2.1: all parameters of a kernel take 32764 bytes at most.
  struct Row {
    const char* parameters;
    const char* sentence;
  };
  constexpr Row kRows[] = {
      {".param .b8 p0[32765]", "parameter 'p0' of kernel 'k' ends at byte 32765"},
      {".param .u64 p0, .param .b8 p1[32757]", "parameter 'p1' of kernel 'k' ends at byte 32765"},
      {".param .b8 p0[4294967304]", "parameter 'p0' of kernel 'k' ends at byte 4294967304"},
      {".param .align 2147483648 .b8 p0[8], .param .align 2147483648 .b8 p1[8]",
       "parameter 'p1' of kernel 'k' ends at byte 2147483656"},
  };
  for (const auto& [parameters, sentence] : kRows) {
    CAPTURE(parameters);
    const std::string message =
        refusal_of_text(".visible .entry k(" + std::string(parameters) + ") {\nret;\n}\n");
    CHECK(message ==
          std::string(sentence) + ", but all parameters end by byte 32764; pass a pointer instead");
  }
  CHECK(refusal_of_text(".visible .entry k(.param .b8 p0[32764]) {\nret;\n}\n") == "");
}

TEST_CASE("operands inside one another are refused past any depth that PTX has") {
  const auto deep = [](std::size_t times, const std::string& open, const std::string& close) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += open;
    text += "y";
    for (std::size_t i = 0; i < times; ++i) text += close;
    return text;
  };
  const std::string refused = "PTX line 1: operands are nested more than 8 deep";
  for (const std::size_t times : {9, 30000}) {
    CHECK(refusal_of_text(".global .u32 x = " + deep(times, "{", "}") + ";\n") == refused);
    CHECK(refusal_of_text(".global .u32 x = " + deep(times, "generic(", ")") + ";\n") == refused);
    CHECK(refusal_of_text(".global .u32 x = " + deep(times, "[a, ", "]") + ";\n") == refused);
  }
  CHECK(refusal_of_text(".global .u32 x = " + deep(8, "{", "}") + ";\n") == "");
}

TEST_CASE("a declaration without a name is refused by its line") {
  for (const char* const text :
       {"\n.global .align 4;\n", "\n.global .align;\n", "\n.visible .entry k(.param) {\nret;\n}\n",
        "\n.visible .entry k() { .shared .align 4; ret; }\n",
        "\n.visible .entry k() { .shared .b8 [4]; ret; }\n",
        "\n.visible .entry k() { .reg .b32 ; ret; }\n"}) {
    CAPTURE(text);
    CHECK(refusal_of_text(text) == "PTX line 2: a declaration has no name");
  }
}

TEST_CASE("an alignment that is no power of two, or of more than 32 bits, is refused") {
  for (const char* const number : {"0", "3", "4294967296", "4294967304", "-4", "x"}) {
    const std::string align = ".align " + std::string(number) + " .b8 v[4]";
    const std::string refused =
        "PTX line 2: '" + std::string(number) + "' is no alignment, which is a power of two";
    CAPTURE(align);
    CHECK(refusal_of_text("\n.global " + align + ";\n") == refused);
    CHECK(refusal_of_text("\n.visible .entry k() { .shared " + align + "; ret; }\n") == refused);
    CHECK(refusal_of_text("\n.visible .entry k(.param " + align + ") { ret; }\n") == refused);
  }
}

TEST_CASE("a bound that no kernel can have is refused, and none is cut to 32 bits") {
  for (const char* const bound :
       {".maxntid 4294967297", ".reqntid 1, 65536", ".minnctapersm 18446744073709551617",
        ".reqnctapercluster 1, 1, 4294967297"}) {
    CAPTURE(bound);
    const std::string head = bound, number = head.substr(head.rfind(' ') + 1);
    CHECK(refusal_of_text(".visible .entry k()\n" + head + "\n{ ret; }\n") ==
          "PTX line 2: " + head.substr(0, head.find(' ')) + " cannot be " + number);
  }
  // Nor is their product: this one would be 0 in 32 bits, which means that there is no bound.
  const auto module = halftone::simulator::Module::parse(
      ".visible .entry k()\n.maxntid 32768, 32768, 4\n{ ret; }\n", "text");
  CHECK(module.entry("k").most_threads >= 1024);
}

TEST_CASE("local memory past what a thread may have is named with its size") {
  // CUDA C++ Programming Guide, technical specifications: 512 KiB of local memory per thread.
  PtxKernel kernel;
  kernel.body = ".local .b8 q[524289];";
  CHECK(refusal_of(kernel) ==
        "variable 'q' of kernel 'k' takes 524289 bytes of .local, more than any chip has; make it "
        "smaller");
  kernel.body = ".local .b8 q[524288];";
  CHECK(refusal_of(kernel) == "");
}

TEST_CASE("a branch by an empty list of targets is refused") {
  PtxKernel kernel;
  kernel.body = "T: .branchtargets ;\nbrx.idx %r1, T;";
  CHECK(refusal_of(kernel).find("the instruction brx.idx needs a target in the list 'T'") !=
        std::string::npos);
}

TEST_CASE("an index past a branch's targets is found and stops the launch") {
  PtxKernel kernel;
  kernel.body =
      "and.b32 %r1, %tid, 3;\nT: .branchtargets A, B;\nbrx.idx %r1, T;\nA: B:\n"
      "st.global.u32 [%out], 1;";
  kernel.threads = 4;
  const PtxRun run = run_ptx(kernel);
  CAPTURE(run.text());
  REQUIRE(run.report.findings.size() == 1);
  const auto& finding = run.report.findings[0];
  CHECK(finding.kind == halftone::simulator::Kind::invalid);
  CHECK(finding.thread == 2);
  CHECK(finding.count == 2);
  CHECK(finding.detail == "index 2 is past the list's 2 targets");
  CHECK(run.out[0] == 0);
}

TEST_CASE("a copy that a register asks to read more than it writes is found") {
  PtxKernel kernel;
  kernel.body =
      "mov.u32 %r1, 17;\ncp.async.ca.shared.global [%smem], [%in], 16, %r1;\n"
      "cp.async.wait_all;";
  kernel.in.resize(32);
  kernel.threads = 1;
  kernel.shared_bytes = 16;
  const PtxRun run = run_ptx(kernel);
  REQUIRE(run.report.findings.size() == 1);
  CHECK(run.report.findings[0].kind == halftone::simulator::Kind::invalid);
  CHECK(run.report.findings[0].detail == "it reads 17 bytes to copy 16");
}

TEST_CASE("a name is what the innermost braces around it declare") {
  // PTX ISA 9.0, 9.7.12.1: braces open a scope; what they declare ends with them.
  struct Row {
    const char* body;
    std::uint32_t expected;  ///< of %r1
  };
  constexpr Row kRows[] = {
      {"mov.u32 %r1, 2;\n"
       "{ A: mul.lo.u32 %r1, %r1, 2; setp.lt.u32 %p1, %r1, 5; @%p1 bra A; }\n"
       "{ A: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 12; @%p1 bra A; }",
       12},
      {"mov.u32 %r1, 0;\nA: add.u32 %r1, %r1, 1;\n"
       "{ setp.lt.u32 %p1, %r1, 3; @%p1 bra A; }\n{ A: }\n{ bra B; } mov.u32 %r1, 9; B:",
       3},
      {"mov.u32 %r2, 1;\n{ T: .branchtargets A, B; brx.idx %r2, T; A: mov.u32 %r1, 5; B: }\n"
       "{ T: .branchtargets A, B; brx.idx %r2, T; A: mov.u32 %r1, 6; B: mov.u32 %r1, 7; }",
       7},
      {"mov.u32 %r1, 1;\n{ .reg .b32 %r<9>; mov.u32 %r1, 2; }", 1},
      {".reg .b32 x;\nmov.u32 x, 1;\n{ .reg .b32 x; mov.u32 x, 2; {} mov.u32 x, 3; }\n"
       "mov.u32 %r1, x;",
       1},
      {"{ .param .b64 p0; st.param.b64 [p0], 0; }\nld.param.u64 %rd1, [p0];\n"
       "setp.eq.u64 %p1, %rd1, %in;\nselp.u32 %r1, 1, 2, %p1;",
       1},
      {".reg .b32 s;\nmov.u32 s, 5;\n{ .shared .b32 s; st.shared.u32 [s], 4; ld.shared.u32 %r1, "
       "[s]; }",
       4},
      {".shared .b32 s;\nst.shared.u32 [s], 3;\n"
       "{ .shared .b32 s; st.shared.u32 [s], 4; }\nld.shared.u32 %r1, [s];",
       3},
  };
  for (const auto& [body, expected] : kRows) {
    PtxKernel kernel;
    kernel.body = std::string(body) + "\nst.global.u32 [%out], %r1;";
    kernel.threads = 1;
    CAPTURE(body);
    const PtxRun run = run_ptx(kernel);
    CHECK(run.text() == "");
    CHECK(run.out[0] == expected);
  }
}

TEST_CASE("a name that two declarations of one scope share, or that lies elsewhere, is refused") {
  struct Row {
    const char* body;
    const char* sentence;
  };
  constexpr Row kRows[] = {
      {"A: A: bra A;", "kernel 'k' declares 'A' twice in one scope"},
      {"T: .branchtargets A;\nT: .branchtargets A;\nA:",
       "kernel 'k' declares 'T' twice in one scope"},
      {".reg .b32 x;\n.reg .b64 x;", "kernel 'k' declares 'x' twice in one scope"},
      {"{ .reg .b32 %q<9>; .reg .b32 %q<2>; }", "kernel 'k' declares '%q' twice in one scope"},
      {".shared .b32 s;\n.local .b32 s;", "kernel 'k' declares 's' twice in one scope"},
      {"bra A;\n{ A: }", "kernel 'k' has no label 'A'"},
      {"{ A: }\n{ bra A; }", "kernel 'k' has no label 'A'"},
  };
  for (const auto& [body, sentence] : kRows) {
    PtxKernel kernel;
    kernel.body = body;
    CAPTURE(body);
    const std::string message = refusal_of(kernel);
    CHECK(message.find(sentence) != message.npos);
  }
}

TEST_CASE("a register past the number that its family declares is refused") {
  // PTX ISA 9.0, 4.5.2: %r<10> declares %r0 to %r9.
  struct Row {
    const char* body;
    const char* sentence;
  };
  constexpr Row kRows[] = {
      {"mov.u32 %r320, 1;", "mov.u32 names '%r320', which %r<320> does not declare"},
      {"add.u32 %r1, %r2, %r99999999999999999999;",
       "add.u32 names '%r99999999999999999999', which %r<320> does not declare"},
      {"add.u32 %r1, %r2, %r01;", "add.u32 names '%r01', which %r<320> does not declare"},
      {"@%p8 bra A;\nA:", "bra names '%p8', which %p<8> does not declare"},
      {"ld.global.u32 %r1, [%rd64];",
       "ld.global.u32 names '%rd64', which %rd<64> does not declare"},
      {"{ .reg .b32 %q<0>; mov.u32 %q0, 1; }", "mov.u32 names '%q0', which %q<0> does not declare"},
      {"{ .reg .b32 %r<2>; mov.u32 %r1000, 1; }",
       "mov.u32 names '%r1000', which %r<320> does not declare"},
  };
  for (const auto& [body, sentence] : kRows) {
    PtxKernel kernel;
    kernel.body = body;
    CAPTURE(body);
    const std::string message = refusal_of(kernel);
    CHECK(message.find(std::string("of kernel 'k': the instruction ") + sentence) != message.npos);
  }
  PtxKernel kernel;  // the last one, and one of a scope around a smaller family
  kernel.body = "mov.u32 %r319, 7;\n{ .reg .b32 %r<2>; st.global.u32 [%out], %r319; }";
  kernel.threads = 1;
  CHECK(run_ptx(kernel).out[0] == 7);
}

TEST_CASE("a chip refuses modules for a target that it does not run") {
  // PTX ISA 9.0, 11.1.2: sm_90a is for that chip alone, sm_100f for its family, others for what
  // comes after them too.
  struct Row {
    const char* target;
    const char* chip;
    bool runs;
  };
  constexpr Row kRows[] = {
      {"sm_75", "sm_75", true},
      {"sm_75", "sm_121a", true},
      {"sm_80", "sm_75", false},
      {"sm_90a", "sm_75", false},
      {"sm_90a", "sm_90a", true},
      {"sm_90", "sm_90a", true},
      {"sm_90a", "sm_100a", false},
      {"sm_100f", "sm_103a", true},
      {"sm_100f", "sm_110a", false},
      {"sm_103f", "sm_100a", false},
      {"sm_120f", "sm_121a", true},
      {"sm_121", "sm_120a", false},
      {"sm_80, debug", "sm_86", true},
      {"sm_90, debug", "sm_86", false},
      {"sm_80x", "sm_80", false},
      {"compute_80", "sm_80", false},
      {"", "sm_80", false},
  };
  for (const auto& [target, chip, runs] : kRows) {
    CAPTURE(target);
    CAPTURE(chip);
    halftone::simulator::Device device(chip);
    const auto module = halftone::simulator::Module::parse(
        ".version 9.0\n" + (*target ? ".target " + std::string(target) : "") +
            "\n.address_size 64\n.visible .entry k() {\nret;\n}\n",
        "text");
    std::string message;
    try {
      (void)device.launch(module, "k", {1, 1, 1}, {1, 1, 1}, 0, {});
    } catch (const halftone::simulator::Error& error) {
      message = error.what();
    }
    const std::string named = target;
    const std::string refusal = "module 'text' is for " +
                                (named.empty() ? "no .target" : named.substr(0, named.find(','))) +
                                ", which " + chip + " does not run; compile it for " + chip;
    CHECK(message == (runs ? "" : refusal));
  }
}
