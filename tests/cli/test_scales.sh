# Systems at every scale of a file are solved within the tolerance if doubles can represent the solution. The
# printed residual agrees with the exit status to the last digit.
scaled() { # FILE A-EXPONENT B-EXPONENT: 3 x 3, unsymmetric with a fourth argument
  file "$1.mtx" '%%MatrixMarket matrix coordinate real general' '3 3 7' "1 1 4e$2" "1 2 -1e$2" "2 1 -${4-1}e$2" \
    "2 2 4e$2" "2 3 -1e$2" "3 2 -1e$2" "3 3 4e$2"
  file "$1.b.mtx" '%%MatrixMarket matrix array real general' '3 1' "2e$3" "4e$3" "-7e$3"
}

# judge WHAT: checks that the last run's status, its report and x.mtx agree.
judge() {
  case $status in
  0)
    reported=$(json number relative_residual)
    computed=$(residual m.mtx x.mtx m.b.mtx)
    awk -v r="$reported" -v c="$computed" 'BEGIN { d = r - c; exit !(r <= 1e-5 && c <= 1e-5 && (d < 0 ? -d : d) <= 1e-3 * c + 1e-12) }' ||
      fail "$1: converged with a residual of $reported, computed here $computed"
    ;;
  3)
    same "$1: converged" "$(json boolean converged)" false
    grep -qE 'not converged: breakdown: the solution is (beyond|below) the range of double precision' ../log/err ||
      fail "$1: no reason"
    [ -f x.mtx ] && grep -v '^%' x.mtx | grep -qiE 'nan|inf' && fail "$1: x holds no numbers"
    ;;
  *) fail "$1: exit status $status" ;;
  esac
}

for a in -300 -60 -30 -3 30 37 300; do
  for b in -300 -60 -30 2 30 36 300; do
    scaled m $a $b
    for solver in cg bicgstab idr gmres; do
      rm -f x.mtx
      run solve m.mtx -b m.b.mtx --solver $solver --backend cpu --json -o x.mtx
      judge "$solver, A 1e$a, b 1e$b"
    done
    wanted=0 # if x is a double
    [ $((b - a)) -lt -305 ] || [ $((b - a)) -gt 305 ] && wanted=3
    same "A 1e$a, b 1e$b: exit status" "$status" $wanted
  done
done
if "$texsolve" info --backend gl >../log/out 2>&1; then
  for pair in -30,-30 30,30 30,-30 -30,30 2,-37 -300,-300 300,300 -100,50; do
    scaled m ${pair%,*} ${pair#*,} 2
    rm -f x.mtx
    run solve m.mtx -b m.b.mtx --backend gl --json -o x.mtx
    judge "gl, A 1e${pair%,*}, b 1e${pair#*,}"
    same "gl, A 1e${pair%,*}, b 1e${pair#*,}: exit status" "$status" 0
  done
fi

# A number that vanishes in floats relative to the largest one, and is a large part of its row, is refused with
# its place.
file m.mtx '%%MatrixMarket matrix coordinate real general' '2 2 2' '1 1 4e-60' '2 2 1'
refuse 1 'm.mtx: row 1, column 1: 4e-60' solve m.mtx --backend cpu -o x.mtx
grep -q 'the range of single precision relative to 1, the largest' ../log/err || fail "the range is not named"
file m.mtx '%%MatrixMarket matrix coordinate real general' '2 2 2' '1 1 3' '2 2 1e300'
refuse 1 'm.mtx: row 1, column 1: 3' solve m.mtx --backend cpu -o x.mtx
# In b such a number is negligible.
file m.mtx '%%MatrixMarket matrix coordinate real general' '2 2 2' '1 1 2' '2 2 1'
file m.b.mtx '%%MatrixMarket matrix array real general' '2 1' 1e-200 1e300
expect 0 solve m.mtx -b m.b.mtx --backend cpu -o x.mtx -q
rm -f x.mtx
# Numbers of x in the range of doubles, but not of floats.
file m.mtx '%%MatrixMarket matrix coordinate real general' '2 2 2' '1 1 1e-3' '2 2 1'
file m.b.mtx '%%MatrixMarket matrix array real general' '2 1' 3e38 1
for solver in cg bicgstab idr gmres; do
  expect 0 solve m.mtx -b m.b.mtx --solver $solver --backend cpu -o x.mtx
  near "$solver: x" "$(values x.mtx | cut -d' ' -f1)" 3e41 3e36
  rm -f x.mtx
done
# A start outside the range of floats for this system.
file x0.mtx '%%MatrixMarket matrix array real general' '2 1' 1e300 1
refuse 1 'x0.mtx: row 1, column 1: 1e+300' solve m.mtx --x0 x0.mtx --backend cpu -o x.mtx

# The tolerance applies to the residual in double precision, and its printed digits show on which side of the
# tolerance it is.
laplacian grid.mtx 20
for rtol in 1e-3 1e-5 3e-6 1e-6 5e-7 3e-7; do
  for solver in cg gmres; do
    run solve grid.mtx --backend cpu --rtol $rtol --solver $solver
    shown=$(sed -n 's/^residual *\([^ ]*\) = .*/\1/p' ../log/out)
    awk -v r="$shown" -v t=$rtol -v s="$status" 'BEGIN { exit !((r + 0 <= t + 0) == (s == 0)) }' ||
      fail "$solver to $rtol: exit status $status with a residual of $shown"
    [ "$status" -eq 0 ] || grep -qF "$shown" ../log/err || fail "$solver to $rtol: another residual on standard error"
    run solve grid.mtx --backend cpu --rtol "$shown" --solver $solver --json
    awk -v r="$(json number relative_residual)" -v t="$shown" -v s="$status" 'BEGIN { exit !((r <= t + 0) == (s == 0)) }' ||
      fail "$solver to $shown: exit status $status with $(json number relative_residual)"
  done
done
# Single precision rounds this matrix. It is solved up to the rounding error, and the residual of the file's
# numbers decides.
awk 'BEGIN {
  n = 300; print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 3 * n - 3
  for (i = 1; i <= n; i++) {
    printf "%d %d %.17g\n", i, i, 6.1 + sin(i) / 3000
    if (i > 1) printf "%d %d %.17g\n", i, i - 1, -4.03 - cos(i) / 3000
    if (i > 2) printf "%d %d %.17g\n", i, i - 2, 1.0001
  } }' >rounded.mtx
for rtol in 1e-5 2e-6 1e-6 5e-7 2e-7 1e-7; do
  run solve rounded.mtx --backend cpu --rtol $rtol --json -o x.mtx
  awk -v r="$(residual rounded.mtx x.mtx)" -v t=$rtol -v s="$status" 'BEGIN { exit !((r <= 1.000001 * t) == (s == 0)) }' ||
    fail "rounded matrix to $rtol: exit status $status with $(residual rounded.mtx x.mtx)"
done
