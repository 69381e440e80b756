# The library: one set of objects, a shared and a static library from it, and the programs beside it.
include(Compiler)

# The core, and the clients that have kernels of their own.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/common/*.c src/mesh/*.c src/fluid/*.c src/lcp/*.c src/cpu/*.c src/check/*.c src/multi/*.c)
set(link_libraries ${math_library})
set(definitions "")
if(TEXSOLVE_GL)
  include(OpenGL)
  file(GLOB_RECURSE gl_sources CONFIGURE_DEPENDS src/gl/*.c)
  if(EMSCRIPTEN)
    list(FILTER gl_sources EXCLUDE REGEX "/gl/desktop/")
  else()
    list(FILTER gl_sources EXCLUDE REGEX "/gl/webgl/")
  endif()
  file(GLOB_RECURSE shaders CONFIGURE_DEPENDS shaders/*.vert shaders/*.frag shaders/*.glsl)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/gl_embedded_shaders.c)
  set(shader_dir ${CMAKE_CURRENT_SOURCE_DIR}/shaders)
  set(compact "")
  if(EMSCRIPTEN) # without comments, a third of their size as downloaded
    set(shader_dir ${CMAKE_CURRENT_BINARY_DIR}/shaders)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(compact COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/web/native/compact_shaders.py
        ${CMAKE_CURRENT_SOURCE_DIR}/shaders ${shader_dir})
  endif()
  add_custom_command(OUTPUT ${embedded}
    ${compact}
    COMMAND ${CMAKE_COMMAND} -DSHADER_DIR=${shader_dir} -DOUTPUT=${embedded}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/EmbedShaders.cmake
    DEPENDS ${shaders} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/EmbedShaders.cmake VERBATIM)
  list(APPEND sources ${gl_sources} ${embedded})
  list(APPEND definitions ${gl_definitions})
  list(APPEND link_libraries ${gl_libraries})
endif()
if(TEXSOLVE_WITH_CUDA)
  file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS src/cuda/*.c src/cuda/*.cu)
  include(CudaUnits)
  list(APPEND sources ${cuda_sources})
  list(APPEND definitions TEXSOLVE_HAVE_CUDA)
  list(APPEND link_libraries CUDA::cudart_static)
endif()
include(Metis)
if(TEXSOLVE_WITH_METIS)
  list(APPEND definitions TEXSOLVE_HAVE_METIS)
  list(APPEND link_libraries ${metis_library})
endif()
include(Direct)
if(TEXSOLVE_THREADS)
  list(APPEND definitions TEXSOLVE_HAVE_THREADS)
  if(NOT WIN32) # whose threads thread.h takes from the system itself
    find_package(Threads REQUIRED)
    list(APPEND link_libraries Threads::Threads)
  endif()
else()
  list(FILTER sources EXCLUDE REGEX "/core/pool\\.c$")
endif()

# A hierarchy of algebraic multigrid has the same bits on every machine: no products are fused with sums.
if(NOT MSVC)
  file(GLOB amg_sources CONFIGURE_DEPENDS src/common/precond/amg/*.c)
  set_source_files_properties(${amg_sources} PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
endif()

if(EMSCRIPTEN)
  file(GLOB_RECURSE loops CONFIGURE_DEPENDS src/cpu/*.c)
  set_source_files_properties(${loops} PROPERTIES COMPILE_OPTIONS -Os)
endif()

# What the sources are compiled with, wherever they are compiled.
function(texsolve_compile target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src $<$<COMPILE_LANGUAGE:CUDA>:${CMAKE_CURRENT_BINARY_DIR}/generations>)
  if(TEXSOLVE_WITH_METIS)
    target_include_directories(${target} SYSTEM PRIVATE ${METIS_INCLUDE_DIR})
  endif()
  target_compile_definitions(${target} PRIVATE ${definitions} $<$<BOOL:${TEXSOLVE_HAVE_OPENMP_SIMD}>:TEXSOLVE_OPENMP_SIMD>)
  target_compile_options(${target} PRIVATE ${library_options})
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:texsolve_options>)
endfunction()

add_library(texsolve_objects OBJECT ${sources})
texsolve_compile(texsolve_objects)
target_link_libraries(texsolve_objects PUBLIC ${link_libraries})

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

# A shared library exports the API's names alone, whatever the libraries inside it are compiled with. In a release the
# other names are stripped, a twelfth of the size with CUDA. The archive keeps them.
function(texsolve_export library map)
  if(CMAKE_SYSTEM_NAME STREQUAL Linux)
    target_link_options(${library} PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/${map})
    if(NOT TEXSOLVE_SANITIZE)
      target_link_options(${library} PRIVATE $<$<CONFIG:Release,MinSizeRel>:LINKER:--strip-all>)
    endif()
    set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/${map})
  endif()
endfunction()

texsolve_join(texsolve_objects static_objects)
if(WIN32) # where what is exported is declared so: the objects of a DLL are its own
  add_library(texsolve_shared SHARED ${sources})
  texsolve_compile(texsolve_shared)
  target_compile_definitions(texsolve_shared PRIVATE TEXSOLVE_EXPORTS INTERFACE TEXSOLVE_SHARED)
  add_dependencies(texsolve_shared texsolve_objects) # one of them makes the embedded shaders
elseif(NOT EMSCRIPTEN) # which links programs as one module
  add_library(texsolve_shared SHARED $<TARGET_OBJECTS:texsolve_objects>)
endif()
add_library(texsolve_static STATIC ${static_objects})
set(kinds shared static)
set(default_kind shared)
if(EMSCRIPTEN)
  set(kinds static)
  set(default_kind static)
endif()
foreach(kind ${kinds})
  set_target_properties(texsolve_${kind} PROPERTIES OUTPUT_NAME texsolve EXPORT_NAME ${kind})
  target_include_directories(texsolve_${kind} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  add_library(texsolve::${kind} ALIAS texsolve_${kind})
endforeach()
if(CMAKE_STATIC_LIBRARY_SUFFIX STREQUAL CMAKE_IMPORT_LIBRARY_SUFFIX) # texsolve.lib is the DLL's
  set_target_properties(texsolve_static PROPERTIES OUTPUT_NAME texsolve-static)
endif()
add_library(texsolve::texsolve ALIAS texsolve_${default_kind}) # as find_package gives it
if(TARGET texsolve_shared)
  set_target_properties(texsolve_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  texsolve_export(texsolve_shared texsolve.map)
  target_link_libraries(texsolve_shared PRIVATE ${link_libraries} $<BUILD_INTERFACE:texsolve_options>)
endif()
if(CMAKE_SYSTEM_NAME STREQUAL Linux AND NOT TEXSOLVE_SANITIZE)
  # A missing function is our error, not the user's; sanitizers leave their own names to the program.
  target_link_options(texsolve_shared PRIVATE LINKER:--no-undefined)
endif()
target_link_libraries(texsolve_static PUBLIC ${link_libraries} PRIVATE $<BUILD_INTERFACE:texsolve_options>)
set_target_properties(texsolve_static PROPERTIES LINKER_LANGUAGE C)
add_library(texsolve_internal STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:texsolve_objects>)
target_include_directories(texsolve_internal PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include)
target_link_libraries(texsolve_internal PUBLIC ${link_libraries} texsolve_options)
if(NOT EMSCRIPTEN)
  include(Nl)
  include(Mpi)
elseif(TEXSOLVE_GL AND PROJECT_IS_TOP_LEVEL)
  add_subdirectory(web/tests/native)
endif()
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
# The command and the larger demos read their options by argp, which only the GNU C library has, and start processes as POSIX
# does; minimal, spline and the examples are C11.
include(CheckSymbolExists)
check_symbol_exists(argp_parse argp.h TEXSOLVE_HAVE_ARGP)
set(gnu_programs OFF)
if(TEXSOLVE_HAVE_ARGP)
  set(gnu_programs ON)
elseif(TEXSOLVE_PROGRAMS)
  message(STATUS "Programs: minimal, spline and the examples alone; texsolve, heat, mesh-smooth, mesh-param and fluid need the GNU C library")
endif()
if(TEXSOLVE_PROGRAMS AND gnu_programs)
  include(Fclib)
  include(Zlib)
  add_subdirectory(cli)
endif()
if(TEXSOLVE_PROGRAMS)
  add_subdirectory(demos)
  add_subdirectory(examples)
endif()
if(TEXSOLVE_PROGRAMS AND gnu_programs)
  add_subdirectory(bench) # after the demos, whose maps peer-lscm compares
endif()
if(TEXSOLVE_TESTS AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/tests/CMakeLists.txt)
  add_subdirectory(tests)
endif()
