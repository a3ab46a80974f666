// SPDX-License-Identifier: Apache-2.0
// A file in memory, in the two parts that it is written in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/error.hpp"
#include "header.hpp"

namespace halftone {

struct Snapshot {
  std::string header;  ///< safetensors::print() of what add() was given
  std::vector<std::byte> tensors;

  /// For so many bytes of tensors; throws Error where the host has no memory for them.
  void reserve(const char* operation, std::size_t bytes) {
    try {
      tensors.reserve(bytes);
    } catch (const std::exception&) {
      throw Error({.operation = operation,
                   .object = "a copy of what the file will hold",
                   .cause = "needs " + std::to_string(bytes) + " bytes of the host's memory",
                   .hint = "free memory"});
    }
  }

  /// One more tensor behind the others, there and in `described`.
  void add(safetensors::Header& described, std::string name, std::string type,
           std::vector<std::int64_t> shape, std::span<const std::byte> bytes) {
    const std::uint64_t begin = tensors.size();
    tensors.insert(tensors.end(), bytes.begin(), bytes.end());
    described.tensors.push_back(
        {std::move(name), std::move(type), std::move(shape), begin, tensors.size()});
  }

  /// Valid while the snapshot lives.
  [[nodiscard]] std::array<std::string_view, 2> parts() const {
    return {header, {reinterpret_cast<const char*>(tensors.data()), tensors.size()}};
  }
};

}  // namespace halftone
