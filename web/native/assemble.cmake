# Copies a module into the package, smaller where Binaryen can make it so, and writes it as text for the single-file build.
#   cmake -DBUILT=DIRECTORY -DPACKAGE=DIRECTORY -DNAME=texsolve -P assemble.cmake
# Emscripten writes a wrapper of each export, which load.js replaces.
file(READ ${BUILT}/${NAME}.module.js script)
string(REGEX REPLACE "var _tsw?_[a-z0-9_]+=Module\\[\"_tsw?_[a-z0-9_]+\"\\]=function\\(\\){return\\(_tsw?_[a-z0-9_]+=Module\\[\"_tsw?_[a-z0-9_]+\"\\]=Module\\[\"asm\"\\]\\[\"[a-z0-9_]+\"\\]\\)\\.apply\\(null,arguments\\)};" "" script "${script}")
file(WRITE ${PACKAGE}/${NAME}.module.js "${script}")
find_program(wasm_opt wasm-opt)
if(wasm_opt)
  execute_process(COMMAND ${wasm_opt} -Oz --enable-simd --enable-bulk-memory --enable-nontrapping-float-to-int
    --enable-sign-ext --enable-mutable-globals ${BUILT}/${NAME}.module.wasm -o ${PACKAGE}/${NAME}.wasm COMMAND_ERROR_IS_FATAL ANY)
else()
  configure_file(${BUILT}/${NAME}.module.wasm ${PACKAGE}/${NAME}.wasm COPYONLY)
endif()
if(NAME STREQUAL texsolve)
  execute_process(COMMAND base64 -w 0 ${PACKAGE}/${NAME}.wasm OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${PACKAGE}/${NAME}.wasm.js "// The module in base 64.\nexport default '${text}'\n")
endif()
