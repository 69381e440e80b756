# The command as several processes started by mpirun: one report and one x, errors printed once, and a process
# that dies. DRIVERS is mpirun.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
export ASAN_OPTIONS=intercept_tls_get_addr=0:detect_leaks=0 # MPI leaks memory from modules that it unloads
mpirun=$drivers

# ranks COUNT STATUS ARGUMENTS...
ranks() {
  count=$1 wanted=$2
  shift 2
  checks=$((checks + 1))
  timeout 120 "$mpirun" --oversubscribe --bind-to none -n "$count" "$texsolve" "$@" >../log/out 2>../log/err </dev/null
  status=$?
  [ "$status" -eq "$wanted" ] || fail "$count ranks, texsolve $*: exit status $status, expected $wanted"
}
# says TEXT: exactly one of the processes prints it.
says() {
  checks=$((checks + 1))
  [ "$(grep -cF -- "$1" ../log/err)" -eq 1 ] || fail "standard error does not have '$1' once"
}

# A tridiagonal matrix of 40 rows. x is 1, 2, ..., 40.
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print 40, 40, 79
  for (i = 1; i <= 40; i++) { print i, i, 4; if (i < 40) print i + 1, i, -1 } }' >a.mtx
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 40, 1
  for (i = 1; i <= 40; i++) print 4 * i - (i > 1 ? i - 1 : 0) - (i < 40 ? i + 1 : 0) }' >b.mtx
metis="--partition metis" # if it is built in
"$texsolve" solve a.mtx -b b.mtx --backend multi:cpu+cpu $metis >../log/out 2>../log/err || metis=
for count in 1 2 3 7; do
  for how in "" "$metis" "--reorder rcm" "--solver bicgstab" "--preconditioner isai"; do
    rm -f x.mtx
    ranks "$count" 0 solve a.mtx -b b.mtx --backend cpu --rtol 1e-12 -o x.mtx $how
    same "reports of $count ranks" "$(grep -c '^matrix .*40 rows, 118 nonzeros' ../log/out)" 1
    same "x of $count ranks, $how" "$(awk '!/^%/ && n++ { d = $1 - (n - 1); if (d * d > 1e-18) bad++ } END { print n - 1, bad + 0 }' x.mtx)" "40 0"
  done
done
# Nine right-hand sides, which are multiples of the first, so x is 1, 2, ..., 40 times 1 to 9.
awk '/^%/ { print; next } !n++ { print 40, 9; next } { v[n - 1] = $1 } END { for (c = 1; c <= 9; c++) for (i = 1; i < n; i++) print c * v[i] }' \
  b.mtx >b9.mtx
for how in "" "--reorder rcm"; do
  # shellcheck disable=SC2086
  ranks 3 0 solve a.mtx -b b9.mtx --backend cpu --rtol 1e-12 -o x9.mtx $how
  same "groups of 3 ranks" "$(grep -c '^groups      3 of up to 4 columns' ../log/out)" 1
  same "9 columns of 3 ranks, $how" "$(awk '!/^%/ && n++ { k = n - 2; d = $1 / ((k % 40 + 1) * (int(k / 40) + 1)) - 1
    if (d * d > 1e-18) bad++ } END { print n - 1, bad + 0 }' x9.mtx)" "360 0"
done
ranks 3 0 solve a.mtx -b b9.mtx --x0 x9.mtx --backend cpu --json
same "iterations from the solution" "$(json integer iterations)" 0
ranks 2 3 solve a.mtx -b b9.mtx --backend cpu --max-iterations 2 --rtol 1e-12
says "columns 1 to 9 of 9, the worst is"
ranks 3 0 solve a.mtx -b b.mtx --backend multi:cpu+cpu --json
same "parts" "$(json string choice | grep -c "in 6 parts")" 1

file r.mtx '%%MatrixMarket matrix coordinate real general' '3 2 3' '1 1 1' '2 2 1' '3 1 1'
ranks 3 1 solve r.mtx --backend cpu
says "texsolve: r.mtx:2: 3 rows and 2 columns, expected a square matrix for several processes"
ranks 3 1 solve a.mtx --backend cpu --solver lsmr
says "texsolve: a.mtx: several processes cannot transpose a matrix, expected one for --solver lsmr"
ranks 1 0 solve r.mtx --backend cpu
ranks 3 1 solve none.mtx --backend cpu
says "texsolve: none.mtx: No such file"
ranks 3 2 solve a.mtx -b b.mtx --backend gl
says 'not "gl"'
ranks 3 0 solve a.mtx -b b.mtx --backend cpu --preconditioner amg
ranks 21 1 solve a.mtx --backend cpu --preconditioner amg --amg-unknowns 2
says "20 nodes of 2 rows are less than 21 ranks"

