// SPDX-License-Identifier: Apache-2.0
// A parsed PTX text. It is immutable and may be launched on several devices and from several
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/simulator/error.hpp"

namespace halftone::simulator {

struct Program;  // what the parser makes; private to the library

/// What a launch has to know of an entry.
struct Entry {
  std::string name;
  std::vector<std::uint32_t> parameter_bytes;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0;   ///< per thread
  std::uint32_t most_threads = 0;  ///< .maxntid or .reqntid, or 0
};

/// A variable of global or constant memory that the module declares.
struct Variable {
  std::string name;
  std::uint64_t bytes = 0;
};

class Module {
 public:
  /// Reads a PTX text; `name` is what messages call it. Throws Error with the line and, inside a
  /// kernel, its name, when the text is malformed or has an opcode that the simulator lacks.
  static Module parse(std::string_view ptx, std::string_view name);

  [[nodiscard]] std::vector<std::string> entries() const;
  /// Throws Error when the module has no such entry.
  [[nodiscard]] Entry entry(std::string_view name) const;
  [[nodiscard]] std::vector<Variable> variables() const;
  [[nodiscard]] std::string_view target() const;  ///< as in the text: sm_80

  [[nodiscard]] const std::shared_ptr<const Program>& program() const noexcept { return program_; }

 private:
  std::shared_ptr<const Program> program_;
};

}  // namespace halftone::simulator
