# `texsolve lcp`: files of every form, bounds, outputs and reports, and refusals.
fclib_make=$drivers
array='%%MatrixMarket matrix array real general'
file M.mtx "$array" '2 2' 2 1 1 2
file q.mtx "$array" '2 1' -5 -6
file Q.mtx "$array" '2 1' -5 1

lcp() {
  wanted_status=$1
  shift
  expect "$wanted_status" lcp --backend cpu "$@"
}
# refused TEXT ARGUMENTS...
refused() {
  text=$1
  shift
  refuse 1 "$text" lcp --backend cpu "$@"
}

# ---- Arguments ----
expect 0 help lcp
for option in output w z0 lower upper guess friction scheme storage local acceleration precision rtol max-sweeps check-interval backend threads json \
  quiet verbose; do
  grep -q -- "--$option" ../log/out || fail "help lcp does not mention --$option"
done
refuse 2 'no file, expected PROBLEM, or M and q' lcp --backend cpu
refuse 2 "'extra' after the files, expected one file, or M and q" lcp M.mtx q.mtx extra
refuse 2 "'-' given for several files" lcp - -
refuse 2 "--scheme: 'rows', expected auto, row, column" lcp M.mtx q.mtx --scheme rows
refuse 2 "--storage: 'blocks', expected auto, dense or sparse" lcp M.mtx q.mtx --storage blocks
refuse 2 "--local: 'newton', expected auto, projection" lcp M.mtx q.mtx --local newton
refuse 2 "--acceleration: 'nesterov', expected auto, none or momentum" lcp M.mtx q.mtx --acceleration nesterov
refuse 2 "--guess: '-1', expected" lcp M.mtx q.mtx --guess=-1
refuse 2 '--guess and --z0, expected one start' lcp p.hdf5 --guess 1 --z0 z0.mtx
refuse 2 "--precision: 'mixed', expected auto, single or double" lcp M.mtx q.mtx --precision mixed
refuse 2 "--rtol: '1', expected a number between 0 and 1" lcp M.mtx q.mtx --rtol 1
refuse 2 "--friction: '-1', expected a number that is not negative" lcp M.mtx q.mtx --friction=-1
refuse 2 "--max-sweeps: '0', expected" lcp M.mtx q.mtx --max-sweeps 0

# ---- Matrix Market ----
lcp 0 M.mtx q.mtx --rtol 1e-10 -o z.mtx --w w.mtx --json
vector_near z.mtx 1e-8 1.3333333333 2.3333333333
vector_near w.mtx 1e-8 0 0
same kind "$(json string kind)" lcp
same form "$(json string form)" matrix-market
same size "$(json integer size)" 2
same contacts "$(json null contacts)" null
same converged "$(json boolean converged)" true
same precision "$(json string precision)" double
same 'distance from no solution' "$(json null solution_distance)" null
near residual "$(json number relative_residual)" 0 1e-10
lcp 0 M.mtx Q.mtx -o z.mtx --w w.mtx --json
vector_near z.mtx 1e-5 2.5 0
vector_near w.mtx 1e-5 0 3.5
same precision "$(json string precision)" single
# The residual is that of the file's numbers, regardless of the device's precision.
near residual "$(json number relative_residual)" 0 1e-5
lcp 0 M.mtx q.mtx
grep -q '^problem .*linear complementarity problem, 2 unknowns$' ../log/out || fail 'problem'
grep -q '^result      converged after 9 sweeps$' ../log/out || fail 'result'
lcp 0 M.mtx q.mtx -v
grep -q '^problem .*linear complementarity problem, 2 unknowns; 100.0 % of the matrix nonzero' ../log/out || fail 'problem of -v'
grep -q '^result      converged after 9 sweeps, [0-9]* host synchronisations' ../log/out || fail 'result of -v'
lcp 0 M.mtx q.mtx -q
[ -s ../log/out ] && fail '-q prints'
# The start may be the solution, and other starts lead to it.
file z0.mtx "$array" '2 1' 2.5 0
lcp 0 M.mtx Q.mtx --z0 z0.mtx --json
same 'sweeps from the solution' "$(json integer sweeps)" 0
# Both triangles of a symmetric file, with duplicates summed.
file S.mtx '%%MatrixMarket matrix coordinate real symmetric' '2 2 4' '1 1 2' '2 1 1' '2 2 1' '2 2 1'
lcp 0 S.mtx q.mtx --rtol 1e-10 -o z.mtx -q
vector_near z.mtx 1e-8 1.3333333333 2.3333333333

