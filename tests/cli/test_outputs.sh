# Outputs are whole or not there, and one that cannot be written is found before anything is read.
small_system

refuse 1 'nowhere/x.mtx: No such file or directory, expected a file that can be written' \
  solve absent.mtx --backend cpu -o nowhere/x.mtx
refuse 1 'nowhere/h.csv: No such file or directory' solve absent.mtx --backend cpu -o x.mtx --history nowhere/h.csv
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

# An output that was there stays as it was when the solve fails, and keeps its mode when it succeeds.
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

# A link stays a link, and /dev/null stays what it is.
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

# What is written is read back as the same numbers.
expect 0 solve spd.mtx -b b.mtx --backend cpu -o x.mtx -q
cp x.mtx y.mtx
expect 0 solve spd.mtx -b b.mtx --x0 y.mtx --backend cpu -o z.mtx -q
same "x after a warm start from itself" "$(values z.mtx)" "$(values x.mtx)"

# Lost writes are errors.
if [ -w /dev/full ]; then
  refuse 1 'No space left on device' solve spd.mtx --backend cpu -o /dev/full -q
  refuse 1 'No space left on device' solve spd.mtx --backend cpu --history /dev/full -q
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

# What is meant for a closed descriptor goes into no file.
rm -f x.mtx
"$texsolve" solve spd.mtx -b b.mtx --backend cpu -o x.mtx 2>&- >../log/out || fail "status $? without standard error"
cp x.mtx whole.mtx
"$texsolve" solve spd.mtx -b b.mtx --backend cpu -o x.mtx >&- 2>../log/err
same "status without standard output" $? 1
same "message" "$(cat ../log/err)" 'texsolve: standard output: Bad file descriptor'
cmp x.mtx whole.mtx || fail "without standard output the solution is another one"
"$texsolve" solve spd.mtx -b b.mtx --backend cpu -o x.mtx -q >&- 2>&- <&- || fail "status $? without descriptors"
cmp x.mtx whole.mtx || fail "without descriptors the solution is another one"
