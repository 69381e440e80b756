# Doubles go in and come out whole, on every backend that is there.
backends=cpu
"$texsolve" info --backend gl >../log/out 2>&1 && backends="cpu gl"

# A start that solves the system comes back with all its digits, in another order of the unknowns too.
file m.mtx '%%MatrixMarket matrix coordinate real general' '3 3 4' '1 1 0.1' '2 2 0.30000000000000004' '3 3 1e-5' '1 3 0'
file x0.mtx '%%MatrixMarket matrix array real general' '3 1' 0.1 -1.2345678901234567e-7 3.1415926535897931
file b.mtx '%%MatrixMarket matrix array real general' '3 1' 0.010000000000000002 -3.7037036703703703e-08 3.1415926535897935e-05
for backend in $backends; do
  for order in none rcm random; do
    expect 0 solve m.mtx -b b.mtx --x0 x0.mtx --backend $backend --reorder $order -o x.mtx -q --rtol 1e-6
    vector_near x.mtx 0 0.1 -1.2345678901234567e-7 3.1415926535897931
    cmp -s ../log/err /dev/null || fail "$backend: something on standard error"
    rm -f x.mtx
  done
done
