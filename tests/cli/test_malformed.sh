# Files that are not Matrix Market files, or are incomplete: each error names the file, the line and what was
# expected.
general='%%MatrixMarket matrix coordinate real general'
symmetric='%%MatrixMarket matrix coordinate real symmetric'
array='%%MatrixMarket matrix array real general'
small_system

# bad TEXT LINES...: a matrix with these lines is refused.
bad() {
  text=$1
  shift
  file m.mtx "$@"
  refuse 1 "$text" solve m.mtx --backend cpu -o x.mtx --history h.csv
}
# bad_b TEXT LINES...: a right-hand side of three rows with these lines is refused.
bad_b() {
  text=$1
  shift
  file v.mtx "$@"
  refuse 1 "$text" solve spd.mtx -b v.mtx --backend cpu -o x.mtx
  refuse 1 "$text" solve spd.mtx --x0 v.mtx --backend cpu -o x.mtx
}

# Files
refuse 1 'absent.mtx: No such file' solve absent.mtx --backend cpu -o x.mtx
refuse 1 'absent.mtx: No such file' solve spd.mtx -b absent.mtx --backend cpu -o x.mtx
mkdir folder
refuse 1 'folder: Is a directory, expected a Matrix Market file' solve folder --backend cpu -o x.mtx
: >empty.mtx
refuse 1 "empty.mtx:1: an empty file, expected '%%MatrixMarket" solve empty.mtx --backend cpu -o x.mtx
refuse 1 'empty.mtx:1: an empty file' solve spd.mtx -b empty.mtx --backend cpu -o x.mtx
head -c 5000 "$texsolve" >binary.mtx
refuse 1 'binary.mtx:1: ' solve binary.mtx --backend cpu

# First line
bad "m.mtx:1: '3', expected '%%MatrixMarket" '3 3 1' '1 1 4'
bad "m.mtx:1: blanks before '%%MatrixMarket', expected it at the start of the line" " $general" '1 1 1' '1 1 4'
bad "m.mtx:1: a blank line, expected '%%MatrixMarket" '' "$general" '1 1 1' '1 1 4'
bad_b "v.mtx:1: blanks before '%%MatrixMarket'" "	$array" '3 1' 1 2 3
refuse 1 "m.mtx:1: a blank line" lcp m.mtx b.mtx --backend cpu
# A byte order mark is skipped, and content that is not UTF-8 text is reported.
for command in "solve m.mtx -b v.mtx" "lcp m.mtx v.mtx"; do
  for name in spd.mtx:m.mtx b.mtx:v.mtx; do
    printf '\357\273\277' | cat - "${name%:*}" >"${name#*:}"
  done
  # shellcheck disable=SC2086
  expect 0 $command --backend cpu -o x.mtx
  vector_near x.mtx 1e-4 $(if [ "${command%% *}" = solve ]; then echo 1 2 3; else echo 0 0 0; fi)
done
printf '\377\376%%\000' >m.mtx
refuse 1 "m.mtx:1: text in UTF-16, expected ASCII or UTF-8" solve m.mtx --backend cpu
# Compressed files. Those of gzip are read if the build has zlib (test_gzip.sh).
rm -f v.mtx
for program in ${TEXSOLVE_TEST_GZIP-gzip} bzip2 xz zstd; do
  command -v $program >/dev/null || continue
  $program -c spd.mtx >m.mtx
  refuse 1 "m.mtx: compressed by $program, expected a Matrix Market file (hint: \`$program -d' uncompresses it)" solve m.mtx --backend cpu
  refuse 1 "m.mtx: compressed by $program, expected" solve spd.mtx -b m.mtx --backend cpu
  refuse 1 "m.mtx: compressed by $program, expected a problem of Siconos or FCLIB" lcp m.mtx --backend cpu
  refuse 1 "m.mtx: compressed by $program, expected" poisson --size 5 --rhs m.mtx --backend cpu
  cp m.mtx m.npy
  refuse 1 "m.npy: compressed by $program, expected" poisson --size 5 --rhs m.npy --backend cpu
