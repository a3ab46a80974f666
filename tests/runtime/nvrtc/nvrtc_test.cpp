// SPDX-License-Identifier: Apache-2.0
// How NVRTC is found, in which order its libraries are opened, what it is asked, and that it is
// stopped when it takes too long.
#include "cuda/nvrtc.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "message_of.hpp"
#include "no_more_files.hpp"
#include "stopping.hpp"

using halftone::CudaVersion, halftone::Nvrtc, halftone::NvrtcSettings;
namespace fs = std::filesystem;

namespace {

/// A folder of its own for each test, since a library that is open already is not opened again.
class Places {
 public:
  Places() {
    static int count = 0;
    root_ = fs::temp_directory_path() /
            ("nvrtc_test." + std::to_string(getpid()) + "." + std::to_string(++count));
    fs::create_directories(root_);
    setenv("STUB_LOG", (root_ / "log").c_str(), 1);
  }
  ~Places() { fs::remove_all(root_); }

  void put(const char* stub, const std::string& path) {
    fs::create_directories((root_ / path).parent_path());
    fs::copy_file(fs::path(STUB_FOLDER) / ("lib" + std::string(stub) + ".so"), root_ / path);
  }

  void write(const std::string& path, const char* content) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << content;
  }

  void change(const std::string& path, int at, char to) {
    std::fstream file(root_ / path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at).put(to);
  }

  [[nodiscard]] std::string operator()(const char* path) const { return root_ / path; }

  /// The libraries that were opened, in their order.
  [[nodiscard]] std::vector<std::string> opened() const {
    std::vector<std::string> paths;
    std::ifstream log(root_ / "log");
    for (std::string line; std::getline(log, line);) {
      paths.push_back(fs::relative(line, root_).string());
    }
    return paths;
  }

 private:
  fs::path root_;
};

using Paths = std::vector<std::string>;

constexpr const char *k13 = "stub_nvrtc_13", *k12 = "stub_nvrtc_12", *kBuiltins = "stub_builtins";

NvrtcSettings only(const Places& places) { return {places("home"), "", places("none"), 300}; }

}  // namespace

TEST_CASE("builtins are opened before the library, and 13 before 12") {
  Places places;
  places.put(k13, "home/lib/libnvrtc.so.13");
  places.put(kBuiltins, "home/lib/libnvrtc-builtins.so.13.0");
  places.put(k12, "home/lib/libnvrtc.so.12");
  places.put(kBuiltins, "home/lib/libnvrtc-builtins.so.12.4");
  const Nvrtc nvrtc(only(places));
  CHECK(places.opened() == Paths{"home/lib/libnvrtc-builtins.so.13.0", "home/lib/libnvrtc.so.13"});
  CHECK(nvrtc.version() == CudaVersion{13, 0});
  CHECK(nvrtc.description() == "NVRTC 13.0 of " + places("home/lib"));
  CHECK(nvrtc.architectures() == std::vector{75, 90});
}

TEST_CASE("where 13 is not whole, 12 is opened") {
  struct Case {
    const char *stub, *builtins, *text;  ///< of 13; text instead of a stub
    Paths opened;
  };
  const Paths twelve = {"home/lib64/libnvrtc-builtins.so.12.4", "home/lib64/libnvrtc.so.12"};
  const Case cases[] = {
      {k13, nullptr, nullptr, twelve},
      {nullptr, kBuiltins, nullptr, twelve},
      {k13, "text", nullptr, twelve},
      {nullptr,
       kBuiltins,
       "no library",
       {"home/lib64/libnvrtc-builtins.so.13.0", twelve[0], twelve[1]}},
  };
  for (const Case& c : cases) {
    Places places;
    places.put(k12, "home/lib64/libnvrtc.so.12");
    places.put(kBuiltins, "home/lib64/libnvrtc-builtins.so.12.4");
    if (c.stub) places.put(c.stub, "home/lib64/libnvrtc.so.13");
    if (c.text) places.write("home/lib64/libnvrtc.so.13", c.text);
    const std::string builtins = "home/lib64/libnvrtc-builtins.so.13.0";
    if (c.builtins && c.builtins == std::string("text")) {
      places.write(builtins, "no library");
    } else if (c.builtins) {
      places.put(c.builtins, builtins);
    }
    CHECK(Nvrtc(only(places)).version() == CudaVersion{12, 4});
    CHECK(places.opened() == c.opened);
  }
}

