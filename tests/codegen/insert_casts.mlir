// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-insert-casts -split-input-file %s | FileCheck %s

!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!vector = !halftone.tensor<[8], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#exact = #halftone.round<encoding = f32, role = activation>
#bf16 = #halftone.round<encoding = bf16, role = activation, rule = 0>
#f16 = #halftone.round<encoding = f16, role = activation, rule = 1>
#f16_down = #halftone.round<encoding = f16 toward_zero, role = activation, rule = 1>
#weight_bf16 = #halftone.round<encoding = bf16, role = weight, rule = 2>
#weight_f16 = #halftone.round<encoding = f16, role = weight, rule = 3>

// P38: one cast per value, format and rounding, next to the value, however many read it; P30: the value itself stays.
// CHECK-LABEL: halftone.graph "one_cast_per_value_format_and_rounding"
halftone.graph "one_cast_per_value_format_and_rounding" {
  // CHECK-NEXT: %[[X:.*]] = halftone.input "x"
  // CHECK-DAG: %[[BF16:.*]] = halftone.cast %[[X]] {halftone.cast = {{{[^}]*}}}, halftone.layer = "x", {{[^}]*}}} : {{.*}}-> !halftone.tensor<[batch, 8], bf16>
  // CHECK-DAG: %[[F16:.*]] = halftone.cast %[[X]] {halftone.cast = {{{[^}]*}}}, halftone.layer = "x", halftone.phase = #halftone.phase<forward>, halftone.values = array<i64: {{[0-9]+}}>} : {{.*}}-> !halftone.tensor<[batch, 8], f16>
  // CHECK-DAG: %[[DOWN:.*]] = halftone.cast %[[X]] {{{.*}}toward_zero} : {{.*}}-> !halftone.tensor<[batch, 8], f16>
  %x = halftone.input "x" {halftone.layer = "x"} : !matrix
  // CHECK: halftone.relu %[[X]]
  %plain = halftone.relu %x {halftone.layer = "plain", halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#exact]]>}
      : (!matrix) -> !matrix
  // CHECK: %[[WIDE:.*]] = halftone.cast %[[BF16]] {halftone.inline,
  // CHECK: halftone.relu %[[WIDE]]
  %a = halftone.relu %x {halftone.layer = "a", halftone.precision = #halftone.precision<operands = [[#bf16]], results = [[#exact]]>}
      : (!matrix) -> !matrix
  // CHECK: %[[WIDE:.*]] = halftone.cast %[[BF16]] {halftone.inline,
  // CHECK: halftone.gelu %[[WIDE]]
  %b = halftone.gelu %x {approximation = "erf", halftone.layer = "b", halftone.precision = #halftone.precision<operands = [[#bf16]], results = [[#exact]]>}
      : (!matrix) -> !matrix
  // CHECK: %[[WIDE:.*]] = halftone.cast %[[F16]] {halftone.inline,
  // CHECK: %[[WIDE2:.*]] = halftone.cast %[[DOWN]] {halftone.inline,
  // CHECK: halftone.add %[[WIDE]], %[[WIDE2]]
  // CHECK-NOT: halftone.cast
  %c = halftone.add %x, %x {halftone.layer = "c", halftone.precision = #halftone.precision<operands = [[#f16], [#f16_down]], results = [[#exact]]>}
      : (!matrix, !matrix) -> !matrix
  halftone.output "plain", %plain : !matrix
  halftone.output "a", %a : !matrix
  halftone.output "b", %b : !matrix
  halftone.output "c", %c : !matrix
}

// A contraction reads narrow matrices as they are; what is elementwise, its bias too, is widened inside its kernel. The
// sum is f32: the result's rounding is a cast of its own (P32).
// CHECK-LABEL: halftone.graph "contractions_read_narrow_matrices"
halftone.graph "contractions_read_narrow_matrices" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" {halftone.layer = "x"} : !halftone.tensor<[batch, 8], bf16>
  // CHECK: %[[W:.*]] = halftone.parameter "w"
  // CHECK-NEXT: %[[NARROW:.*]] = halftone.cast %[[W]] {halftone.cast = {from = #halftone.encoding<f32>, rule = 3 : i64, to = #halftone.encoding<f16>, value = 0 : i64}, halftone.layer = "w",
  // CHECK-SAME: -> !halftone.tensor<[8, 8], f16>
  %w = halftone.parameter "w" {halftone.layer = "w", initializer = #zeros} : !weight
  // CHECK: %[[B:.*]] = halftone.parameter "b"
  // CHECK-NEXT: %[[NARROW_B:.*]] = halftone.cast %[[B]]
  // CHECK-SAME: -> !halftone.tensor<[8], bf16>
  %b = halftone.parameter "b" {halftone.layer = "b", initializer = #zeros} : !vector
  // CHECK: %[[WIDE_B:.*]] = halftone.cast %[[NARROW_B]] {halftone.inline, halftone.phase = #halftone.phase<forward>}
  // CHECK: %[[SUM:.*]] = halftone.linear %[[X]], %[[NARROW]] bias %[[WIDE_B]]
  // CHECK-SAME: (!halftone.tensor<[batch, 8], bf16>, !halftone.tensor<[8, 8], f16>, !halftone.tensor<[8], f32>) -> !halftone.tensor<[batch, 8], f32>
  // CHECK-NEXT: %[[STORED:.*]] = halftone.cast %[[SUM]] {halftone.cast = {from = #halftone.encoding<f32>, rule = 0 : i64, to = #halftone.encoding<bf16>, value = 2 : i64}, halftone.kind = "linear", halftone.layer = "fc",
  %y = halftone.linear %x, %w bias %b {halftone.kind = "linear", halftone.layer = "fc", halftone.precision = #halftone.precision<
      operands = [[#bf16], [#weight_f16], [#weight_bf16]], results = [[#bf16]]>} : (!halftone.tensor<[batch, 8], bf16>, !weight, !vector) -> !matrix
  // P36: who reads an output reads f32.
  // CHECK: %[[F32:.*]] = halftone.cast %[[STORED]] {halftone.phase = #halftone.phase<forward>} : {{.*}}-> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.output "y", %[[F32]]
  halftone.output "y", %y : !matrix
}

// P32: first the operation's result, then the value's store; readers find what is left in the end.
// CHECK-LABEL: halftone.graph "result_and_store_round_one_after_the_other"
halftone.graph "result_and_store_round_one_after_the_other" {
  %x = halftone.input "x" {halftone.layer = "x"} : !matrix
  // CHECK: %[[Y:.*]] = halftone.gelu
  // CHECK-NEXT: %[[RESULT:.*]] = halftone.cast %[[Y]] {{.*}}-> !halftone.tensor<[batch, 8], f16>
  // CHECK-NEXT: %[[STORED:.*]] = halftone.cast %[[RESULT]] {{.*}} : (!halftone.tensor<[batch, 8], f16>) -> !halftone.tensor<[batch, 8], bf16>
  %y = halftone.gelu %x {approximation = "erf", halftone.layer = "y", halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#f16, #bf16]]>}
      : (!matrix) -> !matrix
  // CHECK-NEXT: %[[WIDE:.*]] = halftone.cast %[[STORED]] {halftone.inline,
  // CHECK-NEXT: halftone.relu %[[WIDE]]
  %z = halftone.relu %y {halftone.layer = "z", halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#exact]]>}
      : (!matrix) -> !matrix
  halftone.output "z", %z : !matrix
}

// A format that holds every value of the one before rounds nothing (F4): f32 after bf16, tf32 after f16.
// CHECK-LABEL: halftone.graph "does_not_round_what_fits"
halftone.graph "does_not_round_what_fits" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" {halftone.layer = "x"} : !halftone.tensor<[batch, 8], f16>
  // CHECK-NEXT: %[[WIDE:.*]] = halftone.cast %[[X]] {halftone.inline, halftone.phase = #halftone.phase<forward>} : {{.*}}-> !halftone.tensor<[batch, 8], f32>
  // CHECK-NEXT: %[[Y:.*]] = halftone.relu %[[WIDE]]
  // CHECK-NEXT: %[[STORED:.*]] = halftone.cast %[[Y]] {{.*}}-> !halftone.tensor<[batch, 8], bf16>
  // CHECK-NEXT: halftone.cast %[[STORED]] {halftone.phase
  // CHECK-NEXT: halftone.output
  // CHECK-NOT: halftone.cast
  %y = halftone.relu %x {halftone.layer = "y", halftone.precision = #halftone.precision<
      operands = [[#halftone.round<encoding = tf32, role = activation>]], results = [[#bf16, #exact]]>} : (!halftone.tensor<[batch, 8], f16>) -> !matrix
  halftone.output "y", %y : !matrix
}

// CHECK-LABEL: halftone.graph "does_not_cast_in_pure_f32"
// CHECK-NOT: halftone.cast
halftone.graph "does_not_cast_in_pure_f32" {
  %x = halftone.input "x" : !matrix
  %label = halftone.input "label" : !halftone.tensor<[batch], i32>
  %w = halftone.parameter "w" {initializer = #zeros} : !weight
  %y = halftone.linear %x, %w {halftone.layer = "y", halftone.precision = #halftone.precision<operands = [[#exact], [#exact]], results = [[#exact]]>}
      : (!matrix, !weight) -> !matrix
  %l = halftone.cross_entropy %y, %label {halftone.layer = "l", halftone.precision = #halftone.precision<operands = [[#exact], []], results = [[]]>}
      : (!matrix, !halftone.tensor<[batch], i32>) -> !halftone.tensor<[batch], f32>
  halftone.output "l", %l : !halftone.tensor<[batch], f32>
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
#exact = #halftone.round<encoding = f32, role = saved>
#saved = #halftone.round<encoding = f16, role = saved, rule = 0>
#tf32 = #halftone.round<encoding = tf32, role = saved, rule = 1>
#bf16 = #halftone.round<encoding = bf16, role = saved, rule = 1>
#backward = #halftone.phase<backward>
#external = #halftone.phase<external>

// P33: what the backward pass reads is rounded to the saved store, then as it computes (P30). The producer stores the first
// in its own phase, where the value is at hand.
// CHECK-LABEL: halftone.graph "saved_then_compute"
halftone.graph "saved_then_compute" {
  %x = halftone.input "x" {halftone.layer = "x"} : !matrix
  // CHECK: %[[Y:.*]] = halftone.gelu
  // CHECK-NEXT: %[[SAVED:.*]] = halftone.cast %[[Y]] {{{.*}}halftone.phase = #halftone.phase<forward>{{.*}}} : {{.*}}-> !halftone.tensor<[batch, 8], f16>
  // CHECK-NEXT: %[[READ:.*]] = halftone.cast %[[SAVED]] {{.*}}-> !halftone.tensor<[batch, 8], bf16>
  %y = halftone.gelu %x {approximation = "erf", halftone.layer = "y", halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#exact]]>}
      : (!matrix) -> !matrix
  // The forward pass reads what was never rounded (P32).
  // CHECK: %[[Z:.*]] = halftone.relu %[[Y]]
  %z = halftone.relu %y {halftone.layer = "z", halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#exact]]>}
      : (!matrix) -> !matrix
  halftone.output "z", %z : !matrix
  // CHECK: %[[WIDE:.*]] = halftone.cast %[[READ]] {halftone.inline, halftone.phase = #halftone.phase<backward>}
  // CHECK: halftone.add %[[WIDE]], %[[Z]]
  %g = halftone.add %y, %z {halftone.layer = "g", halftone.phase = #backward,
      halftone.precision = #halftone.precision<operands = [[#saved, #bf16], [#exact]], results = [[]]>} : (!matrix, !matrix) -> !matrix
}

// A source's cast runs in the first phase that reads it, but not in one of the losses when the backward pass reads it too:
// a caller's own gradients leave the losses out (P36).
// CHECK-LABEL: halftone.graph "phases_of_sources"
halftone.graph "phases_of_sources" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  // CHECK-DAG: halftone.cast %[[X]] {{{.*}}halftone.phase = #halftone.phase<loss>{{.*}}} : {{.*}}-> !halftone.tensor<[batch, 8], f16>
  // CHECK-DAG: halftone.cast %[[X]] {{{.*}}halftone.phase = #halftone.phase<forward>{{.*}}} : {{.*}}-> !halftone.tensor<[batch, 8], bf16>
  %x = halftone.input "x" {halftone.layer = "x"} : !matrix
  // CHECK: %[[S:.*]] = halftone.state "s"
  // CHECK: halftone.cast %[[S]] {{{.*}}halftone.phase = #halftone.phase<backward>{{.*}}}
  %s = halftone.state "s" {initial = 0.0 : f64, halftone.layer = "s"} : !matrix
  %l = halftone.add %x, %x {halftone.layer = "l", halftone.phase = #halftone.phase<loss>,
      halftone.precision = #halftone.precision<operands = [[#saved], [#bf16]], results = [[]]>} : (!matrix, !matrix) -> !matrix
  %d = halftone.relu %x {halftone.layer = "l", halftone.phase = #halftone.phase<loss_backward>,
      halftone.precision = #halftone.precision<operands = [[#saved]], results = [[]]>} : (!matrix) -> !matrix
  %g = halftone.add %x, %s {halftone.layer = "g", halftone.phase = #backward,
      halftone.precision = #halftone.precision<operands = [[#bf16], [#bf16]], results = [[]]>} : (!matrix, !matrix) -> !matrix
}

// D45, P34: add hands its gradient on, rounded as it reads it and as the value's gradients are stored; nothing else is left
// of it. A sum of two contributions is f32, then stored; a parameter's gradient leaves in f32 (P35).
// CHECK-LABEL: halftone.graph "hand_on_leaves_its_roundings"
// CHECK-NOT: halftone.hand_on
halftone.graph "hand_on_leaves_its_roundings" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  %x = halftone.input "x" {halftone.layer = "x"} : !matrix
  // CHECK: %[[G:.*]] = halftone.gelu
  // CHECK-DAG: %[[READ:.*]] = halftone.cast %[[G]] {{.*}}-> !halftone.tensor<[batch, 8], tf32>
  // CHECK-DAG: %[[A:.*]] = halftone.cast %[[READ]] {{.*}}-> !halftone.tensor<[batch, 8], bf16>
  // CHECK-DAG: %[[B:.*]] = halftone.cast %[[G]] {{.*}}-> !halftone.tensor<[batch, 8], bf16>
  // CHECK: %[[WIDE_A:.*]] = halftone.cast %[[A]] {halftone.inline,
  // CHECK: %[[WIDE_B:.*]] = halftone.cast %[[B]] {halftone.inline,
  // CHECK: %[[SUM:.*]] = halftone.add %[[WIDE_A]], %[[WIDE_B]]
  // CHECK: %[[STORED:.*]] = halftone.cast %[[SUM]] {{.*}}-> !halftone.tensor<[batch, 8], bf16>
  // CHECK: %[[F32:.*]] = halftone.cast %[[STORED]] {halftone.phase = #halftone.phase<backward>} : {{.*}}-> !halftone.tensor<[batch, 8], f32>
  // CHECK: halftone.gradient %[[F32]] of
  %g = halftone.gelu %x {approximation = "erf", halftone.layer = "g", halftone.phase = #backward, halftone.gradient_of = ["c"],
      halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#exact]]>} : (!matrix) -> !matrix
  %a = halftone.hand_on %g {halftone.layer = "c", halftone.phase = #backward, halftone.gradient_of = ["a"],
      halftone.precision = #halftone.precision<operands = [[#tf32]], results = [[#bf16]]>} : (!matrix) -> !matrix
  %b = halftone.hand_on %g {halftone.layer = "c", halftone.phase = #backward, halftone.gradient_of = ["a"],
      halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#bf16]]>} : (!matrix) -> !matrix
  %sum = halftone.add %a, %b {halftone.layer = "c", halftone.phase = #backward, halftone.gradient_of = ["a"], halftone.partial_sum,
      halftone.precision = #halftone.precision<operands = [[], []], results = [[#bf16]]>} : (!matrix, !matrix) -> !matrix
  %p = halftone.parameter "p" {initializer = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>, halftone.layer = "p"} : !matrix
  halftone.gradient %sum of %p {halftone.phase = #backward} : (!matrix, !matrix) -> ()
}

// P36: the gradient of an output crosses as it is stored. A caller's own is rounded to that in its phase; the losses' is
// rounded already, here to what `result` said, and is held in the store's format all the same.
// CHECK-LABEL: halftone.graph "gradients_cross_at_outputs"
halftone.graph "gradients_cross_at_outputs" {
  // CHECK: %[[G:.*]] = halftone.gelu
  // CHECK-NEXT: %[[RESULT:.*]] = halftone.cast %[[G]] {{.*}}-> !halftone.tensor<[batch, 8], f16>
  %x = halftone.input "x" {halftone.layer = "x"} : !matrix
  %g = halftone.gelu %x {approximation = "erf", halftone.layer = "l", halftone.phase = #halftone.phase<loss_backward>, halftone.gradient_of = ["y"],
      halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#saved, #exact]]>} : (!matrix) -> !matrix
  // CHECK-NEXT: %[[F32:.*]] = halftone.cast %[[RESULT]] {halftone.phase = #halftone.phase<loss_backward>}
  // CHECK-NEXT: %[[WIDE:.*]] = halftone.output_gradient "wide", %[[F32]]
  // CHECK-SAME: -> !halftone.tensor<[batch, 8], f32>
  %wide = halftone.output_gradient "wide", %g {halftone.layer = "y", halftone.phase = #halftone.phase<loss_backward>, halftone.gradient_of = ["y"],
      halftone.precision = #halftone.precision<operands = [[]], results = [[#exact]]>} : (!matrix) -> !matrix
  // CHECK: %[[E:.*]] = halftone.external_gradient "wide"
  // CHECK-NEXT: halftone.assign %[[E]] to %[[WIDE]]
  %e = halftone.external_gradient "wide" : !matrix
  halftone.assign %e to %wide {halftone.phase = #external} : (!matrix, !matrix) -> ()
  // CHECK: %[[H:.*]] = halftone.silu
  // CHECK-NEXT: %[[STORED:.*]] = halftone.cast %[[H]] {{.*}}-> !halftone.tensor<[batch, 8], bf16>
  // CHECK-NEXT: %[[NARROW:.*]] = halftone.output_gradient "narrow", %[[STORED]]
  // CHECK-SAME: -> !halftone.tensor<[batch, 8], bf16>
  %h = halftone.silu %x {halftone.layer = "l", halftone.phase = #halftone.phase<loss_backward>, halftone.gradient_of = ["z"],
      halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#bf16]]>} : (!matrix) -> !matrix
  %narrow = halftone.output_gradient "narrow", %h {halftone.layer = "z", halftone.phase = #halftone.phase<loss_backward>, halftone.gradient_of = ["z"],
      halftone.precision = #halftone.precision<operands = [[]], results = [[#bf16]]>} : (!matrix) -> !matrix
  // CHECK: %[[E2:.*]] = halftone.external_gradient "narrow"
  // CHECK-NEXT: %[[ROUNDED:.*]] = halftone.cast %[[E2]] {halftone.phase = #halftone.phase<external>}
  // CHECK-NEXT: halftone.assign %[[ROUNDED]] to %[[NARROW]]
  %e2 = halftone.external_gradient "narrow" : !matrix
  halftone.assign %e2 to %narrow {halftone.phase = #external} : (!matrix, !matrix) -> ()
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!pairs = !halftone.tensor<[batch, 2, 4], f32>
#exact = #halftone.round<encoding = f32, role = activation>
#bf16 = #halftone.round<encoding = bf16, role = activation, rule = 0>
#f16 = #halftone.round<encoding = f16, role = activation, rule = 1>

// A view shows what it reads as that is held, narrow or not: nothing is widened before it, and what its own result is rounded to
// is rounded behind it.
// CHECK-LABEL: halftone.graph "views_show_what_is_held"
// CHECK-SAME: name = "same", {{[^}]*}}type = !halftone.tensor<[batch, 2, 4], bf16>
halftone.graph "views_show_what_is_held" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  // CHECK-NEXT: %[[NARROW:.*]] = halftone.cast %[[X]]
  // CHECK-SAME: -> !halftone.tensor<[batch, 8], bf16>
  %x = halftone.input "x" {halftone.layer = "x"} : !matrix
  // CHECK: %[[SAME:.*]] = halftone.reshape %[[NARROW]] {{.*}}halftone.values = array<i64: {{[0-9]+}}>} : (!halftone.tensor<[batch, 8], bf16>) -> !halftone.tensor<[batch, 2, 4], bf16>
  // CHECK-NEXT: %[[SINK:.*]] = halftone.cast %[[SAME]] {{.*}}-> !halftone.tensor<[batch, 2, 4], f32>
  %same = halftone.reshape %x {halftone.layer = "same", halftone.precision = #halftone.precision<operands = [[#bf16]], results = [[#bf16]]>}
      : (!matrix) -> !pairs
  // CHECK: %[[OTHER:.*]] = halftone.view %[[NARROW]]
  // CHECK-NEXT: %[[F16:.*]] = halftone.cast %[[OTHER]] {{.*}}: (!halftone.tensor<[batch, 2, 4], bf16>) -> !halftone.tensor<[batch, 2, 4], f16>
  // CHECK-NEXT: halftone.cast %[[F16]] {{.*}}-> !halftone.tensor<[batch, 2, 4], f32>
  %other = halftone.view %x {halftone.layer = "other", halftone.precision = #halftone.precision<operands = [[#bf16]], results = [[#f16]]>}
      : (!matrix) -> !pairs
  // CHECK: halftone.reshape %[[X]] {{.*}}-> !halftone.tensor<[batch, 2, 4], f32>
  %plain = halftone.reshape %x {halftone.layer = "plain", halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#exact]]>}
      : (!matrix) -> !pairs
  // CHECK: halftone.output "same", %[[SINK]]
  halftone.output "same", %same : !pairs
  halftone.output "other", %other : !pairs
  halftone.output "plain", %plain : !pairs
}

// -----

!codes = !halftone.tensor<[batch, 8], ui8>
!matrix = !halftone.tensor<[batch, 8], f32>
!weight = !halftone.tensor<[8, 8], f32>
!rows = !halftone.tensor<[batch], f32>
#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>
#exact = #halftone.round<encoding = f32, role = activation>
#bf16 = #halftone.round<encoding = bf16, role = activation, rule = 0>
#master = #halftone.round<encoding = f32, role = weight>

// D16: integers become values inside of what reads them element by element, in a cast of their own for contractions, and with a
// rounding that rules ask for in one step; labels become i32 where they are read.
// CHECK-LABEL: halftone.graph "integers"
halftone.graph "integers" {
  // CHECK: %[[X:.*]] = halftone.input "x" {halftone.layer = "x", offset = -5.000000e-01 : f32, scale = 2.500000e-01 : f32} : <[batch, 8], ui8>
  // CHECK-DAG: %[[MATRIX:.*]] = halftone.cast %[[X]] {halftone.layer = "x", halftone.phase = #halftone.phase<forward>, offset = -5.000000e-01 : f32, scale = 2.500000e-01 : f32} : {{.*}}-> !halftone.tensor<[batch, 8], f32>
  // CHECK-DAG: %[[NARROW:.*]] = halftone.cast %[[X]] {halftone.cast = {from = #halftone.encoding<f32>, {{.*}} offset = -5.000000e-01 : f32, scale = 2.500000e-01 : f32} : {{.*}}-> !halftone.tensor<[batch, 8], bf16>
  %x = halftone.input "x" {halftone.layer = "x", scale = 0.25 : f32, offset = -0.5 : f32} : !codes
  // CHECK: %[[K:.*]] = halftone.input "k"
  // CHECK-NEXT: %[[LABEL:.*]] = halftone.cast %[[K]] {halftone.inline, halftone.layer = "k", {{.*}}-> !halftone.tensor<[batch], i32>
  %k = halftone.input "k" {halftone.layer = "k", integers} : !halftone.tensor<[batch], si64>
  %w = halftone.parameter "w" {halftone.layer = "w", initializer = #zeros} : !weight
  // CHECK: %[[INSIDE:.*]] = halftone.cast %[[X]] {halftone.inline, {{.*}}offset = -5.000000e-01 : f32, scale = 2.500000e-01 : f32}
  // CHECK: halftone.relu %[[INSIDE]]
  %a = halftone.relu %x {halftone.layer = "a", halftone.precision = #halftone.precision<operands = [[#exact]], results = [[#exact]]>}
      : (!codes) -> !matrix
  // CHECK: halftone.linear %[[MATRIX]]
  %b = halftone.linear %x, %w {halftone.layer = "b", halftone.precision = #halftone.precision<operands = [[#exact], [#master]], results = [[#exact]]>}
      : (!codes, !weight) -> !matrix
  // CHECK: halftone.linear %[[NARROW]]
  %c = halftone.linear %x, %w {halftone.layer = "c", halftone.precision = #halftone.precision<operands = [[#bf16], [#master]], results = [[#exact]]>}
      : (!codes, !weight) -> !matrix
  // CHECK: halftone.cross_entropy %{{.*}}, %[[LABEL]]
  %l = halftone.cross_entropy %b, %k {halftone.layer = "l", halftone.phase = #halftone.phase<loss>, halftone.precision = #halftone.precision<operands = [[#exact], []], results = [[]]>}
      : (!matrix, !halftone.tensor<[batch], si64>) -> !rows
  halftone.output "a", %a : !matrix
  halftone.output "c", %c : !matrix
  halftone.output "l", %l : !rows
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
!e5m2 = !halftone.tensor<[batch, 8], f8E5M2>
!e4m3 = !halftone.tensor<[batch, 8], f8E4M3FN>
#exact = #halftone.round<encoding = f32, role = activation>
#most4 = #halftone.round<encoding = f8e4m3 saturate, role = activation, rule = 0>
#most5 = #halftone.round<encoding = f8e5m2 saturate, role = activation, rule = 0>
#plain5 = #halftone.round<encoding = f8e5m2, role = activation, rule = 0>

// F2, P38: saturation is a part of the rounding; it changes infinities of the format itself, and nothing where there are none.
// CHECK-LABEL: halftone.graph "saturates_what_may_be_infinite"
halftone.graph "saturates_what_may_be_infinite" {
  // CHECK: %[[X:.*]] = halftone.input "x"
  // CHECK-DAG: halftone.cast %[[X]] {{{.*}}to = #halftone.encoding<f8e4m3 saturate>{{.*}}saturate} : {{.*}}-> !halftone.tensor<[batch, 8], f8E4M3FN>
  // CHECK-DAG: halftone.cast %[[X]] {{{.*}}to = #halftone.encoding<f8e5m2>,{{.*}}} : {{.*}}-> !halftone.tensor<[batch, 8], f8E5M2>
  %x = halftone.input "x" {halftone.layer = "x"} : !matrix
  // CHECK: %[[E5:.*]] = halftone.input "e5"
  // CHECK-NEXT: halftone.cast %[[E5]] {{{.*}}saturate} : (!halftone.tensor<[batch, 8], f8E5M2>) -> !halftone.tensor<[batch, 8], f8E5M2>
  %e5 = halftone.input "e5" {halftone.layer = "e5"} : !e5m2
  // CHECK: %[[E4:.*]] = halftone.input "e4"
  // CHECK-NEXT: halftone.cast %{{.*}} {halftone.inline
  %e4 = halftone.input "e4" {halftone.layer = "e4"} : !e4m3
  %a = halftone.relu %x {halftone.layer = "a", halftone.precision = #halftone.precision<operands = [[#most4]], results = [[#exact]]>}
      : (!matrix) -> !matrix
  %b = halftone.relu %x {halftone.layer = "b", halftone.precision = #halftone.precision<operands = [[#plain5]], results = [[#exact]]>}
      : (!matrix) -> !matrix
  %c = halftone.relu %e5 {halftone.layer = "c", halftone.precision = #halftone.precision<operands = [[#most5]], results = [[#exact]]>}
      : (!e5m2) -> !matrix
  %d = halftone.relu %e4 {halftone.layer = "d", halftone.precision = #halftone.precision<operands = [[#most4]], results = [[#exact]]>}
      : (!e4m3) -> !matrix
  halftone.output "a", %a : !matrix
  halftone.output "b", %b : !matrix
  halftone.output "c", %c : !matrix
  halftone.output "d", %d : !matrix
}

// -----

!matrix = !halftone.tensor<[batch, 8], f32>
#bf16 = #halftone.round<encoding = bf16 stochastic, role = activation, rule = 0>
#saved = #halftone.round<encoding = f16 stochastic, role = saved, rule = 0>
#gradient = #halftone.round<encoding = bf16 stochastic, role = gradient, rule = 0>
#read = #halftone.round<encoding = f8e5m2 stochastic, role = gradient, rule = 0>
#backward = #halftone.phase<backward>

// P48: a point that draws is called as its value, as that value's gradient where it is read, and as the contribution or partial
// sum that an operation leaves; readers of one value share it.
// CHECK-LABEL: halftone.graph "names_what_is_drawn"
halftone.graph "names_what_is_drawn" {
  %x = halftone.input "x" {halftone.layer = "x"} : !matrix
  // CHECK: halftone.cast %{{.*}}stochastic = "x"} : {{.*}}-> !halftone.tensor<[batch, 8], bf16>
  // CHECK-NOT: stochastic = "x"
  // CHECK: %[[A:.*]] = halftone.relu
  // CHECK: %[[STORED:.*]] = halftone.cast %[[A]] {{.*}}stochastic = "a"} : {{.*}}-> !halftone.tensor<[batch, 8], bf16>
  // CHECK: halftone.cast %[[STORED]] {{.*}}stochastic = "a"} : {{.*}}-> !halftone.tensor<[batch, 8], f16>
  %a = halftone.relu %x {halftone.layer = "a", halftone.precision = #halftone.precision<operands = [[#bf16]], results = [[#bf16]]>}
      : (!matrix) -> !matrix
  %b = halftone.relu %x {halftone.layer = "b", halftone.precision = #halftone.precision<operands = [[#bf16]], results = [[]]>}
      : (!matrix) -> !matrix
  // CHECK: stochastic = "a gradient b"}
  // CHECK: stochastic = "a gradient"} : {{.*}}-> !halftone.tensor<[batch, 8], f8E5M2>
  %g = halftone.relu %a {halftone.gradient_of = ["a"], halftone.layer = "b", halftone.phase = #backward,
      halftone.precision = #halftone.precision<operands = [[#saved]], results = [[#gradient]]>} : (!matrix) -> !matrix
  // CHECK: stochastic = "x sum a"}
  %h = halftone.relu %g {halftone.gradient_of = ["x"], halftone.layer = "a", halftone.partial_sum, halftone.phase = #backward,
      halftone.precision = #halftone.precision<operands = [[#read]], results = [[#gradient]]>} : (!matrix) -> !matrix
  halftone.output "b", %b : !matrix
  halftone.output "h", %h : !matrix
}
