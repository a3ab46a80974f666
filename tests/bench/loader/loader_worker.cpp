// SPDX-License-Identifier: Apache-2.0
// loader_worker FOLDER: answers lines, for compare.py.
//   sum CASE                          rows and the sums of both inputs, of an epoch
//   run CASE BATCH CONTENDER SECONDS  rows a second, with so many threads as the contender says
//   parse CASE CONTENDER              seconds that FOLDER/CASE.csv takes to parse
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>

#include "halftone/error.hpp"
#include "halftone/loader.hpp"

using namespace halftone;

namespace {

std::string folder;  // NOLINT: set once

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Dataset csv(const std::string& name, int threads) {
  return Dataset::csv(folder + "/" + name + ".csv",
                      {{.input = "x", .columns = {{0, 15}}},
                       {.input = "y", .columns = {16}, .convert = {.to = InputElement::i32}}},
                      {.threads = threads});
}

/// "rows" and "images" are arrays, "table" is CSV.
Dataset data_of(const std::string& name) {
  if (name == "table") return csv(name, 0);
  Conversion convert;
  if (name == "images") convert.scale = 1.0f / 255.0f;
  return Dataset::npy({{.input = "x", .file = folder + "/" + name + "_x.npy", .convert = convert},
                       {.input = "y", .file = folder + "/" + name + "_y.npy"}});
}

/// Kept between turns, as the peer's is.
Loader& loader_of(const std::string& name, std::int64_t batch, int threads) {
  static std::map<std::string, std::unique_ptr<Loader>> loaders;
  auto& loader = loaders[name + " " + std::to_string(batch) + " " + std::to_string(threads)];
  if (!loader)
    loader =
        std::make_unique<Loader>(data_of(name), LoaderOptions{.batch = batch, .threads = threads});
  return *loader;
}

void answer_sum(const std::string& name) {
  Loader loader(data_of(name), {.batch = 1000});
  std::int64_t rows = 0;
  double x = 0.0, y = 0.0;
  while (const auto batch = loader.next()) {
    rows += batch->rows;
    for (const float value : std::get<0>(batch->inputs[0].values)) x += value;
    for (const std::int32_t value : std::get<1>(batch->inputs[1].values)) y += value;
  }
  std::printf("ok %lld %.9g %.9g\n", static_cast<long long>(rows), x, y);
}

void answer_run(const std::string& name, std::int64_t batch, int threads, double most) {
  Loader& loader = loader_of(name, batch, threads);
  for (int i = 0; i < 3; ++i) (void)loader.next();
  const double start = seconds();
  std::int64_t rows = 0;
  double now = start;
  while (now - start < most) {
    if (const auto each = loader.next()) rows += each->rows;
    now = seconds();
  }
  std::printf("ok %.9g\n", static_cast<double>(rows) / (now - start));
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  folder = words[1];
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string what, name;
    in >> what >> name;
    try {
      int threads = 0;
      if (what == "sum") {
        answer_sum(name);
      } else if (what == "run") {
        std::int64_t batch = 0;
        double most = 0.0;
        in >> batch >> threads >> most;
        answer_run(name, batch, threads, most);
      } else {
        in >> threads;
        const double start = seconds();
        const Dataset parsed = csv(name, threads);
        std::printf("ok %.9g\n", seconds() - start);
      }
    } catch (const std::exception& error) {
      std::printf("error %s\n", error.what());
    }
    std::fflush(stdout);
  }
  return 0;
}
