// Solvers and their options.
import { TexsolveError, invalid, shown } from './errors.js'
import { constants as c } from './layout.js'
import { checkArray, checkNumber, checkNumbers, floats } from './memory.js'
import { NativeObject } from './runtime.js'

const known = new Set(['method', 'preconditioner', 'precision', 'rtol', 'atol', 'maxIterations', 'iterations', 'checkInterval',
  'stop', 'restart', 'nullSpace', 'x0', 'signal', 'onProgress'])

function checkNames(options) {
  if (!options || typeof options !== 'object') throw invalid(`options is ${shown(options)}; it must be an object`)
  for (const name of Object.keys(options))
    if (!known.has(name)) throw invalid(`there is no option ${shown(name)}; the options are ${[...known].join(', ')}`)
}

/** The fields of a ts_solver_desc for the options of JavaScript. */
export function describeSolver(runtime, arena, options, size) {
  checkNames(options)
  const { method, preconditioner, precision, rtol, atol, maxIterations, iterations, checkInterval, stop, restart, nullSpace } = options
  const fields = {}
  if (method !== undefined) fields.method = runtime.enumOf('method', method, 'method')
  if (precision !== undefined) fields.precision = runtime.enumOf('precision', precision, 'precision')
  if (typeof preconditioner === 'string')
    fields.preconditioner_kind = runtime.enumOf('preconditioner', preconditioner, 'preconditioner')
  else if (preconditioner?.runtime === runtime && preconditioner.isPreconditioner) fields.preconditioner = preconditioner.pointer
  else if (preconditioner !== undefined)
    throw invalid(`preconditioner is ${shown(preconditioner)}; it must be a name, or an object of amg() or preconditioner() of the same context`)
  if (rtol !== undefined) fields.rtol = checkNumber('rtol', rtol, { least: 0 }) === 0 ? -1 : rtol
  if (atol !== undefined) fields.atol = checkNumber('atol', atol, { least: 0 })
  for (const [name, field, value] of [['maxIterations', 'max_iterations', maxIterations], ['iterations', 'fixed_iterations', iterations],
    ['checkInterval', 'check_interval', checkInterval], ['restart', 'restart', restart]])
    if (value !== undefined) fields[field] = checkNumber(name, value, { integer: true, least: 1, most: 2 ** 31 - 1 })
  if (stop !== undefined) {
    if (stop !== 'residual' && stop !== 'delta') throw invalid(`stop is ${shown(stop)}; it must be "residual" or "delta"`)
    fields.stop = stop === 'delta' ? c.TS_STOP_DELTA : c.TS_STOP_RESIDUAL
  }
  if (nullSpace !== undefined) {
    checkNumbers('nullSpace', nullSpace)
    if (nullSpace.length === 0 || nullSpace.length % size)
      throw invalid(`nullSpace has ${nullSpace.length} elements; expected ${size} for each vector`)
    fields.null_space = arena.struct('ts_null_space_desc', { count: nullSpace.length / size, vectors: arena.input(nullSpace) })
  }
  return fields
}

/** The result of JavaScript for a ts_result. */
export function resultOf(runtime, status, found, current) {
  return {
    converged: status === 0,
    reason: runtime.memory.text(runtime.module._ts_reason_text(found.reason)),
    message: found.message,
    residual: found.relative_residual,
    iterations: found.iterations,
    seconds: (performance.now() - current.begin) / 1000,
    method: runtime.textOf('method', found.method),
    precision: runtime.textOf('precision', found.precision),
    history: Float64Array.from(current.history),
    restarts: found.restarts,
    attainableResidual: found.attainable_residual,
    roundedResidual: found.rounded_residual,
    incompatible: found.incompatible,
    synchronisations: found.host_synchronisations
  }
}

/** A solver, which keeps its workspace for solves with one matrix. */
export class Solver extends NativeObject {
  #options
  #vectors = new Map() // components: native b and x

  /** `isInside`: within the asynchronous call that runs. */
  constructor(matrix, options = {}, isInside = false) {
    super(matrix.runtime, 'ts_solver_destroy')
    const { runtime } = matrix
    this.matrix = matrix
    const { signal, onProgress, x0, ...rest } = options
    this.#options = rest
    this.preconditioner = typeof rest.preconditioner === 'object' ? rest.preconditioner : undefined // kept alive
    this.attempt(() => {
      if (!isInside) runtime.checkIdle('solver')
      this.build()
    })
  }

