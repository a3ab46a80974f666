// SPDX-License-Identifier: Apache-2.0
// Precision rules: what they state.
#include <cases.hpp>

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));

// EXPECT accumulate_bf16: accumulates in another format than f32; write accumulate(f32),
// accumulate(ordered), accumulate(hardware) or accumulate(promoted) (P42)
RULE(everywhere(accumulate(bf16)), everywhere(accumulate(ordered)))

// EXPECT accumulate_of_role: states accumulate beside a role, which an operation does not have;
RULE(where(contraction& weights)(accumulate(ordered)),
     where(contraction& forward_pass)(accumulate(ordered)))

// EXPECT compute_of_gradient_role: the rule 'where role weight_gradient : compute bf16' states a
// compute, but selects no operand; name operations and roles that they read (P42)
RULE(where(weight_gradients)(compute(bf16)), where(gradients)(compute(bf16)))

// EXPECT compute_optimizer: states compute for role optimizer_state, which is always f32; remove
// that role (P42)
RULE(where(weights | optimizer_states)(compute(bf16)), where(weights)(compute(bf16)))

// EXPECT everywhere_empty: the rule 'everywhere :' states no field;
RULE(everywhere(), everywhere(store(f32)))

// EXPECT everywhere_without_contraction: the rule 'everywhere : accumulate ordered' states
// accumulate, but selects no contraction;
namespace everywhere_without_contraction {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | relu("act") | output("z"));
MODEL(net, precision(either(everywhere(accumulate(ordered)),
                            everywhere(accumulate(ordered), store(f32)))))
}  // namespace everywhere_without_contraction

// EXPECT everywhere_without_parameter: the rule 'everywhere : master f32' states a master, but
// selects no parameter; name one or leave it out (P42)
namespace everywhere_without_parameter {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | relu("act") | output("z"));
MODEL(net, precision(either(everywhere(master(f32)), everywhere(master(f32), compute(f32)))))
}  // namespace everywhere_without_parameter

// EXPECT field_twice: the rule 'everywhere : store bf16 store f16' states store twice; keep one of
// them (P41)
RULE(everywhere(store(bf16), store(f16)), everywhere(store(bf16), compute(f16)))

// EXPECT frozen_gradient: the rule 'where layer "first" pass weight_gradient : result bf16'
// combines parts that no operation and no value
namespace frozen_gradient {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("first", 8, frozen) | linear("fc", 4) | output("guess"),
          losses(mse("error", "guess", "y")));
MODEL(net, adamw(),
      precision(either(where(layer("first") & weight_gradient_pass)(result(bf16)),
                       where(layer("fc") & weight_gradient_pass)(result(bf16)))))
}  // namespace frozen_gradient

// EXPECT gradient_of_frozen: the rule 'where layer "backbone/**" role gradient : store bf16'
// combines parts that no operation and no value
namespace gradient_of_frozen {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    from("x") | repeat<3>("backbone", linear("fc", 8, frozen) | relu("act")) | linear("first", 8) |
        repeat<2>("h", linear("fc", 8)) | linear("last", 4) | output("guess"),
    losses(mse("error", "guess", "y")));
MODEL(net, adamw(),
      precision(either(where(layer("backbone/**") & gradients)(store(bf16)),
                       where(layer("{first,h/*/fc,last}") & gradients)(store(bf16)))))
}  // namespace gradient_of_frozen

// EXPECT gradient_of_input: the rule 'where layer "first" pass input_gradient : compute bf16'
// states a compute, but selects no operand
namespace gradient_of_input {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("first", 8) | linear("fc", 4) | output("guess"),
                           losses(mse("error", "guess", "y")));
MODEL(net, adamw(),
      precision(either(where(layer("first") & input_gradient_pass)(compute(bf16)),
                       where(layer("fc") & input_gradient_pass)(compute(bf16)))))
}  // namespace gradient_of_input

// EXPECT gradient_of_repeat: the rule 'where layer "h/*/fc" pass input_gradient : compute bf16'
// states a compute, but selects no operand
namespace gradient_of_repeat {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    from("x") | repeat<either(1, 2)>("h", linear("fc", 8)) | linear("last", 4) | output("guess"),
    losses(mse("error", "guess", "y")));
