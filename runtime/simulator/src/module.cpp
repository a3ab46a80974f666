// SPDX-License-Identifier: Apache-2.0
#include "halftone/simulator/module.hpp"

#include <algorithm>

#include "decode.hpp"
#include "halftone/simulator/error.hpp"

namespace halftone::simulator {

Module Module::parse(std::string_view ptx, std::string_view name) {
  auto program = std::make_shared<Program>();
  program->text = ptx;
  program->name = name;
  program->syntax = syntax::parse(program->text);
  for (const syntax::Function& function : program->syntax.functions)
    if (function.entry)
      program->kernels.emplace(function.name, build_kernel(program->syntax, function));
  Module module;
  module.program_ = std::move(program);
  return module;
}

std::vector<std::string> Module::entries() const {
  std::vector<std::string> names;
  for (const auto& [name, kernel] : program_->kernels) names.push_back(name);
  return names;
}

Entry Module::entry(std::string_view name) const {
  const auto found = program_->kernels.find(name);
  if (found == program_->kernels.end())
    throw Error("module '" + program_->name + "' has no entry '" + std::string(name) + "'");
  const Kernel& kernel = found->second;
  Entry entry{kernel.name, {}, kernel.static_shared_bytes, kernel.local_bytes, kernel.most_threads};
  for (const Parameter& parameter : kernel.parameters)
    entry.parameter_bytes.push_back(parameter.bytes);
  return entry;
}

std::vector<Variable> Module::variables() const {
  std::vector<Variable> variables;
  for (const syntax::Variable& v : program_->syntax.variables)
    if (v.space != "shared") variables.push_back({std::string(v.name), size_of(v)});
  return variables;
}

std::string_view Module::target() const { return program_->syntax.target; }

}  // namespace halftone::simulator
