#!/bin/sh
# Installs the build into a new prefix and moves it, because a package must not depend on its first place. Then builds and
# runs the outside program with CMake and pkg-config, shared and static.
#   run.sh BUILD_DIR WORK_DIR CMAKE GENERATOR CC BACKEND...
set -eu
build=$1 work=$2 cmake=$3 generator=$4 cc=$5
shift 5
source=$(cd "$(dirname "$0")/outside" && pwd)

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# A backend without a device is skipped, unless TEXSOLVE_TEST_REQUIRE names it.
run() {
  program=$1
  shift
  for backend in "$@"; do
    status=0
    "$program" "$backend" || status=$?
    if [ "$status" -eq 77 ]; then
      case ",${TEXSOLVE_TEST_REQUIRE-}," in *",$backend,"*) fail "$backend is required and has no device" ;; esac
    elif [ "$status" -ne 0 ]; then
      fail "$program $backend: exit status $status"
    fi
  done
}

links_shared() { readelf -d "$1" | grep -q 'NEEDED.*libtexsolve\.so'; }

rm -rf "$work"
mkdir -p "$work"
"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log" || fail "cmake --install: $work/install.log"
prefix=$work/installed
mv "$work/first" "$prefix"

echo "== what was installed"
libdir=$(dirname "$(find "$prefix" -name 'libtexsolve.so' | head -n 1)")
for file in "$libdir/libtexsolve.so" "$libdir/libtexsolve.a" "$libdir/pkgconfig/texsolve.pc" \
  "$libdir/cmake/texsolve/texsolveConfig.cmake" "$prefix/include/texsolve/texsolve.h" \
  "$prefix/include/texsolve/gl.h" "$libdir/libtexsolve-nl.so" "$libdir/libtexsolve-nl.a" \
  "$libdir/pkgconfig/texsolve-nl.pc" "$prefix/include/texsolve-nl/NL/nl.h"; do
  [ -s "$file" ] || fail "$file is missing"
  echo "$file"
done
if grep -rl "$work/first" "$prefix" --include='*.pc' --include='*.cmake'; then
  fail "the files above hold the path of the first installation"
fi
# $1: names that the library may export; further arguments: nm's arguments.
exports_only() {
  pattern=$1
  shift
  others=$(nm --defined-only "$@" | awk -v pattern="$pattern" 'NF == 3 && $2 ~ /[A-Z]/ && $3 !~ pattern { print $3 }')
  [ -z "$others" ] || fail "$2 exports names that are not $pattern: $others"
}
exports_only '^ts_' -D "$libdir/libtexsolve.so"
exports_only '^ts_' -g "$libdir/libtexsolve.a"
exports_only '^nl[A-Z]' -D "$libdir/libtexsolve-nl.so"
exports_only '^nl[A-Z]' -g "$libdir/libtexsolve-nl.a"
# The library must export exactly the names that the headers declare, except those of backends that were not
# built.
cat "$prefix"/include/texsolve/*.h | grep -v '^ \*' | sed -nE 's/^TS_API .*[ *](ts_[a-z0-9_]+)\(.*/\1/p' | sort -u >"$work/declared"
sed -i '/^ts_mpi_/d' "$work/declared" # in a separate library
for backend in gl cuda; do
  case " $* " in *" $backend "*) ;; *) sed -i "/^ts_${backend}_/d" "$work/declared" ;; esac
done
nm -D --defined-only "$libdir/libtexsolve.so" | awk '{ print $3 }' | sort -u >"$work/exported"
[ "$(wc -l <"$work/declared")" -gt 100 ] || fail "the headers declare $(wc -l <"$work/declared") functions"
diff "$work/declared" "$work/exported" >"$work/difference" || fail "libtexsolve.so's exports are not the API: $(cat "$work/difference")"
if [ -x "$prefix/bin/texsolve" ]; then
  "$prefix/bin/texsolve" --version
fi

for kind in shared static; do
  echo "== CMake, $kind"
  # Linking the shared library must not need its dependencies.
  without=""
  [ "$kind" = static ] || without="-DCMAKE_DISABLE_FIND_PACKAGE_GLEW=ON -DCMAKE_DISABLE_FIND_PACKAGE_glfw3=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_OpenGL=ON -DCMAKE_DISABLE_FIND_PACKAGE_Threads=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON"
  # shellcheck disable=SC2086
  "$cmake" -S "$source" -B "$work/cmake-$kind" -G "$generator" -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$prefix" -DKIND="$kind" $without >"$work/cmake-$kind.log" 2>&1 ||
    { cat "$work/cmake-$kind.log"; fail "configuring, $kind"; }
  "$cmake" --build "$work/cmake-$kind" >>"$work/cmake-$kind.log" 2>&1 ||
    { cat "$work/cmake-$kind.log"; fail "building, $kind"; }
  for program in outside outside-plain; do
    run "$work/cmake-$kind/$program" "$@"
  done
  for program in opennl opennl-plain; do
    "$work/cmake-$kind/$program" || fail "$program, $kind"
  done
  if [ "$kind" = shared ]; then
    links_shared "$work/cmake-$kind/outside" || fail "texsolve::shared did not link libtexsolve.so"
  else
    ! links_shared "$work/cmake-$kind/outside" || fail "texsolve::static linked libtexsolve.so"
  fi
