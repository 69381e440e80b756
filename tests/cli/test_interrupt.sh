# A signal while the outputs are open: nothing of them is left.
small_system
mkfifo pipe
"$texsolve" solve spd.mtx -b pipe --backend cpu -o x.mtx --history h.csv >../log/out 2>../log/err &
process=$!
# It waits for the right-hand side; its outputs are open by then.
tries=0
while [ "$(ls | grep -c '^[xh]\.')" -lt 2 ] && [ $tries -lt 600 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
same "temporary files while it runs" "$(ls | grep -c '^[xh]\.')" 2
same "outputs while it runs" "$(ls | grep -c -x -e x.mtx -e h.csv)" 0
kill -TERM $process
wait $process
same "status" $? 143
same "files after the signal" "$(ls | tr '\n' ' ')" 'b.mtx pipe spd.mtx '
