// SPDX-License-Identifier: Apache-2.0
// The one header that a model is written with: layers, composition, precision rules, optimizers,
// HALFTONE_MODEL.
#pragma once

#include "halftone/layers.hpp"
#include "halftone/loss_scale.hpp"
#include "halftone/model.hpp"
#include "halftone/precision.hpp"
#include "halftone/training.hpp"

// After the vocabulary, so that a compiler that points into it prints a short chain of includes.
#include "halftone/check.hpp"

// The macros stand in the header that users include, so that g++ begins a diagnostic with the
// user's file.
#if defined(__clang__)
#define HALFTONE_CHECK(model)                                                   \
  _Pragma("clang diagnostic push")                                              \
      _Pragma("clang diagnostic ignored \"-Wc++26-extensions\"") static_assert( \
          ::halftone::dsl::checking::sound<halftone_model_##model>,             \
          ::halftone::dsl::checking::VerdictMessage<halftone_model_##model>{}); \
  _Pragma("clang diagnostic pop")
#else
#define HALFTONE_CHECK(model)                                  \
  static_assert(sizeof(::halftone::dsl::checking::model_error< \
                       ::halftone::dsl::checking::verdict_text<halftone_model_##model>()>));
#endif

// The program that halftone_add_model makes defines HALFTONE_DESCRIBE and asks for the model under
// this name.
#if defined(HALFTONE_DESCRIBE)
#define HALFTONE_OFFER(model) \
  static ::halftone::dsl::Program halftone_described_program() { return halftone_model_##model(); }
#else
#define HALFTONE_OFFER(model)
#endif

/// HALFTONE_MODEL(model, precision, optimizer, clip): checks a model at this line and makes it
/// describable by halftone_add_model. `model` is a constexpr variable; both stand at namespace
/// scope, outside every namespace. The settings come in any order; a model without losses takes no
/// optimizer.
#define HALFTONE_MODEL(model, ...)                                                      \
  [[maybe_unused]] static constexpr auto halftone_settings_##model =                    \
      ::halftone::dsl::gather(__VA_ARGS__);                                             \
  [[maybe_unused]] static constexpr ::halftone::dsl::Program halftone_model_##model() { \
    return ::halftone::dsl::program<model>(halftone_settings_##model);                  \
  }                                                                                     \
  HALFTONE_OFFER(model)                                                                 \
  HALFTONE_CHECK(model)
