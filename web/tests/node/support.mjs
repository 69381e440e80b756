// What the tests of the package share. TEXSOLVE_PACKAGE names another assembled package.
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const here = path.dirname(fileURLToPath(import.meta.url))
export const packagePath = path.resolve(process.env.TEXSOLVE_PACKAGE ?? path.join(here, '../../../build-web/package'))
export const texsolve = await import(pathToFileURL(path.join(packagePath, 'node.js')))
export const { open, TexsolveError } = texsolve

/** The five-point matrix of an n x n grid, in compressed rows. */
export function poisson(n, Values = Float64Array) {
  const offsets = [0], columns = [], values = []
  const add = (column, value) => {
    columns.push(column)
    values.push(value)
  }
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; i++) {
      const row = j * n + i
      if (j > 0) add(row - n, -1)
      if (i > 0) add(row - 1, -1)
      add(row, 4)
      if (i < n - 1) add(row + 1, -1)
      if (j < n - 1) add(row + n, -1)
      offsets.push(columns.length)
    }
  }
  return { rowOffsets: Int32Array.from(offsets), columnIndices: Int32Array.from(columns), values: Values.from(values) }
}

/** A x in double precision. */
export function multiply({ rowOffsets, columnIndices, values }, x) {
  return Float64Array.from({ length: rowOffsets.length - 1 }, (_, i) => {
    let sum = 0
    for (let k = rowOffsets[i]; k < rowOffsets[i + 1]; k++) sum += values[k] * x[columnIndices[k]]
    return sum
  })
}

/** ||b - A x|| / ||b||, computed here. */
export function residual(source, x, b) {
  const y = multiply(source, x)
  let sum = 0, all = 0
  for (let i = 0; i < b.length; i++) {
    sum += (b[i] - y[i]) ** 2
    all += b[i] ** 2
  }
  return Math.sqrt(sum / all)
}

/** The same numbers in each run. */
export function random(count, seed = 1) {
  let state = seed
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return state / 2 ** 31 - 1
  })
}

/** A square patch of a surface, n x n vertices. */
export function patch(n, height = (x, y) => x * x - y * y, Values = Float64Array) {
  const positions = [], triangles = []
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; i++) {
      const x = i / (n - 1) - 0.5, y = j / (n - 1) - 0.5
      positions.push(x, y, height(x, y))
    }
  }
  for (let j = 0; j < n - 1; j++) {
    for (let i = 0; i < n - 1; i++) {
      const a = j * n + i
      triangles.push(a, a + 1, a + n, a + 1, a + n + 1, a + n)
    }
  }
  return { positions: Values.from(positions), triangles: Int32Array.from(triangles) }
}

/** A check for assert.throws and assert.rejects: a TexsolveError with this code, and a message that matches. */
export function fails(code, message = /./) {
  return error => {
    if (!(error instanceof TexsolveError)) throw error
    if (error.code !== code || !message.test(error.message))
      throw new Error(`expected ${code}, ${message}; found ${error.code}, ${error.message}`, { cause: error })
    return true
  }
}
