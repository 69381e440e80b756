# Copies a module into the package, smaller where Binaryen can make it so, and writes it as text for the single-file build.
#   cmake -DBUILT=DIRECTORY -DPACKAGE=DIRECTORY -DNAME=texsolve -DPYTHON=python3 -P assemble.cmake
# Emscripten writes a wrapper of each export. load.js needs only the name that the export has in the module.
file(READ ${BUILT}/${NAME}.module.js script)
set(name "_tsw?_[a-z0-9_]+")
string(REGEX REPLACE "var ${name}=Module\\[\"(${name})\"\\]=function\\(\\){return\\(${name}=Module\\[\"${name}\"\\]=Module\\[\"asm\"\\]\\[(\"[a-zA-Z0-9_$]+\")\\]\\)\\.apply\\(null,arguments\\)};"
  "Module[\"\\1\"]=\\2;" script "${script}")
file(WRITE ${PACKAGE}/${NAME}.module.js "${script}")
find_program(wasm_opt wasm-opt)
if(wasm_opt)
  execute_process(COMMAND ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/strip_scripts.py ${BUILT}/${NAME}.module.wasm ${BUILT}/${NAME}.stripped.wasm
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${wasm_opt} -Oz --enable-simd --enable-bulk-memory --enable-nontrapping-float-to-int
    --enable-sign-ext --enable-mutable-globals ${BUILT}/${NAME}.stripped.wasm -o ${PACKAGE}/${NAME}.wasm COMMAND_ERROR_IS_FATAL ANY)
else()
  configure_file(${BUILT}/${NAME}.module.wasm ${PACKAGE}/${NAME}.wasm COPYONLY)
endif()
if(NAME STREQUAL texsolve)
  execute_process(COMMAND base64 -w 0 ${PACKAGE}/${NAME}.wasm OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${PACKAGE}/${NAME}.wasm.js "// The module in base 64.\nexport default '${text}'\n")
endif()
