// SPDX-License-Identifier: Apache-2.0
#include "floors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "codegen/plan/Chips.h"
#include "codegen/plan/CostModel.h"

namespace halftone::bench {
namespace {

constexpr double kSectorBytes = 32, kAccessBytes = 16, kWarpsPerClock = 4;
/// Rows that a column kernel's tree (N3) sums at once.
constexpr double kTreeRows = 128;
/// Of one mma: m16n8k16, m16n8k8 of tf32, and of one warp's part of wgmma m64n64k16.
constexpr double kHalfOperations = 4096, kTf32Operations = 2048, kGroupOperations = 32768;

std::string_view after(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t at = text.rfind(begin);
  if (at == text.npos) return {};
  text.remove_prefix(at + begin.size());
  return text.substr(0, text.find(end));
}

/// "symbol_batch * 3LL"
double product(std::string_view factors, std::int64_t size) {
  double product = 1;
  while (!factors.empty()) {
    const std::string factor(factors.substr(0, factors.find(" * ")));
    product *=
        factor.starts_with("symbol_") ? static_cast<double>(size) : std::atof(factor.c_str());
    factors.remove_prefix(std::min(factors.size(), factor.size() + 3));
  }
  return product;
}

/// What the text of a contraction says of it; of other kernels it has no depth. Of an attention's
/// kernel rows are queries, columns keys, and the depth is that of all products for each pair.
struct Extents {
  double rows = 0, columns = 0, depth = 0;
  double lhs_bytes = 0, rhs_bytes = 0;  ///< of the whole operands
  double row_tiles = 1, column_tiles = 1;
  double summed = 0;  ///< rows that a column kernel sums
  std::string tile;

  [[nodiscard]] double products() const { return rows * columns * depth; }
};

double element_bytes(const MeasuredLaunch& launch, std::string_view side) {
  const std::string number(after(launch.text, "body." + std::string(side) + " = input", ";"));
  return static_cast<double>(launch.element_bytes.at(std::strtoul(number.c_str(), nullptr, 10)));
}

bool is_attention(const MeasuredLaunch& launch) {
  return launch.kernel->skeleton.starts_with("attention");
}

/// Reads windows of one of its operands, which is smaller than the matrix of all of them.
bool gathers(const MeasuredLaunch& launch) {
  return launch.text.find("::kGathersLhs") != std::string::npos;
}

/// Asks for each row where the lines of its inputs lie.
bool finds_lines(const MeasuredLaunch& launch) {
  return launch.text.find(" = line") != std::string::npos;
}

/// Of some stages of a transform.
bool is_pass(const MeasuredLaunch& launch) { return launch.kernel->skeleton.ends_with("_pass"); }

/// Of the products that an attention's kernel is for, each once: forward scores and what weighs
/// values; backward scores, what arrives at weights, and one gradient by rows, two by columns.
double attention_depth(const MeasuredLaunch& launch) {
  const std::string tile(after(launch.text, "::Tile<", ">"));
  double first = 0, second = 0;
  std::sscanf(tile.c_str(), "%*d, %lf, %lf", &first, &second);
  if (launch.kernel->skeleton == "attention_columns") return 2 * (first + second);
  return (launch.text.find("body.lhs2 = ") != std::string::npos ? 2 * first : first) + second;
}

Extents extents_of(const MeasuredLaunch& launch, std::int64_t size) {
  const std::string_view text = launch.text;
  Extents e;
  e.columns = product(after(text, "columns() { return ", ";"), size);
  if (is_attention(launch)) {
    e.rows = product(after(text, "body.rows = ", ";"), size);
    e.depth = attention_depth(launch);
  }
  if (launch.kernel->skeleton == "column")
    e.summed = product(after(text, "body.rows = ", ";"), size);
  if (launch.kernel->skeleton != "contraction") return e;
  e.rows = product(after(text, "body.rows = ", ";"), size);
  e.depth = product(after(text, "body.depth = ", ";"), size);
  e.lhs_bytes = e.rows * e.depth * element_bytes(launch, "lhs");
  e.rhs_bytes = e.columns * e.depth * element_bytes(launch, "rhs");
  e.tile = after(text, "Tile<", ">");
  e.row_tiles = std::ceil(e.rows / std::atof(e.tile.c_str()));
  e.column_tiles = std::ceil(e.columns / std::atof(e.tile.substr(e.tile.find(',') + 1).c_str()));
  return e;
}

/// Tensor cores take operands of two different formats as tf32, as tensor_contraction.cuh does.
bool multiplies_tf32(std::string_view text) {
  const std::string_view lhs = after(text, "using Lhs = ", ";");
  return lhs == "float" || lhs != after(text, "using Rhs = ", ";");
}

std::string number(double value) { return std::to_string(static_cast<long long>(value)); }

/// Collects the reasons of ratios that are above the limit.
class Judgement {
 public:
  Judgement(const MeasuredLaunch& launch, const Extents& extents, const ir::Chip& chip,
            Floor& floor)
      : launch_(launch), extents_(extents), chip_(chip), floor_(floor) {}

