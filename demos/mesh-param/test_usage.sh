# Wrong usage and input, refused with one line that states what was expected; and repairs.
export OMP_NUM_THREADS=1
for option in --seed --squares --max-iterations --threads; do refuse 2 "expected a whole number" $option x; done
for threads in 0 -1 4097; do refuse 2 "--threads: '$threads', expected" a.obj --threads=$threads; done
refuse 2 "no mesh given"
refuse 2 "expected one mesh only" a.obj b.obj
refuse 2 "expected one of them" a.obj --generate cap
refuse 2 "expected none, angle or area" a.obj --colour red
refuse 2 "expected levels, distances or plane" a.obj --start here
refuse 2 "expected auto, formed or applied" a.obj --normal x
refuse 2 "expected auto, jacobi or amg" a.obj --preconditioner x
refuse 2 "expected it without other" a.obj --preconditioner amg --solver cgls
refuse 2 "amg is for conjugate gradients" a.obj --preconditioner amg --normal applied
refuse 2 "expected auto, cg, bicgstab, gmres or cgls" a.obj --solver lu
refuse 2 "expected auto, bcrs2, bcrs4, jagged, segments or csr" a.obj --format stencil
refuse 2 "expected one of auto" a.obj --backend vulkan
refuse 2 "expected a number between 0 and 1" a.obj --rtol 1
refuse 2 "expected WIDTHxHEIGHT" a.obj --picture-size 8x8
refuse 2 "--bench writes no files" --bench -o a.obj
for pin in 1 1,2 1,2,3,4 x,0,0 -1,0,0 1.5,0,0 0,x,0 0,0,; do
  refuse 2 "expected a vertex and its position" a.obj --pin=$pin
done
# Files.
run_bad() { refuse 1 "$@" --backend cpu -o out.obj --picture out.png; }
run_bad "absent.obj" absent.obj
file points.obj 'v 0 0 0' 'v 1 0 0' 'v 0 1 0'
run_bad "points.obj: no faces" points.obj
file flat.off OFF '3 1 0' '0 0 0' '1 0 0' '0 1 0' '3 0 1 1'
run_bad "flat.off: 1 triangle, none with three distinct vertices" flat.off
file one.obj 'v 0 0 0' 'v 1 0 0' 'v 0 1 0' 'v 5 5 5' 'f 1 2 3'
run_bad "--pin at vertex 4, expected one of 0 to 3" one.obj --pin 4,0,0
run_bad "which does not belong to a triangle" one.obj --pin 3,0,0
run_bad "two pins at vertex 1" one.obj --pin 1,0,0 --pin 1,1,1
run_bad "expected at least two positions" one.obj --pin 1,0,0 --pin 2,0,0
run_bad "expected finite numbers of at most 1e+30" one.obj --pin 1,1e308,0 --pin 2,-1e308,0
file line.obj 'v 0 0 0' 'v 1 0 0' 'v 2 0 0' 'f 1 2 3'
run_bad "all triangles are degenerate" line.obj
refuse 1 "expected a name that ends in .obj or .ply" one.obj -o out.stl
refuse 1 "expected a name that ends in .obj or .ply" one.obj -o out
refuse 1 "nowhere/out.obj: No such file or directory" absent.obj -o nowhere/out.obj
refuse 1 "this output is also an input" one.obj -o one.obj
refuse 1 "is closed, so it cannot be flattened; use --cut" --generate sphere:50 -o out.obj
refuse 1 "is closed and has 1 handle" --generate torus:50 -o out.obj
refuse 2 "expected sphere, cube" --generate tube

# Errors of the file are reported even without a display.
DISPLAY='' WAYLAND_DISPLAY='' "$program" missing.obj >../log/out 2>../log/err
same "status without a display" $? 1
grep -q 'this build has no windows' ../log/err || said "mesh-param: missing.obj: No such file or directory"

# Files and streams.
. "$here/../common/output_checks.sh"
documented
bad_values --generate cap:100 --backend cpu
for name in a.jpg a ''; do
  refuse 2 "--picture: '$name', expected a name that ends in .png" --generate cap:100 --backend cpu --picture "$name"