  build() {
    const { runtime, matrix } = this
    this.#vectors.clear()
    this.pointer = runtime.scope(arena => {
      const fields = describeSolver(runtime, arena, this.#options, matrix.columns)
      if (!fields.fixed_iterations) fields.progress = runtime.module._tsw_get_progress()
      return runtime.create('ts_solver_create', matrix.pointer, arena.struct('ts_solver_desc', fields))
    })
  }

  /** Native vectors b and x for this number of components, created once. */
  vectors(components) {
    let pair = this.#vectors.get(components)
    if (pair) return pair
    const { runtime, matrix } = this
    const { module } = runtime
    pair = [module._ts_matrix_get_row_space(matrix.pointer), module._ts_matrix_get_column_space(matrix.pointer)].map(space => {
      const vector = new NativeObject(runtime, 'ts_vector_destroy')
      vector.build = () => {} // made again with the solver
      vector.pointer = runtime.scope(arena => runtime.create('ts_vector_create', space, arena.struct('ts_vector_desc', { components })))
      return vector
    })
    this.#vectors.set(components, pair)
    return pair
  }

  solve(b, options = {}) {
    const { runtime, matrix } = this
    try {
      const components = matrix.componentsOf('b', b, matrix.rows)
      const { x0, signal, onProgress, ...others } = options
      for (const name of Object.keys(others)) throw invalid(`there is no option ${shown(name)} here; a solver has it from its creation`)
      if (x0 !== undefined) checkArray('x0', x0, floats, matrix.columns * components)
      void this.pointer
      const given = b.slice() // the caller may change b before the solve begins
      const start = x0?.slice()
      return runtime.enqueue((arena, current) => this.run(arena, current, given, start, components), { signal, onProgress })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** A solve within an asynchronous call of the runtime. */
  async run(arena, current, b, x0, components) {
    const { runtime, matrix, pointer } = this
    void matrix.pointer
    const [right, x] = this.vectors(components)
    runtime.call('ts_vector_write', right.pointer, arena.array(arena.input(b)))
    if (x0) runtime.call('ts_vector_write', x.pointer, arena.array(arena.input(x0)))
    else runtime.module._ts_vector_fill(x.pointer, 0)
    const result = arena.struct('ts_result')
    const status = await runtime.callPausing('ts_solver_solve', pointer, right.pointer, x.pointer, result)
    const found = runtime.memory.readStruct('ts_result', result)
    const output = arena.output(b.constructor, matrix.columns * components)
    runtime.call('ts_vector_read', x.pointer, arena.array(output))
    return { x: arena.result(b.constructor, output), ...resultOf(runtime, status, found, current), preconditioner: this.#kind() }
  }

  #kind() {
    const { runtime } = this
    return runtime.scope(arena => {
      const info = arena.struct('ts_preconditioner_info')
      const handle = runtime.module._ts_solver_get_preconditioner(this.pointer)
      if (!handle || runtime.module._ts_preconditioner_get_info(handle, info) < 0) return 'none'
      return runtime.textOf('preconditioner', runtime.memory.readStruct('ts_preconditioner_info', info).kind)
    })
  }

  dispose() {
    for (const pair of this.#vectors?.values() ?? []) for (const vector of pair) vector.dispose()
    super.dispose()
  }
}

/** One solve: a solver that lives as long as the call. */
export async function solve(matrix, b, options) {
  const { signal, onProgress, x0, ...rest } = options
  checkNames(options)
  if (matrix.isDisposed) throw new TexsolveError('disposed', 'this Matrix is disposed of')
  const components = matrix.componentsOf('b', b, matrix.rows)
  if (x0 !== undefined) checkArray('x0', x0, floats, matrix.columns * components)
  const given = b.slice() // the caller may change b before the solve begins
  const start = x0?.slice()
  return matrix.runtime.enqueue(async (arena, current) => {
    const solver = new Solver(matrix, rest, true)
    try {
      return await solver.run(arena, current, given, start, components)
    } finally {
      solver.dispose()
    }
  }, { signal, onProgress })
}
