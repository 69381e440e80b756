# Least squares: matrices that are not square, and lsmr and cgls for square ones.
general='%%MatrixMarket matrix coordinate real general'
array='%%MatrixMarket matrix array real general'
backends=cpu
"$texsolve" info --backend gl >../log/out 2>&1 && backends="cpu gl"

# gradient A X B: ||A^T (b - A x)|| / ||A^T b|| and ||b - A x|| / ||b|| of a general coordinate file, computed
# here from the files.
gradient() {
  awk '
    FNR == 1 { part++; sized = 0; k = 0; next }
    /^%/ || NF == 0 { next }
    !sized { sized = 1; if (part == 1) { n = $1; columns = $2 } next }
    part == 1 { k++; row[k] = $1; column[k] = $2; value[k] = $3; entries = k; next }
    part == 2 { x[++k] = $1; next }
    part == 3 { b[++k] = $1; next }
    END {
      for (i = 1; i <= n; i++) { r[i] = b[i]; bb += b[i] ^ 2 }
      for (k = 1; k <= entries; k++) r[row[k]] -= value[k] * x[column[k]]
      for (k = 1; k <= entries; k++) { g[column[k]] += value[k] * r[row[k]]; h[column[k]] += value[k] * b[row[k]] }
      for (i = 1; i <= n; i++) rr += r[i] ^ 2
      for (j = 1; j <= columns; j++) { gg += g[j] ^ 2; hh += h[j] ^ 2 }
      printf "%.9g %.9g\n", sqrt(gg / hh), sqrt(rr / bb)
    }' "$@"
}

# A line through four points: slope 1.1, intercept 1.1, and a relative residual of sqrt(2.7 / 39).
file tall.mtx "$general" '4 2 7' '1 1 1' '2 1 1' '3 1 1' '4 1 1' '2 2 1' '3 2 2' '4 2 3'
file tall.b.mtx "$array" '4 1' 1 3 2 5
# More unknowns than equations: x + y + z = 6, x - z = 2. The shortest x is 3, 2, 1, and the residual is 0.
file wide.mtx "$general" '2 3 5' '1 1 1' '1 2 1' '1 3 1' '2 1 1' '2 3 -1'
file wide.b.mtx "$array" '2 1' 6 2
# Two equal columns, a column of zeros and a row of zeros: x is 1, 1, 2, 0, and the relative residual is sqrt(51
# / 75).
file rank.mtx "$general" '5 4 5' '1 1 1' '1 2 1' '2 1 1' '2 2 1' '3 3 2'
file rank.b.mtx "$array" '5 1' 1 3 4 7 0
# Square and singular, with a part of b outside the range of A.
file square.mtx "$general" '3 3 7' '1 1 1' '1 2 -1' '2 1 -1' '2 2 2' '2 3 -1' '3 2 -1' '3 3 1'
file square.b.mtx "$array" '3 1' 1 0 0

# solves MATRIX LEFT METHOD X... in $how: the shortest x and its report.
solves() {
  matrix=$1 left=$2 method=$3
  shift 3
  # shellcheck disable=SC2086
  expect 0 solve "$matrix.mtx" -b "$matrix.b.mtx" --rtol 1e-9 --json -o x.mtx $how
  vector_near x.mtx 1e-8 "$@"
  same "$matrix, $how: method" "$(json string method)" "$method"
  near "$matrix, $how: left of b" "$(json number relative_residual)" "$left" 1e-7
  near "$matrix, $how: gradient" "$(json number relative_gradient)" 0 1e-9
}
for preconditioner in auto none jacobi; do
  how="--backend cpu --preconditioner $preconditioner"
  solves tall 0.263117406 lsmr 1.1 1.1
  solves rank 0.824621125 lsmr 1 1 2 0
  [ $preconditioner = jacobi ] || solves wide 0 lsmr 3 2 1
done
for solver in lsmr cgls; do
  how="--backend cpu --solver $solver"
  solves tall 0.263117406 $solver 1.1 1.1
  solves wide 0 $solver 3 2 1
  solves square 0.577350269 $solver 0.555555556 -0.111111111 -0.444444444
  how="--backend cpu --solver $solver --precision double"
  solves rank 0.824621125 $solver 1 1 2 0
