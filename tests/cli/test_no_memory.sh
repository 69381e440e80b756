# If argp cannot allocate memory for the arguments, a command ends with an error instead of running without
# arguments.
small_system
export LD_PRELOAD="$drivers" ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0"
for command in "solve spd.mtx" poisson "lcp spd.mtx b.mtx" info; do
  # shellcheck disable=SC2086
  expect 1 $command
  grep -q '^texsolve: the arguments cannot be read: ' ../log/err || fail "texsolve $command: no word about the arguments"
  [ -s ../log/out ] && fail "texsolve $command: something on standard output"
done
unset LD_PRELOAD
