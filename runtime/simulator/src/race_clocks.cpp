// SPDX-License-Identifier: Apache-2.0
#include "race_clocks.hpp"

#include <algorithm>
#include <set>

namespace halftone::simulator {
namespace {

using Visited = std::set<std::pair<const Log*, std::uint32_t>>;

}  // namespace

Row joined(const Row& a, const Row& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  auto both = std::make_shared<Times>(*a);
  for (std::size_t i = 0; i < both->size(); ++i) (*both)[i] = std::max((*both)[i], (*b)[i]);
  return both;
}

Foreign joined(const Foreign& a, const Foreign& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  auto both = std::make_shared<std::vector<Seen>>(*a);
  for (const Seen& seen : *b) {
    const auto known = std::ranges::find(*both, seen.log, &Seen::log);
    if (known == both->end())
      both->push_back(seen);
    else
      known->length = std::max(known->length, seen.length);
  }
  return both;
}

Message joined(const Message& a, const Message& b) {
  if (!a.row) return b;
  return {a.block, std::max(a.base, b.base), joined(a.row, b.row), joined(a.foreign, b.foreign)};
}

void Log::append(const Message& message) {
  std::vector<std::uint32_t>& places = places_[message.block];
  if (!places.empty() && places.back() + 1 == entries_.size() && seen_ < entries_.size()) {
    entries_.back() = joined(entries_.back(), message);
  } else {
    entries_.push_back(places.empty() ? message : joined(entries_[places.back()], message));
    places.push_back(length() - 1);
  }
  if (!message.foreign) return;
  for (const Seen& seen : *message.foreign)
    if (seen.log != this) links_.push_back({length() - 1, seen});
}

const Message* Log::find(std::uint32_t block, std::uint32_t length) const {
  const auto places = places_.find(block);
  if (places == places_.end()) return nullptr;
  const auto past = std::ranges::lower_bound(places->second, length);
  return past == places->second.begin() ? nullptr : &entries_[*(past - 1)];
}

Seen Log::see() {
  seen_ = length();
  return {this, seen_};
}

bool Log::knows(std::uint32_t length, std::uint32_t block, std::uint32_t thread,
                std::uint32_t time) const {
  Visited visited;
  std::vector<Seen> left = {{this, length}};
  while (!left.empty()) {
    const Seen at = left.back();
    left.pop_back();
    if (!visited.insert({at.log, at.length}).second) continue;
    if (const Message* message = at.log->find(block, at.length)) {
      const Times& row = *message->row;
      if (row[thread] >= time || (thread + kAgents < row.size() && time <= message->base))
        return true;
    }
    for (const Link& link : at.log->links_)
      if (link.position < at.length) left.push_back(link.seen);
  }
  return false;
}

BlockClocks::BlockClocks(std::uint32_t number, std::uint32_t threads)
    : number_(number), threads_(threads), synced_((threads + 31) / 32, 0), lanes_(threads) {}

bool BlockClocks::knows_foreign(std::uint32_t thread, std::uint32_t block, std::uint32_t other,
                                std::uint32_t time) const {
  for (const Foreign* foreign : {&foreign_, &lanes_[thread].foreign}) {
    if (!*foreign) continue;
    for (const Seen& seen : **foreign)
      if (seen.log->knows(seen.length, block, other, time)) return true;
  }
  return false;
}

Message BlockClocks::publish(std::uint32_t warp, std::uint32_t mask) {
  Row row;
  Foreign foreign = foreign_;
  each_lane_of(mask, [&](std::uint32_t l) {
    row = joined(row, lanes_[warp * 32 + l].row);
    foreign = joined(foreign, lanes_[warp * 32 + l].foreign);
  });
  auto times = row ? std::make_shared<Times>(*row) : std::make_shared<Times>(threads_ + kAgents, 0);
  for (std::uint32_t l = 0; l < 32 && warp * 32 + l < threads_; ++l) {
    std::uint32_t& time = (*times)[warp * 32 + l];
    time = std::max(time, mask >> l & 1 ? now_ : synced_[warp]);
  }
  add_agents(*times, agents_);
  ++now_;
  return {number_, base_, std::move(times), std::move(foreign)};
}

void BlockClocks::receive(std::uint32_t warp, std::uint32_t mask, const Message& message) {
  plain_ = false;
  Row before, after;  // of the previous lane: lanes of a warp mostly share one row
  bool first = true;
  each_lane_of(mask, [&](std::uint32_t l) {
    Lane& lane = lanes_[warp * 32 + l];
    if (first || lane.row != before) {
      before = lane.row;
      after = joined(lane.row, message.row);
      first = false;
    }
    lane.row = after;
    lane.foreign = joined(lane.foreign, message.foreign);
  });
}

void BlockClocks::receive(std::uint32_t warp, std::uint32_t mask, Seen known) {
  if (known.length == 0) return;
  if (const Message* own = known.log->find(number_, known.length)) receive(warp, mask, *own);
  if (known.log->only(number_)) return;
  plain_ = false;
  const Foreign seen = std::make_shared<const std::vector<Seen>>(1, known);
  each_lane_of(mask, [&](std::uint32_t l) {
    Lane& lane = lanes_[warp * 32 + l];
    lane.foreign = joined(lane.foreign, seen);
  });
}

void BlockClocks::full_barrier() {
  base_ = now_++;
  if (plain_) return;
  Times agents = agents_ ? *agents_ : Times(kAgents, 0);
  const Times* last = nullptr;  // neighbours mostly share a row
  for (Lane& lane : lanes_) {
    if (lane.row && lane.row.get() != last)
      for (std::uint32_t a = 0; a < kAgents; ++a)
        agents[a] = std::max(agents[a], (*lane.row)[threads_ + a]);
    last = lane.row.get();
    foreign_ = joined(foreign_, lane.foreign);
    lane.row = nullptr;
    lane.foreign = nullptr;
  }
  agents_ = std::make_shared<const Times>(std::move(agents));
  plain_ = true;
}

void BlockClocks::add_agents(Times& times, const Row& agents) const {
  if (!agents) return;
  for (std::uint32_t a = 0; a < kAgents; ++a)
    times[threads_ + a] = std::max(times[threads_ + a], (*agents)[a]);
}

void BlockClocks::warp_barrier(std::uint32_t warp, std::uint32_t mask) {
  const std::uint32_t first = warp * 32, last = std::min(first + 32, threads_);
  const std::uint32_t members = last - first == 32 ? ~0u : (1u << (last - first)) - 1;
  if ((mask & members) == members) {
    bool alike = true;
    for (std::uint32_t t = first + 1; t < last && !plain_; ++t)
      alike =
          alike && lanes_[t].row == lanes_[first].row && lanes_[t].foreign == lanes_[first].foreign;
    if (alike) {
      synced_[warp] = now_++;
      return;
    }
  }
  receive(warp, mask & members, publish(warp, mask & members));
}

Glance BlockClocks::glance(std::uint32_t thread) const {
  return {base_,   synced_[thread / 32],
          now_,    lanes_[thread].row,
          agents_, joined(foreign_, lanes_[thread].foreign)};
}

bool BlockClocks::knew(const Glance& g, std::uint32_t thread, std::uint32_t other,
                       std::uint32_t time) const {
  if (g.row && (*g.row)[other] >= time) return true;
  if (other >= threads_) return g.agents && (*g.agents)[other - threads_] >= time;
  return time <= g.base || (other == thread && time <= g.time) ||
         (other / 32 == thread / 32 && time <= g.synced);
}

void BlockClocks::fence(std::uint32_t thread, bool wide) {
  Lane& lane = lanes_[thread];
  for (const bool which : {false, true}) {
    if (which && !wide) break;
    for (const Seen& seen : lane.pending[which]) receive(thread / 32, 1u << thread % 32, seen);
    lane.pending[which].clear();
    lane.fences[which] = glance(thread);
  }
}

void BlockClocks::read_object(std::uint32_t thread, bool wide, Log& log) {
  std::vector<Seen>& pending = lanes_[thread].pending[wide];
  const Seen seen = log.see();
  const auto known = std::ranges::find(pending, seen.log, &Seen::log);
  if (known == pending.end())
    pending.push_back(seen);
  else
    *known = seen;
}

Message BlockClocks::fenced(std::uint32_t thread, bool wide) const {
  const Glance& g = lanes_[thread].fences[wide];
  auto times =
      g.row ? std::make_shared<Times>(*g.row) : std::make_shared<Times>(threads_ + kAgents, 0);
  const std::uint32_t first = thread / 32 * 32;
  for (std::uint32_t t = first; t < std::min(first + 32, threads_); ++t)
    (*times)[t] = std::max((*times)[t], t == thread ? g.time : g.synced);
  add_agents(*times, g.agents);
  return {number_, g.base, std::move(times), g.foreign};
}

Message BlockClocks::agent_message(std::uint32_t agent, std::uint32_t time) const {
  auto times = std::make_shared<Times>(threads_ + kAgents, 0);
  (*times)[threads_ + agent] = time;
  return {number_, 0, std::move(times), nullptr};
}

}  // namespace halftone::simulator
