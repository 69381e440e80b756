# texsolve info names every backend, with its device or the reason why it is not available.
expect 0 info
for backend in gl cpu cuda; do
  grep -q "^$backend " ../log/out || fail "info does not name $backend"
done
grep -q '^cpu *available' ../log/out || fail "the CPU backend is not available"
grep -qE '^cuda +(available|not available: .)' ../log/out || fail "no reason why CUDA is absent"
cuda_status=1
grep -q '^cuda *available' ../log/out && cuda_status=0

expect 0 info --json
json string version >/dev/null
json array backends >/dev/null

expect 0 info --backend cpu
grep -q 'threads *[1-9]' ../log/out || fail "no number of threads"
[ ! -r /proc/meminfo ] || grep -q 'memory *[0-9.]* GiB' ../log/out || fail "no memory"
expect 0 info --backend check:cpu
expect 0 info --backend multi:cpu+cpu
grep -q 'parts *2, ' ../log/out || fail "info does not say that there are two parts"
! grep -q drawing ../log/out || fail "info speaks of drawing from the processor"
expect 0 info --backend multi:cpu+cpu --json
same "parts" "$(json integer backends.0.parts)" 2
expect "$cuda_status" info --backend cuda
if [ $cuda_status = 0 ]; then # the same device twice; an OpenGL build also reports how its vectors are drawn
  expect 0 info --backend multi:cuda+cuda
  ! grep 'drawing' ../log/out | grep -qv 'its vectors are in 2 parts' || fail "info is wrong about drawing from several parts"
fi
expect 2 info --backend metal
[ -w /dev/full ] && {
  "$texsolve" info >/dev/full 2>../log/err
  same "status of a lost report" $? 1
}
