# What the tests of windows share, for sh: set `called` (the program's name), then read this file with `.`; the arguments are
# PROGRAM BACKEND X_WINDOW, then JSON_GET if the window writes reports. It goes to an empty directory, and brings a display of
# its own, `screen` large, where there is Xvfb, so that no other window takes the keyboard away. Pictures tell what the window
# shows: key P saves one; and X_WINDOW looks at the
# window itself. No check assumes that something happens within a time: on a busy machine a frame may take seconds. They wait
# for a state (`eventually`), or until what was pressed was handled and drawn (`frames`). A window writes each error that it shows to standard error too, and Mesa each wrong use
# of OpenGL: what is there and was not expected (`complains`) is a failure.
set -u
if [ -z "${TEST_DISPLAY:-}" ] && command -v Xvfb >/dev/null; then
  TEST_DISPLAY=own exec "$(dirname "$0")/../common/with_display" "${screen:-1280x1024}" "$0" "$@"
fi
program=$(realpath "$1")
backend=$2
x_window=$(realpath "$3")
json_get=$(realpath "${4:-/}")
skip() {
  case ",${TEXSOLVE_TEST_REQUIRE:-}," in *,window,*) status=1 ;; *) status=77 ;; esac
  echo "$*" >&2
  exit "$status"
}
[ -n "${DISPLAY:-}" ] || skip "no display"
command -v xdotool >/dev/null || skip "no xdotool"

work=$(mktemp -d "${TMPDIR:-/tmp}/$called.XXXXXX") || exit 1
cd "$work" || exit 1
process= program_path=
finish() {
  [ -z "$process" ] || kill "$process" 2>/dev/null
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
# Without it GLFW 3.4, which looks for Wayland first, has an error printed.
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-$work}"
fail() {
  echo "FAILED: $*" >&2
  cat err said >&2 2>/dev/null
  exit 1
}

# with_dialog: the program finds no dialog but zenity, for which a script stands in. It says how it was called in
# `dialog`, and ends with the line that is written to `chosen`, which it waits for.
with_dialog() {
  mkdir tools && mkfifo chosen && cat >tools/zenity <<'END'
#!/bin/sh
printf '%s\n' "$@" >dialog
read -r line <chosen && [ -n "$line" ] && printf '%s\n' "$line"
END
  chmod +x tools/zenity
  for tool in ffmpeg sh; do [ ! -x "$(command -v $tool)" ] || ln -s "$(command -v $tool)" tools; done
  program_path=$work/tools
}
# open_dialog: Ctrl+O shows it, and the window goes on meanwhile. Then write to `chosen`.
open_dialog() {
  rm -f dialog
  key ctrl+o
  eventually test -s dialog || fail "Ctrl+O shows no dialog"
  frames 2
  quiet
}
# without_dialog: one that is not installed is named.
without_dialog() {
  rm tools/zenity
  key ctrl+o
  complains "the Open dialog needs zenity or kdialog, and neither is installed; drop a file on the window instead"
}

# start TITLE ARGUMENTS...: the program, in the background; `process` and `window` are set when it shows.
start() {
  title=$1
  shift
  : >said
  PATH=${program_path:-$PATH} MESA_DEBUG=1 "$program" "$@" >out 2>>said &
  process=$!
  find_window() { xdotool search --onlyvisible --name "^$title - $called\$" >window 2>/dev/null; }
  eventually find_window || {
    grep -q 'unavailable' said && skip "$(cat said)"
    fail "no window"
  }
  window=$(head -n 1 window)
  xdotool windowfocus "$window"
}
# Nothing is wrong so far.
quiet() { [ ! -s said ] || fail "the window says something"; }
# complains TEXT: it does, with TEXT, and with nothing else.
complains() {
  eventually grep -qF -- "$1" said || fail "the window does not say '$1'"
  grep -vF -- "$1" said >&2 && fail "the window says something else than '$1'"
  : >said
}

# Runs a command until it succeeds, for three minutes: a busy machine takes its time.
eventually() (
  end=$(($(date +%s) + 180))
  until "$@"; do
    [ "$(date +%s)" -lt $end ] && kill -0 "$process" 2>/dev/null || exit 1
    sleep 0.1
  done
)
# frames COUNT: until the window has handled all events so far, and so many frames later
frames() { "$x_window" frames "$window" "$1" || fail "the window does not answer"; }
# GLFW takes a key that is pressed again within 20 ms for one that is held down.
key() { sleep 0.1 && xdotool key "$@"; }
saved=picture.png # where key P saves
is_whole() { [ -s $saved ] && tail -c 8 $saved | grep -q IEND; }
# picture NAME: what the window shows now
picture() {
  rm -f $saved
  key p
  eventually is_whole || fail "no picture ($1)"
  mv $saved "$1.png"
  quiet
}
differs() { picture now && ! cmp -s now.png "$1.png"; }
is_as() { picture now && cmp -s now.png "$1.png"; }
# The same of the window itself. look NAME: remembers it
sum() { "$x_window" sum "$window"; }
look() { sum >"$1.sum" || fail "the window cannot be looked at"; }
looks_other() { [ "$(sum)" != "$(cat "$1.sum")" ]; }
looks_as() { [ "$(sum)" = "$(cat "$1.sum")" ]; }
shows() { eventually "$1" "$2" || fail "$3 does not show in the window"; }

