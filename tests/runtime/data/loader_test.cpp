// SPDX-License-Identifier: Apache-2.0
#include "halftone/loader.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "data/order.hpp"
#include "message_of.hpp"
#include "philox.hpp"

using namespace halftone;

namespace {

/// x of [rows, 2] is 10 * row + {0, 1}, y the row.
Dataset counted(std::int64_t rows) {
  OwnedValues x{"x", std::vector<float>()}, y{"y", std::vector<std::int32_t>()};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (const int j : {0, 1}) std::get<0>(x.values).push_back(static_cast<float>(10 * i + j));
    std::get<1>(y.values).push_back(static_cast<std::int32_t>(i));
  }
  return Dataset::own({std::move(x), std::move(y)}, rows);
}

/// Its rows, after a look at whether the inputs fit together.
std::vector<std::int64_t> rows_of(const Batch& batch) {
  REQUIRE(batch.inputs.size() == 2);
  CHECK(batch.inputs[0].name == "x");
  CHECK(batch.inputs[1].name == "y");
  const auto x = std::get<0>(batch.inputs[0].values);
  const auto y = std::get<1>(batch.inputs[1].values);
  REQUIRE(y.size() == static_cast<std::size_t>(batch.rows));
  REQUIRE(x.size() == 2 * y.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    REQUIRE(x[2 * i] == 10.0f * static_cast<float>(y[i]));
    REQUIRE(x[2 * i + 1] == 10.0f * static_cast<float>(y[i]) + 1.0f);
  }
  return {y.begin(), y.end()};
}

using Batches = std::vector<std::vector<std::int64_t>>;

/// What the next `calls` calls of next() give; nothing is an empty batch.
Batches taken(Loader& loader, int calls) {
  Batches batches;
  for (int i = 0; i < calls; ++i) {
    const auto batch = loader.next();
    batches.push_back(batch ? rows_of(*batch) : std::vector<std::int64_t>());
  }
  return batches;
}

std::vector<std::int64_t> flat(const Batches& batches) {
  std::vector<std::int64_t> all;
  for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

}  // namespace

TEST_CASE("an epoch has every row once, in the order of seed and epoch") {
  for (const std::int64_t rows : {1, 7, 64, 103}) {
    for (const std::int64_t size : {1, 7, 10, 200}) {
      Loader loader(counted(rows), {.batch = size, .seed = 5});
      CHECK(loader.rows() == rows);
      CHECK(loader.batches() == (rows + size - 1) / size);
      for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
        CHECK(loader.epoch() == epoch);
        const Batches batches = taken(loader, static_cast<int>(loader.batches()) + 1);
        CHECK(batches.back().empty());
        std::vector<std::int64_t> all = flat(batches);
        const data::Order order(rows, 5, epoch);
        REQUIRE(all.size() == static_cast<std::size_t>(rows));
        for (std::size_t i = 0; i < all.size(); ++i)
          CHECK(all[i] == order[static_cast<std::int64_t>(i)]);
        for (std::size_t i = 0; i + 2 < batches.size(); ++i)
          CHECK(batches[i].size() == static_cast<std::size_t>(size));
      }
    }
  }
}

TEST_CASE("without shuffling rows come as they are, and the last few may be left out") {
  Loader loader(counted(8).slice(1, 7), {.batch = 3, .shuffle = false});
  CHECK(taken(loader, 5) == Batches{{1, 2, 3}, {4, 5, 6}, {7}, {}, {1, 2, 3}});
  Loader whole(counted(8), {.batch = 3, .shuffle = false, .drop_last = true});
  CHECK(whole.rows() == 6);
  CHECK(whole.batches() == 2);
  CHECK(taken(whole, 4) == Batches{{0, 1, 2}, {3, 4, 5}, {}, {0, 1, 2}});
}

TEST_CASE("threads and what they gather ahead change nothing") {
  const Dataset data = counted(101);
  Loader none(data, {.batch = 8, .seed = 3, .threads = 0});
  const Batches expected = taken(none, 60);
  for (const int threads : {1, 2, 4}) {
    for (const int ahead : {1, 2, 9}) {
      Loader loader(data, {.batch = 8, .seed = 3, .threads = threads, .ahead = ahead});
      CHECK(taken(loader, 60) == expected);
    }
  }
}

