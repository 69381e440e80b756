# The same system on OpenGL, in every format, checked by the residual computed here.
"$texsolve" info --backend gl >../log/out 2>../log/err || {
  cat ../log/out
  case ",${TEXSOLVE_TEST_REQUIRE:-}," in *,gl,*) exit 1 ;; esac
  exit 77
}
laplacian m.mtx 17
for backend in gl check:gl; do
  for format in auto jagged segments; do
    expect 0 solve m.mtx --backend $backend --solver cg --format $format -o x.mtx --json
    same "backend" "$(json string backend)" $backend
    computed=$(residual m.mtx x.mtx)
    near "$backend $format: residual" "$(json number relative_residual)" "$computed" \
      "$(awk -v r="$computed" 'BEGIN { print 1e-3 * r }')"
    awk -v r="$computed" 'BEGIN { exit !(r > 0 && r <= 1e-5) }' || fail "$backend $format: residual $computed"
  done
done
expect 0 solve m.mtx --backend gl --rectangle 16x16 -q
refuse 1 "csr" solve m.mtx --backend gl --format csr

# Three right-hand sides at once use three channels of a texture.
small_system
file b.mtx '%%MatrixMarket matrix array real general' '3 3' 2 4 10 4 -1 0 -1 4 -1
expect 0 solve spd.mtx -b b.mtx --backend gl -o x.mtx -q --rtol 1e-6
vector_near x.mtx 1e-5 1 2 3 1 0 0 0 1 0

# The report separates the time for compiling shaders from the solve, and names the device that runs OpenGL.
expect 0 solve spd.mtx --backend gl
says_software=$(grep -c 'OpenGL *runs on the CPU here' ../log/out)
grep -q 'OpenGL .*compiling its shaders took [0-9.]* s' ../log/out || fail "the report does not have the time of compiling shaders"
expect 0 info --backend gl --json
same "OpenGL on the CPU" "$says_software" "$(grep -c '"hardware": *\(false\|0\)' ../log/out)"
expect 0 solve spd.mtx --backend cpu
! grep -q OpenGL ../log/out || fail "a report of the CPU speaks of OpenGL"

expect 0 info --backend gl
grep -q 'largest texture *[1-9]' ../log/out || fail "info does not say the largest texture"