# ---- Storage ----
# A few unknowns are stored dense. For a band of 400 sparse storage reads less per sweep.
lcp 0 M.mtx q.mtx --json
same storage "$(json string storage)" dense
lcp 0 M.mtx q.mtx --storage sparse --rtol 1e-10 -o z.mtx --json
same storage "$(json string storage)" sparse
vector_near z.mtx 1e-8 1.3333333333 2.3333333333
lcp 0 M.mtx q.mtx --scheme colour --rtol 1e-10 -o z.mtx --json
same storage "$(json string storage)" sparse
same scheme "$(json string scheme)" colour
vector_near z.mtx 1e-8 1.3333333333 2.3333333333
awk 'BEGIN {
  print "%%MatrixMarket matrix coordinate real symmetric\n400 400 799"
  for (i = 1; i <= 400; i++) print i, i, 2 + i % 3
  for (i = 2; i <= 400; i++) print i, i - 1, -1
}' >band.mtx
awk 'BEGIN {
  print "%%MatrixMarket matrix array real general\n400 1"
  for (i = 1; i <= 400; i++) print i % 5 - 2
}' >long.mtx
for storage in auto dense sparse; do
  lcp 0 band.mtx long.mtx --storage $storage --rtol 1e-10 -o $storage.mtx --json
  expected=$storage
  [ $storage = auto ] && expected=sparse
  same storage "$(json string storage)" $expected
  same nonzeros "$(json integer nonzeros)" 1198
done
tail -n 400 dense.mtx >dense.txt
tail -n 400 sparse.mtx | paste dense.txt - | awk '{ d = $1 - $2; if (d * d > 1e-16) exit 1; n += $1 > 0 } END { exit n < 100 }' ||
  fail 'dense and sparse storage have other answers'
lcp 0 band.mtx long.mtx --scheme block --json
same 'storage of a scheme that is dense' "$(json string storage)" dense
refused 'the scheme column is for dense problems; this one is sparse' M.mtx q.mtx --storage sparse --scheme column
refused 'the scheme colour is for sparse problems; this one is dense' M.mtx q.mtx --storage dense --scheme colour

# ---- Bounds ----
file upper.mtx "$array" '2 1' 1 inf
lcp 0 M.mtx q.mtx --upper upper.mtx --rtol 1e-10 -o z.mtx --w w.mtx --json
vector_near z.mtx 1e-8 1 2.5
vector_near w.mtx 1e-8 -0.5 0
same kind "$(json string kind)" boxed
file lower.mtx "$array" '2 1' -Inf -inf
lcp 0 M.mtx Q.mtx --lower lower.mtx --rtol 1e-10 -o z.mtx -q
vector_near z.mtx 1e-8 3.6666666667 -2.3333333333
refused 'z.mtx: this output is also an input' M.mtx q.mtx --z0 z.mtx -o z.mtx
file crossed.mtx "$array" '2 1' 0 3
file below.mtx "$array" '2 1' 1 2
refused 'crossed.mtx: row 2: bounds 3 and 2, expected' M.mtx q.mtx --lower crossed.mtx --upper below.mtx
file words.mtx "$array" '2 1' 0 infinite
refused "words.mtx:4: value 'infinite', expected" M.mtx q.mtx --upper words.mtx
refused "upper.mtx:4: value 'inf', expected a finite number" M.mtx upper.mtx

