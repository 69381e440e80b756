// Complementarity problems and contacts with friction.
import { invalid, shown } from './errors.js'
import { checkArray, checkNumber, checkNumbers, floats } from './memory.js'
import { NativeObject } from './runtime.js'

const settingNames = ['scheme', 'local', 'acceleration', 'rtol', 'atol', 'maxIterations', 'sweeps', 'checkInterval', 'x0']

/** Checks a matrix in compressed rows and copies its arrays. */
function checkRows(name, { rowOffsets, columnIndices, values, columns }) {
  checkArray(`${name}.rowOffsets`, rowOffsets, [Int32Array])
  const rows = rowOffsets.length - 1
  if (rows < 1) throw invalid(`${name}.rowOffsets has ${rowOffsets.length} elements; it must have rows + 1, at least 2`)
  checkArray(`${name}.columnIndices`, columnIndices, [Int32Array], rowOffsets[rows])
  checkNumbers(`${name}.values`, values, rowOffsets[rows])
  return { rows, columns: checkNumber(`${name}.columns`, columns, { integer: true, least: 1 }), rowOffsets: rowOffsets.slice(),
           columnIndices: columnIndices.slice(), values: values.slice() }
}

/** Checks the matrix of a problem in one of its three forms. */
function checkMatrix({ matrix, jacobian, inverseMass, massBlock = 1 }) {
  if (jacobian) {
    const H = checkRows('jacobian', jacobian)
    checkNumber('massBlock', massBlock, { integer: true, least: 1 })
    checkNumbers('inverseMass', inverseMass, H.columns * massBlock)
    return { jacobian: H, inverseMass: inverseMass.slice(), massBlock, size: H.rows }
  }
  if (ArrayBuffer.isView(matrix)) {
    checkNumbers('matrix', matrix)
    const size = Math.sqrt(matrix.length)
    if (!Number.isInteger(size) || size < 1) throw invalid(`matrix has ${matrix.length} elements; expected n * n`)
    return { dense: matrix.slice(), size }
  }
  if (!matrix || typeof matrix !== 'object')
    throw invalid(`matrix is ${shown(matrix)}; it must be a typed array of n * n numbers or an object with rowOffsets, columnIndices, values`)
  const sparse = checkRows('matrix', { columns: (matrix.rowOffsets?.length ?? 0) - 1, ...matrix })
  if (sparse.rows !== sparse.columns) throw invalid(`matrix is ${sparse.rows} x ${sparse.columns}; it must be square`)
  return { sparse, size: sparse.rows }
}

function rowsIn(arena, { rows, columns, rowOffsets, columnIndices, values }) {
  return arena.struct('ts_csr', { rows, columns, row_offsets: arena.input(rowOffsets), column_indices: arena.input(columnIndices),
    values: arena.input(values) })
}

/** The fields of ts_lcp_desc for the matrix. */
function describeMatrix(arena, { dense, sparse, jacobian, inverseMass, massBlock, size }) {
  if (dense) return { size, matrix: arena.input(dense) }
  if (sparse) return { size, sparse_matrix: rowsIn(arena, sparse) }
  return { size, jacobian: rowsIn(arena, jacobian), inverse_mass: arena.input(inverseMass), mass_block: massBlock }
}

function checkBound(name, bound, size) {
  if (bound === undefined) return undefined
  if (typeof bound === 'number') bound = new Float64Array(size).fill(bound)
  checkArray(name, bound, floats, size)
  const at = bound.findIndex(Number.isNaN)
  if (at >= 0) throw invalid(`${name}[${at}] is NaN`)
  return bound.slice()
}

/** A problem with its matrix on the device, for repeated solves that start from the last solution. */
export class Contacts extends NativeObject {
  #matrix
  #bounds
  #friction
  #options
  #vectors

