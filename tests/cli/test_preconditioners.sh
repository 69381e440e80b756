# Every preconditioner of the command: solves, reports and refusals.
general='%%MatrixMarket matrix coordinate real general'
laplacian m.mtx 40
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 1600, 1
             for (i = 0; i < 1600; i++) print (i * 37) % 19 - 9.25 }' >b.mtx

# solves NAME ARGUMENTS...: sets $iterations, and checks x by its residual, computed here.
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
four=$iterations
solves block-jacobi --block-size 8
fewer "block-jacobi with blocks of 8" "$four"
solves chebyshev
fewer chebyshev $((jacobi / 2))
chebyshev=$iterations
solves chebyshev --degree 8
fewer "chebyshev of degree 8" "$chebyshev"
solves isai
fewer isai $((jacobi * 3 / 4))
solves ic
fewer ic $((jacobi / 2))
solves ic --levels 0
no_fill=$iterations
solves ic --levels 2
fewer "ic with 2 levels" "$no_fill"
solves ic --levels 2 --sweeps 8
fewer "ic by sweeps" "$no_fill"

# Direct, if it was built: a saddle point that no other preconditioner supports, a singular matrix, a missing
# module.
TEXSOLVE_DIRECT_MODULE=/nowhere/module.so
export TEXSOLVE_DIRECT_MODULE
refuse 1 'm.mtx: direct needs ' solve m.mtx --backend cpu --solver direct
expect 0 info --backend cpu
expect 0 info
grep -q '^direct *not available: direct needs ' ../log/out || fail "info does not say why direct is absent"
unset TEXSOLVE_DIRECT_MODULE
expect 0 info --json
if [ "$(json boolean direct.available)" = true ]; then
  json string direct.libraries >/dev/null
  solves direct
  checks=$((checks + 1))
  [ "$iterations" -le 3 ] || fail "direct took $iterations iterations"
  same "method with direct" "$(json string method)" richardson
  same "factors" "$(json string factors)" LDL^T
  printf '%s\n4 4 6\n2 2 3\n1 3 1\n3 1 1\n2 4 1\n4 2 1\n1 2 2\n' "$general" >saddle.mtx
  expect 0 solve saddle.mtx --backend cpu --solver direct --rtol 1e-14 -o x.mtx
  grep -q '^factors *LU: [0-9]* entries in ' ../log/out || fail "no line about the factors"
  near "residual of the saddle point" "$(residual saddle.mtx x.mtx)" 0 1e-13
  printf '%s\n3 3 5\n1 1 1\n1 2 2\n2 1 2\n2 2 4\n3 3 1\n' "$general" >singular.mtx
  refuse 1 'singular.mtx: row 2 is a combination of others: the matrix is singular' solve singular.mtx --backend cpu \
    --solver direct
fi

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
# A dominant diagonal leaves nothing to coarsen, which is reported.
awk 'BEGIN {
  n = 1500; print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
  for (i = 1; i <= n; i++) { print i, i, 100; if (i > 1) print i, i - 1, -1 }
}' >dominant.mtx
expect 0 solve dominant.mtx --backend cpu --preconditioner amg -v
grep -q '^stalled *at level 0: few of its rows are strongly coupled (hint: try a smaller --amg-strength)$' ../log/out ||
  fail "-v does not say that coarsening stalls"
grep -q "coarsening stalls on level 0: few of its 1500 rows are strongly coupled at strength 0.08" ../log/err ||
  fail "no warning that coarsening stalls"
expect 0 solve dominant.mtx --backend cpu --preconditioner amg --json
grep -q '"stalled": true' ../log/out || fail "--json does not say that coarsening stalls"
expect 0 solve m.mtx --backend cpu --preconditioner amg --json
grep -q '"stalled": false' ../log/out || fail "--json says that coarsening stalls"
expect 0 solve m.mtx --backend cpu --preconditioner amg --reorder random --json
checks=$((checks + 1))
[ "$(json integer iterations)" -le $((amg * 3 / 2)) ] || fail "amg in another order took $(json integer iterations)"

