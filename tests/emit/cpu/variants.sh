#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# variants.sh OBJDUMP OBJECT: code for x86-64-v3 multiplies and adds in 8-lane FMA and converts f16 by F16C, code for x86-64
# has no AVX at all, and neither calls a function that converts formats.
"$1" -d -t --no-show-raw-insn "$2" | awk '
  /\*UND\*/ && !/ (fmaf|memcpy|memset)$/ { print "needs a function that not every runtime has: " $0; bad = 1 }
  /^[0-9a-f]+ <.*>:$/ { best = /__x86_64_v3/; base = /__x86_64(_finish)?>/; functions += base }
  best && /vfmadd.*ymm/ { fused = 1 }
  best && /vcvtph2ps/ { widens = 1 }
  best && /vcvtps2ph/ { rounds = 1 }
  base && /[yz]mm|[ \t]v[a-z]+[ \t]/ { print "AVX in baseline code: " $0; bad = 1 }
  END {
    if (!fused) print "no 8-lane FMA in x86-64-v3 code"
    if (!widens || !rounds) print "no F16C in x86-64-v3 code"
    exit bad || !fused || !widens || !rounds || !functions
  }'
