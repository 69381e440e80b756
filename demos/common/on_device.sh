# shellcheck shell=sh
# Source this file. on_device PROGRAM BACKEND: runs a program and stores its output in $out. If the program fails the test fails,
# or is skipped if only the device is missing.
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
