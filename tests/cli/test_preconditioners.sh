# Every preconditioner of the command: what it solves, what it reports, and what it refuses.
general='%%MatrixMarket matrix coordinate real general'
laplacian m.mtx 40
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 1600, 1
             for (i = 0; i < 1600; i++) print (i * 37) % 19 - 9.25 }' >b.mtx

# solves NAME ARGUMENTS...: $iterations, and an x whose residual is computed here.
solves() {
  name=$1
  shift
  expect 0 solve m.mtx -b b.mtx --backend cpu --rtol 1e-7 --json -o x.mtx --preconditioner "$name" "$@"
  same "preconditioner" "$(json string preconditioner)" "$name"
  near "residual with $name" "$(residual m.mtx x.mtx b.mtx)" 0 1.01e-7
  iterations=$(json integer iterations)
  checks=$((checks + 1))
  awk -v s="$(json number seconds.setup)" 'BEGIN { exit !(s >= 0 && s < 300) }' || fail "seconds.setup is no time"
  rm -f x.mtx
}
# fewer WHAT THAN
fewer() {
  checks=$((checks + 1))
  [ "$iterations" -lt "$2" ] || fail "$1 took $iterations iterations, expected less than $2"
}

solves none
solves jacobi
jacobi=$iterations
solves block-jacobi
solves chebyshev
fewer chebyshev $((jacobi / 2))
chebyshev=$iterations
solves chebyshev --degree 8
fewer "chebyshev of degree 8" "$chebyshev"
solves isai
fewer isai $((jacobi * 3 / 4))
solves amg
fewer amg $((jacobi / 3))
amg=$iterations

# Algebraic multigrid: its options, and the hierarchy.
checks=$((checks + 1))
[ "$(json integer hierarchy.bytes_device)" -gt 0 ] || fail "the hierarchy has no bytes"
awk -v o="$(json number hierarchy.operator_complexity)" -v g="$(json number hierarchy.grid_complexity)" \
  'BEGIN { exit !(o > 1 && o < 2 && g > 1 && g < 2) }' || fail "complexities"
solves amg --amg-sweeps 4
fewer "amg with 4 sweeps" "$amg"
solves amg --amg-visits 2
solves amg --solver richardson
fewer "amg by itself" "$jacobi"
for smoother in chebyshev chebyshev4 jacobi l1-jacobi; do
  solves amg --amg-smoother $smoother
done
for option in "--amg-strength 0" "--amg-strength 0.2" "--amg-coarsest 10" "--amg-levels 2"; do
  # shellcheck disable=SC2086
  solves amg $option
done
expect 0 solve m.mtx --backend cpu --preconditioner amg -v
grep -qE '^hierarchy +level +rows +entries +a row +eigenvalue$' ../log/out || fail "-v has no hierarchy"
grep -qE '^ +0 +1600 +7840 +4.9 ' ../log/out || fail "level 0 is not the matrix"
grep -qE '^complexity +operator 1\.[0-9]+, grid 1\.[0-9]+' ../log/out || fail "-v has no complexity"
grep -qE '^seconds .*set-up [0-9.]+, solve' ../log/out || fail "no seconds of the set-up"
expect 0 solve m.mtx --backend cpu --preconditioner amg
grep -q '^hierarchy' ../log/out && fail "the hierarchy without -v"
expect 0 solve m.mtx --backend cpu --preconditioner amg --reorder random --json
checks=$((checks + 1))
[ "$(json integer iterations)" -le $((amg * 3 / 2)) ] || fail "amg in another order took $(json integer iterations)"

# What they cannot do: rows and entries are those of the file.
file m.mtx "$general" '3 3 4' '1 1 4' '2 1 1' '1 2 1' '3 3 4'
for name in chebyshev amg; do
  refuse 1 "m.mtx: row 2 has no entry on the diagonal, expected a" solve m.mtx --backend cpu --preconditioner $name
done
file m.mtx "$general" '2 2 2' '1 1 4' '2 2 -1'
refuse 1 'm.mtx: row 2 has a negative number on the diagonal, expected a positive number for --preconditioner amg' \
  solve m.mtx --backend cpu --preconditioner amg
# Without a diagonal entry: x = (1 2 3) of b = (6 1 12).
file m.mtx "$general" '3 3 4' '1 1 4' '2 1 1' '1 2 1' '3 3 4'
file b.mtx '%%MatrixMarket matrix array real general' '3 1' 6 1 12
expect 0 solve m.mtx -b b.mtx --backend cpu --preconditioner isai --solver bicgstab -o x.mtx --json
vector_near x.mtx 1e-4 1 2 3
refuse 1 'isai finds that the matrix is not symmetric and positive definite, as cg needs' solve m.mtx --backend cpu \
  --preconditioner isai
file m.mtx "$general" '2 2 3' '1 1 4' '1 2 1' '2 2 4'
refuse 1 'm.mtx: entry 1 2 differs from its mirror, expected a symmetric matrix for --preconditioner amg' \
  solve m.mtx --backend cpu --preconditioner amg
expect 0 solve m.mtx --backend cpu --preconditioner chebyshev
