// texsolve in one file of JavaScript: the module is inside.
import { setDefaultSource, setReader } from './load.js'
import encoded from './texsolve.wasm.js'

setDefaultSource(() => 'data:application/wasm;base64,')
setReader(source => {
  if (!String(source).startsWith('data:')) return fetch(source)
  return Uint8Array.from(atob(encoded), letter => letter.charCodeAt(0))
})

export * from './texsolve.js'
