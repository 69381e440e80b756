# Arguments: help, version, and all refusals with status 2.
small_system

expect 2
grep -q 'Usage: texsolve' ../log/err || fail "no usage without arguments"
expect 0 --help
grep -q 'Usage: texsolve' ../log/out || fail "no usage with --help"
expect 0 --version
grep -qx 'texsolve [0-9]*\.[0-9]*\.[0-9]*' ../log/out || fail "--version says no version"
same "lines of --version" "$(wc -l <../log/out | tr -d ' ')" 1
expect 0 help solve
for option in backend format preconditioner rtol max-iterations check-interval history json quiet verbose output x0 \
  stop rectangle threads solver restart reorder precision block-size degree amg-strength amg-smoother amg-sweeps amg-visits \
  amg-levels amg-coarsest; do
  grep -q -- "--$option" ../log/out || fail "help solve does not mention --$option"
done
for name in cuda:all multi:; do
  grep -q -e "$name" ../log/out || fail "help solve does not mention $name"
done
expect 0 info --help
expect 0 solve --version

refuse 2 "unknown command 'slove', expected one of info, solve, poisson" slove
refuse 2 "no matrix given" solve
refuse 2 "'b.mtx' after the matrix" solve spd.mtx b.mtx
expect 2 solve spd.mtx --no-such-option
expect 2 solve spd.mtx -b
expect 2 info extra

