# Wrong usage: exit status 2 and one line. Files that cannot be read or written: status 1, before the work begins.
refuse 2 "--scene: 'avalanche', expected pile, boxes, wall, arch, cards, stack, slope or slide" --scene avalanche
for number in 0 -1 x 100001; do refuse 2 "--bodies: '$number', expected a whole number from 1 to 100000" --bodies "$number"; done
for number in -1 -1e-9 nan inf x 101; do refuse 2 "--friction: '$number', expected a number from 0" --friction "$number"; done
for number in -1 1.1 nan x; do refuse 2 "--restitution: '$number', expected" --restitution "$number"; done
for number in 0 -1 nan x 1; do refuse 2 "--time-step: '$number', expected seconds from 1e-5 to 0.1" --time-step "$number"; done
for number in 0 -1 x; do refuse 2 "--max-sweeps: '$number', expected" --max-sweeps "$number"; done
for number in 0 -1 1 x; do refuse 2 "--rtol: '$number', expected" --rtol "$number"; done
refuse 2 "--scheme: 'jacobi', expected auto, row, column, block, graph, graph-2" --scheme jacobi
refuse 2 "--acceleration: 'x', expected auto, none or momentum" --acceleration x
refuse 2 "--precision: 'half', expected auto, single or double" --precision half
refuse 2 "--backend: 'metal', expected one of auto, cuda, gl" --backend metal
refuse 2 "--threads: '0', expected" --threads 0
refuse 2 "--frames: '-1', expected" --frames -1
refuse 2 "--steps-per-frame: '0', expected" --steps-per-frame 0
refuse 2 "--picture-size: '8x8', expected" --picture-size 8x8
refuse 2 "--shading: 'fine', expected auto, coarse or full" --shading fine
refuse 2 "'video.mp4', expected options only" video.mp4
refuse 2 "--bench writes no files" --bench --video video.mp4

# Without --headless.
checks=$((checks + 1))
"$program" --json >../log/out 2>../log/err </dev/null
same "the exit status of --json alone" $? 2
said "contact: --json needs --headless"

cpu="--backend cpu --scene slide --frames 1"
refuse 1 "no-directory/a.png: No such file" $cpu --picture no-directory/a.png
refuse 1 "no-directory/a.mp4: " $cpu --video no-directory/a.mp4
refuse 1 "a.txt: unknown video format, expected .mp4, .mkv, .mov or .webm" $cpu --video a.txt
echo "no directory" >text.png
refuse 1 "text.png: Not a directory" $cpu --frames-dir text.png

# Files and streams.
. "$here/../common/output_checks.sh"
bad_values $cpu
refuse 2 "--picture: 'a.jpg', expected a name that ends in .png" $cpu --picture a.jpg
"$program" --headless $cpu --frames 0 --picture probe.png >../log/out 2>../log/err
if ! grep -q 'this build has no OpenGL' ../log/err; then
  rm -f probe.png
  short="$cpu --picture-size 32x24"
  outputs --picture png $short
  streams a.png $short --picture a.png
  if command -v ffmpeg >/dev/null; then
    outputs --video mp4 $short
    films --backend cpu --scene slide --picture-size 32x24
  fi
fi

documented