# elasticity W H: rods between the nodes of a grid and their 8 neighbours, fixed at x = 0. beam.mtx has two
# unknowns per node, nodes.mtx the nodes, and modes.mtx the rigid-body modes.
elasticity() {
  awk -v w="$1" -v h="$2" 'BEGIN {
    for (x = 1; x <= w; x++)
      for (y = 0; y < h; y++)
        for (dx = -1; dx <= 1; dx++)
          for (dy = -1; dy <= 1; dy++) {
            if (dx == 0 && dy == 0 || x + dx > w || y + dy < 0 || y + dy >= h) continue
            i = 2 * ((x - 1) * h + y); j = 2 * ((x + dx - 1) * h + y + dy); l = dx * dx + dy * dy
            d[1] = dx; d[2] = dy
            for (p = 1; p <= 2; p++)
              for (q = 1; q <= 2; q++) {
                a[i + p, i + q] += d[p] * d[q] / l
                if (x + dx > 0) a[i + p, j + q] -= d[p] * d[q] / l
              }
          }
    n = 2 * w * h
    for (at in a) { split(at, ij, SUBSEP); if (a[at] != 0 && ij[1] >= ij[2]) line[++lines] = ij[1] " " ij[2] " " a[at] }
    print "%%MatrixMarket matrix coordinate real symmetric\n" n, n, lines >"beam.mtx"
    for (k = 1; k <= lines; k++) print line[k] >"beam.mtx"
    print "%%MatrixMarket matrix array real general\n" n / 2, 2 >"nodes.mtx"
    for (k = 0; k < n / 2; k++) print int(k / h) + 1 >"nodes.mtx"
    for (k = 0; k < n / 2; k++) print k % h >"nodes.mtx"
    print "%%MatrixMarket matrix array real general\n" n, 3 >"modes.mtx"
    for (k = 0; k < n; k++) print 1 - k % 2 >"modes.mtx"
    for (k = 0; k < n; k++) print k % 2 >"modes.mtx"
    for (k = 0; k < n / 2; k++) print -(k % h) "\n" int(k / h) + 1 >"modes.mtx" }'
}
# beam ARGUMENTS...: sets $iterations
beam() {
  expect 0 solve beam.mtx --backend cpu --rtol 1e-8 --json -o x.mtx --preconditioner amg --amg-coarsest 30 "$@"
  near "residual with $*" "$(residual beam.mtx x.mtx)" 0 1.01e-8
  iterations=$(json integer iterations)
  rm -f x.mtx
}
elasticity 60 12
beam
plain=$iterations
beam --coordinates nodes.mtx
fewer "amg with coordinates" $((plain * 2 / 3))
modes=$iterations
beam --near-null-space modes.mtx --amg-unknowns 2
near "iterations with the same modes from a file" "$iterations" "$modes" 1
beam --near-null-space modes.mtx
beam --near-null-space modes.mtx --reorder rcm
fewer "amg with modes in another order" "$plain"

array='%%MatrixMarket matrix array real general'
with_amg() { refuse 1 "$1" solve beam.mtx --backend cpu --preconditioner amg "$2" "$3"; }
file wrong.mtx "$array" '2 3' 1 2 3 4 5 6
with_amg 'wrong.mtx:2: 2 rows, expected 1440, as many as beam.mtx has' --near-null-space wrong.mtx
with_amg 'wrong.mtx:2: 2 rows, expected 480, a node for each 3 rows of beam.mtx' --coordinates wrong.mtx
with_amg 'modes.mtx:2: 1440 rows, expected 480, a node for each 3 rows of beam.mtx' --coordinates modes.mtx
awk -v n=1440 'BEGIN { print "%%MatrixMarket matrix array real general"; print n, 9; for (i = 0; i < 9 * n; i++) print 1 }' >wrong.mtx
with_amg 'wrong.mtx:2: 9 columns, expected 1 to 8 vectors' --near-null-space wrong.mtx
with_amg 'wrong.mtx:2: 9 columns, expected 2 or 3 coordinates' --coordinates wrong.mtx
sed '7s/.*/nan/' modes.mtx >wrong.mtx
with_amg "wrong.mtx:7: value 'nan', expected a finite number" --near-null-space wrong.mtx
sed '7s/.*/inf/' nodes.mtx >wrong.mtx
with_amg "wrong.mtx:7: value 'inf', expected a finite number" --coordinates wrong.mtx
with_amg 'none.mtx: No such file or directory' --coordinates none.mtx
with_amg 'beam.mtx: 1440 rows, expected a multiple of 7 for --amg-unknowns 7' --amg-unknowns 7
refuse 1 'nodes.mtx:2: 2 columns, expected 3, as many as --amg-unknowns' solve beam.mtx --backend cpu \
  --preconditioner amg --amg-unknowns 3 --coordinates nodes.mtx
