# What compilers differ in: texsolve_options, which everything here is compiled with; library_options, for the library's
# own sources; math_library.
include(CheckCCompilerFlag)

option(TEXSOLVE_WEVERYTHING "all warnings of clang for the library's C sources, but for those listed in cmake/Compiler.cmake" OFF)

add_library(texsolve_options INTERFACE)
set(library_options "")
if(MSVC)
  set(math_library "")
  target_compile_options(texsolve_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:/W4;/utf-8>)
  target_compile_definitions(texsolve_options INTERFACE _CRT_SECURE_NO_WARNINGS)
  if(TEXSOLVE_WERROR)
    target_compile_options(texsolve_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:/WX>)
  endif()
  list(APPEND library_options $<$<COMPILE_LANGUAGE:C>:/experimental:c11atomics>)
else()
  set(math_library m)
  target_compile_options(texsolve_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall>)
  if(TEXSOLVE_WERROR)
    target_compile_options(texsolve_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>
      "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:--Werror all-warnings -Xcompiler=-Werror>")
  endif()
endif()
if(MINGW)
  target_compile_definitions(texsolve_options INTERFACE __USE_MINGW_ANSI_STDIO=1) # printf as C11 has it
endif()
if(APPLE)
  target_compile_definitions(texsolve_options INTERFACE GL_SILENCE_DEPRECATION)
endif()

# The exceptions, each with its reason:
if(TEXSOLVE_WEVERYTHING)
  if(NOT CMAKE_C_COMPILER_ID MATCHES Clang OR MSVC)
    message(FATAL_ERROR "TEXSOLVE_WEVERYTHING needs clang; the C compiler is ${CMAKE_C_COMPILER_ID}")
  endif()
  set(everything -Weverything
    -Wno-unknown-warning-option       # which of these there are depends on clang's version
    -Wno-declaration-after-statement  # of C89
    -Wno-pre-c11-compat -Wno-unsafe-buffer-usage # C has no other arrays
    -Wno-padded                       # structs are in the order in which they are read
    -Wno-float-equal                  # zeros and equal values are compared exactly, on purpose
    -Wno-double-promotion             # sums of single precision are formed in double
    -Wno-bad-function-cast            # (int)floor(x)
    -Wno-cast-qual                    # a view of a caller's const arrays in a struct that others write through
    -Wno-comma                        # a = b, c = d in one statement
    -Wno-switch-enum -Wno-switch-default # -Wswitch remains: default stands for the other values, or all are there
    -Wno-pass-failed                  # a loop that is marked for vectors and gets none
    -Wno-conditional-uninitialized    # a loop whose body runs at least once
  )
  list(APPEND library_options "$<$<COMPILE_LANGUAGE:C>:${everything}>")
endif()

if(TEXSOLVE_SANITIZE)
  target_compile_options(texsolve_options INTERFACE -fsanitize=${TEXSOLVE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(texsolve_options INTERFACE -fsanitize=${TEXSOLVE_SANITIZE})
  target_sources(texsolve_options INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${CMAKE_CURRENT_SOURCE_DIR}/tests/support/keep_modules.c>)
endif()

if(EMSCRIPTEN) # loops that are marked for vectors, without -msimd128
  list(APPEND library_options -Wno-pass-failed)
endif()

# Vectorised loops are marked as OpenMP's; that needs none of its library.
check_c_compiler_flag(-fopenmp-simd TEXSOLVE_HAVE_OPENMP_SIMD)
if(TEXSOLVE_HAVE_OPENMP_SIMD)
  list(APPEND library_options $<$<COMPILE_LANGUAGE:C>:-fopenmp-simd>)
endif()

# A module of WebAssembly is downloaded, so its code is small; loops of the CPU backend are a little faster than small
# (Targets.cmake). Every browser with WebGL 2 has SIMD.
if(EMSCRIPTEN)
  target_compile_options(texsolve_options INTERFACE -msimd128)
  list(APPEND library_options -Oz)
endif()
