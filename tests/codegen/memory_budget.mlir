// SPDX-License-Identifier: Apache-2.0
// Steps towards less memory (P67).
// RUN: halftone-opt --halftone-choose-saved="steps=0 assume=batch=4" %s | FileCheck %s --check-prefix=NONE
// RUN: halftone-opt --halftone-choose-saved="steps=1 assume=batch=4" %s | FileCheck %s --check-prefix=ONE
// RUN: halftone-opt --halftone-choose-saved="steps=9 assume=batch=4" %s | FileCheck %s --check-prefix=ALL
// RUN: halftone-opt --halftone-choose-saved %s | FileCheck %s --check-prefix=UNASKED

!matrix = !halftone.tensor<[batch, 8], f32>
#backward = #halftone.phase<backward>

// UNASKED-NOT: halftone.recomputation
// NONE: halftone.recomputation = {layers = [], of_step = [[STEP:.*]] : f64, operations = 0.000000e+00 : f64, steps = 2 : i64}
// Of two that free as much the cheaper comes first. What is read first is there in any case, what a rule keeps is kept.
// ONE: halftone.recomputation = {layers = ["cheap"]
// ALL: halftone.recomputation = {layers = ["costly", "cheap"]
halftone.graph "training" {
  %x = halftone.input "x" : !matrix
  %w = halftone.input "w" : !halftone.tensor<[8, 8], f32>
  %g = halftone.input "g" : !matrix
  // NONE: %[[H:.*]] = halftone.linear
  // NONE: %[[FIRST:.*]] = halftone.softmax %[[H]]
  // NONE: %[[COSTLY:.*]] = halftone.gelu %[[H]]
  // NONE: %[[CHEAP:.*]] = halftone.relu %[[H]]
  // ONE: %[[H:.*]] = halftone.linear
  // ONE: %[[COSTLY:.*]] = halftone.gelu %[[H]]
  // ALL: %[[H:.*]] = halftone.linear
  %h = halftone.linear %x, %w {halftone.layer = "h", halftone.recompute = false} : (!matrix, !halftone.tensor<[8, 8], f32>) -> !matrix
  %first = halftone.softmax %h {halftone.layer = "first"} : (!matrix) -> !matrix
  %costly = halftone.gelu %h {approximation = "erf", halftone.layer = "costly"} : (!matrix) -> !matrix
  %cheap = halftone.relu %h {halftone.layer = "cheap"} : (!matrix) -> !matrix
  // NONE: halftone.contract %{{.*}}, %[[FIRST]]
  // NONE-NEXT: halftone.contract %{{.*}}, %[[COSTLY]]
  // NONE-NEXT: halftone.contract %{{.*}}, %[[CHEAP]]
  // NONE-NEXT: halftone.contract %{{.*}}, %[[H]]
  // ONE: halftone.contract %{{.*}}, %[[COSTLY]]
  // ONE-NEXT: %[[AGAIN:.*]] = halftone.relu %[[H]] {halftone.layer = "cheap", halftone.phase = #halftone.phase<backward>}
  // ONE-NEXT: halftone.contract %{{.*}}, %[[AGAIN]]
  // ONE-NEXT: halftone.contract %{{.*}}, %[[H]]
  // ALL: %[[TWICE:.*]] = halftone.gelu %[[H]] {approximation = "erf", halftone.layer = "costly", halftone.phase = #halftone.phase<backward>}
  // ALL-NEXT: halftone.contract %{{.*}}, %[[TWICE]]
  // ALL-NEXT: %[[AGAIN:.*]] = halftone.relu %[[H]] {halftone.layer = "cheap", halftone.phase = #halftone.phase<backward>}
  // ALL-NEXT: halftone.contract %{{.*}}, %[[AGAIN]]
  // ALL-NEXT: halftone.contract %{{.*}}, %[[H]]
  %a = halftone.contract %g, %first {pass = #halftone.pass<weight_gradient>, transpose_lhs, halftone.phase = #backward}
      : (!matrix, !matrix) -> !halftone.tensor<[8, 8], f32>
  %b = halftone.contract %g, %costly {pass = #halftone.pass<weight_gradient>, transpose_lhs, halftone.phase = #backward}
      : (!matrix, !matrix) -> !halftone.tensor<[8, 8], f32>
  %c = halftone.contract %g, %cheap {pass = #halftone.pass<weight_gradient>, transpose_lhs, halftone.phase = #backward}
      : (!matrix, !matrix) -> !halftone.tensor<[8, 8], f32>
  %d = halftone.contract %g, %h {pass = #halftone.pass<weight_gradient>, transpose_lhs, halftone.phase = #backward}
      : (!matrix, !matrix) -> !halftone.tensor<[8, 8], f32>
}
