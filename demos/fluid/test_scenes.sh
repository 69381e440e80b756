# Every scene on one backend: results, pictures and videos.
on="--backend $group"

# Every scene works at any size, including odd and flat ones.
for scene in splat backward-step cylinder smoke cavity; do
  for size in 33x17 7x40; do
    expect 0 $on --scene $scene --size $size --frames 3 --steps-per-frame 1 --json
    same "$scene: scene" "$(json string scene)" $scene
    same "$scene: steps" "$(json integer total.steps)" 3
    same "$scene: time" "$(json integer frames.2.step)" 3
    json real frames.2.divergence_before >/dev/null
    for stage in advection forces viscosity pressure projection transport; do
      holds "$scene: $stage" "$(json real frames.2.milliseconds.$stage) >= 0"
    done
  done
done
same "the default scene" "$(expect 0 $on --size 8x8 --frames 0 --json && json string scene)" splat

# Parameters are passed on.
expect 0 $on --scene cavity --size 16x16 --frames 1 --reynolds 50 --time-step 0.01 --solver jacobi --iterations 7 \
  --advection semi-lagrangian --layout collocated --cold-start --json
holds "Reynolds number" "$(json real parameters.viscosity) == 0.02 && $(json real parameters.time_step) == 0.01"
same "solver" "$(json string parameters.solver) $(json integer parameters.iterations)" "jacobi 7"
same "advection" "$(json string parameters.advection), $(json string layout)" "semi-lagrangian, collocated"
same "cold start" "$(json boolean parameters.cold_start)" true
holds "step" "$(json real frames.0.time) > 0.0399 && $(json real frames.0.time) < 0.0401" # four steps a frame

# Multigrid leaves less divergence than the usual 20 Jacobi iterations.
left() {
  expect 0 $on --scene backward-step --size 129x33 --frames 6 --steps-per-frame 1 --cold-start --json "$@"
  json real frames.5.divergence_after
}
multigrid=$(left --solver multigrid --iterations 4)
jacobi=$(left --solver jacobi --iterations 20)
holds "multigrid against Jacobi" "$multigrid < 0.05 * $jacobi"
holds "CG" "$(left --solver cg --iterations 200) < 0.05 * $jacobi"
holds "multigrid-CG" "$(left --solver multigrid-cg --iterations 6) < 0.01 * $jacobi"

# A build without OpenGL refuses to draw, and does everything else.
pictures=yes
"$program" --headless $on --size 8x8 --frames 0 --picture probe.png >../log/out 2>../log/err
grep -q 'this build has no OpenGL' ../log/err && pictures=no

if [ $pictures = yes ]; then
  # Pictures of every view, of a flow and of a fluid at rest.
  for view in dye speed pressure divergence vorticity; do
    expect 0 $on --scene cylinder --size 60x20 --frames 4 --view $view --picture-size 120x40 --picture $view.png
    is_png $view.png 120x40
    expect 0 $on --scene cylinder --size 60x20 --frames 0 --view $view --picture-size 120x40 --picture still.png
    is_png still.png 120x40
    [ $view = divergence ] || differ $view.png still.png
  done
  differ speed.png vorticity.png
  expect 0 $on --scene cylinder --size 60x20 --frames 4 --view speed --picture-size 120x40 --arrows --picture arrows.png
  differ arrows.png speed.png
  expect 0 $on --scene cylinder --size 60x20 --frames 4 --view speed --picture-size 48x16 --picture small.png
  is_png small.png 48x16
  expect 0 $on --scene cylinder --size 60x20 --frames 0 --view speed --picture-size 48x16 --picture still.png
  differ small.png still.png
  expect 0 $on --scene cavity --size 20x20 --frames 2 --particles 0 --picture none.png
  expect 0 $on --scene cavity --size 20x20 --frames 2 --particles 300 --picture some.png
  is_png some.png 960x960
  differ none.png some.png
  expect 0 $on --size 16x16 --frames 1 --picture way.png --json
  case $group in
  gl) same "drawn" "$(json string drawn)" texture ;;
  cpu) same "drawn" "$(json string drawn)" "copied through the host" ;;
  *) json string drawn >/dev/null ;; # depends on the OpenGL driver
  esac

  expect 0 $on --size 32x18 --frames 3 --frames-dir frames --picture-size 64x36
  same "frames" "$(ls frames | tr '\n' ' ')" "frame-00000.png frame-00001.png frame-00002.png "
  is_png frames/frame-00002.png 64x36
  differ frames/frame-00000.png frames/frame-00002.png

  if ffmpeg -version >/dev/null 2>&1 && ffprobe -version >/dev/null 2>&1; then
    expect 0 $on --size 33x19 --frames 5 --video video.mp4
    same "frames of the video" "$(ffprobe -v error -count_frames -select_streams v -show_entries \
      stream=nb_read_frames,width,height -of csv=p=0 video.mp4)" 958,552,5
    same "nothing beside the video" "$(ls video*)" video.mp4
    if ffmpeg -v error -encoders | grep -q libvpx-vp9; then
      expect 0 $on --size 32x18 --frames 3 --picture-size 64x36 --video other.webm
      same "format of the other video" "$(ffprobe -v error -show_entries stream=codec_name -of csv=p=0 other.webm)" vp9
    fi
    "$program" --headless $on --size 32x32 --frames 1000000 --video ended.mkv >../log/out 2>../log/err &
    for _ in $(seq 600); do ls ended.mkv.?????? >/dev/null 2>&1 || sleep 0.1; done
    ls ended.mkv.?????? >/dev/null 2>&1 || fail "there is no video to end"
    kill $!
    wait $! 2>/dev/null
    # Before the first frame the program ends at once; later it finishes the video.
    same "what is left of a video that was ended" "$(ls ended* 2>/dev/null | grep -cvx ended.mkv)" 0
    if [ -e ended.mkv ]; then
      ffprobe -v error ended.mkv >../log/out 2>../log/err || fail "the video that was ended is not whole"
    fi
  fi
