// SPDX-License-Identifier: Apache-2.0
#include "kernel_sample.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "digest.hpp"

namespace halftone::tests {
namespace {

/// What is the kernel's own, behind the headers that all of its skeleton share.
std::size_t body_bytes(const std::string& text) {
  const std::size_t body = text.rfind("struct Body {");
  return text.size() - (body == text.npos ? 0 : body);
}

bool is_comment(const std::string& line) { return line.empty() || line.front() == '#'; }

}  // namespace

TextDigests digests_of(const std::vector<KernelJob>& jobs) {
  std::map<const std::string*, std::set<std::string>> chips;
  for (const KernelJob& job : jobs) chips[job.text].insert(job.chip);
  TextDigests digests;
  for (const auto& [text, names] : chips) {
    std::string all = *text;
    for (const std::string& name : names) all += "\n" + name;
    digests[text] = digest_of(all);
  }
  return digests;
}

std::set<std::string> parse_known(const std::string& text, const std::string& judge) {
  std::set<std::string> known;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line) && is_comment(line)) {
  }
  if (line != judge) return known;
  while (std::getline(lines, line))
    if (!is_comment(line)) known.insert(line);
  return known;
}

std::string text_of_known(const std::string& old, const std::string& judge,
                          const TextDigests& digests) {
  std::ostringstream text;
  std::istringstream lines(old);
  for (std::string line; std::getline(lines, line) && is_comment(line);) text << line << "\n";
  text << judge << "\n";
  std::set<std::string> sorted;
  for (const auto& [_, digest] : digests) sorted.insert(digest);
  for (const std::string& digest : sorted) text << digest << "\n";
  return text.str();
}

KernelSample sample_of(const std::vector<KernelJob>& jobs, const std::set<std::string>& known,
                       std::set<std::string> chips, std::size_t most) {
  KernelSample sample{.chips = std::move(chips)};
  const TextDigests digests = digests_of(jobs);
  std::set<const std::string*> unknown;
  for (const auto& [text, digest] : digests)
    if (!known.contains(digest)) unknown.insert(text);
  sample.unknown = unknown.size();
  sample.stands_for_all = unknown.size() > most;
  if (sample.stands_for_all) unknown.clear();

  std::map<std::pair<std::string, std::string>, std::pair<std::size_t, std::size_t>> ends;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto [at, is_first] = ends.try_emplace({shape_of(*jobs[i].text), jobs[i].chip}, i, i);
    if (is_first) continue;
    auto& [narrowest, largest] = at->second;
    const std::size_t bytes = body_bytes(*jobs[i].text);
    if (bytes < body_bytes(*jobs[narrowest].text)) narrowest = i;
    if (bytes > body_bytes(*jobs[largest].text)) largest = i;
  }
  std::set<std::size_t> stand_for_others;
  for (const auto& [_, both] : ends) stand_for_others.insert({both.first, both.second});

  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (unknown.contains(jobs[i].text) ||
        (stand_for_others.contains(i) && sample.chips.contains(jobs[i].chip)))
      sample.tried.push_back(jobs[i]);
  }
  sample.left_out = jobs.size() - sample.tried.size();
  return sample;
}

}  // namespace halftone::tests
