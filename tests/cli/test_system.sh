# Systems that do not fit together or that the method cannot solve, and the exit status for each.
general='%%MatrixMarket matrix coordinate real general'
array='%%MatrixMarket matrix array real general'
small_system

file v.mtx "$array" '2 1' 1 2
refuse 1 'v.mtx:2: 2 rows, expected 3, as many as spd.mtx has' solve spd.mtx -b v.mtx --backend cpu -o x.mtx
refuse 1 'v.mtx:2: 2 rows, expected 3, as many as spd.mtx has' solve spd.mtx --x0 v.mtx --backend cpu -o x.mtx
file v.mtx "$array" '3 5' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
refuse 1 'v.mtx:2: 5 columns, expected 1 to 4 right-hand sides' solve spd.mtx -b v.mtx --backend cpu -o x.mtx
file v.mtx "$array" '3 2' 1 2 3 4 5 6
refuse 1 'v.mtx:2: 2 columns, expected 1, as many as b has' solve spd.mtx --x0 v.mtx --backend cpu -o x.mtx
file v.mtx "$general" '2147483647 1 1' '1 1 1'
refuse 1 'v.mtx:2: 2147483647 rows, expected 3' solve spd.mtx -b v.mtx --backend cpu -o x.mtx
file v.mtx "$array" '1 3' 1 2 3
refuse 1 'v.mtx:2: 1 rows, expected 3' solve spd.mtx -b v.mtx --backend cpu -o x.mtx
file m.mtx "$general" '2 3 3' '1 1 1' '2 2 1' '1 3 1'
refuse 1 'm.mtx:2: 2 rows and 3 columns, expected a square matrix' solve m.mtx --backend cpu -o x.mtx

# A diagonal that Jacobi cannot divide by.
hint='try --preconditioner none'
file m.mtx "$general" '3 3 4' '1 1 4' '2 1 1' '1 2 1' '3 3 4'
refuse 1 'm.mtx: row 2 has no entry on the diagonal' solve m.mtx --backend cpu -o x.mtx
grep -qF "$hint" ../log/err || fail "no hint"
file m.mtx "$general" '2 2 2' '1 1 4' '2 2 0.0'
refuse 1 'm.mtx: row 2 has a zero on the diagonal' solve m.mtx --backend cpu -o x.mtx
file m.mtx "$general" '2 2 2' '1 1 1e-50' '2 2 4'
refuse 1 'm.mtx: row 1 has a zero on the diagonal' solve m.mtx --backend cpu -o x.mtx
file m.mtx "$general" '2 2 3' '1 1 4' '2 2 4' '2 2 -4'
refuse 1 'm.mtx: row 2 has a zero on the diagonal' solve m.mtx --backend cpu -o x.mtx -q

# not_converged REASON ARGUMENTS...: status 3, one line that says why, and x is written.
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
refuse 1 'row 1 has no entry on the diagonal' solve m.mtx --backend cpu
file m.mtx "$general" '2 2 2' '1 1 1' '2 2 -1'
file b.mtx "$array" '2 1' 1 2
not_converged indefinite -b b.mtx --preconditioner none
file m.mtx "$general" '2 2 3' '1 1 4' '1 2 1' '2 2 4'
not_converged not_symmetric
grep -q 'entry [12] [12] differs from its mirror' ../log/err || fail "the entry is not named"
laplacian m.mtx 20
not_converged max_iterations --max-iterations 3 --check-interval 1
same "iterations" "$(json integer iterations)" 3

# Quiet still says that it failed.
expect 3 solve m.mtx --backend cpu --max-iterations 3 -q
same "quiet: standard output" "$(cat ../log/out)" ''
grep -q 'not converged' ../log/err || fail "quiet hid the failure"
