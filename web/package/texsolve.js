// texsolve: sparse linear systems on WebGL 2 and WebAssembly. See texsolve.d.ts for the interface.
import { openContext } from './context.js'
import { Runtime } from './runtime.js'
import { Texsolve } from './api.js'

export { TexsolveError } from './errors.js'
export { readMatrixMarket } from './matrix-market.js'
export { Texsolve }

/** Opens a device: WebGL 2 if there is one, otherwise WebAssembly. */
export async function open(options = {}) {
  const runtime = await Runtime.create(options)
  await openContext(runtime, options)
  return new Texsolve(runtime, options)
}
