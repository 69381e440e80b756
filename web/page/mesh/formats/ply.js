// PLY: text, little-endian and big-endian. Elements other than vertex and face, and other properties, are skipped.
import { Growing, MeshFileError, Scanner, pushPolygon } from './scanner.js'

const TYPES = {
  char: ['Int8', 1],
  uchar: ['Uint8', 1],
  short: ['Int16', 2],
  ushort: ['Uint16', 2],
  int: ['Int32', 4],
  uint: ['Uint32', 4],
  float: ['Float32', 4],
  double: ['Float64', 8],
  int8: ['Int8', 1],
  uint8: ['Uint8', 1],
  int16: ['Int16', 2],
  uint16: ['Uint16', 2],
  int32: ['Int32', 4],
  uint32: ['Uint32', 4],
  float32: ['Float32', 4],
  float64: ['Float64', 8]
}

// ---- Header ----

function type(scanner) {
  const name = scanner.word()
  if (!Object.hasOwn(TYPES, name)) scanner.fail(`"${name.slice(0, 20)}" is not a type of a property`)
  return name
}

function property(scanner, elements) {
  if (!elements.length) scanner.fail('a property precedes the first element')
  const isList = /^list\s/.test(scanner.hasWord() ? peek(scanner) : '')
  if (isList) scanner.word()
  const count = isList ? type(scanner) : null,
    of = type(scanner),
    name = scanner.word()
  if (!name) scanner.fail('the property has no name')
  elements.at(-1).properties.push({ name, count, of })
}

function peek(scanner) {
  const at = scanner.at,
    text = scanner.rest()
  scanner.at = at
  return `${text} `
}

function header(scanner) {
  let format = ''
  const elements = []
  if (scanner.word() !== 'ply') scanner.fail('the file does not begin with "ply"')
  for (scanner.nextLine(); ; scanner.nextLine()) {
    if (!scanner.nextWordLine()) scanner.fail('the header has no end_header')
    const keyword = scanner.word()
    if (keyword === 'format') format = scanner.word()
    else if (keyword === 'element') {
      const name = scanner.word(),
        count = scanner.integer(`the number of elements "${name}"`)
      if (count < 0) scanner.fail(`the number of elements "${name}" is negative`)
      elements.push({ name, count, properties: [] })
    } else if (keyword === 'property') property(scanner, elements)
    else if (keyword === 'end_header') break
    else if (keyword !== 'comment' && keyword !== 'obj_info')
      scanner.fail(`"${keyword.slice(0, 20)}" is not a word of a header of PLY`)
  }
  if (!/^(ascii|binary_little_endian|binary_big_endian)$/.test(format))
    scanner.fail(`the format is "${format.slice(0, 40)}", expected ascii, binary_little_endian or binary_big_endian`)
  scanner.nextLine()
  return { format, elements }
}

// ---- Values ----

// Both readers have begin() and end() of an element, number(type, what) and fail(message).

class TextValues {
  constructor(scanner) {
    this.scanner = scanner
  }

  begin() {
    if (!this.scanner.nextWordLine()) this.scanner.fail('the file ends too early')
  }

  number(of, what) {
    return this.scanner.number(what)
  }

  end() {
    this.scanner.nextLine()
  }

  fail(message) {
    this.scanner.fail(message)
  }
}

class BinaryValues {
  constructor(bytes, at, isLittle) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.at = at
    this.isLittle = isLittle
  }

  begin() {}

  number(of, what) {
    const [name, size] = TYPES[of]
    if (this.at + size > this.view.byteLength) this.fail(`the file ends within ${what}`)
    const value = this.view[`get${name}`](this.at, this.isLittle)
    this.at += size
    return value
  }

  end() {}

  fail(message) {
    throw new MeshFileError(`byte ${this.at}: ${message}`)
  }
}

// ---- Elements ----

function readVertices(values, element, positions) {
  const slot = element.properties.map(({ name, count }) => (count ? -1 : ['x', 'y', 'z'].indexOf(name)))
  if ([0, 1, 2].some((k) => !slot.includes(k))) values.fail('the vertices lack x, y or z')
  for (let v = 0; v < element.count; v++) {
    values.begin()
    element.properties.forEach((p, k) => {
      if (p.count) return void skip(values, p)
      const number = values.number(p.of, p.name)
      if (slot[k] < 0) return
      if (!Number.isFinite(number)) values.fail(`${p.name} of vertex ${v} is not finite`)
      positions[3 * v + slot[k]] = number
    })
    values.end()
  }
}

function readFace(values, p, vertices, corners, f) {
  const count = values.number(p.count, 'the number of corners')
  if (!(count >= 0 && count <= 65535 && Number.isInteger(count))) values.fail(`face ${f} has ${count} corners`)
  for (let k = 0; k < count; k++) {
    corners[k] = values.number(p.of, `corner ${k + 1}`)
    if (!(corners[k] >= 0 && corners[k] < vertices && Number.isInteger(corners[k])))
      values.fail(`face ${f} has vertex ${corners[k]}, expected 0 to ${vertices - 1}`)
  }
  return count
}

function readFaces(values, element, vertices, triangles) {
  const corners = []
  const isFace = element.properties.map(({ name, count }) => count && /^vertex_ind(ex|ices)$/.test(name))
  if (!isFace.some(Boolean)) values.fail('the faces lack vertex_indices')
  for (let f = 0; f < element.count; f++) {
    values.begin()
    element.properties.forEach((p, k) => {
      if (isFace[k]) pushPolygon(triangles, corners, readFace(values, p, vertices, corners, f))
      else skip(values, p)
    })
    values.end()
  }
}

function skip(values, p) {
  let count = 1
  if (p.count) count = values.number(p.count, `the length of ${p.name}`)
  for (let k = 0; k < count; k++) values.number(p.of, p.name)
}

function skipElement(values, element) {
  for (let k = 0; k < element.count; k++) {
    values.begin()
    for (const p of element.properties) skip(values, p)
    values.end()
  }
}

export function parsePly(bytes) {
  const scanner = new Scanner(bytes)
  const { format, elements } = header(scanner)
  const vertex = elements.find(({ name }) => name === 'vertex'),
    face = elements.find(({ name }) => name === 'face')
  if (!vertex?.count) scanner.fail('the header names no vertices')
  if (!face?.count) scanner.fail('the header names no faces')
  if (vertex.count + face.count > bytes.length)
    scanner.fail(`${vertex.count} vertices and ${face.count} faces do not fit the file`)
  const values =
    format === 'ascii' ? new TextValues(scanner) : new BinaryValues(bytes, scanner.at, format.includes('little'))
  const positions = new Float64Array(3 * vertex.count),
    triangles = new Growing(Int32Array)
  for (const element of elements)
    if (element === vertex) readVertices(values, element, positions)
    else if (element === face) readFaces(values, element, vertex.count, triangles)
    else skipElement(values, element)
  if (!triangles.length) scanner.fail('the faces have no triangle')
  return { positions, triangles: triangles.finish() }
}
