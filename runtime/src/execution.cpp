// SPDX-License-Identifier: Apache-2.0
#include "execution.hpp"

#include "cpu_execution.hpp"
#include "driver_execution.hpp"
#include "halftone/manifest/spelling.hpp"

namespace halftone {

std::vector<std::size_t> kept_buffers(const ProgramPlan& plan) {
  std::vector<std::size_t> kept;
  if (plan.launches(manifest::Phase::update).empty()) return kept;
  for (std::size_t i = 0; i < plan.program().buffers.size(); ++i) {
    const manifest::Buffer& buffer = plan.buffer(i);
    if (buffer.role == manifest::Role::state || manifest::scales_passes(buffer)) kept.push_back(i);
  }
  return kept;
}

OutcomeBuffers outcome_buffers(const ProgramPlan& plan) {
  const bool dynamic = plan.manifest().loss_scale.kind == manifest::LossScale::Kind::dynamic;
  return {plan.find("finite"), dynamic ? plan.find("loss_scale.floored") : std::nullopt};
}

std::unique_ptr<Execution> make_execution(const ProgramPlan& plan) {
  const ProgramPlan* const plans[] = {&plan};
  return std::move(make_executions(plans).front());
}

std::vector<std::unique_ptr<Execution>> make_executions(std::span<const ProgramPlan* const> plans) {
  std::vector<std::unique_ptr<Execution>> executions;
  if (plans.front()->device().driver()) {
    const DriverExecution* first = nullptr;
    for (const ProgramPlan* plan : plans) {
      auto execution = std::make_unique<DriverExecution>(*plan, plans, first);
      if (!first) first = execution.get();
      executions.push_back(std::move(execution));
    }
    return executions;
  }
  const auto memory = std::make_shared<CpuMemory>(plans.front()->device().memory());
  std::vector<CpuExecution*> all;
  for (const ProgramPlan* plan : plans) {
    auto execution = std::make_unique<CpuExecution>(*plan, memory);
    all.push_back(execution.get());
    executions.push_back(std::move(execution));
  }
  for (CpuExecution* execution : all) execution->start();
  return executions;
}

}  // namespace halftone
