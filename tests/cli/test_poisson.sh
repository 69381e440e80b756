# `texsolve poisson`: refusals with their messages, and files of every form.

poisson() {
  refused=$1 text=$2
  shift 2
  refuse "$refused" "$text" poisson --backend cpu "$@"
}

# ---- Arguments ----
expect 0 help poisson
for option in size boundary centring sigma problem rhs coefficient solid output backend threads smoother storage \
  interpolation cycle pre post damping symmetric full levels coarsest-sweeps cg rtol max-cycles json quiet verbose; do
  grep -q -- "--$option" ../log/out || fail "help poisson does not mention --$option"
done
for size in 0 2 -5 1x 3x2 x33 33x33x33 1.5 99999999999 nan ''; do
  poisson 2 "--size: '$size', expected WIDTH or WIDTHxHEIGHT of 3 to 1048576 points" --size "$size"
done
poisson 2 "--size: '65536x65536' has 4294967296 points, expected at most 2147482624" --size 65536x65536
poisson 2 "--boundary: only one of left and right is periodic" --boundary periodic,neumann,neumann,neumann
poisson 2 "--boundary: only one of bottom and top is periodic" --boundary neumann,neumann,neumann,periodic
poisson 2 "--boundary: unknown boundary 'wall', expected dirichlet, neumann or periodic" --boundary wall
poisson 2 "--boundary: unknown boundary ''" --boundary neumann,,neumann,neumann
poisson 2 "--boundary: 'neumann,neumann' has 2 boundaries, expected 1 or 4" --boundary neumann,neumann
poisson 2 "--boundary: 'neumann,neumann,neumann,neumann,neumann' has 5 boundaries" \
  --boundary neumann,neumann,neumann,neumann,neumann
poisson 2 "--centring: 'corners', expected vertex or cell" --centring corners
for sigma in -1 nan inf 1x ''; do
  poisson 2 "--sigma: '$sigma', expected a number that is not negative" --sigma "$sigma"
done
poisson 2 "--problem: 'hard', expected smooth, variable, noise, jumps or obstacles" --problem hard
poisson 2 "--rhs and --problem variable, which defines all of its data" --rhs b.mtx --problem variable
poisson 2 "--smoother: 'sor', expected auto, jacobi" --smoother sor
poisson 2 "--storage: 'flat', expected auto, plain" --storage flat
poisson 2 "--interpolation: 'cubic', expected auto, bilinear" --interpolation cubic
poisson 2 "--cycle: 'Z', expected auto, V, W or F" --cycle Z
poisson 2 "--pre 0 and --post 0, expected at least one smoothing step" --pre 0 --post 0
poisson 2 "--post: '17', expected a whole number from 0 to 16" --post 17
for damping in 0 1.1 -1 nan; do
  poisson 2 "--damping: '$damping', expected a number above 0 and at most 1" --damping "$damping"
done
poisson 2 "--rtol: '1', expected a number between 0 and 1" --rtol 1
poisson 2 "--max-cycles: '0', expected" --max-cycles 0
poisson 2 "--levels: '0', expected" --levels 0
poisson 2 "--coarsest-sweeps: '1001', expected a whole number from 1 to 1000" --coarsest-sweeps 1001
poisson 2 "--cg and --full: a cycle as preconditioner starts from 0" --cg --full
poisson 2 "--cg and --cycle F, which is not a symmetric operator; expected V or W" --cg --cycle F
poisson 2 "'extra', expected options only" extra
poisson 2 "'-' given for several files" --rhs - --solid -
refuse 2 'unknown backend "metal"' poisson --backend metal

# ---- Refusals of files ----
array='%%MatrixMarket matrix array real general'
zeros() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) print 0 }'; }