# Nodes are not divided: a beam of springs between 90 x 12 nodes, fixed at one end, with rigid-body modes as its
# near-null space.
awk -v w=90 -v h=12 'function add(i, j, v) { if (i >= j) a[i " " j] += v }
  function spring(p, q, c, s, k, m, n, d) {
    d[0] = c; d[1] = s
    for (m = 0; m < 2; m++) for (n = 0; n < 2; n++) {
      add(2 * p + m + 1, 2 * p + n + 1, k * d[m] * d[n]); add(2 * q + m + 1, 2 * q + n + 1, k * d[m] * d[n])
      add(2 * p + m + 1, 2 * q + n + 1, -k * d[m] * d[n]); add(2 * q + m + 1, 2 * p + n + 1, -k * d[m] * d[n])
    } }
  BEGIN {
    for (y = 0; y < h; y++) for (x = 0; x < w; x++) {
      p = y * w + x
      if (x + 1 < w) spring(p, p + 1, 1, 0, 1)
      if (y + 1 < h) spring(p, p + w, 0, 1, 1)
      if (x + 1 < w && y + 1 < h) { spring(p, p + w + 1, 1, 1, 0.5); spring(p + 1, p + w, -1, 1, 0.5) }
      if (x == 0) { add(2 * p + 1, 2 * p + 1, 10); add(2 * p + 2, 2 * p + 2, 10) }
    }
    for (e in a) count++
    print "%%MatrixMarket matrix coordinate real symmetric"; print 2 * w * h, 2 * w * h, count
    for (e in a) print e, a[e]
  }' >beam.mtx
awk -v w=90 -v h=12 'BEGIN { print "%%MatrixMarket matrix array real general"; print w * h, 2
  for (k = 0; k < w * h; k++) print k % w; for (k = 0; k < w * h; k++) print int(k / w) }' >xy.mtx
awk -v w=90 -v h=12 'BEGIN { print "%%MatrixMarket matrix array real general"; print 2 * w * h, 3
  for (k = 0; k < w * h; k++) print "1\n0"; for (k = 0; k < w * h; k++) print "0\n1"
  for (k = 0; k < w * h; k++) print -int(k / w) "\n" k % w }' >modes.mtx
amg="--preconditioner amg --rtol 1e-10"
"$texsolve" solve beam.mtx --backend cpu $amg --coordinates xy.mtx --json -o one.mtx >../log/out 2>../log/err
one=$(json integer iterations)
for how in "3 cpu --coordinates xy.mtx" "2 multi:cpu+cpu --coordinates xy.mtx" \
  "3 cpu --amg-unknowns 2 --near-null-space modes.mtx"; do
  set -- $how
  count=$1 backend=$2
  shift 2
  ranks "$count" 0 solve beam.mtx --backend "$backend" $amg "$@" --json -o x.mtx
  near "iterations of $how" "$(json integer iterations)" "$one" 3
  same "x of $how" "$({ values one.mtx; echo; values x.mtx; } |
    awk '{ for (i = 1; i <= NF; i++) if (NR == 1) { x[i] = $i; s += $i * $i } else d += (x[i] - $i) ^ 2 } END { print (d < 1e-12 * s) }')" 1
done
ranks 3 0 solve beam.mtx --backend cpu $amg --amg-unknowns 2 --json
[ "$(json integer iterations)" -gt "$((one + 5))" ] || fail "as few iterations without coordinates"
file few.mtx "%%MatrixMarket matrix coordinate real symmetric" "3 3 3" "1 1 1" "2 2 1" "3 3 1"
ranks 5 1 solve few.mtx --backend cpu
says "3 rows are fewer than 5 ranks"

