// Reads a matrix, describes it and solves with it, apart from the page.
import { open, readMatrixMarket } from '../texsolve/texsolve.js'
import { serve } from '../remote.js'
import { EXAMPLES } from './examples.js'
import { countSquares, describe, multiply, residualOf, toRows, wholeOf } from './structure.js'
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
  return { info: { ...ts.info }, matrix: source && matrixInfo() }
}

function native() {
  if (!matrix) {
    const { rowOffsets, columnIndices, values, rows, columns } = source
    matrix = ts.matrix({ rowOffsets, columnIndices, values, rows, columns })
  }
  return matrix
}

function matrixInfo() {
  const { format, choice, symmetric, bytes } = native().info
  return { format, choice, symmetric, bytes }
}

function drop() {
  amg?.dispose()
  matrix?.dispose()
  amg = matrix = source = right = null
}

async function read(file, { signal, progress }) {
  const { name, source } = await unpack(file, signal)
  let said = 0
  const onProgress = ({ entries, expected }) => {
    if (performance.now() - said < 100) return
    said = performance.now()
    progress({ entries, expected })
  }
  try {
    return { name, ...(await readMatrixMarket(source, { signal, onProgress })) }
  } catch (error) {
    if (error.code !== 'aborted') error.message = `${name}: ${error.message}`
    throw error
  }
}

async function load({ file, example }, calls) {
  const begin = performance.now()
  if (!ts) await library({ backend: 'auto' })
  const found = example ? { name: EXAMPLES[example].label, ...EXAMPLES[example].make() } : await read(file, calls)
  if (found.array)
    throw new Error(`${found.name} is a dense array; drop a sparse matrix first, then a vector as its right-hand side`)
  const next = { name: found.name, ...(found.triplets ? toRows(found) : found) },
    figures = describe(next)
  drop()
  source = next
  const info = matrixInfo()
  return {
    name: source.name,
    rows: source.rows,
    columns: source.columns,
    entries: source.values.length,
    field: found.field,
    symmetry: found.symmetry,
    figures,
    info,
    squares: countSquares(source, wholeOf(source)),
    seconds: (performance.now() - begin) / 1000
  }
}

const squares = ({ window }) => countSquares(source, window)

async function setRight({ file }, calls) {
  if (!source) throw new Error('drop a matrix before its right-hand side')
  const { name, array } = await read(file, calls)
  if (!array) throw new Error(`${name} is not a vector: expected a Matrix Market array`)
  if (array.length !== source.rows)
    throw new Error(`${name} has ${array.length} numbers; the matrix has ${source.rows} rows`)
  right = Float64Array.from(array)
  return { name, length: right.length }
}

async function hierarchy(_, { signal }) {
  const begin = performance.now(),
    made = native()
  amg ??= await ts.amg(made, {})
  if (signal.aborted) throw Object.assign(new Error('aborted'), { code: 'aborted' })
  return {
    levels: amg.levels,
    operatorComplexity: amg.operatorComplexity,
    gridComplexity: amg.gridComplexity,
    seconds: (performance.now() - begin) / 1000
  }
}

// b: ones; from a file; or A times a known x, so that the error of the answer is known too.
function rightHandSide(kind) {
  const { rows, columns } = source
  if (kind === 'file' && right) return { b: right }
  if (kind === 'ones') return { b: new Float64Array(rows).fill(1) }
  const known = Float64Array.from({ length: columns }, (_, k) => Math.sin(0.37 * k) + 0.5)
  return { b: multiply(source, known), known }
}

async function solve({ kind, ...options }, { signal, progress }) {
  const { b, known } = rightHandSide(kind),
    begin = performance.now()
  let sent = 0
  const waiting = []
  const onProgress = (now) => {
    waiting.push([now.iteration ?? now.iterations, now.residual])
    if (performance.now() - sent < 40) return
    sent = performance.now()
    progress({ points: waiting.splice(0) })
  }
  const found = await native().solve(b, { ...options, signal, onProgress })
  const { x, history, ...rest } = found,
    residual = residualOf(source, b, x)
  let error
  if (known)
    error = Math.sqrt(
      x.reduce((sum, value, k) => sum + (value - known[k]) ** 2, 0) / known.reduce((sum, value) => sum + value ** 2, 0)
    )
  return {
    result: {
      ...rest,
      history: history && [...history],
      x,
      trueResidual: residual,
      error,
      seconds: (performance.now() - begin) / 1000,
      points: waiting
    },
    transfer: [x.buffer]
  }
}

serve({ library, load, squares, setRight, hierarchy, solve })