  void judge() {
    judge("memory", floor_.memory, split_reason());
    judge("traffic", floor_.traffic, traffic_reason());
    if (launch_.counters.tensor_operations > 0) judge("work", floor_.work, padding_reason());
    judge("time", floor_.time, time_reason());
  }

 private:
  void judge(const char* name, double ratio, const std::string& reason) {
    if (ratio <= kMostOverFloor) return;
    floor_.excesses.push_back({name, ratio});
    std::string& list = reason.empty() ? floor_.unexplained : floor_.reasons;
    list += (list.empty() ? "" : "; ") + std::string(name) + (reason.empty() ? "" : ": ") + reason;
  }

  [[nodiscard]] std::string few_tiles() const {
    const double tiles = extents_.row_tiles * extents_.column_tiles;
    return tiles <= chip_.sms
               ? number(tiles) + " tiles are for " + std::to_string(chip_.sms) + " SMs"
               : "";
  }

  [[nodiscard]] std::string split_reason() const {
    const std::string few = few_tiles();
    return launch_.cuda->split.most > 1 && !few.empty() ? "the depth is split, since " + few : few;
  }

  /// Rows that do not start at multiples of 16 bytes, of results or of what tiles are staged from.
  [[nodiscard]] std::string traffic_reason() const {
    if (is_attention(launch_))
      return "blocks read the others' lines again, for every reduction of a row once more";
    if (is_pass(launch_))
      return "every block reads turns and, of products, the other spectrum, from cache";
    const auto narrowest = static_cast<double>(*std::ranges::min_element(launch_.element_bytes));
    for (const double extent : {extents_.columns, extents_.depth, extents_.rows})
      if (extent > 0 && std::fmod(extent * narrowest, kAccessBytes) != 0)
        return "rows of " + number(extent * narrowest) +
               " bytes go element by element, and each asks for its sector";
    if (gathers(launch_)) return "windows lie over one another and are read from cache";
    if (extents_.depth > 0) return "";
    if (launch_.text.find(", column, columns(), inputs") != std::string::npos ||
        launch_.text.find("[row];") != std::string::npos)
      return "values of one column or row are read by every warp that needs them, from cache";
    if (finds_lines(launch_)) return "lines that several rows need are read by each, from cache";
    return "";
  }

  [[nodiscard]] std::string padding_reason() const {
    if (is_attention(launch_)) return "scores are computed again for every reduction of a row";
    return "tiles of " + extents_.tile.substr(0, extents_.tile.find(", ", 8)) + " cover " +
           number(extents_.rows) + " x " + number(extents_.columns) + " x " +
           number(extents_.depth);
  }

