// SPDX-License-Identifier: Apache-2.0
#include "simulated.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>

#include "halftone/reference/rounding.hpp"

namespace halftone::tests {

using description::Element;

namespace {

/// Bytes of a code; of others f32 is what is stored.
std::size_t size_of(Element format) { return encoding::traits(format).bits / 8; }
bool is_short(Element format) { return size_of(format) < 4; }

}  // namespace

const NvrtcLibrary& nvrtc() {
  static const std::unique_ptr<NvrtcLibrary> library = [] {
    std::string reason;
    auto opened = NvrtcLibrary::open(HALFTONE_FETCHED_NVRTC, reason);
    if (!opened) {
      std::printf("Skipped: %s\n", reason.c_str());
      std::exit(0);
    }
    return opened;
  }();
  return *library;
}

Compilation compile(const std::string& file, const std::string& arch,
                    const std::vector<std::string>& macros) {
  std::ifstream stream(HALFTONE_KERNEL_TESTS "/" + file);
  const std::string source{std::istreambuf_iterator<char>(stream), {}};
  std::vector<std::string> options = options_for(arch, {"--include-path=" HALFTONE_KERNEL_HEADERS});
  for (const std::string& macro : macros) options.push_back("-D" + macro);
  if (arch.starts_with("sm_")) options.push_back("-Xptxas=-v");
  return nvrtc().compile(source, file, options);
}

const char* element_name(Element format) {
  return is_short(format) ? encoding::word(format) : "float";
}

std::vector<std::byte> stored(Element format, const std::vector<float>& values) {
  const std::size_t size = size_of(format);
  std::vector<std::byte> bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t code = is_short(format) ? reference::encode({format}, values[i]) : 0;
    const void* from = is_short(format) ? static_cast<const void*>(&code) : &values[i];
    std::memcpy(&bytes[i * size], from, size);
  }
  return bytes;
}

std::vector<float> values(Element format, const std::vector<std::byte>& bytes) {
  const std::size_t size = size_of(format);
  std::vector<float> values(bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t code = 0;
    void* to = is_short(format) ? static_cast<void*>(&code) : &values[i];
    std::memcpy(to, &bytes[i * size], size);
    if (is_short(format)) values[i] = reference::decode(format, code);
  }
  return values;
}

std::vector<float> drawn(std::size_t count, Element format, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> result(count);
  for (float& value : result)
    value = reference::round({format}, static_cast<float>(random() >> 8) * 0x1p-23f - 1.0f);
  return result;
}

Buffer::Buffer(simulator::Device& device, const char* name, const std::vector<std::byte>& bytes)
    : Buffer(device, name, bytes.size()) {
  device.copy_in(address_, bytes);
}

Buffer::Buffer(simulator::Device& device, const char* name, std::size_t size)
    : device_(device), size_(size), address_(device.allocate(size, name)) {}

std::vector<std::byte> Buffer::bytes() const {
  std::vector<std::byte> bytes(size_);
  device_.copy_out(bytes, address_);
  return bytes;
}

}  // namespace halftone::tests
