// SPDX-License-Identifier: Apache-2.0
// What AMX or AVX512-BF16 multiplies of matrices that a contraction gathers (docs/decisions/0058):
// the code of tiles.mlir.in gives what the formula gives of windows that are spelled out here.
#include "held_places.hpp"
#include "tile_kernels.hpp"

using namespace tile_kernels;

namespace {

/// What a kernel that gathers reads of an image of bf16, x[image][height][width][channels]: ten
/// taps, channels behind one another, zeros outside.
struct Windows {
  std::int64_t images, channels;
  Matrix x;

  Windows(std::int64_t image_count, std::int64_t channel_count, Kind kind, unsigned seed)
      : images(image_count),
        channels(channel_count),
        x(images * kHeight * kWidth, channels, kind, seed) {}

  static constexpr std::int64_t kHeight = 9, kWidth = 6;  // of x
  static constexpr std::int64_t kDown = 5, kAcross = 7;   // windows
  [[nodiscard]] std::int64_t count() const { return images * kDown * kAcross; }
  [[nodiscard]] std::int64_t length() const { return 10 * channels; }

  /// Of 5 by 2 taps, two rows from one window to the next, two columns from one tap to the next.
  float at(std::int64_t window, std::int64_t element) {
    const std::int64_t image = window / (kDown * kAcross), tap = element / channels;
    const std::int64_t row = window / kAcross % kDown * 2 + tap / 2 - 2,
                       column = window % kAcross + tap % 2 * 2 - 1;
    if (row < 0 || row >= kHeight || column < 0 || column >= kWidth) return 0;
    return x.at((image * kHeight + row) * kWidth + column, element % channels);
  }
};

/// Ten taps, too, five side by side: two rows and two columns from one window to the next.
struct Runs {
  std::int64_t images, width, channels;
  Matrix x;

  Runs(std::int64_t image_count, std::int64_t columns, std::int64_t channel_count, Kind kind,
       unsigned seed)
      : images(image_count),
        width(columns),
        channels(channel_count),
        x(images * kHeight * width, channels, kind, seed) {}

  static constexpr std::int64_t kHeight = 8, kDown = 5, kAcross = 4;
  [[nodiscard]] std::int64_t count() const { return images * kDown * kAcross; }
  [[nodiscard]] std::int64_t length() const { return 10 * channels; }

  float at(std::int64_t window, std::int64_t element) {
    const std::int64_t image = window / (kDown * kAcross), tap = element / channels;
    const std::int64_t row = window / kAcross % kDown * 2 + tap / 5 - 1,
                       column = window % kAcross * 2 + tap % 5 - 2;
    if (row < 0 || row >= kHeight || column < 0 || column >= width) return 0;
    return x.at((image * kHeight + row) * width + column, element % channels);
  }
};

/// Of sequences x[sequence][time][group][channels]: ten times from two before on.
struct Groups {
  std::int64_t sequences, channels;
  Matrix x;

  Groups(std::int64_t sequence_count, std::int64_t channel_count, Kind kind, unsigned seed)
      : sequences(sequence_count),
        channels(channel_count),
        x(sequences * kTimes * kGroups, channels, kind, seed) {}

  static constexpr std::int64_t kTimes = 9, kGroups = 3, kWindows = 8;
  [[nodiscard]] std::int64_t count() const { return sequences * kWindows; }
  [[nodiscard]] std::int64_t length() const { return 10 * channels; }

  float at(std::int64_t group, std::int64_t window, std::int64_t element) {
    const std::int64_t time = window % kWindows + element / channels - 2;
    if (time < 0 || time >= kTimes) return 0;
    return x.at((window / kWindows * kTimes + time) * kGroups + group, element % channels);
  }
};

template <class At>
Values values_of(std::int64_t count, At at) {
  Values values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(at(i));
  return values;
}

}  // namespace

TEST_CASE("tiles multiply rows that they gather, whatever a tap has of a tile") {
  for (const std::int64_t channels : {1, 4, 24, 32})
    each_kind({1, 3}, [&](std::int64_t batch, Kind kind) {
      CAPTURE(channels);
      Windows windows(batch, channels, kind, 1);
      Matrix w(33, windows.length(), kind, 2);
      Floats sums(static_cast<std::size_t>(windows.count() * 33), Place::end);
      run_tiles("windows_" + std::to_string(channels),
                {windows.x.codes.pointer(), w.codes.pointer(), sums.pointer()}, batch);
      Values wanted;
      for (std::int64_t i = 0; i < windows.count(); ++i) {
        const Values row =
            values_of(windows.length(), [&](std::int64_t k) { return windows.at(i, k); });
        for (std::int64_t j = 0; j < 33; ++j) wanted.push_back(judged_sum(row, w.row(j), kind));
      }
      check(sums, wanted);
    });
}

TEST_CASE("tiles multiply columns that they gather") {
  for (const std::int64_t channels : {1, 4, 24, 32})
    each_kind({1, 3}, [&](std::int64_t batch, Kind kind) {
      CAPTURE(channels);
      Windows windows(batch, channels, kind, 2);
      Matrix g(windows.count(), 17, kind, 1);
      Floats sums(static_cast<std::size_t>(17 * windows.length()), Place::end);
      run_tiles("windows_gradient_" + std::to_string(channels),
                {g.codes.pointer(), windows.x.codes.pointer(), sums.pointer()}, batch);
      Values wanted;
      for (std::int64_t i = 0; i < 17; ++i)
        for (std::int64_t j = 0; j < windows.length(); ++j)
          wanted.push_back(judged_sum(
              g.column(i),
              values_of(windows.count(), [&](std::int64_t k) { return windows.at(k, j); }), kind));
      check(sums, wanted);
    });
}

