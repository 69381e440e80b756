# Any number of right-hand sides, in groups of four. Every column is checked here, and so are the report on all
# columns and the handling of columns that do not converge.
array='%%MatrixMarket matrix array real general'
backends=cpu
"$texsolve" info --backend gl >../log/out 2>&1 && backends="cpu gl"
laplacian m.mtx 12

# columns FILE COUNT [FIRST]: columns of 144 numbers on different scales. Every fourth column, starting with the
# third, is 0.
columns() {
  awk -v n="$2" -v first="${3-1}" 'BEGIN {
    print "%%MatrixMarket matrix array real general"; print 144, n
    for (c = first; c < first + n; c++) for (i = 0; i < 144; i++)
      print (c % 4 == 3 ? 0 : ((i * (30 + c) + c * c) % 19 - 9.25) * 10 ^ (25 * (c % 3 - 1))) }' >"$1"
}

# column FILE NUMBER: prints one column as a separate file.
column() {
  awk -v c="$2" -v rows="$(grep -v '^%' "$1" | head -n 1 | cut -d' ' -f1)" '
    /^%/ { next }
    !sized { sized = 1; print "%%MatrixMarket matrix array real general"; print rows, 1; next }
    ++k > (c - 1) * rows && k <= c * rows' "$1"
}

# largest FILES...: the largest number in them, and its place from 1.
largest() { awk '$1 > most { most = $1 + 0; text = $1; at = NR } END { print text, at }' "$@"; }

for backend in $backends; do
  for count in 1 2 4 5 9; do
    what="$backend, $count columns"
    columns b.mtx $count
    expect 0 solve m.mtx -b b.mtx --backend $backend --json -o x.mtx
    same "$what: right-hand sides" "$(json integer right_hand_sides)" $count
    same "$what: size of x" "$(sed -n 3p x.mtx)" "144 $count"
    same "$what: numbers of x" "$(values x.mtx | wc -w | tr -d ' ')" $((144 * count))
    same "$what: unsolved" "$(json array unsolved_columns)" '[]'
    : >../log/residuals
    c=1
    while [ $c -le $count ]; do
      column x.mtx $c >xc.mtx
      column b.mtx $c >bc.mtx
      if [ $((c % 4)) -eq 3 ]; then
        same "$what: x of column $c with b = 0" "$(values xc.mtx | tr ' ' '\n' | sort -u | tr '\n' ' ')" '0 '
        computed=0
      else
        computed=$(residual m.mtx xc.mtx bc.mtx)
        awk -v r="$computed" 'BEGIN { exit !(r > 0 && r <= 1e-5) }' || fail "$what: the residual of column $c is $computed"
      fi
      near "$what: residual of column $c" "$(json number relative_residuals.$((c - 1)))" "$computed" 1e-8
      json number relative_residuals.$((c - 1)) >>../log/residuals
      c=$((c + 1))
    done
    same "$what: the largest residual" "$(json number relative_residual) $(json integer worst_column)" "$(largest ../log/residuals)"
    iterations=$(json integer iterations) most=$(json integer iterations_of_group) groups=$(((count + 3) / 4))
    checks=$((checks + 1))
    [ "$most" -gt 0 ] && [ "$iterations" -ge "$most" ] && [ "$iterations" -le $((groups * most)) ] ||
      fail "$what: $iterations iterations in $groups groups, $most in one"
    [ $groups -gt 1 ] || same "$what: iterations of the only group" "$most" "$iterations"
  done
done

