// SPDX-License-Identifier: Apache-2.0
#include "driver_modules.hpp"

#include <exception>
#include <map>
#include <memory>

#include "dispatch.hpp"
#include "halftone/error.hpp"
#include "halftone/manifest/texts.hpp"
#include "text.hpp"
#include "thread_pool.hpp"

namespace halftone {
namespace {

std::vector<std::string> texts_of(const Artifact& artifact, const char* who) {
  const manifest::ArtifactImage& image = artifact.image();
  std::vector<std::string> texts;
  manifest::DecodeError error;
  const auto count = static_cast<std::size_t>(artifact.manifest().text_count);
  const bool read = manifest::unpack_texts({image.texts, image.text_bytes}, texts, error);
  if (read && texts.size() == count) return texts;
  throw Error({.operation = who,
               .object = named("model", artifact.manifest().model),
               .cause = "has damaged kernel texts: " +
                        (read ? "their number is not the manifest's" : error.message),
               .hint = "make the artifact again with halftonec"});
}

struct Job {
  std::string name;  ///< the first kernel's
  std::shared_ptr<const std::string> image;
  std::exception_ptr failure;
};

/// Compiles every text of `jobs`; throws what the first of them threw.
void compile(std::map<std::int32_t, Job>& jobs, const std::vector<std::string>& texts,
             const std::string& architecture, DriverContext& context, ThreadPool& pool) {
  std::vector<std::pair<std::int32_t, Job*>> list;
  for (auto& [text, job] : jobs) list.emplace_back(text, &job);
  pool.run(static_cast<std::int64_t>(list.size()), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const auto& [text, job] = list[static_cast<std::size_t>(i)];
      try {
        job->image = context.image(texts[static_cast<std::size_t>(text)], job->name, architecture);
      } catch (...) {
        job->failure = std::current_exception();
      }
    }
  });
  for (const auto& [text, job] : list) {
    if (job->failure) std::rethrow_exception(job->failure);
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
  compile(jobs, texts_of(plan.artifact(), plan.who()),
          architecture_for(context.properties().chip, target.chip), context, plan.device().pool());
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
