// Errors of the package: a code for programs, and the library's message for people.
import { constants as c } from './layout.js'

const codes = new Map([
  [c.TS_ERROR_INVALID_ARGUMENT, 'invalid-argument'], [c.TS_ERROR_OUT_OF_HOST_MEMORY, 'out-of-memory'],
  [c.TS_ERROR_OUT_OF_DEVICE_MEMORY, 'out-of-memory'], [c.TS_ERROR_UNAVAILABLE, 'unavailable'],
  [c.TS_ERROR_UNSUPPORTED, 'unsupported'], [c.TS_ERROR_LIMIT, 'limit'], [c.TS_ERROR_INCOMPATIBLE, 'incompatible'],
  [c.TS_ERROR_SHADER, 'shader'], [c.TS_ERROR_DEVICE, 'device']
])

/** What a module's memory may grow to, in bytes (web/CMakeLists.txt does not set MAXIMUM_MEMORY). */
export const memoryLimit = 2 ** 31

export class TexsolveError extends Error {
  constructor(code, message, options) {
    super(message, options)
    this.name = 'TexsolveError'
    this.code = code
  }
}

/** The error for a status of the C library and its message. `buffer`: the module's memory. */
export function errorOf(status, message, buffer) {
  if (status === c.TS_ERROR_OUT_OF_HOST_MEMORY) return outOfMemory(message, buffer)
  return new TexsolveError(codes.get(status) ?? 'internal', message || `the library returned status ${status}`)
}

/** The error for memory that is missing. `buffer`: the module's memory. */
export function outOfMemory(message, buffer, options) {
  const gigabytes = bytes => `${(bytes / 2 ** 30).toFixed(2)} GB`
  return new TexsolveError('out-of-memory', `${message}. A WebAssembly module has at most ${gigabytes(memoryLimit)}, ` +
    `and this one has taken ${gigabytes(buffer.byteLength)}`, options)
}

/** Errors of the engine about arrays that it cannot allocate get a code; others stay. */
export function withCode(error) {
  if (!(error instanceof RangeError) || !/alloc|array (buffer|length)|out of memory/i.test(error.message)) return error
  return new TexsolveError('out-of-memory', `the browser has no memory for an array: ${error.message}`, { cause: error })
}

export function invalid(message) {
  return new TexsolveError('invalid-argument', message)
}

/** How a value is shown in a message. */
export function shown(value) {
  if (typeof value === 'string') return `"${value.length > 40 ? value.slice(0, 40) + '...' : value}"`
  if (ArrayBuffer.isView(value)) return `a ${value.constructor.name} of ${value.length ?? value.byteLength} elements`
  if (Array.isArray(value)) return `an array of ${value.length} elements`
  if (typeof value === 'function') return 'a function'
  if (value && typeof value === 'object') return `an object (${value.constructor?.name ?? 'Object'})`
  return String(value)
}
