// SPDX-License-Identifier: Apache-2.0
#include "cache_command.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include "cache/cache_folder.hpp"
#include "cache/cache_settings.hpp"
#include "settings.hpp"

namespace halftone::tools {
namespace {

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string kernels(std::uint64_t count) { return counted(count, "kernel", "kernels"); }
std::string bytes(std::uint64_t count) { return counted(count, "byte", "bytes"); }

std::string left_in(const CacheSurvey& survey) {
  return kernels(survey.entries) + " of " + bytes(survey.bytes);
}

std::string stats_of(const CacheFolder& folder, const CacheSettings& settings) {
  const CacheSurvey survey = folder.survey();
  std::string text =
      folder.path() + ": " + left_in(survey) + ", limit " + bytes(settings.most_bytes) + "\n";
  if (survey.remains > 0) {
    text += counted(survey.remains, "file", "files") +
            " of processes that write or died while they did; prune takes old ones away\n";
  }
  if (survey.foreign > 0) {
    text += counted(survey.foreign, "name is", "names are") + " not the cache's, and left alone\n";
  }
  return text;
}

CacheReport verification_of(const CacheFolder& folder) {
  const std::vector<std::string> damaged = folder.damaged_entries();
  CacheReport report;
  for (const std::string& name : damaged) report.text += "damaged: " + name + "\n";
  report.sound = damaged.empty();
  report.text += folder.path() + ": " + left_in(folder.survey()) + ", " +
                 std::to_string(damaged.size()) + " damaged" +
                 (damaged.empty() ? "" : "; they are never used, and replaced when asked for") +
                 "\n";
  return report;
}

/// Throws where something that should have gone is still there.
void require_gone(const CacheFolder& folder, const CacheSurvey& survey) {
  if (survey.refused == 0) return;
  const bool one = survey.refused == 1;
  throw std::runtime_error(folder.path() + ": " + counted(survey.refused, "file", "files") +
                           " could not be taken away (" + (one ? "'" : "the first, '") +
                           survey.kept + "': " + std::generic_category().message(survey.failure) +
                           "), " + std::to_string(survey.evicted + survey.reaped) +
                           " were; remove " + (one ? "it" : "them") +
                           " by hand, or mend the folder's permissions");
}

std::string pruned(const CacheFolder& folder, const CacheSettings& settings) {
  const CacheSurvey survey = folder.sweep(settings.most_bytes);
  require_gone(folder, survey);
  return folder.path() + ": took away " + kernels(survey.evicted) + " and " +
         counted(survey.reaped, "file", "files") + " of dead processes; left are " +
         left_in(survey) + "\n";
}

std::string cleared(const CacheFolder& folder) {
  const CacheSurvey survey = folder.clear();
  require_gone(folder, survey);
  return folder.path() + ": took away " + kernels(survey.evicted) + " and " +
         counted(survey.reaped, "other file", "other files") + "\n";
}

/// Throws where the environment has said that nothing in the folder changes.
void require_changes(const CacheFolder& folder, const CacheSettings& settings, const char* task) {
  if (settings.mode != CacheMode::read_only) return;
  throw std::runtime_error(folder.path() +
                           ": nothing was taken away, since HALFTONE_CACHE is ro; "
                           "unset it to " +
                           task);
}

/// Null where nobody named the folder and no program has made it yet.
std::unique_ptr<CacheFolder> open(const CacheSettings& settings, bool named) {
  std::string reason = settings.without_folder;
  struct stat status {};
  if (!settings.folder.empty()) {
    if (::lstat(settings.folder.c_str(), &status) == -1 && errno == ENOENT) {
      if (!named) return nullptr;
      throw std::runtime_error("there is no folder '" + settings.folder +
                               "'; name another, or none for the one that programs use");
    }
    auto folder = CacheFolder::open(system_file_calls(), settings.folder, false, reason);
    if (folder) return folder;
  }
  throw std::runtime_error(reason);
}

}  // namespace

CacheReport look_after_cache(CacheTask task, const std::string& folder) {
  CacheEnvironment environment = cache_environment();
  if (!folder.empty()) environment.cache_dir = folder;
  const CacheSettings settings = cache_settings(environment);
  const auto opened = open(settings, !folder.empty());
  if (!opened) return {settings.folder + ": no kernels, since there is no folder yet\n"};
  switch (task) {
    case CacheTask::stats:
      return {stats_of(*opened, settings)};
    case CacheTask::verify:
      return verification_of(*opened);
    case CacheTask::prune:
      require_changes(*opened, settings, "prune");
      return {pruned(*opened, settings)};
    case CacheTask::clear:
      break;
  }
  require_changes(*opened, settings, "clear");
  return {cleared(*opened)};
}

}  // namespace halftone::tools
