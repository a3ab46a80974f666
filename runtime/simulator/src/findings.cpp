// SPDX-License-Identifier: Apache-2.0
#include "findings.hpp"

#include <algorithm>

namespace halftone::simulator {

std::string_view spelling(Kind kind) {
  switch (kind) {
    case Kind::out_of_bounds:
      return "out of bounds";
    case Kind::misaligned:
      return "misaligned";
    case Kind::uninitialised:
      return "uninitialised read";
    case Kind::read_only:
      return "write to read-only memory";
    case Kind::race:
      return "race";
    case Kind::in_flight:
      return "asynchronous operation in flight";
    case Kind::missing_fence:
      return "missing proxy fence";
    case Kind::divergent_barrier:
      return "divergent barrier";
    case Kind::divergent_warp:
      return "divergent warp";
    case Kind::inactive_lane:
      return "value of an inactive lane";
    case Kind::mismatched_barrier:
      return "mismatched barrier";
    case Kind::misused_barrier:
      return "misused mbarrier";
    case Kind::unfinished:
      return "unfinished asynchronous work";
    case Kind::deadlock:
      return "deadlock";
    case Kind::no_progress:
      return "no progress";
    case Kind::launch_limit:
      return "launch beyond the chip";
    case Kind::trap:
      return "trap";
    case Kind::invalid:
      return "invalid operand";
  }
  return "";
}

std::string Finding::text() const {
  std::string sentence = kernel + ": " + std::string(spelling(kind));
  if (kind == Kind::launch_limit) return sentence + ": " + detail;
  sentence += ": " + opcode;
  if (line != 0) sentence += " at line " + std::to_string(line);
  for (std::size_t i = 0; i < callers.size(); ++i)
    sentence += (i == 0 ? " (inlined at " : ", ") + std::to_string(callers[i]);
  if (!callers.empty()) sentence += ")";
  sentence += " by thread " + std::to_string(thread) + " of block (" + std::to_string(block.x) +
              ", " + std::to_string(block.y) + ", " + std::to_string(block.z) + ")";
  if (!space.empty()) {
    sentence += ", byte " + std::to_string(static_cast<std::int64_t>(offset)) + " of " + space;
    sentence += buffer.empty() ? " memory" : " buffer '" + buffer + "'";
  }
  if (other_line != 0)
    sentence += ", against line " + std::to_string(other_line) + " by thread " +
                std::to_string(other_thread);
  if (!detail.empty()) sentence += "; " + detail;
  if (count > 1) sentence += " (" + std::to_string(count) + " times)";
  return sentence;
}

Findings::Entry* Findings::find(const Finding& finding) {
  const auto known = std::ranges::find_if(entries_, [&](const Entry& entry) {
    const Finding& f = entry.finding;
    return f.kind == finding.kind && f.ptx_line == finding.ptx_line && f.line == finding.line &&
           f.other_line == finding.other_line && f.space == finding.space &&
           f.buffer == finding.buffer;
  });
  return known == entries_.end() ? nullptr : &*known;
}

void Findings::add(Finding finding) {
  if (Entry* known = find(finding)) {
    ++known->finding.count;
  } else if (entries_.size() < most_) {
    entries_.push_back({std::move(finding), block_number, entries_.size()});
  }
}

void Findings::merge(Findings& other) {
  for (Entry& entry : other.entries_) {
    Entry* const known = find(entry.finding);
    if (!known) {
      entries_.push_back(std::move(entry));
      continue;
    }
    const std::uint64_t count = known->finding.count + entry.finding.count;
    if (entry.block < known->block) *known = std::move(entry);
    known->finding.count = count;
  }
}

std::vector<Finding> Findings::take() {
  std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
    return a.block != b.block ? a.block < b.block : a.order < b.order;
  });
  std::vector<Finding> findings;
  for (Entry& entry : entries_)
    if (findings.size() < most_) findings.push_back(std::move(entry.finding));
  entries_.clear();
  return findings;
}

}  // namespace halftone::simulator
