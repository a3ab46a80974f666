// SPDX-License-Identifier: Apache-2.0
#include "cuda_driver.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "../dispatch.hpp"

namespace halftone {
using namespace cuda;

namespace {

constexpr std::uint32_t kSharedWithoutAsking = 48 * 1024;
constexpr std::size_t kLogBytes = 4096;

template <class Raw, class Handle>
Raw raw(Handle handle) {
  return reinterpret_cast<Raw>(static_cast<std::uintptr_t>(handle));
}

template <class Handle>
Handle handle_of(void* pointer) {
  return static_cast<Handle>(reinterpret_cast<std::uintptr_t>(pointer));
}

}  // namespace

CudaDriver::CudaDriver(const CudaLibrary& cuda, int index, DriverStatus& opened) : cuda_(cuda) {
  int major = 0, minor = 0, multiprocessors = 0, version = 0;
  std::size_t memory = 0;
  std::array<char, 256> name{};
  const auto get = [&](int result) {
    if (opened.ok()) opened = status(result);
    return opened.ok();
  };
  if (!get(cuda.cuDeviceGet(&device_, index)) ||
      !get(cuda.cuDeviceGetName(name.data(), static_cast<int>(name.size()), device_)) ||
      !get(cuda.cuDeviceGetAttribute(&major, kMajor, device_)) ||
      !get(cuda.cuDeviceGetAttribute(&minor, kMinor, device_)) ||
      !get(cuda.cuDeviceGetAttribute(&multiprocessors, kMultiprocessors, device_)) ||
      !get(cuda.cuDeviceTotalMem_v2(&memory, device_)) || !get(cuda.cuDriverGetVersion(&version)) ||
      !get(cuda.cuDevicePrimaryCtxRetain(&context_, device_))) {
    return;
  }
  properties_ = {.name = name.data(),
                 .chip = "sm_" + std::to_string(major * 10 + minor),
                 .version = "driver for CUDA " + text_of(cuda_version_of(version)),
                 .cuda_version = version,
                 .memory_bytes = static_cast<std::int64_t>(memory),
                 .multiprocessors = multiprocessors,
                 .encodes_maps = cuda.cuTensorMapEncodeTiled != nullptr};
}

CudaDriver::~CudaDriver() {
  if (context_) cuda_.cuDevicePrimaryCtxRelease_v2(device_);
}

DriverStatus CudaDriver::status(int result) const {
  if (result == 0) return {};
  using Kind = DriverStatus::Kind;
  const bool sticky = std::ranges::find(kSticky, result) != std::end(kSticky);
  const Kind kind = result == kOutOfMemory ? Kind::out_of_memory
                    : sticky               ? Kind::sticky
                                           : Kind::failed;
  return {kind, cuda_.text_of(result), ""};
}

template <class Call>
DriverStatus CudaDriver::run(Call call) const {
  const int current = cuda_.cuCtxSetCurrent(context_);
  return status(current != 0 ? current : call());
}

DriverStatus CudaDriver::allocate(std::int64_t bytes, std::string_view, DeviceAddress& address) {
  CudaAddress result = 0;
  const DriverStatus status =
      run([&] { return cuda_.cuMemAlloc_v2(&result, static_cast<std::size_t>(bytes)); });
  address = result;
  return status;
}

DriverStatus CudaDriver::free(DeviceAddress address) {
  return run([&] { return cuda_.cuMemFree_v2(address); });
}

DriverStatus CudaDriver::free_memory(std::optional<std::int64_t>& bytes) {
  std::size_t free = 0, total = 0;
  DriverStatus status = run([&] { return cuda_.cuMemGetInfo_v2(&free, &total); });
  if (status.ok()) bytes = static_cast<std::int64_t>(free);
  return status;
}

DriverStatus CudaDriver::allocate_host(std::int64_t bytes, std::byte*& address) {
  void* result = nullptr;
  const DriverStatus status = run([&] {
    return cuda_.cuMemHostAlloc(&result, static_cast<std::size_t>(bytes), kForAllContexts);
  });
  address = static_cast<std::byte*>(result);
  return status;
}

DriverStatus CudaDriver::free_host(std::byte* address) {
  return run([&] { return cuda_.cuMemFreeHost(address); });
}

/// Pageable memory is staged before the call returns (CUDA Driver API, "API synchronization
/// behavior"); memory that was registered is not, so it is waited for.
DriverStatus CudaDriver::copy_in(DeviceAddress to, std::span<const std::byte> from,
                                 DriverStream stream) {
  return run([&] {
    const auto raw_stream = raw<CudaStream>(stream);
    const int result = cuda_.cuMemcpyHtoDAsync_v2(to, from.data(), from.size(), raw_stream);
    if (result != 0) return result;
    // This call alone takes addresses that CUDA does not know, and leaves their type 0: the other
    // one fails, which compute-sanitizer reports.
    unsigned type = 0;
    int attribute = kMemoryType;
    void* types[] = {&type};
    const int asked = cuda_.cuPointerGetAttributes(1, &attribute, types,
                                                   reinterpret_cast<CudaAddress>(from.data()));
    if (asked != 0) return asked;
    return type != 0 ? cuda_.cuStreamSynchronize(raw_stream) : 0;
  });
}

DriverStatus CudaDriver::copy_in_staged(DeviceAddress to, std::span<const std::byte> from,
                                        DriverStream stream) {
  return run([&] {
    return cuda_.cuMemcpyHtoDAsync_v2(to, from.data(), from.size(), raw<CudaStream>(stream));
  });
}

DriverStatus CudaDriver::copy_out(std::span<std::byte> to, DeviceAddress from,
                                  DriverStream stream) {
  return run([&] {
    return cuda_.cuMemcpyDtoHAsync_v2(to.data(), from, to.size(), raw<CudaStream>(stream));
  });
}

DriverStatus CudaDriver::copy(DeviceAddress to, DeviceAddress from, std::int64_t bytes,
                              DriverStream stream) {
  return run([&] {
    return cuda_.cuMemcpyDtoDAsync_v2(to, from, static_cast<std::size_t>(bytes),
                                      raw<CudaStream>(stream));
  });
}

DriverStatus CudaDriver::fill(DeviceAddress to, std::byte value, std::int64_t bytes,
                              DriverStream stream) {
  return run([&] {
    return cuda_.cuMemsetD8Async(to, static_cast<unsigned char>(value),
                                 static_cast<std::size_t>(bytes), raw<CudaStream>(stream));
  });
}

DriverStatus CudaDriver::load(const std::string& image, const std::string&, DriverModule& module) {
  std::string log(kLogBytes, '\0');
  std::array<int, 2> options = {kErrorLog, kErrorLogBytes};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(kLogBytes)};
  CudaModule result = nullptr;
  DriverStatus status = run([&] {
    return cuda_.cuModuleLoadDataEx(&result, image.c_str(), 2, options.data(), values.data());
  });
  if (!status.ok() && log[0] != '\0') status.text += ", " + std::string(log.c_str());
  module = handle_of<DriverModule>(result);
  return status;
}