TEST_CASE("homes are looked through in their order, folder by folder") {
  Places places;
  for (const char* home : {"cuda/lib64/", "toolkit/lib/"}) {
    places.put(k13, std::string(home) + "libnvrtc.so.13");
    places.put(kBuiltins, std::string(home) + "libnvrtc-builtins.so.13.0");
  }
  // What the loader finds goes first; this machine may have one there.
  if (message_of([&] { Nvrtc({"", "", places("none"), 0}); }) != "no error") {
    CHECK(Nvrtc({"", places("cuda"), places("toolkit"), 0}).description() ==
          "NVRTC 13.0 of " + places("cuda/lib64"));
    CHECK(Nvrtc({"", places("none"), places("toolkit"), 0}).description() ==
          "NVRTC 13.0 of " + places("toolkit/lib"));
    CHECK(message_of([&] {
            Nvrtc({"", "", places("none"), 0});
          }) ==
          "compile: NVRTC is not on this machine: it was looked for where the loader looks, in "
          "CUDA_HOME and in " +
              places("none") +
              "; install the CUDA Toolkit 13, or set NVRTC_HOME to a folder that has "
              "lib/libnvrtc.so.13");
  }
  // NVRTC_HOME stands alone.
  CHECK(message_of([&] {
          Nvrtc({places("none"), places("cuda"), places("toolkit"), 0});
        })
            .starts_with("compile: NVRTC is not in '" + places("none") +
                         "', which NVRTC_HOME names; "));
}

TEST_CASE("an NVRTC that is there and is not loaded is told with the loader's words") {
  const std::string hint =
      "; install the CUDA Toolkit 13, or set NVRTC_HOME to a folder that has lib/libnvrtc.so.13";
  const auto refused = [](const Places& places) {
    return message_of([&] { Nvrtc{only(places)}; });
  };
  const std::string start = "compile: NVRTC is here and cannot be loaded: ";
  const char *library = "home/lib/libnvrtc.so.13", *builtins = "home/lib/libnvrtc-builtins.so.13.0";
  {
    Places places;
    places.put(k13, library);
    CHECK(refused(places) ==
          start + places(library) + ": there is no libnvrtc-builtins.so.13.* beside it" + hint);
  }
  {
    Places places;
    places.put(kBuiltins, builtins);
    places.write(library, "no library");
    CHECK(refused(places) == start + places(library) + ": file too short" + hint);
  }
  {
    Places places;  // of 32 bits, as its header says
    places.put(k13, library);
    places.put(kBuiltins, builtins);
    places.change(library, 4, 1);
    CHECK(refused(places) == start + places(library) + ": wrong ELF class: ELFCLASS32" + hint);
  }
  {
    Places places;
    places.put("stub_nvrtc_needy", library);
    places.put(kBuiltins, builtins);
    CHECK(refused(places) ==
          start + "libstub_needed.so: cannot open shared object file: No such file or directory" +
              hint);
  }
  {
    Places places;
    places.put(k13, library);
    places.put(kBuiltins, builtins);
    std::string message;
    {
      const NoMoreFiles limit;
      message = refused(places);
    }
    CHECK(message.starts_with(start));
    CHECK(message.find("Too many open files") != message.npos);
    CHECK(message.ends_with("; close files, or allow more open ones (ulimit -n)"));
    CHECK(refused(places) == "no error");
  }
}

TEST_CASE("a library without a function that is needed is named") {
  Places places;
  places.put("stub_nvrtc_poor", "home/libnvrtc.so.13");
  places.put(kBuiltins, "home/libnvrtc-builtins.so.13.0");
  CHECK(message_of([&] {
          Nvrtc{only(places)};
        }).starts_with("compile: NVRTC of " + places("home/") + " has no nvrtcGetCUBINSize; "));
}

