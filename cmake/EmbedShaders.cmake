# Turns every file below shaders/ into a C byte array. Run as a script:
#   cmake -DSHADER_DIR=... -DOUTPUT=... -P EmbedShaders.cmake
file(GLOB_RECURSE files RELATIVE ${SHADER_DIR} ${SHADER_DIR}/*.vert ${SHADER_DIR}/*.frag ${SHADER_DIR}/*.glsl)
list(SORT files)
set(arrays "")
set(table "")
set(index 0)
foreach(name IN LISTS files)
  file(READ ${SHADER_DIR}/${name} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "static const unsigned char file_${index}[] = {\n${bytes}0};\n")
  string(APPEND table "  {\"${name}\", (const char *)file_${index}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT}.new
  "/* Made by cmake/EmbedShaders.cmake from shaders/. */\n#include \"gl/core/gl_shader.h\"\n\n${arrays}\nconst gl_embedded_shader gl_embedded_shaders[] = {\n${table}  {0, 0},\n};\n")
execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different ${OUTPUT}.new ${OUTPUT})
