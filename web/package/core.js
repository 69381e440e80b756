// texsolve/core: matrices, solvers and preconditioners alone, by a smaller module.
import { Core } from './core-api.js'
import createModule from './core.module.js'
import { openWith } from './open.js'

export { TexsolveError } from './errors.js'
export { readMatrixMarket } from './matrix-market.js'
export { Core }

/** Opens a device: WebGL 2 if there is one, otherwise WebAssembly. */
export async function open(options) {
  return openWith({ createModule, source: () => new URL('./core.wasm', import.meta.url) }, Core, options)
}
