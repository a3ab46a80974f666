// SPDX-License-Identifier: Apache-2.0
// Precision rules: bounds, exceptions, reasons and paint (P60 to P64).
#include <cases.hpp>

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));

// EXPECT all_excepted: the rule 'where op gelu except layer "act" : store bf16' has exceptions that
// leave nothing of what a clause names; correct them or remove the clause (P61)
RULE(where(op("gelu")).except(layer("act"))(store(bf16)),
     where(op("gelu")).except(forward_pass)(store(bf16)))

// EXPECT at_least_above: the rule 'where at_least 33 : compute bf16' selects by first, last, depth,
// at_least or smaller_than, and nothing that its clause names lies in these bounds;
RULE(where(at_least(33))(compute(bf16)), where(at_least(32))(compute(bf16)))

// EXPECT backward_depth: the rule 'where depth 2 1 : store bf16' states a depth whose end is not
// above its begin, which is 0 or more; correct the number or leave it out (P60)
namespace backward_depth {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | repeat<3>("h", linear("fc", 8)) | output("z"));
MODEL(net, precision(either(where(depth(2, 1))(store(bf16)), where(depth(1, 2))(store(bf16)))))
}  // namespace backward_depth

// EXPECT beyond_depth: the rule 'where depth 3 9 : store bf16' selects by first, last, depth,
// at_least or smaller_than, and nothing that its clause names lies in these bounds;
namespace beyond_depth {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | repeat<3>("h", linear("fc", 8)) | output("z"));
MODEL(net, precision(either(where(depth(3, 9))(store(bf16)), where(depth(2, 9))(store(bf16)))))
}  // namespace beyond_depth

// EXPECT excluded_sizes: joins with & what excludes each other; join it with | or keep one of the
// two (P41)
RULE(where(at_least(8) & smaller_than(8))(compute(bf16)),
     where(at_least(8) & smaller_than(99))(compute(bf16)))

// EXPECT exception_of_nothing: the rule 'everywhere except class softmax : compute bf16' names a
// class or op that this model does not have;
RULE(everywhere.except(softmax)(compute(bf16)), everywhere.except(loss)(compute(bf16)))

// EXPECT exception_unnamed: the rule 'everywhere except layer "fc1" : compute bf16' names "fc1",
// but no layer and no parameter is called that;
RULE(everywhere.except(layer("fc1"))(compute(bf16)), everywhere.except(layer("fc"))(compute(bf16)))

// EXPECT exceptions_twice: has two lists of exceptions; join them with | in one except (P61)
RULE(everywhere.except(loss).except(layer("act"))(compute(bf16)),
     everywhere.except(loss | layer("act"))(compute(bf16)))

// EXPECT first_none: the rule 'where first -1 : compute bf16' states first or last so many layers,
// but not 1 or more; correct the number or leave it out (P60)
RULE(where(first_layers(0))(compute(bf16)), where(first_layers(1))(compute(bf16)))

// EXPECT idle_exception: the rule 'where op gelu except layer "fc" : store bf16' makes an exception
// of what it does not speak of; correct the exception or leave it out (P61)
RULE(where(op("gelu")).except(layer("fc"))(store(bf16)),
     where(op("gelu") | op("linear")).except(layer("fc"))(store(bf16)))

// EXPECT last_of_others: the rule 'where op gelu last 1 : store bf16' selects by first, last,
// depth, at_least or smaller_than, and nothing that its clause names lies in these bounds;
RULE(where(op("gelu") & last_layers(1))(store(bf16)),
     where(op("linear") & last_layers(1))(store(bf16)))

// EXPECT paint_absent: the rule 'paint :' names a class or op that this model does not have;
RULE(paint(f16, ops("matmul"), ops("gelu"), ops("mse"), ops("relu")),
     paint(f16, ops("linear"), ops("gelu"), ops("mse"), ops("relu")))

// EXPECT paint_selector: the rule 'paint :' is given something else than four lists; write
// paint(half, allow, infer, deny, clear), each list as ops("linear", "matmul"),
RULE(paint(bf16, op("linear")), paint(bf16, ops("linear"), ops(), ops("mse"), ops()))

// EXPECT paint_twice: is given lists that share a kind, or allow nothing; keep each kind in one
// list (P64)
RULE(paint(f16, ops("linear"), ops("gelu"), ops("mse"), ops("gelu")),
     paint(f16, ops("linear"), ops("gelu"), ops("mse"), ops("relu")))

// EXPECT paint_unknown: names the op "conv2d", which no layer or loss is;
RULE(paint(f16, ops("linear", "conv2d"), ops("gelu"), ops("mse"), ops("relu")),
     paint(f16, ops("linear", "convolution"), ops("gelu"), ops("mse"), ops("relu")))

// EXPECT reason_twice: gives two reasons; keep one because (P63)
RULE(everywhere(compute(bf16), because("fast"), because("small")),
     everywhere(compute(bf16), because("fast")))

// EXPECT smaller_than_all: the rule 'where role weight smaller_than 4 : store bf16' selects by
// first, last, depth, at_least or smaller_than, and nothing that its clause names lies in these
// bounds;
RULE(where(weights& smaller_than(4))(store(bf16)), where(weights& smaller_than(5))(store(bf16)))

// EXPECT strange_exception: selects by what is no selector; write layer("fc*"), op("gelu"), a
// class, a role, a pass, or on(sm_80) (P40)
RULE(everywhere.except("fc")(compute(bf16)), everywhere.except(layer("fc"))(compute(bf16)))
