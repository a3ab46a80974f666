// SPDX-License-Identifier: Apache-2.0
// Batches of a dataset, shuffled by a seed and gathered ahead by threads:
//
//   halftone::Loader loader(data, {.batch = 64, .seed = 1});
//   while (loader.epoch() < 10)
//     while (auto batch = loader.next()) trainer.step(*batch);
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "halftone/dataset.hpp"
#include "halftone/values.hpp"

namespace halftone {

/// Views, which are valid until the loader's next call.
struct Batch {
  std::span<const NamedValues> inputs;
  std::int64_t rows = 0;
};

/// A stream of random numbers that is a function of seed, epoch and row alone: of Philox4x32-10.
class RowDraws {
 public:
  RowDraws(std::uint64_t seed, std::int64_t epoch, std::int64_t row);

  [[nodiscard]] std::uint32_t bits();  ///< uniform in 32 bits
  [[nodiscard]] float uniform();       ///< in [0, 1), a multiple of 2^-24
  /// In [0, count), for a count of 1 to 2^32.
  [[nodiscard]] std::int64_t below(std::int64_t count);

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_, words_{};
  int left_ = 0;
};

template <class T>
using SpanOf = std::span<T>;

/// A gathered batch in the hands of a transform, which may change its values.
struct GatheredBatch {
  struct Input {
    std::string_view name;
    OfElements<SpanOf> values;  ///< row-major
  };

  std::span<const Input> inputs;
  std::span<const std::int64_t> rows;  ///< numbers in the source, before slices and splits
  std::int64_t epoch = 0;
  std::uint64_t seed = 0;

  /// Row `i` of an f32 input. Throws Error where there is none of that name.
  [[nodiscard]] std::span<float> row(std::string_view input, std::size_t i) const;
  /// For row `i` of the batch.
  [[nodiscard]] RowDraws draws(std::size_t i) const { return {seed, epoch, rows[i]}; }
};

struct LoaderOptions {
  Size batch;
  std::uint64_t seed = 0;
  bool shuffle = true;
  bool drop_last = false;  ///< leave out the rows at the end that fill no batch
  int threads = 1;         ///< that gather; 0: next() does
  int ahead = 2;           ///< batches that may be gathered before they are asked for
  /// Called with every batch, by several threads at once where there are several. Its draws depend
  /// neither on threads nor on the batch.
  std::function<void(const GatheredBatch&)> transform = {};
};

/// An epoch gives every row once, in an order that seed and number of the epoch decide, the same
/// on every machine and with any number of threads. Every method throws Error, naming culprit and
/// remedy. One thread at a time may use a loader.
class Loader {
 public:
  Loader(Dataset dataset, const LoaderOptions& options);
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;
  ~Loader();

  /// Nothing at the end of an epoch; the call after that begins the next one. What goes wrong with
  /// a batch, on a thread too, the call for it throws, and again until seek().
  [[nodiscard]] std::optional<Batch> next();

  /// How many epochs are over: it goes up when next() gives nothing.
  [[nodiscard]] std::int64_t epoch() const;
  [[nodiscard]] std::int64_t rows() const;     ///< of an epoch
  [[nodiscard]] std::int64_t batches() const;  ///< of an epoch

  /// Where the loader is: a line of text for SaveOptions::notes.
  [[nodiscard]] std::string cursor() const;

  /// Goes there: next() gives what it would have given where cursor() was asked for, to the bit.
  /// Throws Error, and stays where it is, when the cursor is of other data (inputs, shapes, rows)
  /// or options (batch, seed, shuffle, drop_last). Values themselves are not compared.
  void seek(std::string_view cursor);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halftone
