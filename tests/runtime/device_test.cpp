// SPDX-License-Identifier: Apache-2.0
#include "halftone/device.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "changed_artifact.hpp"
#include "driver_context.hpp"
#include "executors.hpp"
#include "generated_example.hpp"
#include "message_of.hpp"
#include "processor.hpp"
#include "settings.hpp"

using halftone::Device;
using halftone::Processor;

namespace {

/// Sets an environment variable while it lives.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* former = std::getenv(name)) former_ = former;
    setenv(name, value, 1);
  }
  ~Setting() { former_.empty() ? unsetenv(name_) : setenv(name_, former_.c_str(), 1); }

 private:
  const char* name_;
  std::string former_;
};

Device best() { return Device::best(models::line::artifact()); }

const Processor kHaswell{"Haswell",
                         {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}};
const Processor kSandyBridge{"Sandy Bridge", {"avx"}};
const Processor kSkylakeServer{"Skylake server",
                               {"avx", "avx2", "avx512bw", "avx512cd", "avx512dq", "avx512f",
                                "avx512vl", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}};

/// Without AMX.
Processor genoa() {
  Processor processor = kSkylakeServer;
  processor.brand = "Genoa";
  processor.features.insert(processor.features.begin() + 2, "avx512bf16");
  return processor;
}

/// With AMX; `refused`: why the kernel gives no tiles.
Processor sapphire_rapids(std::string refused = "") {
  Processor processor = genoa();
  processor.brand = "Sapphire Rapids";
  processor.features.insert(processor.features.begin(), {"amx-bf16", "amx-tile"});
  processor.tiles_refused = std::move(refused);
  return processor;
}

}  // namespace

TEST_CASE("a processor runs the variants whose features it has, best first") {
  CHECK(halftone::runnable_variants(kSkylakeServer) ==
        std::vector<std::string>{"x86-64-v4", "x86-64-v3", "x86-64"});
  CHECK(halftone::runnable_variants(kHaswell) == std::vector<std::string>{"x86-64-v3", "x86-64"});
  CHECK(halftone::runnable_variants(kSandyBridge) == std::vector<std::string>{"x86-64"});
  CHECK(halftone::runnable_variants(sapphire_rapids()) ==
        std::vector<std::string>{"x86-64-v4-amx", "x86-64-v4-bf16", "x86-64-v4", "x86-64-v3",
                                 "x86-64"});
  CHECK(halftone::runnable_variants(genoa()) ==
        std::vector<std::string>{"x86-64-v4-bf16", "x86-64-v4", "x86-64-v3", "x86-64"});
}

TEST_CASE("tiles that the processor lacks, or that the kernel refuses, are told apart") {
  const auto message = [](const Processor& processor) {
    return message_of([&] { halftone::require_variant(processor, "x86-64-v4-amx"); });
  };
  CHECK(message(sapphire_rapids()) == "no error");
  CHECK(message(kSkylakeServer)
            .starts_with("device: CPU variant 'x86-64-v4-amx' needs 'amx-bf16', 'amx-tile', but "
                         "this processor "
                         "(Skylake server) has 'avx', "));
  const Processor refused = sapphire_rapids("Invalid argument");
  CHECK(message(refused) ==
        "device: CPU variant 'x86-64-v4-amx' needs AMX's tiles, which the kernel does not let this "
        "process use (Invalid argument); update the kernel or choose one of 'x86-64-v4-bf16', "
        "'x86-64-v4', 'x86-64-v3', 'x86-64'");
  CHECK(halftone::runnable_variants(refused) == halftone::runnable_variants(genoa()));
}

TEST_CASE("a variant that the processor lacks is refused with what it needs and what there is") {
  CHECK(message_of([] { halftone::require_variant(kHaswell, "x86-64-v3"); }) == "no error");
  CHECK(message_of([] { halftone::require_variant(kSandyBridge, "x86-64-v3"); }) ==
        "device: CPU variant 'x86-64-v3' needs 'avx2', 'bmi', 'bmi2', 'f16c', 'fma', 'lzcnt', "
        "'movbe', but this processor (Sandy Bridge) has 'avx'; it runs 'x86-64'");
  CHECK(message_of([] { halftone::require_variant(kHaswell, "avx512"); }) ==
        "device: CPU variant 'avx512' is unknown; this processor runs 'x86-64-v3', 'x86-64'");
}