# Values stand next to sliders, not on their handles.
handles_are_free() {
  "$x_window" handles "$window" >handles || fail "the controls cannot be looked at"
  read -r columns covered <handles
  [ "$columns" -gt 5 ] || fail "no handles of sliders are seen"
  [ "$covered" -eq 0 ] || fail "text lies on the handles of sliders"
}

changes() { eventually differs "$1" || fail "$2 does not change the picture"; }
returns() { eventually is_as "$1" || fail "$2 does not bring the picture back"; }

# asks KEY FILE: a file that the window has not written is replaced when the key is pressed again, not before.
asks() {
  echo mine >"$2"
  key "$1"
  frames 2
  [ "$(head -c 4 "$2")" = mine ] || fail "key $1 replaces $2 without a question"
  replaced() { ! [ "$(head -c 4 "$2")" = mine ]; }
  key "$1"
  eventually replaced "$@" || fail "key $1 does not replace $2 the second time"
  quiet
}

# The program has to end by itself, with nothing said.
ends() {
  key ctrl+q
  end=$(($(date +%s) + 180))
  while kill -0 "$process" 2>/dev/null; do
    [ "$(date +%s)" -lt $end ] || fail "Ctrl+Q does not end it"
    sleep 0.1
  done
  wait "$process"
  status=$?
  process=
  [ $status -eq 0 ] || fail "it ended with $status"
  quiet
}

# The largest difference of vertices' coordinates in two OBJ files.
difference() {
  paste -d ' ' "$1" "$2" | awk '$1 == "v" { for (k = 2; k <= 4; k++) { d = $k - $(k + 4); if (d < 0) d = -d
    if (d > most) most = d } } END { print most + 0 }'
}

before=
hidden() { [ "$("$x_window" pixel "$window" 5 500)" != "$before" ]; }
shown() { ! hidden; }
hides_controls() {
  before=$("$x_window" pixel "$window" 5 500)
  key Tab
  eventually hidden || fail "Tab does not hide the controls"
  key Tab
  eventually shown || fail "Tab does not show the controls"
}

# ---- What a simulation thinks: key J saves what is set and measured as JSON, in a file named after `scene` ----

is_json() { [ -s "$called-$scene.json" ] && "$json_get" integer steps <"$called-$scene.json" >/dev/null 2>&1; }
# take: report.json is what is set and measured now
take() {
  rm -f "$called-$scene.json"
  key j
  eventually is_json || fail "no report"
  quiet
  mv "$called-$scene.json" report.json
}
# get TYPE KEY: from the last report
get() { "$json_get" "$1" "$2" <report.json || fail "the report has no $2 of type $1"; }
# now TYPE KEY: from a new one
now() {
  take
  get "$1" "$2"
}
# becomes TYPE KEY VALUE
is_now() { [ "$(now "$1" "$2")" = "$3" ]; }
becomes() { eventually is_now "$@" || fail "$2 is $(get "$1" "$2"), expected $3 ($4)"; }
steps() { now integer steps; }
# holds WHAT EXPRESSION: of awk
holds() { awk "BEGIN { exit !($2) }" || fail "$1: $2 does not hold"; }

# runs_pauses_steps: it runs from the beginning, pauses, and makes a single step; `begin` is the step before.
is_running() { [ "$(steps)" -gt 3 ]; }
runs_pauses_steps() {
  eventually is_running || fail "it does not run"
  [ "$(get string scene)" = "$scene" ] || fail "another scene"
  [ "$(get string backend)" = "$backend" ] || fail "another backend"
  key space
  becomes boolean paused true "key space"
  begin=$(steps)
  sleep 0.5 # of time, which a frame would make steps of
  frames 2
  [ "$(steps)" = "$begin" ] || fail "it does not pause"
  key s
  becomes integer steps $((begin + 1)) "a single step"
}

# makes_video: of some steps of a simulation that is paused
makes_video() {
  command -v ffmpeg >/dev/null || return 0
  begin=$(steps)
  went_on() { [ "$(steps)" -gt $((begin + 10)) ]; }
  key f
  key space
  eventually went_on || fail "it does not run on"
  key space
  key f
  begins_as_mp4() { head -c 12 "$called-$scene.mp4" 2>/dev/null | grep -q ftyp; }
  eventually begins_as_mp4 || fail "no video, or one that is no MP4"
}

# takes_next_scene: key N, whose name the window's title has
takes_next_scene() {
  other() { xdotool getwindowname "$window" | grep -v "^$scene" | grep -q " - $called\$"; }
  key n
  eventually other || fail "key n does not take the next scene"
  scene=$(xdotool getwindowname "$window" | cut -d ' ' -f 1)
  becomes string scene "$scene" "key n"
  quiet
}