poisson 1 "none.mtx: No such file or directory, expected a Matrix Market or NumPy file" --size 3 --rhs none.mtx
poisson 1 "--rhs .: Is a directory, expected a Matrix Market or NumPy file" --size 3 --rhs .
echo hello >words.npy
poisson 1 "--rhs words.npy: not a NumPy file" --size 3 --rhs words.npy
: >empty.npy
poisson 1 "--rhs empty.npy: not a NumPy file" --size 3 --rhs empty.npy
file wide.mtx "$array" '3 4' $(zeros 12)
poisson 1 "wide.mtx: 3 rows and 4 columns, expected 4 rows and 3 columns for a grid of 3x4" --size 3x4 --rhs wide.mtx
file nan.mtx "$array" '4 3' 0 0 0 0 0 0 nan 0 0 0 0 0
poisson 1 "nan.mtx:9: value 'nan'" --size 3x4 --rhs nan.mtx
file large.mtx "$array" '4 3' 0 0 0 0 0 0 1e39 0 0 0 0 0
expect 0 poisson --backend cpu --size 3x4 --rhs large.mtx -q
file k.mtx "$array" '3 3' 1 1 1 1 1 -2 1 1 1
poisson 1 "--coefficient k.mtx: row 3, column 2: -2, expected a positive number" --size 3 --coefficient k.mtx
file k.mtx "$array" '3 3' 1 1 1 1 0 2 1 1 1
poisson 1 "--coefficient k.mtx: row 2, column 2: 0, expected a positive number" --size 3 --coefficient k.mtx
file walls.mtx "$array" '3 3' 1 1 1 1 1 1 1 1 1
poisson 1 "--solid walls.mtx: all 9 points are walls" --size 3 --solid walls.mtx
poisson 1 "missing/x.mtx: No such file or directory, expected a file that can be written" -o missing/x.mtx
poisson 1 "walls.mtx: this output is also an input" --size 3 --solid walls.mtx -o walls.mtx