# ---- Refusals of Matrix Market files ----
refused 'none.mtx: No such file or directory, expected a problem of Siconos or FCLIB' none.mtx
refused 'none.mtx: No such file or directory, expected a Matrix Market file' M.mtx none.mtx
printf '2 0 2 2 2 2 3 0 1 2 -4 -2' >p.dat
refused 'p.dat: not a Matrix Market file, expected one before q.mtx' p.dat q.mtx
refused 'M.mtx: a matrix alone, expected a second file, q' M.mtx
refused 'q.mtx:2: 2 rows and 1 columns, expected a square matrix' q.mtx q.mtx
refused 'M.mtx:2: 2 rows and 2 columns, expected 2 rows and 1 column' M.mtx M.mtx
file zero.mtx "$array" '2 2' 2 1 1 0
refused 'zero.mtx: diagonal entry of row 2: 0, expected a positive number' zero.mtx q.mtx
refused 'M.mtx: a problem without contacts, expected no --friction' M.mtx q.mtx --friction 0.5
refused 'M.mtx: --guess requires an FCLIB file' M.mtx q.mtx --guess 1
refused 'z.hdf5: a copy of the problem, expected an FCLIB problem and not M.mtx' M.mtx q.mtx -o z.hdf5
refused 'missing/z.mtx: No such file or directory' M.mtx q.mtx -o missing/z.mtx

# ---- Not converged ----
# Without a solution: z1 + z2 is unbounded and w stays at -1.
file I.mtx "$array" '2 2' 1 -1 -1 1
file r.mtx "$array" '2 1' -1 -1
lcp 3 I.mtx r.mtx -o z.mtx --max-sweeps 1000
grep -q '^texsolve: I.mtx: not converged: ' ../log/err || fail 'the reason is not said'
same 'lines on standard error' "$(wc -l <../log/err | tr -d ' ')" 1
[ -s z.mtx ] || fail 'the best iterate is not written'
file slow.mtx "$array" '2 2' 1 0.99 0.99 1
file s.mtx "$array" '2 1' -5 -5
lcp 3 slow.mtx s.mtx --rtol 1e-9 --max-sweeps 7 --check-interval 5 --json
same sweeps "$(json integer sweeps)" 7
same converged "$(json boolean converged)" false
grep -q 'hint: try a larger --max-sweeps' ../log/err || fail 'no hint'

# Acceleration gives the same solution with fewer sweeps.
lcp 0 slow.mtx s.mtx --rtol 1e-9 --json -o z.mtx --check-interval 1 --acceleration none
plain=$(json integer sweeps)
same acceleration "$(json string acceleration)" none
for kind in auto momentum; do
  lcp 0 slow.mtx s.mtx --rtol 1e-9 --json -o fast.mtx --check-interval 1 --acceleration $kind
  same acceleration "$(json string acceleration)" $kind
  sweeps=$(json integer sweeps)
  [ "$sweeps" -le $((plain / 2)) ] || fail "$kind: $sweeps sweeps, $plain without"
  vector_near fast.mtx 1e-6 2.5125628141 2.5125628141
done

# Single precision does not reach the tolerance. Double precision continues from the point of stagnation. z is
# -1000 and 1000.
file far.mtx "$array" '2 2' 1 0.999 0.999 1
file f.mtx "$array" '2 1' 1 -1
file free.mtx "$array" '2 1' -inf -inf
lcp 0 far.mtx f.mtx --lower free.mtx -o z.mtx --json
same precision "$(json string precision)" double
near residual "$(json number relative_residual)" 0 1e-5
vector_near z.mtx 0.1 -1000 1000
lcp 3 far.mtx f.mtx --lower free.mtx --precision single
grep -q 'hint: try --precision double, or a larger --rtol' ../log/err || fail 'no hint'