done
for ending in obj ply; do outputs -o $ending --generate cap:100 --backend cpu; done
streams a.obj --generate cap:100 --backend cpu -o a.obj
expect 0 --generate cap:100 --backend cpu -o -
same "lines of a report beside the mesh" "$(grep -c '^[a-z][a-z][a-z]' ../log/out)" 0
holds "places on standard output" "$(grep -c '^vt ' ../log/out) >= 50"
grep -q '^result ' ../log/err || fail "no report on standard error"
# If a map takes minutes, a signal stops it, and the present map is written.
stopped TERM 143 4 m.obj --generate face:100000 --backend cpu --preconditioner jacobi --rtol 1e-14 --max-iterations 100000000 -o m.obj
said "stopped after "
same "vertices after SIGTERM" "$(vertices m.obj)" "$(grep -o '^# [0-9]*' m.obj | cut -c3-)"
rm m.obj

# Eastings and northings keep their digits, and the map is the same as near 0.
awk 'BEGIN { for (y = 0; y < 8; y++) for (x = 0; x < 8; x++) printf "v %.10f %.10f %.10f\n", x / 7, y / 7, sin(3 * x / 7) / 5
  for (y = 0; y < 7; y++) for (x = 0; x < 7; x++) { a = 8 * y + x + 1; print "f", a, a + 1, a + 9; print "f", a, a + 9, a + 8 } }' \
  >near.obj
awk '$1 == "v" { $2 = sprintf("%.10f", $2 + 4500000); $3 = sprintf("%.10f", $3 + 5400000) } { print }' near.obj >far.obj
pins="--pin 0,0,0 --pin 63,1,1"
# shellcheck disable=SC2086
expect 0 near.obj --backend cpu $pins -o near_uv.obj -q
for ending in obj ply; do
  # shellcheck disable=SC2086
  expect 0 far.obj --backend cpu $pins -o far_uv.$ending --json
  same "what is said" "$(cat ../log/err)" ''
  same "vertices" "$(json integer vertices)" 64
  same "flipped far from 0" "$(json integer distortion.flipped)" 0
done
digits() { awk '$1 == "v" { printf "v %.9f %.9f %.9f\n", $2, $3, $4 }' "$1"; }
digits far.obj >far.txt
digits far_uv.obj | cmp -s far.txt - || fail "digits far from 0 are lost"
same "other places in the map" "$(grep '^vt' near_uv.obj >near.txt && grep '^vt' far_uv.obj | paste -d' ' near.txt - | awk '
  { for (c = 2; c < 4; c++) { d = $c - $(c + 3); if (d > 1e-4 || d < -1e-4) n++ } } END { print n + 0 }')" 0
expect 0 far_uv.ply --backend cpu -o again_uv.obj -q
digits again_uv.obj | cmp -s far.txt - || fail "digits far from 0 are lost in PLY"

# Defects that are repaired or opened, with a message.
file fin.obj 'v 0 0 0' 'v 1 0 0' 'v 0 1 0' 'v 0 -1 0' 'v 0 0 1' 'f 1 2 3' 'f 2 1 4' 'f 1 2 5'
expect 0 fin.obj --backend cpu --json
said "1 edge has more than two triangles (the first: vertices 0 and 1); the mesh is open there"
same charts "$(grep -c '"boundary_loops": 1' ../log/out)" 3
file flipped.obj 'v 0 0 0' 'v 1 0 0' 'v 0 1 0' 'v 1 1 0' 'f 1 2 3' 'f 2 3 4'
expect 0 flipped.obj --backend cpu -o turned_uv.obj
said "1 triangle was flipped"
# Vertices at the same position are merged, and pins keep the file's numbers.
file seam.obj 'v 0 0 0' 'v 1 0 0' 'v 0 1 0' 'v 1 0 0' 'v 1 1 0' 'v 0 1 0' 'f 1 2 3' 'f 4 5 6'
expect 0 seam.obj --backend cpu -o seam_uv.obj --pin 0,0,0 --pin 4,1,1 --json
said "2 vertices were merged with another one at the same position"
same "vertices" "$(vertices seam_uv.obj)" 4
same "pinned place" "$(awk '$1 == "vt" { printf "%.3f,%.3f\n", $2 * $2, $3 * $3 }' seam_uv.obj | sort | tr '\n' ' ')" "0.000,0.000 0.000,1.000 1.000,0.000 1.000,1.000 "
expect 0 seam.obj --backend cpu --keep-duplicates --json
same "charts" "$(grep -c '"boundary_loops": 1' ../log/out)" 2
