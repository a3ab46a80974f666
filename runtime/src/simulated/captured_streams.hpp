// SPDX-License-Identifier: Apache-2.0
// What a capture wrote down of one or more streams, for drivers in software: each stream's work in
// its order, and between streams what events say. All else is left open, so it runs with the other
// streams as early or as late as they may, and a wait that is missing shows in what comes out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "../driver.hpp"

namespace halftone {

class CapturedStreams {
 public:
  using Work = std::function<DriverStatus()>;
  /// When other streams than the captured one go on: before each piece of its work, or not until it
  /// waits for them.
  enum class Others { early, late };

  explicit CapturedStreams(DriverStream origin) : streams_{{origin}} {}

  [[nodiscard]] bool has(DriverStream stream) const { return find(stream) != streams_.size(); }
  /// Whether the event was recorded on one of its streams.
  [[nodiscard]] bool has(DriverEvent event) const { return last_record(event).has_value(); }

  void put(DriverStream stream, Work work) {
    streams_[find(stream)].pieces.push_back({.work = std::move(work)});
  }
  void record(DriverStream stream, DriverEvent event) {
    Stream& on = streams_[find(stream)];
    records_.push_back({event, find(stream), on.pieces.size()});
    on.pieces.push_back({.work = [] { return DriverStatus{}; }});
  }
  /// Of an event that it has. A stream that it does not have becomes one of its own.
  void wait(DriverStream stream, DriverEvent event) {
    if (!has(stream)) streams_.push_back({stream});
    streams_[find(stream)].pieces.push_back({.behind = last_record(event)});
  }

  /// All of it. A failure is told of the piece at fault, and nothing runs behind it.
  [[nodiscard]] DriverStatus run(Others others) const {
    Run run{std::vector<std::size_t>(streams_.size())};
    while (run.done[0] < streams_[0].pieces.size()) {
      for (std::size_t s = 1; others == Others::early && s < streams_.size(); ++s) {
        while (run.done[s] < streams_[s].pieces.size() && is_ready(run, s)) {
          if (DriverStatus status = advance(run, s); !status.ok()) return status;
        }
      }
      if (DriverStatus status = advance(run, 0); !status.ok()) return status;
    }
    for (std::size_t s = 1; s < streams_.size(); ++s) {
      if (run.done[s] < streams_[s].pieces.size())
        return {DriverStatus::Kind::failed,
                "a capture ends before its stream waited for all others", ""};
    }
    return {};
  }

 private:
  /// Behind so many pieces of a stream.
  struct Point {
    std::size_t stream = 0, pieces = 0;
  };
  struct Piece {
    Work work = {};
    std::optional<Point> behind = {};  ///< of one that waits
  };
  struct Stream {
    DriverStream stream;
    std::vector<Piece> pieces = {};
  };
  struct Record {
    DriverEvent event;
    std::size_t stream, piece;
  };
  struct Run {
    std::vector<std::size_t> done;  ///< by stream
  };

  [[nodiscard]] std::size_t find(DriverStream stream) const {
    return static_cast<std::size_t>(std::ranges::find(streams_, stream, &Stream::stream) -
                                    streams_.begin());
  }
  [[nodiscard]] std::optional<Point> last_record(DriverEvent event) const {
    const auto found = std::find_if(records_.rbegin(), records_.rend(),
                                    [&](const Record& one) { return one.event == event; });
    if (found == records_.rend()) return std::nullopt;
    return Point{found->stream, found->piece + 1};
  }
  [[nodiscard]] bool is_ready(const Run& run, std::size_t s) const {
    const auto& behind = streams_[s].pieces[run.done[s]].behind;
    return !behind || run.done[behind->stream] >= behind->pieces;
  }
  /// One piece, and before that whatever it waits for.
  [[nodiscard]] DriverStatus advance(Run& run, std::size_t s) const {
    const Piece& piece = streams_[s].pieces[run.done[s]];
    while (!is_ready(run, s)) {
      if (DriverStatus status = advance(run, piece.behind->stream); !status.ok()) return status;
    }
    ++run.done[s];
    return piece.work ? piece.work() : DriverStatus{};
  }

  std::vector<Stream> streams_;  ///< the captured one first
  std::vector<Record> records_;
};

}  // namespace halftone