# npy NAME HEADER: a file of version 1 whose data, as printf escapes, comes from standard input.
npy() {
  printf '\223NUMPY\001\000' >"$1"
  printf "\\$(printf %03o "${#2}")\\000%s" "$2" >>"$1"
  printf "$(cat)" >>"$1"
}
f4="'descr': '<f4', 'fortran_order': False"
float_zero='\000\000\000\000' float_nan='\000\000\300\177' float_one='\000\000\200\077'
twelve() { for k in 1 2 3 4 5 6 7 8 9 10 11 12; do if [ "$k" = "$1" ]; then printf %s "$2"; else printf %s "$3"; fi; done; }
bad_npy() {
  poisson 1 "--rhs b.npy: $1" --size 3x4 --rhs b.npy
}

twelve 8 "$float_nan" "$float_zero" | npy b.npy "{$f4, 'shape': (4, 3), }"
bad_npy 'row 3, column 2: nan, expected a finite number'
twelve 0 '' "$float_zero" | npy b.npy "{$f4, 'shape': (3, 4), }"
bad_npy '3 rows and 4 columns, expected 4 rows and 3 columns'
twelve 0 '' "$float_zero" | npy b.npy "{$f4, 'shape': (12,), }"
bad_npy 'an array of 1 dimension, expected 2'
twelve 0 '' "$float_zero" | npy b.npy "{$f4, 'shape': (1, 4, 3), }"
bad_npy 'an array of 3 dimensions, expected 2'
printf '' | npy b.npy "{$f4, 'shape': (), }"
bad_npy 'an array of 0 dimensions, expected 2'
twelve 1 '' "$float_zero" | npy b.npy "{$f4, 'shape': (4, 3), }"
bad_npy 'the file ends after 11 numbers, expected 4 x 3'
twelve 1 "$float_zero$float_zero" "$float_zero" | npy b.npy "{$f4, 'shape': (4, 3), }"
bad_npy 'further bytes after 4 x 3 numbers'
for type in '<f2' '<c8' '|O' '<f16' '<M8[s]' '|f4' 'f4' '<U3' '<i3'; do
  twelve 0 '' "$float_zero" | npy b.npy "{'descr': '$type', 'fortran_order': False, 'shape': (4, 3), }"
  bad_npy "numbers of type '$type', expected f4, f8"
done
printf '' | npy b.npy "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4, 3), }"
bad_npy 'an array of records'
for header in '' '{' "{$f4}" "{$f4, 'shape': (4, 3)" "{$f4, 'shape': (4, -3)}" "{$f4, 'shape': (4, 3), 'more': 1}" \
  "{$f4, 'shape': (4, 99999999999999999999)}" "{$f4, 'shape': 12}" "{'shape': (4, 3), 'fortran_order': False}" \
  "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (4, 3)}" "{$f4, 'shape': (4, 3)} more"; do
  twelve 0 '' "$float_zero" | npy b.npy "$header"
  bad_npy 'the header is not a dictionary with descr, fortran_order and shape'
done
printf '\223NUMPY\001\000\300\000{' >b.npy
bad_npy 'the file ends inside its header'
printf '\223NUMPY\001' >b.npy
bad_npy 'not a NumPy file'
printf '\223NUMPY\011\000\001\000 ' >b.npy
bad_npy 'NumPy format version 9.0, expected 1 to 3'
printf '\223NUMPY\002\000\377\377\377\377' >b.npy
bad_npy 'a header of 4294967295 bytes, expected at most'

# ---- Problems with a known solution ----
solved() { expect 0 poisson --backend cpu --json "$@"; }

solved --size 65 --boundary dirichlet
same "converged" "$(json boolean converged)" true
near "error against the exact solution" "$(json number error_max)" 0 2e-5
[ "$(json number factor | awk '{ print ($1 < 0.1) }')" = 1 ] || fail "a factor of 0.1 or more"
same "history: an entry a cycle and one for the start" \
  "$("$json_get" array history <../log/out | tr -cd ',' | wc -c | tr -d ' ')" "$(json integer cycles)"
same "width" "$(json integer width)" 65
solved --size 64x48 --boundary periodic --centring cell --problem variable --sigma 2
near "error with periodic boundaries" "$(json number error_max)" 0 1e-2
solved --size 65 --boundary neumann
same "null-space components" "$(json integer null_space_components)" 1
near "error up to a constant" "$(json number error_max)" 0 1e-3
solved --size 65 --boundary mixed --cg --rtol 1e-4
same "method" "$(json string method)" cg
solved --size 65x33 --boundary dirichlet,neumann,periodic,periodic --problem jumps --max-cycles 1000
# The output is as accurate as the solve: on 257 points the h^2 of the discretisation is beyond single
# precision.
for method in "" --full --cg; do
  solved --size 257 --rtol 1e-10 $method
  for key in relative_residual rounded_relative_residual; do
    awk -v r="$(json number $key)" 'BEGIN { exit !(r > 0 && r <= 1e-10) }' || fail "$method $key: $(json number $key)"
  done
  same "$method: precision" "$(json string precision)" mixed
done
expect 3 poisson --backend cpu --json --size 257 --rtol 1e-10 --precision single
grep -q 'hint: try --precision auto, or a larger --rtol' ../log/err || fail "no hint"
same "x in floats" "$(json boolean converged)" false
awk -v r="$(json number rounded_relative_residual)" 'BEGIN { exit !(r > 1e-5) }' || fail "x in floats is too good"
expect 3 poisson --backend cpu --size 257 --rtol 1e-10 --cg --precision single
grep -q 'hint: try --precision auto, or a larger --rtol' ../log/err || fail "no hint"
expect 3 poisson --backend cpu --size 65 --max-cycles 1
grep -q 'not converged: the maximum of 1 cycles' ../log/err || fail "the reason is not said"
grep -q 'hint: try a larger --max-cycles, or --cg' ../log/err || fail "no hint"
grep -q '^    1  ' ../log/out || fail "the history is not shown"
{
  echo "$array"
  awk 'BEGIN {
    print "33 33"
    for (x = i = 0; i < 1089; i++) { x = (x * 1103 + 12345) % 65536; print x < 32768 ? "1e30" : "1e-30" }
  }'
} >extreme.mtx
expect 3 poisson --backend cpu --size 33 --coefficient extreme.mtx
grep -q 'diverged: the relative residual is not a number after 1 cycle' ../log/err || fail "NaN is not said"
expect 0 poisson --backend cpu --size 65 -q
[ -s ../log/out ] && fail "-q prints"

# ---- The same numbers in every kind of file ----
# Of 3 x 4 points with Dirichlet boundaries two are free: (1, 1) and (1, 2), h = 1/2, 4 (4 u1 - u2) = g1.
file g.mtx "$array" '4 3' 0 0 0 0 0 56 16 0 0 0 0 0
expected_u() {
  expect 0 poisson --backend cpu --size 3x4 --rhs "$1" -o u.mtx -q
  vector_near u.mtx 1e-5 0 0 0 0 0 4 2 0 0 0 0 0
}
expected_u g.mtx
file sparse.mtx '%%MatrixMarket matrix coordinate real general' '4 3 2' '2 2 56' '3 2 16'
expected_u sparse.mtx
# npy_of NAME TYPE ORDER NUMBERS...: 12 numbers, each given as printf escapes
numbers() {
  for k in 1 2 3 4 5 6 7 8 9 10 11 12; do
    case $k in "$1") printf %s "$2" ;; "$3") printf %s "$4" ;; *) printf %s "$5" ;; esac
  done
}
plain="'shape': (4, 3)"
numbers 5 '\000\000\140\102' 8 '\000\000\200\101' "$float_zero" | npy g.npy "{$f4, $plain}"
expected_u g.npy
numbers 5 '\102\140\000\000' 8 '\101\200\000\000' "$float_zero" |
  npy g.npy "{'descr': '>f4', 'fortran_order': False, $plain}"
