# shellcheck shell=bash disable=SC2034,SC2154
# What contrib/demo, contrib/screenshots, contrib/test and contrib/package share. To be sourced, with `root` set to the source tree.

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

# Builds both programs as they are installed, and sets `programs` to the directory that has them.
build_programs() {
  say "Building (cargo build --release; the first time takes some minutes) ..."
  (cd "$root" && cargo build --release --locked --package antidrift-daemon --package antidrift-cli)
  programs=$(cd "$root" && cargo metadata --format-version 1 --no-deps --offline |
    sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release
}

# ---- a stage: processes and a directory of ours, both gone in the end ---------------------------

pids=()
work=
end_all() {
  local status=$? index pid
  trap - EXIT INT TERM HUP
  for ((index = ${#pids[@]} - 1; index >= 0; index--)); do
    pid=${pids[index]}
    kill "$pid" 2>/dev/null || continue
    for _ in {1..30}; do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  if ((status != 0)) && [[ -n $work && -s $work/daemon.log ]]; then
    say "The daemon's last words:" >&2
    tail -n 5 "$work/daemon.log" >&2
  fi
  [[ -z $work ]] || rm -rf "$work"
  exit "$status"
}

# Makes the directory `work`. From here on whatever `start` started is ended with us.
set_up_stage() {
  trap end_all EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  work=$(mktemp -d "${TMPDIR:-/tmp}/antidrift-${0##*/}.XXXXXX")
  mkdir -m 700 "$work"/{run,state,config,config/antidrift}
}

# start LOG COMMAND... runs it beside us.
start() {
  "${@:2}" </dev/null >"$work/$1" 2>&1 &
  pids+=($!)
  started=$!
}

# A display of its own: start_display WIDTHxHEIGHT
start_display() {
  start xvfb.log Xvfb -displayfd 3 -noreset -nolisten tcp -screen 0 "$1x24" 3>"$work/display"
  wait_for 20 "Xvfb" test -s "$work/display"
  DISPLAY=:$(<"$work/display")
  export DISPLAY
  unset WAYLAND_DISPLAY XDG_SESSION_TYPE
}

managed() { xprop -root _NET_SUPPORTING_WM_CHECK | grep -q window; }

# A bus of its own, on which nothing starts by itself.
start_bus() {
  cat >"$work/bus.conf" <<END
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=$work/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>
END
  start bus.log dbus-daemon --nofork --config-file="$work/bus.conf"
  export DBUS_SESSION_BUS_ADDRESS=unix:path=$work/bus
  wait_for 20 "the session bus" test -S "$work/bus"
}

notifications() {
  dbus-send --session --print-reply=literal --reply-timeout=5000 \
    --dest=org.freedesktop.Notifications /org/freedesktop/Notifications "$@"
}

# How many popups dunst shows.
popups() {
  notifications org.freedesktop.DBus.Properties.Get \
    string:org.dunstproject.cmd0 string:displayedLength | sed 's/.* //'
}

# Nothing of the user's own daemon, state and configuration is seen from here on.
use_own_dirs() {
  export XDG_RUNTIME_DIR=$work/run XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
  unset ANTIDRIFT_SOCKET ANTIDRIFT_AI_BACKEND
  printf '[drift]\nsettle_secs = 1\n' >"$XDG_CONFIG_HOME/antidrift/config.toml"
}

# ---- the pieces of a story ----------------------------------------------------------------------

antidrift() { "$programs/antidrift" "$@"; }

state_has() { antidrift status --json | grep -qF -- "$1"; }

# A window with a page in it. It shows what is written to its file: title first, then the text.
# window NAME CLASS GEOMETRY
window() {
  # shellcheck disable=SC2016 # the words are for the shell inside
  start "$1.log" xterm -class "$2" -name "$1" -geometry "$3" -fa Monospace -fs 11 \
    -T starting -e sh -c '
      old=
      while :; do
        new=$(cat "$1")
        if [ "$new" != "$old" ]; then
          old=$new
          printf "\033]0;%s\007\033[H\033[2J" "$(printf "%s\n" "$new" | sed 1q)"
          printf "%s\n" "$new" | sed 1d
        fi
        sleep 0.2
      done' sh "$work/$1"
}

title_of() { xdotool search --onlyvisible --name "^$1\$"; }

# Gives the window with this title the focus.
focus() {
  local title=$1 id
  wait_for 20 "a window «$title»" title_of "$title"
  id=$(title_of "$title" | head -n 1)
  xdotool windowactivate "$id" 2>/dev/null || xdotool windowfocus "$id"
  wait_for 30 "the focus on «$title» (a click on that window helps)" state_has "\"title\":\"$title\""
}

# The pages of the story, which `window` shows.
write_pages() {
  cat >"$work/report" <<'END'
report.md - Editor
# Rainfall in the valley, 1990 to 2025

1. What was measured, and where
2. How the stations differ
3. _
END
  cat >"$work/page" <<'END'
A visit to the gauging hut - YouTube
[ YouTube ]

The hut on the ridge has counted drops since
1990. Here is how the bucket tips, and why it
misses snow.
END
}

football='Football live, 73rd minute - YouTube'
turn_to_football() {
  printf '%s\n' "$football" '[ Football live ]' '' '  HOME  2 : 2  AWAY' '' '73. What a save!' \
    >"$work/page"
}
