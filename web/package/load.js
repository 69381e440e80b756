// Compiles and starts the WebAssembly module.
import { TexsolveError, invalid, shown } from './errors.js'

// Replaced in Node.
let read = async url => {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`HTTP status ${response.status}`)
  return response
}

export function setReader(reader) {
  read = reader
}

const compiled = new Map() // of each address or function, so that a second open() is quick

async function compileFrom(source) {
  const response = typeof source === 'function' ? source() : await read(source)
  if (typeof Response === 'function' && response instanceof Response) {
    const copy = response.clone()
    try {
      return await WebAssembly.compileStreaming(response)
    } catch { // a server that does not send application/wasm
      return WebAssembly.compile(await copy.arrayBuffer())
    }
  }
  return WebAssembly.compile(response)
}

async function compile(build, { wasmBinary, wasmURL }) {
  if (wasmBinary instanceof WebAssembly.Module) return wasmBinary
  if (wasmBinary !== undefined) {
    if (!(wasmBinary instanceof ArrayBuffer) && !ArrayBuffer.isView(wasmBinary))
      throw invalid(`wasmBinary is ${shown(wasmBinary)}; it must be an ArrayBuffer, a typed array or a WebAssembly.Module`)
    return WebAssembly.compile(wasmBinary)
  }
  const own = build.source()
  const source = wasmURL ?? (ArrayBuffer.isView(own) ? build.source : own)
  const key = typeof source === 'function' ? source : String(source)
  if (!compiled.has(key)) compiled.set(key, compileFrom(source))
  try {
    return await compiled.get(key)
  } catch (error) {
    compiled.delete(key)
    throw new TexsolveError('unavailable', `the WebAssembly module was not loaded from ${key}: ${error.message}. The option ` +
      'wasmURL or wasmBinary names another place; "texsolve/single" contains the module', { cause: error })
  }
}

/** A new instance of the module. `host` receives what it reports. */
export async function load(build, options, host) {
  if (typeof WebAssembly !== 'object') throw new TexsolveError('unsupported', 'this browser has no WebAssembly')
  let module
  try {
    module = await compile(build, options)
  } catch (error) {
    if (error instanceof TexsolveError) throw error
    throw new TexsolveError('unavailable', `the WebAssembly module does not compile: ${error.message}`, { cause: error })
  }
  let exports
  return new Promise((resolve, reject) => {
    build.createModule({
      host,
      print: () => {},
      printErr: () => {},
      instantiateWasm(imports, receive) {
        WebAssembly.instantiate(module, imports).then(instance => {
          exports = instance.exports
          receive(instance)
        }, reject)
        return {}
      }
    }).then(module => {
      // The module has the names of its exports: _ts_version: 'a'.
      for (const [name, value] of Object.entries(module))
        if (name[0] === '_' && typeof value === 'string') module[name] = exports[value]
      resolve(module)
    }).catch(reject)
  })
}
