# texsolve info: every backend is named, with its device or the reason for its absence.
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
expect 0 info --backend check:cpu
expect "$cuda_status" info --backend cuda
expect 2 info --backend metal
[ -w /dev/full ] && {
  "$texsolve" info >/dev/full 2>../log/err
  same "status of a lost report" $? 1
}
