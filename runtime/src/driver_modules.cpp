// SPDX-License-Identifier: Apache-2.0
#include "driver_modules.hpp"

#include <exception>
#include <map>
#include <memory>

#include "halftone/error.hpp"
#include "text.hpp"
#include "thread_pool.hpp"

namespace halftone {
namespace {

struct Job {
  std::string name;  ///< the first kernel's
  std::shared_ptr<const std::string> image;
  std::exception_ptr failure;
};

/// Compiles every text of `jobs`; throws what the first of them threw.
void compile(std::map<std::int32_t, Job>& jobs, const ProgramPlan& plan, DriverContext& context) {
  const std::vector<std::string>& texts = plan.packed()->texts;
  std::vector<std::pair<std::int32_t, Job*>> list;
  for (auto& [text, job] : jobs) list.emplace_back(text, &job);
  plan.device().pool().run(static_cast<std::int64_t>(list.size()),
                           [&](std::int64_t first, std::int64_t last) {
                             for (std::int64_t i = first; i < last; ++i) {
                               const auto& [text, job] = list[static_cast<std::size_t>(i)];
                               try {
                                 job->image = context.image(texts[static_cast<std::size_t>(text)],
                                                            job->name, plan.architecture());
                               } catch (...) {
                                 job->failure = std::current_exception();
                               }
                             }
                           });
  for (const auto& [text, job] : list) {
    if (job->failure) std::rethrow_exception(job->failure);
  }
}

/// What was compiled ahead of time for every text of `jobs`.
void take(std::map<std::int32_t, Job>& jobs, const ProgramPlan& plan) {
  for (auto& [text, job] : jobs) {
    const std::string* image = plan.packed()->find(text, plan.architecture());
    if (!image) {
      throw Error({.operation = plan.who(),
                   .object = named("kernel", job.name),
                   .cause = "was not compiled ahead of time for " + plan.architecture() +
                            ", as others were",
                   .hint = "make the artifact again with halftonec, or set HALFTONE_JIT=first"});
    }
    job.image = std::shared_ptr<const std::string>(plan.packed(), image);
  }
}

}  // namespace

DriverModules::DriverModules(const ProgramPlan& plan, DriverContext& context,
                             std::span<const std::size_t> kernels)
    : functions_(plan.manifest().kernels.size()) {
  const manifest::CudaTarget& target = *plan.target();
  std::map<std::int32_t, Job> jobs;
  for (std::size_t kernel : kernels) {
    jobs.try_emplace(target.kernels[kernel].text, Job{target.kernels[kernel].entry, {}, {}});
  }
  if (plan.ahead()) {
    take(jobs, plan);
  } else {
    compile(jobs, plan, context);
  }
  std::map<std::int32_t, DriverModule> loaded;
  for (const auto& [text, job] : jobs) {
    DriverModule module{};
    context.run(plan.who(), named("kernel", job.name),
                [&](Driver& driver) { return driver.load(*job.image, job.name, module); });
    modules_.emplace_back(context.driver(), module);
    loaded[text] = module;
  }
  for (std::size_t kernel : kernels) {
    const manifest::CudaKernel& cuda = target.kernels[kernel];
    context.run(plan.who(), named("kernel", cuda.entry), [&](Driver& driver) {
      return driver.find(loaded[cuda.text], cuda.entry,
                         static_cast<std::uint32_t>(cuda.shared_bytes), functions_[kernel]);
    });
  }
}

}  // namespace halftone