laplacian m.mtx 5
file wrong.mtx "$array" '12 2' 1 2 3 4 5 6 7 8 9 10 11 12 1 2 3 4 5 6 7 8 9 10 11 12
refuse 1 'wrong.mtx:2: 2 columns, expected a number that divides the 25 rows of m.mtx' solve m.mtx --backend cpu \
  --preconditioner amg --coordinates wrong.mtx
refuse 2 '--near-null-space and --coordinates are both given, expected one of them' solve beam.mtx --preconditioner amg \
  --coordinates nodes.mtx --near-null-space modes.mtx
for option in "--near-null-space modes.mtx" "--coordinates nodes.mtx" "--amg-unknowns 2"; do
  # shellcheck disable=SC2086
  refuse 2 "${option% *}: requires --preconditioner amg" solve beam.mtx $option
  # shellcheck disable=SC2086
  refuse 2 "${option% *}: requires --preconditioner amg" solve beam.mtx --preconditioner jacobi $option
done
for option in "--coordinates nodes.mtx" "--amg-unknowns 2"; do
  # shellcheck disable=SC2086
  refuse 2 "--reorder separates the unknowns of a node, expected none with ${option% *}" solve beam.mtx \
    --preconditioner amg --reorder rcm $option
done
refuse 2 "'-' given for several files" solve - --preconditioner amg --coordinates -
refuse 1 'modes.mtx: this output is also an input' solve beam.mtx --backend cpu --preconditioner amg \
  --near-null-space modes.mtx -o modes.mtx

# A block of unknowns with different units, at every scale of a file.
for scale in e-300 e-30 e0 e30 e290; do
  printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1%s\n2 2 1\n2 1 0.5%s\n' \
    "$scale" "$scale" | awk -v e="${scale#e}" 'NR == 4 { print "2 2 1e" e + 8; next } { print }' >units.mtx
  for name in block-jacobi isai amg; do
    expect 0 solve units.mtx --backend cpu --preconditioner $name --rtol 1e-10
  done
done

# auto, the default: Jacobi for small matrices, amg for a large graph diameter.
# chosen FILE KIND WHY
chosen() {
  expect 0 solve "$1" --backend cpu --json
  same "preconditioner of $1" "$(json string preconditioner)" "$2"
  same "choice for $1" "$(json string preconditioner_choice)" "$2: $3"
  expect 0 solve "$1" --backend cpu --preconditioner auto -v
  grep -qF "chosen      $2: $3" ../log/out || fail "-v does not say why $2"
  grep -q ", preconditioner $2\$" ../log/out || fail "the report does not say $2"
}
chosen m.mtx jacobi '25 rows, less than 8192'
laplacian m.mtx 92
# Auto begins with Chebyshev here, and stays with it.
expect 0 solve m.mtx --backend cpu --rtol 1e-8 --json
same "preconditioner that auto stays with" "$(json string preconditioner)" chebyshev
# With unknowns in different units, and larger, Jacobi turns out to be slower, and auto changes.
laplacian m.mtx 180
awk 'NR > 2 { $3 *= (1 + $1 % 7) * (1 + $2 % 7) } 1' m.mtx >units.mtx
expect 0 solve units.mtx --backend cpu --rtol 1e-8 --json
same "preconditioner that auto changes to" "$(json string preconditioner)" amg
json string preconditioner_choice | grep -qE '^amg: after [0-9]+ iterations of jacobi, with about [0-9]+ left' ||
  fail "the choice does not say after what: $(json string preconditioner_choice)"