DriverStatus CudaDriver::unload(DriverModule module) {
  return run([&] { return cuda_.cuModuleUnload(raw<CudaModule>(module)); });
}

DriverStatus CudaDriver::find(DriverModule module, const std::string& entry,
                              std::uint32_t shared_bytes, DriverFunction& function) {
  CudaFunction result = nullptr;
  const DriverStatus status = run([&] {
    const int found = cuda_.cuModuleGetFunction(&result, raw<CudaModule>(module), entry.c_str());
    if (found != 0 || shared_bytes <= kSharedWithoutAsking) return found;
    return cuda_.cuFuncSetAttribute(result, kMostDynamicShared, static_cast<int>(shared_bytes));
  });
  function = handle_of<DriverFunction>(result);
  return status;
}

DriverStatus CudaDriver::launch(DriverFunction function, const DriverLaunch& launch,
                                DriverStream stream) {
  return run([&] {
    return cuda_.cuLaunchKernel(raw<CudaFunction>(function), launch.blocks, 1, 1, launch.threads, 1,
                                1, launch.shared_bytes, raw<CudaStream>(stream),
                                const_cast<void**>(launch.parameters.data()), nullptr);
  });
}

DriverStatus CudaDriver::encode(const MapSource& source, EncodedMap& map) {
  using Element = MapSource::Element;
  const int type = source.element == Element::f16    ? kMapOfF16
                   : source.element == Element::bf16 ? kMapOfBf16
                   : source.element == Element::u32  ? kMapOfWords
                                                     : kMapOfBytes;
  std::vector<unsigned long long> extents, pitches;  // bytes between lines
  std::vector<unsigned> box;
  unsigned long long bytes = source.element == Element::u8    ? 1
                             : source.element == Element::u32 ? 4
                                                              : 2;
  for (const MapSource::Dimension& dimension : source.dimensions) {
    extents.push_back(dimension.extent);
    box.push_back(dimension.box);
    pitches.push_back(bytes *= dimension.extent);
  }
  const std::vector<unsigned> steps(box.size(), 1);
  return run([&] {
    return cuda_.cuTensorMapEncodeTiled(map.bytes.data(), type, static_cast<unsigned>(box.size()),
                                        reinterpret_cast<void*>(source.address), extents.data(),
                                        pitches.data(), box.data(), steps.data(), 0, kSwizzle128,
                                        kPromoteTo256, 0);
  });
}