TEST_CASE("this processor's features are those of the compiler's own detection") {
  const auto& features = halftone::this_processor().features;
  const bool fma = std::ranges::find(features, "fma") != features.end();
  CHECK(fma == (__builtin_cpu_supports("fma") != 0));
  CHECK_FALSE(halftone::this_processor().brand.empty());
}

TEST_CASE("a variant can be forced by name, and its code is what runs") {
  const Device device = Device::cpu("x86-64");
  CHECK(device.name() == "cpu:x86-64");
  CHECK(device.variants().size() == 1);
  const models::line::Trainer trainer(device, {.batch = 2});
  CHECK(trainer.stats().variant == "x86-64");
  const models::line::Trainer best(Device::cpu(), {.batch = 2});
  const auto runnable = halftone::runnable_variants(halftone::this_processor());
  const auto offered = models::line::artifact().manifest().variants;
  CHECK(best.stats().variant == *std::ranges::find_first_of(runnable, offered));
}

TEST_CASE("handles that were moved from are what they were") {
  Device device = Device::cpu("x86-64");
  const Device other = std::move(device);
  halftone::Artifact artifact = models::line::artifact();
  const halftone::Artifact another = std::move(artifact);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is the point
  CHECK(models::line::Trainer(artifact, device, {.batch = 2}).stats().variant == "x86-64");
}

TEST_CASE("the description names device, processor, threads and reason") {
  const Device device = Device::cpu("x86-64").with_threads(3);
  CHECK(device.description() == "cpu:x86-64: " + halftone::this_processor().brand +
                                    ", 3 threads; runs x86-64 code alone, as it was asked to");
}

TEST_CASE("the environment chooses the best device and the number of threads") {
  const Setting threads("HALFTONE_THREADS", "3");
  {
    const Setting device("HALFTONE_DEVICE", "cpu:x86-64");
    CHECK(best().name() == "cpu:x86-64");
    CHECK(best().threads() == 3);
    CHECK(Device::cpu().name() == "cpu");
    CHECK(Device::cpu().threads() == 3);
  }
  const Setting device("HALFTONE_DEVICE", "cpu");
  CHECK(best().name() == "cpu");
}

TEST_CASE("devices of one number of threads share a pool, and trainers keep it") {
  const Setting threads("HALFTONE_THREADS", "");
  CHECK(&Device::cpu().pool() == &best().pool());
  const Device two = Device::cpu().with_threads(2);
  CHECK(&two.pool() == &Device::cpu("x86-64").with_threads(2).pool());
  CHECK(&two.pool() != &two.with_threads(5).pool());
}

TEST_CASE("a device may have threads of the program's own") {
  const auto queue = std::make_shared<executors::Queue>(2);
  const Device device = Device::cpu("x86-64").with_executor(queue);
  CHECK(device.threads() == 3);
  CHECK(device.description() == "cpu:x86-64: " + halftone::this_processor().brand +
                                    ", 3 threads; runs x86-64 code alone, as it was asked to");
  CHECK(message_of([&] { (void)device.with_executor(nullptr); }) ==
        "device: the executor is null; give one, or leave with_executor out");
  for (const int threads : {0, 1025}) {
    const auto wrong = std::make_shared<executors::Queue>(0, threads);
    CHECK(message_of([&] { (void)device.with_executor(wrong); }) ==
          "device: the executor has " + std::to_string(threads) +
              " threads; return 1 to 1024 from its threads()");
  }
}

TEST_CASE("without settings the threads are as many as the processors") {
  const Setting threads("HALFTONE_THREADS", "");
  CHECK(best().threads() == static_cast<int>(std::thread::hardware_concurrency()));
}

TEST_CASE("settings that nothing understands are refused") {
  {
    const Setting device("HALFTONE_DEVICE", "gpu");
    CHECK(
        message_of([] { (void)best(); })
            .find("settings: HALFTONE_DEVICE is 'gpu'; give 'cpu', 'cpu:<variant>' (this processor "
                  "runs 'x86-64") == 0);
  }
  {
    const Setting device("HALFTONE_DEVICE", "cpu:z80");
    CHECK(message_of([] { (void)best(); }).find("device: CPU variant 'z80' is unknown") == 0);
  }
  for (const char* value : {"0", "-1", "two", "3x", "1025", "99999999999999", " 2"}) {
    const Setting threads("HALFTONE_THREADS", value);
    CHECK(message_of([] { (void)best(); }) == "settings: HALFTONE_THREADS is '" +
                                                  std::string(value) +
                                                  "'; give a number from 1 to 1024 or unset it");
  }
  CHECK(message_of([] { (void)Device::cpu().with_threads(0); }) ==
        "device: a pool of 0 threads cannot be made; give 1 to 1024");
  CHECK(message_of([] { (void)Device::cpu().with_threads(1'000'000); }) ==
        "device: a pool of 1000000 threads cannot be made; give 1 to 1024");
  CHECK(message_of([] { (void)Device::cpu().with_memory(nullptr); }) ==
        "device: the memory source is null; give one, or leave with_memory out");
}

