// SPDX-License-Identifier: Apache-2.0
// The words for every rule that cannot be meant: the trouble, the remedy and the label.
#pragma once

#include "halftone/description/rule_faults.hpp"

namespace halftone::description::rules {

/// Why a field has nothing to act on, and what to do.
constexpr const char* idle_words(Field field) {
  switch (field) {
    case Field::store:
      return "states a store, but nothing that it selects is stored; name layers, or a role that "
             "they have (P42)";
    case Field::compute:
      return "states a compute, but selects no operand; name operations and roles that they read "
             "(P42)";
    case Field::result:
      return "states a result, but selects no operation whose result is stored; name one (P42)";
    case Field::accumulate:
      return "states accumulate, but selects no contraction; name one or leave it out (P42)";
    case Field::master:
      return "states a master, but selects no parameter; name one or leave it out (P42)";
    case Field::quantize:
      return "states quantize, but selects no weight; name role weight, and one that the model has "
             "(P80)";
    case Field::place:
      return "states a place, but selects no state of an optimizer, nor an activation that a "
             "backward pass could read; name role optimizer_state or activation, and train "
             "something (P91, P98)";
    case Field::recompute:
      return "states recompute, but selects no activation that a backward pass could read; name a "
             "layer of a model with losses (P42)";
    default:
      return "states a rounding, but selects nothing that is rounded; name what is (P42)";
  }
}

/// What follows "the rule ...": a blank, the trouble, the remedy and the label. `out` has put(text)
/// and quote(text).
template <class Out>
constexpr void write_field_fault(Out& out, const Finding& found) {
  const char* const field = kFieldWords[static_cast<int>(found.field)];
  switch (found.trouble) {
    case Trouble::no_field:
      return out.put(
          " states no field; state store, compute, result, accumulate, master, "
          "rounding, recompute, loss_scale, memory_budget, quantize or place (P41)");
    case Trouble::store_format:
      out.put(" stores ");
      out.put(found.word);
      return out.put(
          ", which nothing is held in; store f32, f16, bf16, f8e4m3, f8e5m2 or follow (P42)");
    case Trouble::compute_format:
    case Trouble::result_format:
      out.put(" states ");
      out.put(field);
      out.put(" ");
      out.put(found.word);
      return out.put(
          ", which nothing is computed in; write f32, tf32, f16, bf16, f8e4m3 or f8e5m2 (P42)");
    case Trouble::master_format:
      return out.put(
          " keeps masters in another format than f32, or bf16 with a remainder; write master f32 "
          "or "
          "master bf16 remainder (P42)");
    case Trouble::field_encoding:
      out.put(" states a ");
      out.put(field);
      out.put(" that ");
      out.put(found.word);
      return out.put(" (P42)");
    case Trouble::field_rounding:
      out.put(" rounds inside of ");
      out.put(field);
      return out.put("; state rounding, a field of its own (P15)");
    case Trouble::field_scaled:
      out.put(" scales its ");
      out.put(field);
      return out.put(
          ", but operands alone are scaled; state compute scaled, or leave the scaling out (P51)");
    case Trouble::follow_with_format:
      out.put(" states ");
      out.put(field);
      return out.put(" follow together with a format; leave the format f32 (P42)");
    case Trouble::lone_rounding:
      return out.put(
          " states a rounding beside neither store nor compute; add the one that it is "
          "for (P42)");
    case Trouble::stochastic_f32:
      return out.put(
          " rounds stochastically beside f32, to which nothing is rounded; store or compute a "
          "narrower format, or leave the rounding out (P42)");
    case Trouble::scale_number:
      out.put(" has a loss scale with ");
      out.put(found.word);
      return out.put(" that is not positive and finite in f32; write such a number (P43)");
    case Trouble::scale_divisor:
      out.put(" has a loss scale with ");
      out.put(found.word);
      return out.put(" of which 1/scale is not finite in f32; write a number above 3e-39 (P43)");
    case Trouble::scale_order:
      return out.put(
          " has a loss scale that starts outside of its bounds; make floor <= initial "
          "<= ceiling (P43)");
    case Trouble::scale_growth:
      return out.put(
          " has a loss scale whose growth is not finite and above 1 in f32; write 2 "
          "(P43)");
    case Trouble::scale_backoff:
      return out.put(
          " has a loss scale whose backoff is not between 0 and 1 in f32; write 0.5 "
          "(P43)");
    case Trouble::scale_count:
      out.put(" has a loss scale with ");
      out.put(found.word);
      return out.put(" outside of 1 to 16777216; write a number in there (P43)");
    case Trouble::budget_share:
      return out.put(
          " has a memory budget that is no share above 0 and at most 1; write such a share, as "
          "0.6, "
          "or the bytes (P43)");
    case Trouble::budget_bytes:
      return out.put(" has a memory budget of no bytes; write a number above 0 (P43)");
    case Trouble::budget_surplus:
      return out.put(
          " has a memory budget of both a share and bytes; leave one of the two as it is by itself "
          "(P43)");
    case Trouble::quantize_format:
      out.put(" quantizes to ");
      out.put(found.word);
      return out.put(
          ", which no weight of a predictor is held in; write i8, f8e4m3, or f32 for as it is "
          "(P80)");
    case Trouble::quantize_scale:
      return out.put(
          " seeks scales for weights in f32, which have none; leave least_error out (P80)");
    default:
      return out.put(
          " gives a loss scale that is not dynamic the settings of one; leave them out "
          "(P43)");
  }
}

template <class Out>
constexpr void write_clause_fault(Out& out, const Finding& found) {
  const char* const field = kFieldWords[static_cast<int>(found.field)];
  const char* const role = kRoleWords[static_cast<int>(found.role)];
  switch (found.trouble) {
    case Trouble::no_part:
      return out.put(
          " has a clause without parts; name layer, class, op, role, pass or target, or "
          "write everywhere (P41)");
    case Trouble::wrong_bounds:
      out.put(" states ");
      out.put(found.word);
      return out.put("; correct the number or leave it out (P60)");
    case Trouble::long_glob:
      return out.put(
          " names a layer by more than 126 characters, the most that are matched; write * in place "
          "of some of them (P40)");
    case Trouble::not_a_chip:
      out.put(" names the chip ");
      out.quote(found.word);
      return out.put(
          ", which is none; write cpu, or sm_ and a number such as sm_80 or sm_90a "
          "(P40)");
    case Trouble::ordered_cpu:
      return out.put(
          " orders cpu among chips, but it is neither before nor after one; write cpu "
          "alone (P40)");
    case Trouble::source_as_op:
      return out.put(
          " names an op that is no layer or loss; name inputs and states not at all, "
          "parameters by role weight (P40)");
    case Trouble::class_and_op:
      return out.put(" names a class and an op that exclude each other; keep one of them (P41)");
    case Trouble::role_and_pass:
      return out.put(" names a role and a pass that exclude each other; keep one of them (P41)");
    case Trouble::beside_role:
      out.put(" states ");
      out.put(field);
      return out.put(
          " beside a role, which an operation does not have; name a pass instead, or "
          "write a rule of its own (P42)");
    case Trouble::always_f32:
      out.put(" states ");
      out.put(field);
      out.put(" for role ");
      out.put(role);
      return out.put(", which is always f32; remove that role (P42)");
    case Trouble::weight_gradient_store:
      return out.put(
          " stores role weight_gradient in another format than f32; round it with result "
          "in pass weight_gradient (P42)");
    case Trouble::nothing_to_follow:
      out.put(" lets the store of role ");
      out.put(role);
      return out.put(" follow, but it has nothing to follow; write a format (P42)");
    case Trouble::recompute_role:
      out.put(" states recompute for role ");
      out.put(role);
      return out.put("; activations alone are recomputed, so remove that role (P42)");
    case Trouble::recompute_pass:
      return out.put(
          " states recompute for a backward pass; activations belong to pass forward, so "
          "remove the pass (P42)");
    case Trouble::quantize_role:
      out.put(" states quantize for role ");
      out.put(role);
      return out.put("; weights alone are quantized, so write role weight (P80)");
    case Trouble::quantize_pass:
      return out.put(
          " states quantize in a pass, but a predictor holds a weight once for all that read it; "
          "remove the pass (P80)");
    case Trouble::place_role:
      out.put(" states a place for role ");
      out.put(role);
      return out.put(
          "; the optimizer's states and activations alone may lie elsewhere, so write role "
          "optimizer_state or activation (P91, P98)");
    case Trouble::stochastic_internal:
      return out.put(
          " rounds role internal stochastically, but nothing is drawn inside of a formula; write "
          "nearest_even or toward_zero, or remove that role (P42)");
    case Trouble::state_format:
      out.put(" stores role optimizer_state in ");
      out.put(found.word);
      return out.put(
          ", which has too few numbers for states without scales; store f32, f16 or bf16 (P68), "
          "or f8e4m3 scaled in blocks (P86)");
    case Trouble::state_scaling:
      return out.put(
          " stores role optimizer_state in a scaled format that states do not have; store f8e4m3 "
          "or "
          "f8e5m2 scaled block N f32 saturate, N being a power of two from 32 to 1024 (P86)");
    case Trouble::flat_with_parts:
      if (found.field == Field::master) {
        return out.put(
            " speaks of masters of some parameters, or in some stages, beside a remainder, but "
            "those "
            "of all lie in one buffer that stages share; select by role master and target alone "
            "(P69, P71)");
      }
      if (found.field == Field::place) {
        return out.put(
            " places states of some parameters, or in some stages, and not of others, but all lie "
            "in "
            "one buffer that stages share; select by role and target alone (P91)");
      }
      return out.put(
          " stores role optimizer_state of some parameters, or in some stages, and not of others, "
          "but "
          "all lie in one buffer that stages share; select by role and target alone, in a rule of "
          "its own (P68, P71)");
    default:
      if (found.field == Field::memory_budget) {
        return out.put(
            " states memory_budget and selects by more than target; the model has one memory "
            "budget, so write a rule for it (P42)");
      }
      return out.put(
          " states loss_scale and selects by more than target; the model has one loss "
          "scale, so write a rule for it (P42)");
  }
}

/// Of a rule that names an internal value which layers of the kind do not have.
template <class Out>
constexpr void write_internals(Out& out, Kind kind) {
  const KindForm& form = form_of(kind);
  out.put(", but ");
  out.put(form.word);
  if (form.internals.size == 0) return out.put(" has no internal values; remove the rule (P40)");
  out.put(" has no such internal value; write one that it has: ");
  for (int i = 0; i < form.internals.size; ++i) {
    if (i > 0) out.put(i + 1 < form.internals.size ? ", " : " or ");
    out.put(form.internals[i]);
  }
  out.put(" (P40)");
}

/// `glob` is that of the clause, null or empty when it has none.
template <class Out>
constexpr void write_fault(Out& out, const Finding& found, const char* glob) {
  if (found.trouble <= Trouble::quantize_scale) return write_field_fault(out, found);
  if (found.trouble <= Trouble::scale_with_parts) return write_clause_fault(out, found);
  switch (found.trouble) {
    case Trouble::no_loss:
      if (found.field == Field::memory_budget) {
        return out.put(
            " states memory_budget, but this model has no loss and so no backward pass; remove it "
            "(P42)");
      }
      return out.put(" states loss_scale, but this model has no loss to scale; remove it (P42)");
    case Trouble::unknown_name:
      out.put(" names ");
      out.quote(glob);
      return out.put(
          ", but no layer and no parameter is called that; correct the name or remove "
          "the rule (P40)");
    case Trouble::unknown_internal:
      out.put(" names ");
      out.quote(glob);
      return write_internals(out, found.kind);
    case Trouble::internal_without_role:
      out.put(" names ");
      out.quote(glob);
      return out.put(", an internal value, but not its role; add role internal (P40)");
    case Trouble::absent_op:
      if (glob == nullptr || *glob == 0) {
        return out.put(
            " names a class or op that this model does not have; correct it or remove "
            "the rule (P40)");
      }
      out.put(" names ");
      out.quote(glob);
      return out.put(
          ", but the layers called that are of another class or op; correct one of the "
          "two (P40)");
    case Trouble::no_backward:
      return out.put(
          " speaks of a backward pass, which a model without losses does not have; "
          "remove the rule (P40)");
    case Trouble::empty_combination:
      return out.put(
          " combines parts that no operation and no value of this model has; correct one "
          "of them or remove the rule (P40)");
    case Trouble::out_of_bounds:
      return out.put(
          " selects by first, last, depth, at_least or smaller_than, and nothing that its clause "
          "names lies in these bounds; correct them or remove the rule (P60)");
    case Trouble::idle_exception:
      return out.put(
          " makes an exception of what it does not speak of; correct the exception or leave it out "
          "(P61)");
    case Trouble::all_excepted:
      return out.put(
          " has exceptions that leave nothing of what a clause names; correct them or remove the "
          "clause (P61)");
    case Trouble::idle_clause:
      return out.put(
          " has a clause that selects nothing with one of its fields; remove the clause "
          "or state a field for it (P42)");
    default:
      out.put(" ");
      return out.put(idle_words(found.field));
  }
}

}  // namespace halftone::description::rules
