# Copies the module into the package, and writes the WebAssembly as text for the single-file build.
#   cmake -DBUILT=DIRECTORY -DPACKAGE=DIRECTORY -P assemble.cmake
configure_file(${BUILT}/texsolve.module.wasm ${PACKAGE}/texsolve.wasm COPYONLY)
configure_file(${BUILT}/texsolve.module.js ${PACKAGE}/texsolve.module.js COPYONLY)
execute_process(COMMAND base64 -w 0 ${PACKAGE}/texsolve.wasm OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${PACKAGE}/texsolve.wasm.js "// The module in base 64.\nexport default '${text}'\n")
