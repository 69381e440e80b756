// Reads a matrix, describes it and solves with it, apart from the page.
import { open } from '../texsolve/texsolve.js'
import { breathe, serve } from '../remote.js'
import { EXAMPLES } from './examples.js'
import { countSquares, describe, multiply, residualOf } from './structure.js'
import { unpack } from './unpack.js'

let ts = null
let source = null // the arrays
let matrix = null // the library's
let amg = null
let right = null // a right-hand side from a file

async function library({ backend }) {
  if (ts) ts.dispose()
  matrix = amg = null
  ts = null
  ts = await open(backend === 'auto' ? {} : { backend })
  return { info: { ...ts.info } }
}

function native() {
  if (!matrix) {
    const { rowOffsets, columnIndices, values, rows, columns } = source
    matrix = ts.matrix({ rowOffsets, columnIndices, values, rows, columns })
  }
  return matrix
}

function drop() {
  amg?.dispose()
  matrix?.dispose()
  amg = matrix = source = right = null
}

async function read(file, signal) {
  const { name, bytes } = await unpack(file, signal)
  await breathe()
  try {
    return { name, ...ts.readMatrixMarket(bytes) }
  } catch (error) {
    error.message = `${name}: ${error.message}`
    throw error
  }
}

/* The arrays of what readMatrixMarket returned. */
const arraysOf = (found) => (found.rowOffsets ? found : { ...found, ...found.matrix.arrays(), rows: found.matrix.rows, columns: found.matrix.columns })

async function load({ file, example }, { signal }) {
  const begin = performance.now()
  if (!ts) await library({ backend: 'auto' })
  const found = example ? { name: EXAMPLES[example].label, ...EXAMPLES[example].make() } : await read(file, signal)
  if (found.array) throw new Error(`${found.name} is a dense array; drop a sparse matrix first, then a vector as its right-hand side`)
  const next = arraysOf(found)
  const figures = describe(next)
  if (!figures.isFinite) throw new Error(`${found.name} has values that are not finite`)
  drop()
  source = { name: found.name, rowOffsets: next.rowOffsets, columnIndices: next.columnIndices, values: next.values, rows: next.rows, columns: next.columns }
  found.matrix?.dispose()
  const readSeconds = (performance.now() - begin) / 1000, { info } = native()
  return { name: source.name, rows: source.rows, columns: source.columns, entries: source.values.length, field: found.field, symmetry: found.symmetry,
    figures, info: { format: info.format, choice: info.choice, symmetric: info.symmetric, bytes: info.bytes }, squares: countSquares(source), seconds: readSeconds }
}

async function setRight({ file }, { signal }) {
  if (!source) throw new Error('drop a matrix before its right-hand side')
  const found = await read(file, signal), values = found.array ?? found.values
  if (!found.array) throw new Error(`${found.name} is not a vector: expected a Matrix Market array`)
  if (values.length !== source.rows) throw new Error(`${found.name} has ${values.length} numbers; the matrix has ${source.rows} rows`)
  right = Float64Array.from(values)
  return { name: found.name, length: values.length }
}

async function hierarchy(_, { signal }) {
  const begin = performance.now(), made = native()
  amg ??= await ts.amg(made, {})
  if (signal.aborted) throw Object.assign(new Error('aborted'), { code: 'aborted' })
  return { levels: amg.levels, operatorComplexity: amg.operatorComplexity, gridComplexity: amg.gridComplexity, seconds: (performance.now() - begin) / 1000 }
}

/* b: ones; from a file; or A times a known x, so that the error of the answer is known too. */
function rightHandSide(kind) {
  const { rows, columns } = source
  if (kind === 'file' && right) return { b: right }
  if (kind === 'ones') return { b: new Float64Array(rows).fill(1) }
  const known = Float64Array.from({ length: columns }, (_, k) => Math.sin(0.37 * k) + 0.5)
  return { b: multiply(source, known), known }
}

async function solve({ kind, ...options }, { signal, progress }) {
  const { b, known } = rightHandSide(kind), begin = performance.now()
  let sent = 0
  const waiting = []
  const onProgress = (now) => {
    waiting.push([now.iteration ?? now.iterations, now.residual])
    if (performance.now() - sent < 40) return
    sent = performance.now()
    progress({ points: waiting.splice(0) })
  }
  const found = await native().solve(b, { ...options, signal, onProgress })
  const { x, history, ...rest } = found, residual = residualOf(source, b, x)
  let error
  if (known) error = Math.sqrt(x.reduce((sum, value, k) => sum + (value - known[k]) ** 2, 0) / known.reduce((sum, value) => sum + value ** 2, 0))
  return { result: { ...rest, history: history && [...history], x, trueResidual: residual, error, seconds: (performance.now() - begin) / 1000,
    points: waiting }, transfer: [x.buffer] }
}

serve({ library, load, setRight, hierarchy, solve })
