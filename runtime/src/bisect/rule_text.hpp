// SPDX-License-Identifier: Apache-2.0
// Parts of a precision rule's text: "where layer "fc*" except op gelu if_any : store bf16
// compute bf16 because "..."". What their words mean halftonec knows.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone {

/// What fields begin with, and the reason behind them (P10 to P14, P63).
inline constexpr std::array<std::string_view, 12> kWordsOfFields = {
    "store",     "compute",    "result",        "accumulate", "master", "rounding",
    "recompute", "loss_scale", "memory_budget", "quantize",   "place",  "because"};

/// What it states, one text each: "store bf16", "loss_scale fixed 128". A rounding belongs to the
/// store and compute beside it, and a reason is no field.
[[nodiscard]] std::vector<std::string> fields_of_rule(std::string_view rule);

/// Without the fields of these indices; a rounding goes with the last store or compute.
[[nodiscard]] std::string without_fields(std::string_view rule,
                                         std::span<const std::size_t> fields);

/// With exceptions for the layers of these names, behind those that it has.
[[nodiscard]] std::string with_exceptions(std::string_view rule,
                                          std::span<const std::string> layers);

/// A file for halftonec --rules; without rules it says that all is f32, which must be said.
[[nodiscard]] std::string file_of_rules(std::span<const std::string> rules);

}  // namespace halftone
