#!/bin/sh
# Installs into the default prefix with the commands of docs/install.md: the lines from `cmake --install` on, and then the
# line of pkg-config without a path. The test runs in its own mount namespace, where only it sees /usr/local and /etc.
#   default_prefix.sh BUILD_DIR WORK_DIR CMAKE CC BACKEND...
set -eu
if [ "${TEXSOLVE_APART-}" != yes ]; then
  for program in unshare ldconfig; do
    PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null || { echo "skipped: $program is missing"; exit 77; }
  done
  unshare -m true 2>/dev/null || { echo "skipped: only root may have a mount namespace"; exit 77; }
  TEXSOLVE_APART=yes exec unshare -m "$0" "$@"
fi
build=$1 work=$2 cmake=$3 cc=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:/usr/sbin:/sbin

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$build/CMakeCache.txt")
[ "$prefix" = /usr/local ] || { echo "skipped: the prefix of this build is $prefix"; exit 77; }
rm -rf "$work"
mkdir -p "$work/bin" "$work/etc" "$work/real-etc"
cp "$here/outside/main.c" "$work/program.c"
case $cmake in /usr/local/*) cp -a /usr/local "$work/local" ;; *) mkdir -p "$work/local" ;; esac
mount --bind /etc "$work/real-etc" || { echo "skipped: nothing can be mounted here"; exit 77; }
for file in "$work"/real-etc/* "$work"/real-etc/.[!.]*; do
  case $file in */ld.so.cache | *'*'*) ;; *) ln -s "$file" "$work/etc" ;; esac
done
mount --bind "$work/etc" /etc
mount --bind "$work/local" /usr/local
ldconfig # as on a system without texsolve
# sudo and cc as docs/install.md calls them.
printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
printf '#!/bin/sh\nexec "%s" -std=c11 "$@" -lm\n' "$cc" >"$work/bin/cc"
chmod +x "$work/bin/sudo" "$work/bin/cc"
PATH=$work/bin:$PATH
ln -s "$build" "$work/build-release"
cd "$work"

sed -n '1,/^## /{/^\(sudo \)*cmake --install/,/^```/p}' "$here/../../docs/install.md" | grep -v '^```' >install.sh
grep -q 'cmake --install build-release' install.sh || fail "docs/install.md has no line that installs"
sh -eu install.sh >install.log 2>&1 || fail "the installation of docs/install.md: $(tail -n 3 install.log)"
grep -Fx 'cc program.c $(pkg-config --cflags --libs texsolve) -o program' "$here/../../docs/install.md" >compile.sh || true
[ -s compile.sh ] || fail "docs/install.md has no line of pkg-config for the default prefix"
sh -eu compile.sh || fail "the line of docs/install.md: $(cat compile.sh)"
for backend in "$@"; do
  status=0
  ./program "$backend" || status=$?
  [ $status -eq 0 ] || [ $status -eq 77 ] || fail "program $backend: exit status $status"
done
texsolve --version || fail "the installed command does not start"
echo passed