TEST_CASE("a loader that seeks goes on as the one whose cursor it was given, at every place") {
  const Dataset data = counted(23);
  for (const bool drops : {false, true}) {
    const LoaderOptions options{.batch = 5, .seed = 9, .drop_last = drops};
    Loader loader(data, options);
    const int calls = 3 * (static_cast<int>(loader.batches()) + 1);
    std::vector<std::string> cursors;
    for (int i = 0; i < calls; ++i) {
      cursors.push_back(loader.cursor());
      (void)loader.next();
    }
    Loader again(data, options);
    const Batches all = taken(again, 2 * calls);
    CHECK(std::set<std::string>(cursors.begin(), cursors.end()).size() == cursors.size());
    for (int i = calls - 1; i >= 0; --i) {
      const auto from = all.begin() + i;
      again.seek(cursors[static_cast<std::size_t>(i)]);
      CHECK(again.cursor() == cursors[static_cast<std::size_t>(i)]);
      CHECK(again.epoch() == i / (again.batches() + 1));
      CHECK(taken(again, calls) == Batches(from, from + calls));
      LoaderOptions other = options;
      other.threads = 0;
      Loader fresh(data, other);
      fresh.seek(cursors[static_cast<std::size_t>(i)]);
      CHECK(taken(fresh, 3) == Batches(from, from + 3));
    }
  }
}

TEST_CASE("a cursor of other data or options is refused, and the loader stays where it was") {
  const Dataset data = counted(23);
  const LoaderOptions options{.batch = 5, .seed = 9, .threads = 0};
  Loader loader(data, options);
  (void)loader.next();
  const std::string here = loader.cursor();
  const auto with = [&](const Dataset& of, auto change) {
    LoaderOptions changed = options;
    change(changed);
    return message_of([&] { loader.seek(Loader(of, changed).cursor()); });
  };
  const auto nothing = [](LoaderOptions&) {};
  CHECK(with(data, [](auto& o) { o.seed = 10; }) ==
        "seek: the cursor is of seed 10, but this loader's is 9; give the loader the seed of then");
  CHECK(
      with(data, [](auto& o) { o.batch = 6; }) ==
      "seek: the cursor is of batch 6, but this loader's is 5; give the loader the batch of then");
  CHECK(with(data, [](auto& o) { o.shuffle = false; }).find("is of shuffle 0") !=
        std::string::npos);
  CHECK(with(data, [](auto& o) { o.drop_last = true; }).find("is of drop_last 1") !=
        std::string::npos);
  CHECK(with(counted(24).slice(1, 23), nothing).find("is of data ") != std::string::npos);
  const std::vector<float> x(46);
  CHECK(with(Dataset::view({{"x", x}}, 23), nothing).find("is of data ") != std::string::npos);
  CHECK(with(data, [](auto& o) { o.threads = 3; }) == "no error");
  loader.seek(here);
  for (const std::string& bad :
       {std::string(), std::string("loader 1"), here + " ", here + "x", "x" + here,
        here.substr(0, here.size() - 1), std::string("loader 2") + here.substr(8)}) {
    CHECK(message_of([&] { loader.seek(bad); }) ==
          "seek: the cursor is none: '" + bad + "'; give what cursor() of a loader gave");
  }
  const std::string place = here.substr(0, here.find(" epoch="));
  CHECK(message_of([&] { loader.seek(place + " epoch=0 next=6"); }) ==
        "seek: the cursor is at batch 6 of epoch 0, but an epoch has 5 batches; give what cursor() "
        "of a loader gave");
  CHECK(message_of([&] {
          loader.seek(place + " epoch=18446744073709551615 next=0");
        }).find("of epoch 18446744073709551615") != std::string::npos);
  CHECK(loader.cursor() == here);
}