expected_u g.npy
numbers 6 '\000\000\140\102' 7 '\000\000\200\101' "$float_zero" |
  npy g.npy "{'descr': '<f4', 'fortran_order': True, $plain, }"
expected_u g.npy
zero8="$float_zero$float_zero"
numbers 5 '\000\000\000\000\000\000\114\100' 8 '\000\000\000\000\000\000\060\100' "$zero8" |
  npy g.npy "{'descr': '<f8', 'fortran_order': False, $plain}"
expected_u g.npy
numbers 5 '\070' 8 '\020' '\000' | npy g.npy "{'descr': '|u1', 'fortran_order': False, $plain}"
expected_u g.npy
numbers 5 '\070\000' 8 '\020\000' '\000\000' | npy g.npy "{'descr': '<i2', 'fortran_order': False, $plain}"
expected_u g.npy
numbers 5 '\000\070' 8 '\000\020' '\000\000' | npy g.npy "{'descr': '>u2', 'fortran_order': False, $plain}"
expected_u g.npy
# A NumPy output is read back: it solves with g = 56 and 16, and then uses the output as the right-hand side.
expect 0 poisson --backend cpu --size 3x4 --rhs g.mtx -o u.npy -q
same "bytes of u.npy" "$(wc -c <u.npy | tr -d ' ')" 224
expect 0 poisson --backend cpu --size 3x4 --rhs u.npy -o v.mtx -q
vector_near v.mtx 1e-5 0 0 0 0 0 0.3 0.2 0 0 0 0 0
# A wall splits the rectangle; k = 2 everywhere halves u.
file k.mtx "$array" '4 3' 2 2 2 2 2 2 2 2 2 2 2 2
expect 0 poisson --backend cpu --size 3x4 --rhs g.mtx --coefficient k.mtx -o u.mtx -q
vector_near u.mtx 1e-5 0 0 0 0 0 2 1 0 0 0 0 0
numbers 8 '\001' 0 '' '\000' | npy walls.npy "{'descr': '|b1', 'fortran_order': False, $plain}"
expect 0 poisson --backend cpu --size 3x4 --rhs g.mtx --solid walls.npy -o u.mtx -q
vector_near u.mtx 1e-4 0 0 0 0 0 4.66667 0 0 0 0 0 0

# ---- Doubles in files ----
# The reported residual is that of the file's numbers, at every magnitude. poisson_check computes it from the
# files.
for boundary in dirichlet neumann; do
  kind=g
  [ "$boundary" = dirichlet ] || kind=g0
  for scales in "1 1" "1e-300 1" "1e300 1e300" "1 1e-300" "1e-200 1e-250" "1e20 1e-20"; do
    "$drivers" make k 33 "${scales% *}" k.mtx && "$drivers" make $kind 33 "${scales#* }" g.mtx || fail "poisson_check make"
    for backend in cpu ${TEXSOLVE_TEST_GL-gl}; do
      [ "$backend" = cpu ] || [ "$scales" = "1 1" ] || [ "$scales" = "1e-300 1" ] || continue
      for options in "" --full "--cg --rtol 1e-7" "--precision single"; do
        what="$backend, $boundary, k $scales g $options"
        run poisson --backend $backend --json --size 33 --boundary $boundary --coefficient k.mtx --rhs g.mtx -o u.mtx \
          --rtol 1e-11 $options
        grep -q 'not available\|no device' ../log/err && continue
        wanted=0
        [ "$options" = "--precision single" ] && wanted=3
        same "$what: exit status" "$status" $wanted
        true=$("$drivers" residual $boundary k.mtx g.mtx u.mtx)
        awk -v r="$(json number rounded_relative_residual)" -v t="$true" 'BEGIN { exit !(r > t / 1.1 && r < t * 1.1) }' ||
          fail "$what: residual $(json number rounded_relative_residual) reported, $true true"
      done
    done
  done
done

# A convergence factor needs two residuals.
expect 0 poisson --cg --size 3 --backend cpu
grep -qi nan ../log/out && fail "the report holds what is no number"
