// SPDX-License-Identifier: Apache-2.0
// The GPUs of a machine are listed and chosen by index, name, capability and memory; errors say
// what there is. `halftone devices` prints the same.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cuda/nvrtc.hpp"
#include "driver_context.hpp"
#include "generated_example.hpp"
#include "halftone/device.hpp"
#include "halftone/manifest/texts.hpp"
#include "line_artifact.hpp"
#include "message_of.hpp"

using halftone::Device;
namespace fs = std::filesystem;
namespace manifest = halftone::manifest;

namespace {

constexpr const char* kThree = "NVIDIA L4:89:24,NVIDIA H200:90:139,NVIDIA H100:90:80";

/// An environment with a driver, three GPUs and an NVRTC that knows sm_75 and sm_90.
struct Machine {
  Machine() {
    home = fs::temp_directory_path() / ("cuda_devices_test." + std::to_string(getpid()));
    fs::create_directories(home);
    fs::copy_file(STUB_NVRTC, home / "libnvrtc.so.13", fs::copy_options::skip_existing);
    fs::copy_file(STUB_BUILTINS, home / "libnvrtc-builtins.so.13.0",
                  fs::copy_options::skip_existing);
    setenv("NVRTC_HOME", home.c_str(), 1);
    setenv("STUB_GPUS", kThree, 1);
    unsetenv("STUB_CUDA");
    unsetenv("HALFTONE_DEVICE");
    dlopen(STUB_CUDA, RTLD_NOW | RTLD_LOCAL);  // found again by its name, libcuda.so.1
  }
  ~Machine() { fs::remove_all(home); }

  fs::path home;
};

std::string device_of(const char* setting) {
  setenv("HALFTONE_DEVICE", setting, 1);
  return Device::named_by_environment().value().name();
}

/// What a command prints.
std::string printed(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe)) text += part.data();
  CHECK(pclose(pipe) == 0);
  return text;
}

/// The artifact of the line, as a file: its manifest, its texts and, for a chip, what was compiled
/// of them ahead of time.
std::string write_line(const fs::path& path, const std::string& ahead_for) {
  const manifest::Manifest line = hand_made::manifest();
  std::vector<std::string> texts;
  for (int i = 0; i < line.text_count; ++i) {
    texts.push_back("// line: text " + std::to_string(i) + "\n");
  }
  for (int i = 0; !ahead_for.empty() && i < line.text_count; ++i) {
    texts.push_back(manifest::entry_of({i, ahead_for, "13.0", "cubin " + std::to_string(i)}));
  }
  std::ofstream file(path, std::ios::binary);
  for (const auto& part : {manifest::encode(line), manifest::pack_texts(texts)}) {
    file.write(reinterpret_cast<const char*>(part.data()),
               static_cast<std::streamsize>(part.size()));
  }
  return path;
}

}  // namespace

TEST_CASE_FIXTURE(Machine, "GPUs are listed behind the CPU") {
  std::string no_gpu = "?";
  const auto entries = Device::list(&no_gpu);
  REQUIRE(entries.size() == 4);
  CHECK(no_gpu.empty());
  CHECK(entries[0].name == "cpu");
  CHECK(entries[2].name == "cuda:1");
  CHECK(entries[2].hardware == "NVIDIA H200");
  CHECK(entries[2].chip == "sm_90");
  CHECK(entries[2].memory_bytes == std::int64_t{139} << 30);
  setenv("STUB_GPUS", "", 1);
  CHECK(Device::list(&no_gpu).size() == 1);
  CHECK(no_gpu == "the driver finds no GPU");
}

