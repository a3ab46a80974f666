// SPDX-License-Identifier: Apache-2.0
// What the cases share: structs that fit the model mixture, and one that does with BROKEN not.
#pragma once

#include <cstdint>
#include <halftone/records.hpp>
#include <mixture.hpp>
#include <span>
#include <vector>

using Floats = std::vector<float>;
using Integers = std::vector<std::int32_t>;
using models::mixture::Predictor;
using models::mixture::Signature;
using models::mixture::Trainer;

/// A struct with these members, or with those that stand for them in the sound form.
#ifdef BROKEN
#define RECORD(broken, ...) BOOST_HANA_DEFINE_STRUCT(Record, HALFTONE_MEMBERS broken)
#else
#define RECORD(broken, ...) BOOST_HANA_DEFINE_STRUCT(Record, __VA_ARGS__)
#endif
#define HALFTONE_MEMBERS(...) __VA_ARGS__

struct Batch {
  BOOST_HANA_DEFINE_STRUCT(Batch, (Floats, features), (Integers, class_), (Floats, prior_log));
};
struct Results {
  BOOST_HANA_DEFINE_STRUCT(Results, (Floats, scores), (Floats, evidence_alone));
};
