# SPDX-License-Identifier: Apache-2.0
# Sourced by benches that run beside others' programs; wants $peers, a folder, $work, one for logs, and say().

# make_peers: the virtual environment.
make_peers() {
  [[ -x $peers/bin/python ]] || python3 -m venv "$peers" >"$work/venv.log" 2>&1 ||
    say "no virtual environment, so no peers: $(tail -n 1 "$work/venv.log")"
}

# fetch NAME PACKAGE...: into the virtual environment, unless they are there.
fetch() {
  local name=$1
  shift
  [[ ! -f $peers/has_$name ]] || return 0
  say "fetching $name into $peers"
  if "$peers/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >"$work/$name.install.log" 2>&1; then
    touch "$peers/has_$name"
  else
    say "could not get $name: $(tail -n 1 "$work/$name.install.log")"
  fi
}