TEST_CASE("an architecture decides between cubin and PTX, and nothing is contracted") {
  Places places;
  places.put(k13, "home/lib/libnvrtc.so.13");
  places.put(kBuiltins, "home/lib/libnvrtc-builtins.so.13.0");
  const Nvrtc nvrtc(only(places));
  CHECK(nvrtc.compile_cubin("text", "k", "sm_90a") ==
        "--gpu-architecture=sm_90a --std=c++17 --fmad=false");
  CHECK(nvrtc.compile_cubin("text", "k", "compute_90") ==
        "ptx --gpu-architecture=compute_90 --std=c++17 --fmad=false");
  CHECK(nvrtc.compile_ptx("text", "k", "sm_80") ==
        "ptx --gpu-architecture=compute_80 --std=c++17 --fmad=false -lineinfo");
  CHECK(message_of([&] { (void)nvrtc.compile_cubin("wrong", "fc1", "sm_90a"); }) ==
        "compile: kernel 'fc1' is refused by NVRTC 13.0 of " + places("home/lib") +
            " with --gpu-architecture=sm_90a: NVRTC_ERROR_SOMETHING, line 1: wrong; make the "
            "artifact again with the halftonec of this release");
}

TEST_CASE("what NVRTC itself lacks is not the artifact's fault, nor is a limit on open files") {
  Places places;
  places.put(k13, "home/lib/libnvrtc.so.13");
  places.put(kBuiltins, "home/lib/libnvrtc-builtins.so.13.0");
  const Nvrtc nvrtc(only(places));
  const auto refused = [&] {
    return message_of([&] { (void)nvrtc.compile_cubin("without builtins", "fc1", "sm_90a"); });
  };
  const std::string start = "compile: kernel 'fc1' is refused by NVRTC 13.0 of " +
                            places("home/lib") +
                            " with --gpu-architecture=sm_90a: NVRTC_ERROR_SOMETHING, line 1: wrong";
  CHECK(refused() == start + "; free memory, or install the CUDA Toolkit 13 anew");
  std::string message;
  {
    const NoMoreFiles limit;
    message = refused();
  }
  CHECK(message == start +
                       " (no file can be opened: Too many open files); close files, or allow more "
                       "open ones (ulimit -n)");
}

TEST_CASE("a kernel that takes too long is given up, with the remedy") {
  Places places;
  places.put(k13, "home/lib/libnvrtc.so.13");
  places.put(kBuiltins, "home/lib/libnvrtc-builtins.so.13.0");
  NvrtcSettings settings = only(places);
  settings.timeout_seconds = 1;
  const Nvrtc nvrtc(settings);
  const auto start = std::chrono::steady_clock::now();
  CHECK(message_of([&] { (void)nvrtc.compile_cubin("slow", "fc1", "sm_90a"); }) ==
        "compile: kernel 'fc1' took NVRTC 13.0 of " + places("home/lib") +
            " with --gpu-architecture=sm_90a more than 1 seconds; set HALFTONE_COMPILE_TIMEOUT to "
            "more seconds, or to 0 for no limit");
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::seconds(1));
  CHECK(nvrtc.compile_cubin("text", "fc1", "sm_90a") != "");
}

TEST_CASE("a kernel that nobody waits for any more is given up, and the next is not begun") {
  Places places;
  places.put(k13, "home/lib/libnvrtc.so.13");
  places.put(kBuiltins, "home/lib/libnvrtc-builtins.so.13.0");
  NvrtcSettings settings = only(places);
  settings.timeout_seconds = 0;  // for ever
  const Nvrtc nvrtc(settings);
  int begun[2];
  REQUIRE(pipe(begun) == 0);
  setenv("STUB_SLOW", std::to_string(begun[1]).c_str(), 1);
  std::string slow, next;
  std::jthread compiler([&](const std::stop_token& stop) {
    const halftone::MayStop may_stop(stop);
    slow = message_of([&] { (void)nvrtc.compile_cubin("slow", "fc1", "sm_90a"); });
    next = message_of([&] { (void)nvrtc.compile_cubin("text", "fc2", "sm_90a"); });
  });
  char byte = 0;
  CHECK(read(begun[0], &byte, 1) == 1);
  compiler.request_stop();
  compiler.join();
  unsetenv("STUB_SLOW");
  for (const int end : begun) close(end);
  CHECK(slow.starts_with("compile: kernel 'fc1' is refused by NVRTC 13.0"));
  CHECK(next.find("nobody waits for it any more") != std::string::npos);
  CHECK(nvrtc.compile_cubin("text", "fc1", "sm_90a") != "");  // of another thread
}
