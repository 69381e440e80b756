# What holds for every file that a program writes and for its streams, for sh: `program`, `called` and the checks of the test
# that reads this file with `.`; here output goes to ../log/out and ../log/err.

# outputs OPTION ENDING ARGUMENTS...: files that the option names, of a short run with these arguments.
outputs() {
  option=$1 ending=$2
  shift 2
  # A link to nothing stays a link, and what it names is made.
  mkdir links
  ln -s "links/target.$ending" "link.$ending"
  expect 0 "$@" -q "$option" "link.$ending"
  [ -L "link.$ending" ] && [ -s "links/target.$ending" ] || fail "$option: a link to a file that is not there was replaced"
  rm -r links "link.$ending"
  # As long as names may be, with a temporary name beside.
  for length in 249 255; do
    name=$(printf "%0$((length - ${#ending} - 1))d.%s" 0 "$ending")
    expect 0 "$@" -q "$option" "$name"
    [ -s "$name" ] || fail "$option: no file with a name of $length bytes"
    same "files with a name of $length bytes" "$(ls | grep -c "^000")" 1
    rm -f "$name"
  done
}

# interrupted SIGNAL STATUS NAME ARGUMENTS...: a signal while a long run with these arguments writes: nothing that begins with
# NAME is left.
interrupted() {
  signal=$1 status=$2 name=$3
  shift 3
  checks=$((checks + 1))
  "$program" "$@" --headless >../log/out 2>../log/err </dev/null &
  process=$!
  tries=0
  while ! ls | grep -q "^$name" && [ $tries -lt 300 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
  ls | grep -q "^$name" || fail "$called $*: no file was begun"
  kill -"$signal" $process
  wait $process
  same "status after SIG$signal" $? "$status"
  same "files after SIG$signal" "$(ls | grep -c "^$name")" 0
}

# streams NAME ARGUMENTS...: a short run with these arguments, which writes the file NAME and a report.
streams() {
  name=$1
  shift
  checks=$((checks + 4))
  # What is meant for a closed descriptor goes into no file.
  "$program" "$@" --headless >../log/out 2>&- </dev/null || fail "$called $* 2>&-: exit status $?"
  mv "$name" "../log/$name"
  "$program" "$@" --headless >&- 2>../log/err </dev/null
  same "status without standard output" $? 1
  said "standard output: Bad file descriptor"
  if [ -e "$name" ]; then
    cmp -s "$name" "../log/$name" || fail "$called $* >&-: $name is not what it was"
  fi
  "$program" "$@" -q --headless >&- 2>&- <&- || fail "$called $* -q without descriptors: exit status $?"
  cmp -s "$name" "../log/$name" || fail "$called $* without descriptors: $name is not what it was"
  rm -f "$name" "../log/$name"
  if [ -w /dev/full ]; then
    for option in --help --usage --version; do
      "$program" $option >/dev/full 2>../log/err
      same "status of $option with a full standard output" $? 1
      said "$called: standard output: "
    done
  fi
}