done
if [ "$backends" != cpu ]; then
  how="--backend gl"
  solves rank 0.824621125 lsmr 1 1 2 0
  solves wide 0 lsmr 3 2 1
  how="--backend gl --solver cgls"
  solves square 0.577350269 cgls 0.555555556 -0.111111111 -0.444444444
fi
for how in "--backend cpu --format bcrs2" "--backend check:cpu" "--backend multi:cpu+cpu"; do
  solves tall 0.263117406 lsmr 1.1 1.1
  solves wide 0 lsmr 3 2 1
done
for order in rcm random; do
  how="--backend cpu --solver lsmr --reorder $order"
  solves square 0.577350269 lsmr 0.555555556 -0.111111111 -0.444444444
done
how="--backend cpu --solver cgls --precision single --rtol 1e-5"
expect 0 solve tall.mtx -b tall.b.mtx --json $how
same "precision" "$(json string precision)" single

# The report, and other keys of the JSON object.
expect 0 solve wide.mtx -b wide.b.mtx --backend cpu
grep -qx 'matrix      wide.mtx: 2 rows, 3 columns, 5 nonzeros' ../log/out || fail "the shape is not reported"
grep -q '^method      lsmr since the matrix is 2 x 3, preconditioner none$' ../log/out || fail "the choice is not reported"
grep -qE '^gradient    [0-9.e+-]+ = \|\|A\^T \(b - A x\)\|\| / \|\|A\^T b\|\|, target 1e-05$' ../log/out || fail "no gradient"
grep -qE '^left of b   [0-9.e+-]+ = \|\|b - A x\|\| / \|\|b\|\|$' ../log/out || fail "what is left of b is not reported"
grep -q '^residual' ../log/out && fail "a residual with least squares"
expect 0 solve square.mtx -b square.b.mtx --backend cpu --solver cgls
grep -qx 'method      cgls, preconditioner none' ../log/out || fail "cgls is not reported"
expect 0 solve tall.mtx -b tall.b.mtx --backend cpu --json --history h.csv
same "rows" "$(json integer rows)" 4
same "columns" "$(json integer columns)" 2
same "first line of the history" "$(head -n 1 h.csv)" iteration,sqrt_delta_ratio
same "iterations in the history" "$(($(wc -l <h.csv) - 1))" "$(json integer iterations)"
rm -f h.csv
small_system
expect 0 solve spd.mtx --backend cpu --json
same "gradient of another method" "$(json null relative_gradient)" null
# Without -b the right-hand side is ones over the rows.
expect 0 solve tall.mtx --backend cpu --rtol 1e-9 -o x.mtx
vector_near x.mtx 1e-8 1 0

# A start has the length of A's columns. With fewer equations than unknowns x is the solution closest to it. Here this is
# 3, 2, 1 plus the part of 0, 1, 0 in the null space of A, and that part is -1/3 of 1, -2, 1.
file x0.mtx "$array" '3 1' 0 1 0
expect 0 solve wide.mtx -b wide.b.mtx --backend cpu --x0 x0.mtx -o x.mtx --rtol 1e-9
vector_near x.mtx 1e-8 2.66666666667 2.66666666667 0.66666666667
file x0.mtx "$array" '2 1' 1.1 1.1
expect 0 solve tall.mtx -b tall.b.mtx --backend cpu --x0 x0.mtx --json
same "iterations from the solution" "$(json integer iterations)" 0

