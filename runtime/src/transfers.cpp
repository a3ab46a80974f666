// SPDX-License-Identifier: Apache-2.0
#include "transfers.hpp"

#include <algorithm>
#include <utility>

#include "text.hpp"

namespace halftone {

Transfers::Transfers(const char* who, DriverContext& context, DriverStream stream)
    : context_(context),
      kernels_(stream),
      in_(make_stream(who, context)),
      out_(make_stream(who, context)),
      begun_(make_event(who, context)) {
  for (Place& place : places_) {
    for (OwnedEvent* event : {&place.arrived, &place.used, &place.returned}) {
      *event = make_event(who, context);
    }
  }
}

/// What a call that failed left on the way still uses both memories.
Transfers::~Transfers() {
  for (const OwnedStream* stream : {&in_, &out_}) {
    (void)context_.driver().synchronise(stream->get());
  }
}

/// Behind all that was put on the stream of the kernels before: what ran then may have used the
/// same places, or have changed what is fetched.
void Transfers::begin(std::vector<const std::vector<HostPart>*> launches) {
  launches_ = std::move(launches);
  next_ = 0;
  if (launches_.empty()) return;
  record(context_, begun_, kernels_);
  wait(context_, in_.get(), begun_);
  for (std::size_t i = 0; i < std::min(kPlaces, launches_.size()); ++i) fetch(i);
}

void Transfers::before_launch() { wait(context_, kernels_, place_of(next_).arrived); }

void Transfers::after_launch() {
  Place& place = place_of(next_);
  record(context_, place.used, kernels_);
  wait(context_, out_.get(), place.used);
  put_back(next_);
  record(context_, place.returned, out_.get());
  if (const std::size_t then = next_ + kPlaces; then < launches_.size()) {
    wait(context_, in_.get(), place.returned);
    fetch(then);
  }
  ++next_;
}

/// Parts go back in order, so that the last one is there after all others.
void Transfers::end() {
  if (launches_.empty()) return;
  wait(context_, kernels_, place_of(launches_.size() - 1).returned);
  launches_.clear();
}

void Transfers::fetch(std::size_t launch) {
  for (const HostPart& part : *launches_[launch]) {
    context_.run("fetch", named("buffer", part.buffer), [&](Driver& driver) {
      return driver.copy_in_staged(part.device, {part.host, static_cast<std::size_t>(part.bytes)},
                                   in_.get());
    });
  }
  record(context_, place_of(launch).arrived, in_.get());
}

void Transfers::put_back(std::size_t launch) {
  for (const HostPart& part : *launches_[launch]) {
    context_.run("put back", named("buffer", part.buffer), [&](Driver& driver) {
      return driver.copy_out({part.host, static_cast<std::size_t>(part.bytes)}, part.device,
                             out_.get());
    });
  }
}

}  // namespace halftone
