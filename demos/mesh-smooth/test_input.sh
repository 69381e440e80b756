# Invalid files: one line, exit status 1, and no output. Files with defects: repaired, with a message.
export OMP_NUM_THREADS=1
run_bad() { refuse 1 "$@" --backend cpu --steps 1 -o out.obj --frames-dir frames; }

run_bad "absent.obj" absent.obj
mkdir directory.obj
run_bad "directory.obj" directory.obj
: >empty.obj
run_bad "empty.obj" empty.obj
file text.obj 'This is' 'no mesh'
run_bad "text.obj" text.obj
head -c 3000 "$program" >binary.ply
run_bad "binary.ply" binary.ply
file nan.obj 'v 0 0 0' 'v 1 nan 0' 'v 0 1 0' 'f 1 2 3'
run_bad "nan.obj" nan.obj
file inf.off OFF '3 1 0' '0 0 0' '1 0 inf' '0 1 0' '3 0 1 2'
run_bad "inf.off" inf.off
file range.obj 'v 0 0 0' 'v 1 0 0' 'v 0 1 0' 'f 1 2 4'
run_bad "range.obj" range.obj
file range.off OFF '3 1 0' '0 0 0' '1 0 0' '0 1 0' '3 0 1 3'
run_bad "range.off" range.off
file points.obj 'v 0 0 0' 'v 1 0 0' 'v 0 1 0'
run_bad "points.obj" points.obj
file flat.off OFF '3 1 0' '0 0 0' '1 0 0' '0 1 0' '3 0 1 1'
run_bad "flat.off: 1 triangle, none with three distinct vertices" flat.off
file point.obj 'v 1 1 1' 'v 1 1 1' 'v 1 1 1' 'f 1 2 3'
run_bad "point.obj" point.obj
run_bad "point.obj: all vertices of the triangles have the same position" point.obj --keep-duplicates
file mesh.xyz '0 0 0'
run_bad "mesh.xyz" mesh.xyz

# Cut short, in each format.
for format in ply stl off; do
  expect 0 --generate sphere:200 --steps 0 --backend cpu -o whole.$format -q
  size=$(wc -c <whole.$format)
  for part in 10 50 95; do
    head -c $((size * part / 100)) whole.$format >cut.$format
    run_bad "cut.$format" cut.$format
  done
done

# Outputs that cannot be written are found before the mesh is read.
refuse 1 "nowhere/out.obj: No such file or directory" absent.obj -o nowhere/out.obj
refuse 1 "nowhere/a.png: No such file or directory" absent.obj --picture nowhere/a.png
refuse 1 "text.obj: Not a directory" absent.obj --frames-dir text.obj
refuse 1 "out.xyz" absent.obj -o out.xyz
refuse 1 "this output is also an input" range.obj -o range.obj
same "the directory of frames that never came" "$(ls -d frames 2>/dev/null)" ''

# An older output survives a failure.
file old.obj 'old'
refuse 1 "cuda" --generate sphere:100 --backend cuda -o old.obj
same "an older output" "$(cat old.obj)" old

# Polygons are cut and vertices at the same position are merged, with messages.
file quads.obj 'v 0 0 0' 'v 1 0 0' 'v 1 1 0' 'v 0 1 0' 'v 1 0 0' 'v 2 0 0.5' 'v 2 1 0' 'v 1 1 0' 'f 1 2 3 4' \
  'f 5 6 7 8'
expect 0 quads.obj --backend cpu --steps 0 -o merged.obj --json
said "2 polygons were cut into triangles"
said "a written mesh has 6 vertices, 2 fewer than the file"
same "merged vertices" "$(json integer repairs.merged_vertices)" 2
same "polygons" "$(json integer repairs.polygons_cut)" 2
same "vertices after merging" "$(vertices merged.obj)" 6
same "triangles" "$(grep -c '^f ' merged.obj)" 4
expect 0 quads.obj --backend cpu --steps 0 -o kept.obj --keep-duplicates
same "vertices kept" "$(vertices kept.obj)" 8
expect 0 quads.obj --backend cpu --steps 0 -o merged.obj -q
same "what -q says" "$(cat ../log/out ../log/err)" ''

# A concave polygon is covered once, in every format.
file concave.obj 'v 0 0 0' 'v 4 0 0' 'v 4 4 0' 'v 2 1 0' 'v 0 4 0' 'f 1 2 3 4 5'
file concave.off OFF '5 1 0' '0 0 0' '4 0 0' '4 4 0' '2 1 0' '0 4 0' '5 0 1 2 3 4'
file concave.ply ply 'format ascii 1.0' 'element vertex 5' 'property float x' 'property float y' 'property float z' \
  'element face 1' 'property list uchar int vertex_indices' end_header '0 0 0' '4 0 0' '4 4 0' '2 1 0' '0 4 0' \
  '5 0 1 2 3 4'
for format in obj off ply; do
  expect 0 concave.$format --backend cpu --steps 0 -o covered.obj --json
  same "concave polygons in $format" "$(json integer repairs.polygons_cut) $(json integer repairs.polygons_crossing)" "1 0"
  same "area of the polygon in $format" "$(area covered.obj)" 10