MODEL(net, adamw(),
      precision(either(where(layer("h/*/fc") & input_gradient_pass)(compute(bf16)),
                       where(layer("h/*/fc") & input_gradient_pass)(compute(bf16)))))
}  // namespace gradient_of_repeat

// EXPECT idle_accumulate: the rule 'where op gelu : accumulate ordered' states accumulate, but
// selects no contraction; name one or leave it out (P42)
RULE(where(op("gelu"))(accumulate(ordered)), where(op("linear"))(accumulate(ordered)))

// EXPECT internal_follows: lets the store of role internal follow, but it has nothing to follow;
RULE(where(internal_values)(store(follow)), where(internal_values)(store(bf16)))

// EXPECT internal_without_role: the rule 'where layer "fc.product" : store bf16' names
// "fc.product", an internal value, but not its role; add role internal (P40)
RULE(where(layer("fc.product"))(store(bf16)),
     where(layer("fc.product") & internal_values)(store(bf16)))

// EXPECT internal_unknown: names "fc.sum", but linear has no such internal value; write one that it
// has: product (P40)
RULE(where(layer("fc.sum") & internal_values)(store(bf16)),
     where(layer("*.product") & internal_values)(store(tf32), rounding(toward_zero)))

// EXPECT internal_of_gelu: names "act.product", but gelu has no internal values; remove the rule
RULE(where(layer("act.product") & internal_values)(store(bf16)),
     where(op("linear") & internal_values)(store(bf16)))

// EXPECT loss_gradient: the rule 'where class loss role gradient : compute bf16' combines parts
// that no operation
RULE(where(loss& gradients)(compute(bf16)), where(loss& saved_activations)(compute(bf16)))

// EXPECT master_and_pass: the rule 'where role master pass forward : master f32' names a role and a
// pass that exclude each other;
RULE(where(master_weights& forward_pass)(master(f32)), where(master_weights)(master(f32)))

// EXPECT master_bf16: the rule 'everywhere : master bf16' keeps masters in another format than f32,
// or bf16 with a remainder; write master f32 or master bf16 remainder (P42)
RULE(everywhere(master(bf16)), everywhere(master(f32)))

// EXPECT split_of_some: the rule 'where layer "fc" : master bf16 remainder' speaks of masters of
// some parameters, or in some stages, beside a remainder, but those of all lie in one buffer that
// stages share; select by role master and target alone (P69, P71)
RULE(where(layer("fc"))(master(bf16, with_remainder)),
     where(master_weights)(master(bf16, with_remainder)))

// EXPECT states_of_some: the rule 'where layer "fc" role optimizer_state : store bf16' stores role
// optimizer_state of some parameters, or in some stages, and not of others, but all lie in one buffer
// that stages share; select by role and target alone, in a rule of its own (P68, P71)
RULE(where(layer("fc") & optimizer_states)(store(bf16)), where(optimizer_states)(store(bf16)))

// EXPECT states_of_few_bits: stores role optimizer_state in f8e4m3, which has too few numbers for
// states without scales; store f32, f16 or bf16 (P68)
RULE(where(optimizer_states)(store(f8e4m3)), where(optimizer_states)(store(f16, saturate)))

// EXPECT master_of_activation: the rule 'where op gelu : master f32' states a master, but selects
// no parameter;
RULE(where(op("gelu"))(master(f32)), where(op("linear"))(master(f32)))

// EXPECT no_fields: the rule 'where layer "fc" :' states no field; state store, compute, result,
// accumulate, master, rounding, recompute, loss_scale, memory_budget, quantize or place (P41)
RULE(where(layer("fc"))(), where(layer("fc"))(compute(f32)))

// EXPECT recompute_loss: the rule 'where class loss : recompute always' states recompute, but
// selects no activation that a backward pass could read; name a layer of a model with losses (P42)
RULE(where(loss)(recompute(always)), where(activation_function)(recompute(always)))

// EXPECT recompute_pass: states recompute for a backward pass; activations belong to pass forward,
// so remove the pass (P42)
RULE(where(input_gradient_pass)(recompute(never)), where(forward_pass)(recompute(never)))

// EXPECT recompute_role: states recompute for role saved; activations alone are recomputed, so
// remove that role (P42)
RULE(where(saved_activations)(recompute(always)), where(activations)(recompute(always)))

