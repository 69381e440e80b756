# Every form of Matrix Market, solved and compared with a solution computed by hand.
small_system

# solves WANTED... : the solution of m.mtx with b.mtx.
solves() {
  expect 0 solve m.mtx -b b.mtx --backend cpu -o x.mtx --json --rtol 1e-6
  same "matrix of m.mtx: nonzeros" "$(json integer nonzeros)" "$nonzeros"
  vector_near x.mtx 1e-5 "$@"
  rm -f x.mtx
}

nonzeros=7
for header in 'real symmetric' 'real hermitian' 'integer symmetric' 'REAL Symmetric'; do
  file m.mtx "%%MatrixMarket matrix coordinate $header" '3 3 5' '1 1 4' '2 1 -1' '2 2 4' '3 2 -1' '3 3 4'
  solves 1 2 3
done
for header in 'real general' 'integer general'; do
  file m.mtx "%%MatrixMarket matrix coordinate $header" '% in no order' '3 3 7' '3 3 4' '2 1 -1' '1 2 -1' '1 1 4' \
    '2 3 -1' '3 2 -1' '2 2 4'
  solves 1 2 3
done
file m.mtx '%%MatrixMarket matrix array real general' '3 3' 4 -1 0 -1 4 -1 0 -1 4
solves 1 2 3
file m.mtx '%%MatrixMarket matrix array real symmetric' '3 3' 4 -1 0 4 -1 4
solves 1 2 3

# All entries of a pattern are 1, on and off the diagonal, also in symmetric files.
file b.mtx '%%MatrixMarket matrix array integer general' '2 1' 2 2
nonzeros=4
file m.mtx '%%MatrixMarket matrix coordinate pattern symmetric' '2 2 3' '1 1' '2 1' '2 2'
solves 1 1
file m.mtx '%%MatrixMarket matrix coordinate pattern general' '2 2 4' '1 1' '1 2' '2 1' '2 2'
solves 1 1

# A skew-symmetric matrix is accepted, but is not symmetric: A = (0 -2; 2 0), x stays (1 1), b - A x = (4 0).
file m.mtx '%%MatrixMarket matrix coordinate real skew-symmetric' '2 2 1' '2 1 2'
file x0.mtx '%%MatrixMarket matrix array real general' '2 1' 1 1
expect 3 solve m.mtx -b b.mtx --x0 x0.mtx --backend cpu --solver cg --preconditioner none --json -o x.mtx
same "skew: nonzeros" "$(json integer nonzeros)" 2
same "skew: reason" "$(json string reason)" not_symmetric
near "skew: relative residual" "$(json number relative_residual)" 1.41421356 1e-6
vector_near x.mtx 0 1 1
rm -f x.mtx
# With duplicates, which are reported once for each entry of the file.
file m.mtx '%%MatrixMarket matrix coordinate real skew-symmetric' '2 2 2' '2 1 1.5' '2 1 .5'
expect 3 solve m.mtx -b b.mtx --x0 x0.mtx --backend cpu --solver cg --preconditioner none --json
same "skew: duplicates" "$(json integer duplicates)" 1
near "skew: relative residual" "$(json number relative_residual)" 1.41421356 1e-6

# Duplicates are summed and reported.
small_system
nonzeros=7
file m.mtx '%%MatrixMarket matrix coordinate real symmetric' '3 3 8' '1 1 4' '2 1 -.5' '2 2 4' '3 2 -1' '3 3 1' \
  '3 3 1' '2 1 -.5' '3 3 2'
solves 1 2 3
same "duplicates" "$(json integer duplicates)" 3
grep -q 'm.mtx: 3 duplicate entries were added up' ../log/err || fail "duplicates were not said"

# Comments, blank lines, spaces, line endings.
printf '%%%%MatrixMarket\tMATRIX coordinate\treal symmetric \r\n%% note\r\n\r\n  3 3\t5\r\n1 1 4\r\n%% note\r\n2 1 -1\r\n\r\n 2 2 4 \r\n3 2 -1\r\n3 3 4' >m.mtx
solves 1 2 3

# Vectors: coordinate, several columns, standard input, and ones without -b.
cp spd.mtx m.mtx
file b.mtx '%%MatrixMarket matrix coordinate real general' '3 1 4' '3 1 10' '1 1 2' '2 1 3' '2 1 1'
solves 1 2 3
grep -q 'b.mtx: 1 duplicate entry' ../log/err || fail "a vector's duplicate was not said"
file b.mtx '%%MatrixMarket matrix array real general' '3 2' 2 4 10 4 -1 0
solves 1 2 3 1 0 0
same "right-hand sides" "$(json integer right_hand_sides)" 2
file b.mtx '%%MatrixMarket matrix array real general' '3 4' 2 4 10 4 -1 0 -1 4 -1 0 -1 4
solves 1 2 3 1 0 0 0 1 0 0 0 1
file b.mtx '%%MatrixMarket matrix coordinate real general' '3 3 3' '1 1 4' '2 1 -1' '3 2 4'
expect 0 solve m.mtx -b b.mtx --backend cpu -o x.mtx -q
near "third column, all 0" "$(values x.mtx | cut -d' ' -f9)" 0 0
"$texsolve" solve - --backend cpu -o x.mtx -q <spd.mtx
same "status with the matrix on standard input" $? 0
vector_near x.mtx 1e-5 0.357142857 0.428571429 0.357142857
file m.mtx '%%MatrixMarket matrix coordinate real general' '1 1 1' '1 1 4'
expect 0 solve m.mtx --backend cpu -o x.mtx -q
vector_near x.mtx 1e-6 0.25