# ---- Siconos ----
# M = 3 1; 0 2. Its solution shows if rows and columns are confused.
text() {
  printf '%s\n' "$@" >p.dat
  lcp 0 p.dat --rtol 1e-10 -o z.mtx --json
  vector_near z.mtx 1e-8 1 1
  same form "$(json string form)" siconos
  same kind "$(json string kind)" lcp
}
text 2 0 2 2 '2	2' '3 0' '1 2' '-4 -2'
text 2 0 2 2 2 2 3.0e0 0 1 2 '' '-4 -2' '' 'Remark: any text, even 1 2 3'
text 2 1 2 2 3 2 2 '1 2' '1 2' 3 3 '0 2 3' '0 1 1' 0 3 1 1 2 2 '-4 -2'
text 2 1 2 2 1 1 1 2 2 2 1 '0 1' 0 0 3 0 1 2 '-4 -2'
printed='CSparse Version 3.2.0, Sept 12, 2017.  Copyright (c) Timothy A. Davis, 2006-2016'
text 2 2 2 2 1 "$printed" 'triplet: 2-by-2, nzmax: 3 nnz: 3' '    1 1 : 2' '    0 0 : 3' '    0 1 : 1' '-4 -2'
text 2 2 2 2 2 "$printed" '2-by-2, nzmax: 3 nnz: 3, 1-norm: 3' '    col 0 : locations 0 to 0' '      0 : 3' \
  '    col 1 : locations 1 to 2' '      0 : 1' '      1 : 2' '-4 -2'

# friction LINES...: a problem with one contact, the unit matrix and a q of norm 5 is accepted, and the report
# describes it.
friction() {
  printf '%s\n' "$@" >p.dat
  run lcp --backend cpu p.dat --json
  [ "$status" -eq 0 ] || fail "friction: exit status $status"
  near 'norm of q' "$(json number norm_q)" 5 1e-12
  same nonzeros "$(json integer nonzeros)" "$1"
}
friction 2 1 0 2 2 2 2 '1 0' '0 1' '-3 4' 0.5 1
same kind "$(json string kind)" friction-2d
same contacts "$(json integer contacts)" 1
# One contact in the sparse form begins like an LCP of two unknowns.
friction 2 1 2 2 2 2 "$printed" '2-by-2, nzmax: 2 nnz: 2, 1-norm: 1' '    col 0 : locations 0 to 0' '      0 : 1' \
  '    col 1 : locations 1 to 1' '      1 : 1' '-3 4' 0.5
same kind "$(json string kind)" friction-2d
friction 3 1 0 3 3 3 3 '1 0 0' '0 1 0' '0 0 1' '-3 0 4' 0.5 0
same kind "$(json string kind)" friction-3d
refused 'p.dat: contacts with friction, expected no --upper' p.dat --upper upper.mtx

bad() {
  text=$1
  shift
  printf '%s\n' "$@" >p.dat
  refused "$text" p.dat -o z.dat
}
: >p.dat
refused 'p.dat:1: an empty file' p.dat
bad "p.dat:1: the size 'hello', expected a whole number" hello
bad "p.dat:2: the storage (0: dense, 1: blocks, 2: sparse) '3', expected a whole number from 0 to 2" 2 3 2 2
bad "p.dat:4: the columns '3', expected a whole number from 2 to 2" 2 0 2 3
bad "p.dat:6: the file ends, expected number 3 of the matrix" 2 0 2 2 '2 2' '3.000 0.000'
bad "p.dat:7: the matrix 'x', expected a number" 2 0 2 2 '2 2' '3 0' '1 x' '-4 -2'
bad "p.dat:8: q 'nan', expected a finite number" 2 0 2 2 '2 2' '3 0' '1 2' '-4 nan'
bad "p.dat:9: '5' after the problem, expected no further numbers" 2 0 2 2 '2 2' '3 0' '1 2' '-4 -2' 5
bad 'p.dat: diagonal entry of row 2: 0, expected a positive number' 2 0 2 2 '2 2' '3 0' '1 0' '-4 -2'
bad 'numbers, expected at most the' 100000000 0 100000000 100000000 100000000 100000000 1 2 3
bad "p.dat:9: the column of a block '2', expected a whole number from 0 to 1" 2 1 2 2 '3 2 2' '1 2' '1 2' 3 '3 0 2 3 0 2 1'
bad "p.dat:10: the number of a block '1', expected a whole number from 0 to 0" 2 1 2 2 '3 2 2' '1 2' '1 2' '3 3 0 2 3' \
  '0 1 1' '1 3'
