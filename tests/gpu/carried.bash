# SPDX-License-Identifier: Apache-2.0
# Building what tests/gpu/prepare carried: g++ (or CXX), nothing else. Sourced; expects `set -euo pipefail`.
# What has no remedy here ends the program after one sentence on stderr.

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

kFlags=(-w -std=c++20 -O2 -fPIC -ffp-contract=off -pthread '-DHALFTONE_SIMULATOR_INTERFACE="carried"')

# compile_one ROOT SOURCE: build/objects/SOURCE.o, unless it is newer than the source.
compile_one() {
  local root=$1 source=$2 object=$1/build/objects/$2.o
  [[ $object -nt $root/$source && $object -nt $root/carried.txt ]] && return 0
  mkdir -p "${object%/*}"
  # shellcheck disable=SC2086 # HALFTONE_CXX may be "ccache g++"
  (cd "$root" && $HALFTONE_CXX "${kFlags[@]}" "${kIncludes[@]}" -c "$source" -o "$object") ||
    { rm -f "$object"; echo "$source does not compile" >&2; return 1; }
}

# compile_all ROOT SOURCE...: as many at a time as there are processors. Status 1 when one does not compile; the others are
# compiled all the same.
compile_all() {
  local root=$1 jobs=0 refused=0 source
  shift
  local most=${HALFTONE_JOBS:-$(nproc)}
  for source; do
    if ((jobs >= most)); then
      wait -n || refused=$((refused + 1))
      jobs=$((jobs - 1))
    fi
    compile_one "$root" "$source" &
    jobs=$((jobs + 1))
  done
  while ((jobs > 0)); do
    wait -n || refused=$((refused + 1))
    jobs=$((jobs - 1))
  done
  ((refused == 0))
}

# set_up_compiler ROOT
set_up_compiler() {
  if [[ -z ${HALFTONE_CXX:-} ]]; then
    HALFTONE_CXX=${CXX:-g++}
    command -v "$HALFTONE_CXX" >/dev/null || fail "there is no $HALFTONE_CXX on this machine; name a C++20 compiler in CXX"
    if command -v ccache >/dev/null; then HALFTONE_CXX="ccache $HALFTONE_CXX"; fi
  fi
  # Tests first: a runtime's header may have the name of one of theirs.
  kIncludes=(-Itests/support -Itests/simulated/emitted -Itests/gpu -Itests/gpu/parts -Iruntime/include
    -Iruntime/manifest/include -Iruntime/simulator/include -Iruntime -Iruntime/src -Iencoding/include
    -Idsl/description/include -Idsl/reference/include -Iexamples/digits -Iinclude -isystem system/include)
}

# build_library ROOT: runtime, simulator, reference and what tests share, and the simulator as programs open it, beside them.
# Status 1 when a source does not compile; the library is made of the others, and serves the programs that do without it.
build_library() {
  local root=$1 sources objects source status=0
  set_up_compiler
  mapfile -t sources < <(cd "$root" && find runtime/src runtime/manifest runtime/simulator/src dsl/description \
    dsl/reference tests/simulated/emitted tests/gpu/parts -name '*.cpp' | sort)
  compile_all "$root" "${sources[@]}" || status=1
  objects=()
  for source in "${sources[@]}"; do
    [[ ! -f $root/build/objects/$source.o ]] || objects+=("$root/build/objects/$source.o")
  done
  rm -f "$root/build/libhalftone.a"
  ar qcs "$root/build/libhalftone.a" "${objects[@]}" || return 1
  # shellcheck disable=SC2086
  $HALFTONE_CXX -shared -pthread -Wl,-Bsymbolic -o "$root/build/libhalftone_simulator.so" \
    "$root/build/objects/runtime/simulator/src"/*.o || status=1
  return $status
}

# build_program ROOT NAME FOLDER SOURCE...: build/NAME from these sources, tests/gpu/NAME.cpp where none is named, and the
# artifacts of FOLDER. Status 1 when it cannot be built.
build_program() {
  local root=$1 name=$2 folder=$3 objects
  shift 3
  local sources=("$@")
  ((${#sources[@]})) || sources=("tests/gpu/$name.cpp")
  rm -f "$root/build/$name"
  compile_all "$root" "${sources[@]}" || return 1
  objects=("${sources[@]/#/$root/build/objects/}")
  # shellcheck disable=SC2086
  $HALFTONE_CXX -pthread -o "$root/build/$name" "${objects[@]/%/.o}" "$root/$folder"/*.o "$root/build/libhalftone.a" \
    "$root/system/lib/libzstd.a" -ldl || { echo "$name does not link" >&2; return 1; }
}
