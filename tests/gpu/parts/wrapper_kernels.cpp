// SPDX-License-Identifier: Apache-2.0
#include "wrapper_kernels.hpp"

#include <span>

namespace halftone::tests {

namespace {

constexpr std::uint32_t kThreads = 128;
constexpr const char* kWho = "conformance";

}  // namespace

WrapperKernels::WrapperKernels(const Device& device, const std::string& text,
                               const std::string& chip)
    : context_(*device.driver()), keep_(device.driver()) {
  const auto image = context_.image(text, "wrappers", chip);
  DriverStream stream{};
  context_.run(kWho, "a stream", [&](Driver& driver) { return driver.create_stream(stream); });
  stream_ = OwnedStream(context_.driver(), stream);
  DriverModule module{};
  context_.run(kWho, "the wrappers",
               [&](Driver& driver) { return driver.load(*image, "wrappers", module); });
  module_ = OwnedModule(context_.driver(), module);
}

WrapperKernels::~WrapperKernels() = default;

OwnedMemory WrapperKernels::allocate(std::size_t words, const char* name) {
  DeviceAddress address = 0;
  context_.run(kWho, name, [&](Driver& driver) {
    return driver.allocate(static_cast<std::int64_t>(4 * words), name, address);
  });
  return {context_.driver(), address};
}

Words WrapperKernels::run(const std::string& kernel, const Words& in, std::size_t out_words,
                          std::uint32_t threads) {
  const OwnedMemory from = allocate(in.size(), "in"), to = allocate(out_words, "out");
  DriverFunction function{};
  context_.run("find", kernel,
               [&](Driver& driver) { return driver.find(module_.get(), kernel, 0, function); });
  const DeviceAddress addresses[] = {from.get(), to.get()};
  const void* const parameters[] = {&addresses[0], &addresses[1], &threads};
  Words out(out_words);
  context_.run("write", kernel, [&](Driver& driver) {
    return driver.copy_in(from.get(), std::as_bytes(std::span(in)), stream_.get());
  });
  context_.run("write", kernel, [&](Driver& driver) {
    return driver.fill(to.get(), std::byte{0}, static_cast<std::int64_t>(4 * out_words),
                       stream_.get());
  });
  context_.run("launch", kernel, [&](Driver& driver) {
    return driver.launch(
        function, {.blocks = threads / kThreads, .threads = kThreads, .parameters = parameters},
        stream_.get());
  });
  context_.run("read", kernel, [&](Driver& driver) {
    return driver.copy_out(std::as_writable_bytes(std::span(out)), to.get(), stream_.get());
  });
  context_.run("launch", kernel, [&](Driver& driver) { return driver.synchronise(stream_.get()); });
  return out;
}

}  // namespace halftone::tests
