// SPDX-License-Identifier: Apache-2.0
// The cache before the compiler that it is for.
#include "cuda/nvrtc.hpp"

#include <doctest/doctest.h>

#include <chrono>

#include "../../nvrtc/nvrtc_library.hpp"
#include "cache/kernel_cache.hpp"
#include "halftone/error.hpp"
#include "kernels.hpp"
#include "message_of.hpp"
#include "../files/scratch_folder.hpp"
#include "simulated/simulated_device.hpp"
#include "variable.hpp"

namespace halftone::tests {
namespace {

/// Some work for a compiler.
std::string kernel_text(int number) {
  return "extern \"C\" __global__ void k" + std::to_string(number) +
         "(float* y, const float* x, int n) {\n"
         "  __shared__ float part[256];\n"
         "  float sum = 0;\n"
         "#pragma unroll 8\n"
         "  for (int i = threadIdx.x; i < n; i += 256) sum = fmaf(x[i], " +
         std::to_string(number) +
         ".f, sum);\n"
         "  part[threadIdx.x] = sum;\n"
         "  __syncthreads();\n"
         "  for (int s = 128; s > 0; s /= 2) {\n"
         "    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];\n"
         "    __syncthreads();\n"
         "  }\n"
         "  if (threadIdx.x == 0) y[blockIdx.x] = part[0];\n"
         "}\n";
}

struct Way {
  CompileKernel compile;
  IdentifyCompiler compiler;
};

Way cubins(const Nvrtc& nvrtc) {
  return {[&](const std::string& text, const std::string& name, const std::string& architecture) {
            return nvrtc.compile_cubin(text, name, architecture);
          },
          [&](const std::string& architecture) { return nvrtc.cubin_compiler(architecture); }};
}

Way ptx(const Nvrtc& nvrtc) {
  return {[&](const std::string& text, const std::string& name, const std::string& architecture) {
            return nvrtc.compile_ptx(text, name, architecture);
          },
          [&](const std::string& architecture) { return nvrtc.ptx_compiler(architecture); }};
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

TEST_CASE("what NVRTC made comes from the folder with the same bytes, for every kind of output") {
  const Nvrtc& compiler = Nvrtc::instance();
  const ScratchFolder scratch;
  struct Case {
    const char* what;
    Way way;
    const char* architecture;
    const char* begin;
  };
  const Case cases[] = {{"cubin", cubins(compiler), "sm_80",
                         "\x7f"
                         "ELF"},
                        {"cubin of one chip", cubins(compiler), "sm_90a",
                         "\x7f"
                         "ELF"},
                        {"PTX for a driver", cubins(compiler), "compute_80", "//"},
                        {"PTX for the simulator", ptx(compiler), "sm_80", "//"}};
  for (const bool warm : {false, true}) {
    const auto cache = std::make_shared<KernelCache>(settings_for(scratch.path()));
    for (const Case& each : cases) {
      CAPTURE(each.what);
      const std::string direct = each.way.compile(kernel_text(3), "k3", each.architecture);
      const CompileKernel through = cached(each.way.compile, cache, each.way.compiler);
      std::string image = through(kernel_text(3), "k3", each.architecture);
      CHECK(image == direct);
      CHECK(image.find(each.begin) < 2);
    }
    CHECK(cache->statistics().hits == (warm ? 4 : 0));
    CHECK(cache->statistics().missed(CacheMiss::absent) == (warm ? 0 : 4));
  }
}

TEST_CASE("a compiler's identity has its version, its build and what was asked of it") {
  const Nvrtc& compiler = Nvrtc::instance();
  const CompilerIdentity cubin = compiler.cubin_compiler("sm_90a");
  CHECK(cubin.compiler.starts_with("NVRTC " + text_of(compiler.version()) + " ("));
  CHECK(cubin.compiler.find(" bytes of ") != std::string::npos);
  CHECK(cubin.options == options_for("sm_90a"));
  CHECK(cubin.output == "cubin");
  CHECK(compiler.cubin_compiler("compute_90").output == "PTX");
  CHECK(compiler.ptx_compiler("sm_90a").output == "PTX");
  CHECK(compiler.ptx_compiler("sm_90a").options.front() == "--gpu-architecture=compute_90a");
}

TEST_CASE("a broken kernel is the compiler's error, each time") {
  const Nvrtc& compiler = Nvrtc::instance();
  const ScratchFolder scratch;
  const auto cache = std::make_shared<KernelCache>(settings_for(scratch.path()));
  const Way way = cubins(compiler);
  const CompileKernel compile = cached(way.compile, cache, way.compiler);
  for (int i = 0; i < 2; ++i) CHECK_THROWS_AS((void)compile("int x = ;", "k", "sm_80"), Error);
  CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("a device compiles through the cache that the environment describes") {
  const ScratchFolder scratch;
  const Variable mode("HALFTONE_CACHE", "rw"), folder("HALFTONE_CACHE_DIR", scratch / "cache");
  std::string images[2];
  for (std::string& image : images) {
    const auto device = open_simulated_device("sm_80", {}, 1);
    image = *device->image(kernel_text(1), "k1", "sm_80");
  }
  CHECK(images[0] == images[1]);
  CHECK(kernel_cache_statistics().text() == (scratch / "cache: 1 hit, 1 miss (1 absent)"));
  const Variable bad("HALFTONE_CACHE", "maybe");
  CHECK(message_of([] { (void)open_simulated_device("sm_80", {}, 1); }) ==
        "settings: HALFTONE_CACHE is 'maybe'; give rw, ro, off or refresh, or unset it");
}

TEST_CASE("eight kernels, cold and from the folder") {
  const Nvrtc& compiler = Nvrtc::instance();
  const ScratchFolder scratch;
  double times[2] = {};
  for (const bool warm : {false, true}) {
    const auto cache = std::make_shared<KernelCache>(settings_for(scratch.path()));
    const Way way = cubins(compiler);
    const CompileKernel compile = cached(way.compile, cache, way.compiler);
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < 8; ++k) {
      (void)compile(kernel_text(k), "k" + std::to_string(k), "sm_90a");
    }
    times[warm] = milliseconds_since(start);
    CHECK(cache->statistics().hits == (warm ? 8 : 0));
  }
  MESSAGE("eight small kernels: compiled in " << times[0] << " ms, from the folder in " << times[1]
                                              << " ms");
}

}  // namespace halftone::tests