done
# Polygons with repeated vertices, or that cross themselves, are kept, with a message.
file corners.obj 'v 0 0 0' 'v 1 0 0' 'v 1 1 0' 'v 0 1 0' 'f 1 2 3 3 4'
expect 0 corners.obj --backend cpu --steps 0 -o corners-after.obj --json
said "corners.obj: 1 polygon had corners with a repeated vertex, which were removed"
same "reduced polygons" "$(json integer repairs.polygons_reduced)" 1
same "area of the others" "$(area corners-after.obj)" 1
file bow.obj 'v 0 0 0' 'v 1 0 0' 'v 1 1 0' 'v 0 1 0' 'v 2 0 0' 'f 1 2 4 3' 'f 2 5 3'
expect 0 bow.obj --backend cpu --steps 0 --json
said "bow.obj: 1 polygon crosses itself or has no area, so that triangles overlap (the first: face 0)"
same "polygons that cross themselves" "$(json integer repairs.polygons_crossing)" 1

# With eastings and northings no vertices merge, a step moves vertices as it does near 0, and all digits are written.
awk 'BEGIN { for (y = 0; y < 8; y++) for (x = 0; x < 8; x++) printf "v %.10f %.10f %.10f\n", x / 7, y / 7, sin(3 * x / 7) / 5
  for (y = 0; y < 7; y++) for (x = 0; x < 7; x++) { a = 8 * y + x + 1; print "f", a, a + 1, a + 9; print "f", a, a + 9, a + 8 } }' \
  >near.obj
awk '$1 == "v" { $2 = sprintf("%.10f", $2 + 4500000); $3 = sprintf("%.10f", $3 + 5400000) } { print }' near.obj >far.obj
expect 0 near.obj --backend cpu --steps 2 -o near-after.obj -q
grep '^v ' near-after.obj >near.txt
for format in obj off ply stl; do
  expect 0 far.obj --backend cpu --steps 2 -o far-after.$format --json
  same "merged vertices" "$(json integer repairs.merged_vertices)" 0
  same "what is said" "$(cat ../log/err)" ''
  expect 0 far-after.$format --backend cpu --steps 0 -o far-again.obj -q
  same "vertices through $format" "$(vertices far-again.obj)" 64
  [ $format != stl ] || continue # vertices in the order of the triangles
  same "other places in $format" "$(grep '^v ' far-again.obj | paste -d' ' near.txt - | awk '{ for (c = 2; c < 5; c++)
    { d = $c - $(c + 4) + (c == 2) * 4500000 + (c == 3) * 5400000; if (d > 1e-6 || d < -1e-6) n++ } } END { print n + 0 }')" 0
done
expect 0 far.obj --backend cpu --steps 0 -o far-again.obj -q
awk '$1 == "v" { printf "v %.9f %.9f %.9f\n", $2, $3, $4 }' far.obj >far.txt
awk '$1 == "v" { printf "v %.9f %.9f %.9f\n", $2, $3, $4 }' far-again.obj | cmp -s far.txt - || fail "digits far from 0 are lost"

# If an edge has three triangles its vertices do not move, and there is a message.
file fan.obj 'v 0 0 0' 'v 0 0 1' 'v 1 0 0.5' 'v -1 0.3 0.5' 'v 0 1 0.5' 'f 1 2 3' 'f 2 1 4' 'f 1 2 5'
expect 0 fan.obj --backend cpu --steps 1 --boundary free -o fan-after.obj --json
same "non-manifold edges" "$(json integer repairs.nonmanifold_edges)" 1
same "held vertices" "$(json integer repairs.held_vertices)" 2
same "vertices that stay" "$(head -n 40 fan-after.obj | grep -c -e '^v 0 0 0$' -e '^v 0 0 1$')" 2
grep -q '^mesh-smooth: fan.obj: .*edge' ../log/err || fail "the message about the edge is missing"

# Triangles that disagree with their neighbours are flipped.
file flipped.obj 'v 0 0 0' 'v 1 0 0' 'v 0 1 0' 'v 1 1 0.2' 'v 2 0.5 0' 'f 1 2 3' 'f 2 3 4' 'f 2 5 4'
expect 0 flipped.obj --backend cpu --steps 1 --json
same "flipped triangles" "$(json integer repairs.flipped_triangles)" 1

# Bytes after the last triangle of a binary STL file are ignored, with a message.
expect 0 --generate sphere:50 --steps 0 --backend cpu -o exact.stl -q
{ cat exact.stl && printf '\0\0'; } >more.stl
expect 0 more.stl --backend cpu --steps 0 -o again.stl --json
said "more.stl: 2 bytes after the last triangle of the file were ignored"
same "ignored bytes" "$(json integer repairs.ignored_bytes)" 2
expect 0 exact.stl --backend cpu --steps 0 -o same.stl -q
cmp -s same.stl again.stl || fail "the file with two bytes more holds another mesh"