// EXPECT recompute_without_loss: states recompute, but selects no activation
namespace recompute_without_loss {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("fc", 4) | gelu("act") | output("z"));
MODEL(net,
      precision(either(where(layer("fc"))(recompute(always)), where(layer("fc"))(compute(bf16)))))
}  // namespace recompute_without_loss

// EXPECT result_follow: lets result follow, which store and compute alone can; write a format (P42)
RULE(everywhere(result(follow)), everywhere(compute(follow)))

// EXPECT result_of_loss: the rule 'where class loss pass forward : result bf16' states a result,
// but selects no operation whose result is stored; name one (P42)
RULE(where(loss& forward_pass)(result(bf16)), where(loss& input_gradient_pass)(result(bf16)))

// EXPECT result_of_role: the rule 'where role weight : compute bf16 result bf16' states result
// beside a role, which an operation does not have; name a pass instead, or write a rule of its own
// (P42)
RULE(where(weights)(compute(bf16), result(bf16)), where(weights)(compute(bf16), store(bf16)))

// EXPECT rounding_alone: the rule 'where layer "fc" : rounding toward_zero' states a rounding
// beside neither store nor compute; add the one that it is for (P42)
RULE(where(layer("fc"))(rounding(toward_zero)),
     where(layer("fc"))(store(bf16), rounding(toward_zero)))

// EXPECT rounding_of_result: states a rounding beside neither store nor compute;
RULE(everywhere(result(bf16), rounding(toward_zero)),
     everywhere(result(bf16), compute(bf16), rounding(toward_zero)))

// EXPECT stochastic_f32: the rule 'everywhere : store f32 rounding stochastic' rounds
// stochastically beside f32, to which nothing is rounded; store or compute a narrower format, or
// leave the rounding out (P42)
RULE(everywhere(store(f32), rounding(stochastic)), everywhere(store(bf16), rounding(stochastic)))

// EXPECT stochastic_internal: the rule 'where role internal : store bf16 rounding stochastic'
// rounds role internal stochastically, but nothing is drawn inside of a formula; write nearest_even
// or toward_zero, or remove that role (P42)
RULE(where(internal_values)(store(bf16), rounding(stochastic)),
     where(saved_activations)(store(bf16), rounding(stochastic)))

// EXPECT scaled_store: the rule 'everywhere : store f8e4m3 scaled tensor f8e8m0 saturate' scales
// its store, but operands alone are scaled; state compute scaled, or leave the scaling out (P51)
RULE(everywhere(store(scaled(f8e4m3))), everywhere(compute(scaled(f8e4m3))))

// EXPECT scaled_result: the rule 'everywhere : result f8e4m3 scaled block 32 f8e8m0 saturate'
// scales its result, but operands alone are scaled; state compute scaled, or leave the scaling out
RULE(everywhere(result(scaled(f8e4m3, block(32)))), everywhere(result(f8e4m3, saturate)))

// EXPECT scaled_accumulate: accumulates in another format than f32; write accumulate(f32),
// accumulate(ordered), accumulate(hardware) or accumulate(promoted) (P42)
RULE(everywhere(accumulate(scaled(f8e4m3))), everywhere(accumulate(ordered)))

// EXPECT scaled_master: keeps masters in another format than f32, or bf16 with a remainder; write
// master f32 or master bf16 remainder (P42)
RULE(everywhere(master(scaled(f8e5m2))), everywhere(master(f32)))

// EXPECT scaled_bf16: the rule 'everywhere : compute bf16 scaled tensor f8e8m0 saturate' states a
// compute that scales an element of more than 8 bits (P51); state f8e4m3, f8e5m2, f6e3m2, f6e2m3 or
// f4e2m1 (P42)
RULE(everywhere(compute(scaled(bf16))), everywhere(compute(scaled(f8e5m2))))

// EXPECT scaled_f16: scales an element of 16 bits by powers of two, or in blocks (P100); state a
// scale of f32 for the tensor, for each row or for each column (P42)
RULE(everywhere(compute(scaled(f16))), everywhere(compute(scaled(f16, f32))))

// EXPECT scaled_blocks_of_one: the rule 'everywhere : compute f8e4m3 scaled block 1 f8e8m0
// saturate' states a compute that has blocks of one element, or of more than 4096 rows or columns
// (P51); state as many as 32 or 128 (P42)
RULE(everywhere(compute(scaled(f8e4m3, block(1)))), everywhere(compute(scaled(f8e4m3, block(2)))))

