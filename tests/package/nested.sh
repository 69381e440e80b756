#!/bin/sh
# Builds and runs a project that contains texsolve. FetchContent only configures it, since it then is the same project.
#   nested.sh HOW WORK_DIR CMAKE GENERATOR CC OPTION...     HOW: add_subdirectory or FetchContent
set -eu
how=$1 work=$2 cmake=$3 generator=$4 cc=$5
shift 5
here=$(cd "$(dirname "$0")" && pwd)

fail() {
  tail -n 30 "$work.log" >&2
  echo "FAILED: $*" >&2
  exit 1
}

rm -rf "$work" "$work-installed"
mkdir -p "$(dirname "$work")"
"$cmake" -S "$here/nested" -B "$work" -G "$generator" -DCMAKE_C_COMPILER="$cc" -DHOW="$how" \
  -DTEXSOLVE="$here/../.." -DTEXSOLVE_CUDA=OFF "$@" >"$work.log" 2>&1 || fail "configuring by $how"
[ "$how" = add_subdirectory ] || exit 0
"$cmake" --build "$work" --verbose >>"$work.log" 2>&1 || fail "building by $how"
# The project has no build type: the library must be optimised, and the project's own files must be compiled as
# the project says.
grep -e ' -c .*/cpu_vector\.c' "$work.log" | grep -q -e ' -O[23] ' || fail "by $how the library is not optimised"
! grep -e ' -c .*/outside/main\.c' "$work.log" | grep -q -e ' -O' || fail "by $how the project's own files are optimised"
for name in texsolve shared static; do
  "$work/outside-$name" cpu || fail "the program with texsolve::$name, by $how"
done
for name in nl nl-shared nl-static; do
  "$work/opennl-$name" || fail "the program with texsolve::$name, by $how"
done
"$cmake" --install "$work" --prefix "$work-installed" >>"$work.log" 2>&1 || fail "installing by $how"
[ -z "$(find "$work-installed" -type f 2>/dev/null)" ] || fail "the project installs texsolve's files"
