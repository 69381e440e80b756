# Maps on the backend of the group: results, reports, files and pictures.
export OMP_NUM_THREADS=1
run_all() {
  wanted=$1
  shift
  expect "$wanted" "$@" --backend $group
}
# flat FILE: computes from an OBJ file with u, v at every corner: the number of triangles, of flipped ones, the smallest and
# largest u or v, and the largest quasi-conformal ratio.
flat() {
  awk '
    $1 == "v" { n++; x[n] = $2; y[n] = $3; z[n] = $4 }
    $1 == "vt" { m++; u[m] = $2; v[m] = $3; for (k = 2; k <= 3; k++) { if (!(low < $k)) low = $k; if ($k > high) high = $k } }
    BEGIN { low = 1e9; high = -1e9 }
    $1 == "f" {
      for (k = 0; k < 3; k++) { split($(k + 2), part, "/"); p[k] = part[1]; t[k] = part[2] }
      a = p[0]; b = p[1]; c = p[2]
      ux = x[b] - x[a]; uy = y[b] - y[a]; uz = z[b] - z[a]; vx = x[c] - x[a]; vy = y[c] - y[a]; vz = z[c] - z[a]
      l = sqrt(ux * ux + uy * uy + uz * uz); along = (ux * vx + uy * vy + uz * vz) / l
      across = sqrt(vx * vx + vy * vy + vz * vz - along * along)
      fu = (u[t[1]] - u[t[0]]) / l; fv = (v[t[1]] - v[t[0]]) / l
      gu = (u[t[2]] - u[t[0]] - fu * along) / across; gv = (v[t[2]] - v[t[0]] - fv * along) / across
      s = sqrt((fu + gv) ^ 2 + (fv - gu) ^ 2); d = sqrt((fu - gv) ^ 2 + (gu + fv) ^ 2)
      triangles++
      if (s <= d) flipped++
      else if ((s + d) / (s - d) > ratio) ratio = (s + d) / (s - d)
    }
    END { print triangles + 0, flipped + 0, low, high, ratio }' "$1"
}

# degenerate FILE [single]: the numbers of flipped and of degenerate triangles of such a file, for u and v as in the file or
# rounded to single precision.
degenerate() {
  awk -v rounds="${2:-}" '
    function single(x, s, q) {
      if (x == 0 || rounds == "") return x
      s = x < 0 ? -1 : 1; x *= s; q = 2 ^ -23
      while (x >= 2 * q * 2 ^ 23) q *= 2
      while (x < q * 2 ^ 23) q /= 2
      return s * int(x / q + 0.5) * q
    }
    $1 == "vt" { m++; u[m] = single($2); v[m] = single($3) }
    $1 == "f" {
      for (k = 0; k < 3; k++) { split($(k + 2), part, "/"); t[k] = part[2] }
      fu = u[t[1]] - u[t[0]]; fv = v[t[1]] - v[t[0]]; gu = u[t[2]] - u[t[0]]; gv = v[t[2]] - v[t[0]]
      area = fu * gv - fv * gu; size = fu * fu + fv * fv + gu * gu + gv * gv
      if (area <= 1e-10 * size && area >= -1e-10 * size) collapsed++
      else if (area < 0) flipped++
    }
    END { print flipped + 0, collapsed + 0 }' "$1"
}

# Pictures need OpenGL on every backend, and are refused without it.
pictures=yes picture="--picture face.png --picture-size 320x160"
# shellcheck disable=SC2086
if ! "$program" --generate cap:60 --headless --backend $group $picture >../log/out 2>../log/err; then
  case ",${TEXSOLVE_TEST_REQUIRE:-}," in
  *,gl,*) fail "no picture" ;;
  *) grep -q 'cannot draw a picture' ../log/err || fail "no picture" ;;
  esac
  pictures=no picture=
fi

# A typical first command.
# shellcheck disable=SC2086
run_all 0 --generate face:300 -o face.obj $picture
for word in mesh charts pins backend result residual angles areas flipped map seconds written \
  ${picture:+picture}; do
  grep -q "^$word " ../log/out || fail "the report lacks the line '$word'"
done
same "standard error" "$(cat ../log/err)" ''
[ $pictures = no ] || is_png face.png 320x160
grep -q 'flipped  *0 triangles' ../log/out || fail "triangles of the face are flipped"

