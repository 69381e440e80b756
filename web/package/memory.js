// The memory of the WebAssembly module: blocks, strings, and structs by the offsets of layout.js.
import { invalid, memoryLimit, outOfMemory, shown } from './errors.js'
import { constants as c, structs } from './layout.js'

const layouts = new Map()

/** The fields of a struct: a Map of name to {offset, code, count}. */
function layoutOf(name) {
  let layout = layouts.get(name)
  if (!layout) {
    const [size, text] = structs[name]
    const fields = new Map(text.split(' ').map(part => {
      const [field, offset, kind] = part.split(':')
      const [code, count] = kind.split('*')
      return [field, { offset: Number(offset), code, count: count ? Number(count) : 0 }]
    }))
    layouts.set(name, layout = { size, fields })
  }
  return layout
}

export function sizeOf(name) {
  return structs[name][0]
}

const widths = { i: 4, u: 4, z: 4, f: 4, d: 8, l: 8, b: 1, c: 1 }
const arrayTypes = new Map([[Float32Array, c.TS_TYPE_FLOAT], [Float64Array, c.TS_TYPE_DOUBLE], [Int32Array, c.TS_TYPE_INT32]])

export class Memory {
  constructor(module) {
    this.module = module
    this.decoder = new TextDecoder()
    this.encoder = new TextEncoder()
    this.refresh()
  }

  // Views of a memory that has grown are detached, so each use asks for the present ones.
  refresh() {
    const buffer = this.module.HEAPU8.buffer
    this.buffer = buffer
    this.bytes = new Uint8Array(buffer)
    this.view = new DataView(buffer)
  }

  present() {
    if (this.buffer !== this.module.HEAPU8.buffer) this.refresh()
    return this
  }

  /** A block of memory, which the caller frees. */
  allocate(bytes) {
    // The module would take the size modulo 2^32.
    const pointer = bytes < memoryLimit ? this.module._malloc(Math.max(bytes, 1)) >>> 0 : 0
    this.present()
    if (!pointer) throw outOfMemory(`there is no room for an array of ${bytes} bytes`, this.buffer)
    return pointer
  }

  free(pointer) {
    if (pointer) this.module._free(pointer)
  }

  text(pointer) {
    if (!pointer) return ''
    const { bytes } = this.present()
    let end = pointer
    while (bytes[end]) end++
    return this.decoder.decode(bytes.slice(pointer, end))
  }

  /** A typed array over the memory: valid until the memory grows. */
  array(Type, pointer, count) {
    return new Type(this.present().buffer, pointer, count)
  }

  pointerAt(address) {
    return this.present().view.getUint32(address, true)
  }

  setPointerAt(address, value) {
    this.present().view.setUint32(address, value, true)
  }

  getNumber(address, code) {
    const { view } = this
    switch (code) {
      case 'i': return view.getInt32(address, true)
      case 'u': return view.getUint32(address, true)
      case 'f': return view.getFloat32(address, true)
      case 'd': return view.getFloat64(address, true)
      case 'l': return Number(view.getBigInt64(address, true))
      case 'b': return view.getUint8(address)
      case 'z': return this.text(view.getUint32(address, true))
      default: return this.readStruct(code, address)
    }
  }

  setNumber(address, code, value) {
    const { view } = this
    switch (code) {
      case 'i': return view.setInt32(address, value, true)
      case 'u': case 'z': return view.setUint32(address, value, true)
      case 'f': return view.setFloat32(address, value, true)
      case 'd': return view.setFloat64(address, value, true)
      case 'l': return view.setBigInt64(address, BigInt(value), true)
      case 'b': return view.setUint8(address, value)
      default: return this.writeStruct(code, address, value)
    }
  }

  /** A struct as an object; texts are strings, pointers are numbers. */
  readStruct(name, address) {
    this.present()
    const found = {}
    for (const [field, { offset, code, count }] of layoutOf(name).fields) {
      if (code === 'c' && count) {
        const bytes = this.bytes.slice(address + offset, address + offset + count)
        const end = bytes.indexOf(0)
        found[field] = this.decoder.decode(end < 0 ? bytes : bytes.subarray(0, end))
      } else if (count) {
        const width = widths[code] ?? sizeOf(code)
        found[field] = Array.from({ length: count }, (_, k) => this.getNumber(address + offset + k * width, code))
      } else {
        found[field] = this.getNumber(address + offset, code)
      }
    }
    return found
  }

