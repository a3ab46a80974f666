// SPDX-License-Identifier: Apache-2.0
#include "device_word.hpp"

#include <charconv>
#include <string_view>

#include "cuda/cuda_device.hpp"
#include "dispatch.hpp"
#include "halftone/error.hpp"
#include "processor.hpp"
#include "settings.hpp"
#include "simulated/simulated_device.hpp"
#include "text.hpp"

namespace halftone {
namespace {

/// A whole number that is not negative.
std::optional<int> number_of(std::string_view digits) {
  int number = 0;
  const auto [stop, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = failure == std::errc{} && stop == digits.data() + digits.size();
  return whole && number >= 0 ? std::optional(number) : std::nullopt;
}

/// "name=h200,chip=sm_90,memory=80", each at most once. False for anything else.
bool read_wish(std::string_view text, DeviceWord& wish) {
  while (true) {
    const std::string_view part = text.substr(0, text.find(','));
    const std::string_view key = part.substr(0, part.find('='));
    if (key.size() == part.size()) return false;
    const std::string_view value = part.substr(key.size() + 1);
    const auto gib = number_of(value);
    if (key == "name" && wish.name.empty() && !value.empty()) {
      wish.name = value;
    } else if (key == "chip" && wish.chip.empty() && parse_chip(value)) {
      wish.chip = value;
    } else if (key == "memory" && wish.memory_bytes == 0 && gib && *gib > 0) {
      wish.memory_bytes = std::int64_t{*gib} << 30;
    } else {
      return false;
    }
    if (part.size() == text.size()) return true;
    text.remove_prefix(part.size() + 1);
  }
}

}  // namespace

std::optional<DeviceWord> device_word() {
  DeviceWord word;
  word.text = device_setting();
  if (word.text.empty()) return std::nullopt;
  const auto behind = [&](std::string_view prefix) {
    return std::string_view(word.text).substr(prefix.size());
  };
  if (word.text == "cpu") return word;
  if (word.text.starts_with("cpu:")) {
    word.detail = behind("cpu:");
    return word;
  }
  if (word.text.starts_with("simulated:")) {
    word.kind = DeviceWord::Kind::simulated;
    word.detail = behind("simulated:");
    return word;
  }
  if (word.text.starts_with("cuda:")) {
    word.kind = DeviceWord::Kind::gpu;
    word.index = number_of(behind("cuda:"));
    if (word.index || read_wish(behind("cuda:"), word)) return word;
  }
  throw Error({.operation = "settings",
               .object = "HALFTONE_DEVICE",
               .cause = "is '" + word.text + "'",
               .hint = "give 'cpu', 'cpu:<variant>' (this processor runs " +
                       listed(runnable_variants(this_processor())) +
                       "), 'cuda:<index>', 'cuda:name=<part>,chip=<sm_..>,memory=<GiB>' or "
                       "'simulated:<chip>', or unset it"});
}

void require_device(const DeviceWord& word) {
  switch (word.kind) {
    case DeviceWord::Kind::cpu:
      if (word.detail) require_variant(this_processor(), *word.detail);
      return;
    case DeviceWord::Kind::simulated:
      return require_simulated_chip(*word.detail);
    case DeviceWord::Kind::gpu:
      break;
  }
  (void)(word.index ? require_gpu(*word.index) : require_gpu(word.gpu()));
}

}  // namespace halftone
