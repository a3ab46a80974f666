# SPDX-License-Identifier: Apache-2.0
# What a machine with a GPU has, and where. Sourced by tests/gpu/run and tests/bench/gpu/run.

# nvrtc_home ROOT: a folder with NVRTC beside its builtins that the loader may not look into: of a toolkit, of this
# checkout, of Python's packages.
nvrtc_home() {
  local home nvcc
  nvcc=$(command -v nvcc || true)
  for home in "${NVRTC_HOME:-}" "${CUDA_HOME:-}" "${nvcc:+${nvcc%/bin/nvcc}}" /usr/local/cuda \
    "$1"/build/{dev/,}nvrtc/nvidia/cu13 \
    $(python3 -c 'import nvidia; print(*(p + "/" + v for p in nvidia.__path__ for v in ("cu13", "cuda_nvrtc")))' 2>/dev/null) \
    /usr/local/cuda-1[23]*; do
    if [[ -n $home ]] && compgen -G "$home/lib*/libnvrtc.so.1[23]" >/dev/null &&
      compgen -G "$home/lib*/libnvrtc-builtins.so.1[23]*" >/dev/null; then
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

# find_tool NAME: its path, also where no PATH leads; empty where it is not on this machine.
find_tool() {
  command -v "$1" || compgen -G "/usr/local/cuda*/bin/$1" | head -n 1 ||
    find /usr/local/cuda*/ /opt/nvidia -name "$1" -type f -perm -u+x -print -quit 2>/dev/null || true
}

# describe_machine: a line for each thing that the parts may need.
describe_machine() {
  local tool python
  echo "machine: $(uname -sm), $(nproc) processors, $(. /etc/os-release 2>/dev/null && echo "${PRETTY_NAME:-}")"
  echo "compiler: $($HALFTONE_CXX --version 2>&1 | head -n 1)"
  echo "NVRTC_HOME: ${NVRTC_HOME:-none; the loader must find NVRTC}"
  for tool in compute-sanitizer ncu nvidia-smi; do
    echo "$tool: $(find_tool "$tool" | grep . || echo 'not on this machine')"
  done
  python=$(command -v python3 || true)
  echo "python3: ${python:-not on this machine}"
}

# probe_device ROOT: what the driver, its GPU and NVRTC say without Halftone. Status 77 where one of them is missing.
probe_device() {
  mkdir -p "$1/build"
  $HALFTONE_CXX "${kFlags[@]}" "$1/tests/gpu/probe.cpp" -o "$1/build/probe" -ldl ||
    { echo "the compiler above makes no C++20 program; name another in CXX"; return 1; }
  timeout --kill-after=5 60 "$1/build/probe" "${NVRTC_HOME:-}"
}