bad "p.dat:7: '3-by-3,', expected '2-by-2,'" 2 2 2 2 2 "$printed" '3-by-3, nzmax: 3 nnz: 3, 1-norm: 3'
bad "p.dat:8: '...', expected 'col'" 2 2 2 2 2 "$printed" '2-by-2, nzmax: 3 nnz: 3, 1-norm: 3' '  ...'
bad "p.dat:10: mu of contact 1 is -0.5, expected a number that is not negative" 2 1 0 2 2 '2 2' '1 0' '0 1' '-1 0' -0.5

# ---- Sizes that exceed the file are refused before memory is allocated ----
file many.mtx '%%MatrixMarket matrix coordinate real symmetric' '1000000000 1000000000 1' '1 1 1'
refused 'many.mtx:2: 1 entries leave some of the 1000000000 rows empty' many.mtx q.mtx

# ---- FCLIB ----
if [ -n "$fclib_make" ]; then
  for form in triplets columns rows deflate; do
    "$fclib_make" p.hdf5 "$form" || fail "fclib_make $form"
    run lcp --backend cpu p.hdf5 --json -o out.hdf5 --w u.mtx
    [ "$status" -eq 0 ] || fail "FCLIB, $form: exit status $status"
    same form "$(json string form)" fclib
    same kind "$(json string kind)" friction-3d
    same nonzeros "$(json integer nonzeros)" 8
    near 'residual of the solution in the file' "$(json number solution_relative_residual)" 0 1e-15
    # The output contains the solution, so a second solve from it does not move.
    run lcp --backend cpu out.hdf5 --json
    near 'distance from what was written' "$(json number solution_distance)" 0 0
  done
  "$fclib_make" p.hdf5 rows unsolved
  run lcp --backend cpu p.hdf5 --json -o out.h5
  same 'distance from no solution' "$(json null solution_distance)" null
  run lcp --backend cpu out.h5 --json
  near 'distance from what was written' "$(json number solution_distance)" 0 0
  run lcp --backend cpu p.hdf5 --friction 0.25 --json
  same contacts "$(json integer contacts)" 2

  # Guesses: the first one by default, none, or one chosen by its number. The second one is the solution.
  "$fclib_make" p.hdf5 rows guess
  run lcp --backend cpu p.hdf5 --json --check-interval 1
  same guess "$(json integer guess)" 1
  [ "$(json integer sweeps)" -gt 0 ] || fail 'the first guess is the solution'
  run lcp --backend cpu p.hdf5 --json --guess 2
  same guess "$(json integer guess)" 2
  same 'sweeps from the solution' "$(json integer sweeps)" 0
  file start.mtx "$array" '6 1' 1 0 0 1 -0.5 0
  run lcp --backend cpu p.hdf5 --json --z0 start.mtx
  same 'guess beside --z0' "$(json null guess)" null
  same 'sweeps from --z0' "$(json integer sweeps)" 0
  run lcp --backend cpu p.hdf5 --json --guess 0 --check-interval 1
  same 'no guess' "$(json null guess)" null
  refused 'p.hdf5: guess 3, expected one of 2' p.hdf5 --guess 3
  "$fclib_make" p.hdf5 rows
  refused 'p.hdf5: guess 1, expected one of 0' p.hdf5 --guess 1
  for local in auto exact projection; do
    run lcp --backend cpu p.hdf5 --json --local $local
    same local "$(json string local)" $local
    near "distance with $local" "$(json number solution_distance)" 0 1e-4
  done

  # fault WORD TEXT [FORM]
  fault() {
    "$fclib_make" p.hdf5 "${3-rows}" "$1" || fail "fclib_make $1"
    refused "p.hdf5: $2" p.hdf5 -o out.mtx
  }
  fault global 'no group /fclib_local, expected a local problem of FCLIB, not a global one'
  fault dimension '/fclib_local/spacedim: 4, expected 2 or 3'
  fault wide '/fclib_local/W: 6 rows and 7 columns, expected equal numbers of both'
  fault no-q 'no dataset /fclib_local/vectors/q'
  fault short-q '/fclib_local/vectors/q: 5 numbers, expected 6'
  fault announced '/fclib_local/W/i: 100000000 numbers, expected no more than can be in'
  fault short-x '/fclib_local/W/x: 3 numbers, expected 8'
  fault nan '/fclib_local/vectors/q: number 5 is nan, expected a finite one'
  fault negative '/fclib_local/vectors/mu: number 2 is -0.5, expected one that is not negative'
  fault index '/fclib_local/W/i: number 3 is 6, expected one from 0 to 5'
  fault index '/fclib_local/W/i: number 3 is 6, expected one from 0 to 5' triplets
  fault start '/fclib_local/W/p: number 4 is 9, expected one from'
  fault diagonal 'diagonal entry of row 1, the normal of a contact: 0, expected a positive number'
  fault guess-short '/guesses/1/r: 5 numbers, expected 6'
  fault V '/fclib_local/V: equality constraints, expected contacts only'
  fault R '/fclib_local/R: equality constraints, expected contacts only'
  fault s '/fclib_local/vectors/s: equality constraints, expected contacts only'
  "$fclib_make" whole.hdf5 rows
  head -c 3000 whole.hdf5 >p.hdf5
  # A child process reads HDF5. A file that crashes libhdf5 1.10 causes an error that names it.
  cp "$here/../fuzz/corpus/hdf5/crash.hdf5" crash.hdf5
  refused 'crash.hdf5: ' crash.hdf5
  refused 'p.hdf5: ' p.hdf5
  grep -q 'truncated' ../log/err || fail 'a cut file is not said to be one'
  checks=$((checks + 1))
  "$texsolve" lcp - --backend cpu <whole.hdf5 2>../log/err && fail 'HDF5 is read from standard input'
  grep -q '^texsolve: standard input: an HDF5 file, expected its name' ../log/err || fail 'HDF5 from standard input'
  refused "whole.hdf5: this output is also an input" whole.hdf5 -o whole.hdf5