// EXPECT scaled_blocks_too_long: has blocks of one element, or of more than 4096 rows or columns
// (P51); state as many as 32 or 128 (P42)
RULE(everywhere(compute(scaled(f8e4m3, block(4294967328)))),
     everywhere(compute(scaled(f8e4m3, block(4096)))))

// EXPECT scaled_blocks_too_high: the rule 'everywhere : compute f8e4m3 scaled block 4097 by 1
// f8e8m0 saturate' states a compute that has blocks of one element, or of more than 4096 rows
RULE(everywhere(compute(scaled(f8e4m3, block(4097, 1)))),
     everywhere(compute(scaled(f8e4m3, block(4096, 1)))))

// EXPECT scaled_by_numbers: has scales of f8e4m3 on another element than f4e2m1 (P77); state them
// as f8e8m0 (P42)
RULE(everywhere(compute(scaled(f8e4m3, block(16), f8e4m3))),
     everywhere(compute(scaled(f4e2m1, block(16), f8e4m3))))

// EXPECT scaled_halves_in_blocks: scales an element of 16 bits by powers of two, or in blocks (P100);
// state a scale of f32 for the tensor, for each row or for each column (P42)
RULE(everywhere(compute(scaled(f16, block(128), f32))),
     everywhere(compute(scaled(f8e4m3, block(128), f32))))

// EXPECT scaled_blocks_under_f32: states a scale of the tensor beside others than blocks' of f8e4m3, or
// in another format than f32 (P97); leave under out, or state block 16 f8e4m3 under f32 (P42)
RULE(everywhere(compute(scaled(f4e2m1, block(16), f32, f32))),
     everywhere(compute(scaled(f4e2m1, block(16), f32))))

// EXPECT scaled_under_another: states a scale of the tensor beside others than blocks' of f8e4m3, or in
// another format than f32 (P97); leave under out, or state block 16 f8e4m3 under f32 (P42)
RULE(everywhere(compute(scaled(f4e2m1, block(16), f8e8m0, f32))),
     everywhere(compute(scaled(f4e2m1, block(16), f8e4m3, f32))))

// EXPECT rotated_squares: the rule 'everywhere : compute f4e2m1 scaled block 16 by 16 f8e4m3 rotated
// saturate' states a compute that rotates others than blocks of 16 in a row or a column (P105); state
// block 16 or block 16 by 1, or leave rotated out (P42)
RULE(everywhere(compute(rotated(scaled(f4e2m1, block(16, 16), f8e4m3)))),
     everywhere(compute(rotated(scaled(f4e2m1, block(16, 1), f8e4m3)))))

// EXPECT rotated_tensor: rotates others than blocks of 16 in a row or a column (P105); state block 16
// or block 16 by 1, or leave rotated out (P42)
RULE(everywhere(compute(rotated(scaled(f8e4m3)))),
     everywhere(compute(rotated(scaled(f8e4m3, block(16))))))

// EXPECT scaled_without_history: the rule 'everywhere : compute f8e4m3 scaled delayed 0 f8e8m0
// saturate' states a compute that has a history of fewer than 1 or more than 4096 steps (P72); state
// as many as 1024 (P42)
RULE(everywhere(compute(scaled(f8e4m3, delayed(0)))), everywhere(compute(scaled(f8e4m3, delayed(1)))))

// EXPECT scaled_without_end: the rule 'everywhere : compute f8e4m3 scaled delayed 2147483647 f8e8m0
// saturate' states a compute that has a history of fewer than 1 or more than 4096 steps (P72); state
// as many as 1024 (P42)
RULE(everywhere(compute(scaled(f8e4m3, delayed(99999999999)))),
     everywhere(compute(scaled(f8e4m3, delayed(4096)))))

// EXPECT scaled_margin: the rule 'everywhere : compute f8e4m3 scaled delayed 16 margin 17 f8e8m0
// saturate' states a compute that has a margin outside of 0 to 16 powers of two (P72); leave margin
// out, or state 1 (P42)
RULE(everywhere(compute(scaled(f8e4m3, delayed(16, 17)))),
     everywhere(compute(scaled(f8e4m3, delayed(16, 16)))))

