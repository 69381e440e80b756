# The report: every field with its type, and the residual compared with one computed here from the files.
laplacian m.mtx 20
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 400, 1
             for (i = 0; i < 400; i++) print (i * 37) % 19 - 9.25 }' >b.mtx

expect 0 solve m.mtx -b b.mtx --backend cpu --json -o x.mtx --history h.csv
for key in backend device format method preconditioner reason message; do
  [ -n "$(json string $key)" ] || fail "$key is empty"
done
for key in rows columns nonzeros stored_entries bytes_device iterations host_synchronisations; do
  checks=$((checks + 1))
  [ "$(json integer $key)" -gt 0 ] || fail "$key is not positive"
done
for key in read layout upload solve; do
  checks=$((checks + 1))
  awk -v s="$(json number seconds.$key)" 'BEGIN { exit !(s >= 0 && s < 300) }' || fail "seconds.$key is no time"
done
same backend "$(json string backend)" cpu
same format "$(json string format)" csr
same rows "$(json integer rows)" 400
same columns "$(json integer columns)" 400
same nonzeros "$(json integer nonzeros)" 1920
same method "$(json string method)" cg
same preconditioner "$(json string preconditioner)" jacobi
same converged "$(json boolean converged)" true
same reason "$(json string reason)" converged
reported=$(json number relative_residual)
computed=$(residual m.mtx x.mtx b.mtx)
near "relative residual" "$reported" "$computed" "$(awk -v r="$computed" 'BEGIN { print 1e-3 * r }')"
awk -v r="$computed" 'BEGIN { exit !(r > 0 && r <= 1e-5) }' || fail "the residual $computed is above 1e-5"

# The history has one line per iteration.
same "first line" "$(head -n 1 h.csv)" iteration,sqrt_delta_ratio
same "iterations in the history" "$(sed 1d h.csv | cut -d, -f1 | tr '\n' ' ')" \
  "$(awk -v n="$(json integer iterations)" 'BEGIN { for (i = 1; i <= n; i++) printf "%d ", i }')"
awk -F, 'NR > 1 && !($2 > 0) { exit 1 }' h.csv || fail "a number of the history is not positive"

# Each option changes the field with its name.
iterations=$(json integer iterations)
expect 0 solve m.mtx -b b.mtx --backend cpu --json --preconditioner none
same preconditioner "$(json string preconditioner)" none
expect 0 solve m.mtx -b b.mtx --backend cpu --json --rtol 1e-2
checks=$((checks + 1))
[ "$(json integer iterations)" -lt "$iterations" ] || fail "--rtol 1e-2 took no fewer iterations"
expect 0 solve m.mtx -b b.mtx --backend cpu --json --check-interval 1
often=$(json integer host_synchronisations)
expect 0 solve m.mtx -b b.mtx --backend cpu --json --check-interval 64
checks=$((checks + 1))
[ "$(json integer host_synchronisations)" -lt "$often" ] || fail "--check-interval 64 synchronised no less often than 1"
expect 0 solve m.mtx -b b.mtx --backend cpu --json --stop delta
expect 0 solve m.mtx -b b.mtx --backend cpu --json --threads 1
expect 0 solve m.mtx -b b.mtx --backend check:cpu --json
same backend "$(json string backend)" check:cpu

# A warm start from the solution needs almost no iterations.
expect 0 solve m.mtx -b b.mtx --backend cpu --json --x0 x.mtx
checks=$((checks + 1))
[ "$(json integer iterations)" -lt 3 ] || fail "a warm start took $(json integer iterations) iterations"

# b = 0: the residual is absolute, and the output is valid JSON.
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 400, 1; for (i = 0; i < 400; i++) print 0 }' >z.mtx
expect 0 solve m.mtx -b z.mtx --backend cpu --json -o x.mtx
near "residual of b = 0" "$(json number relative_residual)" 0 0

# Text, quiet and verbose.
expect 0 solve m.mtx --backend cpu
for word in matrix backend method result residual seconds; do
  grep -q "^$word " ../log/out || fail "the report lacks the line '$word'"
done
# Only -v reports how the matrix was stored and computed.
grep -qE '^(format|choice) |host sync|upload| MB | (single|mixed)' ../log/out && fail "the report speaks of internals"
same "standard error" "$(cat ../log/err)" ''
expect 0 solve m.mtx --backend cpu -q
same "quiet" "$(cat ../log/out ../log/err)" ''
expect 0 solve m.mtx --backend cpu -v
grep -q '^texsolve: ' ../log/err || fail "-v says nothing"
