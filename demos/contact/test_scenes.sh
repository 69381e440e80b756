# Every scene on one backend: results and pictures.
on="--backend $group"

for scene in pile boxes wall arch cards stack slope slide; do
  bodies=6
  expect 0 $on --scene $scene --bodies $bodies --frames 2 --json
  same "$scene: scene" "$(json string scene)" $scene
  holds "$scene: bodies" "$(json integer bodies) >= 1 && $(json integer bodies) <= $bodies + 1"
  same "$scene: finite" "$(json boolean finite)" true
  for part in collision assembly solve frame; do
    holds "$scene: $part" "$(json real frames.1.milliseconds.$part) >= 0 && $(json real median.milliseconds.$part) >= 0"
  done
done
expect 0 $on --frames 0 --scene cards --json
same "cards of the largest house of 15" "$(json integer bodies)" 15

# Parameters are passed on and have an effect.
expect 0 $on --scene slide --friction 0.25 --restitution 0.5 --time-step 0.005 --rtol 1e-3 --max-sweeps 77 --scheme row \
  --acceleration none --precision double --cold-start --frames 3 --steps-per-frame 2 --json
same "parameters" "$(json real parameters.friction) $(json real parameters.restitution) $(json real parameters.time_step) \
$(json real parameters.rtol) $(json integer parameters.max_sweeps)" "0.25 0.5 0.005 0.001 77"
same "solver" "$(json string parameters.scheme) $(json string parameters.acceleration) $(json string parameters.precision) \
$(json boolean parameters.cold_start) $(json integer steps_per_frame)" "row none double true 2"

# A stack is solved to the tolerance and stays at rest. With a single sweep the steps miss the tolerance, and are counted.
expect 0 $on --scene stack --bodies 4 --frames 6 --json
same "missed" "$(json integer missed_frames)" 0
holds "residual" "$(json real frames.5.residual) <= 1e-4 && $(json integer frames.5.contacts) == 16"
holds "at rest" "$(json real frames.5.kinetic_energy) < 1e-4"
expect 0 $on --scene stack --bodies 4 --frames 6 --max-sweeps 1 --cold-start --json
same "missed" "$(json integer missed_frames)" 6
holds "residual" "$(json real frames.5.residual) > 1e-4"
expect 0 $on --scene stack --bodies 4 --frames 6 --max-sweeps 1 --cold-start
grep -q '6 frames missed the tolerance 1.0e-04' ../log/out || fail "the report lacks the number of frames that missed the tolerance"
grep -q 'median overlap in these frames .* mm, and the energy ' ../log/out || fail "the report lacks the effect of misses"

# Results of a benchmark.
expect 0 $on --bench --scene slide --json
for key in warm_start.frame_milliseconds start_from_0.solve_milliseconds warm_start.contacts; do
  holds "$key" "$(json real $key) > 0"
done

"$program" --headless $on --scene slide --frames 0 --picture probe.png >../log/out 2>../log/err
if grep -q 'this build has no OpenGL' ../log/err; then
  refuse 1 "this build has no OpenGL" $on --scene slide --frames 1 --picture refused.png
else
  small="--scene slide --picture-size 64x48"
  expect 0 $on $small --frames 12 --picture last.png --frames-dir frames
  same "frames" "$(ls frames | wc -l) $(ls frames | tail -n 1)" "12 frame-00011.png"
  is_png last.png 64x48
  cmp -s last.png frames/frame-00011.png || fail "the picture is not the last frame"
  differ last.png frames/frame-00000.png
  # By default videos drawn by software have coarse shading, and single pictures full shading.
  for shading in coarse full; do
    expect 0 $on $small --frames 12 --frames-dir $shading --shading $shading
  done
  differ coarse/frame-00011.png full/frame-00011.png
  expect 0 $on $small --frames 12 --picture single.png
  checks=$((checks + 2))
  cmp -s single.png full/frame-00011.png || fail "a single picture does not have full shading"
  shading=full
  expect 0 --backend gl --scene slide --frames 1 --json
  case $(json string device) in *llvmpipe* | *softpipe*) shading=coarse ;; esac
  cmp -s frames/frame-00011.png $shading/frame-00011.png || fail "a video does not have $shading shading"
  expect 0 $on $small --frames 12 --picture forces.png --forces --frames-dir forces
  differ last.png forces.png
  if ffmpeg -version >/dev/null 2>&1 && ffprobe -version >/dev/null 2>&1; then
    expect 0 $on $small --frames 4 --video video.mp4
    same "frames of the video" "$(ffprobe -v error -count_frames -select_streams v -show_entries \
      stream=nb_read_frames,width,height -of csv=p=0 video.mp4)" 64,48,4
  fi
fi
