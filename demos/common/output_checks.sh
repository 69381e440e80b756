# Checks of output files and standard streams, for all programs. Needs `program`, `called` and checks.sh. Output goes to
# ../log/out and ../log/err.

# outputs OPTION EXTENSION ARGUMENTS...: checks the file that the option names, with short runs of these arguments.
outputs() {
  option=$1 ending=$2
  shift 2
  # A dangling link remains a link, and its target is created.
  mkdir links
  ln -s "links/target.$ending" "link.$ending"
  expect 0 "$@" -q "$option" "link.$ending"
  [ -L "link.$ending" ] && [ -s "links/target.$ending" ] || fail "$option: a dangling link was replaced"
  rm -r links "link.$ending"
  # The longest names, for which a temporary name must be shorter.
  for length in 249 255; do
    name=$(printf "%0$((length - ${#ending} - 1))d.%s" 0 "$ending")
    expect 0 "$@" -q "$option" "$name"
    [ -s "$name" ] || fail "$option: no file with a name of $length bytes"
    same "files with a name of $length bytes" "$(ls | grep -c "^000")" 1
    rm -f "$name"
  done
}

# is_begun LINES NAME: true after this number of output lines; with 0, once a file whose name begins with NAME has contents. At
# the start programs create an empty one and remove it, to check that they can write it.
is_begun() {
  if [ "$1" -gt 0 ]; then
    [ "$(wc -l <../log/out)" -ge "$1" ]
  else
    [ -n "$(find . -name "$2*" -size +0)" ]
  fi
}

# begun LINES NAME ARGUMENTS...: starts a long run as $process and waits for is_begun. env restores the default of SIGINT, which
# background processes of a shell ignore.
begun() {
  lines=$1 name=$2
  shift 2
  checks=$((checks + 1))
  : >../log/out # discard the output of the previous run
  : >../log/err
  env --default-signal=INT "$program" "$@" --headless >../log/out 2>../log/err </dev/null &
  process=$!
  tries=0
  while ! is_begun "$lines" "$name" && kill -0 $process 2>/dev/null && [ $tries -lt 6000 ]; do
    sleep 0.02
    tries=$((tries + 1))
  done
  kill -0 $process 2>/dev/null || fail "$called $*: ended before it was stopped"
}

# stopped SIGNAL STATUS LINES NAME ARGUMENTS...: sends a signal after is_begun. The program must finish the file NAME, print a
# message and end by the signal.
stopped() {
  signal=$1 wanted=$2
  shift 2
  begun "$@"
  kill -"$signal" $process
  wait $process 2>/dev/null
  same "status after SIG$signal" $? "$wanted"
  said "$called: stopping; press Ctrl+C again to end at once"
  same "files after SIG$signal" "$(ls | grep "^$name")" "$name"
}

# killed LINES NAME ARGUMENTS...: sends two signals before the program can react. It must end at once, without a file whose name
# begins with NAME.
killed() {
  begun "$@"
  kill -STOP $process
  kill -TERM $process
  kill -INT $process
  kill -CONT $process
  wait $process 2>/dev/null
  status=$?
  [ $status -eq 130 ] || [ $status -eq 143 ] || fail "status after two signals: $status"
  same "files after two signals" "$(ls | grep -c "^$name")" 0
}

# typed NAME ARGUMENTS...: on a terminal Ctrl+C reaches the program and its children. The program must finish the file NAME.
# Needs script(1).
typed() {
  name=$1
  shift
  checks=$((checks + 1))
  mkfifo ../log/keys
  : >../log/out # discard the output of the previous run
  : >../log/err
  env --default-signal=INT script -qfec "$program $* --headless" /dev/null <../log/keys >../log/out 2>../log/err &
  process=$!
  exec 4>../log/keys
  tries=0
  while [ "$(wc -l <../log/out)" -lt 12 ] && kill -0 $process 2>/dev/null && [ $tries -lt 6000 ]; do
    sleep 0.02
    tries=$((tries + 1))
  done
  (printf '\003' >&4) 2>/dev/null
  wait $process 2>/dev/null
  same "status after Ctrl+C" $? 130
  exec 4>&-
  rm -f ../log/keys
  grep -q "stopping; press Ctrl+C again to end at once" ../log/out || fail "the message about Ctrl+C is missing"
  same "files after Ctrl+C" "$(ls | grep "^$name")" "$name"
}

