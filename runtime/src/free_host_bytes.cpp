// SPDX-License-Identifier: Apache-2.0
#include "free_host_bytes.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include "driver_context.hpp"
#include "halftone/device.hpp"
#include "halftone/error.hpp"
#include "text.hpp"

namespace halftone {
namespace {

/// The number behind `key` in a file of lines "key number".
std::optional<std::int64_t> number_of(const std::filesystem::path& file, std::string_view key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key) || line.size() == key.size() || line[key.size()] != ' ') continue;
    try {
      return std::stoll(line.substr(key.size()));
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// A file's one number; nothing where it is "max".
std::optional<std::int64_t> number_of(const std::filesystem::path& file) {
  std::ifstream text(file);
  std::int64_t number = 0;
  return text >> number ? std::optional(number) : std::nullopt;
}

/// "/user.slice/job" of the line "0::/user.slice/job".
std::filesystem::path control_group(const std::filesystem::path& root) {
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("0::/")) return line.substr(4);
  return {};
}

}  // namespace

std::optional<std::int64_t> free_host_bytes(const std::filesystem::path& root) {
  const std::optional<std::int64_t> kib = number_of(root / "proc/meminfo", "MemAvailable:");
  if (!kib) return std::nullopt;
  std::int64_t least = *kib * 1024;
  const std::filesystem::path all = root / "sys/fs/cgroup";
  for (std::filesystem::path group = all / control_group(root);; group = group.parent_path()) {
    const auto most = number_of(group / "memory.max"), used = number_of(group / "memory.current");
    if (most && used) {
      const std::int64_t unused = number_of(group / "memory.stat", "inactive_file").value_or(0);
      least = std::clamp<std::int64_t>(*most - *used + unused, 0, least);
    }
    if (group == all || group == group.parent_path()) break;
  }
  return least;
}

// Here, so that a program that does not ask links none of this.
std::int64_t Device::free_bytes() const {
  constexpr const char* kOperation = "ask for free memory";
  std::optional<std::int64_t> bytes;
  if (driver())
    driver()->run(kOperation, named("device", name()),
                  [&](Driver& driver) { return driver.free_memory(bytes); });
  if (!bytes) bytes = free_host_bytes();
  if (bytes) return *bytes;
  throw Error({.operation = kOperation,
               .object = named("device", name()),
               .cause = "is not told by the system, since /proc/meminfo cannot be read",
               .hint = "mount /proc"});
}

}  // namespace halftone