done

echo "== pkg-config, shared"
# Only the installed directory is searched, because users of the shared library do not need other packages.
# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Wextra -Werror "$source/main.c" -o "$work/pc-shared" \
  $(PKG_CONFIG_LIBDIR="$libdir/pkgconfig" pkg-config --cflags --libs texsolve) -lm -Wl,-rpath,"$libdir"
links_shared "$work/pc-shared" || fail "libtexsolve.so is not linked"
run "$work/pc-shared" "$@"
# In a private prefix, with the line of docs/install.md.
line=$(sed -n 's/^cc \(program\.c .*rpath.*\)$/\1/p' "$source/../../../docs/install.md")
[ -n "$line" ] || fail "docs/install.md has no line for pkg-config with a prefix of one's own"
mkdir "$work/readme"
cp "$source/main.c" "$work/readme/program.c"
(cd "$work/readme" && eval "PKG_CONFIG_PATH=\$libdir/pkgconfig; export PKG_CONFIG_PATH; \"\$cc\" -std=c11 $line -lm")
links_shared "$work/readme/program" || fail "the line of docs/install.md does not link libtexsolve.so"
run "$work/readme/program" "$@"
# A program for OpenNL, found only by the name of the package.
# shellcheck disable=SC2046
"$cc" -std=c99 -Wall -Wextra -Werror "$source/opennl.c" -o "$work/nl-shared" \
  $(PKG_CONFIG_LIBDIR="$libdir/pkgconfig" pkg-config --cflags --libs texsolve-nl) -Wl,-rpath,"$libdir"
"$work/nl-shared" || fail "the program for OpenNL, shared"
# In a private prefix, with the guide's line.
line=$(sed -n 's/^cc \(my_opennl_program\.c .*rpath.*\)$/\1/p' "$source/../../../docs/opennl.md")
[ -n "$line" ] || fail "docs/opennl.md has no line for a prefix of one's own"
cp "$source/opennl.c" "$work/readme/my_opennl_program.c"
(cd "$work/readme" && eval "PKG_CONFIG_PATH=\$libdir/pkgconfig; export PKG_CONFIG_PATH; \"\$cc\" -std=c99 $line")
"$work/readme/my_opennl_program" || fail "the guide's program for OpenNL"

echo "== pkg-config, static"
# Both libraries are present, and the name of the package selects one, as in docs/install.md:
line=$(sed -n 's/^cc \(program\.c .*texsolve-static.*\)$/\1/p' "$source/../../../docs/install.md")
[ -n "$line" ] || fail "docs/install.md has no line for pkg-config with the static library"
(cd "$work/readme" && eval "PKG_CONFIG_PATH=\$libdir/pkgconfig; export PKG_CONFIG_PATH; \"\$cc\" -std=c11 $line -lm")
mv "$work/readme/program" "$work/pc-static"
# shellcheck disable=SC2046
"$cc" -std=c99 -Wall -Wextra -Werror "$source/opennl.c" -o "$work/nl-static" \
  $(PKG_CONFIG_PATH="$libdir/pkgconfig" pkg-config --cflags --libs texsolve-nl-static)
for program in pc-static nl-static; do
  ! readelf -d "$work/$program" | grep 'NEEDED.*libtexsolve' || fail "$program is linked with a shared library"
done
run "$work/pc-static" "$@"
"$work/nl-static" || fail "the program for OpenNL, static"
# With --static and without a shared library the usual names find the archives.
mkdir "$work/shared"
mv "$libdir"/libtexsolve*.so* "$work/shared"
# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Wextra -Werror "$source/main.c" -o "$work/pc-only-static" \
  $(PKG_CONFIG_PATH="$libdir/pkgconfig" pkg-config --static --cflags --libs texsolve) -lm
run "$work/pc-only-static" "$@"
# shellcheck disable=SC2046
"$cc" -std=c99 -Wall -Wextra -Werror "$source/opennl.c" -o "$work/nl-only-static" \
  $(PKG_CONFIG_PATH="$libdir/pkgconfig" pkg-config --static --cflags --libs texsolve-nl)
"$work/nl-only-static" || fail "the program for OpenNL, static"

[ "$(PKG_CONFIG_LIBDIR="$libdir/pkgconfig" pkg-config --modversion texsolve)" = \
  "$("$work/pc-static" cpu | sed 's/^texsolve \([^,]*\),.*/\1/')" ] || fail "texsolve.pc tells another version"
echo "passed"