# Columns 5 to 8 of nine equal those of a separate solve, and so does the last one.
columns b.mtx 9
expect 0 solve m.mtx -b b.mtx --backend cpu --rtol 1e-12 -o nine.mtx
columns b.mtx 4 5
expect 0 solve m.mtx -b b.mtx --backend cpu --rtol 1e-12 -o four.mtx -q
columns b.mtx 1 9
expect 0 solve m.mtx -b b.mtx --backend cpu --rtol 1e-12 -o one.mtx -q
for c in 5 6 7 8 9; do
  [ $c -eq 9 ] && column one.mtx 1 >alone.mtx || column four.mtx $((c - 4)) >alone.mtx
  column nine.mtx $c >among.mtx
  same "column $c among nine" "$({ values alone.mtx; echo; values among.mtx; } |
    awk '{ for (i = 1; i <= NF; i++) if (NR == 1) { x[i] = $i; if ($i ^ 2 > m) m = $i ^ 2 } else if ((x[i] - $i) ^ 2 > 1e-22 * m) bad++ } END { print NR, bad + 0 }')" "2 0"
done

# The report, a start, another ordering, and the history of the groups.
columns b.mtx 9
expect 0 solve m.mtx -b b.mtx --backend cpu --history h.csv
grep -q '^matrix .*; 9 right-hand sides$' ../log/out || fail "the report does not count the right-hand sides"
grep -qE '^groups      3 of up to 4 columns, at most [1-9][0-9]* iterations in one$' ../log/out || fail "no groups in the report"
grep -qE '^residual .* of column [1-9], the largest, target 1e-05$' ../log/out || fail "no column with the largest residual"
grep -q '^unsolved' ../log/out && fail "unsolved columns in the report"
same "first line of the history" "$(head -n 1 h.csv)" iteration,sqrt_delta_ratio,first_column
same "groups of the history" "$(sed 1d h.csv | cut -d, -f3 | uniq | tr '\n' ' ')" '1 5 9 '
same "iterations in the history" "$(($(wc -l <h.csv) - 1))" "$(sed -n 's/^result .* after \([0-9]*\) iterations$/\1/p' ../log/out)"
same "first iterations in the history" "$(grep -c '^1,' h.csv)" 3
for how in "" "--reorder rcm" "--reorder random" "--precision double" "--backend multi:cpu+cpu"; do
  # shellcheck disable=SC2086
  expect 0 solve m.mtx -b b.mtx --x0 nine.mtx --backend cpu --json -o x.mtx $how
  same "iterations from the solution, $how" "$(json integer iterations)" 0
  same "x from the solution, $how" "$(values x.mtx)" "$(values nine.mtx)"
done
for how in "--reorder random" "--precision double" "--precision single --rtol 1e-3" "--solver bicgstab" "--solver idr" "--solver gmres" \
  "--preconditioner amg" "--backend multi:cpu+cpu" "--stop delta"; do
  # shellcheck disable=SC2086
  expect 0 solve m.mtx -b b.mtx --backend cpu --json -o x.mtx $how
  for c in 5 9; do
    column x.mtx $c >xc.mtx
    column b.mtx $c >bc.mtx
    near "$how: residual of column $c" "$(json number relative_residuals.$((c - 1)))" "$(residual m.mtx xc.mtx bc.mtx)" 1e-8
  done
done
columns v.mtx 5
refuse 1 'v.mtx:2: 5 columns, expected 9, as many as b has' solve m.mtx -b b.mtx --x0 v.mtx --backend cpu -o y.mtx
file v.mtx "$array" '9 144' 1
refuse 1 'v.mtx:3: the file ends after 1 values' solve m.mtx -b v.mtx --backend cpu -o y.mtx
file v.mtx '%%MatrixMarket matrix coordinate real general' '9 144 1' '1 1 1'
refuse 1 'v.mtx:2: 9 rows, expected 144, as many as m.mtx has' solve m.mtx -b v.mtx --backend cpu -o y.mtx
file v.mtx '%%MatrixMarket matrix coordinate real general' '144 2000000000 1' '1 1 1'
refuse 1 'v.mtx:2: 144 x 2000000000 values, expected at most 2147483647' solve m.mtx -b v.mtx --backend cpu -o y.mtx
sed "$((2 + 144 * 6 + 20))s/.*/nan/" b.mtx >v.mtx
refuse 1 "v.mtx:886: value 'nan', expected a finite number" solve m.mtx -b v.mtx --backend cpu -o y.mtx
# On OpenGL blocks solve one column at a time.
if [ "$backends" != cpu ]; then
  columns b.mtx 3
  expect 0 solve m.mtx -b b.mtx --backend gl --format bcrs2 -o x.mtx
  grep -q '^groups      3 of 1 column, ' ../log/out || fail "gl in blocks: no groups of one column"
  column x.mtx 2 >xc.mtx
  column b.mtx 2 >bc.mtx
  near "gl in blocks: residual of column 2" "$(residual m.mtx xc.mtx bc.mtx)" 0 1e-5
