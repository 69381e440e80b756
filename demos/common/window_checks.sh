# Shared by the tests of windows. Set `called` (the program's name), then source this file with the arguments PROGRAM BACKEND
# X_WINDOW, and JSON_GET if the window writes reports. The test moves to an empty directory. If Xvfb is installed it gets its own
# display of size `screen`, so that no other window takes the keyboard focus.
#
# Checks use pictures that key P saves, and X_WINDOW to look at the window. They have no time limits below minutes, because a
# frame may take seconds on a busy machine. They wait for a state (`eventually`), or until input has been handled and drawn
# (`frames`). Standard error has every error that the window shows, and Mesa's messages about wrong uses of OpenGL. Unexpected
# ones (see `complains`) are failures.
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
# GLFW 3.4 tries Wayland first, and prints an error if this is not set.
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-$work}"
fail() {
  echo "FAILED: $*" >&2
  cat err said >&2 2>/dev/null
  exit 1
}

# with_dialog: replaces zenity by a script, and hides other dialogs. The script writes its arguments to `dialog`. It then waits for
# a line in `chosen`, prints it and ends.
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
# open_dialog: Ctrl+O opens the dialog, and the window continues to draw. Write to `chosen` to end the dialog.
open_dialog() {
  rm -f dialog
  key ctrl+o
  eventually test -s dialog || fail "Ctrl+O shows no dialog"
  frames 2
  quiet
}
# without_dialog: if no dialog is installed the message names them.
without_dialog() {
  rm tools/zenity
  key ctrl+o
  complains "the Open dialog needs zenity or kdialog, and neither is installed; drop a file on the window instead"
}

# start TITLE ARGUMENTS...: starts the program in the background, and sets `process` and `window` after its window has opened.
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
# Checks that there were no messages so far.
quiet() { [ ! -s said ] || fail "unexpected messages"; }
# complains TEXT: waits for a message with TEXT, and checks that there is no other one.
complains() {
  eventually grep -qF -- "$1" said || fail "the message '$1' is missing"
  grep -vF -- "$1" said >&2 && fail "there are messages other than '$1'"
  : >said
}

# Repeats a command until it succeeds, for up to three minutes, because the machine may be busy.
eventually() (
  end=$(($(date +%s) + 180))
  until "$@"; do
    [ "$(date +%s)" -lt $end ] && kill -0 "$process" 2>/dev/null || exit 1
    sleep 0.1
  done
)
# frames COUNT: waits until the window has handled all earlier events, and then drawn COUNT frames
frames() { "$x_window" frames "$window" "$1" || fail "the window does not answer"; }
# A pause of more than 20 ms, otherwise GLFW treats a second press as a repetition.
key() { sleep 0.1 && xdotool key "$@"; }
saved=picture.png # the file that key P writes
is_whole() { [ -s $saved ] && tail -c 8 $saved | grep -q IEND; }
# picture NAME: saves the present picture
picture() {
  rm -f $saved
  key p
  eventually is_whole || fail "no picture ($1)"
  mv $saved "$1.png"
  quiet
}
differs() { picture now && ! cmp -s now.png "$1.png"; }
is_as() { picture now && cmp -s now.png "$1.png"; }
# The checks below look at the window itself. look NAME: records its checksum
sum() { "$x_window" sum "$window"; }
look() { sum >"$1.sum" || fail "cannot read the window"; }
looks_other() { [ "$(sum)" != "$(cat "$1.sum")" ]; }
looks_as() { [ "$(sum)" = "$(cat "$1.sum")" ]; }
shows() { eventually "$1" "$2" || fail "$3 is not visible in the window"; }

# The values of sliders must not be drawn on their handles.
handles_are_free() {
  "$x_window" handles "$window" >handles || fail "cannot read the controls"
  read -r columns covered <handles
  [ "$columns" -gt 5 ] || fail "there are no handles of sliders"
  [ "$covered" -eq 0 ] || fail "there is text on the handles of sliders"
}

