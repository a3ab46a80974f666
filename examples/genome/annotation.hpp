// SPDX-License-Identifier: Apache-2.0
// Annotation: what each base is part of. bf16, clipped at 1; between the sums that end blocks
// nothing is kept, and the backward pass computes it again.
#include "hyena.hpp"

constexpr auto annotation =
    model("annotation", inputs(text(kAnnotated), labels("label", batch, kAnnotated)),
          places(kAnnotated), backbone | linear("head", kAnnotations) | output("logits"),
          losses(cross_entropy("loss", "logits", "label", ignore_index(kIgnored))));
constexpr auto rules = precision(in_16_bits(bf16), everywhere(recompute(always)),
                                 where(layer("h/*/*.add"))(recompute(never)));

HALFTONE_MODEL(annotation, rules, optimizer, rate<kAnnotationSteps>, clip(1.0))
