// A mesh file's format by its contents, then by its name.
import { MeshFileError } from './scanner.js'
import { parseObj } from './obj.js'
import { parseOff } from './off.js'
import { parsePly } from './ply.js'
import { parseStl } from './stl.js'

const PARSERS = { obj: parseObj, off: parseOff, ply: parsePly, stl: parseStl }

export const EXTENSIONS = Object.keys(PARSERS).map((name) => `.${name}`)
export const MOST_BYTES = 400e6

function formatOf(bytes, name) {
  const begin = new TextDecoder('latin1').decode(bytes.subarray(0, 512)).trimStart()
  if (/^ply\s/.test(begin)) return 'ply'
  if (/^(C|N|CN|ST)?OFF\s/.test(begin)) return 'off'
  const extension = /\.([^.]+)$/.exec(name)?.[1].toLowerCase()
  if (Object.hasOwn(PARSERS, extension ?? '')) return extension
  if (/^solid\s/.test(begin)) return 'stl'
  if (/^(#[^\n]*\n\s*)*(v|vn|vt|o|g|mtllib)\s/.test(begin)) return 'obj'
  throw new MeshFileError(`"${name}" is not a mesh that this page reads: expected OBJ, PLY, STL or OFF`)
}

// Returns { format, positions: Float64Array, triangles: Int32Array }. Throws a MeshFileError.
export function readMesh(bytes, name) {
  if (!bytes.length) throw new MeshFileError(`"${name}" is empty`)
  if (bytes.length > MOST_BYTES)
    throw new MeshFileError(
      `"${name}" has ${Math.round(bytes.length / 1e6)} MB; this page reads up to ${MOST_BYTES / 1e6} MB`
    )
  const format = formatOf(bytes, name)
  return { format, ...PARSERS[format](bytes) }
}
