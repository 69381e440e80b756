# The library: one set of objects, a shared and a static library from it, and the programs beside it.
find_package(Threads REQUIRED)
include(CheckCCompilerFlag)

add_library(texsolve_options INTERFACE)
target_compile_options(texsolve_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall>)
if(TEXSOLVE_WERROR)
  target_compile_options(texsolve_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>
    "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:--Werror all-warnings -Xcompiler=-Werror>")
endif()
if(TEXSOLVE_SANITIZE)
  target_compile_options(texsolve_options INTERFACE -fsanitize=${TEXSOLVE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(texsolve_options INTERFACE -fsanitize=${TEXSOLVE_SANITIZE})
  target_sources(texsolve_options INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${CMAKE_CURRENT_SOURCE_DIR}/tests/support/keep_modules.c>)
endif()

# The core, and the clients that have kernels of their own.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/common/*.c src/mesh/*.c src/fluid/*.c src/cpu/*.c src/check/*.c)
set(link_libraries m)
set(definitions "")
if(TEXSOLVE_GL)
  find_package(GLEW REQUIRED)
  find_package(OpenGL REQUIRED COMPONENTS OpenGL EGL)
  file(GLOB_RECURSE gl_sources CONFIGURE_DEPENDS src/gl/*.c)
  file(GLOB_RECURSE shaders CONFIGURE_DEPENDS shaders/*.vert shaders/*.frag shaders/*.glsl)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/gl_embedded_shaders.c)
  add_custom_command(OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} -DSHADER_DIR=${CMAKE_CURRENT_SOURCE_DIR}/shaders -DOUTPUT=${embedded}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/EmbedShaders.cmake
    DEPENDS ${shaders} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/EmbedShaders.cmake VERBATIM)
  list(APPEND sources ${gl_sources} ${embedded})
  list(APPEND definitions TEXSOLVE_HAVE_GL)
  list(APPEND link_libraries GLEW::GLEW OpenGL::OpenGL OpenGL::EGL)
  if(TEXSOLVE_GLFW)
    find_package(glfw3 3.3 REQUIRED)
    list(APPEND definitions TEXSOLVE_HAVE_GLFW)
    list(APPEND link_libraries glfw)
  endif()
endif()
if(TEXSOLVE_WITH_CUDA)
  file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS src/cuda/*.c src/cuda/*.cu)
  list(APPEND sources ${cuda_sources})
  list(APPEND definitions TEXSOLVE_HAVE_CUDA)
  list(APPEND link_libraries CUDA::cudart_static)
endif()
if(TEXSOLVE_THREADS)
  list(APPEND definitions TEXSOLVE_HAVE_THREADS)
  list(APPEND link_libraries Threads::Threads)
else()
  list(FILTER sources EXCLUDE REGEX "/cpu_pool\\.c$")
endif()

add_library(texsolve_objects OBJECT ${sources})
set_target_properties(texsolve_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(texsolve_objects PUBLIC
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
  PRIVATE src)
target_compile_definitions(texsolve_objects PRIVATE ${definitions} _POSIX_C_SOURCE=200809L)
# Vectorised loops are marked as OpenMP's; that needs none of its library.
check_c_compiler_flag(-fopenmp-simd TEXSOLVE_HAVE_OPENMP_SIMD)
if(TEXSOLVE_HAVE_OPENMP_SIMD)
  target_compile_options(texsolve_objects PRIVATE $<$<COMPILE_LANGUAGE:C>:-fopenmp-simd>)
  target_compile_definitions(texsolve_objects PRIVATE TEXSOLVE_OPENMP_SIMD)
endif()
# Cores and affinity are the GNU C library's.
set_source_files_properties(src/cpu/core/cpu_cores.c src/cpu/core/cpu_pool.c PROPERTIES COMPILE_DEFINITIONS _GNU_SOURCE)
target_link_libraries(texsolve_objects PUBLIC ${link_libraries} PRIVATE $<BUILD_INTERFACE:texsolve_options>)

# A static library is one object, in which only the API's names are left: an application may have a gl_bind of its own.
# The tests, which look inside, link an archive of the objects as they are.
#   texsolve_join(OBJECTS VARIABLE)  the objects of a library, joined where that can be done
function(texsolve_join objects variable)
  set(${variable} $<TARGET_OBJECTS:${objects}>)
  if(CMAKE_SYSTEM_NAME STREQUAL Linux AND CMAKE_OBJCOPY AND NOT TEXSOLVE_SANITIZE)
    set(${variable} ${CMAKE_CURRENT_BINARY_DIR}/${objects}_joined.o)
    add_custom_command(OUTPUT ${${variable}}
      COMMAND ${CMAKE_C_COMPILER} -r -o ${${variable}} $<TARGET_OBJECTS:${objects}>
      COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${${variable}}
      DEPENDS ${objects} $<TARGET_OBJECTS:${objects}> COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties(${${variable}} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  endif()
  set(${variable} ${${variable}} PARENT_SCOPE)
endfunction()

# A shared library exports the API's names alone, whatever the libraries inside it are compiled with.
function(texsolve_export library map)
  if(CMAKE_SYSTEM_NAME STREQUAL Linux)
    target_link_options(${library} PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/${map})
    set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/${map})
  endif()
endfunction()

texsolve_join(texsolve_objects static_objects)
add_library(texsolve_shared SHARED $<TARGET_OBJECTS:texsolve_objects>)
add_library(texsolve_static STATIC ${static_objects})
foreach(kind shared static)
  set_target_properties(texsolve_${kind} PROPERTIES OUTPUT_NAME texsolve EXPORT_NAME ${kind})
  target_include_directories(texsolve_${kind} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  add_library(texsolve::${kind} ALIAS texsolve_${kind})
endforeach()
add_library(texsolve::texsolve ALIAS texsolve_shared) # as find_package gives it
set_target_properties(texsolve_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
if(CMAKE_SYSTEM_NAME STREQUAL Linux AND NOT TEXSOLVE_SANITIZE)
  # A missing function is our error, not the user's; sanitizers leave their own names to the program.
  target_link_options(texsolve_shared PRIVATE LINKER:--no-undefined)
endif()
texsolve_export(texsolve_shared texsolve.map)
target_link_libraries(texsolve_shared PRIVATE ${link_libraries} $<BUILD_INTERFACE:texsolve_options>)
target_link_libraries(texsolve_static PUBLIC ${link_libraries} PRIVATE $<BUILD_INTERFACE:texsolve_options>)
set_target_properties(texsolve_static PROPERTIES LINKER_LANGUAGE C)
add_library(texsolve_internal STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:texsolve_objects>)
target_include_directories(texsolve_internal PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include)
target_link_libraries(texsolve_internal PUBLIC ${link_libraries} texsolve_options)
include(Nl)
if(NOT PROJECT_IS_TOP_LEVEL)
  # Whoever links the static library, in whatever directory, needs the packages that were found here.
  get_directory_property(packages IMPORTED_TARGETS)
  if(packages)
    set_target_properties(${packages} PROPERTIES IMPORTED_GLOBAL TRUE)
  endif()
endif()

# What users start is in bin/ of the build directory.
function(texsolve_program program)
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

if(TEXSOLVE_TESTS)
  enable_testing() # before the programs, which have tests of their own
endif()
if(TEXSOLVE_PROGRAMS AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/cli/CMakeLists.txt)
  add_subdirectory(cli)
endif()
if(TEXSOLVE_PROGRAMS AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/demos/CMakeLists.txt)
  add_subdirectory(demos)
endif()
if(TEXSOLVE_PROGRAMS AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/bench/CMakeLists.txt)
  add_subdirectory(bench) # after the demos, whose maps peer-lscm compares
endif()
if(TEXSOLVE_TESTS AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/tests/CMakeLists.txt)
  add_subdirectory(tests)
endif()
