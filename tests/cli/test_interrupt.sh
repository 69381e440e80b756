# Signals. During reading the program has nothing to save, so it ends and leaves no outputs behind.
small_system
mkfifo pipe
"$texsolve" solve spd.mtx -b pipe --backend cpu -o x.mtx --history h.csv >../log/out 2>../log/err &
process=$!
# The program waits for the right-hand side. Its outputs are already open.
tries=0
while [ "$(ls | grep -c '^[xh]\.')" -lt 2 ] && [ $tries -lt 600 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
same "temporary files while it runs" "$(ls | grep -c '^[xh]\.')" 2
same "outputs while it runs" "$(ls | grep -c -x -e x.mtx -e h.csv)" 0
kill -TERM $process
wait $process 2>/dev/null
same "status" $? 143
same "files after the signal" "$(ls | tr '\n' ' ')" 'b.mtx pipe spd.mtx '
rm pipe

# begun TEXT ARGUMENTS...: starts a run of several hours as $process, and waits until it has printed TEXT. A
# shell's background processes ignore SIGINT, so env restores it.
begun() {
  text=$1
  shift
  checks=$((checks + 1))
  : >../log/out # removes the output of the previous run
  : >../log/err
  env --default-signal=INT "$texsolve" "$@" >../log/out 2>../log/err </dev/null &
  process=$!
  tries=0
  while ! grep -q -e "$text" ../log/out ../log/err && kill -0 $process 2>/dev/null && [ $tries -lt 1200 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
  kill -0 $process 2>/dev/null || fail "texsolve $*: it ended before it was stopped"
}

# stopped SIGNAL STATUS OUTPUT TEXT ARGUMENTS...: sends the signal. The program must write its last iterate,
# report the interruption, and end by the signal.
stopped() {
  signal=$1 wanted=$2 output=$3
  shift 3
  begun "$@"
  kill -"$signal" $process
  wait $process 2>/dev/null
  same "status after SIG$signal" $? "$wanted"
  grep -qF 'texsolve: stopping; press Ctrl+C again to end at once' ../log/err || fail "nothing was said about the signal"
  grep -q 'stopped after [1-9]' ../log/err || fail "it does not say after how much it stopped"
  grep -q '^% .*: .*stopped' "$output" || fail "$output does not say that it is no solution"
  same "files" "$(ls | grep "^$output")" "$output"
}

laplacian l.mtx 100
slow="l.mtx --backend cpu --solver richardson --preconditioner jacobi --rtol 1e-9 --max-iterations 1000000000 -v"
stopped TERM 143 x.mtx 'solving by richardson' solve $slow -o x.mtx
same "values of x" "$(values x.mtx | wc -w | tr -d ' ')" 10000
grep -q '^result      stopped after [1-9]' ../log/out || fail "the report does not say that it stopped"
near "the residual that is reported" "$(residual l.mtx x.mtx)" "$(sed -n 's/^residual  *\([^ ]*\).*/\1/p' ../log/out)" 1e-3
rm x.mtx
stopped INT 130 x.mtx 'solving by richardson' solve $slow --json -o x.mtx --history h.csv
same "reason" "$(json string reason)" stopped
same "iterations in the history" "$(tail -n 1 h.csv | cut -d, -f1)" "$(json number iterations)"
rm x.mtx h.csv

# With several groups the first one is solved, the second one is interrupted, and the third one keeps its start,
# which is 0 here.
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 10000, 9
  for (c = 1; c <= 9; c++) for (i = 0; i < 10000; i++) print (c > 4) }' >nine.mtx
stopped TERM 143 x.mtx 'solving by richardson' solve $slow -b nine.mtx -o x.mtx
grep -q 'in the group of column 5; not solved: columns 5 to 9 of 9$' ../log/err || fail "the columns are not named"
grep -q '^unsolved    columns 5 to 9: 5 of 9$' ../log/out || fail "the report does not name the columns"
same "sums of columns that are not 0" "$(values x.mtx | tr ' ' '\n' | awk 'NF && $1 != 0 { n[int((NR - 1) / 10000)]++ } END { for (c in n) print c, n[c] }' |
  sort -n | tr '\n' ' ')" '4 10000 5 10000 6 10000 7 10000 '
rm x.mtx

# The same with cg, which stores its iterate in another form during the solve.
laplacian large.mtx 1000
stopped TERM 143 x.mtx 'solving by cg' solve large.mtx --backend cpu --preconditioner none --rtol 1e-14 --max-iterations 1000000000 -v -o x.mtx
near "the residual that is reported" "$(residual large.mtx x.mtx)" "$(sed -n 's/^residual  *\([^ ]*\).*/\1/p' ../log/out)" 1e-3
rm large.mtx x.mtx

# A second signal ends the program at once. It receives both before it can react.
begun 'solving by richardson' solve $slow -o x.mtx
kill -STOP $process
kill -TERM $process
kill -INT $process
kill -CONT $process
wait $process 2>/dev/null
status=$?
[ $status -eq 130 ] || [ $status -eq 143 ] || fail "status after two signals: $status"
same "files after two signals" "$(ls | grep -c '^x')" 0

file q.mtx '%%MatrixMarket matrix array real general' '10000 1' $(awk 'BEGIN { for (i = 0; i < 10000; i++) print -1 }')
stopped TERM 143 z.mtx 'solving in' lcp l.mtx q.mtx --backend cpu --scheme row --acceleration none --precision double --rtol 1e-12 \
  --max-sweeps 1000000000 -v -o z.mtx
same "values of z" "$(values z.mtx | wc -w | tr -d ' ')" 10000
rm z.mtx
stopped INT 130 u.mtx '^ *3  ' poisson --size 1025 --backend cpu --cg --levels 1 --coarsest-sweeps 1 --rtol 1e-9 --max-cycles 1000000 \
  -o u.mtx
same "size of u" "$(sed -n 3p u.mtx)" '1025 1025'

# If the signal is ignored, as under nohup, the run continues.
checks=$((checks + 1))
: >../log/err
(
  trap '' INT
  exec "$texsolve" solve $slow --max-iterations 20000 -o y.mtx >../log/out 2>../log/err
) &
process=$!
tries=0
while ! grep -q 'solving by' ../log/err && [ $tries -lt 1200 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
kill -INT $process
wait $process
same "status with a signal that is ignored" $? 3
