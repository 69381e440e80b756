# The real matrices of TEXSOLVE_TEST_DATA on the CPU and, if available, on OpenGL: solved to 1e-10, or to the
# precision of an x in doubles. Its contact problems are solved on the CPU to 1e-5.
[ -n "${TEXSOLVE_TEST_DATA:-}" ] || {
  echo "TEXSOLVE_TEST_DATA is not set"
  exit 77
}
backends=cpu
"$texsolve" info --backend gl >../log/out 2>&1 && backends="cpu gl"
found=0
for matrix in "$TEXSOLVE_TEST_DATA"/*.mtx "$TEXSOLVE_TEST_DATA"/matrices/*.mtx; do
  [ -f "$matrix" ] || continue
  found=$((found + 1))
  for backend in $backends; do
    run solve "$matrix" --backend $backend --json -o x.mtx --rtol 1e-10
    reported=$(json number relative_residual)
    rounding=$(json number rounding_residual)
    computed=$(residual "$matrix" x.mtx) # which is rounded to doubles too
    near "$(basename "$matrix") on $backend: residual" "$reported" "$computed" \
      "$(awk -v r="$computed" -v d="$rounding" 'BEGIN { print 1e-3 * r + 4 * d }')"
    reason=$(json string reason)
    echo "$(basename "$matrix") on $backend: $reason, $(json integer iterations) iterations, residual $computed"
    case $status in
    0) awk -v r="$reported" 'BEGIN { exit !(r <= 1e-10) }' || fail "$matrix: converged at $reported" ;;
    3) awk -v r="$reported" -v d="$rounding" 'BEGIN { exit !(r <= 4 * d) }' || fail "$matrix: ended at $reported" ;;
    *) fail "$matrix: exit status $status" ;;
    esac
  done
done
[ "$found" -gt 0 ] || fail "no matrices in $TEXSOLVE_TEST_DATA"
for problem in "$TEXSOLVE_TEST_DATA"/contact/*; do
  [ -f "$problem" ] || continue
  run lcp "$problem" --backend cpu --json
  grep -q 'this build has no HDF5' ../log/err && continue
  echo "$(basename "$problem"): $(json string reason), $(json integer sweeps) sweeps, residual $(json number relative_residual)"
  [ "$status" -eq 0 ] || fail "$problem: exit status $status"
  awk -v r="$(json number relative_residual)" 'BEGIN { exit !(r <= 1e-5) }' || fail "$problem: converged at $(json number relative_residual)"
done