# The numbers of the report, compared with the written file.
OMP_NUM_THREADS=2
# shellcheck disable=SC2086
run_all 0 face.obj -o again.obj $picture --json --threads 3
OMP_NUM_THREADS=1
case $group.$pictures in
gl.yes) same drawn "$(json string drawn)" texture ;;
cpu.yes) same drawn "$(json string drawn)" "copied through the host" ;;
*.no) same drawn "$(json null drawn >/dev/null && echo null)" null ;;
esac
same backend "$(json string backend)" $group
# 1: built without threads
[ $group != cpu ] || holds "threads" "$(json integer threads) == 3 || $(json integer threads) == 1"
same vertices "$(json integer vertices)" "$(vertices face.obj)"
same "vertices written" "$(vertices again.obj)" "$(vertices face.obj)"
same triangles "$(json integer triangles)" "$(grep -c '^f ' again.obj)"
same converged "$(json boolean solution.converged)" true
holds "residual" "$(json number solution.residual) <= 1e-6 && $(json number solution.residual_start) > 1e-3"
holds "iterations" "$(json integer solution.iterations) > 10 && $(json integer solution.passes) > 0"
same unknowns "$(json integer solution.unknowns)" $((2 * $(vertices face.obj) - 4))
same rows "$(json integer solution.rows)" $((2 * $(grep -c '^f ' face.obj)))
if [ $group = gl ]; then # blocks; but matrices this small do not use them on a GPU
  case "$(json string solution.choice)" in
  "bcrs2: "*) format=bcrs2 ;;
  "jagged: few entries; "*) format=jagged ;;
  *) fail "an unexpected choice: $(json string solution.choice)" ;;
  esac
  same format "$(json string solution.format)" "$format"
fi
holds "angles" "$(json number distortion.angle.mean) > 1 && $(json number distortion.angle.mean) < 1.1"
holds "areas" "$(json number distortion.area.least) > 0 && $(json number distortion.area.largest) > 1"
same flipped "$(json integer distortion.flipped)" 0
# shellcheck disable=SC2046
set -- $(flat again.obj)
same "triangles" "$1" "$(json integer triangles)"
same "flipped in the file" "$2" 0
holds "in the unit square" "$3 > 0 && $4 < 1 && $4 > 0.9"
holds "the largest ratio" "$5 / $(json number distortion.angle.largest) - 1 < 1e-3 && 1 - $5 / $(json number distortion.angle.largest) < 1e-3"

# After the file is read again, the mesh's vertices are unchanged and the map is bit-identical.
run_all 0 again.obj -o third.obj -q
same "what -q says" "$(cat ../log/out ../log/err)" ''
cmp -s again.obj third.obj || fail "the same mesh gave another map"

# The map of a developable mesh is exact.
run_all 0 --generate bent:200 -o bent.obj --rtol 1e-8 --json
holds "developable" "$(json number distortion.angle.largest) < 1.00001 && $(json number distortion.area.largest) < 1.001"
# shellcheck disable=SC2046
set -- $(flat bent.obj)
holds "developable in the file" "$5 < 1.001 && $2 == 0"

# Several parts. Closed ones are cut.
run_all 0 --generate patches:300 --json -o patches.obj
same "charts" "$(grep -c '"boundary_loops": 1' ../log/out)" 4
# shellcheck disable=SC2046
set -- $(flat patches.obj)
holds "in the unit square" "$3 > 0 && $4 < 1 && $2 == 0"
run_all 0 --generate sphere:100 --cut -o sphere.obj --json
said "1 closed part and 0 handles cut open along $(json integer cut_edges) edges"
same "vertices stay" "$(vertices sphere.obj)" "$(json integer vertices)"
holds "the cut has two sides" "$(json integer flat_vertices) > $(json integer vertices)"
run_all 0 --generate torus:200 --cut -o torus.ply --json
same handles "$(json integer handles)" 1
head -c 600 torus.ply | grep -a -q "^element vertex $(json integer flat_vertices)" || fail "torus.ply does not have the flat vertices"
head -c 600 torus.ply | grep -a -q '^property float u' || fail "torus.ply has no u"