TEST_CASE_FIXTURE(Machine, "a GPU is chosen by index, name, capability or memory") {
  CHECK(Device::cuda(2).description().starts_with(
      "cuda:2: NVIDIA H100 (sm_90, driver for CUDA 13.0), "));
  CHECK(Device::cuda({.name = "h200"}).name() == "cuda:1");
  CHECK(Device::cuda({.name = "NVIDIA"}).name() == "cuda:0");
  CHECK(Device::cuda({.chip = "sm_90"}).name() == "cuda:1");
  CHECK(Device::cuda({.memory_bytes = std::int64_t{40} << 30}).name() == "cuda:1");
  CHECK(Device::cuda({.name = "H100", .chip = "sm_80", .memory_bytes = 1}).name() == "cuda:2");
  const std::string there =
      " is not there: this machine has cuda:0 NVIDIA L4 (sm_89, 24.0 GiB), cuda:1 NVIDIA H200 "
      "(sm_90, 139.0 GiB), cuda:2 NVIDIA H100 (sm_90, 80.0 GiB); choose another device";
  CHECK(message_of([] { (void)Device::cuda({.name = "B200"}); }) ==
        "device: a GPU with 'B200' in its name" + there);
  CHECK(
      message_of([] { (void)Device::cuda({.name = "L4", .chip = "sm_90", .memory_bytes = 5}); }) ==
      "device: a GPU with 'L4' in its name, of sm_90 or later, with 5 bytes of memory" + there);
  CHECK(message_of([] { (void)Device::cuda({.chip = "hopper"}); }) ==
        "device: the wish for a GPU names 'hopper', which is no chip; give one such as 'sm_90'");
  CHECK(
      message_of([] {
        (void)Device::cuda(3);
      }).starts_with("device: device 'cuda:3' does not exist: this machine has cuda:0 NVIDIA L4 "));
}

TEST_CASE_FIXTURE(Machine, "the environment chooses a GPU in the same ways") {
  CHECK(device_of("cuda:2") == "cuda:2");
  CHECK(device_of("cuda:name=h200") == "cuda:1");
  CHECK(device_of("cuda:chip=sm_90") == "cuda:1");
  CHECK(device_of("cuda:memory=25") == "cuda:1");
  CHECK(device_of("cuda:memory=24") == "cuda:0");
  CHECK(device_of("cuda:memory=80,name=H100,chip=sm_90") == "cuda:2");
  for (const char* wish : {"cuda:", "cuda:name", "cuda:name=", "cuda:chip=90", "cuda:memory=0",
                           "cuda:memory=80GB", "cuda:name=a,name=b", "cuda:name=a,", "cuda:x=1"}) {
    CAPTURE(wish);
    CHECK(message_of([&] { (void)device_of(wish); }).starts_with("settings: HALFTONE_DEVICE is '"));
  }
}

TEST_CASE_FIXTURE(Machine,
                  "a GPU that the driver cannot describe leaves the others their numbers") {
  setenv("STUB_GPUS", "broken:90:80,NVIDIA H100:90:80", 1);
  CHECK(Device::list().size() == 2);
  CHECK(Device::cuda(1).name() == "cuda:1");
  CHECK(message_of([] {
          (void)Device::cuda(0);
        }).find("does not exist: this machine has cuda:1 ") != std::string::npos);
}

TEST_CASE_FIXTURE(Machine, "the best device is the first GPU that the artifact's kernels reach") {
  const auto artifact = models::line::artifact();  // for sm_80; this NVRTC cannot reach sm_89
  const Device device = Device::best(artifact);
  CHECK(device.name() == "cuda:1");
  CHECK(device.description().ends_with("; runs the kernels for sm_80 of model 'line'"));
  setenv("STUB_GPUS", "NVIDIA L4:89:24", 1);
  CHECK(Device::best(artifact).description().find(
            "no GPU, since model 'line' has kernels for 'sm_80', which do not run on cuda:0 NVIDIA "
            "L4 (sm_89, 24.0 GiB): sm_80: NVRTC 13.0 knows no architecture from it to the chip") !=
        std::string::npos);
  setenv("STUB_GPUS", kThree, 1);
  setenv("STUB_CUDA", "12080", 1);
  CHECK(Device::best(artifact).description().find("the driver, for CUDA 12.8, is older than NVRTC "
                                                  "13.0") != std::string::npos);
}