else
  refuse 1 "this build has no OpenGL" $on --size 8x8 --frames 1 --picture refused.png
fi

# Walls from a picture that is half dark. Grey above the middle is light.
"$wall_png" half.png '##++' '##++' '##++' '##++'
expect 0 $on --size 16x16 --frames 1 --walls half.png --json
same "fluid cells" "$(json integer fluid_cells)" 128
# Transparent pixels are light, regardless of their colour.
"$wall_png" transparent.png 'bb##' 'ww##' 'bb##' 'ww##'
expect 0 $on --size 16x16 --frames 1 --walls transparent.png --json
same "fluid cells beside transparent pixels" "$(json integer fluid_cells)" 128
"$wall_png" corner.png '....' '....' '....' '#...'
expect 0 $on --scene cavity --size 8x8 --frames 1 --walls corner.png --json
same "fluid cells" "$(json integer fluid_cells)" 60

# Walls that close the only outlet cause a message, and the flow stays finite.
"$wall_png" closed.png '...#' '...#' '...#' '...#'
expect 0 $on --scene backward-step --size 32x16 --frames 5 --walls closed.png --json
said "fluid: closed.png: every outlet is closed"
same "outlet" "$(json boolean outlet_closed), $(json boolean finite)" "true, true"
holds "inflow" "$(json real inflow) > 0.99 && $(json real incompatible) > 0.99"
expect 0 $on --scene backward-step --size 32x16 --frames 1 -q --walls closed.png
same "quiet" "$(cat ../log/err ../log/out)" ''

# A lid drags the fluid along, and the fluid flows back below.
expect 0 $on --scene cavity --size 24x20 --frames 20 --profile lid.csv --json --probe 0.6,0.9
same "profile" "$(wc -l <lid.csv) $(head -n 1 lid.csv)" "45 line,position,u,v"
holds "flow below the lid" "$(awk -F, '$1 == "vertical" { u = $3 } END { print u }' lid.csv) > 0.2"
holds "flow back" "$(awk -F, '$1 == "vertical" && $3 < least { least = $3 } END { print least + 0 }' lid.csv) < -0.005"
holds "probe" "$(json real frames.19.probe.0) > 0.05"

# The CPU gives the same result.
if [ "$group" != cpu ]; then
  for scene in splat backward-step cylinder smoke cavity; do
    for backend in $group cpu; do
      expect 0 --backend $backend --scene $scene --size 40x24 --frames 8 --steps-per-frame 1 --profile $backend.csv
    done
    paste -d, $group.csv cpu.csv >both.csv
    holds "$scene on $group and cpu" "$(awk -F, 'NR > 1 { d = $3 - $7; e = $4 - $8; s += d * d + e * e; t += $7 * $7 + $8 * $8 }
      END { print sqrt(s) / (sqrt(t) + 1e-6) }' both.csv) < 2e-3"
  done
fi

# Parameters that are too large have a separate exit status, and the report is still printed.
expect 3 $on --scene smoke --size 16x16 --frames 40 --vorticity-confinement 1e6 --buoyancy 1e6 --json
said "the flow became infinite or NaN"
same "finite" "$(json boolean finite)" false

expect 0 $on --bench --size 32x32 --json
for key in step_paper_cycles.milliseconds step.milliseconds stage_milliseconds.pressure \
  jacobi_equal_time.divergence_after; do
  holds "$key" "$(json real $key) > 0"
done