# Pins.
run_all 0 bent.obj --pin 0,10,20 --pin 13,11,20 -o pinned.obj --json
same pins "$(json integer pins)" 2
same "not packed" "$(json null covered >/dev/null && echo null)" null
grep -q '^vt 10 20' pinned.obj || fail "the pinned vertex is not in its position"
grep -q '^vt 11 20' pinned.obj || fail "the second pinned vertex is not in its position"

# All formats give the same map.
formats="csr bcrs2 bcrs4"
[ $group = gl ] && formats="jagged segments bcrs2 bcrs4"
[ $group = cuda ] && formats="csr jagged segments bcrs2 bcrs4"
for format in $formats; do
  run_all 0 --generate cap:100 --format $format --json
  same format "$(json string solution.format)" $format
  holds "angles with $format" "$(json number distortion.angle.mean) > 1.01 && $(json number distortion.angle.mean) < 1.3"
done
run_all 0 --generate cap:100 --start plane
run_all 0 --generate face:5000 --preconditioner jacobi --rtol 1e-4 --json
holds "a coarser mesh" "$(json integer solution.levels) == 1 && $(json integer solution.levels_iterations) > 10"
levels=$(json integer solution.iterations) angle=$(json number distortion.angle.mean)
run_all 0 --generate face:5000 --preconditioner jacobi --rtol 1e-4 --start distances --json
holds "iterations less" "$levels < $(json integer solution.iterations)"
holds "the same map" "$angle / $(json number distortion.angle.mean) - 1 < 1e-3 && 1 - $angle / $(json number distortion.angle.mean) < 1e-3"
run_all 0 --generate face:5000 --preconditioner amg --rtol 1e-5 --json
same preconditioner "$(json string solution.preconditioner)" amg
holds "coarser levels" "$(json integer solution.coarser_levels) >= 2 && $(json integer solution.iterations) < 100"
holds "the same map by amg" "$angle / $(json number distortion.angle.mean) - 1 < 1e-3 && 1 - $angle / $(json number distortion.angle.mean) < 1e-3"
run_all 0 --generate face:5000 --preconditioner amg -v
grep -q '^precond.  *amg, [2-9] coarser levels' ../log/out || fail "the report does not name amg"
# The default is amg for a large chart. It is jacobi for any number of small charts, and with options that exclude amg.
run_all 0 --generate face:5000 --json
same "preconditioner by default" "$(json string solution.preconditioner)" amg
holds "iterations by default" "$(json integer solution.iterations) < 100"
for small in "--generate face:1000" "--generate patches:5000" "--generate face:3000 --rtol 1e-2 --normal applied"; do
  # shellcheck disable=SC2086
  run_all 0 $small --json
  same "preconditioner of $small" "$(json string solution.preconditioner)" jacobi
done
run_all 0 --generate face:1000 --preconditioner auto -v
grep -q '^precond.  *jacobi$' ../log/out || fail "the report does not name jacobi"
# A torus of long triangles, and many parts.
if [ $group = cpu ]; then # the set-up runs on the host for every backend
  run_all 0 --generate torus:10000 --cut --preconditioner amg --json
  holds "iterations of a torus" "$(json integer solution.iterations) < 250"
fi
awk 'BEGIN {
  for (part = 0; part < 500; part++) {
    for (y = 0; y < 4; y++) for (x = 0; x < 4; x++) print "v", 5 * part + x + 0.1 * y, y, (x - 1.5) ^ 2 / 5
    for (y = 0; y < 3; y++) for (x = 0; x < 3; x++) { a = 16 * part + 4 * y + x + 1; print "f", a, a + 1, a + 5; print "f", a, a + 5, a + 4 }
  }
}' >parts.obj
run_all 0 parts.obj --preconditioner amg --json
holds "iterations of many parts" "$(json integer solution.iterations) < 60"
# A sieve with 400 holes.
awk 'BEGIN {
  n = 41
  for (y = 0; y <= n; y++) for (x = 0; x <= n; x++) print "v", x, y, (x - y) ^ 2 / 100
  for (y = 0; y < n; y++) for (x = 0; x < n; x++) {
    a = (n + 1) * y + x + 1
    if (x % 2 == 0 || y % 2 == 0) { print "f", a, a + 1, a + n + 1; print "f", a + 1, a + n + 2, a + n + 1 }
  }
}' >sieve.obj
run_all 0 sieve.obj --preconditioner amg --json
same preconditioner "$(json string solution.preconditioner)" amg
holds "iterations of a sieve" "$(json integer solution.iterations) < 200"
run_all 0 sieve.obj
same "without being asked for" "$(cat ../log/err)" ''

