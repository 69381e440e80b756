// texsolve in JavaScript alone: the module is inside.
import { Texsolve } from './api.js'
import { openWith } from './open.js'
import createModule from './texsolve.module.js'
import encoded from './texsolve.wasm.js'

export { TexsolveError } from './errors.js'
export { readMatrixMarket } from './matrix-market.js'
export { Texsolve }

/** The bytes of the module. */
function decode() {
  return Uint8Array.from(atob(encoded), letter => letter.charCodeAt(0))
}

/** Opens a device: WebGL 2 if there is one, otherwise WebAssembly. */
export async function open(options) {
  return openWith({ createModule, source: decode }, Texsolve, options)
}