// EXPECT scaled_by_number: states compute with what is no value of it; write
RULE(everywhere(compute(scaled(f8e4m3, 32)), store(bf16)),
     everywhere(compute(scaled(f8e4m3, block(32)), saturate)))

// EXPECT saved_in_backward: the rule 'where role saved pass input_gradient : store bf16' states a
// store, but nothing that it selects is stored;
RULE(where(saved_activations& input_gradient_pass)(store(bf16)),
     where(saved_activations& input_gradient_pass)(compute(bf16)))

// EXPECT saved_without_loss: the rule 'where role saved : store bf16' speaks of a backward pass,
namespace saved_without_loss {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("fc", 4) | gelu("act") | output("z"));
MODEL(net,
      precision(either(where(saved_activations)(store(bf16)), where(activations)(store(bf16)))))
}  // namespace saved_without_loss

// EXPECT of_layer: the rule 'where layer "fc" : loss_scale dynamic' states loss_scale and selects
// by more than target; the model has one loss scale, so write a rule for it (P42)
RULE(where(layer("fc"))(dynamic_loss_scale()), where(on(before(sm_80)))(dynamic_loss_scale()))

// EXPECT budget_of_layer: the rule 'where layer "fc" : memory_budget share' states memory_budget and
// selects by more than target; the model has one memory budget, so write a rule for it (P42)
RULE(where(layer("fc"))(memory_budget(0.5)), where(on(before(sm_80)))(memory_budget(0.5)))

// EXPECT budget_of_percents: has a memory budget that is no share above 0 and at most 1; write such
// a share, as 0.6, or the bytes (P43)
RULE(everywhere(memory_budget(60)), everywhere(memory_budget(0.6)))

// EXPECT budget_of_no_bytes: has a memory budget of no bytes; write a number above 0 (P43)
RULE(everywhere(memory_budget_bytes(0)), everywhere(memory_budget_bytes(1 << 20)))

// EXPECT quantized_activations: states quantize for role activation; weights alone are quantized, so
// write role weight (P80)
RULE(where(activations)(quantize(i8)), where(weights)(quantize(i8)))

// EXPECT quantized_without_role: states quantize, but selects no weight; name role weight, and one
// that the model has (P80)
RULE(everywhere(quantize(i8)), where(weights)(quantize(i8)))

// EXPECT quantized_bias: the rule 'where layer "fc.bias" role weight : quantize i8' states quantize,
// but selects no weight;
RULE(where(layer("fc.bias") & weights)(quantize(i8)), where(layer("fc") & weights)(quantize(i8)))

// EXPECT quantized_in_pass: states quantize in a pass, but a predictor holds a weight once for all
// that read it; remove the pass (P80)
RULE(where(weights& forward_pass)(quantize(i8)), where(weights)(quantize(f8e4m3)))

// EXPECT quantized_to_bf16: quantizes to bf16, which no weight of a predictor is held in; write i8,
// f8e4m3, or f32 for as it is (P80)
RULE(where(weights)(quantize(bf16)), where(weights)(quantize(f8e4m3)))

// EXPECT sought_in_f32: seeks scales for weights in f32, which have none; leave least_error out (P80)
RULE(where(weights)(quantize(f32, least_error)), where(weights)(quantize(f32)))

// EXPECT placed_masters: states a place for role master; the optimizer's states and activations alone
// may lie elsewhere, so write role optimizer_state or activation (P91, P98)
RULE(where(master_weights)(place(host)), where(optimizer_states)(place(host)))

// EXPECT placed_without_role: states a place, but selects no state of an optimizer, nor an activation
// that a backward pass could read; name role optimizer_state or activation, and train something (P91,
// P98)
RULE(everywhere(place(host)), where(optimizer_states)(place(host)))

// EXPECT placed_gradients: states a place for role gradient; the optimizer's states and activations
// alone may lie elsewhere, so write role optimizer_state or activation (P91, P98)
RULE(where(layer("fc") & gradients)(place(host)), where(layer("fc") & activations)(place(host)))

// EXPECT places_of_some: places states of some parameters, or in some stages, and not of others, but
// all lie in one buffer that stages share; select by role and target alone (P91)
RULE(where(layer("fc") & optimizer_states)(place(host)),
     where(optimizer_states & on(sm_80))(place(on_device)))

