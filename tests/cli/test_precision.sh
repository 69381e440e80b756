# Doubles are read and written exactly, on every available backend.
backends=cpu
"$texsolve" info --backend gl >../log/out 2>&1 && backends="cpu gl"

# A start that solves the system is returned with all its digits, also with another ordering of the unknowns.
file m.mtx '%%MatrixMarket matrix coordinate real general' '3 3 4' '1 1 0.1' '2 2 0.30000000000000004' '3 3 1e-5' '1 3 0'
file x0.mtx '%%MatrixMarket matrix array real general' '3 1' 0.1 -1.2345678901234567e-7 3.1415926535897931
file b.mtx '%%MatrixMarket matrix array real general' '3 1' 0.010000000000000002 -3.7037036703703703e-08 3.1415926535897935e-05
for backend in $backends; do
  for order in none rcm random; do
    expect 0 solve m.mtx -b b.mtx --x0 x0.mtx --backend $backend --reorder $order -o x.mtx -q --rtol 1e-14
    vector_near x.mtx 0 0.1 -1.2345678901234567e-7 3.1415926535897931
    cmp -s ../log/err /dev/null || fail "$backend: something on standard error"
    rm -f x.mtx
  done
done

# The accuracy of each precision at a condition of 4000, and the iterations in each precision.
laplacian m.mtx 100
# solve_to STATUS PRECISION RTOL
solve_to() {
  expect "$1" solve m.mtx --backend $backend --json -o x.mtx --precision "$2" --rtol "$3"
  sum=0
  for each in single mixed double; do sum=$((sum + $(json integer precision_iterations.$each))); done
  same "$backend, $2: sum of the iterations" "$sum" "$(json integer iterations)"
  [ "$1" -ne 0 ] || awk -v r="$(residual m.mtx x.mtx)" -v t="$3" 'BEGIN { exit !(r <= t * 1.01 + 1e-15) }' ||
    fail "$backend, $2: a residual of $(residual m.mtx x.mtx), expected $3"
  rm -f x.mtx
}
for backend in $backends; do
  solve_to 3 single 1e-10
  same "$backend: iterations in single" "$(json integer precision_iterations.single)" "$(json integer iterations)"
  same "$backend: precision" "$(json string precision)" single
  grep -q 'in single precision (hint: try --precision auto, or a larger --rtol)' ../log/err || fail "$backend: no hint"
  solve_to 0 mixed 1e-10
  same "$backend: precision" "$(json string precision)" mixed
  solve_to 0 auto 1e-10
done
expect 0 solve m.mtx --backend cpu --precision mixed --rtol 1e-10 -v
grep -qE '^result *converged after ([0-9]+) iterations \(\1 mixed\)' ../log/out || fail "the precisions are not said"

# Slow convergence: a clamped beam of 100 unknowns with a condition of 1e7. Auto changes to double precision in
# time. The other precisions suggest a remedy.
awk 'BEGIN {
  print "%%MatrixMarket matrix coordinate real symmetric"; print 100, 100, 297
  for (i = 1; i <= 100; i++) {
    print i, i, 6
    if (i > 1) print i, i - 1, -4
    if (i > 2) print i, i - 2, 1
  }
}' >m.mtx
for backend in $backends; do
  solve_to 0 auto 1e-5
  same "$backend: precision" "$(json string precision)" double
  expect 3 solve m.mtx --backend $backend --solver cg --precision mixed --rtol 1e-9 --max-iterations 300
  grep -q 'maximum of 300 .*(hint: try --precision double, a larger --max-iterations, or' ../log/err || fail "$backend: no hint"
  expect 3 solve m.mtx --backend $backend --solver cg --precision single --rtol 1e-9 --max-iterations 300
  grep -q 'hint: try --precision auto, or' ../log/err || fail "$backend: no hint"
done
