#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# variants.sh OBJDUMP OBJECT: code for x86-64-v4 and x86-64-v3 multiplies and adds in FMA of 16 and 8 lanes and converts f16 by
# F16C, code for x86-64-v4-amx multiplies by tiles, which no other code touches, and gives them back, code for x86-64-v4-bf16 by
# VDPBF16PS, which no other code has, none goes beyond its level otherwise (AVX512-BF16 flushes subnormals), code for x86-64 has no AVX at all, and none calls a
# function that converts formats.
"$1" -d -t --no-show-raw-insn "$2" | awk '
  /\*UND\*/ && !/ (fmaf|memcpy|memset)$/ { print "needs a function that not every runtime has: " $0; bad = 1 }
  /^[0-9a-f]+ <.*>:$/ {
    variant = match($0, /__x86_64(_v[0-9](_amx|_bf16)?)?(_finish)?>/) ? substr($0, RSTART + 2, RLENGTH - 3) : ""
    sub(/_finish$/, "", variant)
    functions[variant]++
  }
  !/^ *[0-9a-f]+:/ { next }
  $2 ~ /^vfmadd/ && /zmm/ { fused["x86_64_v4", variant] = 1 }
  $2 ~ /^vfmadd/ && /ymm/ { fused["x86_64_v3", variant] = 1 }
  $2 == "vcvtph2ps" { widens[variant] = 1 }
  $2 == "vcvtps2ph" { rounds[variant] = 1 }
  variant == "x86_64" && (/[yz]mm/ || $2 ~ /^v/) { print "AVX in baseline code: " $0; bad = 1 }
  variant == "x86_64_v3" && /zmm|%k[0-7]/ { print "AVX-512 in x86-64-v3 code: " $0; bad = 1 }
  variant == "x86_64_v4_amx" && /tmm|tilerelease/ { tiles[$2] = 1; if ($2 == "tdpbf16ps") next }
  variant == "x86_64_v4_bf16" && $2 == "vdpbf16ps" { pairs = 1; next }
  variant != "x86_64_v4_amx" && /tmm|tilerelease|ldtilecfg/ { print "tiles in other code: " $0; bad = 1 }
  $2 ~ /bf16|ph$/ && $2 != "vcvtps2ph" { print "narrow arithmetic: " $0; bad = 1 }
  END {
    for (variant in functions)
      if (variant ~ /_v[0-9]$/) {
        if (!fused[variant, variant]) { print "no FMA of its own length in " variant; bad = 1 }
        if (!widens[variant] || !rounds[variant]) { print "no F16C in " variant; bad = 1 }
        wide++
      }
    if (wide != 2 || !functions["x86_64"] || !functions["x86_64_v4_amx"] || !functions["x86_64_v4_bf16"]) { print "not five variants"; bad = 1 }
    if (!tiles["tdpbf16ps"] || !tiles["tilerelease"]) { print "no tiles in x86_64_v4_amx"; bad = 1 }
    if (!pairs) { print "no products of pairs in x86_64_v4_bf16"; bad = 1 }
    exit bad
  }'
