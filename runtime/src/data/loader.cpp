// SPDX-License-Identifier: Apache-2.0
#include "halftone/loader.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "../profile_range.hpp"
#include "../text.hpp"
#include "cursor.hpp"
#include "gather.hpp"
#include "halftone/error.hpp"
#include "halftone/manifest/checksum.hpp"
#include "order.hpp"
#include "ring.hpp"
#include "table.hpp"

namespace halftone {
namespace {

[[noreturn]] void refuse(std::string object, std::string cause, std::string hint) {
  throw Error({.operation = "loader",
               .object = std::move(object),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

void require_between(const char* object, std::int64_t value, std::int64_t least,
                     std::int64_t most) {
  if (value >= least && value <= most) return;
  refuse(object, "is " + std::to_string(value),
         "give " + std::to_string(least) + " to " + std::to_string(most));
}

void judge(const Dataset& dataset, const LoaderOptions& options) {
  constexpr std::int64_t kMost = 1024;
  if (options.batch < 1)
    refuse("the batch", "is " + std::to_string(options.batch), "give 1 row or more");
  require_between("the number of threads", options.threads, 0, kMost);
  require_between("the number of batches ahead", options.ahead, 1, kMost);
  if (options.drop_last && dataset.rows() < options.batch) {
    refuse("the dataset",
           "has " + std::to_string(dataset.rows()) + " rows, which fill no batch of " +
               std::to_string(options.batch),
           "give a smaller batch, or keep the last one");
  }
}

template <class State>
State& held(const std::unique_ptr<State>& state) {
  if (!state) refuse("this loader", "was moved from", "use the one that it was moved to");
  return *state;
}

OfElements<VectorOf> empty_values(InputElement element) {
  switch (element) {
    case InputElement::by_source:  // make_column() leaves none
    case InputElement::f32:
      return std::vector<float>();
    case InputElement::i32:
      return std::vector<std::int32_t>();
    case InputElement::u8:
      return std::vector<std::uint8_t>();
    case InputElement::i8:
      return std::vector<std::int8_t>();
    case InputElement::u16:
      return std::vector<std::uint16_t>();
    case InputElement::i16:
      return std::vector<std::int16_t>();
    case InputElement::i64:
      return std::vector<std::int64_t>();
    case InputElement::f16:
      return std::vector<F16>();
    case InputElement::bf16:
      return std::vector<Bf16>();
  }
  return {};
}

/// What a batch is gathered into.
struct Slot {
  std::vector<OfElements<VectorOf>> memory;  ///< by column
  std::vector<std::int64_t> rows;            ///< numbers in the source
  std::vector<NamedValues> views;

  [[nodiscard]] std::size_t size_of(const data::Column& column) const {
    return rows.size() * static_cast<std::size_t>(column.count);
  }
};

}  // namespace

struct Loader::State {
  State(Dataset data, const LoaderOptions& given)
      : dataset(std::move(data)),
        options(given),
        batches(rows() / given.batch + (!given.drop_last && rows() % given.batch != 0 ? 1 : 0)),
        slots(given.threads == 0 ? 1 : static_cast<std::size_t>(given.ahead) + 1),
        ring(given.threads, static_cast<int>(slots.size()),
             [this](std::int64_t item, std::size_t slot) { make(item, slots[slot]); }) {
    for (Slot& slot : slots) allocate(slot);
  }

  [[nodiscard]] std::int64_t rows() const { return dataset.rows(); }

  void allocate(Slot& slot) const {
    const auto most = static_cast<std::size_t>(std::min<std::int64_t>(options.batch, rows()));
    slot.rows.reserve(most);
    for (const data::Column& column : dataset.table().columns) {
      const std::size_t elements = most * static_cast<std::size_t>(column.count);
      std::visit([&](auto& values) { values.resize(elements); },
                 slot.memory.emplace_back(empty_values(column.convert.to)));
    }
  }

  /// Batch item % batches of epoch item / batches.
  void make(std::int64_t item, Slot& slot) const {
    const ProfileRange range("gather a batch");
    const std::int64_t at = item / batches, first = item % batches * options.batch;
    const std::int64_t end = std::min<std::int64_t>(first + options.batch, rows());
    slot.rows.clear();
    if (options.shuffle) {
      data::Order(rows(), options.seed, at).append(first, end, slot.rows);
    } else {
      for (std::int64_t i = first; i < end; ++i) slot.rows.push_back(i);
    }
    for (std::int64_t& row : slot.rows) row = dataset.table().source_row(row);
    slot.views.clear();
    std::vector<GatheredBatch::Input> changeable;
    for (std::size_t i = 0; i < slot.memory.size(); ++i) {
      const data::Column& column = dataset.table().columns[i];
      std::visit(
          [&](auto& memory) {
            const std::span values(memory.data(), slot.size_of(column));
            data::gather(column, slot.rows, values);
            changeable.push_back({column.input, values});
            slot.views.push_back(
                {column.input, std::span(std::as_const(memory)).first(values.size())});
          },
          slot.memory[i]);
    }
    if (options.transform)
      options.transform(
          {.inputs = changeable, .rows = slot.rows, .epoch = at, .seed = options.seed});
  }

  [[nodiscard]] data::Cursor cursor() const {
    return {.data = manifest::hash_of(dataset.table().form()),
            .rows = static_cast<std::uint64_t>(rows()),
            .batch = static_cast<std::uint64_t>(std::int64_t{options.batch}),
            .seed = options.seed,
            .shuffle = options.shuffle,
            .drop_last = options.drop_last,
            .epoch = static_cast<std::uint64_t>(epoch),
            .next = static_cast<std::uint64_t>(next)};
  }

  const Dataset dataset;
  const LoaderOptions options;
  const std::int64_t batches;
  std::int64_t epoch = 0, next = 0;  ///< as of data::Cursor
  std::vector<Slot> slots;
  data::Ring ring;  ///< last, so that its threads end first
};

Loader::Loader(Dataset dataset, const LoaderOptions& options) {
  judge(dataset, options);
  state_ = std::make_unique<State>(std::move(dataset), options);
}
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&&) noexcept = default;
Loader::~Loader() = default;

std::optional<Batch> Loader::next() {
  State& state = held(state_);
  if (state.next == state.batches) {
    ++state.epoch;
    state.next = 0;
    return std::nullopt;
  }
  const ProfileRange range("wait for a batch");
  const Slot& slot = state.slots[state.ring.take()];
  ++state.next;
  return Batch{slot.views, static_cast<std::int64_t>(slot.rows.size())};
}

std::int64_t Loader::epoch() const { return held(state_).epoch; }
std::int64_t Loader::rows() const {
  const State& state = held(state_);
  return state.options.drop_last ? state.batches * state.options.batch : state.rows();
}
std::int64_t Loader::batches() const { return held(state_).batches; }

std::string Loader::cursor() const { return held(state_).cursor().text(); }

void Loader::seek(std::string_view cursor) {
  State& state = held(state_);
  const data::Cursor to = data::parse_cursor(cursor, state.cursor());
  constexpr std::uint64_t kMostEpochs = 0xffffffff;  // that draws of rows tell apart
  const auto batches = static_cast<std::uint64_t>(state.batches);
  std::int64_t item = 0;
  if (to.next > batches || to.epoch > kMostEpochs ||
      __builtin_mul_overflow(to.epoch, batches, &item) ||
      __builtin_add_overflow(item, to.next, &item)) {
    throw Error({.operation = "seek",
                 .object = "the cursor",
                 .cause = "is at batch " + std::to_string(to.next) + " of epoch " +
                          std::to_string(to.epoch) + ", but an epoch has " +
                          std::to_string(batches) + " batches",
                 .hint = "give what cursor() of a loader gave"});
  }
  state.ring.restart(item);
  state.epoch = static_cast<std::int64_t>(to.epoch);
  state.next = static_cast<std::int64_t>(to.next);
}

}  // namespace halftone
