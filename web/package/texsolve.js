// texsolve: sparse linear systems on WebGL 2 and WebAssembly. See texsolve.d.ts for the interface.
import { Texsolve } from './api.js'
import { openWith } from './open.js'
import createModule from './texsolve.module.js'

export { TexsolveError } from './errors.js'
export { readMatrixMarket } from './matrix-market.js'
export { Texsolve }

/** Opens a device: WebGL 2 if there is one, otherwise WebAssembly. */
export async function open(options) {
  return openWith({ createModule, source: () => new URL('./texsolve.wasm', import.meta.url) }, Texsolve, options)
}
