// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt --halftone-build-update -split-input-file -verify-diagnostics %s

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U15: a row has at most 2^20 blocks.
module attributes {halftone.optimizer = {kind = "lamb", learning_rate = 0.001 : f64, beta1 = 0.5 : f64, beta2 = 0.75 : f64, epsilon = 1.0 : f64,
    weight_decay = 0.25 : f64, max_trust = 0.0 : f64, decayed_only = false}} {
  // expected-error @+1 {{the update takes norms of parameters, of at most 1073741824 trained elements, and there are 1073742848: use another optimizer than lamb, and clip() of all parameters}}
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[1073741825], f32>
    %g = halftone.input "g" : !halftone.tensor<[1073741825], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[1073741825], f32>, !halftone.tensor<[1073741825], f32>) -> ()
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// As many as there may be, and more under an optimizer that takes no norms.
module attributes {halftone.clip_groups = [{norm = 2.0 : f64, parameters = ["w"]}], halftone.optimizer = {kind = "sgd", learning_rate = 0.1 : f64,
    momentum = 0.0 : f64, weight_decay = 0.25 : f64, nesterov = false}} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[1073741824], f32>
    %g = halftone.input "g" : !halftone.tensor<[1073741824], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[1073741824], f32>, !halftone.tensor<[1073741824], f32>) -> ()
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

module attributes {halftone.optimizer = {kind = "sgd", learning_rate = 0.1 : f64, momentum = 0.0 : f64, weight_decay = 0.25 : f64, nesterov = false}} {
  halftone.graph "training" {
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[2147483648], f32>
    %g = halftone.input "g" : !halftone.tensor<[2147483648], f32>
    halftone.gradient %g of %w : (!halftone.tensor<[2147483648], f32>, !halftone.tensor<[2147483648], f32>) -> ()
  }
}

// -----

#zeros = #halftone.initializer<constant, 0.0 : f64, 0.0 : f64>

// U17: so many rows and columns, and one more of each.
module attributes {halftone.optimizer = {kind = "adafactor", learning_rate = 0.1 : f64, decay_rate = 0.8 : f64, epsilon1 = 1.0e-7 : f64,
    epsilon2 = 1.0e-3 : f64, clip_threshold = 1.0 : f64, weight_decay = 0.25 : f64}} {
  halftone.graph "training" {
    %v = halftone.parameter "v" {initializer = #zeros} : !halftone.tensor<[1048576, 2], f32>
    // expected-error @+1 {{the optimizer adafactor sums over rows and columns of at most 1048576, and parameter 'w' has longer ones: use another optimizer (U17)}}
    %w = halftone.parameter "w" {initializer = #zeros} : !halftone.tensor<[2, 1048577], f32>
    %g = halftone.input "g" : !halftone.tensor<[1048576, 2], f32>
    %h = halftone.input "h" : !halftone.tensor<[2, 1048577], f32>
    halftone.gradient %g of %v : (!halftone.tensor<[1048576, 2], f32>, !halftone.tensor<[1048576, 2], f32>) -> ()
    halftone.gradient %h of %w : (!halftone.tensor<[2, 1048577], f32>, !halftone.tensor<[2, 1048577], f32>) -> ()
  }
}