done
rm -f m.npy x.mtx
bad "m.mtx:1: object 'vector', expected 'matrix'" '%%MatrixMarket vector coordinate real general' '1 1 1' '1 1 4'
bad "m.mtx:1: format 'coord', expected" '%%MatrixMarket matrix coord real general' '1 1 1' '1 1 4'
bad 'm.mtx:1: a complex matrix, expected real, integer or pattern' \
  '%%MatrixMarket matrix coordinate complex general' '1 1 1' '1 1 4 0'
bad "m.mtx:1: field 'rational', expected" '%%MatrixMarket matrix coordinate rational general' '1 1 1' '1 1 4'
bad "m.mtx:1: symmetry '', expected" '%%MatrixMarket matrix coordinate real' '1 1 1' '1 1 4'
bad "m.mtx:1: symmetry 'lower', expected" '%%MatrixMarket matrix coordinate real lower' '1 1 1' '1 1 4'
bad "m.mtx:1: 'zero' after the symmetry" "$general zero" '1 1 1' '1 1 4'
bad "m.mtx:1: an array of field 'pattern'" '%%MatrixMarket matrix array pattern general' '1 1' '1'
bad 'm.mtx:1: a skew-symmetric pattern' '%%MatrixMarket matrix coordinate pattern skew-symmetric' '2 2 1' '2 1'

# Sizes
bad 'm.mtx:2: the file ends, expected a line of sizes' "$general" '% nothing more'
bad 'm.mtx:3: 2 numbers, expected ROWS COLUMNS ENTRIES' "$general" '% note' '3 3'
bad "m.mtx:2: '7' after the sizes" "$general" '3 3 1 7' '1 1 1'
bad "m.mtx:2: rows 'three'" "$general" 'three 3 1' '1 1 1'
bad "m.mtx:2: rows '-3'" "$general" '-3 3 1' '1 1 1'
bad "m.mtx:2: rows '0'" "$general" '0 0 0'
bad "m.mtx:2: columns '3.0'" "$general" '3 3.0 1' '1 1 1'
bad "m.mtx:2: entries '-1'" "$general" '3 3 -1' '1 1 1'
bad "m.mtx:2: rows '2147483648', expected a whole number from 1 to 2147482624" "$general" '2147483648 1 1' '1 1 1'
bad "m.mtx:2: rows '99999999999999999999999'" "$general" '99999999999999999999999 1 1' '1 1 1'
bad "m.mtx:2: entries '9223372036854775808'" "$general" '3 3 9223372036854775808' '1 1 1'
bad 'm.mtx:2: 3 rows and 4 columns, expected equal numbers of both' "$symmetric" '3 4 1' '1 1 1'
# A skew-symmetric array of 1 x 1 holds no values: as a matrix it is empty, as a right-hand side it is 0.
skew='%%MatrixMarket matrix array real skew-symmetric'
bad 'm.mtx:2: 0 entries leave some of the 1 rows empty' "$skew" '1 1'
file one.mtx "$general" '1 1 1' '1 1 2'
file zero.mtx "$skew" '1 1'
expect 0 solve one.mtx -b zero.mtx --backend cpu -o x.mtx -q
same "x with b = 0 of an array without values" "$(tail -n 1 x.mtx)" 0
rm one.mtx zero.mtx x.mtx

bad "m.mtx:2: rows '2147483647', expected a whole number from 1 to 2147482624" "$general" '2147483647 2147483647 1' '1 1 1'
bad 'm.mtx:2: 1 entries leave some of the 2147482624 rows empty' "$general" '2147482624 2147482624 1' '1 1 1'
bad 'm.mtx:3: the file ends after 1 entries, expected the 2147482624 of line 2' "$general" '3 3 2147482624' '1 1 1'
bad 'm.mtx:2: 2147482624 x 2147482624 values, expected at most 2147482624' "$array" '2147482624 2147482624' 1