  /** Sets the fields that `values` has, and leaves the others. */
  writeStruct(name, address, values) {
    this.present()
    const { fields } = layoutOf(name)
    for (const [field, value] of Object.entries(values)) {
      if (value === undefined) continue
      const { offset, code, count } = fields.get(field)
      if (!count) this.setNumber(address + offset, code, value)
      else for (let k = 0; k < value.length; k++) this.setNumber(address + offset + k * (widths[code] ?? sizeOf(code)), code, value[k])
    }
  }
}

/** Blocks of one call, freed together. */
export class Arena {
  constructor(memory) {
    this.memory = memory
    this.blocks = []
  }

  allocate(bytes) {
    const pointer = this.memory.allocate(bytes)
    this.blocks.push(pointer)
    return pointer
  }

  text(value) {
    const bytes = this.memory.encoder.encode(value)
    const pointer = this.allocate(bytes.length + 1)
    this.memory.bytes.set(bytes, pointer)
    this.memory.bytes[pointer + bytes.length] = 0
    return pointer
  }

  /** A struct, all 0 but for `values`. */
  struct(name, values = {}, count = 1) {
    const pointer = this.allocate(sizeOf(name) * count)
    this.memory.bytes.fill(0, pointer, pointer + sizeOf(name) * count)
    this.memory.writeStruct(name, pointer, values)
    return pointer
  }

  /** A copy of a typed array in the memory. */
  copy(array) {
    const pointer = this.allocate(array.byteLength)
    this.memory.array(array.constructor, pointer, array.length).set(array)
    return pointer
  }

  /** The fields of a ts_array over a copy of a typed array. */
  input(array) {
    return { data: this.copy(array), count: array.length, type: arrayTypes.get(array.constructor), read_only: 1 }
  }

  /** The fields of a ts_array that the library writes to. */
  output(Type, count) {
    return { data: this.allocate(count * Type.BYTES_PER_ELEMENT), count, type: arrayTypes.get(Type) }
  }

  /** A ts_array in memory: what a C function takes by value. */
  array(fields) {
    return this.struct('ts_array', fields)
  }

  /** A copy of what the library wrote. */
  result(Type, fields) {
    return this.memory.array(Type, fields.data, fields.count).slice()
  }

  free() {
    for (const pointer of this.blocks) this.memory.free(pointer)
    this.blocks = []
  }
}

function isDetached(array) {
  return array.buffer.detached ?? (array.byteLength === 0 && array.buffer.byteLength === 0)
}

/** Checks a typed array of an argument. `count`: the length that it must have, or undefined. */
export function checkArray(name, array, types, count) {
  if (!ArrayBuffer.isView(array) || !types.includes(array.constructor))
    throw invalid(`${name} is ${shown(array)}; it must be a ${types.map(type => type.name).join(' or a ')}`)
  if (array.length === 0 && count !== 0 && isDetached(array))
    throw invalid(`${name} is detached: its buffer was transferred, for example by postMessage`)
  if (count !== undefined && array.length !== count)
    throw invalid(`${name} has ${array.length} elements; expected ${count}`)
  return array
}

export const floats = [Float32Array, Float64Array]

/** The index of the first NaN or infinity, or -1. */
export function firstInvalid(array) {
  for (let k = 0; k < array.length; k++) if (!(Math.abs(array[k]) < Infinity)) return k
  return -1
}

/** Checks an array of numbers: its type, its length and that all are finite. */
export function checkNumbers(name, array, count) {
  checkArray(name, array, floats, count)
  const at = firstInvalid(array)
  if (at >= 0) throw invalid(`${name}[${at}] is ${array[at]}; it must be finite`)
  return array
}

/** Checks a number. */
export function checkNumber(name, value, { integer = false, least = -Infinity, most = Infinity } = {}) {
  if (typeof value !== 'number' || Number.isNaN(value) || (integer && !Number.isInteger(value)))
    throw invalid(`${name} is ${shown(value)}; it must be ${integer ? 'an integer' : 'a number'}`)
  if (value < least || value > most) {
    const range = most === Infinity ? `at least ${least}` : `${least} to ${most}`
    throw invalid(`${name} is ${value}; it must be ${range}`)
  }
  return value
}
