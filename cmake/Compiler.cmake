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

if(TEXSOLVE_SANITIZE)
  target_compile_options(texsolve_options INTERFACE -fsanitize=${TEXSOLVE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(texsolve_options INTERFACE -fsanitize=${TEXSOLVE_SANITIZE})
  target_sources(texsolve_options INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${CMAKE_CURRENT_SOURCE_DIR}/tests/support/keep_modules.c>)
endif()

# Vectorised loops are marked as OpenMP's; that needs none of its library.
check_c_compiler_flag(-fopenmp-simd TEXSOLVE_HAVE_OPENMP_SIMD)
if(TEXSOLVE_HAVE_OPENMP_SIMD)
  list(APPEND library_options $<$<COMPILE_LANGUAGE:C>:-fopenmp-simd>)
endif()