TEST_CASE("a wrong value of any setting is refused on every device") {
  struct Case {
    const char *name, *value, *hint;
  };
  const Case cases[] = {
      {"HALFTONE_THREADS", "two", "give a number from 1 to 1024 or unset it"},
      {"HALFTONE_CHECK_LAUNCHES", "yes", "give 1 or 0, or unset it"},
      {"HALFTONE_STEPS_IN_FLIGHT", "four", "give a number from 1 to 64 or unset it"},
      {"HALFTONE_JIT", "newer",
       "give 'never', 'first' or 'background', or unset it: then what the artifact does not hold "
       "is compiled"},
      {"HALFTONE_COMPILE_TIMEOUT", "-1", "give a number from 0 to 86400 or unset it"},
      {"HALFTONE_LOG", "step", "give 'off', 'progress' or 'steps', or unset it"},
      {"HALFTONE_CACHE", "of", "give rw, ro, off or refresh, or unset it"},
      {"HALFTONE_CACHE_MAX", "1GB",
       "give a size above 0 such as 512MiB (KiB, MiB, GiB, or bytes), or unset it"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Setting setting(c.name, c.value);
    const std::string expected =
        "settings: " + std::string(c.name) + " is '" + c.value + "'; " + c.hint;
    CHECK(message_of([] { (void)Device::cpu(); }) == expected);
    CHECK(message_of([] { (void)Device::cpu("x86-64"); }) == expected);
    CHECK(message_of([] { (void)Device::simulated("sm_80"); }) == expected);
    CHECK(message_of([] { (void)best(); }) == expected);
  }
}

TEST_CASE("a name that is nearly a setting's is refused, and any other is not ours") {
  for (const auto& [name, meant] : {std::pair{"HALFTONE_THREAD", "HALFTONE_THREADS"},
                                    {"HALFTONE_JTI", "HALFTONE_JIT"},
                                    {"HALFTONE_CACHEDIR", "HALFTONE_CACHE_DIR"},
                                    {"HALFTONE_DEVCE", "HALFTONE_DEVICE"},
                                    {"HALFTONE_LOGS", "HALFTONE_LOG"},
                                    {"HALFTONE_CHECK_LAUNCH", "HALFTONE_CHECK_LAUNCHES"},
                                    {"HALFTONE_STEP_INFLIGHT", "HALFTONE_STEPS_IN_FLIGHT"}}) {
    CAPTURE(name);
    setenv(name, "1", 1);
    const std::string message = message_of([] { (void)Device::cpu(); });
    unsetenv(name);
    CHECK(message == "settings: " + std::string(name) + " in the environment is unknown; write " +
                         meant + ", or unset it");
  }
  for (const char* name : {"HALFTONE_HOME", "HALFTONE_DIR", "HALFTONE_", "HALFTONE_GOLDEN",
                           "XHALFTONE_THREAD", "HALFTONE_CHIPS"}) {
    CAPTURE(name);
    setenv(name, "1", 1);
    CHECK(message_of([] { (void)Device::cpu(); }) == "no error");
    unsetenv(name);
  }
}

TEST_CASE("a device that the environment names is there to ask for alone") {
  {
    const Setting setting("HALFTONE_DEVICE", "cpu:x86-64");
    CHECK(Device::named_by_environment().value().name() == "cpu:x86-64");
  }
  const Setting setting("HALFTONE_DEVICE", "");
  CHECK_FALSE(Device::named_by_environment());
}

TEST_CASE("without kernels for a GPU the best device is the processor, and says why") {
  const Setting setting("HALFTONE_DEVICE", "");
  const Device device = Device::best(models::line::artifact());
  CHECK(device.name() == "cpu");
  CHECK(device.driver() == nullptr);
  CHECK(device.description().find("; no GPU, since model 'line' has no kernels for one") !=
        std::string::npos);
}

TEST_CASE("with kernels for a chip the best device is a GPU that runs them, or says why not") {
  const Setting setting("HALFTONE_DEVICE", "");
  const ChangedArtifact changed([](auto& manifest) {
    manifest.targets = {"cpu", "sm_75"};
    manifest.text_count = 1;
    halftone::manifest::CudaKernel kernel;
    kernel.entry = "k";
    manifest.cuda = {{"sm_75", {manifest.kernels.size(), kernel}}};
  });
  const Device device = Device::best(changed.artifact());
  CAPTURE(device.description());
  if (device.name() == "cpu") {
    CHECK(device.description().find("; no GPU, since ") != std::string::npos);
    CHECK(device.description().find("has no kernels") == std::string::npos);
  } else {
    CHECK(device.name().starts_with("cuda:"));
    CHECK(device.description().find("; runs the kernels for sm_75 of model 'line'") !=
          std::string::npos);
  }
}

TEST_CASE("the environment may name a GPU, a simulated one too") {
  {
    const Setting setting("HALFTONE_DEVICE", "simulated:sm_80");
    CHECK(best().name() == "simulated:sm_80");
    CHECK(Device::best(models::line::artifact()).name() == "simulated:sm_80");
    CHECK(message_of([] { models::line::Trainer(best(), {.batch = 2}); }) ==
          "trainer: model 'line' has no kernels for GPUs, but device 'simulated:sm_80' is one of "
          "chip 'sm_80'; make the artifact with sm_80 among its targets, or take "
          "Device::best(artifact)");
  }
  for (const char* wish : {"cuda:", "cuda:x", "cuda:-1", "cuda:0x", "cuda", "simulated"}) {
    CAPTURE(wish);
    const Setting setting("HALFTONE_DEVICE", wish);
    CHECK(message_of([] {
            (void)best();
          }).starts_with("settings: HALFTONE_DEVICE is '" + std::string(wish) + "'; give 'cpu'"));
  }
  const Setting setting("HALFTONE_DEVICE", "cuda:1000");
  CHECK(message_of([] { (void)best(); }).starts_with("device: device 'cuda:1000' "));
}

TEST_CASE("the environment says how many steps may be in flight") {
  for (const auto& [value, steps] : {std::pair{"1", 1}, {"64", 64}, {"", 4}}) {
    const Setting setting("HALFTONE_STEPS_IN_FLIGHT", value);
    CHECK(Device::simulated("sm_80").driver()->options().steps_in_flight == steps);
  }
  for (const char* value : {"0", "65", "-1", "four", "4 "}) {
    const Setting setting("HALFTONE_STEPS_IN_FLIGHT", value);
    CHECK(message_of([] { (void)Device::simulated("sm_80"); }) ==
          "settings: HALFTONE_STEPS_IN_FLIGHT is '" + std::string(value) +
              "'; give a number from 1 to 64 or unset it");
  }
}

TEST_CASE("the environment says how long a kernel may be compiled") {
  for (const auto& [value, seconds] : {std::pair{"0", 0}, {"86400", 86400}, {"", 300}}) {
    const Setting setting("HALFTONE_COMPILE_TIMEOUT", value);
    CHECK(halftone::compile_timeout_setting() == seconds);
  }
  const Setting setting("HALFTONE_COMPILE_TIMEOUT", "-1");
  CHECK(message_of([] { (void)halftone::compile_timeout_setting(); }) ==
        "settings: HALFTONE_COMPILE_TIMEOUT is '-1'; give a number from 0 to 86400 or unset it");
  CHECK(message_of([] {
          (void)Device::simulated("sm_80");
        }).starts_with("settings: HALFTONE_COMPILE_TIMEOUT is '-1'; give a number from 0"));
}

TEST_CASE("launches are checked where the environment says so") {
  for (const auto& [value, checks] : {std::pair{"1", true}, {"0", false}, {"", false}}) {
    const Setting setting("HALFTONE_CHECK_LAUNCHES", value);
    CHECK(Device::simulated("sm_80").driver()->options().checks_launches == checks);
  }
  const Setting setting("HALFTONE_CHECK_LAUNCHES", "yes");
  CHECK(message_of([] { (void)Device::simulated("sm_80"); }) ==
        "settings: HALFTONE_CHECK_LAUNCHES is 'yes'; give 1 or 0, or unset it");
}
