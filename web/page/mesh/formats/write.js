// OBJ and PLY of a mesh, with texture coordinates if it has a map. A map has vertices of its own, since a vertex on a
// seam has several places: `flat.triangles` are its corners.

const BLOCK = 1 << 16 // lines

function joinLines(count, line) {
  const blocks = []
  for (let first = 0; first < count; first += BLOCK) {
    const lines = []
    for (let k = first; k < Math.min(count, first + BLOCK); k++) lines.push(line(k))
    blocks.push(`${lines.join('\n')}\n`)
  }
  return blocks
}

const short = (x) => String(Math.fround(x) === x ? Number(x.toPrecision(9)) : Number(x.toPrecision(12)))

export function writeObj({ positions, triangles, flat }) {
  const p = positions,
    t = triangles
  const parts = ['# texsolve\n']
  parts.push(...joinLines(p.length / 3, (v) => `v ${short(p[3 * v])} ${short(p[3 * v + 1])} ${short(p[3 * v + 2])}`))
  if (flat) parts.push(...joinLines(flat.uv.length / 2, (v) => `vt ${short(flat.uv[2 * v])} ${short(flat.uv[2 * v + 1])}`))
  const corner = flat ? (c) => `${t[c] + 1}/${flat.triangles[c] + 1}` : (c) => t[c] + 1
  parts.push(...joinLines(t.length / 3, (f) => `f ${corner(3 * f)} ${corner(3 * f + 1)} ${corner(3 * f + 2)}`))
  return new Blob(parts, { type: 'model/obj' })
}

// Little-endian. With a map its vertices are written, with s and t; otherwise those of the mesh.
export function writePly({ positions, triangles, flat }) {
  const corners = flat ? flat.triangles : triangles
  const vertices = flat ? flat.uv.length / 2 : positions.length / 3,
    faces = corners.length / 3
  const header = `ply\nformat binary_little_endian 1.0\ncomment texsolve\nelement vertex ${vertices}\n${'xyz'
    .split('')
    .map((axis) => `property float ${axis}\n`)
    .join('')}${
    flat ? 'property float s\nproperty float t\n' : ''
  }element face ${faces}\nproperty list uchar int vertex_indices\nend_header\n`
  const size = flat ? 20 : 12,
    view = new DataView(new ArrayBuffer(size * vertices + 13 * faces))
  let at = 0
  const put = (x) => {
    view.setFloat32(at, x, true)
    at += 4
  }
  for (let v = 0; v < vertices; v++) {
    const from = 3 * (flat ? flat.origin[v] : v)
    for (let k = 0; k < 3; k++) put(positions[from + k])
    if (flat) for (let k = 0; k < 2; k++) put(flat.uv[2 * v + k])
  }
  for (let f = 0; f < faces; f++) {
    view.setUint8(at++, 3)
    for (let k = 0; k < 3; k++, at += 4) view.setInt32(at, corners[3 * f + k], true)
  }
  return new Blob([header, view.buffer], { type: 'model/ply' })
}
