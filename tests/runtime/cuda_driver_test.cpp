// SPDX-License-Identifier: Apache-2.0
// driver.hpp over a libcuda whose functions are those of this file: which calls are made with what,
// and what results become.
#include "cuda/cuda_driver.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

using namespace halftone;
using Calls = std::vector<std::string>;
using Kind = DriverStatus::Kind;

namespace {

Calls calls;
std::string failing;  // the call that fails
int result = 0;       // with this
bool registered = false;

int note(std::string call) {
  const std::string name = call.substr(0, call.find(' '));
  calls.push_back(std::move(call));
  return name == failing ? result : 0;
}

void* pointer(std::uintptr_t number) { return reinterpret_cast<void*>(number); }
std::string text(const void* pointer) {
  return std::to_string(reinterpret_cast<std::uintptr_t>(pointer));
}

const char* const kName = "CUDA_ERROR_SOMETHING";
const char* const kWords = "something went wrong";

/// Handles are small numbers: context 7, memory 4096, module 3, function 4, stream 5, event 6,
/// graph 8, executable 9.
CudaLibrary library() {
  calls.clear();
  failing.clear();
  registered = false;
  CudaLibrary cuda;
  cuda.cuGetErrorName = [](int, const char** name) { return *name = kName, 0; };
  cuda.cuGetErrorString = [](int, const char** words) { return *words = kWords, 0; };
  cuda.cuDeviceGet = [](int* device, int index) { return *device = index + 40, note("get"); };
  cuda.cuDeviceGetName = [](char* name, int, int) { return std::strcpy(name, "Test GPU"), 0; };
  cuda.cuDeviceGetAttribute = [](int* value, int attribute, int) {
    return *value = attribute == 75 ? 8 : attribute == 16 ? 132 : 6, 0;
  };
  cuda.cuDeviceTotalMem_v2 = [](std::size_t* bytes, int) { return *bytes = 1000, 0; };
  cuda.cuMemGetInfo_v2 = [](std::size_t* free, std::size_t* total) {
    return *free = 700, *total = 1000, note("info");
  };
  cuda.cuDriverGetVersion = [](int* version) { return *version = 13010, 0; };
  cuda.cuDevicePrimaryCtxRetain = [](CudaContext* context, int device) {
    return *context = pointer(7), note("retain " + std::to_string(device));
  };
  cuda.cuDevicePrimaryCtxRelease_v2 = [](int device) {
    return note("release " + std::to_string(device));
  };
  cuda.cuCtxSetCurrent = [](CudaContext context) { return note("current " + text(context)); };
  cuda.cuMemAlloc_v2 = [](CudaAddress* address, std::size_t bytes) {
    return *address = 4096, note("alloc " + std::to_string(bytes));
  };
  cuda.cuMemFree_v2 = [](CudaAddress address) { return note("free " + std::to_string(address)); };
  cuda.cuMemcpyHtoDAsync_v2 = [](CudaAddress to, const void*, std::size_t bytes,
                                 CudaStream stream) {
    return note("in " + std::to_string(to) + " " + std::to_string(bytes) + " " + text(stream));
  };
  cuda.cuMemcpyDtoHAsync_v2 = [](void*, CudaAddress from, std::size_t bytes, CudaStream stream) {
    return note("out " + std::to_string(from) + " " + std::to_string(bytes) + " " + text(stream));
  };
  cuda.cuMemcpyDtoDAsync_v2 = [](CudaAddress to, CudaAddress from, std::size_t bytes,
                                 CudaStream stream) {
    return note("copy " + std::to_string(to) + " " + std::to_string(from) + " " +
                std::to_string(bytes) + " " + text(stream));
  };
  cuda.cuMemsetD8Async = [](CudaAddress to, unsigned char value, std::size_t bytes,
                            CudaStream stream) {
    return note("set " + std::to_string(to) + " " + std::to_string(value) + " " +
                std::to_string(bytes) + " " + text(stream));
  };
  cuda.cuMemHostAlloc = [](void** address, std::size_t bytes, unsigned flags) {
    return *address = pointer(64),
           note("host " + std::to_string(bytes) + " " + std::to_string(flags));
  };
  cuda.cuMemFreeHost = [](void* address) { return note("unhost " + text(address)); };
  cuda.cuEventSynchronize = [](CudaEvent event) { return note("await " + text(event)); };
  cuda.cuPointerGetAttributes = [](unsigned, int*, void** values, CudaAddress) {
    *static_cast<unsigned*>(values[0]) = registered ? 1 : 0;  // CU_MEMORYTYPE_HOST
    return 0;
  };
  cuda.cuModuleLoadDataEx = [](CudaModule* module, const void*, unsigned count, int* options,
                               void** values) {
    const auto room = reinterpret_cast<std::size_t>(values[1]);
    if (count == 2 && options[0] == 5 && room > 10) {
      std::strcpy(static_cast<char*>(values[0]), "line 3");
    }
    return *module = pointer(3), note("load");
  };
  cuda.cuModuleUnload = [](CudaModule module) { return note("unload " + text(module)); };
  cuda.cuModuleGetFunction = [](CudaFunction* function, CudaModule module, const char* name) {
    return *function = pointer(4), note("find " + text(module) + " " + name);
  };
  cuda.cuFuncSetAttribute = [](CudaFunction function, int attribute, int value) {
    return note("attribute " + text(function) + " " + std::to_string(attribute) + " " +
                std::to_string(value));
  };
  cuda.cuLaunchKernel = [](CudaFunction function, unsigned x, unsigned y, unsigned z, unsigned a,
                           unsigned b, unsigned c, unsigned shared, CudaStream stream,
                           void** parameters, void**) {
    const unsigned sizes[] = {x, y, z, a, b, c, shared};
    std::string call = "launch " + text(function);
    for (unsigned size : sizes) call += " " + std::to_string(size);
    return note(call + " " + text(stream) + " " +
                std::to_string(*static_cast<const std::int64_t*>(parameters[1])));
  };
  cuda.cuTensorMapEncodeTiled =
      [](void* map, int element, unsigned rank, void* address, const unsigned long long* extents,
         const unsigned long long* strides, const unsigned* box, const unsigned* steps,
         int interleave, int swizzle, int promotion, int fill) {
        std::memset(map, 42, 128);
        std::string call =
            "encode " + std::to_string(element) + " " + std::to_string(rank) + " " + text(address);
        const auto add = [&call](const auto* numbers, unsigned count) {
          for (unsigned i = 0; i < count; ++i) call += " " + std::to_string(numbers[i]);
        };
        add(extents, rank);
        add(strides, rank - 1);
        add(box, rank);
        add(steps, rank);
        for (int number : {interleave, swizzle, promotion, fill})
          call += " " + std::to_string(number);
        return note(call);
      };
  cuda.cuStreamCreate = [](CudaStream* stream, unsigned flags) {
    return *stream = pointer(5), note("stream " + std::to_string(flags));
  };
  cuda.cuStreamDestroy_v2 = [](CudaStream stream) { return note("drop " + text(stream)); };
  cuda.cuStreamSynchronize = [](CudaStream stream) { return note("synchronise " + text(stream)); };
  cuda.cuEventCreate = [](CudaEvent* event, unsigned flags) {
    return *event = pointer(6), note("event " + std::to_string(flags));
  };
  cuda.cuEventDestroy_v2 = [](CudaEvent event) { return note("drop " + text(event)); };
  cuda.cuEventRecord = [](CudaEvent event, CudaStream stream) {
    return note("record " + text(event) + " " + text(stream));
  };
  cuda.cuStreamWaitEvent = [](CudaStream stream, CudaEvent event, unsigned flags) {
    return note("wait " + text(stream) + " " + text(event) + " " + std::to_string(flags));
  };
  cuda.cuStreamBeginCapture_v2 = [](CudaStream stream, int mode) {
    return note("begin " + text(stream) + " " + std::to_string(mode));
  };
  cuda.cuStreamEndCapture = [](CudaStream stream, CudaGraph* graph) {
    return *graph = pointer(8), note("end " + text(stream));
  };
  cuda.cuGraphInstantiateWithFlags = [](CudaGraphExecutable* executable, CudaGraph graph,
                                        unsigned long long) {
    return *executable = pointer(9), note("instantiate " + text(graph));
  };
  cuda.cuGraphDestroy = [](CudaGraph graph) { return note("drop " + text(graph)); };
  cuda.cuGraphLaunch = [](CudaGraphExecutable executable, CudaStream stream) {
    return note("graph " + text(executable) + " " + text(stream));
  };
  cuda.cuGraphExecDestroy = [](CudaGraphExecutable executable) {
    return note("drop " + text(executable));
  };
  return cuda;
}

struct Fixture {
  Fixture() : driver(cuda, 2, opened) {}

