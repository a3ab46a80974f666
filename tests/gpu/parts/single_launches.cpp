// SPDX-License-Identifier: Apache-2.0
#include "single_launches.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <random>
#include <set>

#include "halftone/encoding/traits.hpp"
#include "halftone/manifest/checksum.hpp"
#include "halftone/manifest/plan.hpp"
#include "halftone/manifest/spelling.hpp"
#include "halftone/reference/rounding.hpp"

namespace halftone::tests {

using manifest::Element, manifest::Phase, manifest::Role;

namespace {

std::size_t size_of(Element format) {
  return static_cast<std::size_t>(manifest::bytes_of(format, 1));
}

/// Of integers the integer that `value` is.
void put(Element format, float value, std::byte* at) {
  std::uint64_t code = 0;
  if (encoding::traits(format).integer) {
    code = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  } else if (size_of(format) < sizeof value) {
    code = reference::encode({format}, value);
  } else {
    code = std::bit_cast<std::uint32_t>(format == Element::tf32 ? reference::round({format}, value)
                                                                : value);
  }
  std::memcpy(at, &code, size_of(format));
}

std::uint64_t bits_at(Element format, const std::byte* at) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, size_of(format));
  return bits;
}

std::string shown(Element format, const std::byte* at) {
  const std::uint64_t bits = bits_at(format, at);
  const int digits = static_cast<int>(2 * size_of(format));
  char text[64];
  if (encoding::traits(format).integer) {
    std::snprintf(text, sizeof text, "0x%0*llx", digits, static_cast<unsigned long long>(bits));
  } else {
    const float value = size_of(format) < sizeof value
                            ? reference::decode(format, static_cast<std::uint16_t>(bits))
                            : std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    std::snprintf(text, sizeof text, "%.9g (0x%0*llx)", static_cast<double>(value), digits,
                  static_cast<unsigned long long>(bits));
  }
  return text;
}

void make_nans_equal(Element format, std::vector<std::byte>& bytes) {
  if (format != Element::f32 && format != Element::tf32) return;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    constexpr std::uint32_t kNan = 0x7fffffff;
    if ((bits_at(format, &bytes[at]) & kNan) > 0x7f800000)
      std::memcpy(&bytes[at], &kNan, sizeof kNan);
  }
}

}  // namespace

std::string Site::text() const {
  return std::string(manifest::spelled(phase)) + "/" + std::to_string(index) + " " + kernel;
}

SingleLaunches::SingleLaunches(const Artifact& artifact, const Device& device) {
  const std::vector<Binding> sizes = odd_sizes(artifact);
  const Setup setup{.model = "", .bindings = sizes, .seed = 5};
  for (const manifest::Program& program : artifact.manifest().programs) {
    programs_.push_back(
        std::make_unique<BoundProgram>("test", artifact, device, program.name, setup));
    programs_.back()->execution().prepare_accumulation();
  }
}

const manifest::Launch& SingleLaunches::launch(const Site& site) const {
  return program(site).plan().launches(site.phase)[site.index];
}

bool SingleLaunches::has_free_sums(const BoundProgram& program, const manifest::Launch& launch) {
  return std::ranges::any_of(program.manifest().cuda, [&](const manifest::CudaTarget& target) {
    const auto& plans = target.kernels[static_cast<std::size_t>(launch.kernel)].plans;
    return !plans.empty() && plans.front().name.starts_with("tensor");
  });
}

std::vector<Site> SingleLaunches::sites() const {
  std::vector<Site> sites;
  std::map<std::string, std::size_t> first;  // by kernel: the program that launches it first
  for (std::size_t number = 0; number < programs_.size(); ++number) {
    const BoundProgram& program = *programs_[number];
    for (std::size_t each = 0; each < manifest::kPhases; ++each) {
      const auto phase = static_cast<Phase>(each);
      const auto launches = program.plan().launches(phase);
      for (std::size_t i = 0; i < launches.size(); ++i) {
        const std::string& kernel = program.plan().kernel(launches[i]).name;
        if (first.try_emplace(kernel, number).first->second != number) continue;
        sites.push_back({number, phase, i, kernel, has_free_sums(program, launches[i])});
      }
    }
  }
  return sites;
}

std::vector<std::size_t> SingleLaunches::buffers(const Site& site) const {
  std::set<std::size_t> buffers;
  for (const manifest::Argument& argument : launch(site).arguments)
    buffers.insert(static_cast<std::size_t>(argument.buffer));
  return {buffers.begin(), buffers.end()};
}

void SingleLaunches::fill(const Site& site, std::size_t buffer, std::uint64_t seed) {
  BoundProgram& program = this->program(site);
  std::mt19937_64 random(seed * 1000003 + buffer);
  const Element format = program.plan().buffer(buffer).encoding.element;
  std::vector<std::byte> bytes(static_cast<std::size_t>(program.plan().bytes(buffer)));
  for (std::size_t at = 0; at < bytes.size(); at += size_of(format)) {
    const std::uint64_t drawn = random();
    const float label = static_cast<float>(drawn % 2);
    const float value = site.free_sums ? static_cast<float>(static_cast<int>(drawn % 9) - 4) / 4
                                       : static_cast<float>(drawn >> 40) * 0x1p-23f - 1.0f;
    put(format, encoding::traits(format).integer ? label : value, &bytes[at]);
  }
  program.execution().write(buffer, 0, bytes);
}

Contents SingleLaunches::run(const Site& site, std::uint64_t seed) {
  BoundProgram& program = this->program(site);
  const std::vector<std::size_t> buffers = this->buffers(site);
  // Working copies that are stale are made of these before the launch.
  const auto& all = program.program().buffers;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].role == Role::parameters) fill(site, i, seed);
  for (const std::size_t buffer : buffers)
    if (program.plan().buffer(buffer).role != Role::hyperparameter) fill(site, buffer, seed);
  program.run(site.phase, site.index);
  Contents contents;
  for (const std::size_t buffer : buffers) {
    const std::byte* begin = program.execution().read(buffer);
    std::vector<std::byte> bytes(begin, begin + program.plan().bytes(buffer));
    make_nans_equal(program.plan().buffer(buffer).encoding.element, bytes);
    contents[buffer] = std::move(bytes);
  }
  return contents;
}

std::string SingleLaunches::difference(const Site& site, const Contents& wanted,
                                       const Contents& got) const {
  std::string first;
  std::size_t differing = 0, elements = 0;
  for (const auto& [buffer, bytes] : wanted) {
    const manifest::Buffer& described = program(site).plan().buffer(buffer);
    const std::size_t each = size_of(described.encoding.element);
    const std::vector<std::byte>& others = got.at(buffer);
    for (std::size_t at = 0; at < bytes.size(); at += each, ++elements) {
      if (std::memcmp(&bytes[at], &others[at], each) == 0) continue;
      if (differing++ == 0)
        first = site.text() + ", buffer '" + described.name + "', element " +
                std::to_string(at / each) + ": expected " +
                shown(described.encoding.element, &bytes[at]) + ", got " +
                shown(described.encoding.element, &others[at]);
    }
  }
  if (differing == 0) return "";
  return first + "; " + std::to_string(differing) + " of " + std::to_string(elements) + " differ";
}

std::string digest(const Contents& contents) {
  std::vector<std::byte> all;
  for (const auto& [buffer, bytes] : contents) all.insert(all.end(), bytes.begin(), bytes.end());
  std::string text;
  for (const auto byte : manifest::checksum_of(all)) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(byte));
    text += digits;
  }
  return text;
}

}  // namespace halftone::tests