else
  printf '\211HDF\r\n\032\n' >p.hdf5
  refused 'p.hdf5: an HDF5 file, and this build has no HDF5' p.hdf5
fi

# ---- Scales ----
# With a small M, z is large, and z - P(z - w) is 0 although w is as large as q. The residual is computed from
# the file's numbers without cancellation.
for k in 20 14 8; do
  file small.mtx "$array" '2 2' 2e-$k 1e-$k 1e-$k 2e-$k
  file near.mtx "$array" '2 1' 1.33e$k 2.33e$k
  lcp 3 small.mtx q.mtx --z0 near.mtx --max-sweeps 1 --json
  lcp 0 small.mtx q.mtx --z0 near.mtx -o z.mtx
  vector_near z.mtx 1e$((k - 4)) 1.3333333333e$k 2.3333333333e$k
done
# A penetrating contact with a coefficient of friction that is much larger than the penetration.
printf '3\n1\n0\n3\n3\n3\t3\n1 0 0 0 1 0 0 0 1\n-1 0.5 0\n1e6\n' >steep.dat
lcp 0 steep.dat -o z.mtx
vector_near z.mtx 1e-5 1 -0.5 0
for q in 5e-20 5e20; do
  printf '2\n0\n2\n2\n2\t2\n2 1\n1 2\n-%s -%s\n' $q $q >far.dat
  for backend in cpu gl; do
    [ $backend = gl ] && ! "$texsolve" info --backend gl >/dev/null 2>&1 && continue
    expect 0 lcp --backend $backend far.dat
  done
done
