// SPDX-License-Identifier: Apache-2.0
// Precision rules: what they select.
#include <cases.hpp>

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));

// EXPECT absent_class: the rule 'where class normalization : compute f32' names a class or op that
// this model does not have; correct it or remove the rule (P40)
RULE(where(normalization)(compute(f32)), where(contraction)(compute(f32)))

// EXPECT absent_op: the rule 'where op relu : store bf16' names a class or op that this model does
// not have;
RULE(where(op("relu"))(store(bf16)), where(op("gelu"))(store(bf16)))

// EXPECT absent_softmax: the rule 'where class softmax : compute f32' names a class or op that this
// model does not have;
RULE(where(softmax)(compute(f32)), where(softmax | loss)(compute(f32)))

// EXPECT alternatives_without_match: names "h/{12,13}/fc", but no layer
namespace alternatives_without_match {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | repeat<12>("h", linear("fc", 8)) | output("z"));
MODEL(net, precision(either(where(layer("h/{12,13}/fc"))(compute(f32)),
                            where(layer("h/{12,11}/fc"))(compute(f32)))))
}  // namespace alternatives_without_match

// EXPECT backward_without_loss: the rule 'where pass input_gradient : compute bf16' speaks of a
// backward pass, which a model without losses does not have; remove the rule (P40)
namespace backward_without_loss {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("fc", 4) | gelu("act") | output("z"));
MODEL(net, precision(either(where(input_gradient_pass)(compute(bf16)),
                            where(forward_pass)(compute(bf16)))))
}  // namespace backward_without_loss

// EXPECT before_cpu: orders cpu among chips, but it is neither before nor after one; write cpu
// alone (P40)
RULE(where(on(before(cpu)))(store(f32)), where(on(cpu))(store(f32)))

// EXPECT beyond_repeat: names "h/12/fc", but no layer and no parameter is called that;
namespace beyond_repeat {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | repeat<12>("h", linear("fc", 8)) | output("z"));
MODEL(net, precision(either(where(layer("h/12/fc"))(compute(f32)),
                            where(layer("h/11/fc"))(compute(f32)))))
}  // namespace beyond_repeat

// EXPECT chip_word: names the chip "cuda", which is none;
RULE(where(on(from(chip("cuda"))))(store(f32)), where(on(from(chip("sm_88"))))(store(f32)))

// EXPECT class_and_op: the rule 'where class contraction op gelu : compute f32' names a class and
// an op that exclude each other; keep one of them (P41)
RULE(where(contraction& op("gelu"))(compute(f32)), where(contraction& op("linear"))(compute(f32)))

// EXPECT excluded_classes: joins with & what excludes each other; join it with | or keep one of the
// two (P41)
RULE(where(contraction& loss)(compute(f32)), where(contraction | loss)(compute(f32)))

// EXPECT excluded_passes: joins with & what excludes each other;
RULE(where(forward_pass& input_gradient_pass)(compute(f32)),
     where(forward_pass | input_gradient_pass)(compute(f32)))

// EXPECT excluded_roles: joins with & what excludes each other;
RULE(where(weights& gradients)(compute(f32)), where(weights | gradients)(compute(f32)))

// EXPECT idle_clause: the rule 'where layer "fc" or class loss : store bf16' has a clause that
// selects nothing with one of its fields; remove the clause or state a field for it (P42)
RULE(where(layer("fc") | loss)(store(bf16)), where(layer("fc") | loss)(store(bf16), compute(bf16)))

// EXPECT input_name: names "x", but no layer and no parameter is called that;
RULE(where(layer("x"))(store(f32)), where(layer("act"))(store(f32)))

// EXPECT long_glob: names a layer by more than 126 characters, the most that are matched; write *
// in place of some of them (P40)
namespace long_glob {
#define LONG_NAME                                                                                  \
  "a_name_of_132_characters_a_name_of_132_characters_a_name_of_132_characters_a_name_of_132_chara" \
  "cters_a_name_of_132_characters_a_name_"
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | linear(LONG_NAME, 4) | output("guess"));
MODEL(net, precision(either(where(layer(LONG_NAME))(store(bf16)),
                            where(layer("a_name_of_132*"))(store(bf16)))))
}  // namespace long_glob

// EXPECT no_such_operation: the rule 'where layer "act" pass weight_gradient : compute bf16'
// combines parts that no operation and no value of this model has; correct one of them or remove
// the rule (P40)
RULE(where(layer("act") & weight_gradient_pass)(compute(bf16)),
     where(layer("fc") & weight_gradient_pass)(compute(bf16)))

// EXPECT no_such_role: the rule 'where layer "act" role weight : compute bf16' combines parts that
// no operation and no value
RULE(where(layer("act") & weights)(compute(bf16)), where(layer("fc") & weights)(compute(bf16)))

// EXPECT one_star: names "*c", but no layer and no parameter
namespace one_star {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | repeat<12>("h", linear("fc", 8)) | output("z"));
MODEL(net, precision(either(where(layer("*c"))(compute(f32)), where(layer("**c"))(compute(f32)))))
}  // namespace one_star

// EXPECT op_of_another_layer: the rule 'where layer "act" class contraction : compute bf16' names
// "act", but the layers called that are of another class or op; correct one of the two (P40)
RULE(where(layer("act") & contraction)(compute(bf16)),
     where(layer("fc") & contraction)(compute(bf16)))

// EXPECT parameter_name: names "act.weight", but no layer and no parameter
RULE(where(layer("act.weight") & weights)(store(bf16)),
     where(layer("fc.weight") & weights)(store(bf16)))

