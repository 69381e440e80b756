// Matrices that the page makes itself, as compressed rows.
import { knot } from '../mesh/examples.js'
import { next, oppositesOf } from '../mesh/topology.js'

/** Collects entries row by row; columns of a row in any order. */
class Rows {
  constructor(rows, most) {
    this.rowOffsets = new Int32Array(rows + 1)
    this.columnIndices = new Int32Array(most)
    this.values = new Float64Array(most)
    this.length = 0
    this.row = 0
  }

  add(column, value) {
    this.columnIndices[this.length] = column
    this.values[this.length++] = value
  }

  end() {
    this.rowOffsets[++this.row] = this.length
  }

  finish() {
    const { rowOffsets } = this
    return {
      rowOffsets,
      columnIndices: this.columnIndices.slice(0, this.length),
      values: this.values.slice(0, this.length),
      rows: rowOffsets.length - 1,
      columns: rowOffsets.length - 1
    }
  }
}

/** The five-point Laplacian of a grid of size x size points, with 0 around it. */
function poisson(size) {
  const made = new Rows(size * size, 5 * size * size)
  for (let j = 0; j < size; j++)
    for (let i = 0; i < size; i++) {
      const k = j * size + i
      if (j > 0) made.add(k - size, -1)
      if (i > 0) made.add(k - 1, -1)
      made.add(k, 4)
      if (i < size - 1) made.add(k + 1, -1)
      if (j < size - 1) made.add(k + size, -1)
      made.end()
    }
  return made.finish()
}

/** Cotangents of a knot's triangles, with a little of each vertex's area on the diagonal. */
function meshLaplacian() {
  const { positions: p, triangles } = knot(40, 460),
    vertices = p.length / 3
  const couplings = Array.from({ length: vertices }, () => new Map()),
    diagonal = new Float64Array(vertices),
    { opposite } = oppositesOf(triangles)
  for (let h = 0; h < triangles.length; h++) {
    const a = triangles[h],
      b = triangles[next(h)],
      c = triangles[next(next(h))]
    const u = [0, 1, 2].map((k) => p[3 * a + k] - p[3 * c + k]),
      v = [0, 1, 2].map((k) => p[3 * b + k] - p[3 * c + k])
    const area = Math.hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    const weight = (u[0] * v[0] + u[1] * v[1] + u[2] * v[2]) / area / 2
    for (const [i, j] of [
      [a, b],
      [b, a]
    ]) {
      couplings[i].set(j, (couplings[i].get(j) ?? 0) - weight)
      diagonal[i] += weight
    }
    diagonal[a] += 0.02 * area * (opposite[h] >= 0 ? 1 : 2)
  }
  const made = new Rows(
    vertices,
    couplings.reduce((sum, row) => sum + row.size + 1, 0)
  )
  couplings.forEach((row, i) => {
    for (const j of [...row.keys(), i].sort((x, y) => x - y)) made.add(j, j === i ? diagonal[i] : row.get(j))
    made.end()
  })
  return made.finish()
}

/** Convection that turns around the middle of a grid, and diffusion, by upwind differences: not symmetric. */
function convection(size) {
  const made = new Rows(size * size, 5 * size * size),
    h = 1 / (size + 1),
    diffusion = 0.004
  for (let j = 0; j < size; j++)
    for (let i = 0; i < size; i++) {
      const k = j * size + i,
        x = (i + 1) * h - 0.5,
        y = (j + 1) * h - 0.5
      const u = -y * 2 * h,
        v = x * 2 * h,
        d = diffusion
      const west = d + Math.max(u, 0),
        east = d + Math.max(-u, 0),
        south = d + Math.max(v, 0),
        north = d + Math.max(-v, 0)
      if (j > 0) made.add(k - size, -south)
      if (i > 0) made.add(k - 1, -west)
      made.add(k, west + east + south + north)
      if (i < size - 1) made.add(k + 1, -east)
      if (j < size - 1) made.add(k + size, -north)
      made.end()
    }
  return made.finish()
}

export const EXAMPLES = {
  poisson: { label: 'Poisson, 256 × 256', make: () => poisson(256) },
  mesh: { label: 'Laplacian of a mesh', make: meshLaplacian },
  convection: { label: 'Convection, nonsymmetric', make: () => convection(160) }
}
