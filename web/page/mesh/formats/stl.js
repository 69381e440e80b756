// STL, text and binary. The file repeats each corner, so equal corners are joined.
import { Growing, MeshFileError, Scanner } from './scanner.js'

const HEADER = 84,
  FACET = 50

// A binary file may begin with "solid" too: its length decides.
function isBinary(bytes) {
  if (bytes.length < HEADER) return false
  const count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(80, true)
  if (bytes.length === HEADER + FACET * count) return true
  const begin = new TextDecoder('latin1').decode(bytes.subarray(0, Math.min(bytes.length, 512)))
  return !/^\s*solid/.test(begin) || bytes.subarray(0, 512).includes(0)
}

function parseBinary(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const count = view.getUint32(80, true),
    held = Math.floor((bytes.length - HEADER) / FACET)
  if (count === 0) throw new MeshFileError('the file has no facets')
  if (held < count) throw new MeshFileError(`the file ends after ${held} of ${count} facets`)
  const corners = new Float64Array(9 * count)
  for (let f = 0, k = 0; f < count; f++)
    for (let c = 0; c < 9; c++, k++) {
      corners[k] = view.getFloat32(HEADER + FACET * f + 12 + 4 * c, true)
      if (!Number.isFinite(corners[k])) throw new MeshFileError(`facet ${f + 1} has a corner that is not finite`)
    }
  return corners
}

function parseText(bytes) {
  const scanner = new Scanner(bytes),
    corners = new Growing(Float64Array)
  let inLoop = -1 // corners of the current loop; -1 outside
  while (scanner.nextWordLine()) {
    const keyword = scanner.word().toLowerCase()
    if (keyword === 'outer') inLoop = 0
    else if (keyword === 'vertex') {
      if (inLoop < 0) scanner.fail('a vertex stands outside of a loop')
      if (inLoop++ === 3) scanner.fail('a facet has more than 3 vertices')
      for (const axis of 'xyz') corners.push(scanner.number(axis))
    } else if (keyword === 'endloop') {
      if (inLoop !== 3) scanner.fail(`the facet has ${Math.max(inLoop, 0)} vertices, expected 3`)
      inLoop = -1
    } else if (!/^(solid|facet|endfacet|endsolid)$/.test(keyword))
      scanner.fail(`"${keyword.slice(0, 20)}" is not a word of STL`)
    scanner.nextLine()
  }
  if (inLoop >= 0) scanner.fail('the file ends within a facet')
  if (!corners.length) scanner.fail('the file has no facets')
  return corners.finish()
}

// Joins equal points. Returns positions and the point of each corner.
export function joinCorners(corners) {
  const count = corners.length / 3,
    triangles = new Int32Array(count),
    positions = new Growing(Float64Array)
  let mask = 1
  while (mask < 2 * count) mask *= 2
  const table = new Int32Array(mask).fill(-1)
  mask--
  const bits = new Float64Array(3),
    words = new Uint32Array(bits.buffer)
  for (let c = 0; c < count; c++) {
    let hash = 0
    for (let k = 0; k < 3; k++) bits[k] = corners[3 * c + k] + 0 // -0 becomes 0
    for (let k = 0; k < 6; k++) hash = Math.imul(hash ^ words[k] ^ (hash >>> 15), 0x9e3779b1)
    let slot = (hash ^ (hash >>> 13)) & mask
    for (; ; slot = (slot + 1) & mask) {
      const p = table[slot]
      if (p < 0) {
        triangles[c] = table[slot] = positions.length / 3
        for (let k = 0; k < 3; k++) positions.push(bits[k])
        break
      }
      const at = positions.data
      if (at[3 * p] === bits[0] && at[3 * p + 1] === bits[1] && at[3 * p + 2] === bits[2]) {
        triangles[c] = p
        break
      }
    }
  }
  return { positions: positions.finish(), triangles }
}

export function parseStl(bytes) {
  return joinCorners(isBinary(bytes) ? parseBinary(bytes) : parseText(bytes))
}
