# Numbers outside the range of doubles, and numbers at the limits of floats and doubles.
general='%%MatrixMarket matrix coordinate real general'
array='%%MatrixMarket matrix array real general'
small_system

for value in nan NaN -nan 'nan(1)' inf -inf Infinity; do
  file m.mtx "$general" '2 2 2' '1 1 4' "2 2 $value"
  refuse 1 "m.mtx:4: value '$value', expected a finite number" solve m.mtx --backend cpu -o x.mtx
  file v.mtx "$array" '3 1' 1 "$value" 3
  refuse 1 "v.mtx:4: value '$value', expected a finite number" solve spd.mtx -b v.mtx --backend cpu -o x.mtx
  refuse 1 "v.mtx:4: value '$value', expected a finite number" solve spd.mtx --x0 v.mtx --backend cpu -o x.mtx
done
zeros=0000000000000000000000000000000000000000
for value in 1e400 -1e309 1e99999999999; do
  file m.mtx "$general" '1 1 1' "1 1 $value"
  refuse 1 "m.mtx:3: value '" solve m.mtx --backend cpu -o x.mtx
  grep -q 'range of double precision' ../log/err || fail "$value: the message does not name the range"
done
# Numbers outside the range of floats are scaled.
for number in 1e39 -1e39 3.5e38 1e300 1e-300 4e-310 -2e-45 "1$zeros" "0.1e40"; do
  for precision in auto single; do
    file m.mtx "$general" '1 1 1' "1 1 $number"
    file v.mtx "$array" '1 1' "$number"
    expect 0 solve m.mtx -b v.mtx --backend cpu -o x.mtx -q --precision $precision --solver bicgstab
    vector_near x.mtx 1e-6 1
    rm -f x.mtx
  done
done

file m.mtx "$general" '1 1 2' '1 1 1e308' '1 1 1e308'
refuse 1 'add up to inf, expected a finite number' solve m.mtx --backend cpu -o x.mtx -q
file v.mtx "$general" '3 1 2' '2 1 1e308' '2 1 1e308'
refuse 1 'v.mtx: row 2: the duplicate entries add up to inf' solve spd.mtx -b v.mtx --backend cpu -o x.mtx -q

# All notations for 4, next to off-diagonal numbers that are 0 in single precision.
for value in 4 +4 4. 4.0 .4e1 0.04E+2 400e-2 "4${zeros}e-40" 0004; do
  file m.mtx "$general" '2 2 4' "1 1 $value" '1 2 1e-400' '2 1 1E-400' '2 2 8'
  expect 0 solve m.mtx --backend cpu -o x.mtx -q
  vector_near x.mtx 1e-6 0.25 0.125
  rm -f x.mtx
done
