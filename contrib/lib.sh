# shellcheck shell=bash disable=SC2154
# What contrib/demo, contrib/test and contrib/package share. To be sourced, with `root` set to the source tree.

say() { printf '%s\n' "$*"; }
fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Waits until a command succeeds: wait_for SECONDS "what is waited for" COMMAND...
wait_for() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || fail "waited in vain for: $what"
    sleep 0.1
  done
}

# Installs what is missing, each given as PROGRAM=PACKAGE or FILE=PACKAGE.
need() {
  local entry program missing=()
  for entry in "$@"; do
    program=${entry%%=*}
    [[ $program == /* && -e $program ]] || command -v "$program" >/dev/null || missing+=("${entry#*=}")
  done
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null ||
    fail "these Debian packages, or what they are called here, must be installed first: ${missing[*]}"
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "run as root, or install first: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
  local log
  log=$(mktemp)
  say "Installing ${missing[*]} (apt) ..."
  if ! { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    fail "apt could not install: ${missing[*]}"
  fi
  rm -f "$log"
}

# Finds cargo (also where rustup puts it, and that of the user behind sudo) and checks its age.
need_rust() {
  local home wanted found
  for home in "${HOME:-}" "$(getent passwd "${SUDO_USER:-}" | cut -d: -f6)"; do
    if ! command -v cargo >/dev/null && [[ -n $home && -x $home/.cargo/bin/cargo ]]; then
      PATH=$home/.cargo/bin:$PATH
      [[ -d $home/.rustup ]] && export RUSTUP_HOME=${RUSTUP_HOME:-$home/.rustup}
    fi
  done
  export PATH
  wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")
  command -v cargo >/dev/null || fail "there is no cargo: install Rust $wanted or later (https://rustup.rs)"
  found=$(rustc --version | sed -n 's/^rustc \([0-9.]*\).*/\1/p')
  [[ $(printf '%s\n' "$wanted" "$found" | sort -V | head -n 1) == "$wanted" ]] ||
    fail "Rust $wanted or later is needed, but this is $found: run rustup update stable"
}