// EXPECT without_loss: the rule 'everywhere : store f32 loss_scale fixed' states loss_scale, but
// this model has no loss to scale; remove it (P42)
namespace without_loss {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("fc", 4) | gelu("act") | output("z"));
MODEL(net, precision(either(everywhere(store(f32), fixed_loss_scale(128)), everywhere(store(f32)))))
}  // namespace without_loss

// EXPECT store_master: the rule 'where role master : store bf16' states store for role master,
// which is always f32; remove that role (P42)
RULE(where(master_weights)(store(bf16)), where(weights)(store(bf16)))

// EXPECT store_of_loss: the rule 'where class loss : store bf16' states a store, but nothing that
// it selects is stored; name layers, or a role that they have (P42)
RULE(where(loss)(store(bf16)), where(loss)(compute(bf16)))

// EXPECT store_of_weight_pass: the rule 'where role weight pass forward : store bf16' states a
// store, but nothing that it selects is stored;
RULE(where(weights& forward_pass)(store(bf16)), where(weights& forward_pass)(compute(bf16)))

// EXPECT store_tf32: the rule 'everywhere : store tf32' stores tf32, which nothing is held in;
// store f32, f16, bf16, f8e4m3, f8e5m2 or follow (P42)
RULE(everywhere(store(tf32)), everywhere(compute(tf32)))

// EXPECT store_of_four_bits: the rule 'everywhere : store f4e2m1' stores f4e2m1, which nothing is
// held in; store f32, f16, bf16, f8e4m3, f8e5m2 or follow (P42)
RULE(everywhere(store(f4e2m1)), everywhere(store(f8e4m3)))

// EXPECT compute_of_six_bits: the rule 'everywhere : compute f6e2m3 saturate' states compute
// f6e2m3, which nothing is computed in; write f32, tf32, f16, bf16, f8e4m3 or f8e5m2 (P42)
RULE(everywhere(compute(f6e2m3, saturate)), everywhere(compute(f8e4m3, saturate)))

// EXPECT saturated_f32: the rule 'everywhere : store f32 saturate' states a store that saturates,
// but nothing is rounded to its element (F2); leave saturate out (P42)
RULE(everywhere(store(f32, saturate)), everywhere(store(f16, saturate)))

// EXPECT store_weight_gradient: the rule 'where role weight_gradient : store bf16' stores role
// weight_gradient in another format than f32; round it with result in pass weight_gradient (P42)
RULE(where(weight_gradients)(store(bf16)), where(weight_gradient_pass)(result(bf16)))

// EXPECT stranger: precision is given what is no rule: write everywhere(...) or where(...)(...)
RULE(where(layer("fc")), where(layer("fc"))(store(f32)))

// EXPECT stranger_field: the rule 'everywhere : store f32' is given what is no field; write store,
// compute,
RULE(everywhere(store(f32), bf16), everywhere(store(f32), compute(bf16)))

// EXPECT weight_follows: lets the store of role weight follow, but it has nothing to follow; write
// a format (P42)
RULE(where(weights)(store(follow)), where(activations)(store(follow)))

// EXPECT store_of_text: states store with what is no value of it; write
RULE(where(layer("fc") | layer("act"))(store("f16")), where(layer("fc"))(store(bf16)))

// EXPECT compute_of_text: states compute with what is no value of it; write
RULE(where(layer("fc") | layer("act"))(compute("f16")), where(layer("fc"))(compute(tf32)))

// EXPECT result_of_text: states result with what is no value of it; write
RULE(where(layer("fc") | layer("act"))(result("f16")), where(layer("fc"))(result(f16)))

// EXPECT accumulate_of_text: states accumulate with what is no value of it; write
RULE(where(layer("fc") | layer("act"))(accumulate("f16")), where(layer("fc"))(accumulate(ordered)))

// EXPECT master_of_text: states master with what is no value of it; write
RULE(where(layer("fc") | layer("act"))(master("f16")), where(layer("fc"))(master(f32)))

// EXPECT rounding_of_text: states rounding with what is no value of it
RULE(everywhere(store(f16), rounding("up")), everywhere(store(f16), rounding(toward_zero)))

// EXPECT recompute_of_text: states recompute with what is no value of it
RULE(everywhere(recompute(true)), everywhere(recompute(always)))
