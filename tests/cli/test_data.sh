# The real matrices of TEXSOLVE_TEST_DATA, on the CPU and on OpenGL where it is.
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
    run solve "$matrix" --backend $backend --json -o x.mtx
    reported=$(json number relative_residual)
    computed=$(residual "$matrix" x.mtx)
    near "$(basename "$matrix") on $backend: residual" "$reported" "$computed" \
      "$(awk -v r="$computed" 'BEGIN { print 1e-3 * r }')"
    reason=$(json string reason)
    echo "$(basename "$matrix") on $backend: $reason, $(json integer iterations) iterations, residual $computed"
    case $status in
    0) awk -v r="$computed" 'BEGIN { exit !(r <= 1.01e-5) }' || fail "$matrix: converged at $computed" ;;
    3) same "$matrix: reason" "$reason" stagnated ;;
    *) fail "$matrix: exit status $status" ;;
    esac
  done
done
[ "$found" -gt 0 ] || fail "no matrices in $TEXSOLVE_TEST_DATA"
