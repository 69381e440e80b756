#!/bin/sh
# cli_test.sh GROUP TEXSOLVE JSON_GET [DRIVERS OR LIBRARY OR FCLIB_MAKE]: tests of the texsolve command. Each
# check prints a message if it fails, and then the group fails. A group that cannot run here is skipped with
# exit status 77. Needs a POSIX shell, awk, grep and cmp.
set -u
group=$1 texsolve=$2 json_get=$3 drivers=${4-}
here=$(cd "$(dirname "$0")" && pwd)
checks=0
work=$(mktemp -d "${TMPDIR:-/tmp}/texsolve-cli.XXXXXX") || exit 1
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/dir" "$work/log"
cd "$work/dir" || exit 1
: >../log/failures
: >../log/out
: >../log/err

# Failures are counted in a file and printed on descriptor 3, so that those inside $(...) count too.
exec 3>&1
fail() {
  echo failed >>../log/failures
  echo "FAILED: $*" >&3
  sed 's/^/  stderr: /' ../log/err >&3
  sed 's/^/  stdout: /' ../log/out >&3
}

# run ARGUMENTS...: status in $status, output in ../log/out and ../log/err.
run() {
  checks=$((checks + 1))
  "$texsolve" "$@" >../log/out 2>../log/err </dev/null
  status=$?
}

# expect STATUS ARGUMENTS...
expect() {
  wanted=$1
  shift
  run "$@"
  [ "$status" -eq "$wanted" ] || fail "texsolve $*: exit status $status, expected $wanted"
}

# refuse STATUS TEXT ARGUMENTS...: the command must print one line on standard error that starts with "texsolve:
# " and contains TEXT. It must print nothing on standard output, and must not create or change a file.
refuse() {
  wanted=$1 text=$2
  shift 2
  before=$(ls -a; cksum ./* 2>/dev/null)
  expect "$wanted" "$@"
  [ "$(wc -l <../log/err)" -eq 1 ] || fail "texsolve $*: not one line on standard error"
  grep -q '^texsolve: ' ../log/err || fail "texsolve $*: the line does not start with the program's name"
  grep -qF -- "$text" ../log/err || fail "texsolve $*: the message lacks '$text'"
  [ -s ../log/out ] && fail "texsolve $*: something on standard output"
  [ "$before" = "$(ls -a; cksum ./* 2>/dev/null)" ] || fail "texsolve $*: files were left or changed"
}

# file NAME LINES...
file() {
  name=$1
  shift
  printf '%s\n' "$@" >"$name"
}

# json TYPE KEY: the value of the last run's JSON object.
json() {
  "$json_get" "$1" "$2" <../log/out 2>../log/json || fail "JSON: $2: $(cat ../log/json)"
}

# same WHAT GOT WANTED
same() {
  checks=$((checks + 1))
  [ "$2" = "$3" ] || fail "$1: '$2', expected '$3'"
}

# near WHAT GOT WANTED TOLERANCE, absolute
near() {
  checks=$((checks + 1))
  awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { d = a - b; exit !(a != "" && a !~ /nan/ && (d < 0 ? -d : d) <= t) }' ||
    fail "$1: $2, expected $3 within $4"
}

# values FILE: the numbers of a Matrix Market array, in one line.
values() { grep -v '^%' "$1" | sed 1d | tr '\n' ' '; }

# vector_near FILE TOLERANCE NUMBERS...
vector_near() {
  name=$1 tolerance=$2
  shift 2
  index=0
  set -- $(values "$name") = "$@"
  got=
  while [ "$1" != = ]; do
    got="$got $1"
    shift
  done
  shift
  same "$name: number of values" "$(echo $got | wc -w | tr -d ' ')" "$#"
  for value in $got; do
    index=$((index + 1))
    near "$name: value $index" "$value" "$1" "$tolerance"
    shift
  done
}

# A small system with the solution 1, 2, 3.
small_system() {
  file spd.mtx '%%MatrixMarket matrix coordinate real symmetric' '3 3 5' '1 1 4' '2 1 -1' '2 2 4' '3 2 -1' '3 3 4'
  file b.mtx '%%MatrixMarket matrix array real general' '3 1' 2 4 10
}

# laplacian FILE N: the five-point Laplacian of an N x N grid, lower triangle.
laplacian() {
  awk -v n="$2" 'BEGIN {
    print "%%MatrixMarket matrix coordinate real symmetric"; print n * n, n * n, n * n + 2 * n * (n - 1)
    for (i = 1; i <= n * n; i++) {
      if (i > n) print i, i - n, -1
      if (i % n != 1) print i, i - 1, -1
      print i, i, 4
    } }' >"$1"
}

# residual A X [B]: ||b - A x|| / ||b|| of a coordinate real file and one column, computed here from the files.
residual() {
  awk '
    FNR == 1 { part++; symmetric = ($5 != "general"); sized = 0; k = 0; next }
    /^%/ || NF == 0 { next }
    !sized { sized = 1; if (part == 1) n = $1; next }
    part == 1 { k++; row[k] = $1; column[k] = $2; value[k] = $3; both[k] = symmetric && $1 != $2; entries = k; next }
    part == 2 { x[++k] = $1; next }
    part == 3 { b[++k] = $1; next }
    END {
      for (i = 1; i <= n; i++) {
        r[i] = part == 3 ? b[i] : 1
        if (r[i] > most || -r[i] > most) most = r[i] < 0 ? -r[i] : r[i]
      }
      for (i = 1; i <= n; i++) bb += (r[i] / most) ^ 2
      for (k = 1; k <= entries; k++) {
        r[row[k]] -= value[k] * x[column[k]]
        if (both[k]) r[column[k]] -= value[k] * x[row[k]]
      }
      for (i = 1; i <= n; i++) rr += (r[i] / most) ^ 2
      printf "%.9g\n", sqrt(rr / bb)
    }' "$@"
}

case $group in
usage | info | malformed | gzip | no_memory | numbers | scales | forms | system | least_squares | columns | preconditioners | json | ranks | without_mpi | precision | outputs | interrupt | progress | poisson | lcp | data | backends | drivers)
  . "$here/test_$group.sh"
  ;;
*)
  echo "unknown group $group"
  exit 1
  ;;
esac
failures=$(wc -l <../log/failures)
echo "$group: $checks checks, $failures failed"
[ "$failures" -eq 0 ]
