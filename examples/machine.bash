# SPDX-License-Identifier: Apache-2.0
# What examples/quickstart, the run of examples/language, diffusion and genome, and tests/run share: installs missing Debian packages,
# chooses the compiler, builds, brings NVRTC and ONNX's vectors.
# Sourced, not run; expects `set -euo pipefail`. Functions return 1 after one sentence on stderr.

kBuildPackages=(cmake ninja-build llvm-22-dev libmlir-22-dev mlir-22-tools libcli11-dev libicu-dev libxxhash-dev
  libzstd-dev nlohmann-json3-dev)
kTestPackages=(clang-22 lld-22 libclang-rt-22-dev g++ make python3 doctest-dev llvm-22-tools librapidcheck-dev
  libboost-dev libonnx-testdata libpng-dev python3-pip)
kNvrtcWheels=(nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl)

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# missing_packages NAME...: those that dpkg does not know as installed, one a line.
missing_packages() {
  local name
  for name; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || echo "$name"
  done
}

# show_progress LABEL LOG: what apt prints in; its status lines become one line redrawn on a terminal, or a line per
# 25 % elsewhere, and the rest goes to LOG. (A status descriptor of its own would not get through sudo.)
show_progress() {
  local line kind percent shown=-25
  while IFS= read -r line; do
    if [[ ! $line =~ ^(dlstatus|pmstatus):[^:]*:([0-9]+) ]]; then
      echo "$line" >>"$2"
      continue
    fi
    kind=${BASH_REMATCH[1]} percent=${BASH_REMATCH[2]}
    case $kind in dlstatus) percent=$((percent / 4)) ;; *) percent=$((25 + percent * 3 / 4)) ;; esac
    if [[ -t 2 ]]; then
      printf '\r%s %3d %%' "$1" "$percent" >&2
    elif ((percent >= shown + 25)); then
      printf '%s %3d %%\n' "$1" "$percent" >&2
      shown=$percent
    fi
  done
  [[ ! -t 2 ]] || printf '\r%s 100 %%\n' "$1" >&2
}

# install_packages LOG NAME...: installs those that are missing; needs root or sudo only when one is.
install_packages() {
  local log=$1 missing=() as_root=()
  shift
  command -v apt-get >/dev/null ||
    { say "this machine has no apt-get; install the equivalents of: $*, then build with CMake (README.md)"; return 1; }
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null ||
      { say "needs ${missing[*]}; run it as root, or install them (or sudo) first"; return 1; }
    as_root=(sudo)
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update >"$log" 2>&1 ||
    { tail -n 5 "$log" >&2; say "apt-get update failed; mend /etc/apt/sources.list.d or the network"; return 1; }
  "${apt[@]}" install --no-install-recommends -o Dpkg::Use-Pty=0 -o APT::Status-Fd=1 "${missing[@]}" 2>&1 |
    show_progress "Installing ${#missing[@]} packages" "$log" ||
    { tail -n 5 "$log" >&2; say "apt-get could not install ${missing[*]} (Debian 12 with its security updates has all)"
      return 1; }
}

# has_clang: both parts of the preferred compiler are here.
has_clang() { command -v clang++-22 >/dev/null && command -v ld.lld-22 >/dev/null; }

# compiler_packages: what to install where no C++ compiler is.
compiler_packages() { has_clang || command -v g++ >/dev/null || echo clang-22 lld-22; }

# compiler_arguments: the CMake arguments for the compiler and cache that this machine has, one a line.
compiler_arguments() {
  if has_clang; then
    printf '%s\n' -DCMAKE_CXX_COMPILER=clang++-22 -DCMAKE_{EXE,SHARED}_LINKER_FLAGS=-fuse-ld=lld-22
  else
    printf '%s\n' -DCMAKE_CXX_COMPILER=g++
  fi
  if command -v ccache >/dev/null; then printf '%s\n' -DCMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
}

# toolkit_nvrtc: the home of an NVRTC 13 that this machine has, in the order in which it is looked for.
toolkit_nvrtc() {
  local home nvcc
  nvcc=$(command -v nvcc || true)
  for home in "${NVRTC_HOME:-}" "${CUDA_HOME:-}" "${nvcc:+${nvcc%/bin/nvcc}}" /usr/local/cuda; do
    if [[ -n $home ]] && compgen -G "$home/lib*/libnvrtc.so.13*" >/dev/null; then
      echo "$home"
      return
    fi
  done
  return 1
}

# nvrtc_packages: what fetch_nvrtc needs, where it has something to fetch.
nvrtc_packages() { toolkit_nvrtc >/dev/null || echo python3-pip; }

# fetch_wheels FOLDER WHEEL...: what PyPI has of them, into FOLDER, which there is not afterwards where that failed.
fetch_wheels() {
  local folder=$1
  shift
  rm -rf "$folder" && mkdir -p "$folder"
  python3 -m pip install --quiet --no-deps --no-compile --disable-pip-version-check --no-cache-dir --retries 2 \
    --timeout 20 --target "$folder" "$@" >"$folder.log" 2>&1 || { rm -rf "$folder"; return 1; }
}

# pip_failure FOLDER: why fetch_wheels failed, in a line.
pip_failure() { grep -m1 '^ERROR' "$1.log" || tail -n 1 "$1.log"; }

# fetch_nvrtc FOLDER: where no toolkit is, puts NVRTC 13.0 and its headers from PyPI into FOLDER (nvidia/cu13/{lib,include}).
# A failure is no error: tests that need NVRTC are then skipped.
fetch_nvrtc() {
  local folder=$1 home
  if home=$(toolkit_nvrtc); then
    echo "NVRTC: $home"
    return
  fi
  compgen -G "$folder/nvidia/cu13/lib/libnvrtc.so.13" >/dev/null ||
    fetch_wheels "$folder" "${kNvrtcWheels[@]/%/==13.0.*}" || {
      echo "NVRTC: none, since there is no CUDA Toolkit and PyPI failed: $(pip_failure "$folder")"
      return
    }
  echo "NVRTC: $folder"
}

# fetch_onnx FOLDER: puts the node vectors of ONNX 1.19, which later wheels leave out, into FOLDER (onnx/backend/test/data/node).
# A failure is no error: the test that needs them is then skipped.
fetch_onnx() {
  local folder=$1
  [[ -d $folder/onnx/backend/test/data/node ]] || fetch_wheels "$folder" onnx==1.19.0 || {
    echo "ONNX's vectors: none, since PyPI failed: $(pip_failure "$folder")"
    return
  }
  echo "ONNX's vectors: $folder"
}

# configure_build ROOT BUILD: makes the build folder, where there is none yet.
configure_build() {
  local compiler
  [[ ! -f $2/build.ninja ]] || return 0
  mapfile -t compiler < <(compiler_arguments)
  cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHALFTONE_BUILD_TESTS=OFF "${compiler[@]}" \
    >"$2/configure.log" 2>&1 || { tail -n 20 "$2/configure.log" >&2; say "CMake failed; all of it: $2/configure.log"; return 1; }
}

# build_targets BUILD TARGET...: with ninja's progress on a terminal.
build_targets() {
  local build=$1
  shift
  if [[ -t 1 ]]; then
    NINJA_STATUS='[%f/%t, %e s] ' ninja -C "$build" "$@"
  else
    echo "Building in $build"
    ninja -C "$build" --quiet "$@"
  fi
}