# The tip of a finger is smaller than the distance of two floats. u and v are written in double precision, and the report
# describes the written file.
awk 'BEGIN {
  n = 12; rings = 60; pi = 3.14159265358979
  for (r = 0; r <= rings; r++) for (k = 0; k < n; k++) { a = 2 * pi * (k + r / 2) / n; print "v", cos(a), sin(a), 0.45 * r }
  print "v", 0, 0, 0.45 * rings + 0.3
  for (r = 0; r < rings; r++) for (k = 0; k < n; k++) {
    a = r * n + k + 1; b = r * n + (k + 1) % n + 1
    print "f", a, b, a + n; print "f", b, b + n, a + n
  }
  for (k = 0; k < n; k++) print "f", rings * n + k + 1, rings * n + (k + 1) % n + 1, (rings + 1) * n + 1
}' >finger.obj
for preconditioner in jacobi amg; do
  run_all 0 finger.obj --preconditioner $preconditioner -o fingertip.obj --json
  same "precision of u and v" "$(json string uv_precision)" double
  same "triangles of the tip without area" "$(json integer distortion.collapsed)" 0
  same "flipped and collapsed in the file" "$(json integer distortion.flipped) $(json integer distortion.collapsed)" \
    "$(degenerate fingertip.obj)"
  # shellcheck disable=SC2046
  set -- $(degenerate fingertip.obj single)
  holds "single precision would not do" "$1 + $2 > 400"
done
run_all 0 finger.obj -o fingertip.ply
head -c 600 fingertip.ply | grep -a -q '^property double u' || fail "fingertip.ply has no u in double precision"
grep -q '^written .*fingertip.ply, u and v in double precision' ../log/out || fail "the report does not name the precision"
# Otherwise nine digits are enough, read in either precision.
for what in face:3000 scan:3000; do
  run_all 0 --generate $what -o nine.obj --json
  same "precision of u and v of $what" "$(json string uv_precision)" single
  same "longest u" "$(awk '$1 == "vt" && length($2) > 13' nine.obj | head -n 1)" ''
  for precision in '' single; do
    same "flipped and collapsed of $what $precision" \
      "$(json integer distortion.flipped) $(json integer distortion.collapsed)" "$(degenerate nine.obj $precision)"
  done
done

run_all 0 --bench --generate cap:100 --json
same "formats timed" "$(grep -c '"format": ' ../log/out)" "$(echo $formats | wc -w)"
run_all 0 --bench --generate cap:100
grep -q '^bcrs2 ' ../log/out || fail "the benchmark does not list bcrs2"

# Without convergence there is a message, and the last iterate is written.
run_all 3 --generate face:300 --max-iterations 5 -o reached.obj --json
said "generated face:300: not converged: a residual of "
same "lines on standard error" "$(wc -l <../log/err)" 1
same converged "$(json boolean solution.converged)" false
[ -s reached.obj ] || fail "the last iterate is not written"

# A maximum that a later pass reaches is reported as it was given.
run_all 0 --generate face:300 --rtol 1e-4 --json
most=$(($(json integer solution.iterations) + 5))
run_all 3 --generate face:300 --rtol 1e-9 --max-iterations $most --json
holds "passes" "$(json integer solution.passes) > 1"
said "the maximum of $most iterations was reached"

# Pictures.
if [ $pictures = yes ]; then
  run_all 0 --generate face:300 --picture plain.png --picture-size 320x160 -q
  for look in --wireframe "--squares 0" "--colour angle" "--colour area"; do
    # shellcheck disable=SC2086
    run_all 0 --generate face:300 --picture look.png --picture-size 320x160 $look -q
    is_png look.png 320x160
    differ plain.png look.png
  done
  # If a picture cannot be written the older one remains, and there is no temporary file.
  echo old >look.png
  (
    trap '' XFSZ
    ulimit -f 2
    run_all 1 --generate face:300 --picture look.png --picture-size 320x160 -q
  )
  said "look.png: "
  same "the older picture" "$(cat look.png)" old
  same "files beside it" "$(ls look.png*)" look.png
fi
