# The flow on the backend of the group: results, reports, files and pictures.
run_all() {
  wanted=$1
  shift
  expect "$wanted" "$@" --backend $group
}

# The number of vertices with the same position in two OBJ files.
unmoved() {
  grep '^v ' "$1" >../log/a
  grep '^v ' "$2" >../log/b
  paste -d, ../log/a ../log/b | awk -F, '$1 == $2 { n++ } END { print n + 0 }'
}

# A typical first command: smooths a noisy mesh from a file.
run_all 0 --generate sphere:1000 --noise 0.01 --seed 7 --steps 0 -o noisy.obj
expect 0 noisy.obj -o smooth.ply --steps 10 --time-step 1e-5 --backend $group
for word in mesh backend flow result area volume seconds written; do
  grep -q "^$word " ../log/out || fail "the report lacks the line '$word'"
done
same "standard error" "$(cat ../log/err)" ''
n=$(vertices noisy.obj)
head -c 1000 smooth.ply | grep -a -q "^element vertex $n" || fail "smooth.ply has not $n vertices"
same "files" "$(ls | tr '\n' ' ')" "noisy.obj smooth.ply "

# Without steps no digit changes.
run_all 0 noisy.obj --steps 0 -o again.obj
cmp -s noisy.obj again.obj || fail "--steps 0 has changed the mesh"

# The numbers of the report, one of them compared with the written file.
run_all 0 noisy.obj --steps 4 -o smooth.obj --json
same "lines on standard error" "$(cat ../log/err)" ''
for key in file backend device format boundary; do
  [ -n "$(json string $key)" ] || fail "$key is empty"
done
same file "$(json string file)" noisy.obj
same backend "$(json string backend)" $group
same vertices "$(json integer vertices)" "$n"
same triangles "$(json integer triangles)" "$(grep -c '^f ' noisy.obj)"
same closed "$(json boolean closed)" true
same boundary_loops "$(json integer boundary_loops)" 0
same components "$(json integer components)" 1
same merged_vertices "$(json integer repairs.merged_vertices)" 0
same steps "$(json integer total.steps)" 4
before=$(json number area)
holds "the area at the start" "$(area noisy.obj) / $before - 1 < 1e-5 && 1 - $(area noisy.obj) / $before < 1e-5"
for k in 0 1 2 3; do
  same "number of a step" "$(json integer steps.$k.step)" $((k + 1))
  same "converged" "$(json boolean steps.$k.converged)" true
  same "substeps" "$(json integer steps.$k.substeps)" 1
  holds "iterations" "$(json integer steps.$k.iterations) > 0"
  holds "residual" "$(json number steps.$k.relative_residual) < 1e-4"
  after=$(json number steps.$k.area)
  holds "the area falls" "$after < $before"
  holds "the volume is a ball's" "$(json number steps.$k.volume) > 3 && $(json number steps.$k.volume) < 4.3"
  before=$after
  for part in matrix solve; do
    holds "milliseconds" "$(json number steps.$k.milliseconds.$part) > 0"
  done
  json null steps.$k.milliseconds.draw >/dev/null
done
same "total area" "$(json number total.area)" "$after"
computed=$(area smooth.obj)
holds "the area of the file" "$computed / $after - 1 < 1e-5 && 1 - $computed / $after < 1e-5"
holds "total milliseconds" "$(json number total.milliseconds.read) > 0 && $(json number total.milliseconds.write) > 0"
same "vertices of the smooth mesh" "$(vertices smooth.obj)" "$n"
same "vertices that have not moved" "$(unmoved noisy.obj smooth.obj)" 0
same "triangles as they were" "$(grep '^f ' noisy.obj | cksum)" "$(grep '^f ' smooth.obj | cksum)"

# The same arguments give the same bits. Another seed gives another mesh.
run_all 0 noisy.obj --steps 4 -o again.obj -q
same "what -q says" "$(cat ../log/out ../log/err)" ''
cmp -s smooth.obj again.obj || fail "the same run gave another mesh"
run_all 0 --generate sphere:1000 --noise 0.01 --seed 7 --steps 0 -o again.obj
cmp -s noisy.obj again.obj || fail "the same seed gave other noise"
run_all 0 --generate sphere:1000 --noise 0.01 --seed 8 --steps 0 -o again.obj
differ noisy.obj again.obj

