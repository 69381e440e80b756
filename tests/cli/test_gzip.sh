# Files compressed by gzip are recognised by their content, and outputs are compressed if their names end in
# .gz.
small_system
laplacian l.mtx 40
gzip -c spd.mtx >m.gz
gzip -c b.mtx >v.mtx

# As a matrix, right-hand side, start and standard input, regardless of the name.
expect 0 solve m.gz -b v.mtx --x0 v.mtx --backend cpu -o x.mtx -q
vector_near x.mtx 1e-5 1 2 3
checks=$((checks + 1))
"$texsolve" solve - -b v.mtx --backend cpu -o x.mtx -q <m.gz 2>../log/err || fail "a matrix from standard input"
vector_near x.mtx 1e-5 1 2 3
expect 0 lcp m.gz v.mtx --backend cpu -o x.mtx -q
vector_near x.mtx 1e-5 0 0 0
printf '2\n2\n2\n1\n0\n0\n1\n2\n-3\n-4\n' >lcp.txt
"$texsolve" lcp lcp.txt --backend cpu -q 2>../log/err
plain=$?
gzip -c lcp.txt >lcp.gz
expect $plain lcp lcp.gz --backend cpu -q

# Several compressed files in sequence, followed by zeros.
{ head -n 3 spd.mtx | gzip; sed 1,3d spd.mtx | gzip -1; head -c 512 /dev/zero; } >m.mtx
expect 0 solve m.mtx -b b.mtx --backend cpu -o x.mtx -q
vector_near x.mtx 1e-5 1 2 3
# An error names the line of the uncompressed text. A byte order mark is skipped.
{ printf '\357\273\277'; sed '4s/1/x/' spd.mtx; } | gzip >m.mtx
refuse 1 "m.mtx:4: column 'x'" solve m.mtx --backend cpu
gzip -c m.gz >m.mtx
refuse 1 "m.mtx: compressed by gzip, expected a Matrix Market file (hint: \`gzip -d' uncompresses it)" solve m.mtx --backend cpu
: | gzip >m.mtx
refuse 1 'm.mtx:1: an empty file' solve m.mtx --backend cpu

# Damaged files.
gzip -c l.mtx >whole.gz
bytes=$(wc -c <whole.gz)
for length in 3 5 10 100 $((bytes / 2)) $((bytes - 9)) $((bytes - 1)); do
  head -c "$length" whole.gz >m.mtx
  refuse 1 'm.mtx: compressed by gzip, but the compressed data are not complete, expected a Matrix Market file' \
    solve m.mtx --backend cpu -o x.gz
done
{ cat whole.gz && echo more; } >m.mtx
refuse 1 'm.mtx: compressed by gzip, but other data follow the compressed data' solve m.mtx --backend cpu
{ head -c 3000 whole.gz && printf xx && tail -c +3003 whole.gz; } >m.mtx
refuse 1 'm.mtx: compressed by gzip, but ' solve m.mtx --backend cpu
{ head -c $((bytes - 8)) whole.gz && printf 'abcd' && tail -c 4 whole.gz; } >m.mtx
refuse 1 'm.mtx: compressed by gzip, but incorrect data check' solve m.mtx --backend cpu
refuse 1 'm.mtx: compressed by gzip, but ' poisson --size 5 --rhs m.mtx --backend cpu

# Outputs equal those of a run without .gz, for any number of threads. These outputs have two parts.
expect 0 poisson --size 257 --backend cpu -o plain.mtx -q
[ "$(wc -c <plain.mtx)" -gt 1048576 ] || fail "the output is too short for two parts"
for threads in 1 2 7; do
  expect 0 poisson --size 257 --backend cpu --threads $threads -o "$threads.mtx.gz" -q
  gzip -dc "$threads.mtx.gz" >back.mtx || fail "gzip does not uncompress the output"
  cmp back.mtx plain.mtx || fail "the compressed output is another one"
  cmp "$threads.mtx.gz" 1.mtx.gz || fail "$threads threads make another file"
done
expect 0 poisson --size 257 --rhs 1.mtx.gz --backend cpu -o again.mtx -q
expect 0 poisson --size 257 --rhs plain.mtx --backend cpu -o wanted.mtx -q
cmp again.mtx wanted.mtx || fail "a compressed right-hand side is another one"
expect 0 poisson --size 65 --backend cpu -o plain.npy -q
expect 0 poisson --size 65 --backend cpu -o packed.npy.gz -q
gzip -dc packed.npy.gz | cmp - plain.npy || fail "the compressed NumPy file is another one"
expect 0 poisson --size 65 --rhs packed.npy.gz --backend cpu -o again.mtx -q
expect 0 poisson --size 65 --rhs plain.npy --backend cpu -o wanted.mtx -q
cmp again.mtx wanted.mtx || fail "a compressed NumPy file is another right-hand side"
checks=$((checks + 1))
"$texsolve" poisson --size 65 --rhs - --backend cpu -o again.mtx -q <packed.npy.gz 2>../log/err || fail "standard input"
cmp again.mtx wanted.mtx || fail "a compressed NumPy file on standard input is another right-hand side"
expect 0 solve l.mtx --backend cpu -o x.mtx.gz --history h.csv.gz -q
[ "$(gzip -dc h.csv.gz | head -n 1)" = iteration,sqrt_delta_ratio ] || fail "the history is not compressed"

# Failed writes are errors, and an existing output is unchanged.
echo before >x.mtx.gz
refuse 1 'bad.mtx: No such file' solve bad.mtx --backend cpu -o x.mtx.gz
same "the old output" "$(cat x.mtx.gz)" before
if [ -w /dev/full ]; then
  ln -s /dev/full ../log/full.gz
  refuse 1 'full.gz: No space left on device' solve spd.mtx --backend cpu -o ../log/full.gz -q
fi