# A grid needs a larger diameter, because a CPU multiplies by its diagonals; so it is numbered in another order.
laplacian m.mtx 100
chosen m.mtx chebyshev '10000 rows on few diagonals, a graph diameter of about 195, less than 1014'
awk 'NR > 2 { $1 = $1 * 37 % 10000 + 1; $2 = $2 * 37 % 10000 + 1; if ($1 < $2) { i = $1; $1 = $2; $2 = i } } 1' m.mtx >order.mtx
chosen order.mtx amg '10000 rows, a graph diameter of about 195, at least 190'
grep -q '^hierarchy' ../log/out || fail "no hierarchy of the amg that was chosen"
same "choice of -v" "$(grep -c '^chosen ' ../log/out)" 1
expect 0 solve m.mtx --backend cpu
grep -q '^chosen' ../log/out && fail "the choice without -v"
expect 0 solve m.mtx --backend cpu --preconditioner jacobi --json
same "choice of what is asked for" "$(json string preconditioner_choice)" ""

# Limits of the preconditioners. Messages name rows and entries of the file.
file m.mtx "$general" '3 3 4' '1 1 4' '2 1 1' '1 2 1' '3 3 4'
for name in chebyshev amg; do
  refuse 1 "m.mtx: row 2 has no entry on the diagonal, expected a" solve m.mtx --backend cpu --preconditioner $name
done
file m.mtx "$general" '2 2 2' '1 1 4' '2 2 -1'
refuse 1 'm.mtx: row 2 has a negative number on the diagonal, expected a positive number for --preconditioner amg' \
  solve m.mtx --backend cpu --preconditioner amg
# A system without a diagonal entry: x = (1 2 3) for b = (6 1 12).
file m.mtx "$general" '3 3 4' '1 1 4' '2 1 1' '1 2 1' '3 3 4'
file b.mtx '%%MatrixMarket matrix array real general' '3 1' 6 1 12
expect 0 solve m.mtx -b b.mtx --backend cpu --preconditioner isai --solver bicgstab -o x.mtx --json
vector_near x.mtx 1e-4 1 2 3
# Auto becomes ilu at once, and its matching finds a diagonal.
for option in "" "--fill 1" "--drop-tolerance 0" "--scaling matching" "--scaling none"; do
  expect 0 solve m.mtx -b b.mtx --backend cpu --preconditioner ilu --solver gmres $option -o x.mtx --json
  vector_near x.mtx 1e-4 1 2 3
done
expect 0 solve m.mtx -b b.mtx --backend cpu --preconditioner ilu --solver bicgstab --sweeps 3 -o x.mtx --json
vector_near x.mtx 1e-4 1 2 3
refuse 1 'isai finds that the matrix is not symmetric and positive definite, as cg and minres need' solve m.mtx --backend cpu \
  --preconditioner isai
file m.mtx "$general" '2 2 3' '1 1 4' '1 2 1' '2 2 4'
file b.mtx '%%MatrixMarket matrix array real general' '2 1' '6' '8'
for method in bicgstab idr gmres; do
  expect 0 solve m.mtx -b b.mtx --backend cpu --preconditioner amg --solver $method -o x.mtx
  vector_near x.mtx 1e-4 1 2
done
refuse 1 'amg was made for a matrix that is not symmetric' solve m.mtx --backend cpu --preconditioner amg --solver cg
refuse 1 'amg.smoother is chebyshev, which needs a symmetric matrix' solve m.mtx --backend cpu --preconditioner amg \
  --amg-smoother chebyshev
expect 0 solve m.mtx --backend cpu --preconditioner chebyshev
# Singular blocks and patterns. The library counts rows from 0 in the device's order, the command as in the
# file.
file m.mtx "$general" '6 6 8' '1 1 4' '2 2 4' '3 3 4' '4 4 4' '5 5 1' '5 6 1' '6 5 1' '6 6 1'
refuse 1 'm.mtx: the block of row 5 is singular; block Jacobi must invert it' solve m.mtx --backend cpu \
  --preconditioner block-jacobi --block-size 2
refuse 1 'm.mtx: the block of row ' solve m.mtx --backend cpu --preconditioner block-jacobi --block-size 2 --reorder rcm
# Singular parts get a shift: x = (1/4 1/4 1/4 1/4 y 1-y).
expect 0 solve m.mtx --backend cpu --preconditioner isai --solver gmres
expect 0 solve m.mtx --backend cpu --preconditioner ilu --solver gmres