# With --iterations, as in the paper, a step counts even if it has not converged.
run_all 0 noisy.obj --steps 2 --time-step 1e-3 --iterations 2 --json
same "iterations" "$(json integer steps.1.iterations)" 2
same "converged after two iterations" "$(json boolean steps.1.converged)" false
holds "the area falls" "$(json number steps.1.area) < $(json number area)"
# A loose tolerance needs fewer iterations.
run_all 0 noisy.obj --steps 1 --time-step 1e-2 --rtol 1e-5 --json
tight=$(json integer total.iterations)
run_all 0 noisy.obj --steps 1 --time-step 1e-2 --rtol 0.5 --json
holds "iterations" "$(json integer total.iterations) < $tight"

# A step that exceeds the iterations is split into parts.
run_all 0 noisy.obj --steps 2 --time-step 3e-2 --iterations 2 --json
holds "a step is cut" "$(json integer steps.1.substeps) > 1"
said "step 2 was split into $(json integer steps.1.substeps) parts"

# A step that fails does not change the mesh, which is written.
run_all 0 noisy.obj --steps 1 --time-step 1 --iterations 1 -o once.obj
run_all 3 noisy.obj --steps 5 --time-step 1 --iterations 1 -o reached.obj --json
said "noisy.obj: step 2 failed: "
same "lines on standard error" "$(wc -l <../log/err)" 1
same "substeps" "$(json integer steps.1.substeps)" 0
same "steps made" "$(json integer total.steps)" 1
same "steps reported" "$(grep -c '"step":' ../log/out)" 2
same "area" "$(json number total.area)" "$(json number steps.0.area)"
cmp -s once.obj reached.obj || fail "a failed step has moved the mesh"

# The volume.
run_all 0 noisy.obj --steps 5 --time-step 1e-4 --json
holds "the volume shrinks" "$(json number total.volume) < 0.99 * $(json number volume)"
run_all 0 noisy.obj --steps 5 --time-step 1e-4 --volume --json
holds "the volume stays" "$(json number total.volume) / $(json number volume) - 1 < 1e-5 &&
  1 - $(json number total.volume) / $(json number volume) < 1e-5"
refuse 1 "encloses no volume" --generate scan:500 --volume --backend $group

# Boundaries.
run_all 0 --generate scan:1500 --steps 0 -o scan.obj
run_all 0 scan.obj --steps 2 -o fixed.obj --json
same "boundary vertices stay" "$(unmoved scan.obj fixed.obj)" "$(json integer constrained_vertices)"
holds "there are boundary vertices" "$(json integer constrained_vertices) > 50 && $(json integer boundary_loops) > 3"
run_all 0 scan.obj --steps 2 -o flow.obj --boundary free --json
same boundary "$(json string boundary)" free
holds "boundary vertices move" "$(unmoved scan.obj flow.obj) < 10"

# Notes and lines.
run_all 0 noisy.obj --steps 3 -v
same "lines of steps" "$(grep -c '^ *[123]  ' ../log/out)" 3
run_all 0 noisy.obj --steps 3
same "lines of steps without a terminal" "$(grep -c '^ *[123]  ' ../log/out)" 0

formats="csr"
[ $group = gl ] && formats="jagged segments"
[ $group = cuda ] && formats="csr jagged segments"
for format in $formats; do
  run_all 0 noisy.obj --steps 4 --format $format --json
  same format "$(json string format)" $format
  holds "area with $format" "$(json number total.area) / $after - 1 < 1e-5 && 1 - $(json number total.area) / $after < 1e-5"
  run_all 0 noisy.obj --steps 4 --format $format --preconditioner amg --json
  holds "area with $format and amg" "$(json number total.area) / $after - 1 < 1e-5 && 1 - $(json number total.area) / $after < 1e-5"
done

