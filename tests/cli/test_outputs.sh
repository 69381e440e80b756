# Outputs are either complete or missing, and an output that cannot be written is reported before anything is
# read.
small_system

refuse 1 'nowhere/x.mtx: No such file or directory, expected a file that can be written' \
  solve absent.mtx --backend cpu -o nowhere/x.mtx
refuse 1 'nowhere/h.csv: No such file or directory' solve absent.mtx --backend cpu -o x.mtx --history nowhere/h.csv
if [ "${TEXSOLVE_TEST_GZIP-gzip}" ]; then # without zlib a file named .gz would not be compressed
  refuse 1 'x.mtx.gz: this build has no zlib and cannot compress files, expected a name without .gz' \
    solve spd.mtx --backend cpu -o x.mtx.gz
fi
mkdir folder
refuse 1 'folder: Is a directory, expected a file that can be written' solve absent.mtx --backend cpu -o folder
refuse 1 'spd.mtx: this output is also an input' solve spd.mtx --backend cpu -o spd.mtx
ln spd.mtx link.mtx
refuse 1 'link.mtx: this output is also an input' solve spd.mtx --backend cpu --history link.mtx
rm link.mtx
if [ "$(id -u)" -ne 0 ]; then
  chmod a-w folder
  refuse 1 'folder/x.mtx: Permission denied' solve spd.mtx --backend cpu -o folder/x.mtx
  chmod u+w folder
  file fixed.mtx fixed
  chmod a-w fixed.mtx
  refuse 1 'fixed.mtx: Permission denied' solve spd.mtx --backend cpu -o fixed.mtx
fi

# An existing output is unchanged if the solve fails, and keeps its mode if it succeeds.
file x.mtx 'what was here before'
chmod 640 x.mtx
file bad.mtx '%%MatrixMarket matrix coordinate real general' '1 1 1'
refuse 1 'bad.mtx:2: ' solve bad.mtx --backend cpu -o x.mtx
same "the old output" "$(cat x.mtx)" 'what was here before'
expect 0 solve spd.mtx -b b.mtx --backend cpu -o x.mtx -q
vector_near x.mtx 1e-5 1 2 3
same "mode of the output" "$(ls -l x.mtx | cut -c1-10)" -rw-r-----
same "first line" "$(head -n 1 x.mtx)" '%%MatrixMarket matrix array real general'
same "files" "$(ls | grep -c '^x\.mtx')" 1
(umask 022 && "$texsolve" solve spd.mtx --backend cpu -o new.mtx -q)
same "mode of a new output" "$(ls -l new.mtx | cut -c1-10)" -rw-r--r--

# Control characters in names are shown as question marks in messages and in the report.
name=$(printf 'a\033[31m\nb\302\233')
refuse 1 "texsolve: a?[31m?b??: No such file or directory" solve "$name" --backend cpu
refuse 1 "texsolve: a?[31m?b??/x: No such file or directory" solve spd.mtx --backend cpu -o "$name/x"
cp spd.mtx "$name"
expect 0 solve "$name" --backend cpu
same "the name in the report" "$(head -n 1 ../log/out | cut -d: -f1)" 'matrix      a?[31m?b??'
expect 0 lcp "$name" b.mtx --backend cpu
same "the name in the report of lcp" "$(head -n 1 ../log/out | cut -d: -f1)" 'problem     a?[31m?b??'
rm "$name"

# A symbolic link stays a link, and /dev/null stays a device.
ln -s x.mtx link.mtx
expect 0 solve spd.mtx --backend cpu -o link.mtx -q
[ -L link.mtx ] || fail "the link was replaced"
vector_near x.mtx 1e-5 0.357142857 0.428571429 0.357142857
rm link.mtx
mkdir links
ln -s links/target.mtx link.mtx
expect 0 solve spd.mtx --backend cpu -o link.mtx -q
[ -L link.mtx ] && [ -s links/target.mtx ] || fail "a link to a file that is not there was replaced"
rm -r link.mtx links
for length in 249 255; do
  name=$(printf "%0${length}d" 0)
  expect 0 solve spd.mtx --backend cpu -o "$name" -q
  [ -s "$name" ] || fail "no file with a name of $length bytes"
  same "files with a name of $length bytes" "$(ls | grep -c '^000')" 1
  rm -f "$name"