fi

# The report names columns that do not converge. On a diagonal matrix without a preconditioner, conjugate
# gradients take one iteration for a column with a single nonzero, and more for a column with nine.
file d.mtx '%%MatrixMarket matrix coordinate real symmetric' '9 9 9' '1 1 1' '2 2 2' '3 3 3' '4 4 4' '5 5 5' '6 6 6' '7 7 7' '8 8 8' '9 9 9'
hard() { # NUMBERS...: the columns, of nine, that have nine nonzeros
  awk -v hard=" $* " 'BEGIN {
    print "%%MatrixMarket matrix array real general"; print 9, 9
    for (c = 1; c <= 9; c++) for (i = 1; i <= 9; i++) print (index(hard, " " c " ") ? i + c : (i == c)) }' >h.mtx
}
few="--preconditioner none --max-iterations 2 --check-interval 1"
for backend in $backends; do
  hard 3 7 8 9
  # shellcheck disable=SC2086
  expect 3 solve d.mtx -b h.mtx --backend $backend $few -o x.mtx --json
  same "$backend: unsolved" "$(json array unsolved_columns)" '[3,7,8,9]'
  same "$backend: reason" "$(json string reason)" max_iterations
  same "$backend: converged" "$(json boolean converged)" false
  worst=$(json integer worst_column)
  grep -q "d.mtx: not converged: columns 3, 7 to 9 of 9, the worst is $worst: the maximum of 2 iterations was reached" ../log/err ||
    fail "$backend: the columns are not named"
  [ "$(wc -l <../log/err)" -eq 1 ] || fail "$backend: not one line on standard error"
  near "$backend: column 6 of x" "$(column x.mtx 6 | values /dev/stdin | cut -d' ' -f6)" 0.166666667 1e-6
  # shellcheck disable=SC2086
  expect 3 solve d.mtx -b h.mtx --backend $backend $few
  grep -q '^unsolved    columns 3, 7 to 9: 4 of 9$' ../log/out || fail "$backend: the report does not name the columns"
  grep -q '^result      not converged after [1-6] iterations$' ../log/out || fail "$backend: no iterations of all groups"
done
hard 6
# shellcheck disable=SC2086
expect 3 solve d.mtx -b h.mtx --backend cpu $few
grep -q 'not converged: column 6 of 9: the maximum of 2' ../log/err || fail "the only column is not named"
grep -q '^unsolved    column 6: 1 of 9$' ../log/out || fail "the report does not name the only column"
# Also in a group of four.
awk 'NR == 2 { print 9, 2 } NR != 2 && NR <= 20' h.mtx >v.mtx
sed 's/^0$/2/' v.mtx >w.mtx
# shellcheck disable=SC2086
expect 3 solve d.mtx -b w.mtx --backend cpu $few --json
same "unsolved of two" "$(json array unsolved_columns)" '[1,2]'
# In text for people a long list is shortened with dots.
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 9, 200
  for (c = 1; c <= 200; c++) for (i = 1; i <= 9; i++) print (c % 2 ? i : i == 3) }' >v.mtx
# shellcheck disable=SC2086
expect 3 solve d.mtx -b v.mtx --backend cpu $few
grep -q '^unsolved    columns 1, 3, 5, .*, \.\.\.: 100 of 200$' ../log/out || fail "no long list"