TEST_CASE("what goes wrong on a thread, the call for that batch throws") {
  const std::vector<std::int32_t> y(20);
  for (const int threads : {0, 2}) {
    Loader loader(
        Dataset::view({{"y", y}}, 20),
        {.batch = 5, .shuffle = false, .threads = threads, .transform = [](const auto& batch) {
           if (batch.rows[0] == 10) (void)batch.row("z", 0);
         }});
    CHECK(loader.next());
    CHECK(loader.next());
    for (int i = 0; i < 2; ++i) {
      CHECK(message_of([&] { (void)loader.next(); }) ==
            "loader: input 'z' has no f32 row 0 of 5 in the batch; inputs of f32 are none");
    }
  }
}

TEST_CASE("what a transform draws depends on neither threads nor batches") {
  const auto noise = [](const GatheredBatch& batch) {
    for (std::size_t i = 0; i < batch.rows.size(); ++i) {
      RowDraws draws = batch.draws(i);
      for (float& value : batch.row("x", i)) value += draws.uniform();
    }
  };
  const auto drawn = [&](Size size, int threads) {
    Loader loader(
        counted(30).slice(10, 20),
        {.batch = size, .seed = 4, .shuffle = false, .threads = threads, .transform = noise});
    std::vector<float> all;
    for (int epoch = 0; epoch < 2; ++epoch) {
      while (const auto batch = loader.next()) {
        const auto x = std::get<0>(batch->inputs[0].values);
        all.insert(all.end(), x.begin(), x.end());
      }
    }
    return all;
  };
  const std::vector<float> expected = drawn(1, 0);
  CHECK(drawn(7, 4) == expected);
  CHECK(drawn(20, 1) == expected);
  CHECK(!std::ranges::equal(std::span(expected).first(40), std::span(expected).last(40)));
  RowDraws draws(4, 1, 13);  // of the source's rows
  CHECK(expected[40 + 6] == 130.0f + draws.uniform());
  CHECK(expected[40 + 7] == 131.0f + draws.uniform());
}

TEST_CASE("draws are the words of Philox that row, epoch and seed make") {
  RowDraws draws(0x123456789abcdef0, 7, 0x500000003);
  for (std::uint32_t block = 0; block < 3; ++block) {
    for (const std::uint32_t word :
         philox4x32({3, 5, 7, 0x72000000 + block}, {0x9abcdef0, 0x12345678}))
      CHECK(draws.bits() == word);
  }
}

TEST_CASE("draws are uniform, and below a bound") {
  std::vector<int> seen(6);
  double sum = 0.0;
  for (std::int64_t row = 0; row < 1000; ++row) {
    RowDraws draws(1, 0, row);
    for (int i = 0; i < 6; ++i) {
      ++seen[static_cast<std::size_t>(draws.below(6))];
      const float uniform = draws.uniform();
      CHECK((uniform >= 0.0f && uniform < 1.0f));
      sum += uniform;
    }
  }
  for (const int count : seen) CHECK(std::abs(count - 1000) < 150);  // 5 standard deviations
  CHECK(std::abs(sum / 6000 - 0.5) < 0.02);
  CHECK(message_of([] { (void)RowDraws(1, 0, 0).below(0); }) ==
        "loader: a draw is to be below 0; give 1 to 2^32");
}

TEST_CASE("options that make no loader are refused") {
  const auto of = [](const LoaderOptions& options) {
    return message_of([&] { const Loader loader(counted(3), options); });
  };
  CHECK(of({.batch = 0}) == "loader: the batch is 0; give 1 row or more");
  CHECK(of({.batch = 1, .threads = -1}) == "loader: the number of threads is -1; give 0 to 1024");
  CHECK(of({.batch = 1, .ahead = 0}) == "loader: the number of batches ahead is 0; give 1 to 1024");
  CHECK(of({.batch = 4, .drop_last = true}) ==
        "loader: the dataset has 3 rows, which fill no batch of 4; give a smaller batch, or keep "
        "the last one");
  CHECK(of({.batch = std::uint64_t{1} << 63}) == "no error");
  Loader from(counted(3), {.batch = 2});
  (void)from.next();
  Loader to = std::move(from);
  CHECK(to.next()->rows == 1);
  CHECK(message_of([&] { (void)from.next(); }) ==  // NOLINT: what is tested
        "loader: this loader was moved from; use the one that it was moved to");
}