done
expect 0 solve spd.mtx --backend cpu -o /dev/null -q
[ -c /dev/null ] || fail "/dev/null was replaced"
expect 0 solve spd.mtx --backend cpu -o /dev/stdout -q
same "x on standard output" "$(head -n 1 ../log/out)" '%%MatrixMarket matrix array real general'

# `-' writes to standard output, and the report goes to standard error.
for command in "solve spd.mtx -b b.mtx" "lcp spd.mtx b.mtx" "poisson --size 5"; do
  # shellcheck disable=SC2086
  expect 0 $command --backend cpu -o -
  same "$command: the solution" "$(head -n 1 ../log/out)" '%%MatrixMarket matrix array real general'
  same "$command: the report" "$(grep -c '^result      converged' ../log/err)/$(grep -c '^result' ../log/out)" 1/0
  # shellcheck disable=SC2086
  expect 0 $command --backend cpu -o - --json
  cp ../log/err ../log/json.err
  same "$command: the JSON object" "$("$json_get" boolean converged <../log/json.err)" true
  same "$command: the solution beside JSON" "$(grep -c '^[{}]' ../log/out)" 0
  # shellcheck disable=SC2086
  expect 0 $command --backend cpu -o - -q
  same "$command: quiet" "$(cat ../log/err)" ''
done
expect 0 solve spd.mtx -b b.mtx --backend cpu -o - -q
cp ../log/out piped.mtx
vector_near piped.mtx 1e-5 1 2 3
[ -e ./- ] && fail "a file is called -"
refuse 2 "-o and --history are both '-'" solve spd.mtx -o - --history -
rm piped.mtx

# Written numbers are read back unchanged.
expect 0 solve spd.mtx -b b.mtx --backend cpu -o x.mtx -q
cp x.mtx y.mtx
expect 0 solve spd.mtx -b b.mtx --x0 y.mtx --backend cpu -o z.mtx -q
same "x after a warm start from itself" "$(values z.mtx)" "$(values x.mtx)"

# Failed writes are errors.
if [ -w /dev/full ]; then
  refuse 1 '/dev/full: No space left on device' solve spd.mtx --backend cpu -o /dev/full -q
  refuse 1 '/dev/full: No space left on device' solve spd.mtx --backend cpu --history /dev/full -q
  "$texsolve" solve spd.mtx --backend cpu -o - -q >/dev/full 2>../log/err
  same "status of -o - with a full standard output" $? 1
  same "message" "$(cat ../log/err)" 'texsolve: standard output: No space left on device'
  "$texsolve" solve spd.mtx --backend cpu >/dev/full 2>../log/err
  same "status with a full standard output" $? 1
  "$texsolve" solve spd.mtx --backend cpu --json >/dev/full 2>../log/err
  same "status with a full standard output, JSON" $? 1
  for arguments in --help --version help "solve --help" "poisson --usage" "info --help" info "solve --version"; do
    # shellcheck disable=SC2086
    "$texsolve" $arguments >/dev/full 2>../log/err
    same "status of $arguments with a full standard output" $? 1
    grep -q '^texsolve: standard output: ' ../log/err || fail "texsolve $arguments: no word about standard output"
  done
fi

# Output for a closed descriptor must not end up in a file.
rm -f x.mtx
"$texsolve" solve spd.mtx -b b.mtx --backend cpu -o x.mtx 2>&- >../log/out || fail "status $? without standard error"
cp x.mtx whole.mtx
"$texsolve" solve spd.mtx -b b.mtx --backend cpu -o x.mtx >&- 2>../log/err
same "status without standard output" $? 1
same "message" "$(cat ../log/err)" 'texsolve: standard output: Bad file descriptor'
cmp x.mtx whole.mtx || fail "without standard output the solution is another one"
"$texsolve" solve spd.mtx -b b.mtx --backend cpu -o x.mtx -q >&- 2>&- <&- || fail "status $? without descriptors"
cmp x.mtx whole.mtx || fail "without descriptors the solution is another one"
