# Wrong usage: exit status 2 and one line. Files that cannot be read or written: status 1, before the work begins.
refuse 2 "--scene: 'waterfall', expected splat, backward-step, cylinder, smoke or cavity" --scene waterfall
for size in 3x8 8x3 0x0 8 8x -8x8 x 40000x8; do
  refuse 2 "--size: '$size', expected WIDTHxHEIGHT of 4 to 32768 cells" "--size=$size"
done
for number in 0 -1 nan inf x '' 2000; do
  refuse 2 "--time-step: '$number', expected seconds from 1e-9 to 1000" --time-step "$number"
done
for number in -1 nan inf x; do refuse 2 "--viscosity: '$number', expected m^2/s" --viscosity "$number"; done
for number in 0 -1 nan x; do refuse 2 "--reynolds: '$number', expected" --scene cavity --reynolds "$number"; done
refuse 2 "--viscosity and --reynolds are both given, expected one of them" --scene cavity --viscosity 1 --reynolds 1
refuse 2 "--solver: 'gauss', expected multigrid, multigrid-cg, cg or jacobi" --solver gauss
for number in 0 -1 1001 x; do refuse 2 "--iterations: '$number', expected" --iterations "$number"; done
refuse 2 "--smoother: 'sor', expected auto, jacobi" --smoother sor
refuse 2 "--storage: 'x', expected auto, plain, layered or parities" --storage x
refuse 2 "--interpolation: 'x', expected auto, bilinear or operator" --interpolation x
refuse 2 "--cycle: 'U', expected auto, V, W or F" --cycle U
refuse 2 "--pre: '17', expected a whole number from 0 to 16" --pre 17
refuse 2 "--advection: 'x', expected auto, semi-lagrangian or maccormack" --advection x
refuse 2 "--layout: 'x', expected auto, staggered or collocated" --layout x
refuse 2 "--view: 'x', expected dye, speed, pressure, divergence or vorticity" --view x
refuse 2 "--backend: 'metal', expected one of auto, cuda, gl" --backend metal
refuse 2 "--frames: '-1', expected" --frames -1
refuse 2 "--steps-per-frame: '0', expected" --steps-per-frame 0
refuse 2 "--picture-size: '8x8', expected" --picture-size 8x8
refuse 2 "--probe: '1', expected X,Y in metres" --json --probe 1
refuse 2 "--probe needs --json" --probe 1,0.5
refuse 2 "--reynolds: '1e30', expected a number from 1e-6 to 1e12" --scene cavity --reynolds 1e30
refuse 2 "'video.mp4', expected options only" video.mp4
refuse 2 "--bench writes no files" --bench --video video.mp4

# Without --headless.
checks=$((checks + 1))
"$program" --json >../log/out 2>../log/err </dev/null
same "the exit status of --json alone" $? 2
said "fluid: --json needs --headless"

# Options that are valid on their own but do not fit the scene.
cpu="--backend cpu --frames 1"
refuse 1 "--probe: 5,0.5, expected a point of the domain, from 0,0 to 1.778,1 m" $cpu --json --probe 5,0.5
refuse 1 "--probe: 1,-0.1, expected a point of the domain" $cpu --json --probe 1,-0.1
refuse 1 "a Reynolds number of 100: this scene does not define a speed and a length" $cpu --scene splat --reynolds 100
refuse 1 "a time step of 500 s, expected at most" $cpu --scene backward-step --time-step 500
refuse 1 "nowhere.png: " $cpu --walls nowhere.png
echo "no picture" >text.png
refuse 1 "text.png: Not a PNG file, expected a picture of walls" $cpu --walls text.png
"$wall_png" full.png '##' '##'
refuse 1 "full.png: all cells are dark" $cpu --walls full.png --size 8x8
refuse 1 "no-directory/a.png: No such file" $cpu --picture no-directory/a.png
refuse 1 "no-directory/a.csv: No such file" $cpu --profile no-directory/a.csv
refuse 1 "no-directory/a.mp4: " $cpu --video no-directory/a.mp4
refuse 1 "a.txt: unknown video format, expected .mp4, .mkv, .mov or .webm" $cpu --video a.txt
refuse 1 "text.png: Not a directory" $cpu --frames-dir text.png
refuse 1 "this output is also an input" $cpu --walls full.png --picture full.png
mkdir bin
PATH_BEFORE=$PATH
for tool in ls cksum wc grep cat sed head; do ln -s "$(command -v $tool)" bin/; done
PATH=$PWD/bin
refuse 1 "videos need ffmpeg, which is not installed" $cpu --video a.mp4
PATH=$PATH_BEFORE

# Files and streams.
. "$here/../common/output_checks.sh"
short="--backend cpu --size 32x24 --frames 2"
bad_values $short
refuse 2 "--picture: 'a.jpg', expected a name that ends in .png" $short --picture a.jpg
outputs --profile csv $short
expect 0 $short --profile -
same "the first line of the profile" "$(head -n 1 ../log/out)" line,position,u,v
grep -q '^result ' ../log/err || fail "no report on standard error"
streams a.csv $short --profile a.csv
"$program" --headless --size 8x8 --frames 0 --video probe.mp4 >../log/out 2>../log/err # refused by a build without OpenGL
rm -f probe.mp4
if command -v ffmpeg >/dev/null && ! grep -q 'this build has no OpenGL' ../log/err; then
  outputs --video mp4 $short
  films --backend cpu --size 32x24
  if script --version >/dev/null 2>&1; then
    typed f.mp4 --backend cpu --size 32x24 --frames 100000 -v --video f.mp4
    rm f.mp4
  fi
  # A video that exceeds the file size limit is an error, and no file is left. Ignoring the signal makes writes fail, as on a full disk.
  for ending in mp4 mkv mov webm; do
    checks=$((checks + 1))
    (
      trap '' XFSZ
      ulimit -f 1
      exec "$program" $short -q --headless --video "f.$ending" >../log/out 2>../log/err </dev/null
    )
    same "status of a .$ending for which there is no room" $? 1
    said "fluid: f.$ending: "
    same "files of a .$ending for which there is no room" "$(ls | grep -c '^f[.]')" 0
  done
fi

documented