DriverStatus CudaDriver::create_stream(DriverStream& stream) {
  CudaStream result = nullptr;
  const DriverStatus status = run([&] { return cuda_.cuStreamCreate(&result, kNonBlocking); });
  stream = handle_of<DriverStream>(result);
  return status;
}

DriverStatus CudaDriver::destroy_stream(DriverStream stream) {
  return run([&] { return cuda_.cuStreamDestroy_v2(raw<CudaStream>(stream)); });
}

DriverStatus CudaDriver::synchronise(DriverStream stream) {
  return run([&] { return cuda_.cuStreamSynchronize(raw<CudaStream>(stream)); });
}

DriverStatus CudaDriver::create_event(DriverEvent& event) {
  CudaEvent result = nullptr;
  const DriverStatus status = run([&] { return cuda_.cuEventCreate(&result, kNoTiming); });
  event = handle_of<DriverEvent>(result);
  return status;
}

DriverStatus CudaDriver::destroy_event(DriverEvent event) {
  return run([&] { return cuda_.cuEventDestroy_v2(raw<CudaEvent>(event)); });
}

DriverStatus CudaDriver::record(DriverEvent event, DriverStream stream) {
  return run([&] { return cuda_.cuEventRecord(raw<CudaEvent>(event), raw<CudaStream>(stream)); });
}

DriverStatus CudaDriver::synchronise(DriverEvent event) {
  return run([&] { return cuda_.cuEventSynchronize(raw<CudaEvent>(event)); });
}

DriverStatus CudaDriver::wait(DriverStream stream, DriverEvent event) {
  return run(
      [&] { return cuda_.cuStreamWaitEvent(raw<CudaStream>(stream), raw<CudaEvent>(event), 0); });
}

DriverStatus CudaDriver::begin_capture(DriverStream stream) {
  return run(
      [&] { return cuda_.cuStreamBeginCapture_v2(raw<CudaStream>(stream), kCaptureThisThread); });
}

DriverStatus CudaDriver::end_capture(DriverStream stream, DriverGraph& graph) {
  CudaGraphExecutable result = nullptr;
  const DriverStatus status = run([&] {
    CudaGraph captured = nullptr;
    const int ended = cuda_.cuStreamEndCapture(raw<CudaStream>(stream), &captured);
    if (ended != 0) return ended;
    const int made = cuda_.cuGraphInstantiateWithFlags(&result, captured, 0);
    const int destroyed = cuda_.cuGraphDestroy(captured);
    return made != 0 ? made : destroyed;
  });
  graph = handle_of<DriverGraph>(result);
  return status;
}

DriverStatus CudaDriver::launch(DriverGraph graph, DriverStream stream) {
  return run([&] {
    return cuda_.cuGraphLaunch(raw<CudaGraphExecutable>(graph), raw<CudaStream>(stream));
  });
}

DriverStatus CudaDriver::destroy_graph(DriverGraph graph) {
  return run([&] { return cuda_.cuGraphExecDestroy(raw<CudaGraphExecutable>(graph)); });
}

}  // namespace halftone