# Entries
bad 'm.mtx:4: the file ends after 2 entries, expected the 3 of line 2' "$general" '3 3 3' '1 1 1' '2 2 1'
bad 'm.mtx:6: a further entry, expected no more than the 3 of line 2' "$general" '3 3 3' '1 1 1' '2 2 1' '3 3 1' '1 2 0'
bad 'm.mtx:5: no value, expected ROW COLUMN VALUE' "$general" '3 3 3' '1 1 1' '2 2 1' '3 3'
bad 'm.mtx:3: no value, expected ROW COLUMN VALUE' "$general" '1 1 1' '1 1'
bad 'm.mtx:3: one number, expected ROW COLUMN VALUE' "$general" '1 1 1' '1'
bad "m.mtx:3: '5' at the end of the line, expected ROW COLUMN VALUE" "$general" '1 1 1' '1 1 4 5'
bad "m.mtx:3: '#' at the end of the line" "$general" '1 1 1' '1 1 4 # note'
bad "m.mtx:4: row '0', expected a whole number from 1 to 3" "$general" '3 3 2' '1 1 1' '0 2 1'
bad "m.mtx:4: row '4', expected a whole number from 1 to 3" "$general" '3 3 2' '1 1 1' '4 2 1'
bad "m.mtx:4: column '4', expected a whole number from 1 to 3" "$general" '3 3 2' '1 1 1' '2 4 1'
bad "m.mtx:4: row '-1', expected" "$general" '3 3 2' '1 1 1' '-1 2 1'
bad "m.mtx:4: row '1.5', expected" "$general" '3 3 2' '1 1 1' '1.5 2 1'
bad "m.mtx:4: row '99999999999999999999', expected" "$general" '3 3 2' '1 1 1' '99999999999999999999 2 1'
bad "m.mtx:3: value 'four', expected a number" "$general" '1 1 1' '1 1 four'
bad "m.mtx:3: value '4,0', expected a number" "$general" '1 1 1' '1 1 4,0'
bad "m.mtx:3: value '4.0D+00', expected a number" "$general" '1 1 1' '1 1 4.0D+00'
bad "m.mtx:3: value '0x10', expected a number" "$general" '1 1 1' '1 1 0x10'
bad "m.mtx:3: value '.', expected a number" "$general" '1 1 1' '1 1 .'
bad "m.mtx:3: value '1e', expected a number" "$general" '1 1 1' '1 1 1e'
bad "m.mtx:3: value '4.5', expected a whole number" '%%MatrixMarket matrix coordinate integer general' '1 1 1' '1 1 4.5'
bad "m.mtx:3: '1' at the end of the line, expected ROW COLUMN" \
  '%%MatrixMarket matrix coordinate pattern general' '1 1 1' '1 1 1'
bad 'm.mtx:4: entry 1 2 above the diagonal' "$symmetric" '2 2 3' '1 1 4' '1 2 -1' '2 2 4'
bad 'm.mtx:3: entry 2 2 on the diagonal, expected none' '%%MatrixMarket matrix coordinate real skew-symmetric' '2 2 1' '2 2 1'
bad "m.mtx:3: row '%'" "$general" '1 1 1' ' % a comment starts in the first column' '1 1 4'
long=$(awk 'BEGIN { for (i = 0; i < 1100; i++) printf "x" }')
bad 'm.mtx:3: a line of 1102 characters, expected at most 1024' "$general" '1 1 1' "% $long" '1 1 4'
printf '%s\n1 1 1\n1 1 4\0004\n' "$general" >m.mtx
refuse 1 'm.mtx:3: ' solve m.mtx --backend cpu

# Vectors
bad_b 'v.mtx:4: the file ends after 2 values, expected the 3 of line 2' "$array" '3 1' 1 2
bad_b 'v.mtx:6: a further value, expected no more than the 3 of line 2' "$array" '3 1' 1 2 3 4
bad_b "v.mtx:3: '2' at the end of the line, expected one value" "$array" '3 1' '1 2' 3
bad_b "v.mtx:4: value 'two', expected a number" "$array" '3 1' 1 two 3
bad_b 'v.mtx:1: a complex matrix' '%%MatrixMarket matrix array complex general' '3 1' '1 0' '2 0' '3 0'
bad_b "v.mtx:2: '1' after the sizes, expected ROWS COLUMNS" "$array" '3 1 1' 1 2 3
bad_b "v.mtx:3: row '4', expected a whole number from 1 to 3" "$general" '3 1 1' '4 1 1'