// EXPECT question_mark: names "h/?1?/fc", but no layer
namespace question_mark {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | repeat<12>("h", linear("fc", 8)) | output("z"));
MODEL(net, precision(either(where(layer("h/?1?/fc"))(compute(f32)),
                            where(layer("h/?1/fc"))(compute(f32)))))
}  // namespace question_mark

// EXPECT role_and_pass: the rule 'where role gradient pass forward : store bf16' names a role and a
// pass that exclude each other; keep one of them (P41)
RULE(where(gradients& forward_pass)(store(bf16)),
     where(gradients& input_gradient_pass)(store(bf16)))

// EXPECT second_clause: names "head", but no layer and no parameter
RULE(where(layer("fc") | layer("head"))(store(f32)), where(layer("fc") | layer("act"))(store(f32)))

// EXPECT stranger_selector: where is given what selects nothing: write layer("fc*"), a class, an
// op, a role, a pass or a target
RULE(where("fc")(store(f32)), where(layer("fc"))(store(f32)))

// EXPECT too_many_clauses: joins more than 8 alternatives; write several rules (P45)
MODEL(net, adamw(),
      precision(where(layer("f*") | layer("fc") | layer("f?") | layer("?c") | layer("*c") |
                      layer("*") | layer("**") | layer(either("a*", "**")) |
                      layer("ac*"))(compute(f32))))

// EXPECT too_many_targets: joins more than 6 targets; write several rules (P45)
MODEL(net, adamw(),
      precision(where(either(
          on(sm_75) | on(sm_80) | on(sm_86) | on(sm_87) | on(sm_89) | on(sm_90) | on(cpu),
          on(sm_75) | on(sm_80) | on(sm_86) | on(sm_87) | on(sm_89) | on(cpu)))(compute(f32))))

// EXPECT two_globs: wants one layer to have two names; join them with | or write one glob (P41)
RULE(where(layer("fc") & layer("act"))(store(f32)), where(layer("fc") | layer("act"))(store(f32)))

// EXPECT two_targets: joins two targets with &; join them with | or write several rules (P41)
RULE(where(on(cpu) & on(sm_80))(store(f32)), where(on(cpu) | on(sm_80))(store(f32)))

// EXPECT unknown_chip: names the chip "sm_99x", which is none; write cpu, or sm_ and a number such
// as sm_80 or sm_90a (P40)
RULE(where(on(chip("sm_99x")))(store(f32)), where(on(chip("sm_99a")))(store(f32)))

// EXPECT unknown_op: names the op "conv2d", which no layer or loss is; write
RULE(where(op("conv2d"))(store(bf16)), where(op("linear"))(store(bf16)))

// EXPECT without_match: the rule 'where layer "conv*" : compute f32' names "conv*", but no layer
// and no parameter is called that; correct the name or remove the rule (P40)
RULE(where(layer("conv*"))(compute(f32)), where(layer("f*"))(compute(f32)))

// EXPECT both_as_truth_values: joins with &&, || or !; write & for both, | for either, and name
// what is meant in place of ! (P41)
RULE(where(layer("fc") && op("linear"))(compute(f32)),
     where(layer("fc") & op("linear"))(compute(f32)))

// EXPECT either_as_truth_value: joins with &&, || or !; write & for both, | for either, and name
// what is meant in place of ! (P41)
RULE(where(layer("fc") || layer("act"))(compute(f32)),
     where(layer("fc") | layer("act"))(compute(f32)))

// EXPECT neither: joins with &&, || or !; write & for both, | for either, and name what is meant in
// place of ! (P41)
RULE(where(!layer("fc"))(compute(f32)), where(layer("act"))(compute(f32)))

// EXPECT glob_as_number: selects by what is no selector; write layer("fc*"), op("gelu"), a class, a
// role, a pass, or on(sm_80) (P40)
RULE(where(layer(4))(compute(f32)), where(layer("fc"))(compute(f32)))

// EXPECT chip_as_text: selects by what is no selector; write layer("fc*"), op("gelu"), a class, a
// role, a pass, or on(sm_80) (P40)
RULE(where(on("sm_80"))(compute(f32)), where(on(sm_80))(compute(f32)))

// EXPECT text_beside_selector: selects by what is no selector; write layer("fc*"), op("gelu"), a
// class, a role, a pass, or on(sm_80) (P40)
RULE(where(layer("fc") | "act")(compute(f32)), where(layer("fc") | layer("act"))(compute(f32)))

// EXPECT fields_in_where: where is given what selects nothing: write layer("fc*"), a class, an op,
// a role, a pass or a target
RULE(where(layer("fc"), compute(f32))(store(f32)), where(layer("fc"))(compute(f32)))

// EXPECT near_glob: correct the name or remove the rule (P40) (did you mean 'fc'?)
RULE(where(layer("fcc"))(compute(f32)), where(layer("fc"))(compute(f32)))

// EXPECT far_glob: correct the name or remove the rule (P40) (known here: 'fc', 'act' and 'error')
RULE(where(layer("conv*"))(compute(f32)), where(layer("f*"))(compute(f32)))

// EXPECT near_path: (did you mean 'h/*/proj'?)
namespace near_path {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | repeat<2>("h", linear("fc", 8) | linear("proj", 8)) | output("z"));
MODEL(net, precision(where(layer(either("h/*/prj", "h/*/proj")))(compute(f32))))
}  // namespace near_path

// EXPECT near_chip: (did you mean 'sm_90'?)
RULE(where(on(chip("sm90")))(store(f32)), where(on(chip("sm_90")))(store(f32)))
