# Machines without a driver, with an old one, and with one that finds no device: the messages of the CUDA
# backend, and `auto` continuing without it.
small_system
for driver in old none; do
  case $driver in
  old) text='the NVIDIA driver is for CUDA 9.2; this texsolve was built with CUDA' ;;
  none) text='no CUDA-capable device is detected' ;;
  esac
  export LD_LIBRARY_PATH="$drivers/$driver"
  expect 0 info
  grep -q "^cuda *not available: .*$text" ../log/out || fail "info does not say: $text"
  refuse 1 "$text" solve spd.mtx --backend cuda
  refuse 1 "$text" solve spd.mtx --backend check:cuda
  expect 0 solve spd.mtx -b b.mtx --backend auto -o x.mtx
  grep -q '^backend *cuda' ../log/out && fail "auto took a backend without a device"
  vector_near x.mtx 1e-4 1 2 3
  rm -f x.mtx
done
unset LD_LIBRARY_PATH