# Different scales, as long as x is a double.
scaled() { awk -v e="$2" '/^%/ { print; next } !n++ { print; next } { $NF = $NF "e" e; print }' "$1"; }
for pair in -200,-200 200,200 -200,0 0,-200 200,0 0,200 -150,150 -300,-300 300,300; do
  a=${pair%,*} b=${pair#*,}
  for matrix in tall wide; do
    scaled $matrix.mtx "$a" >s.mtx
    scaled $matrix.b.mtx "$b" >s.b.mtx
    expect 0 solve s.mtx -b s.b.mtx --backend cpu --rtol 1e-9 -o x.mtx --json
    # The numbers of x without their exponents.
    got=$(values x.mtx | tr ' ' '\n' | awk -v e=$((b - a)) 'NF { split($1, p, "e"); print p[1] * 10 ^ (p[2] - e) }' | tr '\n' ' ')
    wanted=$([ $matrix = tall ] && echo '1.1 1.1 ' || echo '3 2 1 ')
    same "$matrix, A 1e$a, b 1e$b" "$got" "$wanted"
  done
done
scaled tall.mtx -200 >s.mtx
scaled tall.b.mtx 200 >s.b.mtx
expect 3 solve s.mtx -b s.b.mtx --backend cpu -o x.mtx -q
grep -q 'the solution is beyond the range of double precision' ../log/err || fail "an x beyond doubles has no reason"
# Columns with very different scales: auto scales them.
file far.mtx "$general" '4 2 7' '1 1 1' '2 1 1' '3 1 1' '4 1 1' '2 2 1e-15' '3 2 2e-15' '4 2 3e-15'
expect 0 solve far.mtx -b tall.b.mtx --backend cpu --rtol 1e-9 --json -o x.mtx
same "preconditioner" "$(json string preconditioner)" jacobi
same "slope" "$(values x.mtx | awk '{ printf "%.6g", $2 }')" 1.1e+15
# 20 decades exceed the range of inverse squares in floats.
scaled far.mtx 0 | sed 's/e-15e0/e-20/; s/e0$//' >further.mtx
expect 0 solve further.mtx -b tall.b.mtx --backend cpu --rtol 1e-9 -o x.mtx -q
# Nothing can be reached: b is orthogonal to the columns, b is 0, or the matrix is 0.
file orthogonal.mtx "$array" '5 1' 1 -1 0 3 2
expect 0 solve rank.mtx -b orthogonal.mtx --backend cpu --json -o x.mtx
same "x of an orthogonal b" "$(values x.mtx)" '0 0 0 0 '
near "all is left of it" "$(json number relative_residual)" 1 0
near "gradient of it" "$(json number relative_gradient)" 0 0
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 5, 1; for (i = 0; i < 5; i++) print 0 }' >z.mtx
expect 0 solve rank.mtx -b z.mtx --backend cpu -o x.mtx
same "x of b = 0" "$(values x.mtx)" '0 0 0 0 '
file empty.mtx "$general" '3 2 0'
expect 0 solve empty.mtx --backend cpu -o x.mtx
same "x of a matrix of zeros" "$(values x.mtx)" '0 0 '

# A larger system with several right-hand sides in groups. Each one is checked here.
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general"; print 90, 40, 270
  for (i = 1; i <= 90; i++) for (k = 0; k < 3; k++) print i, (i * 7 + k * (11 + i % 3)) % 40 + 1, ((i * 37 + k * 17) % 19 - 9.25) / 4 }' >m.mtx
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 90, 6
  for (c = 1; c <= 6; c++) for (i = 1; i <= 90; i++) print (c == 3 ? 0 : ((i * 31 + c * 13) % 23 - 11.5) * 10 ^ c) }' >b.mtx
column() { # FILE NUMBER
  awk -v c="$2" '/^%/ { print; next } !sized { sized = 1; rows = $1; print rows, 1; next } int((k++) / rows) == c - 1' "$1"
}
for backend in $backends; do
  expect 0 solve m.mtx -b b.mtx --backend $backend --json -o x.mtx
  same "columns" "$(json integer right_hand_sides)" 6
  same "size of x" "$(grep -v '^%' x.mtx | head -n 1)" '40 6'
  for c in 1 2 4 6; do
    column x.mtx $c >xc.mtx
    column b.mtx $c >bc.mtx
    # shellcheck disable=SC2046
    set -- $(gradient m.mtx xc.mtx bc.mtx)
    near "$backend: gradient of column $c" "$1" 0 1e-5
    near "$backend: what is left of column $c" "$(json number relative_residuals.$((c - 1)))" "$2" 1e-7
  done
  near "$backend: what is left of 0" "$(json number relative_residuals.2)" 0 0
