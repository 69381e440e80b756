// Errors of the package: a code for programs, and the library's message for people.
import { constants as c } from './layout.js'

const codes = new Map([
  [c.TS_ERROR_INVALID_ARGUMENT, 'invalid-argument'], [c.TS_ERROR_OUT_OF_HOST_MEMORY, 'out-of-memory'],
  [c.TS_ERROR_OUT_OF_DEVICE_MEMORY, 'out-of-memory'], [c.TS_ERROR_UNAVAILABLE, 'unavailable'],
  [c.TS_ERROR_UNSUPPORTED, 'unsupported'], [c.TS_ERROR_LIMIT, 'limit'], [c.TS_ERROR_INCOMPATIBLE, 'incompatible'],
  [c.TS_ERROR_SHADER, 'shader'], [c.TS_ERROR_DEVICE, 'device']
])

export class TexsolveError extends Error {
  constructor(code, message, options) {
    super(message, options)
    this.name = 'TexsolveError'
    this.code = code
  }
}

/** The error for a status of the C library and its message. */
export function errorOf(status, message) {
  return new TexsolveError(codes.get(status) ?? 'internal', message || `the library returned status ${status}`)
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