changes() { eventually differs "$1" || fail "$2 does not change the picture"; }
returns() { eventually is_as "$1" || fail "$2 does not restore the picture"; }

# asks KEY FILE: the window replaces a file that it has not written only after the key is pressed twice.
asks() {
  echo mine >"$2"
  key "$1"
  frames 2
  [ "$(head -c 4 "$2")" = mine ] || fail "key $1 replaces $2 without asking"
  replaced() { ! [ "$(head -c 4 "$2")" = mine ]; }
  key "$1"
  eventually replaced "$@" || fail "key $1 does not replace $2 the second time"
  quiet
}

# Ctrl+Q must end the program, without messages.
ends() {
  key ctrl+q
  end=$(($(date +%s) + 180))
  while kill -0 "$process" 2>/dev/null; do
    [ "$(date +%s)" -lt $end ] || fail "Ctrl+Q does not end the program"
    sleep 0.1
  done
  wait "$process"
  status=$?
  process=
  [ $status -eq 0 ] || fail "the program ended with $status"
  quiet
}

# difference FILE FILE: the largest difference of vertex coordinates in two OBJ files
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

# ---- The state of a simulation: key J saves settings and measurements as JSON, in a file named after `scene` ----

is_json() { [ -s "$called-$scene.json" ] && "$json_get" integer steps <"$called-$scene.json" >/dev/null 2>&1; }
# take: saves the present state to report.json
take() {
  rm -f "$called-$scene.json"
  key j
  eventually is_json || fail "no report"
  quiet
  mv "$called-$scene.json" report.json
}
# get TYPE KEY: a value of the last report
get() { "$json_get" "$1" "$2" <report.json || fail "the report has no $2 of type $1"; }
# now TYPE KEY: a value of a new report
now() {
  take
  get "$1" "$2"
}
# becomes TYPE KEY VALUE REASON: waits until the state has this value
is_now() { [ "$(now "$1" "$2")" = "$3" ]; }
becomes() { eventually is_now "$@" || fail "$2 is $(get "$1" "$2"), expected $3 ($4)"; }
steps() { now integer steps; }
# holds WHAT EXPRESSION: checks an expression of awk
holds() { awk "BEGIN { exit !($2) }" || fail "$1: $2 does not hold"; }

# runs_pauses_steps: the simulation runs at first, pauses, and makes a single step. `begin` is the number of steps before that.
is_running() { [ "$(steps)" -gt 3 ]; }
runs_pauses_steps() {
  eventually is_running || fail "the simulation does not run"
  [ "$(get string scene)" = "$scene" ] || fail "another scene"
  [ "$(get string backend)" = "$backend" ] || fail "another backend"
  key space
  becomes boolean paused true "key space"
  begin=$(steps)
  sleep 0.5 # enough time for steps if it were running
  frames 2
  [ "$(steps)" = "$begin" ] || fail "the simulation does not pause"
  key s
  becomes integer steps $((begin + 1)) "a single step"
}

# makes_video: records some steps of a simulation that was paused
makes_video() {
  command -v ffmpeg >/dev/null || return 0
  begin=$(steps)
  went_on() { [ "$(steps)" -gt $((begin + 10)) ]; }
  key f
  key space
  eventually went_on || fail "the simulation does not continue"
  key space
  key f
  begins_as_mp4() { head -c 12 "$called-$scene.mp4" 2>/dev/null | grep -q ftyp; }
  eventually begins_as_mp4 || fail "there is no MP4 video"
}

# takes_next_scene: key N changes the scene, and the window's title names it
takes_next_scene() {
  other() { xdotool getwindowname "$window" | grep -v "^$scene" | grep -q " - $called\$"; }
  key n
  eventually other || fail "key n does not change the scene"
  scene=$(xdotool getwindowname "$window" | cut -d ' ' -f 1)
  becomes string scene "$scene" "key n"
  quiet
}