refuse 2 'unknown backend "metal"; known are auto, gl' solve spd.mtx --backend metal
refuse 2 "unknown backend" solve spd.mtx --backend check
refuse 2 "--format: 'csc', expected auto, jagged, segments, csr" solve spd.mtx --format csc
refuse 2 "--preconditioner: 'lu', expected auto, none, jacobi, block-jacobi, chebyshev, isai, ilu, ic, amg or direct" solve spd.mtx --preconditioner lu
for option in "fill 3" "drop-tolerance 0" "levels 0" "sweeps 3"; do
  refuse 2 "--${option% *}: requires --preconditioner ilu or ic" solve spd.mtx --${option% *} ${option#* }
done
refuse 2 "--scaling: requires --preconditioner ilu" solve spd.mtx --preconditioner ic --scaling none
refuse 2 "--fill: cannot be combined with --levels" solve spd.mtx --preconditioner ic --fill 3 --levels 0
refuse 2 "--fill: '0.5', expected a number from 1 to 1000" solve spd.mtx --preconditioner ilu --fill 0.5
refuse 2 "--drop-tolerance: '1', expected a number from 0 to 0.99" solve spd.mtx --preconditioner ilu --drop-tolerance 1
refuse 2 "--sweeps: '33', expected a whole number from 1 to 32" solve spd.mtx --preconditioner ilu --sweeps 33
refuse 2 "--stop: 'never', expected residual or delta" solve spd.mtx --stop never
refuse 2 "--precision: 'half', expected auto, single, mixed or double" solve spd.mtx --precision half
refuse 2 "--solver: 'lu', expected auto, cg, minres, bicgstab, idr, gmres, lsmr, cgls, richardson or direct" solve spd.mtx --solver lu
refuse 2 "--solver direct: expected --preconditioner direct or none given" solve spd.mtx --solver direct --preconditioner amg
for m in 0 201 x; do
  refuse 2 "--restart: '$m', expected a whole number from 1 to 200" solve spd.mtx --solver gmres --restart "$m"
done
refuse 2 "--restart: requires --solver gmres" solve spd.mtx --restart 5
for n in 0 17 x; do
  refuse 2 "--degree: '$n', expected a whole number from 1 to 16" solve spd.mtx --preconditioner chebyshev --degree "$n"
done
refuse 2 "--degree: requires --preconditioner chebyshev" solve spd.mtx --degree 4
refuse 2 "--block-size: requires --preconditioner block-jacobi" solve spd.mtx --block-size 3
for s in -0.1 1 x; do
  refuse 2 "--amg-strength: '$s', expected a number from 0 to 0.99" solve spd.mtx --preconditioner amg --amg-strength "$s"
done
refuse 2 "--amg-smoother: 'sor', expected auto, chebyshev, chebyshev4, jacobi or l1-jacobi" solve spd.mtx \
  --preconditioner amg --amg-smoother sor
for option in strength smoother sweeps visits levels coarsest; do
  refuse 2 "--amg-$option: requires --preconditioner amg" solve spd.mtx \
    --amg-$option "$(echo $option | sed 's/smoother/jacobi/; s/strength/0.1/; s/^[a-z]*[slt]$/1/')"
done
refuse 2 "--stop delta: requires --solver cg" solve spd.mtx --solver bicgstab --stop delta
refuse 2 "--reorder: 'nd', expected none, rcm or random" solve spd.mtx --reorder nd
expect 2 bench spmv --reorder nd
grep -qF -e "--reorder: 'nd', expected none, rcm" ../log/err || fail "bench does not name the orders"
expect 2 bench blas --reorder rcm
for rtol in 0 -1e-5 1 nan inf abc 1e-5x ''; do
  refuse 2 "--rtol: '$rtol', expected a number between 0 and 1" solve spd.mtx --rtol "$rtol"
done
for n in 0 -1 x 1.5 99999999999999999999 ''; do
  refuse 2 "--max-iterations: '$n', expected" solve spd.mtx --max-iterations "$n"
done
for n in 0 1025 x; do
  refuse 2 "--check-interval: '$n', expected a whole number from 1 to 1024" solve spd.mtx --check-interval "$n"
done
refuse 2 "--threads: '0', expected" solve spd.mtx --threads 0
for size in 32 32x x32 32x32x32 axb 0x4 -4x4; do
  refuse 2 "--rectangle: '$size', expected WIDTHxHEIGHT" solve spd.mtx --rectangle "$size"
done
# Every option without a file name refuses an invalid value, and no file name may be empty.
for command in 'solve spd.mtx --solver gmres' 'lcp spd.mtx b.mtx' 'poisson --size 5' info 'bench spmv --size 64' 'bench amg --size 64'; do
  # shellcheck disable=SC2086
  "$texsolve" ${command%% *} --help >../log/help
  for option in $(grep -o -e '--[a-z0-9-]*=[^ ]*' ../log/help | sort -u); do
    # shellcheck disable=SC2086
    refuse 2 "" $command --backend cpu "${option%%=*}="
    case $option in
    *=FILE | --matrix=*) continue ;; # a valid file name
    esac
    # shellcheck disable=SC2086
    refuse 2 "" $command --backend cpu "${option%%=*}=bad~"
  done
done
for name in gl:x gl: cuda:0+ multi: multi:cpu+ cpu+cpu check:; do
  refuse 2 "--backend: '$name', expected one of auto, " bench blas --backend "$name"
done
refuse 2 "powers of two" solve spd.mtx --rectangle 12x12 --backend cpu
refuse 2 "expected two files" solve spd.mtx -o x --history x
refuse 2 "expected one file on standard input" solve - -b -

# A known but unavailable feature is an error, not wrong usage.
refuse 1 "cuda" solve spd.mtx --backend cuda:9999
refuse 1 "segments" solve spd.mtx --backend cpu --format segments

# The manual page documents every option, and is well-formed if man is available for the check.
page=$here/../../docs/texsolve.1
for command in solve info bench; do
  expect 0 help $command
  for option in $(grep -o -e '--[a-z0-9][a-z0-9-]*' ../log/out | sort -u); do
    checks=$((checks + 1))
    tr -d '\\' <"$page" | grep -qF -e "$option" || fail "the man page lacks $option of $command"
  done
done
if man --version >/dev/null 2>&1; then
  warnings=$(man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null)
  same "warnings of the man page" "$warnings" ''
fi