# streams NAME ARGUMENTS...: runs with closed and full streams. A run with these arguments writes the file NAME and a report.
streams() {
  name=$1
  shift
  checks=$((checks + 4))
  # Output for a closed descriptor must not end up in a file.
  "$program" "$@" --headless >../log/out 2>&- </dev/null || fail "$called $* 2>&-: exit status $?"
  mv "$name" "../log/$name"
  "$program" "$@" --headless >&- 2>../log/err </dev/null
  same "status without standard output" $? 1
  said "standard output: Bad file descriptor"
  if [ -e "$name" ]; then
    cmp -s "$name" "../log/$name" || fail "$called $* >&-: $name has changed"
  fi
  "$program" "$@" -q --headless >&- 2>&- <&- || fail "$called $* -q without descriptors: exit status $?"
  cmp -s "$name" "../log/$name" || fail "$called $* without descriptors: $name has changed"
  rm -f "$name" "../log/$name"
  if [ -w /dev/full ]; then
    for option in --help --usage --version; do
      "$program" $option >/dev/full 2>../log/err
      same "status of $option with a full standard output" $? 1
      said "$called: standard output: "
    done
  fi
}

# bad_values ARGUMENTS...: adds bad values to valid arguments. Every option except file names must refuse them, with status 2 and
# one line that names the option.
bad_values() {
  "$program" --help >../log/help 2>../log/err
  for option in $(grep -o -e '--[a-z0-9-]*=[^ ]*' ../log/help | grep -v -e '=FILE' -e '=DIR' -e '=IMAGE' | cut -d= -f1 | sort -u); do
    for value in '' 'bad~'; do refuse 2 "$option" "$@" "$option=$value"; done
  done
  for value in gl:x cuda: multi: cpu+cpu; do refuse 2 "--backend: '$value', expected" "$@" --backend "$value"; done
}

# documented: the help and the manual page list every option, and --version prints the version.
documented() {
  page=$here/../../docs/$called.1
  expect 0 --help
  grep -q 'Exit status' ../log/out || fail "--help does not name the exit statuses"
  grep -qE 'and after it|of them' ../log/out && fail "a text of the help depends on the previous one"
  for option in $(grep -o -e '--[a-z0-9][a-z0-9-]*' ../log/out | sort -u); do
    checks=$((checks + 1))
    tr -d '\\' <"$page" | grep -qF -e "$option" || fail "the manual page lacks $option"
  done
  if man --version >/dev/null 2>&1; then
    warnings=$(man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null)
    same "warnings of the manual page" "$warnings" ''
  fi
  expect 0 --version
  grep -q "^$called [0-9]" ../log/out || fail "--version does not print the version"
}

# films ARGUMENTS...: records endless runs. One signal stops the frames, and the video must be complete. Two signals end the
# program.
films() {
  stopped TERM 143 12 f.mp4 "$@" --frames 100000 -v --video f.mp4
  said " of 100000 frames"
  if ffprobe -version >/dev/null 2>&1; then
    same "frames of the video" "$(ffprobe -v error -count_frames -select_streams v -show_entries stream=nb_read_frames -of csv=p=0 f.mp4)" \
      "$(sed -n 's/.*stopped after \([0-9]*\) of.*/\1/p' ../log/err)"
  fi
  rm f.mp4
  killed 12 f.mp4 "$@" --frames 100000 -v --video f.mp4
}