  constructor(runtime, given = {}, isInside = false) {
    super(runtime, 'ts_lcp_destroy')
    this.attempt(() => {
      if (!isInside) runtime.checkIdle('contacts')
      const { friction, lower, upper, storage, precision = 'double' } = given
      this.#matrix = checkMatrix(given)
      this.size = this.#matrix.size
      this.#friction = friction === undefined ? undefined : this.#checkFriction(friction)
      if (friction !== undefined && (lower !== undefined || upper !== undefined))
        throw invalid('lower and upper are bounds of problems without friction')
      this.#bounds = { lower: checkBound('lower', lower, this.size), upper: checkBound('upper', upper, this.size) }
      this.#options = { precision: runtime.enumOf('precision', precision, 'precision'),
        storage: storage === undefined ? 0 : runtime.enumOf('lcpStorage', storage, 'storage') }
      this.build()
    })
  }

  #checkFriction(friction) {
    checkNumbers('friction', friction)
    this.dimension = this.size / friction.length
    if (this.dimension !== 2 && this.dimension !== 3)
      throw invalid(`friction has ${friction.length} coefficients and the matrix ${this.size} rows; a contact has 2 or 3 rows`)
    return friction.slice()
  }

  build() {
    const { runtime } = this
    this.pointer = runtime.scope(arena => {
      const desc = { ...describeMatrix(arena, this.#matrix), ...this.#options }
      if (this.#friction) Object.assign(desc, { dimension: this.dimension, friction: arena.input(this.#friction) })
      for (const name of ['lower', 'upper']) if (this.#bounds[name]) desc[name] = arena.input(this.#bounds[name])
      return runtime.create('ts_lcp_create', runtime.context, arena.struct('ts_lcp_desc', desc))
    })
    this.#vectors = [0, 1].map(() => {
      const vector = new NativeObject(runtime, 'ts_vector_destroy')
      vector.build = () => {} // made again with the problem
      vector.pointer = runtime.scope(arena => runtime.create('ts_vector_create', runtime.module._ts_lcp_get_space(this.pointer),
        arena.struct('ts_vector_desc', { precision: runtime.enumOf('precision', 'double', 'precision') })))
      return vector
    })
  }

  /** Replaces the matrix by one of the same size; its pattern may differ. */
  setMatrix(given) {
    const { runtime, pointer } = this
    runtime.checkIdle('setMatrix')
    const matrix = checkMatrix(given)
    if (matrix.size !== this.size) throw invalid(`the matrix has ${matrix.size} rows; expected ${this.size}`)
    runtime.scope(arena => runtime.call('ts_lcp_set_matrix', pointer, arena.struct('ts_lcp_desc', describeMatrix(arena, matrix))))
    this.#matrix = matrix
  }

  setBounds(lower, upper) {
    const { runtime, pointer } = this
    runtime.checkIdle('setBounds')
    const bounds = { lower: checkBound('lower', lower, this.size), upper: checkBound('upper', upper, this.size) }
    runtime.scope(arena => runtime.call('ts_lcp_set_bounds', pointer, ...['lower', 'upper'].map(name =>
      arena.array(bounds[name] ? arena.input(bounds[name]) : {}))))
    this.#bounds = bounds
  }

  setFriction(friction) {
    const { runtime, pointer } = this
    runtime.checkIdle('setFriction')
    checkNumbers('friction', friction, this.size / (this.dimension ?? 1))
    runtime.scope(arena => runtime.call('ts_lcp_set_friction', pointer, arena.array(arena.input(friction))))
    this.#friction = friction.slice()
  }

  /** The fields of ts_lcp_settings. */
  #settings(options) {
    const { runtime } = this
    for (const name of Object.keys(options))
      if (!settingNames.includes(name)) throw invalid(`there is no option ${shown(name)}; the options are ${settingNames.join(', ')}, signal, onProgress`)
    const { rtol, atol, maxIterations, sweeps, checkInterval } = options
    const fields = {}
    for (const [name, kind] of [['scheme', 'lcpScheme'], ['local', 'lcpLocal'], ['acceleration', 'lcpAcceleration']])
      if (options[name] !== undefined) fields[name] = runtime.enumOf(kind, options[name], name)
    if (rtol !== undefined) fields.rtol = checkNumber('rtol', rtol, { least: 0 }) === 0 ? -1 : rtol
    if (atol !== undefined) fields.atol = checkNumber('atol', atol, { least: 0 })
    for (const [name, field, value] of [['maxIterations', 'max_sweeps', maxIterations], ['sweeps', 'fixed_sweeps', sweeps],
      ['checkInterval', 'check_interval', checkInterval]])
      if (value !== undefined) fields[field] = checkNumber(name, value, { integer: true, least: 1, most: 2 ** 31 - 1 })
    return fields
  }

  /** Writes q and the start, and returns the address of the settings. */
  #begin(arena, q, options, hasProgress) {
    const { runtime } = this
    const [right, z] = this.#vectors
    const settings = this.#settings(options)
    if (hasProgress && !settings.fixed_sweeps) settings.progress = runtime.module._tsw_get_progress()
    runtime.call('ts_vector_write', right.pointer, arena.array(arena.input(q)))
    if (options.x0) runtime.call('ts_vector_write', z.pointer, arena.array(arena.input(options.x0)))
    return arena.struct('ts_lcp_settings', settings)
  }

  #check(q, { x0 }) {
    checkNumbers('q', q, this.size)
    if (x0 !== undefined) checkNumbers('x0', x0, this.size)
    void this.pointer
  }

  #finish(arena, q, status, result, begin, history) {
    const { runtime } = this
    const found = runtime.memory.readStruct('ts_lcp_result', result)
    const output = arena.output(q.constructor, this.size)
    runtime.call('ts_vector_read', this.#vectors[1].pointer, arena.array(output))
    return { x: arena.result(q.constructor, output), converged: status === 0,
      reason: runtime.memory.text(runtime.module._ts_reason_text(found.reason)), message: found.message,
      residual: found.relative_residual, absoluteResidual: found.residual, iterations: found.sweeps,
      seconds: (performance.now() - begin) / 1000, scheme: runtime.textOf('lcpScheme', found.scheme),
      storage: runtime.textOf('lcpStorage', found.storage), history: Float64Array.from(history) }
  }

  /** Solves from the last solution, or from x0. */
  async solve(q, options = {}) {
    const { signal, onProgress, ...rest } = options
    this.#check(q, rest)
    const given = q.slice()
    const settings = { ...rest, x0: rest.x0?.slice() }
    if (!settings.x0) delete settings.x0
    return this.runtime.enqueue((arena, current) => this.run(arena, current, given, settings), { signal, onProgress })
  }

  /** A solve within an asynchronous call of the runtime. */
  async run(arena, current, q, options) {
    const settings = this.#begin(arena, q, options, true)
    const result = arena.struct('ts_lcp_result')
    const [right, z] = this.#vectors
    const status = await this.runtime.callPausing('ts_lcp_solve', this.pointer, right.pointer, z.pointer, settings, result)
    return this.#finish(arena, q, status, result, current.begin, current.history)
  }

  /** Solves at once, inside a frame. */
  solveNow(q, options = {}) {
    const { runtime } = this
    runtime.checkIdle('solveNow')
    this.#check(q, options)
    return runtime.scope(arena => {
      const begin = performance.now()
      const settings = this.#begin(arena, q, options, false)
      const result = arena.struct('ts_lcp_result')
      const [right, z] = this.#vectors
      const status = runtime.call('ts_lcp_solve', this.pointer, right.pointer, z.pointer, settings, result)
      return this.#finish(arena, q, status, result, begin, [])
    })
  }

  /** Starts the next solve from 0. */
  reset() {
    this.runtime.checkIdle('reset')
    this.runtime.call('ts_vector_fill', this.#vectors[1].pointer, 0)
  }

  dispose() {
    for (const vector of this.#vectors ?? []) vector.dispose()
    super.dispose()
  }
}

/** One solve of a problem. */
export async function lcp(runtime, given = {}) {
  const { q, signal, onProgress, matrix, jacobian, inverseMass, massBlock, friction, lower, upper, storage, precision, ...settings } = given
  const problem = { matrix, jacobian, inverseMass, massBlock, friction, lower, upper, storage, precision }
  const { size } = checkMatrix(problem)
  checkNumbers('q', q, size)
  return runtime.enqueue(async (arena, current) => {
    const contacts = new Contacts(runtime, problem, true)
    try {
      return await contacts.run(arena, current, q, settings)
    } finally {
      contacts.dispose()
    }
  }, { signal, onProgress })
}