  /// What an action calls behind making the context current.
  template <class Action>
  Calls of(const Action& action) {
    calls.clear();
    CHECK(action().ok());
    REQUIRE(!calls.empty());
    CHECK(calls.front() == "current 7");
    calls.erase(calls.begin());
    return calls;
  }

  const CudaLibrary cuda = library();
  DriverStatus opened;
  CudaDriver driver;
  const DriverStream stream{5};
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a GPU is described as the driver describes it") {
  CHECK(opened.ok());
  CHECK(driver.properties().name == "Test GPU");
  CHECK(driver.properties().chip == "sm_86");
  CHECK(driver.properties().version == "driver for CUDA 13.1");
  CHECK(driver.properties().memory_bytes == 1000);
  CHECK(driver.properties().multiprocessors == 132);
  CHECK(driver.properties().encodes_maps);
  CHECK_FALSE(driver.properties().takes_ptx);
}

TEST_CASE("a GPU's context is retained once and released once, and not when it could not be had") {
  const CudaLibrary cuda = library();
  DriverStatus status;
  { const CudaDriver driver(cuda, 2, status); }
  CHECK(calls == Calls{"get", "retain 42", "release 42"});
  calls.clear();
  failing = "get";
  result = 101;
  { const CudaDriver driver(cuda, 2, status); }
  CHECK(status.text == "CUDA_ERROR_SOMETHING (101): something went wrong");
  CHECK(calls == Calls{"get"});
}

TEST_CASE_FIXTURE(Fixture,
                  "every call goes to the function of its name, with the context current") {
  DeviceAddress address = 0;
  DriverModule module{};
  DriverFunction function{};
  DriverStream made{};
  DriverEvent event{};
  std::byte bytes[12]{};
  CHECK(of([&] { return driver.allocate(100, "x", address); }) == Calls{"alloc 100"});
  CHECK(address == 4096);
  CHECK(of([&] { return driver.free(address); }) == Calls{"free 4096"});
  std::optional<std::int64_t> left;
  CHECK(of([&] { return driver.free_memory(left); }) == Calls{"info"});
  CHECK(left == 700);
  CHECK(of([&] { return driver.copy_in(9, bytes, stream); }) == Calls{"in 9 12 5"});
  registered = true;  // may change at once, so it is waited for
  CHECK(of([&] { return driver.copy_in(9, bytes, stream); }) ==
        Calls{"in 9 12 5", "synchronise 5"});
  CHECK(of([&] { return driver.copy_in_staged(9, bytes, stream); }) == Calls{"in 9 12 5"});
  std::byte* host = nullptr;
  CHECK(of([&] { return driver.allocate_host(100, host); }) == Calls{"host 100 1"});
  CHECK(host == pointer(64));
  CHECK(of([&] { return driver.free_host(host); }) == Calls{"unhost 64"});
  CHECK(of([&] { return driver.synchronise(DriverEvent{6}); }) == Calls{"await 6"});
  CHECK(of([&] { return driver.copy_out(bytes, 9, stream); }) == Calls{"out 9 12 5"});
  CHECK(of([&] { return driver.copy(9, 8, 7, stream); }) == Calls{"copy 9 8 7 5"});
  CHECK(of([&] { return driver.fill(9, std::byte{1}, 8, stream); }) == Calls{"set 9 1 8 5"});
  CHECK(of([&] { return driver.load("image", "x", module); }) == Calls{"load"});
  CHECK(module == DriverModule{3});
  CHECK(of([&] { return driver.unload(module); }) == Calls{"unload 3"});
  CHECK(of([&] { return driver.create_stream(made); }) == Calls{"stream 1"});
  CHECK(made == stream);
  CHECK(of([&] { return driver.destroy_stream(made); }) == Calls{"drop 5"});
  CHECK(of([&] { return driver.synchronise(stream); }) == Calls{"synchronise 5"});
  CHECK(of([&] { return driver.create_event(event); }) == Calls{"event 2"});
  CHECK(of([&] { return driver.record(event, stream); }) == Calls{"record 6 5"});
  CHECK(of([&] { return driver.wait(stream, event); }) == Calls{"wait 5 6 0"});
  CHECK(of([&] { return driver.destroy_event(event); }) == Calls{"drop 6"});
  CHECK(of([&] { return driver.find(module, "entry", 0, function); }) == Calls{"find 3 entry"});
  const std::int64_t first = 1, second = 77;
  const void* parameters[] = {&first, &second};
  const DriverLaunch launch{
      .blocks = 11, .threads = 96, .shared_bytes = 5, .parameters = parameters};
  CHECK(of([&] { return driver.launch(function, launch, stream); }) ==
        Calls{"launch 4 11 1 1 96 1 1 5 5 77"});
}

TEST_CASE_FIXTURE(Fixture, "a tensor map is of lines one after another, with zeros outside") {
  EncodedMap map;
  using Element = MapSource::Element;
  CHECK(of([&] {
          return driver.encode(
              {.address = 4096, .element = Element::bf16, .dimensions = {{264, 64}, {100, 128}}},
              map);
        }) == Calls{"encode 9 2 4096 264 100 528 64 128 1 1 0 3 3 0"});
  CHECK(map.bytes.back() == std::byte{42});
  CHECK(of([&] {
          return driver.encode(
              {.address = 16, .element = Element::f16, .dimensions = {{8, 64}, {1, 64}}}, map);
        }) == Calls{"encode 6 2 16 8 1 16 64 64 1 1 0 3 3 0"});
  CHECK(of([&] {
          return driver.encode({.address = 16,
                                .element = Element::f16,
                                .dimensions = {{48, 64}, {3, 1}, {130, 128}, {5, 1}}},
                               map);
        }) == Calls{"encode 6 4 16 48 3 130 5 96 288 37440 64 1 128 1 1 1 1 1 0 3 3 0"});
  CHECK(of([&] {
          return driver.encode(
              {.address = 16, .element = Element::u8, .dimensions = {{144, 128}, {100, 64}}}, map);
        }) == Calls{"encode 0 2 16 144 100 144 128 64 1 1 0 3 3 0"});
  CHECK(of([&] {
          return driver.encode(
              {.address = 16, .element = Element::u32, .dimensions = {{24, 32}, {100, 64}}}, map);
        }) == Calls{"encode 2 2 16 24 100 96 32 64 1 1 0 3 3 0"});
}

TEST_CASE("a driver that has no call for tensor maps encodes none") {
  CudaLibrary cuda = library();
  cuda.cuTensorMapEncodeTiled = nullptr;
  DriverStatus opened;
  const CudaDriver driver(cuda, 2, opened);
  CHECK(opened.ok());
  CHECK_FALSE(driver.properties().encodes_maps);
}

TEST_CASE_FIXTURE(Fixture, "shared memory past 48 KiB is asked for") {
  DriverFunction function{};
  CHECK(of([&] { return driver.find(DriverModule{3}, "e", 49152, function); }) ==
        Calls{"find 3 e"});
  CHECK(of([&] { return driver.find(DriverModule{3}, "e", 49153, function); }) ==
        Calls{"find 3 e", "attribute 4 8 49153"});
}

TEST_CASE_FIXTURE(Fixture, "a capture holds this thread alone and ends as an executable graph") {
  DriverGraph graph{};
  CHECK(of([&] { return driver.begin_capture(stream); }) == Calls{"begin 5 1"});
  CHECK(of([&] { return driver.end_capture(stream, graph); }) ==
        Calls{"end 5", "instantiate 8", "drop 8"});
  CHECK(of([&] { return driver.launch(graph, stream); }) == Calls{"graph 9 5"});
  CHECK(of([&] { return driver.destroy_graph(graph); }) == Calls{"drop 9"});
}

TEST_CASE_FIXTURE(Fixture, "results become what the runtime tells apart, in the driver's words") {
  struct Case {
    int result;
    Kind kind;
  };
  const Case cases[] = {{1, Kind::failed},   {2, Kind::out_of_memory}, {209, Kind::failed},
                        {214, Kind::sticky}, {400, Kind::failed},      {700, Kind::sticky},
                        {701, Kind::failed}, {702, Kind::sticky},      {719, Kind::sticky},
                        {801, Kind::failed}, {999, Kind::failed}};
  for (const Case& c : cases) {
    CAPTURE(c.result);
    failing = "synchronise";
    result = c.result;
    const DriverStatus status = driver.synchronise(stream);
    CHECK(status.kind == c.kind);
    CHECK(status.text ==
          "CUDA_ERROR_SOMETHING (" + std::to_string(c.result) + "): something went wrong");
  }
  failing = "load";
  DriverModule module{};
  CHECK(driver.load("image", "x", module).text ==
        "CUDA_ERROR_SOMETHING (999): something went wrong, line 3");
  failing = "current";  // then nothing else is called
  calls.clear();
  CHECK_FALSE(driver.synchronise(stream).ok());
  CHECK(calls == Calls{"current 7"});
}