TEST_CASE("tiles multiply runs of taps, cut off by the edges of an image") {
  for (const std::int64_t channels : {1, 3, 24, 32})
    for (const std::int64_t width : {2, 6})
      each_kind({1, 3}, [&](std::int64_t batch, Kind kind) {
        CAPTURE(channels);
        CAPTURE(width);
        Runs windows(batch, width, channels, kind, 1);
        Matrix w(33, windows.length(), kind, 2), g(windows.count(), 17, kind, 3);
        Floats sums(static_cast<std::size_t>(windows.count() * 33), Place::end),
            gradients(static_cast<std::size_t>(17 * windows.length()), Place::end);
        const std::string shape = "_" + std::to_string(channels) + "_" + std::to_string(width);
        run_tiles("runs" + shape, {windows.x.codes.pointer(), w.codes.pointer(), sums.pointer()},
                  batch);
        run_tiles("runs_gradient" + shape,
                  {g.codes.pointer(), windows.x.codes.pointer(), gradients.pointer()}, batch);
        Values wanted, wanted_gradients;
        for (std::int64_t i = 0; i < windows.count(); ++i) {
          const Values row =
              values_of(windows.length(), [&](std::int64_t k) { return windows.at(i, k); });
          for (std::int64_t j = 0; j < 33; ++j) wanted.push_back(judged_sum(row, w.row(j), kind));
        }
        for (std::int64_t i = 0; i < 17; ++i)
          for (std::int64_t j = 0; j < windows.length(); ++j)
            wanted_gradients.push_back(judged_sum(
                g.column(i),
                values_of(windows.count(), [&](std::int64_t k) { return windows.at(k, j); }),
                kind));
        check(sums, wanted);
        check(gradients, wanted_gradients);
      });
}

TEST_CASE("tiles gather what is of one element of a batch") {
  for (const std::int64_t channels : {24, 64})
    each_kind({1, 5}, [&](std::int64_t batch, Kind kind) {
      CAPTURE(channels);
      Groups groups(batch, channels, kind, 2);
      Matrix w(3 * 33, groups.length(), kind, 1), g(3 * groups.count(), 17, kind, 3);
      Floats sums(static_cast<std::size_t>(3 * groups.count() * 33), Place::end),
          gradients(static_cast<std::size_t>(3 * 17 * groups.length()), Place::end);
      run_tiles("groups_" + std::to_string(channels),
                {groups.x.codes.pointer(), w.codes.pointer(), sums.pointer()}, batch);
      run_tiles("groups_gradient_" + std::to_string(channels),
                {g.codes.pointer(), groups.x.codes.pointer(), gradients.pointer()}, batch);
      Values wanted, wanted_gradients;
      for (std::int64_t group = 0; group < 3; ++group) {
        for (std::int64_t i = 0; i < groups.count(); ++i) {
          const Values row =
              values_of(groups.length(), [&](std::int64_t k) { return groups.at(group, i, k); });
          for (std::int64_t j = 0; j < 33; ++j)
            wanted.push_back(judged_sum(row, w.row(group * 33 + j), kind));
        }
        for (std::int64_t i = 0; i < 17; ++i)
          for (std::int64_t j = 0; j < groups.length(); ++j)
            wanted_gradients.push_back(judged_sum(
                g.column(i, group * groups.count(), groups.count()),
                values_of(groups.count(), [&](std::int64_t k) { return groups.at(group, k, j); }),
                kind));
      }
      check(sums, wanted);
      check(gradients, wanted_gradients);
    });
}

/// Taps of whole tiles alone are left out (docs/decisions/0063).
TEST_CASE("tiles multiply the taps of a place's phase") {
  for (const std::int64_t channels : {24, 32})
    for (const std::int64_t width : {1, 7})
      each_kind({1, 5}, [&](std::int64_t batch, Kind kind) {
        CAPTURE(channels);
        CAPTURE(width);
        const held_places::Places places{batch, width, channels};
        Matrix g(places.windows(), channels, kind, 1), w(places.length(), 33, kind, 2),
            turned(33, places.length(), kind, 3);
        Floats sums(static_cast<std::size_t>(places.count() * 33), Place::end),
            of_turned(static_cast<std::size_t>(places.count() * 33), Place::end);
        const std::string shape = "_" + std::to_string(channels) + "_" + std::to_string(width);
        run_tiles("places" + shape, {g.codes.pointer(), w.codes.pointer(), sums.pointer()}, batch);
        run_tiles("turned" + shape,
                  {g.codes.pointer(), turned.codes.pointer(), of_turned.pointer()}, batch);
        Values wanted, wanted_of_turned;
        for (std::int64_t place = 0; place < places.count(); ++place) {
          const auto terms = places.terms(place, channels % 32 != 0);
          for (std::int64_t column = 0; column < 33; ++column) {
            Values a, b, c;
            for (const auto& term : terms) {
              a.push_back(term.window < 0 ? 0 : g.at(term.window, term.channel));
              b.push_back(w.at(term.k, column));
              c.push_back(turned.at(column, term.k));
            }
            wanted.push_back(judged_sum(a, b, kind));
            wanted_of_turned.push_back(judged_sum(a, c, kind));
          }
        }
        check(sums, wanted);
        check(of_turned, wanted_of_turned);
      });
}
