// SPDX-License-Identifier: Apache-2.0
// The one header that a model is written with: layers, composition, precision rules, optimizers,
// HALFTONE_MODEL.
#pragma once

#include "halftone/attention.hpp"
#include "halftone/autocast.hpp"
#include "halftone/convolutions.hpp"
#include "halftone/gated.hpp"
#include "halftone/layers.hpp"
#include "halftone/loss_scale.hpp"
#include "halftone/losses.hpp"
#include "halftone/misuse.hpp"
#include "halftone/model.hpp"
#include "halftone/pointwise.hpp"
#include "halftone/positions.hpp"
#include "halftone/precision.hpp"
#include "halftone/presets.hpp"
#include "halftone/resampling.hpp"
#include "halftone/schedules.hpp"
#include "halftone/segments.hpp"
#include "halftone/system_presets.hpp"
#include "halftone/training.hpp"

// After the vocabulary, so that a compiler that points into it prints a short chain of includes.
#include "halftone/verdict.hpp"

// The macros stand in the header that users include, so that g++ begins a diagnostic with the
// user's file. The condition stands in parentheses of the outer macro, so that clang does not
// follow the inner one.
#if defined(__clang__)
#define HALFTONE_SOUND(function) ::halftone::dsl::checking::sound<decltype(function)>
#define HALFTONE_SENTENCE(function) \
  , ::halftone::dsl::checking::VerdictMessage<decltype(function)> {}
#define HALFTONE_QUIET \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wc++26-extensions\"")
#define HALFTONE_LOUD _Pragma("clang diagnostic pop")
#else
#define HALFTONE_SOUND(function)                 \
  sizeof(::halftone::dsl::checking::model_error< \
         ::halftone::dsl::checking::verdict_text<decltype(function)>()>) > 0
#define HALFTONE_SENTENCE(function)
#define HALFTONE_QUIET
#define HALFTONE_LOUD
#endif

// The program that halftone_add_model makes defines HALFTONE_DESCRIBE and asks for the type of
// halftone_offered(0): the first HALFTONE_MODEL of the user's header, or nothing.
#if defined(HALFTONE_DESCRIBE)
namespace halftone::dsl {
struct NoModel {};
template <class Of>
struct Offered {
  static constexpr Program program() { return Of{}(); }
};
template <class Before>
inline constexpr bool is_first_offer = std::is_same_v<Before, NoModel>;
template <int>
struct Surplus {};
template <class Before, int Number>
using Offer = std::conditional_t<is_first_offer<Before>, int, Surplus<Number>>;
}  // namespace halftone::dsl
halftone::dsl::NoModel halftone_offered(...);

#define HALFTONE_OFFER(function)                                                                  \
  static_assert(::halftone::dsl::is_first_offer<decltype(::halftone_offered(0))>,                 \
                "HALFTONE_MODEL stands twice in a header: keep one, and give each other model a " \
                "header of its own");                                                             \
  [[maybe_unused]] ::halftone::dsl::Offered<decltype(function)> halftone_offered(                 \
      ::halftone::dsl::Offer<decltype(::halftone_offered(0)), __COUNTER__>);
#else
#define HALFTONE_OFFER(function)
#endif
#define HALFTONE_KEEP(function)

#define HALFTONE_JOINED_(left, right) left##right
#define HALFTONE_JOINED(left, right) HALFTONE_JOINED_(left, right)
#define HALFTONE_NEW(name) HALFTONE_JOINED(halftone_##name, __COUNTER__)

// An object that is called, since no function can be defined inside of one, where compilers would
// say more than the sentence of HALFTONE_MODEL.
#define HALFTONE_CHECKED(use, function, given, model, ...)                             \
  [[maybe_unused]] static constexpr auto given = ::halftone::dsl::gather(__VA_ARGS__); \
  [[maybe_unused]] static constexpr struct {                                           \
    constexpr ::halftone::dsl::Program operator()() const {                            \
      return ::halftone::dsl::assemble(model, given);                                  \
    }                                                                                  \
  } function{};                                                                        \
  HALFTONE_QUIET                                                                       \
  static_assert(bool(HALFTONE_SOUND(function)) HALFTONE_SENTENCE(function));           \
  HALFTONE_LOUD                                                                        \
  use(function)

/// Declared again by each HALFTONE_MODEL: inside of a namespace, class or function that is another
/// type.
struct halftone_place;

/// HALFTONE_MODEL(model, precision, optimizer, clip): checks a model at this line and makes it
/// describable by halftone_add_model. `model` is a constexpr variable at namespace scope; the macro
/// stands outside every namespace, once in a header. The settings come in any order; a model
/// without losses takes no optimizer.
#define HALFTONE_MODEL(model, ...)                                                                \
  struct halftone_place;                                                                          \
  static_assert(::std::is_same_v<halftone_place, ::halftone_place>,                               \
                "HALFTONE_MODEL stands in a namespace, class or function, where the generator "   \
                "does not find it: write it outside of all, as HALFTONE_MODEL(inner::net, ...)"); \
  HALFTONE_CHECKED(HALFTONE_OFFER, HALFTONE_NEW(model_), HALFTONE_NEW(given_), model, __VA_ARGS__)

#define HALFTONE_NAMED(program, checked, given, model, ...)           \
  HALFTONE_CHECKED(HALFTONE_KEEP, checked, given, model, __VA_ARGS__) \
  [[maybe_unused]] static constexpr ::halftone::dsl::Program program() { return checked(); }

/// HALFTONE_PROGRAM(program, model, ...): checks a model likewise and names it, for programs that
/// hold several and describe them on their own (describe.hpp): `program()` returns it. Stands in
/// any namespace.
#define HALFTONE_PROGRAM(program, model, ...) \
  HALFTONE_NAMED(program, HALFTONE_NEW(program_), HALFTONE_NEW(given_), model, __VA_ARGS__)
