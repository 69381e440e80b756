# Incompatible systems, systems that the method cannot solve, and the exit status for each.
general='%%MatrixMarket matrix coordinate real general'
array='%%MatrixMarket matrix array real general'
small_system

file v.mtx "$array" '2 1' 1 2
refuse 1 'v.mtx:2: 2 rows, expected 3, as many as spd.mtx has' solve spd.mtx -b v.mtx --backend cpu -o x.mtx
refuse 1 'v.mtx:2: 2 rows, expected 3, as many as spd.mtx has' solve spd.mtx --x0 v.mtx --backend cpu -o x.mtx
file v.mtx "$array" '3 2' 1 2 3 4 5 6
refuse 1 'v.mtx:2: 2 columns, expected 1, as many as b has' solve spd.mtx --x0 v.mtx --backend cpu -o x.mtx
file v.mtx "$general" '2147482624 1 1' '1 1 1'
refuse 1 'v.mtx:2: 2147482624 rows, expected 3' solve spd.mtx -b v.mtx --backend cpu -o x.mtx
file v.mtx "$array" '1 3' 1 2 3
refuse 1 'v.mtx:2: 1 rows, expected 3' solve spd.mtx -b v.mtx --backend cpu -o x.mtx

# A diagonal entry is missing, so Jacobi cannot divide by it.
hint='try --preconditioner none'
file m.mtx "$general" '3 3 4' '1 1 4' '2 1 1' '1 2 1' '3 3 4'
refuse 1 'm.mtx: row 2 has no entry on the diagonal' solve m.mtx --preconditioner jacobi --backend cpu -o x.mtx
grep -qF "$hint" ../log/err || fail "no hint"
file m.mtx "$general" '2 2 2' '1 1 4' '2 2 0.0'
refuse 1 'm.mtx: row 2 has a zero on the diagonal' solve m.mtx --preconditioner jacobi --backend cpu -o x.mtx
file m.mtx "$general" '2 2 2' '1 1 1e-50' '2 2 4'
refuse 1 'm.mtx: row 1, column 1: 1e-50, expected at least' solve m.mtx --backend cpu -o x.mtx
file m.mtx "$general" '2 2 3' '1 1 4' '2 2 4' '2 2 -4'
refuse 1 'm.mtx: row 2 has a zero on the diagonal' solve m.mtx --preconditioner jacobi --backend cpu -o x.mtx -q

# not_converged REASON ARGUMENTS...: exit status 3, one line with the reason, and x is written.
not_converged() {
  reason=$1
  shift
  expect 3 solve m.mtx --backend cpu -o x.mtx --json "$@"
  same "reason" "$(json string reason)" "$reason"
  same "converged" "$(json boolean converged)" false
  [ "$(wc -l <../log/err)" -eq 1 ] || fail "not one line on standard error"
  grep -q 'not converged: ' ../log/err || fail "the reason is not on standard error"
  [ -s x.mtx ] || fail "x was not written"
  rm -f x.mtx
}
file m.mtx "$general" '2 2 2' '1 2 1' '2 1 1'
refuse 1 'row 1 has no entry on the diagonal' solve m.mtx --preconditioner jacobi --backend cpu
expect 0 solve m.mtx --backend cpu --json
same "method" "$(json string method)" minres
same "preconditioner" "$(json string preconditioner)" jacobi
file m.mtx "$general" '2 2 2' '1 1 1' '2 2 -1'
file b.mtx "$array" '2 1' 1 2
expect 0 solve m.mtx --backend cpu -b b.mtx --json
same "method" "$(json string method)" minres
not_converged indefinite -b b.mtx --preconditioner none --solver cg
file m.mtx "$general" '2 2 3' '1 1 4' '1 2 1' '2 2 4'
not_converged not_symmetric --solver cg
grep -q 'entry [12] [12] differs from its mirror' ../log/err || fail "the entry is not named"
# Unsymmetric matrices have their own methods: A = (4 1; 0 4), b = (1 2), x = (1/8 1/2).
for solver in auto bicgstab idr gmres; do
  expect 0 solve m.mtx -b b.mtx --backend cpu -o x.mtx --json --solver $solver --rtol 1e-6
  vector_near x.mtx 1e-5 0.125 0.5
  same "method" "$(json string method)" "$(echo $solver | sed s/auto/bicgstab/)"
  rm -f x.mtx
done
expect 0 solve m.mtx -b b.mtx --backend cpu
grep -q '^method *bicgstab since the matrix is not symmetric (entry 1 2)' ../log/out || fail "the choice is not said"
expect 0 solve m.mtx -b b.mtx --backend cpu --solver gmres --restart 2
grep -q '^method *gmres(2), preconditioner jacobi' ../log/out || fail "gmres is not named"
refuse 1 'm.mtx: --stop delta is a rule of cg, and the method is bicgstab' solve m.mtx --backend cpu --stop delta
expect 0 solve spd.mtx --backend cpu --solver gmres --json
same "method of a symmetric one" "$(json string method)" gmres
expect 0 solve spd.mtx --backend cpu --json
same "default of a symmetric one" "$(json string method)" cg
laplacian m.mtx 20
not_converged max_iterations --max-iterations 3 --check-interval 1
same "iterations" "$(json integer iterations)" 3

# Another ordering of the unknowns on the device does not change the files, also with several columns and a
# start.
file m.mtx "$general" '5 5 13' '1 1 4' '2 2 5' '3 3 6' '4 4 7' '5 5 8' '1 5 1' '5 1 2' '2 4 1' '4 2 -1' '3 5 1' '5 3 1' \
  '1 4 2' '4 1 1'
file b.mtx "$array" '5 2' 1 2 3 4 5 5 4 3 2 1
file x0.mtx "$array" '5 2' 1 0 1 0 1 0 1 0 1 0
expect 0 solve m.mtx -b b.mtx --backend cpu --json --rtol 1e-6 -o wanted.mtx
same "order" "$(json string reorder)" none
same "bandwidth" "$(json integer bandwidth)" 4
solution=$(values wanted.mtx)
for order in rcm random; do
  expect 0 solve m.mtx -b b.mtx --x0 x0.mtx --backend cpu --json --rtol 1e-6 -o x.mtx --reorder $order
  vector_near x.mtx 1e-5 $solution
  same "order" "$(json string reorder)" $order
  same "bandwidth before" "$(json integer bandwidth_before)" 4
  rm -f x.mtx
  expect 3 solve m.mtx --backend cpu --solver cg --reorder $order
  grep -qE 'entry (1 5|5 1|2 4|4 2|1 4|4 1) differs' ../log/err || fail "the entry is not one of the file's"
done
expect 0 solve m.mtx --backend cpu --reorder rcm
grep -q '^order *rcm: bandwidth [0-9]*, [0-9.]* in the mean, instead of 4 and 1' ../log/out ||
  fail "the bandwidth is not said"
laplacian m.mtx 20

# -q still reports failures.
expect 3 solve m.mtx --backend cpu --max-iterations 3 -q
same "quiet: standard output" "$(cat ../log/out)" ''
grep -q 'not converged' ../log/err || fail "quiet hid the failure"
