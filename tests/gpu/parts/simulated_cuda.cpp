// SPDX-License-Identifier: Apache-2.0
#include "simulated_cuda.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "halftone/simulator/module.hpp"
#include "simulator/src/simulated_driver.hpp"

namespace halftone::tests {

namespace {

constexpr int kNotSupported = 801, kFailed = 1, kLaunchFailed = 719;
constexpr std::size_t kAlignment = 64;

struct Played {
  std::unique_ptr<SimulatedDriver> driver;
  std::string chip, words;                          ///< of the last error
  std::map<DriverModule, simulator::Module> texts;  ///< for the number of an entry's parameters
  std::map<DriverFunction, std::size_t> parameters;
};
Played played;

template <class Handle>
Handle handle(void* pointer) {
  return static_cast<Handle>(reinterpret_cast<std::uintptr_t>(pointer));
}

template <class Handle>
void* pointer(Handle handle) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(handle));
}

int result(const DriverStatus& status) {
  if (status.ok()) return 0;
  played.words = status.text;
  using Kind = DriverStatus::Kind;
  return status.kind == Kind::out_of_memory ? cuda::kOutOfMemory
         : status.kind == Kind::sticky      ? kLaunchFailed
                                            : kFailed;
}

template <class... Parameters>
int unsupported(Parameters...) {
  return kNotSupported;
}
template <class... Parameters>
int nothing(Parameters...) {
  return 0;
}

template <class Member>
struct Fill;
template <class... Parameters>
struct Fill<int (*)(Parameters...)> {
  static constexpr auto kUnsupported = &unsupported<Parameters...>;
  static constexpr auto kNothing = &nothing<Parameters...>;
};

template <class Handle, class Out, DriverStatus (Driver::*kCreate)(Handle&)>
int create(Out* out) {
  Handle made{};
  const int code = result((played.driver.get()->*kCreate)(made));
  *out = pointer(made);
  return code;
}

int attribute(int* value, int which, int) {
  const int number = std::atoi(played.chip.c_str() + 3);
  *value = which == cuda::kMajor ? number / 10 : which == cuda::kMinor ? number % 10 : 0;
  return 0;
}

void play_the_device(CudaLibrary& table) {
  table.cuDriverGetVersion = [](int* version) {
    *version = 13000;
    return 0;
  };
  table.cuGetErrorName = table.cuGetErrorString = [](int, const char** text) {
    *text = played.words.c_str();
    return 0;
  };
  table.cuDeviceGetCount = [](int* count) {
    *count = 1;
    return 0;
  };
  table.cuDeviceGet = [](int* device, int index) { return *device = index, 0; };
  table.cuDeviceGetName = [](char* name, int bytes, int) {
    std::strncpy(name, "a simulated GPU", static_cast<std::size_t>(bytes));
    return 0;
  };
  table.cuDeviceGetAttribute = attribute;
  table.cuDeviceTotalMem_v2 = [](std::size_t* bytes, int) { return *bytes = 1u << 30, 0; };
  table.cuDevicePrimaryCtxRetain = [](CudaContext* context, int) {
    *context = &played;
    return 0;
  };
}

void play_memory(CudaLibrary& table) {
  table.cuMemAlloc_v2 = [](CudaAddress* address, std::size_t bytes) {
    DeviceAddress made = 0;
    const int code =
        result(played.driver->allocate(static_cast<std::int64_t>(bytes), "memory", made));
    *address = made;
    return code;
  };
  table.cuMemGetInfo_v2 = [](std::size_t* free, std::size_t* total) {
    return *free = *total = 1u << 30, 0;
  };
  table.cuMemFree_v2 = [](CudaAddress address) { return result(played.driver->free(address)); };
  table.cuMemcpyHtoDAsync_v2 = [](CudaAddress to, const void* from, std::size_t bytes,
                                  CudaStream stream) {
    return result(played.driver->copy_in(to, {static_cast<const std::byte*>(from), bytes},
                                         handle<DriverStream>(stream)));
  };
  table.cuMemcpyDtoHAsync_v2 = [](void* to, CudaAddress from, std::size_t bytes,
                                  CudaStream stream) {
    return result(played.driver->copy_out({static_cast<std::byte*>(to), bytes}, from,
                                          handle<DriverStream>(stream)));
  };
  table.cuMemcpyDtoDAsync_v2 = [](CudaAddress to, CudaAddress from, std::size_t bytes,
                                  CudaStream stream) {
    return result(played.driver->copy(to, from, static_cast<std::int64_t>(bytes),
                                      handle<DriverStream>(stream)));
  };
  table.cuMemsetD8Async = [](CudaAddress to, unsigned char value, std::size_t bytes,
                             CudaStream stream) {
    return result(played.driver->fill(to, std::byte{value}, static_cast<std::int64_t>(bytes),
                                      handle<DriverStream>(stream)));
  };
}

void play_host_memory(CudaLibrary& table) {
  table.cuMemHostAlloc = [](void** address, std::size_t bytes, unsigned) {
    *address = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
    return *address ? 0 : cuda::kOutOfMemory;
  };
  table.cuMemFreeHost = [](void* address) { return std::free(address), 0; };
}