# info prints one report, with a line or a member for each rank.
ranks 3 0 info --backend cpu
same "headings of 3 ranks" "$(grep -c '^cpu *available on 3 ranks$' ../log/out)" 1
same "what joins 3 ranks" "$(grep -c '^  messages  *[^ ].*, on 1 host$' ../log/out)" 1
same "processes of 3 ranks" "$(sed -n 's/^  rank [0-2] .*, process \([0-2]\) of host ..*, 1 thread.*/\1/p' ../log/out | tr '\n' ' ')" "0 1 2 "
ranks 2 0 info --backend multi:cpu+cpu --json
same "hosts" "$(json integer hosts)" 1
same "rank 1's place" "$(json integer ranks.1.host_rank)" 1
same "rank 1's parts" "$(json integer ranks.1.parts)" 2
same "rank 1's device" "$(json string ranks.1.device)" "$("$texsolve" info --backend cpu | sed -n 's/^  device  *//p')"
ranks 2 2 info --backend gl
says 'not "gl"'
ranks 2 2 poisson
says "mpirun started 2 processes, but poisson uses one"

# bench scaling prints one report, on the same matrix as in one process. 600 rows are layers of 9 x 9 points,
# and a rank needs one layer of its neighbour.
export OMP_NUM_THREADS=1
"$texsolve" bench scaling --backend multi:cpu+cpu -s 600 -n 1 --json >../log/out 2>../log/err
entries="$(json integer strong.0.entries) $(json integer weak.1.entries)"
ranks 2 0 bench scaling --backend cpu -s 600 -n 2 --json
same "entries of 2 ranks" "$(json integer strong.0.entries) $(json integer weak.0.entries)" "$entries"
for key in parts:2 rows:600 rows_of_largest:300 halo_of_largest:81 halo_rows:162; do
  same "strong: ${key%:*}" "$(json integer "strong.0.${key%:*}")" "${key#*:}"
done
same "weak: rows" "$(json integer weak.0.rows) $(json integer weak.0.rows_of_largest)" "1200 600"
for key in microseconds_product microseconds_own microseconds_sum microseconds_whole; do
  same "$key" "$(json number "strong.0.$key" | awk '{ print ($1 > 0) }')" 1
done
cp ../log/out two.json
ranks 1 0 bench scaling --backend cpu -s 600 -n 2 --json # a job may have one rank
same "parts of 1 rank" "$(json integer strong.0.parts) $(json integer strong.0.halo_of_largest)" "1 0"
if command -v python3 >/dev/null; then
  checks=$((checks + 1))
  python3 "$here/../../bench/scaling_model.py" --measured ../log/out two.json >table 2>../log/err &&
    awk '$1 == "strong" || $1 == "weak" { n++; if ($5 != "-" && !($5 > 0)) exit 1 } END { exit n != 4 }' table || fail "no model of ranks"
fi
ranks 3 0 bench scaling --backend cpu -s 600 -n 1 -m random
same "tables of a matrix that does not grow" "$(grep -c '^-----' ../log/out)" 1
ranks 2 0 bench scaling --backend cpu -s 600 -m poisson3d --rtol 1e-6 --json
same "a solve's entries" "$(json integer solve.0.entries) $(json string solve.0.converged)" "${entries% *} yes"
same "its residual" "$(json number solve.0.relative_residual | awk '{ print ($1 > 0 && $1 <= 1e-6) }')" 1
ranks 2 1 bench scaling --backend cpu -s 6000 -m poisson3d --rtol 1e-12 --precision single
says "bench: not converged: "
ranks 2 1 bench scaling --backend cpu -s 600 -m none.mtx
says "none.mtx: No such file"
ranks 2 1 bench scaling --backend cpu -s 1
says "1 rows are fewer than 2 ranks"
ranks 2 2 bench spmv --backend cpu
says "but bench spmv uses one; info, solve and bench scaling use several"

# Rank 1 of three dies while rank 0 reads and rank 2 waits. The job must end soon, and mpirun must name the
# rank.
mkfifo pipe
cat >die.sh <<END
if [ "\$OMPI_COMM_WORLD_RANK" = 1 ]; then (sleep 2; kill -KILL \$\$) & fi
exec "$texsolve" solve a.mtx -b pipe --backend cpu
END
start=$(date +%s)
checks=$((checks + 1))
timeout 60 "$mpirun" --oversubscribe --bind-to none -n 3 sh die.sh >../log/out 2>../log/err </dev/null
status=$?
[ "$status" -ne 0 ] && [ "$status" -ne 124 ] || fail "a rank died: exit status $status"
[ $(($(date +%s) - start)) -lt 30 ] || fail "a rank died: the job ended after $(($(date +%s) - start)) s"
grep -q 'rank 1' ../log/err || fail "a rank died: it is not named"
