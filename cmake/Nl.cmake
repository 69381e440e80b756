# texsolve-nl: the API of OpenNL in a library of its own, which knows texsolve by its public headers alone.
file(GLOB nl_sources CONFIGURE_DEPENDS src/nl/*.c)
add_library(texsolve_nl_objects OBJECT ${nl_sources})
set_target_properties(texsolve_nl_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(texsolve_nl_objects PRIVATE include)
target_compile_definitions(texsolve_nl_objects PRIVATE _POSIX_C_SOURCE=200809L)
target_link_libraries(texsolve_nl_objects PRIVATE texsolve_options)

texsolve_join(texsolve_nl_objects nl_static_objects)
add_library(texsolve_nl_shared SHARED $<TARGET_OBJECTS:texsolve_nl_objects>)
add_library(texsolve_nl_static STATIC ${nl_static_objects})
foreach(kind shared static)
  set_target_properties(texsolve_nl_${kind} PROPERTIES OUTPUT_NAME texsolve-nl EXPORT_NAME nl-${kind} LINKER_LANGUAGE C)
  # The directory of nl.h itself: programs write "nl.h" or <NL/nl.h>.
  target_include_directories(texsolve_nl_${kind} INTERFACE
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include/texsolve-nl> $<INSTALL_INTERFACE:include/texsolve-nl>)
  add_library(texsolve::nl-${kind} ALIAS texsolve_nl_${kind})
endforeach()
add_library(texsolve::nl ALIAS texsolve_nl_shared)
texsolve_export(texsolve_nl_shared texsolve-nl.map)
# texsolve is found beside it, wherever the two are installed.
set_target_properties(texsolve_nl_shared PROPERTIES VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN")
if(CMAKE_SYSTEM_NAME STREQUAL Linux AND NOT TEXSOLVE_SANITIZE)
  target_link_options(texsolve_nl_shared PRIVATE LINKER:--no-undefined)
endif()
target_link_libraries(texsolve_nl_shared PRIVATE texsolve_shared m $<BUILD_INTERFACE:texsolve_options>)
target_link_libraries(texsolve_nl_static PUBLIC texsolve_static m PRIVATE $<BUILD_INTERFACE:texsolve_options>)