TEST_CASE_FIXTURE(Machine, "a compiler for the background is warmed up once, for a GPU alone") {
  const fs::path compiled = home / "compiled";
  setenv("STUB_COMPILED", compiled.c_str(), 1);
  setenv("HALFTONE_JIT", "background", 1);
  setenv("STUB_GPUS", "", 1);
  CHECK(Device::best(models::line::artifact()).name() == "cpu");
  CHECK_FALSE(fs::exists(compiled));
  setenv("STUB_GPUS", kThree, 1);
  for (int times = 0; times < 2; ++times) {
    CHECK(Device::best(models::line::artifact()).name() == "cuda:1");
    REQUIRE(fs::exists(compiled));
    CHECK(fs::file_size(compiled) == 1);
  }
  unsetenv("STUB_COMPILED");
  unsetenv("HALFTONE_JIT");
  // An NVRTC that knows no chip is not asked to compile for one.
  const std::string without = printed(
      "LD_LIBRARY_PATH=" + fs::path(STUB_CUDA).parent_path().string() +
      " STUB_NO_CHIPS=1 HALFTONE_JIT=background HALFTONE_DEVICE=cuda:1 STUB_COMPILED=" +
      (home / "none").string() + " " HALFTONE_TOOL " devices " + write_line(home / "line.bin", ""));
  CHECK(without.find("\nchosen    cuda:1, as HALFTONE_DEVICE says: no: sm_80: ") !=
        std::string::npos);
  CHECK_FALSE(fs::exists(home / "none"));
}

TEST_CASE_FIXTURE(Machine, "halftone devices prints what there is, what would be chosen and why") {
  const std::string tool = "LD_LIBRARY_PATH=" + fs::path(STUB_CUDA).parent_path().string() +
                           " " HALFTONE_TOOL " devices";
  const std::string line = write_line(home / "line.bin", "");
  const std::string all = printed(tool);
  CAPTURE(all);
  CHECK(all.find("\ncuda:0    NVIDIA L4 (sm_89), 24.0 GiB, driver for CUDA 13.0\n") !=
        std::string::npos);
  CHECK(all.find("\ncuda:1    NVIDIA H200 (sm_90), 139.0 GiB, driver for CUDA 13.0\n") !=
        std::string::npos);
  CHECK(all.find("\ncompiler  NVRTC 13.0 of " + home.string() + "/, for sm_75, sm_90\n") !=
        std::string::npos);
  const std::string of_line = printed(tool + " " + line);
  CAPTURE(of_line);
  CHECK(of_line.find("\nfor model 'line', which has kernels for sm_80\n") != std::string::npos);
  CHECK(of_line.find(
            "\ncuda:0    no: sm_80: NVRTC 13.0 knows no architecture from it to the chip\n") !=
        std::string::npos);
  CHECK(of_line.find("\ncuda:1    runs those for sm_80, compiled for sm_90\n") !=
        std::string::npos);
  CHECK(of_line.ends_with("\nchosen    cuda:1, the first GPU that they run on\n"));
  const std::string wished = printed("HALFTONE_DEVICE=cpu " + tool + " " + line);
  CHECK(wished.find("\nchosen    cpu, as HALFTONE_DEVICE says: runs x86-64") != std::string::npos);
  struct {
    const char *wish, *judgement;
  } wishes[] = {
      {"simulated:sm_90a", "simulated:sm_90a, as HALFTONE_DEVICE says: runs those for sm_80, "},
      {"simulated:sm_75", "simulated:sm_75, as HALFTONE_DEVICE says: no: "},
      {"cuda:1", "cuda:1, as HALFTONE_DEVICE says: runs those for sm_80, compiled for sm_90\n"}};
  for (const auto& [wish, judgement] : wishes) {
    const std::string said =
        printed("HALFTONE_DEVICE=" + std::string(wish) + " " + tool + " " + line);
    CAPTURE(said);
    CHECK(said.find("\nchosen    " + std::string(judgement)) != std::string::npos);
  }
  const fs::path kernels = home / "kernels";
  fs::create_directory(kernels);
  fs::permissions(kernels, fs::perms::owner_all);
  const std::string cached =
      printed("HALFTONE_CACHE=ro HALFTONE_CACHE_DIR=" + kernels.string() + " " + tool);
  CHECK(cached.ends_with("\ncache     " + kernels.string() +
                         ", read only, limit 1073741824 bytes\n"));
  CHECK(printed("HALFTONE_CACHE=off " + tool)
            .ends_with("\ncache     none: HALFTONE_CACHE says off\n"));
  const std::string none = printed("STUB_GPUS= " + tool + " " + line);
  CAPTURE(none);
  CHECK(none.find("\nno GPU, since the driver finds no GPU\n") != std::string::npos);
  CHECK(none.ends_with("\nchosen    cpu, since the driver finds no GPU\n"));
}

