# The command as several processes that mpirun starts: one report and one x, errors said once, and a process that dies.
# DRIVERS is mpirun.
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
# says TEXT: once, by one of the processes.
says() {
  checks=$((checks + 1))
  [ "$(grep -cF -- "$1" ../log/err)" -eq 1 ] || fail "standard error does not have '$1' once"
}

# Tridiagonal, 40 rows; x is 1, 2, ..., 40.
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print 40, 40, 79
  for (i = 1; i <= 40; i++) { print i, i, 4; if (i < 40) print i + 1, i, -1 } }' >a.mtx
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 40, 1
  for (i = 1; i <= 40; i++) print 4 * i - (i > 1 ? i - 1 : 0) - (i < 40 ? i + 1 : 0) }' >b.mtx
metis="--partition metis" # where it is built in
"$texsolve" solve a.mtx -b b.mtx --backend multi:cpu+cpu $metis >../log/out 2>../log/err || metis=
for count in 1 2 3 7; do
  for how in "" "$metis" "--reorder rcm" "--solver bicgstab" "--preconditioner isai"; do
    rm -f x.mtx
    ranks "$count" 0 solve a.mtx -b b.mtx --backend cpu --rtol 1e-12 -o x.mtx $how
    same "reports of $count ranks" "$(grep -c '^matrix .*40 rows, 118 nonzeros' ../log/out)" 1
    same "x of $count ranks, $how" "$(awk '!/^%/ && n++ { d = $1 - (n - 1); if (d * d > 1e-18) bad++ } END { print n - 1, bad + 0 }' x.mtx)" "40 0"
  done
done
ranks 3 0 solve a.mtx -b b.mtx --backend multi:cpu+cpu --json
same "parts" "$(json string choice | grep -c "in 6 parts")" 1

ranks 3 1 solve none.mtx --backend cpu
says "texsolve: none.mtx: No such file"
ranks 3 2 solve a.mtx -b b.mtx --backend gl
says 'not "gl"'
ranks 3 0 solve a.mtx -b b.mtx --backend cpu --preconditioner amg
ranks 3 1 solve a.mtx --backend cpu --preconditioner amg --amg-unknowns 2
says "several ranks"
ranks 41 1 solve a.mtx --backend cpu
says "40 rows are less than 41 ranks"

# info: one report, with a line or a member for each rank.
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
says "mpirun has started 2 processes, and poisson takes one"

# bench scaling: one report, of the same matrix as in one process. 600 rows are layers of 9 x 9 points, of which a rank needs
# one of its neighbour's.
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
ranks 1 0 bench scaling --backend cpu -s 600 -n 2 --json # one rank of a job is one, too
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
says "1 rows are less than 2 ranks"
ranks 2 2 bench spmv --backend cpu
says "and bench spmv takes one; info, solve and bench scaling take several"

# Rank 1 of three dies while rank 0 reads and rank 2 waits: the job ends soon, and mpirun names the rank.
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
