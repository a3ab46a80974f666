// SPDX-License-Identifier: Apache-2.0
// all-MiniLM-L6-v2 (Wang et al. 2020, Reimers and Gurevych 2019), a BERT of six blocks: word pieces
// of sentences in, a vector of 384 columns for each out. It is loaded, not trained, so it has no
// loss.
#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr Dimension times = symbol("times");
constexpr auto minilm_norm(const char* name) { return layer_norm(name, epsilon(1e-12)); }

/// Every time of a sentence looks at all times of it, then is changed alone; each is followed by a
/// norm.
constexpr auto minilm_block =
    residual(as("in") | linear("key", 384) | from("in") | linear("value", 384) | from("in") |
             linear("query", 384) | attention("mix", "key", "value", heads(12), length("length")) |
             linear("join", 384)) |
    minilm_norm("norm1") | residual(linear("fc1", 1536) | gelu("act") | linear("fc2", 384)) |
    minilm_norm("norm2");

/// A sentence's vector is the mean over its times: `share` is 1 / length where it has a word piece,
/// and 0 behind its end.
constexpr auto minilm = model(
    "minilm",
    inputs(tokens("pieces", batch, times), tokens("types", batch, times), lengths("length", batch),
           tensor("share", batch, 1, times)),
    from("types") | embedding("type", 2, 384),
    from("pieces") | embedding("word", 30522, 384) | add("type") |
        position_embedding("place", 512) | minilm_norm("norm") | repeat<6>("block", minilm_block) |
        as("encoded"),
    from("share") | matmul("mean", "encoded") | reshape("flat", batch, 384) | output("vector"));

/// What is stored and read is of 16 bits; norms and the mean compute in f32.
constexpr auto minilm_rules(Element format) {
  return precision(everywhere(store(format), compute(format)), where(normalization)(compute(f32)),
                   where(layer("mean") & activations)(store(f32), compute(f32)));
}
