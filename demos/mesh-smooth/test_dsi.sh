# Discrete smooth interpolation on the backend of the group. Uses functions and files of test_flow.sh.
run_dsi() {
  wanted=$1
  shift
  run_all "$wanted" "$@" --method dsi
}

run_dsi 0 noisy.obj -o interpolated.ply -v
for word in mesh backend dsi matrix choice method result roughness area volume seconds written; do
  grep -q "^$word " ../log/out || fail "the report lacks the line '$word'"
done
same "standard error" "$(cat ../log/err)" ''
run_dsi 0 noisy.obj --steps 0 -o again.obj
cmp -s noisy.obj again.obj || fail "--steps 0 has changed the mesh"

run_dsi 0 noisy.obj -o interpolated.obj --json
same method "$(json string method)" dsi
same steps "$(json integer total.steps)" 1
same converged "$(json boolean total.converged)" true
same weights "$(json string dsi.weights)" uniform
same "normal equations" "$(json string dsi.normal_equations)" formed
for key in format dsi.choice; do
  [ -n "$(json string $key)" ] || fail "$key is empty"
done
holds "the roughness falls" "$(json number dsi.roughness) < 0.5 * $(json number dsi.roughness_before)"
holds "the area falls" "$(json number total.area) < $(json number area)"
holds "rows" "$(json integer dsi.rows) == 2 * $(json integer vertices)"
holds "the residual" "$(json number steps.0.relative_residual) < 1e-4"
held=$(json number dsi.roughness)
run_dsi 0 noisy.obj --fit 10 --weights cotangent --json
same weights "$(json string dsi.weights)" cotangent
run_dsi 0 noisy.obj --fit 10 --json
holds "more fit, more roughness" "$(json number dsi.roughness) > $held"

# Control points are in their places, exactly or by weight. Other vertices keep their positions, without the noise.
file points.txt '# vertex x y z' '0 0 0 1.5 fixed' '' '5 2 0 0 # fixed too' '9 0.25 -2 0.5 0.5'
run_dsi 0 noisy.obj --control points.txt --fix 20,21 -o held.obj --json
same "fixed control points" "$(json integer dsi.fixed_control_points)" 4
same "soft control points" "$(json integer dsi.soft_control_points)" 1
same "vertices that do not move" "$(json integer constrained_vertices)" 4
same "the first control point" "$(grep '^v ' held.obj | sed -n 1p)" "v 0 0 1.5"
same "the second control point" "$(grep '^v ' held.obj | sed -n 6p)" "v 2 0 0"
same "fixed vertices" "$(grep '^v ' held.obj | sed -n 21,22p)" "$(grep '^v ' noisy.obj | sed -n 21,22p)"
sed '1d' points.txt >bare.txt
{ printf '\357\273\277' && cat bare.txt; } >marked.txt
run_dsi 0 noisy.obj --control marked.txt --fix 20,21 -o marked.obj -q
cmp -s held.obj marked.obj || fail "a byte order mark changes the control points"
# Control points are in the coordinates of the file.
awk '$1 == "v" { $2 = sprintf("%.9f", $2 + 4500000) } { print }' noisy.obj >distant.obj
awk '!/^#/ && NF { $2 = sprintf("%.9f", $2 + 4500000) } { print }' points.txt >distant.txt
run_dsi 0 distant.obj --control distant.txt --fix 20,21 -o distant-held.obj -q
same "the first distant control point" "$(grep '^v ' distant-held.obj | sed -n 1p)" "v 4500000 0 1.5"
same "the second distant control point" "$(grep '^v ' distant-held.obj | sed -n 6p)" "v 4500002 0 0"
# A soft control point with more weight is nearer to its place. far_from FILE: the distance from its place
far_from() {
  grep '^v ' "$1" | sed -n 10p | awk '{ print sqrt(($2 - 0.25) ^ 2 + ($3 + 2) ^ 2 + ($4 - 0.5) ^ 2) }'
}
light=$(far_from held.obj)
sed 's/0.5 0.5/0.5 50/' points.txt >heavy.txt
run_dsi 0 noisy.obj --control heavy.txt -o heavy.obj -q
holds "a heavy control point" "$(far_from heavy.obj) < 0.1 * $light && $(far_from heavy.obj) > 1e-4"

# Boundaries.
run_dsi 0 scan.obj -o fixed.obj --json
same "boundary vertices stay" "$(unmoved scan.obj fixed.obj)" "$(json integer constrained_vertices)"
run_dsi 0 scan.obj -o free.obj --boundary free --json
same boundary "$(json string boundary)" free
holds "boundary vertices are free" "$(unmoved scan.obj free.obj) < 10"