done
column x.mtx "$(json integer worst_column)" >xc.mtx
column b.mtx "$(json integer worst_column)" >bc.mtx
near "the largest gradient" "$(json number relative_gradient)" "$(gradient m.mtx xc.mtx bc.mtx | cut -d' ' -f1)" 1e-10
expect 0 solve m.mtx -b b.mtx --backend cpu
grep -qE '^gradient .* of column [1-6], the largest, target 1e-05$' ../log/out || fail "no column with the largest gradient"
grep -qE '^left of b .*, the largest of 6 columns$' ../log/out || fail "not the largest part of b"
# The tolerance is not reached.
expect 3 solve m.mtx -b bc.mtx --backend cpu --max-iterations 3 --json -o x.mtx
same "reason" "$(json string reason)" max_iterations
grep -q 'm.mtx: not converged: the maximum of 3 iterations was reached at ||A^T r|| / ||A^T b|| = ' ../log/err || fail "no gradient in the reason"
[ "$(wc -l <../log/err)" -eq 1 ] || fail "not one line on standard error"
grep -qF "$(json string message)" ../log/err || fail "the message is another one"
awk 'NR == 1 { print; next } NR == 2 { print; next } { if ($2 % 2) $3 = $3 * 1000; print }' m.mtx >u.mtx
expect 3 solve u.mtx -b bc.mtx --backend cpu --preconditioner none --max-iterations 3
grep -q 'try --preconditioner jacobi, a larger --max-iterations' ../log/err || fail "jacobi is not proposed"
rm -f x.mtx

# Options that do not apply.
hint='(hint: try --solver lsmr)'
for solver in cg minres bicgstab idr gmres richardson direct; do
  refuse 1 "tall.mtx:2: 4 rows and 2 columns, expected a square matrix for --solver $solver $hint" solve tall.mtx --solver $solver --backend cpu -o x.mtx
done
for preconditioner in block-jacobi chebyshev isai ilu amg direct; do
  refuse 1 "expected a square matrix for --preconditioner $preconditioner (hint: least squares support auto, none or jacobi)" \
    solve wide.mtx --preconditioner $preconditioner --backend cpu -o x.mtx
  refuse 2 "--preconditioner $preconditioner: expected auto, none or jacobi with --solver cgls" \
    solve square.mtx --solver cgls --preconditioner $preconditioner --backend cpu
done
refuse 1 'expected a square matrix for --preconditioner amg' solve tall.mtx --preconditioner amg --near-null-space tall.b.mtx --backend cpu
refuse 1 'expected a square matrix for --reorder rcm' solve tall.mtx --reorder rcm --backend cpu -o x.mtx
refuse 1 'expected a square matrix for --stop delta' solve tall.mtx --stop delta --backend cpu -o x.mtx
refuse 2 '--stop delta: requires --solver cg' solve tall.mtx --stop delta --solver lsmr --backend cpu
refuse 2 '--restart: requires --solver gmres' solve tall.mtx --restart 5 --solver lsmr --backend cpu
refuse 1 'backend cpu does not store matrices as jagged' solve tall.mtx --format jagged --backend cpu -o x.mtx
refuse 1 'wide.b.mtx:2: 2 rows, expected 4, as many as tall.mtx has rows' solve tall.mtx -b wide.b.mtx --backend cpu -o x.mtx
refuse 1 'tall.b.mtx:2: 4 rows, expected 2, as many as tall.mtx has columns' solve tall.mtx --x0 tall.b.mtx --backend cpu -o x.mtx
file v.mtx "$array" '2 3' 1 2 3 4 5 6
refuse 1 'v.mtx:2: 3 columns, expected 1, as many as b has' solve tall.mtx -b tall.b.mtx --x0 v.mtx --backend cpu -o x.mtx
file v.mtx "$array" '4 1' 1 nan 2 3
refuse 1 "v.mtx:4: value 'nan', expected a finite number" solve tall.mtx -b v.mtx --backend cpu -o x.mtx
file v.mtx "$general" '2 2147482624 1' '1 1 1'
refuse 1 'v.mtx:2: 1 entries leave most of the 2147482624 columns empty' solve v.mtx --backend cpu -o x.mtx
file v.mtx "$general" '2147482624 2 1' '1 1 1'
refuse 1 'v.mtx:2: 1 entries leave most of the 2147482624 rows empty' solve v.mtx --backend cpu -o x.mtx