TEST_CASE_FIXTURE(Machine, "halftone devices --json is JSON, whatever a GPU is called") {
  const std::string tool = "LD_LIBRARY_PATH=" + fs::path(STUB_CUDA).parent_path().string() +
                           " " HALFTONE_TOOL " devices --json ";
  setenv("STUB_GPUS", "N\"L4\\\n\t\x1b</a>\xff:89:24,NVIDIA H200:90:139", 1);
  const std::string read = " | python3 -c 'import json, sys; d = json.load(sys.stdin); print(";
  const std::string line = write_line(home / "line.bin", "");
  CHECK(printed(tool + read + "[ord(letter) for letter in d[\"gpus\"][0][\"name\"]])'") ==
        "[78, 34, 76, 52, 92, 10, 9, 27, 60, 47, 97, 62, 65533]\n");
  CHECK(printed(tool + read +
                "[(g[\"device\"], g[\"chip\"], g[\"memory_bytes\"], g[\"driver_cuda\"]) for g in "
                "d[\"gpus\"]][1], d[\"no_gpu\"])'") ==
        "('cuda:1', 'sm_90', " + std::to_string(std::int64_t{139} << 30) + ", '13.0') None\n");
  CHECK(printed(tool + read + "d[\"compiler\"][\"version\"], d[\"compiler\"][\"chips\"])'") ==
        "13.0 ['sm_75', 'sm_90']\n");
  const std::string judged =
      "[(g[\"device\"], g[\"runs\"], g[\"compiled_for\"], g[\"why_not\"]) for g "
      "in d[\"artifact\"][\"devices\"][1:]], d[\"artifact\"][\"chosen\"])'";
  CHECK(printed(tool + line + read + judged) ==
        "[('cuda:0', None, None, 'sm_80: NVRTC 13.0 knows no architecture from it to the chip'), "
        "('cuda:1', 'sm_80', 'sm_90', None)] {'device': 'cuda:1', 'why': 'the first GPU that they "
        "run on'}\n");
  setenv("STUB_GPUS", "", 1);
  CHECK(printed(tool + read + "d[\"gpus\"], d[\"no_gpu\"])'") == "[] the driver finds no GPU\n");
}

TEST_CASE_FIXTURE(Machine,
                  "a driver that is there and is not loaded is told with the loader's words") {
  const auto devices = [&] {
    return printed("LD_LIBRARY_PATH=" + home.string() + " " HALFTONE_TOOL " devices");
  };
  std::ofstream(home / "libcuda.so.1") << "no library";
  CHECK(devices().find("\nno GPU, since libcuda.so.1, NVIDIA's driver, is not loaded: " +
                       home.string() + "/libcuda.so.1: file too short\n") != std::string::npos);
}

TEST_CASE_FIXTURE(Machine, "halftone devices knows what was compiled ahead of time") {
  const std::string tool = "LD_LIBRARY_PATH=" + fs::path(STUB_CUDA).parent_path().string() +
                           " HALFTONE_JIT=never " HALFTONE_TOOL " devices ";
  const std::string with = printed(tool + write_line(home / "ahead.bin", "sm_80"));
  CAPTURE(with);
  CHECK(with.find("\ncuda:0    runs those for sm_80, compiled for sm_80\n") != std::string::npos);
  CHECK(with.find("\ncuda:1    no: ") != std::string::npos);  // no cubin crosses a major version
  CHECK(with.ends_with("\nchosen    cuda:0, the first GPU that they run on\n"));
  const std::string without = printed(tool + write_line(home / "bare.bin", ""));
  CAPTURE(without);
  CHECK(without.find("\ncuda:0    no: ") != std::string::npos);
  CHECK(without.find("chosen    cpu, since ") != std::string::npos);
}