# A tolerance far below single precision.
run_dsi 0 noisy.obj --rtol 1e-12 --json
holds "the residual" "$(json number steps.0.relative_residual) <= 1e-12"
# Without convergence the result is written, with exit status 3. With --iterations that is not an error.
run_dsi 3 noisy.obj --rtol 1e-30 -o reached.obj --json
said "noisy.obj: not converged: "
same converged "$(json boolean total.converged)" false
[ -s reached.obj ] || fail "the last iterate is not written"
run_dsi 0 noisy.obj --iterations 2 --json
same iterations "$(json integer total.iterations)" 2

# With algebraic multigrid, in every format, with and without fixed vertices.
for format in auto $([ $group = cpu ] && echo csr bcrs2 bcrs4) $([ $group = gl ] && echo jagged segments); do
  for more in "--fit 1e-6" "--fit 1e-3 --fix 3,17"; do
    # shellcheck disable=SC2086
    run_dsi 0 noisy.obj $more --format $format --json
    jacobi=$(json integer total.iterations)
    rough=$(json number dsi.roughness)
    # shellcheck disable=SC2086
    run_dsi 0 noisy.obj $more --format $format --preconditioner amg --json
    same preconditioner "$(json string preconditioner)" amg
    same "set-ups" "$(json integer total.setups)" 1
    holds "the time of the set-up" "$(json number total.milliseconds.setup) > 0"
    holds "iterations, $format $more" "2 * $(json integer total.iterations) < $jacobi"
    holds "roughness" "$(json number dsi.roughness) / $rough - 1 < 1e-2 && 1 - $(json number dsi.roughness) / $rough < 1e-2"
  done
done
run_dsi 0 noisy.obj --rtol 1e-12 --preconditioner amg --json
holds "the residual with amg" "$(json number steps.0.relative_residual) <= 1e-12"

# A mesh without a given position, and invalid control points.
refuse 1 "the part of the mesh with vertex 0 has no given position" noisy.obj --method dsi --fit 0 --backend $group \
  -o out.obj
refuse 1 "--fix: there is no vertex 99999 for a control point" noisy.obj --method dsi --fix 99999 --backend $group
refuse 1 "--fix: vertex 3 has two control points" noisy.obj --method dsi --fix 3,4,3 --backend $group
refuse 1 "--fix: '', expected numbers of vertices" noisy.obj --method dsi --fix 3,,4 --backend $group
refuse 1 "absent.txt: No such file" noisy.obj --method dsi --control absent.txt --backend $group
bad_point() {
  file bad.txt '# a line' "$2"
  refuse 1 "bad.txt:2: $1" noisy.obj --method dsi --control bad.txt --backend $group
}
bad_point "too few words" '1 2 3'
bad_point "too many words" '1 2 3 4 5 6'
bad_point "'one', expected the number of a vertex" 'one 1 2 3'
bad_point "there is no vertex -1" '-1 1 2 3'
bad_point "y is 'nan'" '1 1 nan 3'
bad_point "the weight is '0'" '1 1 2 3 0'
bad_point "the weight is 'loose'" '1 1 2 3 loose'

# The benchmark: a frame in which a control point moves.
formats=
[ $group = cpu ] && formats=--formats
# shellcheck disable=SC2086
run_all 0 --bench --method dsi --generate scan:1000 --steps 3 --picture-size 64x48 $formats --json
for key in frame layout; do
  holds "milliseconds" "$(json number ${key}_milliseconds) > 0"
done
holds "milliseconds" "$(json number iteration_milliseconds) >= 0" # a difference of times, which noise may reduce to 0
holds "frames per second" "$(json number frames_per_second) > 0"
holds "behind the solution" "$(json number behind_the_solution) < 1e-3"
if [ $group = cpu ]; then
  same "components" "$(json boolean formats.0.blocks)" false
  same "blocks of 4 x 4" "$(json boolean formats.5.blocks) $(json string formats.5.format)" "true bcrs4"
  same "entries of blocks" "$(json integer formats.5.nonzeros)" $((4 * $(json integer formats.0.nonzeros)))
fi
run_all 0 --bench --method dsi --generate scan:1000 --steps 3 --picture-size 64x48
grep -q '^  frames per second ' ../log/out || fail "the benchmark does not print the frames per second"

if [ $pictures = yes ]; then
  run_dsi 0 noisy.obj --picture interpolated.png --picture-size 160x120
  is_png interpolated.png 160x120
fi
