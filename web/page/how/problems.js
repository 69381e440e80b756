// The matrices of "how it works": a small mesh, and Poisson's equation on grids of (2^k - 1)^2 inner points.

/** A number generator with a seed (mulberry32), so that the figures are the same on each visit. */
export function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** A triangulated sheet with diagonals in random directions, so that its vertices have 2 to 8 neighbours. */
export function mesh(columns, rows, seed = 7) {
  const next = random(seed)
  const vertices = [], edges = [], neighbours = []
  for (let j = 0; j < rows; j++)
    for (let i = 0; i < columns; i++) {
      const inner = i > 0 && j > 0 && i < columns - 1 && j < rows - 1
      vertices.push([i + (inner ? 0.5 * (next() - 0.5) : 0), j + (inner ? 0.5 * (next() - 0.5) : 0)])
      neighbours.push([])
    }
  const connect = (a, b) => {
    edges.push([a, b])
    neighbours[a].push(b)
    neighbours[b].push(a)
  }
  const at = (i, j) => j * columns + i
  for (let j = 0; j < rows; j++)
    for (let i = 0; i < columns; i++) {
      if (i + 1 < columns) connect(at(i, j), at(i + 1, j))
      if (j + 1 < rows) connect(at(i, j), at(i, j + 1))
      if (i + 1 < columns && j + 1 < rows) {
        if (next() < 0.5) connect(at(i, j), at(i + 1, j + 1))
        else connect(at(i + 1, j), at(i, j + 1))
      }
    }
  neighbours.forEach((list) => list.sort((a, b) => a - b))
  return { vertices, edges, neighbours, columns, rows }
}

/** The five-point Laplacian on n x n inner points with zero values around, h = 1 / (n + 1): arrays of a CSR matrix. */
export function poisson(n) {
  const rowOffsets = new Int32Array(n * n + 1), columns = [], values = []
  const scale = (n + 1) ** 2
  for (let j = 0; j < n; j++)
    for (let i = 0; i < n; i++) {
      for (const [di, dj, value] of [[0, -1, -1], [-1, 0, -1], [0, 0, 4], [1, 0, -1], [0, 1, -1]]) {
        if (i + di < 0 || j + dj < 0 || i + di >= n || j + dj >= n) continue
        columns.push((j + dj) * n + i + di)
        values.push(value * scale)
      }
      rowOffsets[j * n + i + 1] = columns.length
    }
  return { rowOffsets, columnIndices: Int32Array.from(columns), values: Float64Array.from(values) }
}

/** Full weighting: values of n x n points at the (n - 1) / 2 squared points of the next coarser grid. */
export function restrict(fine, n) {
  const m = (n - 1) >> 1
  const coarse = new Float64Array(m * m)
  for (let j = 0; j < m; j++)
    for (let i = 0; i < m; i++) {
      let sum = 0
      for (let dj = -1; dj <= 1; dj++)
        for (let di = -1; di <= 1; di++)
          sum += (2 - Math.abs(di)) * (2 - Math.abs(dj)) * fine[(2 * j + 1 + dj) * n + 2 * i + 1 + di]
      coarse[j * m + i] = sum / 16
    }
  return coarse
}

/** Bilinear interpolation, the transpose of full weighting: adds the values of m x m points to (2 m + 1) squared points. */
export function prolongAndAdd(coarse, m, fine) {
  const n = 2 * m + 1
  for (let j = 0; j < m; j++)
    for (let i = 0; i < m; i++)
      for (let dj = -1; dj <= 1; dj++)
        for (let di = -1; di <= 1; di++)
          fine[(2 * j + 1 + dj) * n + 2 * i + 1 + di] += (2 - Math.abs(di)) * (2 - Math.abs(dj)) / 4 * coarse[j * m + i]
}

export function norm(values) {
  let sum = 0
  for (const value of values) sum += value * value
  return Math.sqrt(sum / values.length)
}