int launch(CudaFunction function, unsigned blocks, unsigned threads, unsigned shared_bytes,
           CudaStream stream, void** parameters) {
  const auto of = handle<DriverFunction>(function);
  const std::size_t count = played.parameters.at(of);
  return result(played.driver->launch(of,
                                      {.blocks = blocks,
                                       .threads = threads,
                                       .shared_bytes = shared_bytes,
                                       .parameters = {parameters, count}},
                                      handle<DriverStream>(stream)));
}

void play_modules(CudaLibrary& table) {
  table.cuModuleLoadDataEx = [](CudaModule* module, const void* image, unsigned, int*, void**) {
    const std::string text = static_cast<const char*>(image);
    DriverModule made{};
    const int code = result(played.driver->load(text, "module", made));
    if (code == 0) played.texts.insert_or_assign(made, simulator::Module::parse(text, "module"));
    *module = pointer(made);
    return code;
  };
  table.cuModuleUnload = [](CudaModule module) {
    return result(played.driver->unload(handle<DriverModule>(module)));
  };
  table.cuModuleGetFunction = [](CudaFunction* function, CudaModule module, const char* name) {
    const auto of = handle<DriverModule>(module);
    DriverFunction made{};
    const int code = result(played.driver->find(of, name, 0, made));
    if (code == 0) played.parameters[made] = played.texts.at(of).entry(name).parameter_bytes.size();
    *function = pointer(made);
    return code;
  };
  table.cuLaunchKernel = [](CudaFunction function, unsigned blocks, unsigned, unsigned,
                            unsigned threads, unsigned, unsigned, unsigned shared_bytes,
                            CudaStream stream, void** parameters, void**) {
    return launch(function, blocks, threads, shared_bytes, stream, parameters);
  };
}

void play_streams(CudaLibrary& table) {
  table.cuStreamCreate = [](CudaStream* stream, unsigned) {
    return create<DriverStream, CudaStream, &Driver::create_stream>(stream);
  };
  table.cuStreamDestroy_v2 = [](CudaStream stream) {
    return result(played.driver->destroy_stream(handle<DriverStream>(stream)));
  };
  table.cuStreamSynchronize = [](CudaStream stream) {
    return result(played.driver->synchronise(handle<DriverStream>(stream)));
  };
  table.cuEventCreate = [](CudaEvent* event, unsigned) {
    return create<DriverEvent, CudaEvent, &Driver::create_event>(event);
  };
  table.cuEventDestroy_v2 = [](CudaEvent event) {
    return result(played.driver->destroy_event(handle<DriverEvent>(event)));
  };
  table.cuEventRecord = [](CudaEvent event, CudaStream stream) {
    return result(played.driver->record(handle<DriverEvent>(event), handle<DriverStream>(stream)));
  };
  table.cuStreamWaitEvent = [](CudaStream stream, CudaEvent event, unsigned) {
    return result(played.driver->wait(handle<DriverStream>(stream), handle<DriverEvent>(event)));
  };
  table.cuStreamBeginCapture_v2 = [](CudaStream stream, int) {
    return result(played.driver->begin_capture(handle<DriverStream>(stream)));
  };
  table.cuStreamEndCapture = [](CudaStream stream, CudaGraph* graph) {
    DriverGraph made{};
    const int code = result(played.driver->end_capture(handle<DriverStream>(stream), made));
    *graph = pointer(made);
    return code;
  };
  table.cuGraphInstantiateWithFlags = [](CudaGraphExecutable* executable, CudaGraph graph,
                                         unsigned long long) { return *executable = graph, 0; };
  table.cuGraphLaunch = [](CudaGraphExecutable graph, CudaStream stream) {
    return result(played.driver->launch(handle<DriverGraph>(graph), handle<DriverStream>(stream)));
  };
  table.cuGraphExecDestroy = [](CudaGraphExecutable graph) {
    return result(played.driver->destroy_graph(handle<DriverGraph>(graph)));
  };
}

}  // namespace

CudaLibrary simulated_cuda(const std::string& chip) {
  played = {};
  played.chip = chip;
  played.driver =
      std::make_unique<SimulatedDriver>(chip, simulator::LaunchOptions{.traffic = false});
  CudaLibrary table;
#define HALFTONE_FILL(name, parameters) table.name = Fill<decltype(table.name)>::kUnsupported;
  HALFTONE_CUDA_CALLS(HALFTONE_FILL)
#undef HALFTONE_FILL
  table.cuInit = Fill<decltype(table.cuInit)>::kNothing;
  table.cuCtxSetCurrent = Fill<decltype(table.cuCtxSetCurrent)>::kNothing;
  table.cuDevicePrimaryCtxRelease_v2 = Fill<decltype(table.cuDevicePrimaryCtxRelease_v2)>::kNothing;
  table.cuFuncSetAttribute = Fill<decltype(table.cuFuncSetAttribute)>::kNothing;
  table.cuPointerGetAttributes = Fill<decltype(table.cuPointerGetAttributes)>::kNothing;
  table.cuEventSynchronize = Fill<decltype(table.cuEventSynchronize)>::kNothing;
  table.cuGraphDestroy = Fill<decltype(table.cuGraphDestroy)>::kNothing;
  play_the_device(table);
  play_memory(table);
  play_host_memory(table);
  play_modules(table);
  play_streams(table);
  return table;
}

}  // namespace halftone::tests
