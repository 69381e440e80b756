// Opens a context: the part of open() that all builds share.
import { openContext } from './context.js'
import { Runtime } from './runtime.js'

/** `build` has the module: { createModule, source() }. `Api` is the class of the object that is returned. */
export async function openWith(build, Api, options = {}) {
  const runtime = await Runtime.create(build, options)
  await openContext(runtime, options)
  return new Api(runtime, options)
}
