# The progress line appears only on a terminal, which script(1) provides. A test ends a run by Ctrl+C when the
# expected line has appeared.
script --version >/dev/null 2>&1 || {
  echo "script(1) is not installed"
  exit 77
}
small_system
laplacian l.mtx 100

# watched PATTERN ARGUMENTS...: runs on a terminal until the line shows PATTERN or the run has ended.
watched() {
  pattern=$1
  shift
  checks=$((checks + 1))
  mkfifo ../log/keys
  : >../log/out # removes the output of the previous run
  : >../log/err
  env --default-signal=INT script -qfec "$texsolve $*" /dev/null <../log/keys >../log/out 2>../log/err &
  process=$!
  exec 4>../log/keys
  tries=0
  while ! grep -aq -e "$pattern" ../log/out && kill -0 $process 2>/dev/null && [ $tries -lt 1200 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
  grep -aq -e "$pattern" ../log/out || fail "texsolve $*: no '$pattern' on the terminal"
  (printf '\003\003' >&4) 2>/dev/null # the run may have ended
  wait $process 2>/dev/null
  exec 4>&-
  rm ../log/keys
}

slow="l.mtx --backend cpu --solver richardson --preconditioner jacobi --rtol 1e-5 --max-iterations 1000000000"
watched 'solving: iteration [0-9]*, residual [0-9.e-]*, target 1e-05; [0-9]* s' solve $slow
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 10000, 9; for (i = 0; i < 90000; i++) print 1 + i % 7 }' >nine.mtx
watched 'solving: group 1 of 3, iteration [0-9]*, residual [0-9.e-]*; [0-9]* s' solve $slow -b nine.mtx
# The remaining time is shown after a part of the solve.
watched 'target 1e-05; [0-9]* [a-z]*, [0-9.]* [a-z]* left' solve $slow
file q.mtx '%%MatrixMarket matrix array real general' '10000 1' $(awk 'BEGIN { for (i = 0; i < 10000; i++) print -1 }')
watched 'solving: sweep [0-9]*, residual [0-9.e+-]*, target 1e-12; [0-9]* s' lcp l.mtx q.mtx --backend cpu --scheme row \
  --acceleration none --precision double --rtol 1e-12 --max-sweeps 1000000000
watched 'solving: iteration [0-9]*, residual [0-9.e+-]*, target 1e-09; [0-9]* s' poisson --size 1025 --backend cpu \
  --cg --levels 1 --coarsest-sweeps 1 --rtol 1e-9 --max-cycles 1000000
watched 'bench amg: 1 of 2 results, poisson2d: [0-9]* rows.*; [0-9]* s, [0-9.]* [a-z]* left' bench amg poisson2d --size 100000 \
  --backends cpu

# For a slow input the line appears before anything has been read.
mkfifo pipe.mtx
(exec 5>pipe.mtx && head -n 2 spd.mtx >&5 && while [ ! -e ../log/done ]; do sleep 0.1; done) &
watched 'reading pipe.mtx; [1-9][0-9]* s' solve pipe.mtx --backend cpu
: >../log/done
wait

# Control characters in names do not reach the terminal.
name=$(printf 'a\033[31m.mtx')
mkfifo "$name"
rm ../log/done
(exec 5>"$name" && while [ ! -e ../log/done ]; do sleep 0.1; done) &
watched 'reading a?\[31m.mtx; [1-9][0-9]* s' solve "'$name'" --backend cpu
: >../log/done
wait

# No progress line with -q, and none if standard error is not a terminal.
checks=$((checks + 1))
bounded="$slow --rtol 1e-9 --max-iterations 20000"
script -qfec "$texsolve solve $bounded -q" /dev/null </dev/null >../log/out 2>../log/err
grep -aq 'solving:' ../log/out && fail "a progress line with -q"
checks=$((checks + 1))
script -qfec "$texsolve solve $bounded 2>../log/err" /dev/null </dev/null >../log/out
grep -aq 'solving:' ../log/out ../log/err && fail "a progress line without a terminal"
