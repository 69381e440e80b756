# shellcheck shell=sh
# on_device PROGRAM BACKEND: runs a program that prints a few lines, and leaves them in $out. Ends the test as failed if the
# program fails, or as skipped if only its device is missing. To be sourced.
on_device() {
  status=0
  out=$("$1" "$2" 2>&1) || status=$?
  echo "$out"
  [ $status -ne 0 ] || return 0
  case $out in
  *EGL* | *GLEW* | *"not available"* | *"no NVIDIA driver"* | *"no CUDA device"* | *"no display"*) ;;
  *) exit 1 ;;
  esac
  case ",${TEXSOLVE_TEST_REQUIRE:-}," in
  *",$2,"*) exit 1 ;;
  esac
  exit 77
}
