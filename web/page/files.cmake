# Writes files.js, the list that the service worker (sw.js) keeps for use offline, into an assembled page:
#   cmake -DDIRECTORY=build-web/page -P web/page/files.cmake
# The list has a hash of the contents of all files. It does not contain the worker itself.

if(NOT DIRECTORY)
  message(FATAL_ERROR "-DDIRECTORY=... is missing")
endif()
# The page uses neither the small module nor the forms of the package for Node and for a single file.
file(GLOB unused "${DIRECTORY}/texsolve/core.*" "${DIRECTORY}/texsolve/single*" "${DIRECTORY}/texsolve/node.js"
  "${DIRECTORY}/texsolve/*.wasm.js")
if(unused)
  file(REMOVE ${unused})
endif()
file(GLOB_RECURSE files RELATIVE "${DIRECTORY}" "${DIRECTORY}/*")
list(FILTER files EXCLUDE REGEX "(^|/)(sw\\.js|files\\.js|files\\.cmake|.*\\.md|.*\\.d\\.ts|package\\.json)$")
list(SORT files)
set(hashes "")
set(names "'./'")
foreach(name IN LISTS files)
  file(SHA256 "${DIRECTORY}/${name}" hash)
  string(APPEND hashes "${name} ${hash}\n")
  string(APPEND names ",\n  '${name}'")
endforeach()
string(SHA256 version "${hashes}")
string(SUBSTRING "${version}" 0 16 version)
file(WRITE "${DIRECTORY}/files.js" "self.texsolveFiles = { version: '${version}', files: [${names}] }\n")
