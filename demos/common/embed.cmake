# Turns text files into C strings, each named after its file (heat.frag becomes heat_frag). Run as a script:
#   cmake -DFILES=a;b -DOUTPUT=... -P embed.cmake
set(text "/* Made by demos/embed.cmake. */\n")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER ${name} name)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(APPEND text "static const char ${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
