// SPDX-License-Identifier: Apache-2.0
#include "driver_modules.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "halftone/error.hpp"
#include "text.hpp"
#include "thread_pool.hpp"

namespace halftone {
namespace {

/// Compiles every text of `images`, the longest first; throws what the longest that failed threw.
void compile(KernelImages& images, const ProgramPlan& plan, DriverContext& context) {
  struct Job {
    const std::string* text;
    KernelImage* image;
    std::exception_ptr failure = {};
  };
  std::vector<Job> jobs;
  for (auto& [text, image] : images) {
    jobs.push_back({&plan.packed()->texts[static_cast<std::size_t>(text)], &image});
  }
  std::ranges::sort(jobs, {},
                    [](const Job& job) { return std::pair(-std::ssize(*job.text), job.text); });
  plan.device().pool().run_in_turn(std::ssize(jobs), [&](std::int64_t i) {
    Job& job = jobs[static_cast<std::size_t>(i)];
    try {
      job.image->bytes = context.image(*job.text, job.image->name, plan.architecture());
    } catch (...) {
      job.failure = std::current_exception();
    }
  });
  for (const Job& job : jobs) {
    if (job.failure) std::rethrow_exception(job.failure);
  }
}

/// What was compiled ahead of time for every text of `images`.
void take(KernelImages& images, const ProgramPlan& plan) {
  for (auto& [text, image] : images) {
    const std::string* bytes = plan.packed()->find(text, plan.architecture());
    if (!bytes) {
      throw Error({.operation = plan.who(),
                   .object = named("kernel", image.name),
                   .cause = "was not compiled ahead of time for " + plan.architecture() +
                            ", as others were",
                   .hint = "make the artifact again with halftonec, or set HALFTONE_JIT=first"});
    }
    image.bytes = std::shared_ptr<const std::string>(plan.packed(), bytes);
  }
}

}  // namespace

KernelImages texts_of(const ProgramPlan& plan, std::span<const std::size_t> kernels) {
  KernelImages images;
  for (std::size_t kernel : kernels) {
    const manifest::CudaKernel& cuda = plan.target()->kernels[kernel];
    images.try_emplace(cuda.text, KernelImage{cuda.entry, nullptr});
  }
  return images;
}

KernelImages images_of(const ProgramPlan& plan, DriverContext& context,
                       std::span<const std::size_t> kernels) {
  KernelImages images = texts_of(plan, kernels);
  if (plan.ahead()) {
    take(images, plan);
  } else {
    compile(images, plan, context);
  }
  return images;
}

DriverModules::DriverModules(const ProgramPlan& plan, DriverContext& context,
                             std::span<const std::size_t> kernels, const KernelImages& images)
    : functions_(plan.manifest().kernels.size()) {
  std::map<std::int32_t, DriverModule> loaded;
  modules_.reserve(images.size());  // each has its owner at once
  for (const auto& [text, image] : images) {
    DriverModule module{};
    context.run(plan.who(), named("kernel", image.name),
                [&](Driver& driver) { return driver.load(*image.bytes, image.name, module); });
    modules_.emplace_back(context.driver(), module);
    loaded[text] = module;
  }
  for (std::size_t kernel : kernels) {
    const manifest::CudaKernel& cuda = plan.target()->kernels[kernel];
    context.run(plan.who(), named("kernel", cuda.entry), [&](Driver& driver) {
      return driver.find(loaded[cuda.text], cuda.entry,
                         static_cast<std::uint32_t>(cuda.shared_bytes), functions_[kernel]);
    });
  }
}

}  // namespace halftone
