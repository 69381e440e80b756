# Wrong usage: exit status 2 and one line. The manual page lists every option.
refuse 2 "no mesh given" --steps 1
refuse 2 "expected one mesh only" a.obj b.obj
refuse 2 "expected one of them" a.obj --generate sphere
for number in -1 x 1.5 '' 1000001; do
  refuse 2 "--steps: '$number', expected a whole number from 0 to 1000000" --generate sphere --steps "$number"
done
for number in 0 -1e-5 nan inf 1.01 x ''; do
  refuse 2 "--time-step: '$number', expected a number greater than 0 and at most 1" \
    --generate sphere --time-step "$number"
done
for number in 0 1 -1 nan x; do
  refuse 2 "--rtol: '$number', expected a number between 0 and 1" --generate sphere --rtol "$number"
done
refuse 2 "--iterations: '0', expected" --generate sphere --iterations 0
refuse 2 "--preconditioner: 'ilu', expected jacobi or amg" --generate sphere --preconditioner ilu
refuse 2 "--boundary: 'open', expected fixed or free" --generate sphere --boundary open
refuse 2 "--backend: 'metal', expected one of auto, cuda, gl" --generate sphere --backend metal
refuse 2 "--format: 'coo', expected" --generate sphere --format coo
refuse 2 "--noise: '-1', expected" --generate sphere --noise -1
refuse 2 "--seed: '-1', expected" --generate sphere --seed -1
refuse 2 "--colour: 'red', expected none, curvature or displacement" --generate sphere --colour red
refuse 2 "--shading: 'phong', expected smooth or flat" --generate sphere --shading phong
refuse 2 "--gl-platform: 'glx', expected egl or window" --generate sphere --gl-platform glx
for size in 100 100x x100 15x100 100x20000 axb; do
  refuse 2 "--picture-size: '$size', expected WIDTHxHEIGHT" --generate sphere --picture-size $size
done
refuse 2 "--method: 'mean', expected flow or dsi" --generate sphere --method mean
refuse 2 "--weights: 'harmonic', expected uniform or cotangent" --generate sphere --method dsi --weights harmonic
for number in -1 x nan 1e7; do
  refuse 2 "--fit: '$number', expected a number from 0 to 1e6" --generate sphere --method dsi --fit $number
done
for option in "--fit 1" "--weights uniform" "--control points.txt" "--fix 1"; do
  # shellcheck disable=SC2086
  refuse 2 "${option% *} is for --method dsi" --generate sphere $option
done
refuse 2 "--formats is for --bench --method dsi" --generate sphere --method dsi --formats
refuse 2 "--volume is for --method flow" --generate sphere --method dsi --volume
refuse 2 "--time-step is for --method flow" --generate sphere --method dsi --time-step 1e-5
refuse 2 "--steps: 2, expected at most 1" --generate sphere --method dsi --steps 2
refuse 2 "--bench writes no files" --bench -o x.obj

# Valid names that are not available.
refuse 1 "cuda" --generate sphere:100 --backend cuda
refuse 1 "jagged" --generate sphere:100 --backend cpu --format jagged
refuse 2 "ball" --generate ball

checks=$((checks + 1))
"$program" --generate sphere --frames-dir x >../log/out 2>../log/err
status=$?
[ $status -eq 2 ] || fail "--frames-dir in a window: exit status $status"
said "--frames-dir needs --headless"

# Without a display the message names the alternative.
checks=$((checks + 1))
DISPLAY='' WAYLAND_DISPLAY='' "$program" --generate sphere:50 >../log/out 2>../log/err
status=$?
[ $status -eq 1 ] || fail "without a display: exit status $status"
said "--headless"
# A file that cannot be read is reported first.
if ! grep -q 'this build has no windows' ../log/err; then
  checks=$((checks + 1))
  for input in missing.obj "--generate sphere:50 --method dsi --control missing.obj"; do
    # shellcheck disable=SC2086
    DISPLAY='' WAYLAND_DISPLAY='' "$program" $input >../log/out 2>../log/err
    same "status for $input without a display" $? 1
    same "what is said of $input without a display" "$(cat ../log/err)" "mesh-smooth: missing.obj: No such file or directory"
  done
fi

# Files and streams.
. "$here/../common/output_checks.sh"
short="--generate sphere:100 --steps 1 --backend cpu"
bad_values $short
for name in a.jpg a ''; do refuse 2 "--picture: '$name', expected a name that ends in .png" $short --picture "$name"; done
for ending in obj ply off stl; do outputs -o $ending $short; done
streams a.obj $short -o a.obj
# The mesh on standard output, and the report on standard error.
expect 0 $short -o -
same "lines of a report beside the mesh" "$(grep -c '^[a-z][a-z]' ../log/out)" 0
same "vertices on standard output" "$(vertices ../log/out)" "$(sed -n 's/^# \([0-9]*\) vertices.*/\1/p' ../log/out)"
grep -q '^result ' ../log/err || fail "no report on standard error"
# After a signal the program finishes the file that it is writing, and writes the smoothed mesh.
stopped TERM 143 0 large.obj --generate sphere:1000000 --steps 0 --backend cpu -o large.obj
same "vertices after SIGTERM" "$(vertices large.obj)" "$(grep -o '^# [0-9]*' large.obj | cut -c3-)"
rm large.obj
killed 0 large.obj --generate sphere:1000000 --steps 0 --backend cpu -q -o large.obj
stopped INT 130 9 a.obj --generate sphere:1000 --steps 1000000 --backend cpu -v -o a.obj
said "stopped after "
same "vertices after SIGINT" "$(vertices a.obj)" "$(grep -o '^# [0-9]*' a.obj | cut -c3-)"
rm a.obj

documented
