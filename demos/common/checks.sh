# Shared by the tests of programs without a window. Set `called` (the program's name), `group`, `program`, `json_get` and `here`,
# then source this file, and call `finish` at the end. A check that fails prints the reason. The tests run in an empty
# directory.
set -u
work=$(mktemp -d "${TMPDIR:-/tmp}/$called.XXXXXX") || exit 1
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/dir" "$work/log"
cd "$work/dir" || exit 1
checks=0
: >../log/failures
exec 3>&1
fail() {
  echo failed >>../log/failures
  echo "FAILED: $*" >&3
  sed 's/^/  stderr: /' ../log/err >&3
  head -n 2 ../log/out | sed 's/^/  stdout: /' >&3
}

# expect STATUS ARGUMENTS...: runs the program without a window, with its output in ../log/out and ../log/err.
expect() {
  wanted=$1
  shift
  checks=$((checks + 1))
  "$program" "$@" --headless >../log/out 2>../log/err </dev/null
  status=$?
  [ "$status" -eq "$wanted" ] || fail "$called $*: exit status $status, expected $wanted"
}

# refuse STATUS TEXT ARGUMENTS...: expects one line on standard error that starts with "NAME: " and contains TEXT, nothing on
# standard output, and no new or changed file.
refuse() {
  wanted=$1 text=$2
  shift 2
  before=$(ls -aR; cksum ./* 2>/dev/null)
  expect "$wanted" "$@"
  [ "$(wc -l <../log/err)" -eq 1 ] || fail "$called $*: not one line on standard error"
  grep -q "^$called: " ../log/err || fail "$called $*: the line does not start with the program's name"
  grep -qF -- "$text" ../log/err || fail "$called $*: the message lacks '$text'"
  [ -s ../log/out ] && fail "$called $*: something on standard output"
  [ "$before" = "$(ls -aR; cksum ./* 2>/dev/null)" ] || fail "$called $*: files were left or changed"
}

json() { "$json_get" "$1" "$2" <../log/out 2>../log/json || fail "JSON: $2: $(cat ../log/json)"; }
same() {
  checks=$((checks + 1))
  [ "$2" = "$3" ] || fail "$1: '$2', expected '$3'"
}
# holds WHAT EXPRESSION: checks an expression of awk
holds() {
  checks=$((checks + 1))
  awk "BEGIN { exit !($2) }" || fail "$1: $2 does not hold"
}
said() {
  checks=$((checks + 1))
  grep -qF -- "$1" ../log/err || fail "the message '$1' is missing"
}
# file NAME LINES...
file() {
  name=$1
  shift
  printf '%s\n' "$@" >"$name"
}
# is_png FILE WIDTHxHEIGHT: checks the size, and the first and last bytes.
is_png() {
  checks=$((checks + 1))
  [ "$(od -An -tx1 -N8 "$1" 2>/dev/null | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "$1 is not a PNG file"
  [ "$(od -An -tu1 -j16 -N8 "$1" | awk '{ print 256 * $3 + $4 "x" 256 * $7 + $8 }')" = "$2" ] ||
    fail "$1 is not $2 pixels large"
  [ "$(tail -c 8 "$1" | od -An -tx1 | tr -d ' \n')" = 49454e44ae426082 ] || fail "$1 is cut short"
}
differ() {
  checks=$((checks + 1))
  [ -s "$1" ] && [ -s "$2" ] && ! cmp -s "$1" "$2" || fail "$1 and $2 are the same"
}
vertices() { grep -c '^v ' "$1"; }
# area FILE: of the triangles of an OBJ file
area() {
  awk '$1 == "v" { n++; x[n] = $2; y[n] = $3; z[n] = $4 }
    $1 == "f" {
      i = $2 + 0; j = $3 + 0; k = $4 + 0
      ux = x[j] - x[i]; uy = y[j] - y[i]; uz = z[j] - z[i]; vx = x[k] - x[i]; vy = y[k] - y[i]; vz = z[k] - z[i]
      cx = uy * vz - uz * vy; cy = uz * vx - ux * vz; cz = ux * vy - uy * vx
      s += sqrt(cx * cx + cy * cy + cz * cz) / 2
    }
    END { printf "%.9g\n", s }' "$1"
}
finish() {
  failures=$(wc -l <../log/failures)
  echo "$group: $checks checks, $failures failed"
  [ "$failures" -eq 0 ]
}