# Algebraic multigrid builds one hierarchy and updates its numbers. It gives the same positions in fewer iterations. A boundary
# that moves takes as many as before.
for boundary in fixed free; do
  run_all 0 scan.obj --steps 3 --time-step 1e-2 --boundary $boundary --json
  jacobi=$(json integer total.iterations)
  area=$(json number total.area)
  same preconditioner "$(json string preconditioner)" jacobi
  same "set-ups of jacobi" "$(json integer total.setups) $(json number total.milliseconds.setup)" "0 0.0"
  run_all 0 scan.obj --steps 3 --time-step 1e-2 --boundary $boundary --preconditioner amg --json
  same preconditioner "$(json string preconditioner)" amg
  same "set-ups" "$(json integer steps.0.setups)" 1
  holds "updates are timed" "$(json number steps.1.milliseconds.setup) > 0"
  holds "the time of set-ups" "$(json number total.milliseconds.setup) >= $(json number steps.0.milliseconds.setup)"
  holds "iterations, boundary $boundary" "4 * $(json integer total.iterations) < 3 * $jacobi"
  holds "the area" "$(json number total.area) / $area - 1 < 1e-3 && 1 - $(json number total.area) / $area < 1e-3"
done
run_all 0 scan.obj --steps 2 --preconditioner amg -v
grep -q '^method      cg, preconditioner amg, ' ../log/out || fail "the report does not name amg"
run_all 0 --bench --generate scan:2000 --steps 3 --preconditioner amg --json
same "the benchmark's preconditioner" "$(json string preconditioner)" amg

# The benchmark: a step and its parts.
run_all 0 --bench --generate scan:2000 --steps 3 --json
holds "a whole step" "$(json number step_milliseconds) > 0"
holds "its parts" "$(json number milliseconds.matrix_and_right_hand_side) > 0 && $(json number milliseconds.setup) >= 0 &&
  $(json number milliseconds.iterations) >= 0"
run_all 0 --bench --generate scan:2000 --steps 3
grep -q '^  the whole step ' ../log/out || fail "the benchmark does not print the step"

# Without OpenGL only pictures are refused.
if [ $group = cpu ]; then
  export __EGL_VENDOR_LIBRARY_FILENAMES=/dev/null
  refuse 1 "cannot draw a picture" noisy.obj --backend cpu --picture a.png -o b.obj --frames-dir video
  run_all 0 noisy.obj --steps 1 -o again.obj -q
  unset __EGL_VENDOR_LIBRARY_FILENAMES
fi

# Pictures of a mesh on the CPU need OpenGL too.
pictures=yes
if ! "$program" noisy.obj --steps 0 --headless --backend $group --picture a.png >../log/out 2>../log/err; then
  case ",${TEXSOLVE_TEST_REQUIRE:-}," in
  *,gl,*) fail "no picture" ;;
  *) grep -q 'cannot draw a picture' ../log/err && pictures=no || fail "no picture" ;;
  esac
fi
if [ $pictures = yes ]; then
  run_all 0 noisy.obj --steps 10 --picture after.png --picture-size 320x200
  is_png after.png 320x200
  grep -q '^picture ' ../log/out || fail "the report does not name the picture"
  run_all 0 noisy.obj --steps 0 --picture before.png --picture-size 320x200 -q
  differ before.png after.png
  for look in --wireframe --before-after "--shading flat" "--colour curvature" "--colour displacement"; do
    # shellcheck disable=SC2086
    run_all 0 noisy.obj --steps 10 --picture look.png --picture-size 320x200 $look -q
    is_png look.png 320x200
    differ after.png look.png
  done
  run_all 0 noisy.obj --steps 3 --frames-dir video --picture-size 160x120 --json
  same "frames" "$(ls video | tr '\n' ' ')" "frame-00000.png frame-00001.png frame-00002.png frame-00003.png "
  for frame in video/*; do is_png "$frame" 160x120; done
  differ video/frame-00000.png video/frame-00003.png
  holds "milliseconds of drawing" "$(json number steps.2.milliseconds.draw) > 0"
  # A picture does not depend on earlier pictures.
  run_all 0 noisy.obj --steps 3 --picture last.png --picture-size 160x120 -q
  cmp -s video/frame-00003.png last.png || fail "the last frame is not the picture of the last step"
  run_all 0 noisy.obj --steps 1 --frames-dir video --picture-size 160x120
  grep -q '^video  *ffmpeg .*video/frame-%05d.png' ../log/out || fail "no command makes the video"
fi
