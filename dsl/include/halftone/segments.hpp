// SPDX-License-Identifier: Apache-2.0
// Layers over sequences whose times belong to segments, as bytes do to patches, or tokens to
// sentences. An input of segments() gives the segment of every time, (rows..., times); a time whose
// number is below 0, or not below the number of segments, belongs to none. Formulas:
// docs/spec/description.md, D93 and D95.
#pragma once

#include "halftone/layers.hpp"

namespace halftone::dsl {

/// For each of `number` segments of a sequence the sum of the times that belong to it, in their
/// order; 0 where none does: (rows..., times, columns) -> (rows..., number, columns). D93
///   from("bytes") | segment_sum("patches", 64, "patch")
template <Whole Number>
constexpr Spec<2> segment_sum(const char* name, Number number, const char* segments) {
  return one(building::node_with<building::SegmentReduce>(
             name, static_cast<double>(whole_number(number)))) |
         one({.part = Part::operand, .name = segments});
}
/// Likewise their mean.
template <Whole Number>
constexpr Spec<3> segment_mean(const char* name, Number number, const char* segments) {
  return one(building::node_with<building::SegmentReduce>(
             name, static_cast<double>(whole_number(number)))) |
         one(building::setting<building::SegmentReduce>("function",
                                                        building::SegmentReduce::kMean)) |
         one({.part = Part::operand, .name = segments});
}
/// Likewise the largest of them; what arrives goes to the first time that has it.
template <Whole Number>
constexpr Spec<3> segment_max(const char* name, Number number, const char* segments) {
  return one(building::node_with<building::SegmentReduce>(
             name, static_cast<double>(whole_number(number)))) |
         one(building::setting<building::SegmentReduce>("function",
                                                        building::SegmentReduce::kMax)) |
         one({.part = Part::operand, .name = segments});
}

/// For every time the row of its segment, 0 where it belongs to none: (rows..., segments, columns)
/// -> (rows..., times, columns). D95
///   from("patches") | segment_broadcast("to_bytes", "patch")
constexpr Spec<2> segment_broadcast(const char* name, const char* segments) {
  return one(building::node<building::SegmentBroadcast>(name)) |
         one({.part = Part::operand, .name = segments});
}

}  // namespace halftone::dsl
