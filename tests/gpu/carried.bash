# SPDX-License-Identifier: Apache-2.0
# Building what tests/gpu/prepare carried: g++ (or CXX), nothing else. Sourced; expects `set -euo pipefail`.
# Functions end the program after one sentence on stderr.

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

kFlags=(-w -std=c++20 -O2 -ffp-contract=off -pthread)

# compile_one ROOT SOURCE: build/objects/SOURCE.o, unless it is newer than the source.
compile_one() {
  local root=$1 source=$2 object=$1/build/objects/$2.o
  [[ $object -nt $root/$source && $object -nt $root/carried.txt ]] && return 0
  mkdir -p "${object%/*}"
  # shellcheck disable=SC2086 # HALFTONE_CXX may be "ccache g++"
  (cd "$root" && $HALFTONE_CXX "${kFlags[@]}" "${kIncludes[@]}" -c "$source" -o "$object") ||
    { echo "$source does not compile" >&2; return 1; }
}

# compile_all ROOT SOURCE...: as many at a time as there are processors.
compile_all() {
  local root=$1 jobs=0 source
  shift
  local most=${HALFTONE_JOBS:-$(nproc)}
  for source; do
    if ((jobs >= most)); then
      wait -n || fail "the build failed; the compiler's words are above"
      jobs=$((jobs - 1))
    fi
    compile_one "$root" "$source" &
    jobs=$((jobs + 1))
  done
  while ((jobs > 0)); do
    wait -n || fail "the build failed; the compiler's words are above"
    jobs=$((jobs - 1))
  done
}

# set_up_compiler ROOT
set_up_compiler() {
  if [[ -z ${HALFTONE_CXX:-} ]]; then
    HALFTONE_CXX=${CXX:-g++}
    command -v "$HALFTONE_CXX" >/dev/null || fail "there is no $HALFTONE_CXX on this machine; name a C++20 compiler in CXX"
    if command -v ccache >/dev/null; then HALFTONE_CXX="ccache $HALFTONE_CXX"; fi
  fi
  kIncludes=(-Iruntime/include -Iruntime/manifest/include -Iruntime/simulator/include -Iruntime/src
    -Idsl/description/include -Idsl/reference/include -Itests/support -Itests/simulated/emitted -Itests/gpu -Itests/gpu/parts
    -Iexamples/digits -Iinclude -isystem system/include)
}

# build_library ROOT: runtime, simulator, reference and what tests share.
build_library() {
  local root=$1 sources objects
  set_up_compiler
  mapfile -t sources < <(cd "$root" && find runtime/src runtime/manifest runtime/simulator/src dsl/description \
    dsl/reference tests/simulated/emitted tests/gpu/parts -name '*.cpp' | sort)
  compile_all "$root" "${sources[@]}"
  objects=("${sources[@]/#/$root/build/objects/}")
  rm -f "$root/build/libhalftone.a"
  ar qc "$root/build/libhalftone.a" "${objects[@]/%/.o}"
  ranlib "$root/build/libhalftone.a"
}

# build_program ROOT NAME FOLDER SOURCE...: build/NAME from tests/gpu/NAME.cpp, these sources and the artifacts of FOLDER.
build_program() {
  local root=$1 name=$2 folder=$3 objects
  shift 3
  local sources=("$@")
  ((${#sources[@]})) || sources=("tests/gpu/$name.cpp")
  compile_all "$root" "${sources[@]}"
  objects=("${sources[@]/#/$root/build/objects/}")
  # shellcheck disable=SC2086
  $HALFTONE_CXX -pthread -o "$root/build/$name" "${objects[@]/%/.o}" "$root/$folder"/*.o "$root/build/libhalftone.a" \
    "$root/system/lib/libzstd.a" -ldl || fail "$name does not link"
}

# nvrtc_home ROOT: a folder with NVRTC beside its builtins that the loader may not look into.
nvrtc_home() {
  local home
  for home in "${NVRTC_HOME:-}" "${CUDA_HOME:-}" /usr/local/cuda "$1"/build/{dev/,}nvrtc/nvidia/cu13 \
    $(python3 -c 'import nvidia; print(*(p + "/cu13" for p in nvidia.__path__))' 2>/dev/null); do
    if [[ -n $home ]] && compgen -G "$home/lib*/libnvrtc.so.1[23]*" >/dev/null; then
      echo "$home"
      return
    fi
  done
  return 1
}

# find_libraries ROOT: lets programs find NVRTC, and libcuda where containers have it.
find_libraries() {
  local home folder
  home=$(nvrtc_home "$1" || true)
  [[ -z $home ]] || export NVRTC_HOME=$home
  for folder in /usr/local/nvidia/lib64 /usr/lib/wsl/lib; do
    [[ ! -d $folder ]] || export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  done
}