  [[nodiscard]] std::string time_reason() const {
    if (floor_.microseconds < ir::kLaunchMicroseconds / 2)
      return "a launch takes longer than its work";
    if (is_attention(launch_)) return "elements between the products take f32 instructions";
    if (extents_.summed > 0 && extents_.summed < kTreeRows)
      return "of the tree of " + number(kTreeRows) + " rows there are " + number(extents_.summed);
    if (is_pass(launch_)) return "stages take f32 instructions, which no body counts";
    if (launch_.kernel->skeleton == "contraction") return few_tiles();
    return floor_.is_issue && finds_lines(launch_)
               ? "finding the lines of its inputs takes instructions"
               : "";
  }

  const MeasuredLaunch& launch_;
  const Extents& extents_;
  const ir::Chip& chip_;
  Floor& floor_;
};

/// Seconds at the chip's full rates.
struct Rates {
  double memory, cache, issue, lanes, tensor;

  Rates(const ir::Chip& chip, bool is_tf32) : memory(chip.gigabytesPerSecond * 1e9) {
    const double clocks = chip.sms * chip.gigahertz * 1e9;
    cache = chip.cacheBytes * clocks;
    issue = kWarpsPerClock * clocks;
    lanes = chip.f32Operations / 2 * clocks;
    tensor = (is_tf32 ? chip.tf32Operations : chip.halfOperations) * clocks;
  }
};

}  // namespace

Floor floor_of(const MeasuredLaunch& launch, const std::string& chip, std::int64_t size) {
  const ir::Chip* const known = ir::findChip(chip);
  if (!known || launch.cuda->plans.empty())
    throw std::runtime_error(launch.kernel->name + " has no plan for " + chip);
  const manifest::Cost& cost = launch.cuda->plans.front().cost;
  const simulator::Counters& counted = launch.counters;
  const Extents extents = extents_of(launch, size);
  const bool is_tensor = counted.tensor_operations > 0;
  const bool is_tf32 = multiplies_tf32(launch.text);
  const bool is_group = launch.text.find("kernels::warpgroup_") != std::string::npos;
  const Rates rates(*known, is_tf32);
  const double partials = 2 * launch.partial_bytes;
  // The cost of an attention counts its scores as often as they are computed.
  const double body = is_attention(launch) ? 0 : cost.operations - 2 * extents.products();

  Floor floor;
  floor.operations = is_attention(launch) ? 2 * extents.products() : cost.operations;
  floor.bytes = cost.bytes - partials;
  const double memory = cost.bytes;
  const double traffic = kSectorBytes * static_cast<double>(counted.global_sectors);
  const double needed = memory + extents.lhs_bytes * (extents.column_tiles - 1) +
                        extents.rhs_bytes * (extents.row_tiles - 1);
  const double lanes = body + (is_tensor ? 0 : extents.products());
  const double least = std::max({floor.bytes / rates.memory, lanes / rates.lanes,
                                 is_tensor ? 2 * extents.products() / rates.tensor : 0});
  const double took =
      std::max({memory / rates.memory, traffic / rates.cache, lanes / rates.lanes,
                static_cast<double>(counted.warp_instructions) / rates.issue,
                is_tensor ? static_cast<double>(counted.tensor_operations) / rates.tensor : 0});
  floor.memory = memory / floor.bytes;
  floor.traffic = traffic / needed;
  floor.work = is_tensor ? static_cast<double>(counted.tensor_operations) / (2 * extents.products())
                         : static_cast<double>(counted.thread_instructions) /
                               (lanes + floor.bytes / kAccessBytes);
  floor.time = took / least;
  floor.microseconds = took * 1e6;
  floor.is_issue = took == static_cast<double>(counted.warp_instructions) / rates.issue;
  floor.mma_percent = 100 * static_cast<double>(counted.tensor_operations) /
                      (is_group  ? kGroupOperations
                       : is_tf32 ? kTf32Operations
                                 : kHalfOperations) /
                      static_cast<double>(counted.warp_instructions);
  Judgement(launch, extents, *known, floor).judge();
  return floor;
}

}  // namespace halftone::bench
